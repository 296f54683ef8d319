"""The site of the documents is built without a warning, its links resolve, and it loads nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from docs.markdown import ROOT


class _Page(HTMLParser):
    """What one page of the site defines and refers to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids |= {name for name in (found.get("id"), found.get("name")) if name}
        for address in (found.get("href"), found.get("src")):
            if address:
                (self.links if tag == "a" else self.loaded).append(address)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, _Page]:
    return {path: _Page(path) for path in site.rglob("*.html") if path.name != "404.html"}  # which is for any folder


def test_links_resolve(pages: dict[Path, _Page]) -> None:
    """To files of the site, and to places that these have."""
    assert len(pages) > 30
    for path, page in pages.items():
        for address in (*page.links, *page.loaded):
            if re.match(r"[a-z]+:", address):
                continue
            name, _hash, fragment = address.partition("#")
            target = (path.parent / unquote(name)).resolve() if name else path
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), f"{path.name}: {address}"
            assert not fragment or target not in pages or unquote(fragment) in pages[target].ids, (
                f"{path.name}: {address}"
            )


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, _Page]) -> None:
    """Only links that a reader follows lead away."""
    for path, page in pages.items():
        assert not [address for address in page.loaded if re.match(r"[a-z]+:|//", address)], path.name
    for path in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:|//)|@import", path.read_text("utf-8")), path.name


def test_the_reference_describes_what_the_package_gives(pages: dict[Path, _Page]) -> None:
    """Every public name of `import fader`."""
    import fader

    page = next(page for path, page in pages.items() if path.name == "reference.html")
    described = {name.rpartition(".")[2] for name in page.ids}
    assert set(fader.__all__) - {"__version__"} <= described

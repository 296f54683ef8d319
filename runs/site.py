"""Hooks of mkdocs.yml: the pages at the root of the project join the site, and links to files that do not are text.

The pages link as they lie in a checkout. On the site, README.md is the first page, and a link to a file of the source
code is its text with the path as a title. Knows nothing of what the pages say.
"""

from __future__ import annotations

import posixpath
import re
from html import escape
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
ROOT_PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
}
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_CODE_OR_LINK = re.compile(r"(`[^`\n]*`)|(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the root."""
    for source, name in ROOT_PAGES.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make links those of the site, outside fenced blocks and code spans."""
    home = next((source for source, name in ROOT_PAGES.items() if name == page.file.src_uri), None)
    folder = posixpath.dirname(home or f"docs/{page.file.src_uri}")
    parts, end = [], 0
    for fence in _FENCE.finditer(markdown):
        parts += [_relink(markdown[end : fence.start()], folder, files), fence[0]]
        end = fence.end()
    return "".join([*parts, _relink(markdown[end:], folder, files)])


def _relink(text: str, folder: str, files: Files) -> str:
    def relink(match: re.Match[str]) -> str:
        code, picture, label, link = match.groups()
        if code or re.match(r"[a-z]+:|#", link):
            return match[0]
        path, mark, fragment = link.partition("#")
        target = posixpath.normpath(posixpath.join(folder, path))
        name = ROOT_PAGES.get(target, target.removeprefix("docs/"))
        if target not in ROOT_PAGES and (not target.startswith("docs/") or files.get_file_from_path(name) is None):
            return f'<span title="{escape(target)}">{label}</span>'
        return f"{picture}[{label}]({name}{mark}{fragment})"  # every page lies at the root of the site

    return _CODE_OR_LINK.sub(relink, text)

"""What the documents tell to type works: blocks of shell commands that use `fader` or `runs/`, and blocks of Python.

The blocks of a page run in order, in one temporary folder that has the demo in `demo/` and the project's `runs/`. A
`text` block right after a block of commands is compared with what they printed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.forked import forking
from docs.markdown import ROOT, Block, blocks

PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
TIMES = re.compile(r"[\d.,]+ (ms|s)\b")


def runs(block: Block) -> bool:
    """Whether a block is run here: Python, or shell commands of which one is `fader` or in `runs/`."""
    ours = any(line.startswith(("fader ", "runs/")) for line in block.text.splitlines())
    return block.language == "python" or (block.language == "sh" and ours)


def run(block: Block, folder: Path) -> str:
    """Run a block; returns its standard output."""
    command = [sys.executable, "-c", block.text]
    if block.language == "sh":
        command = ["bash", "-euc", block.text]
    environment = {
        **os.environ, "PYTHON": sys.executable, "XDG_CACHE_HOME": str(folder / "cache"), "COLUMNS": "80",
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
    }  # fmt: skip
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"line {block.line}: {done.stderr}"
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's files and index."""
    place = tmp_path_factory.mktemp("docs") / "demo"
    subprocess.run(
        [sys.executable, "-m", "fader", "demo", str(place), "--quiet"], check=True, stdout=subprocess.DEVNULL
    )
    return place


@pytest.fixture(scope="session")
def program(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The script that is `fader`."""
    with forking(tmp_path_factory.mktemp("forked"), demo / "index") as script:
        yield script


@pytest.mark.parametrize("page", [p for p in PAGES if any(map(runs, blocks(p)))], ids=lambda p: p.name)
def test_commands_work_and_print_what_is_shown(page: Path, demo: Path, program: str, tmp_path: Path) -> None:
    shutil.copytree(demo, tmp_path / "demo")
    (tmp_path / "runs").symlink_to(ROOT / "runs")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "fader").write_text(program, encoding="utf-8")
    (tmp_path / "bin" / "fader").chmod(0o755)
    printed: str | None = None
    for block in blocks(page):
        if block.language == "text" and printed is not None:
            assert TIMES.sub("", block.text) == TIMES.sub("", printed), f"line {block.line}"
        printed = run(block, tmp_path) if runs(block) else None
        if block.language != "sh":
            printed = None


def test_no_command_is_left_out() -> None:
    """Every command of the program is run by some page."""
    from fader.cli import COMMANDS

    text = "\n".join(block.text for page in PAGES for block in blocks(page) if runs(block))
    missing = [name for name in COMMANDS if not re.search(rf"^fader {name}( |$)", text, re.MULTILINE)]
    assert not missing

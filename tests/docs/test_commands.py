"""What the documents tell to type works, and prints what they show."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.forked import forking
from docs.markdown import blocks
from docs.running import ON_A_CLUSTER, PAGES, follow, runs

PRINTED = "printed.txt"  # what the demo printed, beside it


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's files and index."""
    place = tmp_path_factory.mktemp("docs") / "demo"
    command = [sys.executable, "-m", "fader", "demo", str(place), "--quiet"]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    (place.parent / PRINTED).write_text(printed, encoding="utf-8")
    return place


@pytest.fixture(scope="session")
def program(demo: Path) -> Iterator[str]:
    """The script that is `fader`."""
    with forking(demo / "index") as script:
        yield script


@pytest.mark.parametrize(
    "page", [p for p in PAGES if p != ON_A_CLUSTER and any(map(runs, blocks(p)))], ids=lambda p: p.name
)
def test_commands_work_and_print_what_is_shown(page: Path, demo: Path, program: str, tmp_path: Path) -> None:
    follow(page, demo, program, tmp_path)


def test_the_answer_on_the_first_screen_is_the_demo_s(demo: Path) -> None:
    """Its lines are some that the demo prints, in their order."""
    shown = next(block.text for block in blocks(PAGES[0]) if block.language == "text")
    printed = iter((demo.parent / PRINTED).read_text("utf-8").splitlines())
    assert all(line in printed for line in shown.splitlines())


def test_no_command_is_left_out() -> None:
    """Every command of the program is run by some page."""
    from fader.cli import COMMANDS

    text = "\n".join(block.text for page in PAGES for block in blocks(page) if runs(block))
    missing = [name for name in COMMANDS if not re.search(rf"^fader {name}( |$)", text, re.MULTILINE)]
    assert not missing

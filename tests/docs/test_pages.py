"""Links resolve, the command reference is real, and continuous integration runs what the README says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.markdown import ROOT, anchors, blocks, links, pages
from docs.regenerate import PAGE

CI = ROOT / ".ci" / "run"
README = ROOT / "README.md"
INSTALLS = "python3 -m venv .venv && "


@pytest.mark.parametrize("page", pages(), ids=lambda p: str(p.relative_to(ROOT)))
def test_relative_links_resolve(page: Path) -> None:
    """To a file that is there, and to a heading of it where the link names one."""
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        name, _hash, fragment = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name}: {link}"
        assert target.is_relative_to(ROOT), f"{page.name}: {link} leaves the project"
        assert not fragment or fragment in anchors(target), f"{page.name}: {link}"


def test_every_page_is_reached_from_the_readme() -> None:
    """By following links."""
    reached, ahead = set(), [README]
    while ahead:
        page = ahead.pop()
        if page not in reached:
            reached.add(page)
            ahead += [(page.parent / link).resolve() for link in links(page) if link.endswith(".md")]
    assert set(pages()) <= reached


def test_the_command_reference_is_the_real_help() -> None:
    """Run `python tests/docs/regenerate.py` after a change of the command line.

    In a process of its own: click remembers how a command was called first.
    """
    command = [sys.executable, str(ROOT / "tests" / "docs" / "regenerate.py"), "--print"]
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    assert PAGE.read_text("utf-8") == printed.decode("utf-8")


def test_the_readme_begins_with_two_commands() -> None:
    """One line each: the demo, then the tests. An answer and a picture follow on the first screen,
    a second picture below it.
    """
    first, second, answer = blocks(README)[:3]
    for block in (first, second):
        assert block.language == "sh"
        assert block.text.startswith(INSTALLS)
        assert block.text.count("\n") == 1
    assert first.text.rstrip().endswith("fader demo")
    assert second.text.rstrip().endswith("tests/run.py")
    assert second.line < 25
    assert answer.language == "text"
    lines = README.read_text("utf-8").splitlines()
    assert [n < 40 for n, line in enumerate(lines) if line.startswith("![")] == [True, False]


def test_the_readme_is_short() -> None:
    """What takes more belongs on a page of docs/."""
    assert len(README.read_text("utf-8").splitlines()) <= 150


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/service.md", "benchmarks/README.md"])
def test_ci_runs_the_documented_set_up(page: str) -> None:
    """Every documented command that sets up an environment stands in .ci/run, letter for letter."""
    lines = CI.read_text("utf-8").splitlines()
    commands = [b.text.rstrip() for b in blocks(ROOT / page) if b.text.startswith(INSTALLS)]
    assert commands
    for command in commands:
        assert command in [line.strip() for line in lines], command


def test_ci_can_be_run() -> None:
    assert os.access(CI, os.X_OK)

"""Does what a page of the documents tells to type: blocks of shell commands that use `fader` or `runs/`, and of Python.

The blocks of a page run in order, in one temporary folder that has the demo in `demo/` and the project's `runs/`. A
`text` block right after a block of commands is compared with what they printed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from docs.markdown import ROOT, Block, blocks

PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
ON_A_CLUSTER = ROOT / "docs" / "cluster.md"  # done by tests/cluster, where there is a cluster for all tests
TIMES = re.compile(r"[\d.,]+ (ms|s)\b")


def runs(block: Block) -> bool:
    """Whether a block is run: Python, or shell commands of which one is `fader` or in `runs/`."""
    ours = any(line.startswith(("fader ", "runs/")) for line in block.text.splitlines())
    return block.language == "python" or (block.language == "sh" and ours)


def run(block: Block, folder: Path, **variables: str) -> str:
    """Run a block; returns its standard output."""
    command = [sys.executable, "-c", block.text]
    if block.language == "sh":
        command = ["bash", "-euc", block.text]
    environment = {
        **os.environ, "PYTHON": sys.executable, "XDG_CACHE_HOME": str(folder / "cache"), "COLUMNS": "80",
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", **variables,
    }  # fmt: skip
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"line {block.line}: {done.stderr}"
    assert "Traceback" not in done.stderr
    return done.stdout


def follow(page: Path, demo: Path, program: str, folder: Path, **variables: str) -> None:
    """Do all that a page says in a folder, with a copy of the demo and a script that is `fader`."""
    shutil.copytree(demo, folder / "demo")
    (folder / "runs").symlink_to(ROOT / "runs")
    (folder / "bin").mkdir()
    (folder / "bin" / "fader").write_text(program, encoding="utf-8")
    (folder / "bin" / "fader").chmod(0o755)
    printed: str | None = None
    for block in blocks(page):
        if block.language == "text" and printed is not None:
            assert TIMES.sub("", block.text) == TIMES.sub("", printed), f"line {block.line}"
        printed = run(block, folder, **variables) if runs(block) else None
        if block.language != "sh":
            printed = None

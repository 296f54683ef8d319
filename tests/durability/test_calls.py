"""What the recorder writes down are the system calls that the process makes, as the system sees them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from durability.calls import Call, recorder, watched
from durability.history import HISTORY, scratch

TRACED = "openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,ftruncate"
OPERATIONS = 3  # build, add, replace
PROGRAM = f"""
import sys
from pathlib import Path
from durability.history import HISTORY
for operation in HISTORY[:{OPERATIONS}]:
    operation.run(Path(sys.argv[1]) / "index")
"""
Seen = list[tuple[str, ...]]


def plain(text: str, root: Path) -> str:
    """A path below the root, without what is drawn anew each time."""
    return re.sub(r"building-[0-9a-f]{8}", "building", os.path.relpath(text, root))


def from_calls(calls: list[Call], root: Path) -> Seen:
    found: Seen = []
    for call in calls:
        kind = {"syncfolder": "sync", "truncate": "create"}.get(call.kind, call.kind)
        more = [plain(call.to, root)] if call.to else [str(len(call.data))] if kind == "write" else []
        found.append((kind, plain(call.path, root), *more))
    return found


def joined(lines: list[str]) -> list[str]:
    """The lines of a trace, a call that another thread's call interrupted as one line, where it ended."""
    found, begun = [], {}
    for line in lines:
        thread = line.split(maxsplit=1)[0]
        if line.endswith("<unfinished ...>"):
            begun[thread] = line.removesuffix("<unfinished ...>").rstrip()
        elif "resumed>" in line:
            found.append(begun.pop(thread, thread) + line.split("resumed>", 1)[1])
        else:
            found.append(line)
    return found


def from_trace(lines: list[str], root: Path) -> Seen:
    """The calls below the root that succeeded; those that open to read are not wanted."""
    found: Seen = []
    for line in joined(lines):
        match = re.search(r"(\w+)\((.*)\) += (\d+)", line)
        if match is None or str(root) not in line:
            continue
        name, arguments, result = match.groups()
        given = [quoted or opened for quoted, opened in re.findall(r'"([^"]*)"|^\d+<([^>]*)>', arguments)]
        paths = [plain(path, root) for path in given if path]  # what is written is shown as an empty text
        kind = next(k for k in ("open", "write", "sync", "rename", "unlink", "mkdir", "rmdir", "truncate") if k in name)
        if kind != "open" or "O_CREAT" in arguments:
            more = [result] if kind == "write" else []
            found.append(("create" if kind == "open" else kind, *paths, *more))
    return found


def is_traceable() -> bool:
    """Whether there is a strace, and it may trace."""
    strace = shutil.which("strace")
    return strace is not None and subprocess.run([strace, "-o", os.devnull, "true"], check=False).returncode == 0


@pytest.mark.skipif(not is_traceable(), reason="needs strace")
def test_the_recorder_sees_what_the_system_sees(tmp_path: Path) -> None:
    """Call by call, in order, with the number of bytes written."""
    calls: list[Call] = []
    with scratch() as root:
        with watched(root, recorder(calls)):
            for operation in HISTORY[:OPERATIONS]:
                operation.run(root / "index")
        expected = from_calls(calls, root)
    with scratch() as root:
        trace = ["strace", "-f", "-y", "-s", "0", "-o", str(tmp_path / "trace"), "-e", f"trace={TRACED}"]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        subprocess.run([*trace, sys.executable, "-c", PROGRAM, str(root)], env=environment, check=True)
        assert from_trace((tmp_path / "trace").read_text("utf-8").splitlines(), root) == expected

"""A process that does operations of the history in children, and kills them: `python -m durability.nursery`.

Reads a request a line and answers each with a line, both JSON:

    {"operation": name, "folder": path, "seconds": s}    killed s seconds after its birth, by SIGKILL
    {"operation": name, "folder": path, "calls": n}      kills itself by SIGKILL after n changing file-system calls
    {"operation": name, "folder": path}                  is left alone
    -> {"returned": whether the operation came to its end, "seconds": its life}

Children are forked from a process that has compiled everything, so that they live only as long as the operation. A
child that fails writes its traceback to standard error. Knows nothing of what is promised.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from durability.calls import Call, Perform, watched
from durability.history import HISTORY, OPERATIONS, answers, scratch

BY_NAME = {operation.name: operation for operation in OPERATIONS}


class Nursery:
    """The other side: asks a nursery that runs as a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, operation: str, folder: Path, **when: float) -> dict[str, Any]:
        """Have an operation done; returns the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"operation": operation, "folder": str(folder), **when}) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


@contextmanager
def nursery() -> Iterator[Nursery]:
    """A nursery that is ready."""
    tests = str(Path(__file__).resolve().parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "durability.nursery"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, text=True, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield Nursery(process)
        assert process.stdin is not None
        process.stdin.close()
    assert process.returncode == 0


def _kill_after(calls: int) -> Any:
    """A watcher that ends this process when so many calls have changed something."""
    done = 0

    def watcher(call: Call, perform: Perform) -> Any:
        nonlocal done
        if call.changes and done == calls:
            os.kill(os.getpid(), signal.SIGKILL)
        result = perform()
        done += call.changes
        return result

    return watcher


def _live(request: dict[str, Any]) -> None:
    """The child's life."""
    folder, run = Path(request["folder"]), BY_NAME[request["operation"]].run
    if "calls" in request:
        with watched(folder.parent, _kill_after(request["calls"])):
            run(folder)
    else:
        run(folder)


def _bear(request: dict[str, Any]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        _live(request)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


def _serve(line: str) -> dict[str, Any]:
    request = json.loads(line)
    born = time.monotonic()
    child = _bear(request)
    ended = status = 0
    while not ended and time.monotonic() - born < request.get("seconds", 0):
        time.sleep(0.0002)
        ended, status = os.waitpid(child, os.WNOHANG)
    if not ended:
        if "seconds" in request:
            os.kill(child, signal.SIGKILL)  # it may have ended: not waited for yet, its number is still its own
        _child, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, -signal.SIGKILL), f"{request}: exit code {code}"
    return {"returned": code == 0, "seconds": time.monotonic() - born}


def main() -> None:
    with scratch() as place:
        for operation in HISTORY:  # compiles
            operation.run(place / "index")
        answers(place / "index")
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(_serve(line)), flush=True)


if __name__ == "__main__":
    main()

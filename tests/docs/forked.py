"""`fader` without its start: a process that has imported the package forks a child for every command.

    python -m docs.forked SOCKET INDEX          the process that waits for commands
    python tests/docs/forked.py SOCKET WORD...  one command: `fader WORD...`, with the caller's folder, environment,
                                                standard streams, signals and exit code

Most commands of the documents are over in less time than it takes to import what they need. What a child does after
the fork is what `python -m fader` does after its imports, with the kernels of one search loaded. That the program
starts by itself, and quickly, is tested elsewhere.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOADED = (
    *(f"fader.cli.{name}" for name in "add annotate batch compare import_ index render search start train".split()),
    "fader.corpora.frame.run",
    "fader.experiment.compare",
    "fader.experiment.reporting.report",
    "fader.search.again",
    "fader.search.index",
    "matplotlib.figure",
    "scipy.optimize",
)


@contextmanager
def forking(index: Path) -> Iterator[str]:
    """Have commands forked; gives the script that is `fader`."""
    with tempfile.TemporaryDirectory() as folder:  # a short path, as those of sockets must be
        yield from _fork_from(f"{folder}/commands", index)


def _fork_from(place: str, index: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "docs.forked", place, str(index)]
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment, pipe = {**os.environ, "PYTHONPATH": paths}, subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        # A program, so that `fader serve &` leaves its number in $!. The client needs nothing but the library.
        yield f'#!/bin/sh\nexec "{sys.executable}" -S -E "{__file__}" "{place}" "$@"\n'
        assert process.stdin is not None
        process.stdin.close()


def _call(place: str, words: list[str]) -> int:
    """Have one command done by a child; returns its exit code."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(place)
        message = json.dumps([os.getcwd(), dict(os.environ), words]).encode()
        socket.send_fds(server, [struct.pack("<I", len(message))], [0, 1, 2])
        server.sendall(message)
        child = struct.unpack("<i", _receive(server, 4))[0]
        for number in PASSED_ON:
            signal.signal(number, lambda number, _frame: os.kill(child, number))
        return int(struct.unpack("<i", _receive(server, 4))[0])


def _receive(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        more = connection.recv(size - len(received))
        if not more:
            raise EOFError("the command ended without an exit code")
        received += more
    return received


def _serve(place: str, index: str) -> None:
    """Fork a child for each command, until standard input ends."""
    for name in LOADED:
        importlib.import_module(name)
    importlib.import_module("fader").open(index).search("played +violin", type="scientist", snippets=1)
    assert threading.active_count() == 1  # a fork has the thread that forks, and no other
    gc.collect()
    gc.freeze()  # what is there already is not looked at again by children, and not copied for that
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _address = listening.accept()
            if os.fork() == 0:
                listening.close()
                _live(connection)
            connection.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _live(connection: socket.socket) -> None:
    """The child's life: become the command, do it, and send the exit code."""
    first, streams, _flags, _from = socket.recv_fds(connection, 4, 3)
    folder, environment, words = json.loads(_receive(connection, struct.unpack("<I", first)[0]))
    child = os.fork()  # the command; its parent waits for it, whatever becomes of it
    if child:
        connection.sendall(struct.pack("<i", child))
        for stream in streams:
            os.close(stream)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.sendall(struct.pack("<i", code))
        os._exit(0)
    connection.close()
    for number in PASSED_ON:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for descriptor, stream in enumerate(streams):
        os.dup2(stream, descriptor)
        os.close(stream)
    sys.stdin, sys.stdout = open(0, encoding="utf-8"), open(1, "w", encoding="utf-8")  # noqa: SIM115 (for its life)
    sys.stderr = open(2, "w", encoding="utf-8", buffering=1)  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["fader", *words]
    from fader.cli import main

    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(code if isinstance(code, int) else 1)  # to take a loaded interpreter apart is not worth the time


def main() -> int:
    place, *words = sys.argv[1:]
    if __spec__ is not None:  # -m
        _serve(place, *words)
        return 0
    code = _call(place, words)
    return code if code >= 0 else 128 - code  # ended by a signal: as a shell tells it


if __name__ == "__main__":
    sys.exit(main())

"""How long a command takes to start: cold, with no kernel compiled yet, and warm; and a server until it is well.

    python -m benchmarks.processes INDEX [--query TEXT] [--cold] [--runs 5]

warm      `fader search INDEX QUERY` as a process of its own, after one that nobody counts
server    `fader serve INDEX` until /healthz is well, likewise
cold      `fader search` with an empty folder for compiled kernels, once: with `--cold`, as it takes half a minute

CPU seconds, of the process by itself and of the system for it, and seconds of the clock. Which kernels are compiled,
and how long each takes, is what the command prints while it does.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import common
from benchmarks.service import Server

QUERY = "american film"


class Taken(NamedTuple):
    """Seconds: of the process, of the system for it, of the clock."""

    user: float
    system: float
    wall: float


def time_search(index: Path, query: str, kernels: Path | None = None) -> Taken:
    """One `fader search`, its kernels in a folder of their own where one is given."""
    environment = dict(os.environ) | ({"FADER_KERNEL_CACHE": str(kernels)} if kernels else {})
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "fader", "search", str(index), query]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = time.perf_counter() - began
    return Taken(after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime, wall)


def time_server(index: Path, work: Path) -> Taken:
    """One `fader serve`, until it is well."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    server = Server(index, work / "processes.log")
    server.wait()
    wall = time.perf_counter() - began
    server.stop()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Taken(after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime, wall)


def middle(runs: Sequence[Taken]) -> Taken:
    """The median of each column."""
    return Taken(*(sorted(column)[len(runs) // 2] for column in zip(*runs, strict=True)))


def measure(args: argparse.Namespace) -> dict[str, Taken]:
    """Each row of the table."""
    args.work.mkdir(parents=True, exist_ok=True)
    rows = {}
    if args.cold:
        kernels = Path(tempfile.mkdtemp(dir=args.work))
        try:
            rows["search, cold"] = time_search(args.index, args.query, kernels)
        finally:
            shutil.rmtree(kernels)
    time_search(args.index, args.query)
    rows["search, warm"] = middle([time_search(args.index, args.query) for _ in range(args.runs)])
    time_server(args.index, args.work)
    rows["server ready, warm"] = middle([time_server(args.index, args.work) for _ in range(args.runs)])
    return rows


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("How long commands and the server take to start.")
    parser.add_argument("index", type=Path, help="the folder of an index")
    parser.add_argument("--query", default=QUERY)
    parser.add_argument("--cold", action="store_true", help="also with no kernel compiled")
    parser.add_argument("--runs", type=int, default=5, help="the median of so many counts")
    args = parser.parse_args(argv)
    rows = measure(args)
    cells = [(name, *(f"{seconds:.2f}" for seconds in taken)) for name, taken in rows.items()]
    print(common.table(("start", "user s", "system s", "wall s"), cells))
    report = {name: taken._asdict() for name, taken in rows.items()}
    common.write_report(args.json or args.work / "processes.json", report)


if __name__ == "__main__":
    main()

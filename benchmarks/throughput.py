"""How many queries of a testbed `fader batch` ranks per second, on 1 core and on 2.

Each run is a process of its own that may use so many cores; `fader batch` ranks by as many threads. A run before them
is not counted: it compiles kernels and reads files. The runs of all numbers of cores must be equal.

    python -m benchmarks.throughput FOLDER... [--indexes DIR] [--model NAME] [-k 1000]

With `--quick`, the demo: does it run? Needs Linux (sched_setaffinity).
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import common, testbeds

CORES = (1, 2)


def run_batch(index: Path, queries: Path, run: Path, cores: int, args: Any) -> dict[str, float]:
    """The figures of one run: seconds of the queries by its own account, of the process, and of CPU."""
    command = [sys.executable, "-m", "fader", "batch", str(index), "--queries", str(queries), "--run", str(run)]
    command += ["--model", args.model, "-k", str(args.k), "--on-error", "skip", "--json", "--quiet"]
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command, stdout=subprocess.PIPE, check=True, preexec_fn=partial(os.sched_setaffinity, 0, allowed)
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    summary = json.loads(done.stdout)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"queries": summary["queries"], "seconds": summary["seconds"], "wall": wall, "cpu": cpu}


def measure(folder: Path, args: Any) -> dict[str, Any]:
    """The fastest of some runs by number of cores."""
    path = (args.indexes or args.work / "testbeds") / folder.name
    if not path.exists():
        testbeds.build(folder, path)
    run, queries = args.work / "throughput.run", folder / "queries.jsonl"
    found: dict[str, dict[str, float]] = {}
    rankings: set[bytes] = set()
    run_batch(path, queries, run, CORES[-1], args)
    for _round in range(args.rounds):
        for cores in CORES:
            one = run_batch(path, queries, run, cores, args)
            rankings.add(run.read_bytes())
            found[f"{cores}"] = min(found.get(f"{cores}", one), one, key=lambda figures: figures["seconds"])
    run.unlink()
    if len(rankings) > 1:
        sys.exit(f"{folder.name}: runs by different numbers of cores differ")
    return found


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("Queries per second of fader batch.")
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--indexes", type=Path, help="a folder with their indexes, by name (default: they are built)")
    parser.add_argument("--model", default="default")
    parser.add_argument("-k", type=int, default=1000, help="entities per query")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each; the fastest counts")
    args = parser.parse_args(argv)
    args.work.mkdir(parents=True, exist_ok=True)
    if args.quick:
        testbeds.generate(args.work / "demo-testbed")
        args.folders, args.rounds = [args.work / "demo-testbed"], 1
    if not args.folders:
        parser.error("which testbeds? Give their folders, or --quick for the demo")
    reports = {folder.name: measure(folder, args) for folder in args.folders}
    rows = []
    for name, found in reports.items():
        for cores, one in found.items():
            speed, ratio = one["queries"] / one["seconds"], found["1"]["seconds"] / one["seconds"]
            times = (f"{one[what]:.2f}" for what in ("seconds", "wall", "cpu"))
            rows.append((name, cores, f"{one['queries']:,}", *times, f"{speed:,.0f}", f"{ratio:.2f}x"))
    print(common.table(("testbed", "cores", "queries", "s", "process s", "CPU s", "a second", "speed-up"), rows))
    common.write_report(args.json or args.work / "throughput.json", {"model": args.model, "testbeds": reports})


if __name__ == "__main__":
    main()

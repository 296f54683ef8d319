"""A catalog alone: its two files to one stored catalog, by CPU, by the clock and by memory.

Scale 1.0 is 200,000 types in six levels and 2 million entities, half of them with another name, drawn as for completion
(`suggest.py`). Reading, checking and writing run in a process of its own, for its peak memory, after a tiny catalog
that loads the compiled kernels; imports are not timed.

    python -m benchmarks.catalog --scale 1.0
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.common import Clock
from benchmarks.indexing import peak_memory
from benchmarks.suggest import draw_rows, write_files

TARGET_S, TARGET_MB = 20.0, 1_500.0
WARM = 0.0


def store(folder: Path) -> dict[str, Any]:
    """Read and write the catalog of a folder."""
    from fader.corpus.catalog import read_catalog
    from fader.index.catalog import write_catalog
    from fader.memory import keep_freed_memory

    keep_freed_memory()
    path = folder / "stored.catalog"
    path.unlink(missing_ok=True)
    with Clock() as read:
        catalog = read_catalog(folder / "entities.tsv", folder / "types.tsv")
    with Clock() as written:
        described = write_catalog(path, catalog)
    path.unlink()
    return {
        "entities": len(catalog.entities),
        "types": len(catalog.types),
        "read_cpu_s": read.cpu,
        "write_cpu_s": written.cpu,
        "cpu_s": read.cpu + written.cpu,
        "wall_s": read.wall + written.wall,
        "bytes": described.bytes,
    }


def one(folder: Path) -> None:
    """One run, in this process: prints its figures as JSON."""
    with tempfile.TemporaryDirectory() as warm:
        write_files(Path(warm), *draw_rows(WARM, 1))
        store(Path(warm))
    print(json.dumps({**store(folder), "peak_mb": peak_memory() / 1e6}))


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("Time and memory to store a catalog.")
    parser.add_argument("--rounds", type=int, default=2, help="runs; the fastest counts")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    parser.add_argument("--one", type=Path, help="internal: store the catalog of a folder and print the figures")
    args = parser.parse_args(argv)
    common.one_thread()
    if args.one:
        one(args.one)
        return
    if args.quick:
        args.scale, args.rounds = 0.002, 1
    folder = args.work / f"catalog-{args.scale:g}-{args.seed}"
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_files(folder, *draw_rows(args.scale, args.seed))
        (folder / "done").touch()
    command = [sys.executable, "-m", "benchmarks.catalog", "--one", str(folder)]
    runs = [subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True) for _ in range(args.rounds)]
    best: dict[str, Any] = min((json.loads(run.stdout.splitlines()[-1]) for run in runs), key=lambda r: r["cpu_s"])
    print(f"{best['entities']:,} entities, {best['types']:,} types; stored in {best['bytes'] / 1e6:.0f} MB")
    print(
        f"{best['cpu_s']:.2f} CPU s ({best['read_cpu_s']:.2f} to read, {best['write_cpu_s']:.2f} to write),"
        f" {best['wall_s']:.2f} s by the clock (target {TARGET_S:g});"
        f" peak {best['peak_mb']:.0f} MB (target {TARGET_MB:g})"
    )
    path = args.json or args.work / f"catalog-{args.scale:g}.json"
    common.write_report(path, {"scale": args.scale, **best})
    if args.check and (best["cpu_s"] > TARGET_S or best["peak_mb"] > TARGET_MB):
        sys.exit("targets missed")


if __name__ == "__main__":
    main()

"""What a small change of the catalog costs: CPU seconds beside those of a build of all.

    python -m benchmarks.catalog_change FOLDER...

A folder has corpus.jsonl (or .gz, .zst), entities.tsv and types.tsv. Ten entities, drawn by a seed, get another alias,
or one more type; ten are added; ten are removed. Each change begins with a fresh copy of the index; the least of
`--rounds` counts.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fader
from benchmarks import common
from benchmarks.common import Clock

CHANGED = 10


def draw_changes(folder: Path, seed: int) -> dict[str, dict[str, Any]]:
    """What `fader.add` is given, by the name of the change."""
    lines = (folder / "entities.tsv").read_text(encoding="utf-8").splitlines()
    every = [[*line.split("\t"), "", ""][:4] for line in lines if line]
    drawn = random.Random(seed).sample(every, min(CHANGED, len(every)))
    rows = [
        {
            "id": i,
            "name": name,
            "types": types.split("|") if types else [],
            "aliases": aliases.split("|") if aliases else [],
        }
        for i, name, types, aliases in drawn
    ]
    kind = next(row.split("\t")[0] for row in (folder / "types.tsv").read_text(encoding="utf-8").splitlines() if row)
    return {
        "names": {"entities": [row | {"aliases": [*row["aliases"], f"{row['name']} II"]} for row in rows]},
        "types": {"entities": [row | {"types": sorted({*row["types"], kind})} for row in rows]},
        "new entities": {"entities": [row | {"id": f"new {row['id']}"} for row in rows]},
        "removals": {"remove_entities": [row["id"] for row in rows]},
    }


def measure(folder: Path, work: Path, rounds: int, seed: int) -> dict[str, float]:
    """CPU seconds of a build, and of each change."""
    index, copy = work / "index", work / "copy"
    corpus = sorted(folder.glob("corpus.jsonl*"))
    with Clock() as clock:
        fader.build(index, corpus, folder / "entities.tsv", folder / "types.tsv", overwrite=True)
    report = {"build": clock.cpu}
    for name, change in draw_changes(folder, seed).items():
        seconds = []
        for _ in range(rounds):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(index, copy)
            with Clock() as clock:
                fader.add(copy, **change)
            seconds.append(clock.cpu)
        report[name] = min(seconds)
    return report


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("What a small change of the catalog costs.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=3, help="times each change is made; the least counts")
    args = parser.parse_args(argv)
    work = args.work / "catalog-change"
    work.mkdir(parents=True, exist_ok=True)
    report = {folder.name: measure(folder, work, args.rounds, args.seed) for folder in args.folders}
    header = ["CPU s", *next(iter(report.values()))]
    print(common.table(header, [(name, *(f"{s:.2f}" for s in row.values())) for name, row in report.items()]))
    common.write_report(args.json or args.work / "catalog-change.json", report)
    shutil.rmtree(work)


if __name__ == "__main__":
    main()

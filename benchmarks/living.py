"""A living index: what adding a little costs beside building all, and what many adds cost the queries.

A corpus in random order is cut into two thirds and 100 equal parts of the rest, which are added one after the other,
with the automatic merges: ids of all parts lie among each other. Compared: the median CPU time of an add with the share
of a build that its documents have, and query times of the grown index with those of a fresh build of the same
documents, query by query in one process. The same after every tenth document was replaced by itself and every
twentieth deleted; and for a build of the whole corpus that is cut into 20 segments beside one of a single segment.

    python -m benchmarks.living --scale 1.0
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import fader
from benchmarks import common, workload
from benchmarks.common import Clock, Dataset, Query, median
from benchmarks.synthetic import type_id
from fader.index.write.change import ChangeReport, add, delete

PARTS = 100
TARGET = 1.2  # of a grown index
SEGMENTS, TARGET_CUT = 20, 1.1  # segments of a build that is cut, and their cost


def parts_of(data: Dataset, work: Path, parts: int) -> list[Path]:
    """Files with two thirds of the corpus, and with equal parts of the rest."""
    lines = (data.folder / "corpus.jsonl").read_bytes().splitlines(keepends=True)
    random.Random(0).shuffle(lines)
    first = len(lines) * 2 // 3
    cuts = [0, *(first + (len(lines) - first) * n // parts for n in range(parts + 1))]
    files = []
    for n, (a, b) in enumerate(pairwise(cuts)):
        files.append(work / f"part-{n:03d}.jsonl")
        files[-1].write_bytes(b"".join(lines[a:b]))
    return files


def built(data: Dataset, corpus: Any, path: Path, segment_tokens: int | None = None) -> Clock:
    shutil.rmtree(path, ignore_errors=True)
    with Clock() as clock:
        fader.build(
            path, corpus, data.folder / "entities.tsv", data.folder / "types.tsv", segment_tokens=segment_tokens
        )
    return clock


def added(path: Path, files: Sequence[Path]) -> tuple[list[float], int]:
    """CPU seconds of each add, and how many segments were merged in all."""
    seconds, merged = [], 0
    for file in files:
        with Clock() as clock:
            report: ChangeReport = add(path, [file])
        seconds.append(clock.cpu)
        merged += report.merged
    return seconds, merged


def query_ratios(
    grown: Path, fresh: Path, queries: Sequence[Query], rounds: int, model: str
) -> tuple[float, float, float]:
    """Median milliseconds by the grown and the fresh index, and the ratio of these."""
    times: dict[Path, list[float]] = {grown: [], fresh: []}
    opened = {path: fader.open(path) for path in times}
    for query in [queries[0], *queries]:  # the first loads kernels and numbers documents, and is not counted
        best = dict.fromkeys(times, float("inf"))
        answers = {}
        for turn in range(rounds):
            for path, index in sorted(opened.items(), reverse=bool(turn % 2)):
                with Clock() as clock:
                    answers[path] = index.rank(query.text, type_id(query.type), 10, model)
                best[path] = min(best[path], 1000 * clock.cpu)
        if answers[grown] != answers[fresh]:
            sys.exit(f"the grown index answers another thing than the fresh one: {query.text}")
        for path, value in best.items():
            times[path].append(value)
    ms = [median(times[path][1:]) for path in (grown, fresh)]
    return ms[0], ms[1], ms[0] / ms[1]


def churned(path: Path, data: Dataset, work: Path) -> list[dict[str, Any]]:
    """Replace every tenth document by itself, delete every twentieth; the documents that are left."""
    documents = [json.loads(line) for line in (data.folder / "corpus.jsonl").read_bytes().splitlines()]
    again, gone = documents[::10], {d["id"] for d in documents[5::20]}
    step = max(1, len(again) // 10)
    for first in range(0, len(again), step):
        add(path, again[first : first + step])
    delete(path, sorted(gone))
    return [d for d in documents if d["id"] not in gone]


def measure(data: Dataset, work: Path, args: Any) -> dict[str, Any]:
    sets = workload.standard_sets(data.folder, args.queries)
    grown, fresh = work / "grown", work / "fresh"
    files = parts_of(data, work, args.parts)
    built(data, [files[0]], grown)
    whole = built(data, [data.folder / "corpus.jsonl"], fresh)
    seconds, merged = added(grown, files[1:])
    share = 1 / 3 / args.parts
    report = {
        "build s": whole.cpu, "add s": median(seconds), "all adds s": sum(seconds), "merged": merged,
        "add / its share of a build": median(seconds) / (share * whole.cpu),
        "all adds / their share": sum(seconds) / (whole.cpu / 3),
        "segments": len(fader.open(grown).collection.manifest.segments),
    }  # fmt: skip

    def compare(changed: Path) -> dict[str, tuple[float, float, float]]:
        return {
            f"{name}, {model}": query_ratios(changed, fresh, queries, args.rounds, model)
            for name, queries in sets.items()
            for model in args.model
        }

    report["after adds"] = compare(grown)
    built(data, [data.folder / "corpus.jsonl"], work / "cut", segment_tokens=-(-len(data.tokens) // SEGMENTS))
    report["segments, cut"] = len(fader.open(work / "cut").collection.manifest.segments)
    report["cut"] = compare(work / "cut")
    built(data, churned(grown, data, work), fresh)
    report["segments, churned"] = len(fader.open(grown).collection.manifest.segments)
    report["churned"] = compare(grown)
    return report


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("What adds cost, and what they cost queries.")
    parser.add_argument("--queries", type=int, default=50, help="queries of each size")
    parser.add_argument("--rounds", type=int, default=3, help="times each query is asked; the least counts")
    parser.add_argument("--parts", type=int, default=PARTS, help="adds")
    parser.add_argument("--model", nargs="+", default=["proximity", "default"], help="what ranks")
    parser.add_argument("--check", action="store_true", help="exit with 1 if queries miss the target")
    args = parser.parse_args(argv)
    if args.quick:
        args.scale, args.queries, args.rounds, args.parts = 0.01, 4, 1, 10
    common.one_thread()
    data = common.dataset(args.work, args.scale, seed=args.seed)
    work = args.work / f"living-{args.scale:g}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    report = measure(data, work, args)
    shutil.rmtree(work)
    print(
        f"\n{data.documents:,} documents, built in {report['build s']:.1f} CPU s; a third of them by {args.parts} adds"
    )
    for name in ("add s", "add / its share of a build", "all adds / their share"):
        print(f"{name:28} {report[name]:.3g}")
    counts = {"after adds": report["segments"], "churned": report["segments, churned"], "cut": report["segments, cut"]}
    targets = dict.fromkeys(counts, TARGET) | {"cut": TARGET_CUT}
    rows = [
        (when, name, count, *(f"{v:.2f}" for v in values), f"<= {targets[when]:g}")
        for when, count in counts.items()
        for name, values in report[when].items()
    ]
    print(common.table(("index", "queries", "segments", "its ms", "fresh ms", "ratio", "target"), rows))
    common.write_report(args.json or args.work / f"living-{args.scale:g}.json", {"scale": args.scale, **report})
    slow = [f"{row[0]}, {row[1]}: {row[-2]}" for row in rows if float(row[-2]) > targets[row[0]]]
    if args.check and slow:
        sys.exit("slower than the target: " + "; ".join(slow))


if __name__ == "__main__":
    main()

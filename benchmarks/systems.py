"""What a ranking costs by every system, beside features x sum on the same contexts.

Builds or reuses the corpus and its queries of ~100k contexts at scale 1.0. For each query the contexts are matched once
and then ranked by every system, one after the other, from a table that nobody has asked anything yet: columns that a
system needs and matching leaves out are part of its time. Learners are trained on these queries with made-up judgments
first. The ratio to `noprox+rectangle x sum` is the result; the target is 5 at most.

    python -m benchmarks.systems --scale 1.0
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks import common, workload
from benchmarks.common import median
from benchmarks.peers.fader_peer import built_index
from benchmarks.synthetic import type_id
from fader.contexts.table import Contexts
from fader.features.combined import feature_map
from fader.learn.learner import Learner, encode_example
from fader.rank.ranking import rank_entities
from fader.registry import discover
from fader.systems.base import parse_system
from fader.systems.fader import FeatureModel

BASE = "noprox+rectangle x sum"
TARGET = 5.0
TRAINED_ON = 4


def systems(tables: Sequence[Contexts]) -> dict[str, Any]:
    """Every system, able to rank."""
    maps = feature_map("noprox+rectangle")
    found: dict[str, Any] = {BASE: FeatureModel(weights=tuple(np.linspace(0.01, 0.3, maps.size).tolist()))}
    for name, part in discover("fader.systems").items():
        if not issubclass(part, FeatureModel):
            found[name] = trained(parse_system(name), tables) if issubclass(part, Learner) else parse_system(name)
    return found


def trained(learner: Any, tables: Sequence[Contexts]) -> Any:
    """A learner fitted to a few of the queries, with every fourth candidate good."""
    examples = []
    for table in tables[:TRAINED_ON]:
        grades = {int(e): 1 for e in table.groups.entity[::4]}
        examples.append(encode_example(learner, untouched(table), grades, np.random.default_rng(0)))
    return learner.fit(examples, seed=0)


def untouched(table: Contexts) -> Contexts:
    """The same table as matching left it."""
    return replace(table, memo={})


def milliseconds(ranker: Any, table: Contexts) -> float:
    began = time.process_time_ns()
    rank_entities(ranker, untouched(table), 10)
    return (time.process_time_ns() - began) / 1e6


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("The cost of a ranking by every system.")
    parser.add_argument("--queries", type=int, default=20, help="queries")
    parser.add_argument("--rounds", type=int, default=3, help="times each query is ranked; the least counts")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a system misses the target")
    args = parser.parse_args(argv)
    if args.quick:
        args.scale, args.queries, args.rounds = 0.01, 4, 1
    common.one_thread()
    data = common.dataset(args.work, args.scale, seed=args.seed)
    queries = workload.standard_sets(data.folder, args.queries)["large"]
    index = built_index(data.folder)
    tables = [index.contexts(query.text, type_id(query.type)) for query in queries]
    rankers = systems(tables)
    times: dict[str, list[float]] = {name: [] for name in rankers}
    for table in [tables[0], *tables]:  # the first compiles, and is not counted
        for name, ranker in rankers.items():
            times[name].append(min(milliseconds(ranker, table) for _ in range(args.rounds)))
    medians = {name: median(values[1:]) for name, values in times.items()}
    ratios = {name: value / medians[BASE] for name, value in medians.items()}
    rows = [(name, f"{medians[name]:.2f}", f"{ratios[name]:.1f}x") for name in sorted(ratios, key=lambda n: ratios[n])]
    print(f"\n{len(queries)} queries, median {median([len(t) for t in tables]):,.0f} contexts")
    print(common.table(("system", "CPU ms", "ratio"), rows))
    path = args.json or args.work / f"systems-{args.scale:g}.json"
    common.write_report(path, {"scale": args.scale, "ms": medians, "ratios": ratios, "target": TARGET})
    slow = [name for name, ratio in ratios.items() if ratio > TARGET]
    if args.check and slow:
        sys.exit(f"slower than {TARGET:g}x: {', '.join(slow)}")


if __name__ == "__main__":
    main()

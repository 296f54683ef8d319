"""Query time: Fader against DuckDB, Polars, numpy for the same answer, and tantivy with voting for another.

Builds or reuses the corpus, its query sets (~100k and ~1k contexts per query at scale 1.0) and the indexes,
checks that the peers agree, then measures CPU time per query, one thread each, in two orders: interleaved, all
engines on one query before the next, and hot, all queries of an engine in a row. Ratios of medians are the result;
milliseconds depend on the machine.

Two tables in each order: peers in a general layout, which answers any query, then in one laid out by hand for these
queries.

    python -m benchmarks.query --scale 1.0
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks import common, peers, workload
from benchmarks.common import GENERAL, HAND_LAID, LAYOUTS, Dataset, Peer, Query, median

OURS = "Fader"
INTERLEAVED, HOT = "interleaved", "hot"
ORDERS = {INTERLEAVED: common.interleave, HOT: common.in_a_row}
TARGETS = {
    INTERLEAVED: {"large": {"DuckDB": 30.0, "Polars": 12.0, "numpy": 8.0}, "small": {"numpy": 3.5}},
    HOT: {"large": {"numpy": 10.0}, "small": {"numpy": 5.0}},
}
HEADINGS = {
    GENERAL: "general layout: every engine answers any query from what it holds",
    HAND_LAID: "hand-laid: the peers' data laid out in advance for these very queries (generous to the peers)",
}
BYTES_PER_OCCURRENCE, BYTES_PER_MENTION = 4, 8  # positions; position and entity


def verify(engines: Sequence[Peer], queries: Sequence[Query]) -> int:
    """Stop at the first query to which engines give different answers; returns how many were compared."""
    comparable = [e for e in engines if e.same_answer]
    for query in queries:
        answers = [e.answer(query) for e in comparable]
        for engine, answer in zip(comparable[1:], answers[1:], strict=True):
            if not common.same(answers[0], answer):
                lines = [f"{comparable[0].name}: {answers[0]}", f"{engine.name}: {answer}"]
                sys.exit("\n".join([f"different answers to {query.text!r}, type {query.type}", *lines]))
    return len(queries)


def must_touch(data: Dataset, query: Query) -> int:
    """Bytes of positions and mentions that any exact plan by type has to read."""
    occurrences = sum(len(data.occurrences(t.terms).positions) for t in query.literals)
    return BYTES_PER_OCCURRENCE * occurrences + BYTES_PER_MENTION * len(data.type_rows(query.type))


def rows_of(engines: Sequence[Peer], times: dict[str, list[float]]) -> dict[str, dict[str, Any]]:
    """The figures of each engine."""
    base = times.get(OURS) or times[engines[0].name]
    rows: dict[str, dict[str, Any]] = {}
    for engine in engines:
        values = times[engine.name]
        each = [x / b for x, b in zip(values, base, strict=True)]
        rows[engine.name] = {
            "ms": median(values),
            "ratio": median(values) / median(base),
            "ratio_per_query": median(each),
            "ms_mean": sum(values) / len(values),
            "same_answer": engine.same_answer,
            "formulation": engine.formulation,
        }
    return rows


def summary(
    data: Dataset, queries: Sequence[Query], orders: dict[str, dict[str, dict[str, Any]]], speed: float
) -> dict[str, Any]:
    """One query set's figures."""
    rows = next(iter(orders.values()))
    base = rows.get(OURS) or next(iter(rows.values()))
    megabytes = median([must_touch(data, q) for q in queries]) / 1e6
    return {
        "queries": len(queries),
        "contexts": median([q.contexts for q in queries]),
        "documents": median([q.documents for q in queries]),
        "candidates": median([q.candidates for q in queries]),
        "orders": orders,
        "megabytes_touched": megabytes,
        "bandwidth_share": megabytes / speed / base["ms"],
    }


def measure(
    data: Dataset, layout: str, query_sets: dict[str, list[Query]], args: argparse.Namespace, speed: float
) -> dict[str, Any]:
    """The figures of all query sets with the peers in one layout."""
    gc.collect()  # the layout before this one is large
    engines = peers.load(args.peers, layout)
    for engine in engines:
        engine.prepare(data, [q for queries in query_sets.values() for q in queries])
    results = {}
    for name, queries in query_sets.items():
        for engine in engines:
            engine.choose(queries)
        checked = verify(engines, queries[: args.verify])
        orders = {order: rows_of(engines, ORDERS[order](engines, queries, args.rounds)) for order in args.orders}
        results[name] = summary(data, queries, orders, speed) | {"verified": checked}
    return results


def targets_met(sets: dict[str, Any]) -> dict[str, bool]:
    """Which of the targets, all stated for scale 1.0, hold."""
    return {
        f"{order}, {name}, {peer}": rows[peer]["ratio"] >= least
        for name, result in sets.items()
        for order, rows in result["orders"].items()
        for peer, least in TARGETS[order][name].items()
        if peer in rows
    }


def show(layout: str, sets: dict[str, Any], speed: float) -> None:
    print(f"\n{HEADINGS[layout]}")
    for name, result in sets.items():
        print(
            f"\n{result['queries']} queries, medians: {result['contexts']:,.0f} contexts,"
            f" {result['documents']:,.0f} documents, {result['candidates']:,.0f} candidates;"
            f" {result['verified']} answers compared"
        )
        for order, engines in result["orders"].items():
            rows = []
            for engine, row in sorted(engines.items(), key=lambda item: item[1]["ms"]):
                least = TARGETS[order][name].get(engine) if layout == GENERAL else None
                goal = "" if least is None else f">= {least:g}x"
                other = "" if row["same_answer"] else "  (another answer)"
                how = f"  ({row['formulation']})" if row["formulation"] else ""
                rows.append((engine + other + how, f"{row['ms']:.3f}", f"{row['ratio']:.1f}x", goal))
            print(f"\n{order}\n" + common.table(("engine", "CPU ms", "ratio", "target"), rows))
        print(
            f"\nabout {result['megabytes_touched']:.2f} MB to touch: {result['bandwidth_share']:.1%}"
            f" of the limit at {speed:.1f} GB/s"
        )


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("Query time of Fader and its peers.")
    parser.add_argument("--queries", type=int, default=100, help="queries per set")
    parser.add_argument("--rounds", type=int, default=3, help="times each query is run; the least counts")
    parser.add_argument("--verify", type=int, default=20, help="queries per set whose answers are compared")
    parser.add_argument("--contexts", type=int, nargs=2, metavar=("LARGE", "SMALL"), help="default: by scale")
    parser.add_argument("--peers", default=",".join(peers.PEERS), help="which engines, comma-separated")
    parser.add_argument("--layout", choices=(*LAYOUTS, "both"), default="both", help="of the peers' data")
    parser.add_argument("--order", choices=(*ORDERS, "both"), default="both", help="in which queries are asked")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    args = parser.parse_args(argv)
    args.orders = list(ORDERS) if args.order == "both" else [args.order]
    args.peers = args.peers.split(",")
    if args.check and args.layout == HAND_LAID:
        parser.error("--check: targets are for the general layout")
    if args.quick:
        args.scale, args.queries, args.rounds, args.verify = 0.01, 12, 1, 12
    common.one_thread()
    data = common.dataset(args.work, args.scale, seed=args.seed)
    speed = common.bandwidth()
    query_sets = workload.standard_sets(data.folder, args.queries, args.contexts)
    layouts = {}
    for layout in LAYOUTS if args.layout == "both" else (args.layout,):
        layouts[layout] = measure(data, layout, query_sets, args, speed)
        show(layout, layouts[layout], speed)
    met = targets_met(layouts.get(GENERAL, {}))
    report = {"scale": args.scale, "layouts": layouts, "bandwidth_gb_s": speed, "targets": TARGETS, "met": met}
    path = args.json or args.work / f"query-{args.scale:g}.json"
    common.write_report(path, report)
    print(f"\n{path}")
    if args.check and not all(met.values()):
        sys.exit("targets missed: " + "; ".join(name for name, ok in met.items() if not ok))


if __name__ == "__main__":
    main()

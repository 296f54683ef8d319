"""Growth: what a query costs as the corpus grows at fixed contexts, and as contexts grow in a fixed corpus.

Corpora of x1, x2, x4, x8 documents share one catalog, and each begins with the one before; x8 is the scale
asked for. Contexts stay fixed in either of two ways: literals get rarer, or answer types get narrower.
In the x8 corpus, queries then have x1, x2, x4, x8 as many contexts. Peers are in their general layout.

    python -m benchmarks.growth --scale 1.0
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any

from benchmarks import common, peers
from benchmarks.common import GENERAL, Dataset, Query, median
from benchmarks.workload import LARGE, Finder

FACTORS = (1, 2, 4, 8)


def point(data: Dataset, queries: list[Query], args: argparse.Namespace) -> dict[str, Any]:
    """The medians of one set of queries."""
    engines = peers.load(args.peers, GENERAL)
    for engine in engines:
        engine.prepare(data, queries)
        engine.choose(queries)
    times = common.interleave(engines, queries, args.rounds)
    return {
        "documents": data.documents,
        "contexts": median([q.contexts for q in queries]),
        "ms": {name: median(values) for name, values in times.items()},
    }


def exponent(points: list[dict[str, Any]], engine: str) -> float:
    """Slope of log time over log factor, by least squares: 0 is constant, 1 is linear."""
    x = [math.log(p["factor"]) for p in points]
    y = [math.log(p["ms"][engine]) for p in points]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    rise = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return rise / sum((a - mean_x) ** 2 for a in x)


def corpus_curves(args: argparse.Namespace, contexts: int) -> dict[str, list[dict[str, Any]]]:
    """Corpus x1 to x8, contexts fixed."""
    curves: dict[str, list[dict[str, Any]]] = {"corpus, rarer words": [], "corpus, narrower types": []}
    shares = (0.0, 0.0)
    for factor in FACTORS:
        data = corpus(args, factor)
        finder = Finder(data, args.seed)
        if factor == 1:
            shares = finder.shares(contexts)
        for name, narrowed in zip(curves, ((shares[0] / factor, shares[1] / factor), shares), strict=True):
            queries = finder.find(contexts, args.queries, narrowed)
            curves[name].append({"factor": factor, **point(data, queries, args)})
    return curves


def context_curve(args: argparse.Namespace, contexts: int) -> list[dict[str, Any]]:
    """Contexts x1 to x8, corpus fixed."""
    data = corpus(args, FACTORS[-1])
    finder = Finder(data, args.seed)
    found = {factor: finder.find(factor * contexts, args.queries) for factor in FACTORS}
    return [{"factor": factor, **point(data, queries, args)} for factor, queries in found.items()]


def corpus(args: argparse.Namespace, factor: int) -> Dataset:
    """The corpus of a factor, with the catalog of the largest."""
    whole = factor == FACTORS[-1]
    return common.dataset(args.work, args.scale * factor / FACTORS[-1], None if whole else args.scale, seed=args.seed)


def show(name: str, points: list[dict[str, Any]], slopes: dict[str, float]) -> None:
    engines = list(slopes)
    rows = []
    for p in points:
        first = points[0]["ms"]
        cells = [f"{p['ms'][e]:.3f} ({p['ms'][e] / first[e]:.2f}x)" for e in engines]
        rows.append((f"x{p['factor']}", f"{p['documents']:,}", f"{p['contexts']:,.0f}", *cells))
    rows.append(("exponent", "", "", *(f"{slopes[e]:.2f}" for e in engines)))
    print(f"\n{name}")
    print(common.table(("", "documents", "contexts", *(f"{e}, CPU ms" for e in engines)), rows))


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("How query time grows with the corpus and with contexts.")
    parser.add_argument("--queries", type=int, default=40, help="queries per point")
    parser.add_argument("--rounds", type=int, default=3, help="times each query is run; the least counts")
    parser.add_argument("--peers", default="fader,numpy", help="which engines, comma-separated")
    args = parser.parse_args(argv)
    args.peers = args.peers.split(",")
    if args.quick:
        args.scale, args.queries, args.rounds = 0.02, 8, 1
    common.one_thread()
    contexts = round(LARGE * args.scale / FACTORS[-1])
    curves = {**corpus_curves(args, contexts), "contexts": context_curve(args, contexts)}
    slopes = {c: {e: exponent(points, e) for e in points[0]["ms"]} for c, points in curves.items()}
    for name, points in curves.items():
        show(name, points, slopes[name])
    path = args.json or args.work / f"growth-{args.scale:g}.json"
    common.write_report(path, {"scale": args.scale, "curves": curves, "exponents": slopes})
    print(f"\n{path}")


if __name__ == "__main__":
    main()

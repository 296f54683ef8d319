"""Whole testbeds: build time, index size, accuracy and latency on corpora with queries and judgments.

A testbed is a folder with corpus.jsonl (or .gz, .zst), entities.tsv, types.tsv, queries.jsonl and qrels.txt. Every
query is ranked with each system (k = 1000) and searched once with evidence (k = 10).

    python -m benchmarks.testbeds FOLDER... [--work DIR] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import fader
from benchmarks.common import table
from fader.corpus.queries import FaultCollector, read_qrels, read_queries
from fader.experiment.measures import average_measures
from fader.search.batch import Parsed, parse_all

SYSTEMS = ("proximity", "count")
PERCENTILES = (50, 95, 99)


def latency(milliseconds: list[float]) -> dict[str, float]:
    """Percentiles of some times."""
    return {f"p{p}": float(np.percentile(milliseconds, p)) for p in PERCENTILES}


def timed(call: Any) -> tuple[Any, float]:
    """What a call returns, and the milliseconds it took."""
    began = time.perf_counter()
    result = call()
    return result, 1000 * (time.perf_counter() - began)


def ranked(index: fader.Index, queries: list[Parsed], grades: dict[str, dict[str, int]], system: str) -> dict[str, Any]:
    """MAP, MRR and latency of a system over the judged queries."""
    times, rankings = [], {}
    for parsed in queries:
        result, ms = timed(lambda parsed=parsed: index.rank(parsed.query, k=1000, model=system))
        times.append(ms)
        rankings[parsed.id] = result.entities
    return {**average_measures(rankings, grades), "rank_ms": latency(times)}


def measure(folder: Path, work: Path) -> dict[str, Any]:
    """All figures of one testbed."""
    corpus = sorted(folder.glob("corpus.jsonl*"))
    cpu = time.process_time()
    index, ms = timed(
        lambda: fader.build(
            work / folder.name,
            corpus=corpus,
            entities=folder / "entities.tsv",
            types=folder / "types.tsv",
            overwrite=True,
        )
    )
    cpu = time.process_time() - cpu
    queries = parse_all(index, read_queries(folder / "queries.jsonl", FaultCollector()), FaultCollector())
    grades = read_qrels(folder / "qrels.txt", FaultCollector())
    files = list((work / folder.name).iterdir())
    size = sum(f.stat().st_size for f in files)
    text = sum(f.stat().st_size for f in files if f.suffix == ".text")
    searches = [timed(lambda q=q: index.search(q.query, k=10, snippets=1))[1] for q in queries]
    contexts = [len(index.contexts(q.query)) for q in queries]
    return {
        "testbed": folder.name,
        "documents": index.collection.documents,
        "tokens": index.collection.tokens,
        "mentions": index.collection.mentions,
        "queries": len(queries),
        "contexts_per_query": float(np.mean(contexts)),
        "build_seconds": ms / 1000,
        "build_cpu_seconds": cpu,
        "index_mb": size / 1e6,
        "bytes_per_token_without_text": (size - text) / max(1, index.collection.tokens),
        "search_ms": latency(searches),
        "systems": {system: ranked(index, queries, grades, system) for system in SYSTEMS},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Build, ask and evaluate whole testbeds.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--work", type=Path, help="where indexes go (default: a temporary folder)")
    parser.add_argument("--json", type=Path, help="report file")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = args.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        reports = [measure(folder, work) for folder in args.folders]
    rows = [
        [
            r["testbed"], f"{r['documents']:,}", f"{r['tokens'] / 1e6:.1f}", f"{r['build_seconds']:.1f}",
            f"{r['index_mb']:.0f}", f"{r['contexts_per_query']:,.0f}",
            *(f"{r['systems'][s]['MAP']:.3f}" for s in SYSTEMS),
            " / ".join(f"{v:.1f}" for v in r["systems"]["proximity"]["rank_ms"].values()),
            " / ".join(f"{v:.1f}" for v in r["search_ms"].values()),
        ]
        for r in reports
    ]  # fmt: skip
    header = ["testbed", "documents", "M tokens", "build s", "MB", "contexts", *(f"MAP {s}" for s in SYSTEMS)]
    print(table([*header, "rank ms p50/p95/p99", "search ms p50/p95/p99"], rows))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:,.0f} MB")
    if args.json:
        args.json.write_text(json.dumps(reports, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

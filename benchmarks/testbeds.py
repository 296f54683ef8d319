"""Whole testbeds: build time, size and accuracy, and how long contexts, rankings, searches and questions take.

A testbed is a folder with corpus.jsonl (or .gz, .zst), entities.tsv, types.tsv, queries.jsonl and qrels.txt.

    python -m benchmarks.testbeds FOLDER... [--indexes DIR] [--model NAME...] [--parts accuracy,latency,...]

accuracy   MAP and MRR of each model and of two systems, k = 1000
latency    contexts, rank (k = 1000) and search (k = 10, a snippet each), wall and CPU milliseconds; rank and search
           also through the Contexts table, query by query in turn. All queries are asked twice: the first time lists
           are decoded, again they are there
threads    searches per second with 1 and 2 threads that share an index
questions  the questions behind the queries, word by word and without a type

With `--quick`, the demo: does it run?
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

import fader
from benchmarks import common
from benchmarks.common import Clock, table
from fader.corpus.queries import FaultCollector, read_qrels, read_queries
from fader.demo.generate import generate
from fader.experiment.measures import average_measures
from fader.fused.ranker import FusedRanker
from fader.learn.model import Model
from fader.search.batch import Parsed, parse_all
from fader.search.models import resolve_model

PAPER = Path(__file__).with_name("paper.json")  # noprox+rectangle x sum, the default model of 0.1
SYSTEMS = ("proximity", "count")
PARTS = ("accuracy", "latency", "threads", "questions")
PASSES = ("first", "again")
PERCENTILES = (50, 95, 99)
THREADS = (1, 2)
WARM = 10  # queries that load kernels and are not counted
TARGETS = {"enwiki": 25.0}  # p95 of questions in milliseconds, in both passes

Times = list[tuple[float, float]]  # wall and CPU milliseconds


def percentiles(times: Times) -> dict[str, Any]:
    """Percentiles and means of some times."""
    wall, cpu = np.array(times).T
    return {
        kind: {f"p{p}": float(np.percentile(values, p)) for p in PERCENTILES} | {"mean": float(values.mean())}
        for kind, values in (("wall", wall), ("cpu", cpu))
    }


def timed(call: Callable[[], Any], times: Times) -> Any:
    """What a call returns; its times are appended."""
    with Clock() as clock:
        result = call()
    times.append((1000 * clock.wall, 1000 * clock.cpu))
    return result


def open_both(path: Path) -> dict[str, fader.Index]:
    """An index as it is, and one that ranks through the table of contexts; each keeps its own lists."""
    fused, through = fader.open(path), fader.open(path)
    through.collection._fused = FusedRanker(through.collection.reader, 0)  # type: ignore[attr-defined]
    return {"fused": fused, "table": through}


def latency(path: Path, queries: Sequence[Parsed], models: dict[str, Model]) -> dict[str, Any]:
    """Times by model, call, pass and way."""
    report: dict[str, Any] = {}
    for name, model in models.items():
        calls: dict[str, Callable[[fader.Index, Any], Any]] = {
            "contexts": lambda index, query: len(index.contexts(query)),
            "rank": lambda index, query, model=model: index.rank(query, k=1000, model=model).entities,
            "search": lambda index, query, model=model: shown(index.search(query, k=10, snippets=1, model=model)),
        }
        for what, call in calls.items():
            if what == "contexts" and report:
                continue  # they depend on no model
            ways = {"table": fader.open(path)} if what == "contexts" else open_both(path)
            for query in queries[:WARM]:
                for index in ways.values():
                    call(index, query.query)
            for again in PASSES:
                found: dict[str, Times] = {way: [] for way in ways}
                for query in queries:
                    answers = [timed(partial(call, i, query.query), found[w]) for w, i in ways.items()]
                    if answers[0] != answers[-1]:
                        sys.exit(f"the fused path and the table answer differently: {query.id}, {name}, {what}")
                report.setdefault(name, {}).setdefault(what, {})[again] = {w: percentiles(t) for w, t in found.items()}
    return report


def shown(answer: Any) -> list[Any]:
    """What two ways must agree on."""
    return [(r.entity, r.score, r.support, r.evidence) for r in answer.results]


def threads(path: Path, queries: Sequence[Parsed], model: Model) -> dict[str, Any]:
    """Searches per second by so many threads, each in turn asking every query; lists are decoded before."""
    index = fader.open(path)
    for query in queries:
        index.search(query.query, model=model, snippets=1)
    report: dict[str, Any] = {}
    for count in THREADS:

        def ask(share: int, count: int = count) -> int:
            return sum(bool(index.search(q.query, model=model, snippets=1)) for q in queries[share::count])

        with ThreadPoolExecutor(count) as pool, Clock() as clock:
            asked = sum(pool.map(ask, range(count)))
        report[f"{count}"] = {"a second": asked / clock.wall, "cpu ms": 1000 * clock.cpu / asked}
    first, last = report["1"], report[f"{THREADS[-1]}"]
    report["ratio"] = last["a second"] / first["a second"]
    return report


def questions_of(index: fader.Index, folder: Path) -> Iterator[str]:
    """The words of the questions of a testbed."""
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text = row.get("question") or row["query"]
        words = " ".join(text[a:b] for _term, a, b in index.analyze(text))
        if words:
            yield words


def questions(path: Path, folder: Path, model: Model, most: int | None) -> dict[str, Any]:
    """Times of untyped queries of many words."""
    index = fader.open(path)
    asked = list(questions_of(index, folder))[:most]
    for text in asked[:WARM]:
        index.search(text, model=model, snippets=1)
    report: dict[str, Any] = {"questions": len(asked), "words": float(np.mean([len(t.split()) for t in asked]))}
    for again in PASSES:
        times: Times = []
        for text in asked:
            timed(partial(index.search, text, model=model, snippets=1), times)
        report[again] = percentiles(times)
    return report


def accuracy(
    index: fader.Index, queries: Sequence[Parsed], grades: dict[str, dict[str, int]], models: dict[str, Any]
) -> dict[str, Any]:
    """Means over the judged queries."""
    ranked = {n: {q.id: index.rank(q.query, k=1000, model=m).entities for q in queries} for n, m in models.items()}
    return {name: average_measures(rankings, grades) for name, rankings in ranked.items()}


def build(folder: Path, path: Path) -> dict[str, float]:
    """Index a testbed anew."""
    shutil.rmtree(path, ignore_errors=True)
    with Clock() as clock:
        fader.build(path, sorted(folder.glob("corpus.jsonl*")), folder / "entities.tsv", folder / "types.tsv")
    return {"build_seconds": clock.wall, "build_cpu_seconds": clock.cpu}


def models_of(names: Sequence[str], index: fader.Index) -> dict[str, Model]:
    """Models by name. `paper` is left out where the default model is the same."""
    default = resources.files("fader").joinpath("models/default.json").read_bytes()
    kept = [n for n in names if n != "paper" or "default" not in names or PAPER.read_bytes() != default]
    given = {name: str(PAPER) if name == "paper" else name for name in kept}
    return {name: resolve_model(text, index.collection, any_index=True) for name, text in given.items()}


def measure(folder: Path, args: Any) -> dict[str, Any]:
    """All figures of one testbed."""
    path = (args.indexes or args.work / "testbeds") / folder.name
    built = {} if args.indexes else build(folder, path)
    index = fader.open(path)
    queries = parse_all(index, read_queries(folder / "queries.jsonl", FaultCollector()), FaultCollector())
    queries = queries[: args.queries]
    models = models_of(args.model, index)
    size = sum(f.stat().st_size for f in path.iterdir())
    text = sum(f.stat().st_size for f in path.iterdir() if f.suffix == ".text")
    report: dict[str, Any] = {
        "testbed": folder.name,
        "documents": index.collection.documents,
        "tokens": index.collection.tokens,
        "mentions": index.collection.mentions,
        "queries": len(queries),
        **built,
        "index_mb": size / 1e6,
        "bytes_per_token_without_text": (size - text) / max(1, index.collection.tokens),
        "models": {name: str(model) for name, model in models.items()},
    }
    if "accuracy" in args.parts and (folder / "qrels.txt").exists():
        grades = read_qrels(folder / "qrels.txt", FaultCollector())
        report["contexts_per_query"] = float(np.mean([len(index.contexts(q.query)) for q in queries]))
        report["accuracy"] = accuracy(index, queries, grades, models | {name: name for name in SYSTEMS})
    if "latency" in args.parts:
        report["latency"] = latency(path, queries, models)
    if "threads" in args.parts:
        report["threads"] = {name: threads(path, queries, model) for name, model in models.items()}
    if "questions" in args.parts:
        report["asked"] = {name: questions(path, folder, model, args.queries) for name, model in models.items()}
    return report


def line(values: dict[str, float]) -> str:
    return " / ".join(f"{values[f'p{p}']:.2f}" for p in PERCENTILES)


def show(report: dict[str, Any]) -> None:
    built = f", built in {report['build_seconds']:.1f} s" if "build_seconds" in report else ""
    print(
        f"\n{report['testbed']}: {report['documents']:,} documents, {report['tokens'] / 1e6:.1f} M tokens,"
        f" {report['queries']:,} queries, {report['index_mb']:.0f} MB{built}"
    )
    for name, model in report["models"].items():
        print(f"{name}: {model}")
    if "accuracy" in report:
        rows = [(n, *(f"{m[x]:.3f}" for x in ("MAP", "MRR") if x in m)) for n, m in report["accuracy"].items()]
        print(f"\n{report['contexts_per_query']:,.0f} contexts per query\n" + table(("model", "MAP", "MRR"), rows))
    if "latency" in report:
        rows = []
        for name, calls in report["latency"].items():
            for what, passes in calls.items():
                for again, ways in passes.items():
                    for way, found in ways.items():
                        speed = ways["table"]["cpu"]["mean"] / found["cpu"]["mean"]
                        ratio = "" if way == "table" else f"{speed:.1f}x"
                        mean = f"{found['cpu']['mean']:.2f}"
                        rows.append((name, what, again, way, line(found["wall"]), line(found["cpu"]), mean, ratio))
        wall, cpu = "wall ms p50/p95/p99", "CPU ms p50/p95/p99"
        print("\n" + table(("model", "call", "pass", "way", wall, cpu, "CPU mean", "table / fused"), rows))
    if "threads" in report:
        rows = []
        for name, found in report["threads"].items():
            rows.append((name, *(f"{found[f'{n}']['a second']:,.0f}" for n in THREADS), f"{found['ratio']:.2f}x"))
        print("\n" + table(("searches per second", *(f"{n} threads" for n in THREADS), "ratio"), rows))
    if "asked" in report:
        rows = [
            (name, f"{found['words']:.1f}", again, line(found[again]["wall"]), line(found[again]["cpu"]))
            for name, found in report["asked"].items()
            for again in PASSES
        ]
        print("\n" + table(("questions", "words", "pass", "wall ms p50/p95/p99", "CPU ms p50/p95/p99"), rows))


def missed(report: dict[str, Any]) -> list[str]:
    """The targets that a testbed misses."""
    most = TARGETS.get(report["testbed"], float("inf"))
    asked = report.get("asked", {})
    found = {f"{name}, {again}": f[again]["wall"]["p95"] for name, f in asked.items() for again in PASSES}
    return [f"{report['testbed']}, {n}: p95 {v:.1f} ms, at most {most:g}" for n, v in found.items() if v > most]


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("Build, ask and evaluate whole testbeds.")
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--indexes", type=Path, help="a folder with their indexes, by name (default: they are built)")
    parser.add_argument("--model", nargs="+", default=["default", "paper"], help="models and systems that are timed")
    parser.add_argument("--parts", default=",".join(PARTS), help="which parts (default: all)")
    parser.add_argument("--queries", type=int, help="take only the first so many")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    args = parser.parse_args(argv)
    args.parts = args.parts.split(",")
    args.work.mkdir(parents=True, exist_ok=True)
    if args.quick:
        generate(args.work / "demo-testbed")
        args.folders, args.queries = [args.work / "demo-testbed"], 10
    if not args.folders:
        parser.error("which testbeds? Give their folders, or --quick for the demo")
    common.one_thread()
    reports = []
    for folder in args.folders:
        reports.append(measure(folder, args))
        show(reports[-1])
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")
    common.write_report(args.json or args.work / "testbeds.json", {"testbeds": reports})
    if args.check and (misses := [m for report in reports for m in missed(report)]):
        sys.exit("missed: " + "; ".join(misses))


if __name__ == "__main__":
    main()

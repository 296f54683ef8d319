"""Where the time of a search goes: CPU time per stage, as a table and as a stacked figure.

The functions of each stage are wrapped while this runs; a stage's time is its own, without that of stages it calls.
Queries of a testbed are searched (k = 10, a snippet each, JSON at the end) as they are, and through the Contexts table.
Each is asked before, so that its lists are decoded; of some rounds the fastest counts.

    python -m benchmarks.stages FOLDER... [--indexes DIR] [--model NAME] [--figure docs/figures/stages.svg]

With `--quick`, the demo: does it run? The figure needs matplotlib (the extra `plots`).
"""

from __future__ import annotations

import functools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fader
from benchmarks import common, testbeds
from fader.corpus.queries import FaultCollector, QueryLine, read_queries
from fader.fused import ranker, scratch
from fader.search import evidence, index, local
from fader.serve.api.answers import encode_answer

# Stage: the functions that are timed, as (where, name).
STAGES: dict[str, Sequence[tuple[Any, str]]] = {
    "parse": [(index.Index, "parse")],
    "table": [(local.LocalCollection, "contexts"), (local, "rank_entities")],
    "lists": [(ranker.FusedRanker, "_match")],
    "program": [
        (scratch.Room, "reset_scratch"),
        (ranker.FusedRanker, "_choose_documents"),
        (ranker.FusedRanker, "_find_plan"),
    ],
    "kernels": [(ranker.FusedRanker, "_run")],
    "second": [(ranker.FusedRanker, "_score_again"), (ranker.FusedRanker, "_focus")],
    "values": [(ranker.FusedRanker, "_value"), (ranker, "_rank")],
    "rows": [(ranker.FusedRanker, "_show"), (index, "explain_entity")],
    "texts": [(local.LocalCollection, "read_documents"), (local.LocalCollection, "read_excerpts")],
    "snippets": [(evidence, "cut_snippets")],
}
MEANING = {
    "parse": "the query's text to literals and type",
    "table": "all contexts as a table, grouped and aggregated",
    "lists": "decoded lists found",
    "program": "the model as numbers, scratch",
    "kernels": "matching, distances, scores, best mentions",
    "second": "the best candidates again, by columns of their best contexts",
    "values": "values per entity, the k best",
    "rows": "the rows to show, and their shares",
    "texts": "stored texts read and decompressed",
    "snippets": "snippets cut",
    "answer": "names, types, records, and the rest",
    "JSON": "the answer as JSON, as the service writes it",
}
WAYS = {"fused": "fused path", "table": "through the table"}
COLOURS = ("#4c78a8", "#b279a2", "#72b7b2", "#54a24b", "#e45756", "#f58518", "#eeca3b", "#9d755d", "#ff9da6", "#79706e",
           "#bab0ac", "#d4a6c8")  # fmt: skip
GREY = "#767676"  # as far from white as from black


class Stopwatch:
    """CPU time by stage; the innermost stage that is open has it."""

    def __init__(self) -> None:
        self.times: dict[str, float] = defaultdict(float)
        self._open, self._since = ["answer"], time.process_time()

    def start(self) -> None:
        self.times.clear()
        self._since = time.process_time()

    def enter(self, stage: str) -> None:
        self._charge()
        self._open.append(stage)

    def leave(self) -> None:
        self._charge()
        self._open.pop()

    def _charge(self) -> None:
        now = time.process_time()
        self.times[self._open[-1]] += now - self._since
        self._since = now

    def stop(self) -> dict[str, float]:
        """Milliseconds by stage since the start."""
        self._charge()
        return {stage: 1000 * seconds for stage, seconds in self.times.items()}

    def wrap(self, function: Callable[..., Any], stage: str) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*args: Any, **named: Any) -> Any:
            self.enter(stage)
            try:
                return function(*args, **named)
            finally:
                self.leave()

        return timed


@contextmanager
def wrapped_stages(watch: Stopwatch) -> Iterator[None]:
    """Time every function of `STAGES` meanwhile."""
    functions = [(where, name, stage) for stage, some in STAGES.items() for where, name in some]
    gone = [f"{where.__name__}.{name}" for where, name, _stage in functions if name not in vars(where)]
    if gone:
        raise SystemExit(f"no longer there: {', '.join(gone)}; say in STAGES what does their work now")
    originals = [(where, name, stage, vars(where)[name]) for where, name, stage in functions]
    for where, name, stage, function in originals:
        setattr(where, name, watch.wrap(function, stage))
    try:
        yield
    finally:
        for where, name, _stage, function in originals:
            setattr(where, name, function)


def search(opened: fader.Index, line: QueryLine, model: Any, watch: Stopwatch) -> None:
    answer = opened.search(line.query, line.type, k=10, snippets=1, model=model)
    watch.enter("JSON")
    encode_answer(answer)
    watch.leave()


def measure(folder: Path, args: Any, watch: Stopwatch) -> dict[str, dict[str, float]]:
    """Mean milliseconds by way and stage."""
    path = (args.indexes or args.work / "testbeds") / folder.name
    if not path.exists():
        testbeds.build(folder, path)
    ways = testbeds.open_both(path)
    model = testbeds.models_of([args.model], ways["fused"])[args.model]
    lines = read_queries(folder / "queries.jsonl", FaultCollector())[: args.queries]
    for line in lines:
        for opened in ways.values():
            search(opened, line, model, watch)
    best: dict[tuple[str, int], dict[str, float]] = {}
    for _round in range(args.rounds):  # outermost, so that texts of the query before are not read from a cache
        for number, line in enumerate(lines):
            for way, opened in ways.items():
                watch.start()
                search(opened, line, model, watch)
                found = watch.stop()
                if sum(found.values()) < sum(best.get((way, number), {"": float("inf")}).values()):
                    best[way, number] = found
    return {
        way: {s: sum(best[way, n].get(s, 0.0) for n in range(len(lines))) / len(lines) for s in MEANING} for way in ways
    }


def markdown(name: str, means: dict[str, dict[str, float]]) -> str:
    """The table of one testbed."""
    totals = {way: sum(found.values()) for way, found in means.items()}
    head = "".join(f" {WAYS[way]}, ms | share |" for way in means)
    lines = [f"| {name} | |{head}", "|---|---|" + "---:|---:|" * len(means)]
    for stage, meaning in MEANING.items():
        cells = "".join(
            f" {f[stage]:.3f} | {f[stage] / totals[w]:.0%} |" if f[stage] else " | |" for w, f in means.items()
        )
        lines.append(f"| {stage} | {meaning} |{cells}")
    return "\n".join([*lines, "| all | |" + "".join(f" {total:.3f} | |" for total in totals.values())])


def draw(reports: dict[str, dict[str, dict[str, float]]], path: Path) -> None:
    """A stacked bar by testbed and way, on no background, so that it can be read on white and on black."""
    import matplotlib
    from matplotlib.figure import Figure

    bars = [(f"{name}\n{WAYS[way]}", found) for name, means in reports.items() for way, found in means.items()]
    style: Any = {"svg.fonttype": "none", "svg.hashsalt": "stages", "font.size": 9, "text.color": GREY}
    style |= {"axes.edgecolor": GREY, "axes.labelcolor": GREY, "xtick.color": GREY, "ytick.color": GREY}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(7.2, 1.2 + 0.5 * len(bars)), layout="constrained")
        axes = figure.subplots()
        left = [0.0] * len(bars)
        for stage, colour in zip(MEANING, COLOURS, strict=True):
            widths = [found[stage] for _label, found in bars]
            axes.barh(range(len(bars)), widths, left=left, height=0.62, color=colour, label=stage)
            left = [a + b for a, b in zip(left, widths, strict=True)]
        for at, total in enumerate(left):
            axes.text(total, at, f" {total:.2f}", va="center")
        axes.set_yticks(range(len(bars)), [label for label, _found in bars])
        axes.invert_yaxis()
        axes.margins(x=0.08)
        axes.set_xlabel("CPU milliseconds of a search, mean")
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(left=False)
        figure.legend(loc="outside upper center", ncols=6, frameon=False, handlelength=1)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", transparent=True, metadata={"Date": None, "Creator": None})


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("Where the time of a search goes.")
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--indexes", type=Path, help="a folder with their indexes, by name (default: they are built)")
    parser.add_argument("--model", default="default")
    parser.add_argument("--queries", type=int, default=600, help="of each testbed, the first ones")
    parser.add_argument("--rounds", type=int, default=3, help="times each query is asked; the fastest counts")
    parser.add_argument("--figure", type=Path, help="draw it into this SVG file")
    args = parser.parse_args(argv)
    if args.quick:
        testbeds.generate(args.work / "demo-testbed")
        args.folders, args.queries, args.rounds = [args.work / "demo-testbed"], 10, 1
    if not args.folders:
        parser.error("which testbeds? Give their folders, or --quick for the demo")
    common.one_thread()
    watch = Stopwatch()
    with wrapped_stages(watch):
        reports = {folder.name: measure(folder, args, watch) for folder in args.folders}
    for name, means in reports.items():
        print(f"\n{markdown(name, means)}")
    common.write_report(args.json or args.work / "stages.json", {"model": args.model, "testbeds": reports})
    if args.figure:
        draw(reports, args.figure)


if __name__ == "__main__":
    main()

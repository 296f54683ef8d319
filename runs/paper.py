"""From testbeds to all the paper's tables and figures: features, aggregation, every system end to end.

    runs/paper.sh OUT TESTBED...

A testbed is a folder with corpus.jsonl (or .gz, .zst), entities.tsv, types.tsv, queries.jsonl and qrels.txt. OUT gets
an index and three reports for each, `results.md` with all tables, and `index.html`, one page with tables and figures.
Results of systems are kept in OUT/kept as they come, so that a run that was stopped goes on where it was. A large
testbed can have options of its own: --for NAME='--sample 300 --bad 50'.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from copy import copy
from dataclasses import fields, replace
from pathlib import Path

from markupsafe import Markup

import fader
from fader.corpus.queries import FaultCollector, read_qrels, read_queries
from fader.errors import FaderError, UsageError
from fader.experiment.compare import compare_judged
from fader.experiment.comparison import Comparison
from fader.experiment.judged import JudgedQueries, judge_queries
from fader.experiment.published import PlainTable, format_published
from fader.experiment.reporting.figures import can_draw, draw
from fader.experiment.reporting.html import render_page
from fader.experiment.reporting.page import embed_drawing
from fader.experiment.reporting.report import write_report
from fader.experiment.reporting.tables import make_table, to_html, to_markdown
from fader.progress import progress
from fader.registry import discover
from fader.search.batch import parse_all

WIDTHS = "|".join(f"kernel(shape=gaussian,width={width})" for width in (5, 20, 80))
KEPT = "kept"
MEASURES = ["MAP", "MRR", "NDCG@5", "NDCG@10", "Pairswap"]
MAPS = ("noprox", "noprox+idfupto", "noprox+grid", "noprox+rectangle", "noprox+coverage")
FITTED = ("softmax", "softor", "softor(bias=true)", "logsumexp")
CHOSEN = (
    "fader(features=noprox+coverage,aggregator=sum|logsumexp|logmean(-1)|softor(bias=true),policy=document|mention,"
    "top=1000,lam=1{more},label=chosen)"
)
TOP = ("sum", "logsumexp", "logmean(-1)", "softor(bias=true)")
PRIOR = (
    "balog1", "balog2", "voting", "macdonald", "petkova", "plm", "fang", "cummins", "entityrank", "entityengine",
    "ranksvm", "lambdamart",
)  # fmt: skip
LEARN = ("macdonald", "fang", "cummins", "ranksvm", "lambdamart")
PUBLISHED = {
    "Proximity features compared": {
        "Web": {
            "Only |S_e|": (0.542, 0.559, 0.641, 0.660, 0.211), "NoProx": (0.559, 0.578, 0.661, 0.675, 0.203),
            "NoProx + IdfUpto": (0.560, 0.581, 0.661, 0.672, 0.221),
            "NoProx + rectangle": (0.563, 0.585, 0.656, 0.675, 0.202),
        },
        "W3C 2005": {
            "Only |S_e|": (0.086, 0.271, 0.310, 0.320, 0.459), "NoProx": (0.172, 0.511, 0.567, 0.567, 0.371),
            "NoProx + IdfUpto": (0.187, 0.521, 0.585, 0.570, 0.373),
            "NoProx + rectangle": (0.188, 0.523, 0.606, 0.606, 0.370),
        },
        "W3C 2006": {
            "Only |S_e|": (0.286, 0.728, 0.718, 0.715, 0.277), "NoProx": (0.468, 0.897, 0.900, 0.877, 0.211),
            "NoProx + IdfUpto": (0.459, 0.884, 0.892, 0.865, 0.222),
            "NoProx + rectangle": (0.477, 0.909, 0.902, 0.879, 0.211),
        },
    },
    "Effect of T, (+) and soft cutoffs": {
        "Web": {
            "SoftMax": (0.539, 0.557, 0.639, 0.657, 0.216), "SoftOr": (0.357, 0.374, 0.440, 0.460, 0.238),
            "SoftCutoff": (0.575, 0.592, 0.660, 0.675, 0.210), "Sum": (0.576, 0.597, 0.666, 0.681, 0.207),
            "Average": (0.181, 0.188, 0.227, 0.256, 0.292), "SoftCount": (0.554, 0.574, 0.661, 0.675, 0.207),
            "|S_e|": (0.542, 0.559, 0.641, 0.660, 0.211),
        },
        "W3C 2005": {
            "SoftMax": (0.072, 0.270, 0.288, 0.294, 0.516), "SoftOr": (0.075, 0.217, 0.255, 0.299, 0.475),
            "SoftCutoff": (0.204, 0.551, 0.400, 0.610, 0.362), "Sum": (0.207, 0.598, 0.650, 0.614, 0.369),
            "Average": (0.111, 0.311, 0.380, 0.372, 0.437), "SoftCount": (0.195, 0.524, 0.580, 0.590, 0.372),
            "|S_e|": (0.086, 0.271, 0.310, 0.320, 0.459),
        },
        "W3C 2006": {
            "SoftMax": (0.257, 0.710, 0.715, 0.684, 0.304), "SoftOr": (0.214, 0.541, 0.588, 0.610, 0.319),
            "SoftCutoff": (0.463, 0.891, 0.878, 0.861, 0.210), "Sum": (0.516, 0.933, 0.903, 0.894, 0.203),
            "Average": (0.148, 0.302, 0.370, 0.379, 0.364), "SoftCount": (0.456, 0.912, 0.881, 0.855, 0.217),
            "|S_e|": (0.286, 0.728, 0.718, 0.715, 0.277),
        },
    },
    "End to end": {
        "Web": {
            "Balog2": (0.452, 0.468, 0.543, 0.565, 0.173), "Macdonald": (0.535, 0.553, 0.616, 0.634, 0.222),
            "Sum": (0.576, 0.597, 0.666, 0.681, 0.207),
        },
        "W3C 2005": {
            "Balog2": (0.214, 0.604, 0.623, 0.617, 0.347), "Macdonald": (0.258, 0.605, 0.620, 0.623, 0.333),
            "Petkova": (0.101, 0.370, 0.371, 0.373, 0.549), "Sum": (0.207, 0.598, 0.650, 0.614, 0.369),
        },
        "W3C 2006": {
            "Balog2": (0.528, 0.925, 0.923, 0.921, 0.190), "Macdonald": (0.510, 0.912, 0.917, 0.903, 0.198),
            "Petkova": (0.318, 0.731, 0.747, 0.751, 0.332), "Sum": (0.516, 0.933, 0.903, 0.894, 0.203),
        },
    },
}  # fmt: skip
NOTE = "Published by the paper for other collections and queries; not comparable with the numbers above."


def systems_of(given: argparse.Namespace) -> dict[str, list[str]]:
    """The systems of each table; those that occur in several are run once."""
    more = "".join(f",{key}={value}" for key, value in (("lam", given.lam), ("bad", given.bad)) if value)
    folds = f"{more},cv={given.folds}"
    one_by_one = more if given.folds_for_count == "loo" else folds
    sum_model = f"fader(features=noprox+rectangle{more})"
    features = ["count", f"fader(features={WIDTHS}{more},label=kernel)"]
    features += [f"fader(features={maps}{more})" for maps in MAPS]
    aggregators = ["count", sum_model, f"fader(aggregator=average{more})"]
    aggregators += [f"fader(aggregator={name}{one_by_one})" for name in ("softcount", "softcutoff")]
    aggregators += [f"fader(aggregator={name}{folds})" for name in FITTED]
    few = f",bad={given.bad}" if given.bad else ""
    cut = f"{few},cv={given.folds}"
    ours = [f"fader(features=noprox+coverage,aggregator=logsumexp{folds})"]
    ours += [f"fader(features=noprox+coverage,aggregator={name},top=1000,lam=1{cut})" for name in TOP]
    ours.append(f"fader(features=noprox+coverage,aggregator=logsumexp,policy=mention,top=1000,lam=1{cut})")
    ours.append(CHOSEN.format(more=cut))
    prior = [learner(name, given) if name in LEARN else name for name in PRIOR]
    tables = {
        "Proximity features compared": features,
        "Effect of T, (+) and soft cutoffs": aggregators + ours,
        "End to end": ["count", "proximity", *prior, sum_model, *ours],
    }
    if not given.only:
        return tables
    try:
        re.compile(given.only)
    except re.error as error:
        raise UsageError(f"--only {given.only}: not a regular expression: {error}") from None
    chosen = {title: [s for s in systems if re.search(given.only, s)] for title, systems in tables.items()}
    if not any(chosen.values()):
        known = sorted({system for systems in tables.values() for system in systems})
        raise UsageError(f"--only {given.only}: no system is like that; they are {', '.join(known)}")
    return chosen


def learner(name: str, given: argparse.Namespace) -> str:
    """A learner with folds of its own; if it is settled, with its defaults in place of what is worth trying."""
    part = discover("fader.systems")[name]
    default = {f.name: f.default for f in fields(part)}
    settled = [f"{key}={default[key]}" for key in part.tries] if given.settled else []
    return f"{name}({','.join([*settled, f'cv={given.folds}'])})"


def name_of(testbed: Path) -> str:
    """What a testbed is called in OUT."""
    return testbed.resolve().name


def check_names(testbeds: list[Path]) -> None:
    """Refuse testbeds that would share a folder."""
    names = [name_of(t) for t in testbeds]
    for name in names:
        if names.count(name) > 1 or name == KEPT:
            raise UsageError(f"testbeds must have names that differ, and none may be {KEPT}: {name}")


def judged_of(testbed: Path, out: Path, sample: int) -> JudgedQueries:
    """The judged queries of a testbed; its index is built where it is not there."""
    folder = out / name_of(testbed)
    if not folder.exists():
        corpus = sorted(testbed.glob("corpus.jsonl*"))
        if not corpus:
            raise UsageError(
                f"{testbed}: no corpus.jsonl in it; a testbed has one, entities.tsv, types.tsv, "
                "queries.jsonl and qrels.txt"
            )
        with progress(f"Indexing {testbed.name}") as reporter:
            fader.build(folder, corpus, testbed / "entities.tsv", testbed / "types.tsv", progress=reporter)
    index = fader.open(folder)
    queries = parse_all(index, read_queries(testbed / "queries.jsonl", FaultCollector()), FaultCollector())
    return judge_queries(index, queries, read_qrels(testbed / "qrels.txt", FaultCollector()), sample=sample)


def compared(judged: JudgedQueries, title: str, systems: list[str], out: Path) -> Comparison:
    """One table, with its report."""
    name = judged.index.collection.folder.name
    with progress(f"{name}: {title}") as reporter:
        judged.progress = reporter
        found = compare_judged(
            judged, systems, "loo", title=f"{title}: {name}", keep=out / KEPT, progress=reporter
        )  # fmt: skip
    write_report(found, out / f"{name} - {title.split()[0].lower()}", overwrite=True)
    return found


def published(title: str) -> list[PlainTable]:
    """The paper's own numbers for a table, which are about other data."""
    return [
        PlainTable(f"{title}: the paper's {where}", MEASURES, rows, NOTE) for where, rows in PUBLISHED[title].items()
    ]


def effort() -> argparse.ArgumentParser:
    """How much is measured, which may differ between testbeds."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--sample", type=int, default=0, help="only so many judged queries, drawn by seed 0")
    parser.add_argument("--folds", type=int, default=5, help="folds where leave-one-out is too dear (default 5)")
    parser.add_argument(
        "--folds-for-count", choices=("loo", "folds"), default="loo", help="how softcount and softcutoff are tested"
    )
    parser.add_argument("--lam", default="", help="lambdas of our family, such as 1 or 0.1/1/10 (default auto)")
    parser.add_argument("--bad", type=int, default=0, help="bad candidates of a query that train (default all)")
    parser.add_argument(
        "--settled", action="store_true", help="learners keep their default parameters, which is cheaper"
    )
    parser.add_argument("--only", default="", help="only systems whose text this regular expression finds")
    return parser


def main() -> None:
    common = effort()
    parser = argparse.ArgumentParser(prog="runs/paper.sh", description=__doc__.split("\n")[0], parents=[common])
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("testbeds", type=Path, nargs="+", metavar="TESTBED")
    parser.add_argument(
        "--for", dest="own", action="append", default=[], metavar="NAME=OPTIONS",
        help="options of one testbed, by its folder's name: --for wiki='--sample 300 --bad 50'",
    )  # fmt: skip
    given = parser.parse_args()
    try:
        run(given, common)
    except FaderError as error:
        sys.exit(f"runs/paper.sh: {error}")


def own_options(
    given: argparse.Namespace, parser: argparse.ArgumentParser
) -> dict[str, argparse.Namespace]:  # fmt: skip
    """What holds for each testbed, by name: the common options, and its own in their place."""
    names = [name_of(t) for t in given.testbeds]
    found = {name: copy(given) for name in names}
    for text in given.own:
        name, equals, options = text.partition("=")
        if not equals or name not in found:
            raise UsageError(f"--for {text}: must be NAME=OPTIONS with a testbed's name, one of {', '.join(names)}")
        parser.parse_args(shlex.split(options), namespace=found[name])
    return found


def run(given: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """All tables of all testbeds, then what is made of them."""
    check_names(given.testbeds)
    options = own_options(given, parser)
    planned = {name: systems_of(own) for name, own in options.items()}
    given.out.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[Comparison]] = {}
    for testbed in given.testbeds:
        name = name_of(testbed)
        judged = judged_of(testbed, given.out, options[name].sample)
        for title, systems in planned[name].items():
            if systems:
                found.setdefault(title, []).append(compared(judged, title, systems, given.out))
                write_all(given.out, found)
    print(f"{given.out / 'results.md'} and {given.out / 'index.html'}")


def write_all(out: Path, found: dict[str, list[Comparison]]) -> None:
    """All tables as one text, and with figures as one page."""
    text, page = ["# Results\n"], [Markup("<header><h1>Results</h1></header>")]
    for title, comparisons in found.items():
        text.append(f"## {title}\n")
        page.append(Markup("<section><h2>{}</h2>").format(title))
        for comparison in comparisons:
            table = make_table(comparison)
            text.append(f"### {comparison.title}\n\n{to_markdown(table)}")
            page.append(Markup("<h3>{}</h3>{}").format(comparison.title, to_html(table)))
            drawings = draw(comparison) if can_draw() else []
            page += [embed_drawing(replace(d, name=f"f{len(page)}-{d.name}")) for d in drawings]
        for other in published(title):
            text.append(format_published(other, "markdown"))
            page.append(Markup(format_published(other, "html")))
        page.append(Markup("</section>"))
    (out / "results.md").write_text("\n".join(text), encoding="utf-8")
    (out / "index.html").write_text(render_page("Results", Markup("\n").join(page)), encoding="utf-8")


if __name__ == "__main__":
    main()

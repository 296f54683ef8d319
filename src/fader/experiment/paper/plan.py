"""Which systems stand in which table, and how much is measured. Knows nothing of testbeds or results."""

from __future__ import annotations

import re
from dataclasses import fields

from fader.errors import UsageError
from fader.experiment.paper.numbers import AGGREGATION, END_TO_END, FEATURES
from fader.options import option, options
from fader.registry import discover

WIDTHS = "|".join(f"kernel(shape=gaussian,width={width})" for width in (5, 20, 80))
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


@options
class PaperEffort:
    """How much is measured, which may differ between testbeds."""

    sample: int = option(0, help="Only N judged queries, drawn by seed 0.", metavar="N", least=0, show_default=False)
    folds: int = option(5, help="Folds where leave-one-out is too dear.", least=2)
    folds_for_count: str = option("loo", help="How softcount and softcutoff are tested.", choices=("loo", "folds"))
    lam: str = option("", help="Lambdas of our family, such as 1 or 0.1/1/10 (default: chosen).", show_default=False)
    bad: int = option(
        0, help="Bad candidates of a query that train (default: all).", metavar="N", least=0, show_default=False
    )
    settled: bool = option(False, help="Learners keep their default parameters, which is cheaper.")
    only: str = option("", help="Only systems whose text this regular expression finds.", show_default=False)


def plan_tables(effort: PaperEffort) -> dict[str, list[str]]:
    """The systems of each table, as texts; those that occur in several are run once."""
    more = "".join(f",{key}={value}" for key, value in (("lam", effort.lam), ("bad", effort.bad)) if value)
    folds = f"{more},cv={effort.folds}"
    one_by_one = more if effort.folds_for_count == "loo" else folds
    sum_model = f"fader(features=noprox+rectangle{more})"
    features = ["count", f"fader(features={WIDTHS}{more},label=kernel)"]
    features += [f"fader(features={maps}{more})" for maps in MAPS]
    aggregators = ["count", sum_model, f"fader(aggregator=average{more})"]
    aggregators += [f"fader(aggregator={name}{one_by_one})" for name in ("softcount", "softcutoff")]
    aggregators += [f"fader(aggregator={name}{folds})" for name in FITTED]
    few = f",bad={effort.bad}" if effort.bad else ""
    cut = f"{few},cv={effort.folds}"
    ours = [f"fader(features=noprox+coverage,aggregator=logsumexp{folds})"]
    ours += [f"fader(features=noprox+coverage,aggregator={name},top=1000,lam=1{cut})" for name in TOP]
    ours.append(f"fader(features=noprox+coverage,aggregator=logsumexp,policy=mention,top=1000,lam=1{cut})")
    ours.append(CHOSEN.format(more=cut))
    prior = [_write_learner(name, effort) if name in LEARN else name for name in PRIOR]
    tables = {
        FEATURES: features,
        AGGREGATION: aggregators + ours,
        END_TO_END: ["count", "proximity", *prior, sum_model, *ours],
    }
    return _select(tables, effort.only) if effort.only else tables


def _select(tables: dict[str, list[str]], only: str) -> dict[str, list[str]]:
    try:
        wanted = re.compile(only)
    except re.error as error:
        raise UsageError(f"--only {only}: not a regular expression: {error}") from None
    chosen = {title: [s for s in systems if wanted.search(s)] for title, systems in tables.items()}
    if not any(chosen.values()):
        known = sorted({system for systems in tables.values() for system in systems})
        raise UsageError(f"--only {only}: no system is like that; they are {', '.join(known)}")
    return chosen


def _write_learner(name: str, effort: PaperEffort) -> str:
    """A learner with folds of its own; if it is settled, with its defaults in place of what is worth trying."""
    part = discover("fader.systems")[name]
    default = {f.name: f.default for f in fields(part)}
    settled = [f"{key}={default[key]}" for key in part.tries] if effort.settled else []
    return f"{name}({','.join([*settled, f'cv={effort.folds}'])})"

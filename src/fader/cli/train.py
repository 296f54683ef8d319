"""`fader train`: a model from judged queries.

Knows nothing of features, losses or how weights are found.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import click

from fader.cli.common import (
    collect,
    declare,
    folder_argument,
    json_option,
    plugin_option,
    print_json,
    quiet_option,
    read_asked,
    remark,
    say_when_compiling,
)
from fader.errors import UsageError
from fader.experiment.judged import judge_queries
from fader.experiment.options import TrainOptions
from fader.experiment.tune import save_model, tune
from fader.learn.settings import TrainingOptions
from fader.options import options_of
from fader.progress import progress
from fader.search.batch import refuse_overwriting
from fader.search.index import Index
from fader.systems.fader import FeatureModel

DEFAULT = click.core.ParameterSource.DEFAULT
OWN = tuple(name for name in options_of(TrainingOptions) if name != "seed")  # of features x aggregator alone


@click.command("train", epilog="Example: fader train index/ --queries queries.jsonl --qrels qrels.txt -o model.json")
@folder_argument
@declare(TrainOptions, "queries", "qrels", "output", "system")
@declare(TrainingOptions, *OWN)
@declare(TrainOptions, "portable", "sample")
@declare(TrainingOptions, "seed")
@declare(TrainOptions, "workers", "at", "on_error")
@plugin_option
@json_option
@quiet_option
def command(folder: Path, as_json: bool, quiet: bool, **given: Any) -> None:
    """Train features x aggregator, or any other system, on the judged queries of the index in DIR.

    Lambda, and the best of alternatives such as --aggregator 'sum|logsumexp', are chosen by cross-validation over the
    queries. A system that is not fitted, such as --system 'voting(cutoff=10|100)', takes what is best on all of them.
    """
    options = collect(TrainOptions, given)
    say_when_compiling(quiet)
    refuse_overwriting(options.output, options.queries, options.qrels)
    _check_alone(options.system)
    family = collect(FeatureModel, given)
    index = Index.open(folder, at=options.at)
    asked = read_asked(index, options.queries, options.qrels, options.on_error, quiet)
    began = time.perf_counter()
    with progress("Training", quiet) as reporter:
        judged = judge_queries(index, asked.queries, asked.grades or {}, reporter, options.sample, family.seed)
        for line in judged.remarks:
            remark(line, quiet)
        tuned = tune(
            judged, family if options.system is None else options.system, family.seed, options.workers, reporter
        )
    model = tuned.model.as_portable() if options.portable else tuned.model
    save_model(model, options.output)
    if _ties(model):
        remark("all weights are 0: nothing could be learned, and entities tie; try a larger --lambda", quiet)
    summary = {
        "file": options.output,
        "model": str(model),
        "queries": len(judged),
        **_summarise(model, tuned),
        "seconds": time.perf_counter() - began,
        "tried": tuned.tried,
    }
    print_json(summary) if as_json else remark(_sentence(summary), quiet)


def _check_alone(system: str | None) -> None:
    """Options of features x aggregator say nothing about another system."""
    given = [name for name in OWN if click.get_current_context().get_parameter_source(name) is not DEFAULT]
    if system is not None and given:
        option = "lambda" if given[0] == "lam" else given[0].replace("_", "-")
        raise UsageError(
            f"--{option} is for features x aggregator; with --system write parameters into its text, as in "
            "'voting(cutoff=100)'"
        )


def _ties(model: Any) -> bool:
    """Whether features x aggregator learned nothing."""
    scoring = model.system.feature_scoring
    if scoring is None or model.system.name != FeatureModel.name:
        return False
    return not scoring.weights.any() or not any(getattr(scoring.aggregator, "decay", (1.0,)))


def _summarise(model: Any, tuned: Any) -> dict[str, Any]:
    """What training came to; no validation, no precision."""
    return {
        "lambda": model.provenance.get("lambda"),
        "validation_ap" if tuned.validated else "training_ap": None if math.isnan(tuned.precision) else tuned.precision,
        "objective": model.provenance.get("objective"),
    }


def _sentence(summary: dict[str, Any]) -> str:
    """The summary for people."""
    lam, validated, fitted = summary["lambda"], summary.get("validation_ap"), summary.get("training_ap")
    shown = "" if lam is None else f", lambda {lam:g}"
    found = "" if validated is None else f", validation MAP {validated:.4f}"
    found += "" if fitted is None else f", MAP {fitted:.4f} on the queries it was chosen by"
    return f"{summary['file']}: {summary['model']}{shown}, {summary['queries']} queries{found}"

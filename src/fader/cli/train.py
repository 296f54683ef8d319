"""`fader train`: a model from judged queries.

Knows nothing of features, losses or how weights are found.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
import msgspec

from fader.cli.common import Output, folder_argument, plugin_option, read_asked, speaks, takes
from fader.corpus.queries import FaultCollector, read_qrels, read_queries
from fader.errors import UsageError
from fader.experiment.judged import judge_queries
from fader.experiment.options import TrainOptions
from fader.experiment.questions import train_questions
from fader.experiment.system_specs import TRAINED_DEFAULT
from fader.experiment.tune import save_model, tune
from fader.judging.learn import learn
from fader.judging.store import JudgmentStore, path_beside
from fader.learn.interpreter import default_interpreter
from fader.learn.model import Model
from fader.learn.modelfile import ModelScope
from fader.learn.settings import TrainingOptions
from fader.options import options_of
from fader.rank.system import System
from fader.search.batch import refuse_overwriting
from fader.search.index import Index
from fader.search.models import collection_of, default_model, resolve_model
from fader.systems.fader import FeatureModel

WIDTH = 40  # characters of a bar that stands for all answers
DEFAULT = click.core.ParameterSource.DEFAULT
OWN = tuple(name for name in options_of(TrainingOptions) if name != "seed")  # of features x aggregator alone


@click.command("train", epilog="Example: fader train index/ --queries queries.jsonl --qrels qrels.txt -o model.json")
@folder_argument
@takes(TrainOptions)
@takes(FeatureModel, into="family")
@plugin_option
@speaks()
def command(folder: Path, options: TrainOptions, family: FeatureModel, out: Output) -> None:
    """Train the default model further, or any other system, on the judged queries of the index in DIR.

    Training begins with the weights of the default model and stays near them: few queries move them a little, many
    move them far. An option of features x aggregator, such as --features, trains these from the beginning.

    Lambda, and the best of alternatives such as --aggregator 'sum|logsumexp', are chosen by cross-validation over the
    queries. A system that is not fitted, such as --system 'voting(cutoff=10|100)', takes what is best on all of them.
    """
    if options.judgments:
        _learn_from_judgments(folder, options, out)
        return
    if options.queries is None or options.qrels is None:
        raise UsageError("training needs judged queries; give --queries and --qrels, or --judgments")
    refuse_overwriting(options.output, options.queries, options.qrels)
    _check_alone(options.system or ("default" if options.questions else None))
    index = Index.open(folder, at=options.at)
    if options.questions:
        _train_questions(index, options, options.queries, options.qrels, family.seed, out)
        return
    asked = read_asked(index, options.queries, options.qrels, options.on_error, out)
    began = time.perf_counter()
    with out.progress("Training") as reporter:
        judged = judge_queries(index, asked.queries, asked.grades or {}, reporter, options.sample, family.seed)
        out.remark(*judged.remarks)
        system = (family if _list_own() else TRAINED_DEFAULT) if options.system is None else options.system
        tuned = tune(judged, system, family.seed, options.workers, reporter)
    model = tuned.model.as_portable() if options.portable else tuned.model
    save_model(model, options.output)
    if _is_untaught(model.system):
        out.remark("all weights are 0: nothing could be learned, and entities tie; try a larger --lambda")
    lam, precision = model.provenance.get("lambda"), None if math.isnan(tuned.precision) else tuned.precision
    summary = {
        "file": options.output,
        "model": str(model),
        "queries": len(judged),
        "lambda": lam,
        "validation_ap" if tuned.validated else "training_ap": precision,
        "objective": model.provenance.get("objective"),
        "seconds": time.perf_counter() - began,
        "tried": tuned.tried,
    }
    sentence = f"{options.output}: {model}{'' if lam is None else f', lambda {lam:g}'}, {len(judged)} queries"
    if precision is not None and tuned.validated:
        sentence += f", validation MAP {precision:.4f}"
    elif precision is not None:
        sentence += f", MAP {precision:.4f} on the queries it was chosen by"
    out.conclude(summary, sentence)


def _learn_from_judgments(folder: Path, options: TrainOptions, out: Output) -> None:
    """A model from what people judged, near the default one."""
    if options.queries or options.qrels or options.system or options.sample:
        raise UsageError("--judgments learns from what was judged; leave --queries, --qrels, --system and --sample out")
    _check_alone(TRAINED_DEFAULT)
    index = Index.open(folder, at=options.at)
    store = JudgmentStore(path_beside(folder))
    refuse_overwriting(options.output, str(store.path), None)
    with out.progress("Learning") as reporter:
        learned = learn(index, store.current(), default_model(), reporter)
    model = learned.model.as_portable() if options.portable else learned.model
    save_model(model, options.output)
    report = learned.report
    out.remark(*report.remarks)
    change = (
        f"MAP {report.old_map:.4f} -> {report.new_map:.4f} by {report.folds} folds, {report.better} questions better"
    )
    sentence = (
        f"{options.output}: {report.questions} judged questions, {change}, {report.worse} worse, p {report.p:.3g}"
    )
    out.conclude({"file": options.output, "model": str(model), **msgspec.to_builtins(report)}, sentence)


def _train_questions(index: Index, options: TrainOptions, queries: str, qrels: str, seed: int, out: Output) -> None:
    """Train how questions are read, and save it with what ranks."""
    began = time.perf_counter()
    ranker = resolve_model(options.system or "default", index.collection, options.portable)
    if not ranker.system.is_fitted:
        raise UsageError(f"{ranker.system} must be trained before questions are; give the file of a trained model")
    fault = FaultCollector(skip=options.on_error == "skip")
    lines, grades = read_queries(queries, fault, questions=True), read_qrels(qrels, fault)
    lines = [line for line in lines if line.question][: options.sample or None]
    out.remark_skipped(fault)
    if not lines:
        raise UsageError(f"{queries}: no line has a question; give the field question to those to train on")
    with out.progress("Training") as reporter:
        base = ranker.interpreter or default_interpreter()
        found = train_questions(index, lines, grades, ranker, base, seed, reporter)
    scope = ranker.scope or ModelScope(index.collection.analysis.to_dict(), collection_of(index.collection))
    model = Model(ranker.system, replace(scope, portable=scope.portable or options.portable), found.interpreter)
    save_model(model, options.output)
    summary = {
        "file": options.output,
        "model": str(model),
        "questions": found.questions,
        "untrained_ap": found.before,
        "validation_ap": found.validated,
        "calibration_error": found.calibration_error,
        "reliability": found.reliability,
        "seconds": time.perf_counter() - began,
    }
    out.remark(*draw_reliability(found.reliability))
    sentence = f"{options.output}: {model}, {found.questions:,} questions, validation MAP {found.validated:.4f}"
    sentence += f" (untrained {found.before:.4f}), calibration error {found.calibration_error:.3f}"
    out.conclude(summary, sentence)


def _list_own() -> list[str]:
    """The options of features x aggregator that are given."""
    context = click.get_current_context()
    return [name for name in OWN if context.get_parameter_source(name) is not DEFAULT]


def draw_reliability(bins: Sequence[tuple[float, float, int]]) -> list[str]:
    """The reliability diagram as lines: of answers with about a probability, the share that was right."""
    heads = ["probability  right  answers"] if bins else []
    return heads + [
        f"{mean:11.2f}  {share:5.2f}  {count:7,}  {'=' * round(WIDTH * share)}" for mean, share, count in bins
    ]


def _check_alone(system: str | None) -> None:
    """Options of features x aggregator say nothing about another system."""
    given = _list_own()
    if system is not None and given:
        option = "lambda" if given[0] == "lam" else given[0].replace("_", "-")
        raise UsageError(
            f"--{option} is for features x aggregator; with --system write parameters into its text, as in "
            "'voting(cutoff=100)'"
        )


def _is_untaught(system: System) -> bool:
    """Whether features x aggregator learned nothing."""
    scoring = system.feature_scoring
    if scoring is None or system.name != FeatureModel.name:
        return False
    return not scoring.weights.any() or not any(getattr(scoring.aggregator, "decay", (1.0,)))

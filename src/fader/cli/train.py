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
    at_option,
    folder_argument,
    json_option,
    on_error_option,
    plugin_option,
    print_json,
    quiet_option,
    read_asked,
    remark,
    say_when_compiling,
)
from fader.errors import UsageError
from fader.experiment.judged import judged_queries
from fader.experiment.ranker import save_model
from fader.experiment.tune import tune
from fader.progress import progress
from fader.search.batch import refuse_overwriting
from fader.search.index import Index
from fader.systems.fader import FeatureModel

DEFAULT = click.core.ParameterSource.DEFAULT
FAMILY = (
    "features", "aggregator", "loss", "lam", "policy", "window", "top", "ignore_overlap", "judged_only", "starts",
    "rounds", "bad",
)  # fmt: skip


@click.command("train", epilog="Example: fader train index/ --queries queries.jsonl --qrels qrels.txt -o model.json")
@folder_argument
@click.option("--queries", required=True, metavar="FILE", help="queries.jsonl.")
@click.option("--qrels", required=True, metavar="FILE", help="Judgments in TREC form; a grade above 0 is good.")
@click.option("-o", "--output", required=True, metavar="FILE", help="The model file to write.")
@click.option("--system", metavar="NAME", help="Any system of `fader systems`; without it features x aggregator.")
@click.option("--features", default="noprox+rectangle", show_default=True, metavar="MAPS", help="Alternatives with |.")
@click.option("--aggregator", default="sum", show_default=True, metavar="NAME", help="Alternatives with |.")
@click.option("--loss", default="pairwise", show_default=True, metavar="NAME", help="pairwise, softmax or ndcg.")
@click.option("--lambda", "lam", default="auto", show_default=True, metavar="L", help="auto, or a number, or 0.1/1/10.")
@click.option(
    "--policy", default="document", show_default=True, metavar="NAME", help="document, mention, or both with |."
)
@click.option(
    "--window", default="0", metavar="TOKENS", help="Only literals within so many tokens; several with |, 0: no window."
)
@click.option("--top", default="0", metavar="N", help="Only the N best documents by BM25; several with |, 0: all.")
@click.option("--ignore-overlap", is_flag=True, help="Ignore occurrences inside the mention itself.")
@click.option("--judged-only", is_flag=True, help="Unjudged candidates are not taken for bad.")
@click.option("--starts", type=int, default=2, show_default=True, help="Starts where the problem is not convex.")
@click.option("--rounds", type=int, default=3, show_default=True, help="Rounds of choosing the mentions that count.")
@click.option("--bad", type=int, default=0, metavar="N", help="At most N bad candidates of a query train; 0: all.")
@click.option("--portable", is_flag=True, help="The model may be used on other indexes of the same analysis.")
@click.option("--sample", type=int, default=0, metavar="N", help="Only N judged queries, drawn by the seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of groups, starts and sample.")
@click.option("--workers", type=int, default=0, help="Threads; as many as there are processors by default.")
@at_option
@on_error_option
@plugin_option
@json_option
@quiet_option
def command(
    folder: Path, queries: str, qrels: str, output: str, system: str | None, features: str, aggregator: str,
    loss: str, lam: str, policy: str, window: str, top: str, ignore_overlap: bool, judged_only: bool, starts: int,
    rounds: int, bad: int, portable: bool, sample: int, seed: int, workers: int, at: int | None, on_error: str | None,
    as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Train features x aggregator, or any other system, on the judged queries of the index in DIR.

    Lambda, and the best of alternatives such as --aggregator 'sum|logsumexp', are chosen by cross-validation over the
    queries. A system that is not fitted, such as --system 'voting(cutoff=10|100)', takes what is best on all of them.
    """
    say_when_compiling(quiet)
    refuse_overwriting(output, queries, qrels)
    _check_alone(system)
    family = FeatureModel(
        features, aggregator, loss=loss, lam=lam, policy=policy, window=window, top=top, ignore_overlap=ignore_overlap,
        judged_only=judged_only, starts=starts, rounds=rounds, seed=seed, bad=bad,
    )  # fmt: skip
    index = Index.open(folder, at=at)
    asked = read_asked(index, queries, qrels, on_error, quiet)
    began = time.perf_counter()
    with progress("Training", quiet) as reporter:
        judged = judged_queries(index, asked.queries, asked.grades or {}, reporter, sample, seed)
        for line in judged.remarks:
            remark(line, quiet)
        tuned = tune(judged, family if system is None else system, seed, workers, reporter)
    model = tuned.model.as_portable() if portable else tuned.model
    save_model(model, output)
    if _ties(model):
        remark("all weights are 0: nothing could be learned, and entities tie; try a larger --lambda", quiet)
    summary = {
        "file": output, "model": str(model), "queries": len(judged), **_found(model, tuned),
        "seconds": time.perf_counter() - began, "tried": tuned.tried,
    }  # fmt: skip
    print_json(summary) if as_json else remark(_sentence(summary), quiet)


def _check_alone(system: str | None) -> None:
    """Options of features x aggregator say nothing about another system."""
    given = [name for name in FAMILY if click.get_current_context().get_parameter_source(name) is not DEFAULT]
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


def _found(model: Any, tuned: Any) -> dict[str, Any]:
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

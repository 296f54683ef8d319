"""`fader train`: a model from judged queries."""

from __future__ import annotations

import time
from pathlib import Path

import click

from fader.cli.common import (
    asked,
    folder_argument,
    json_option,
    on_error_option,
    print_json,
    quiet_option,
    remark,
    say_when_compiling,
)


@click.command("train", epilog="Example: fader train index/ --queries queries.jsonl --qrels qrels.txt -o model.json")
@folder_argument
@click.option("--queries", required=True, metavar="FILE", help="queries.jsonl.")
@click.option("--qrels", required=True, metavar="FILE", help="Judgments in TREC form; a grade above 0 is good.")
@click.option("-o", "--output", required=True, metavar="FILE", help="The model file to write.")
@click.option("--features", default="noprox+rectangle", show_default=True, metavar="MAPS", help="Alternatives with |.")
@click.option("--aggregator", default="sum", show_default=True, metavar="NAME", help="Alternatives with |.")
@click.option("--loss", default="pairwise", show_default=True, metavar="NAME", help="pairwise, softmax or ndcg.")
@click.option("--lambda", "lam", default="auto", show_default=True, metavar="L", help="auto, or a number, or 0.1/1/10.")
@click.option(
    "--policy", default="document", show_default=True, metavar="NAME", help="document, mention, or both with |."
)
@click.option("--window", type=int, default=0, metavar="TOKENS", help="Only literals within so many tokens.")
@click.option("--ignore-overlap", is_flag=True, help="Ignore occurrences inside the mention itself.")
@click.option("--judged-only", is_flag=True, help="Unjudged candidates are not taken for bad.")
@click.option("--starts", type=int, default=2, show_default=True, help="Starts where the problem is not convex.")
@click.option("--rounds", type=int, default=3, show_default=True, help="Rounds of choosing the mentions that count.")
@click.option("--portable", is_flag=True, help="The model may be used on other indexes of the same analysis.")
@click.option("--sample", type=int, default=0, metavar="N", help="Only N judged queries, drawn by the seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of groups, starts and sample.")
@click.option("--workers", type=int, default=0, help="Threads; as many as there are processors by default.")
@on_error_option
@json_option
@quiet_option
def command(
    folder: Path, queries: str, qrels: str, output: str, features: str, aggregator: str, loss: str, lam: str,
    policy: str, window: int, ignore_overlap: bool, judged_only: bool, starts: int, rounds: int, portable: bool,
    sample: int, seed: int, workers: int, on_error: str | None, as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Train features x aggregator on the judged queries of the index in DIR.

    Lambda, and the best of several alternatives such as --aggregator 'sum|logsumexp', are chosen by cross-validation
    over the queries.
    """
    from fader.progress import progress
    from fader.search.batch import refuse_overwriting
    from fader.search.index import Index
    from fader.search.judged import judged_queries
    from fader.search.ranker import Ranker, save_model

    say_when_compiling(quiet)
    refuse_overwriting(output, queries, qrels)
    ranker = Ranker(
        features, aggregator, loss=loss, lam=lam, policy=policy, window=window, ignore_overlap=ignore_overlap,
        judged_only=judged_only, starts=starts, rounds=rounds, seed=seed, workers=workers,
    )  # fmt: skip
    ranker.spec()
    index = Index(folder)
    parsed, grades, _skipped = asked(index, queries, qrels, on_error, quiet)
    began = time.perf_counter()
    with progress("Training", quiet) as reporter:
        judged = judged_queries(index, parsed, grades, reporter, sample, seed)
        for line in judged.remarks:
            remark(line, quiet)
        model = ranker.fit_judged(judged, reporter).model_
    if not model.weights.any() or not any(getattr(model.aggregator, "decay", (1.0,))):
        remark("all weights are 0: nothing could be learned, and entities tie; try a larger --lambda", quiet)
    model = model.anywhere() if portable else model
    save_model(model, output)
    summary = {
        "file": output, "model": str(model), "queries": len(judged), "lambda": model.provenance["lambda"],
        "validation_ap": None if ranker.choice_.precision != ranker.choice_.precision else ranker.choice_.precision,
        "objective": model.provenance["objective"], "seconds": time.perf_counter() - began,
        "tried": ranker.choice_.tried,
    }  # fmt: skip
    if as_json:
        print_json(summary)
        return
    validated = summary["validation_ap"]
    found = f", validation MAP {validated:.4f}" if isinstance(validated, float) else ""
    remark(f"{output}: {model}, lambda {summary['lambda']:g}, {len(judged)} queries{found}", quiet)

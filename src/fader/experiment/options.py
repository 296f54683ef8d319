"""What an evaluation, a comparison and training can be asked for: each option once.

Knows nothing of systems or of how they are compared.
"""

from __future__ import annotations

from fader.experiment.significance import TESTS
from fader.options import option, options
from fader.search.options import at_option, on_error_option, queries_option

MEASURES = "AP,RR,nDCG@5,nDCG@10,pairswap"


@options
class EvaluateOptions:
    """Measure TREC runs against judgments."""

    runs: tuple[str, ...] = option(help="TREC runs.", argument=True, metavar="RUN...")
    qrels: str = option(help="Judgments: qid 0 entity grade.", metavar="FILE")
    measures: str = option(
        MEASURES,
        help="Names separated by commas; also those of the package ir_measures, such as P@10.",
        metavar="NAMES",
    )
    baseline: str | None = option(
        None, help="Compare with this run (default: the best by the first measure).", metavar="RUN"
    )
    test: str = option("t", help="The significance test.", choices=TESTS)
    holm: bool = option(False, help="Correct p-values for the number of runs compared, for each measure.")
    seed: int = option(0, help="Seed of the randomisation test.", least=0)
    candidates_only: bool = option(False, help="AP counts only good entities that are in the run.")
    per_query: str | None = option(None, help="Write the values of every query as CSV.", metavar="FILE")
    on_error: str | None = on_error_option()


@options
class CompareOptions:
    """Compare systems on judged queries and write a report."""

    queries: str = queries_option()
    qrels: str = option(help="Judgments in TREC form; a grade above 0 is good.", metavar="FILE")
    systems: str = option(help="Systems, separated by commas.", metavar="LIST")
    questions: bool = option(
        False, help="Measure each system also on the field question alone, instead of type and query."
    )
    output: str = option(help="The folder of the report to write.", flags=("-o", "--output"), metavar="REPORT")
    cv: str = option("loo", help="loo, or a number of folds.", metavar="CV")
    keep: str | None = option(
        None, help="Keep each system's result here, and take those that are there already.", metavar="DIR"
    )
    baseline: str | None = option(None, help="Show differences to this system.", metavar="SYSTEM")
    measures: str = option(
        "",
        help=f"{MEASURES} by default; any of ir_measures.",
        metavar="LIST",
        show_default=False,
    )
    test: str = option("t", help="The significance test.", choices=TESTS)
    holm: bool = option(False, help="Correct p-values for the number of systems.")
    title: str = option("", help="The report's title.", show_default=False)
    overwrite: bool = option(False, help="Replace an existing report.")
    sample: int = option(0, help="Only N judged queries, drawn by the seed.", metavar="N", show_default=False)
    seed: int = option(0, help="Seed of folds, sample and randomisation test.")
    workers: int = option(0, help="Threads; as many as there are processors by default.", show_default=False)
    at: int | None = at_option()
    on_error: str | None = on_error_option()


@options
class TrainOptions:
    """Train a system on judged queries and write a model file; `learn.settings` has features x aggregator."""

    queries: str | None = option(None, help="queries.jsonl.", metavar="FILE")
    qrels: str | None = option(None, help="Judgments in TREC form; a grade above 0 is good.", metavar="FILE")
    judgments: bool = option(False, help="Learn from the judgments of `fader judge` beside the index instead.")
    output: str = option(help="The model file to write.", flags=("-o", "--output"), metavar="FILE")
    system: str | None = option(
        None, help="Any system of `fader systems`; without it the default model, trained further.", metavar="NAME"
    )
    questions: bool = option(
        False,
        help="Train how questions of the file are read, from their judged answers alone; --system, a model file too, "
        "ranks as it is, default without one.",
    )
    portable: bool = option(False, help="The model may be used on other indexes of the same analysis.")
    sample: int = option(0, help="Only N judged queries, drawn by the seed.", metavar="N", show_default=False)
    workers: int = option(0, help="Threads; as many as there are processors by default.", show_default=False)
    at: int | None = at_option()
    on_error: str | None = on_error_option()

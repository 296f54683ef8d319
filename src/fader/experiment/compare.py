"""Systems compared on the same judged queries, each tested only on queries that it was not trained on.

Systems that learn are cross-validated; free parameters are chosen on training queries; systems that are not fitted
share each query's contexts and whatever else they have in common. The result is plain data
(`fader.experiment.comparison`), from which tables, figures and the report are made. Knows nothing of terminals.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from fader import __version__
from fader.contexts.table import Contexts
from fader.corpus.queries import FaultCollector
from fader.errors import UsageError
from fader.experiment.asked import AskedExperiment
from fader.experiment.cache import Measured, MeasuredSystems, open_results
from fader.experiment.comparison import Comparison, Supports, SystemResult
from fader.experiment.experiment import Experiment, Tested, precisions
from fader.experiment.figure_data import context_scores, mean_grids
from fader.experiment.foreign import parse_foreign_measure
from fader.experiment.judged import JudgedQueries, judge_queries
from fader.experiment.system_specs import GIVEN, SystemSpec, add_asked, find_baseline, parse_specs
from fader.jobs.job import Job, run_job
from fader.jobs.journal import Key
from fader.jobs.runners import InProcess, Runner, Threads, count_cores
from fader.learn.crossvalidate import Validation, choose_unfitted, cross_validate, parse_cv
from fader.learn.threads import Workers
from fader.measures import STANDARD, find_measure
from fader.progress import Progress, Silent, watch
from fader.rank.system import System, View
from fader.search.batch import parse_all
from fader.search.index import Index
from fader.search.inputs import load_qrels, load_queries
from fader.search.models import contents_of
from fader.systems.count import Count

F64 = NDArray[np.float64]
SAMPLED_SUPPORTS = 20_000


def compare(
    index: Index | str | Path,
    queries: Any,
    qrels: Any,
    systems: Sequence[Any],
    cv: str | int = "loo",
    *,
    measures: Sequence[str] = (),
    baseline: str | None = None,
    seed: int = 0,
    workers: Workers = 0,
    title: str = "",
    keep: str | Path | None = None,
    progress: Progress | None = None,
    questions: bool = False,
) -> Comparison:
    """Compare systems on the judged queries of an index, which may be given by its folder.

    Systems are given by name, by model file, or as objects: a `System`, a `Model`, a fitted `Ranker`.

    With `questions` each system is measured on the question of each query, too, instead of its type and text.
    With `keep`, a folder, each system's result is kept there, and taken from there if the comparison is run again.
    """
    index = index if isinstance(index, Index) else Index.open(index)
    lines = load_queries(queries)
    parsed = parse_all(index, lines, FaultCollector())
    with watch("Comparing", progress) as reporter:
        judged = judge_queries(index, parsed, load_qrels(qrels), reporter)
        return compare_judged(
            judged,
            systems,
            cv,
            measures=measures,
            baseline=baseline,
            seed=seed,
            workers=workers,
            title=title,
            keep=keep,
            progress=reporter,
            questions={line.id: line.question for line in lines} if questions else None,
        )


def compare_judged(
    judged: JudgedQueries,
    systems: Sequence[Any],
    cv: str | int = "loo",
    *,
    measures: Sequence[str] = (),
    baseline: str | None = None,
    seed: int = 0,
    workers: Workers = 0,
    title: str = "",
    keep: str | Path | None = None,
    progress: Progress | None = None,
    questions: Mapping[str, str] | None = None,
) -> Comparison:
    """The same for queries that are brought together with their judgments already; `questions` are texts by query."""
    collection = judged.index.collection
    named = parse_specs(systems, collection)
    if questions is not None:
        named = add_asked(named)
        if not any(questions.get(query) for query in judged.ids):
            raise UsageError("no judged query has a question; give the field question, or compare without questions")
    baseline = None if baseline is None else find_baseline(baseline, named, collection)
    parse_cv(cv)
    chosen = [find_measure(m) or parse_foreign_measure(m) for m in measures] or list(STANDARD)
    experiment = Experiment(
        judged, str(cv), chosen, seed, workers or count_cores(), progress or Silent(), questions or {}
    )
    found = _measure_all(experiment, named, keep)
    counted: list[Tested] = experiment.each_query(lambda i: experiment.rank(i, Count(), {}), "counting")
    return Comparison(
        title=title or f"Comparison on {collection.folder.name}",
        measures=[str(m) for m in chosen],
        queries=list(judged.ids),
        systems=[f.result for f in found],
        smaller_is_better=[str(m) for m in chosen if not m.larger],
        texts=[q.query.text for q in judged.queries],
        types=[q.query.type for q in judged.queries],
        provenance=_provenance(judged, cv, seed, baseline),
        candidates=[int(t.values.size) for t in counted],
        supports=Supports(
            good=_sample(t.values[t.judgments.grades > 0] for t in counted),
            bad=_sample(t.values[t.judgments.grades <= 0] for t in counted),
        ),
        context_scores=next((f.scores for f in found if f.scores), []),
        grids=[grid for f in found for grid in f.grids],
    )


def _measure_all(experiment: Experiment, systems: Sequence[SystemSpec], keep: str | Path | None) -> list[Measured]:
    """Results in order; those that are kept already are not computed again.

    Systems that are not fitted are measured together, as they share each query's contexts; one that is fitted together
    with itself over questions; others one by one.
    """
    plain = [e for e in systems if not e.learners and e.reads == GIVEN]
    fitted = [
        [e for e in systems if (e.alternatives, e.cv) == (one.alternatives, one.cv)]
        for one in systems
        if one.learners and one.reads == GIVEN
    ]
    asked = [[e] for e in systems if not e.learners and e.reads]
    items: list[Sequence[SystemSpec]] = [plain, *fitted, *asked]
    key, workers, over_questions = _describe(experiment), experiment.workers, AskedExperiment(experiment)

    def measure(item: Sequence[SystemSpec]) -> list[Measured]:
        if item[0] in plain:
            return _plain(experiment, item)
        if not item[0].learners:
            return [over_questions.measure(e) for e in item]
        began = time.perf_counter()
        found = _cross_validate(experiment, item[0])
        return [
            over_questions.measure(e, found) if e.reads else _measure_fitted(experiment, e, found, began) for e in item
        ]

    job: Job[Sequence[SystemSpec], Sequence[Measured], list[Measured]] = Job(
        key, items, lambda: measure, lambda journal: MeasuredSystems(journal, systems, experiment.cv)
    )
    # Threads of this process have enough to do with one system at a time; a pool may not have. What is under way there
    # when one fails, perhaps for hours, is stopped.
    runner: Runner[Sequence[SystemSpec]] = (
        InProcess() if isinstance(workers, int) else Threads(workers.systems, workers.stop)
    )
    return run_job(job, open_results(keep, key), runner)


@dataclass(frozen=True)
class Timed:
    """One query by one system: its measures, seconds, and the ranking itself where a measure wants whole runs."""

    measured: dict[str, float]
    seconds: float
    tested: list[Tested]


def _plain(experiment: Experiment, plain: Sequence[SystemSpec]) -> list[Measured]:
    """Systems that are not fitted: every alternative ranks every query, then the chosen one does."""
    chosen, seconds = [np.zeros(len(experiment.judged), dtype=np.int64) for _ in plain], np.zeros(len(plain))
    free = [n for n, e in enumerate(plain) if len(e.alternatives) > 1]
    if free:
        rows = experiment.each_query(lambda i: precisions(experiment, i, [plain[n] for n in free]), "choosing")
        for place, n in enumerate(free):
            precision = np.stack([row[0][place] for row in rows], axis=1)
            chosen[n] = choose_unfitted(precision, plain[n].cv or experiment.cv, experiment.seed)
            seconds[n] += sum(row[1][place] for row in rows)
    if not plain:
        return []

    def work(i: int) -> list[Timed]:
        tables: dict[View, Contexts] = {}
        return [_time_ranking(experiment, i, e.alternatives[c[i]], tables) for e, c in zip(plain, chosen, strict=True)]

    rows = experiment.each_query(work, "ranking")
    found = []
    for n, e in enumerate(plain):
        values = experiment.by_measure([row[n].measured for row in rows], [t for row in rows for t in row[n].tested])
        notes = [f"cv {e.cv or experiment.cv}"] if n in free else []
        choices = _tally([str(e.alternatives[c]) for c in chosen[n]]) if n in free else []
        seconds[n] += sum(row[n].seconds for row in rows)
        found.append(Measured(SystemResult(e.name, values, e.label, choices, float(seconds[n]), 0, notes)))
    return found


def _time_ranking(experiment: Experiment, i: int, system: System, tables: dict[View, Contexts]) -> Timed:
    began = time.perf_counter()
    tested = experiment.rank(i, system, tables)
    seconds = time.perf_counter() - began
    return Timed(
        experiment.measure(i, tested), seconds, [tested] if len(experiment.own) < len(experiment.measures) else []
    )


def _tally(texts: Sequence[str]) -> list[dict[str, Any]]:
    """What was chosen, most often first, with for how many queries."""
    return [
        {"model": text, "queries": texts.count(text)} for text in sorted(set(texts), key=lambda t: (-texts.count(t), t))
    ]


def _cross_validate(experiment: Experiment, spec: SystemSpec) -> Validation:
    """For each query a system that was fitted without it."""
    judged, learners, cv = experiment.judged, spec.learners, spec.cv or experiment.cv
    make = learners[0].prepare(judged, learners, experiment.seed, experiment.workers, experiment.progress)
    return cross_validate(make, len(judged), cv, experiment.seed, experiment.workers, experiment.progress)


def _measure_fitted(experiment: Experiment, spec: SystemSpec, found: Validation, began: float) -> Measured:
    """A system that learns, cross-validated."""
    judged, cv = experiment.judged, spec.cv or experiment.cv
    encoded = [o for o in found.outcomes if o.query is not None]
    if encoded:  # with all candidates, whose values are known
        tested = [Tested(o.judgments, o.all_values, o.model.view.takes_all) for o in encoded]
    else:
        tested = experiment.each_query(lambda i: experiment.rank(i, found.outcomes[i].model, {}), "ranking")
    values, seconds = experiment.measure_all(tested), time.perf_counter() - began
    result = SystemResult(spec.name, values, spec.label, found.choices, seconds, found.fits, [f"cv {cv}"])
    label = spec.label or spec.name
    return Measured(result, mean_grids(label, encoded), list(context_scores(judged, label, encoded)))


def _describe(experiment: Experiment) -> Key:
    """What a kept result depends on besides its system."""
    judged = experiment.judged
    grades = xxhash.xxh3_64()
    for query, graded in zip(judged.queries, judged.grades, strict=True):
        grades.update(
            f"{query.id}\t{query.query.text}\t{query.query.type}\t{sorted(map(str, graded.items()))}\n".encode()
        )
    for name in judged.ids if experiment.questions else ():
        grades.update(f"{name}\t{experiment.questions.get(name, '')}\n".encode())
    collection = judged.index.collection
    return {
        "fader": __version__,
        "collection": contents_of(collection),
        "analysis": collection.analysis.to_dict(),
        "queries": grades.hexdigest(),
        "seed": experiment.seed,
        "measures": [str(m) for m in experiment.measures],
    }


def _provenance(judged: JudgedQueries, cv: str | int, seed: int, baseline: str | None) -> dict[str, Any]:
    collection = judged.index.collection
    return {
        "index": collection.folder.name,
        "documents": collection.documents,
        "tokens": collection.tokens,
        "mentions": collection.mentions,
        "queries": len(judged),
        "cross-validation": str(cv),
        "seed": seed,
        **({"baseline": baseline} if baseline else {}),
        **({"remarks": judged.remarks} if judged.remarks else {}),
    }


def _sample(counts: Iterable[F64]) -> list[int]:
    """|S_e|, counted in documents, of some candidates; a sample where they are many."""
    every = np.concatenate([np.empty(0), *counts]).astype(np.int64)
    step = 1 + every.size // SAMPLED_SUPPORTS
    sampled: list[int] = np.sort(every)[::step].tolist()
    return sampled

"""Systems compared on the same judged queries, each tested only on queries that it was not trained on.

Systems that learn are cross-validated; the others rank every query, and share its contexts. The result is plain data
(`fader.evaluate.comparison`), from which tables, figures and the report are made. Knows nothing of terminals or files.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.contexts.table import Contexts
from fader.corpus.queries import Skipper
from fader.errors import UsageError, quoted
from fader.evaluate.comparison import Comparison, ContextScores, Grid, Supports, SystemResult
from fader.evaluate.foreign import Foreign, foreign_measure
from fader.features.combined import Combined
from fader.learn.crossvalidate import Outcome, Validation, cross_validate, parse_cv
from fader.learn.dataset import View
from fader.measures import STANDARD, Judgments, Measure, judge, known_measure
from fader.progress import Progress, Silent
from fader.rank.base import System
from fader.search.batch import parse_all
from fader.search.index import Index
from fader.search.inputs import qrels_of, queries_of
from fader.search.judged import JudgedQueries, judged_queries
from fader.search.models import ranker_of
from fader.systems.count import Count
from fader.systems.fader import Fader

F64 = NDArray[np.float64]
SAMPLED_SUPPORTS = 20_000
SHOWN_ENTITIES = 6


@dataclass(frozen=True)
class Tested:
    """One query as a system ranked it."""

    judgments: Judgments
    values: F64


def compare(
    index: Index | str | Path, queries: Any, qrels: Any, systems: Sequence[str | System], cv: str | int = "loo", *,
    measures: Sequence[str] = (), baseline: str | None = None, seed: int = 0, workers: int = 0, title: str = "",
    progress: Progress | None = None,
) -> Comparison:  # fmt: skip
    """Compare systems on the judged queries of an index, which may be given by its folder."""
    index = index if isinstance(index, Index) else Index(index)
    parsed = parse_all(index, queries_of(queries), Skipper())
    judged = judged_queries(index, parsed, qrels_of(qrels), progress)
    return compare_judged(
        judged,
        systems,
        cv,
        measures=measures,
        baseline=baseline,
        seed=seed,
        workers=workers,
        title=title,
        progress=progress,
    )


def compare_judged(
    judged: JudgedQueries, systems: Sequence[str | System], cv: str | int = "loo", *, measures: Sequence[str] = (),
    baseline: str | None = None, seed: int = 0, workers: int = 0, title: str = "", progress: Progress | None = None,
) -> Comparison:  # fmt: skip
    """The same for queries that are brought together with their judgments already."""
    rankers = [ranker_of(s, judged.index.reader) for s in systems]
    names = [str(r) for r in rankers]
    if not rankers:
        raise UsageError("nothing to compare; name one system at least")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{name} is to be compared twice; name it once")
    if baseline is not None and baseline not in names:
        raise UsageError(f"the baseline {quoted(baseline)} is not among the systems: {', '.join(names)}")
    parse_cv(cv)
    chosen = [known_measure(m) or foreign_measure(m) for m in measures] or list(STANDARD)
    progress = progress or Silent()
    plain = _ranked_all(judged, [r for r in rankers if not isinstance(r, Fader)], progress)
    results, shown = [], Figures()
    for ranker, name in zip(rankers, names, strict=True):
        if isinstance(ranker, Fader):
            began = time.perf_counter()
            found = cross_validate(judged, ranker.candidates(), ranker.cv or cv, seed, workers, progress)
            tested = [Tested(o.query.judgments, o.values) for o in found.outcomes]
            shown.add(judged, ranker.title, found)
            results.append(
                SystemResult(
                    name, _measured(judged, tested, chosen), ranker.title, found.choices,
                    time.perf_counter() - began, len({id(o.model) for o in found.outcomes}), [f"cv {ranker.cv or cv}"],
                )
            )  # fmt: skip
        else:
            tested, seconds = plain[name]
            results.append(SystemResult(name, _measured(judged, tested, chosen), "", [], seconds, 0, []))
    return Comparison(
        title=title or f"Comparison on {judged.index.reader.folder.name}",
        measures=[str(m) for m in chosen],
        queries=list(judged.ids),
        systems=results,
        smaller_is_better=[str(m) for m in chosen if not m.larger],
        texts=[q.query.text for q in judged.queries],
        provenance=_provenance(judged, cv, seed, baseline),
        **_counts(judged),
        context_scores=shown.scores,
        grids=shown.grids,
    )


def _measured(
    judged: JudgedQueries, tested: Sequence[Tested], measures: Sequence[Measure | Foreign]
) -> dict[str, list[Any]]:
    return {
        str(m): _foreign(judged, tested, m) if isinstance(m, Foreign) else [m.of(t.values, t.judgments) for t in tested]
        for m in measures
    }


def _foreign(judged: JudgedQueries, tested: Sequence[Tested], measure: Foreign) -> list[float]:
    """A measure that wants rankings of ids."""
    ids = judged.index.reader.catalog.entity_ids
    runs, grades = {}, {}
    for query, one, graded in zip(judged.ids, tested, judged.grades, strict=True):
        names = [ids[e] for e in one.judgments.entity.tolist()]
        runs[query] = dict(zip(names, one.values.tolist(), strict=True))
        grades[query] = {str(ids[e] if isinstance(e, int) else e): grade for e, grade in graded.items()}
    found: list[float] = measure.per_query(runs, grades, list(judged.ids)).tolist()
    return found


def _ranked_all(
    judged: JudgedQueries, rankers: Sequence[System], progress: Progress
) -> dict[str, tuple[list[Tested], float]]:
    """Every query ranked by every system that does not learn; systems that want the same contexts share them."""
    tested: dict[str, list[Tested]] = {str(r): [] for r in rankers}
    seconds = dict.fromkeys(tested, 0.0)
    for i in range(len(judged) if rankers else 0):
        tables: dict[View, Contexts] = {}
        for ranker in rankers:
            view = View(window=getattr(ranker, "window", None), overlap=getattr(ranker, "overlap", True))
            if view not in tables:
                tables[view] = judged.contexts(i, view)
            began = time.perf_counter()
            ranking = ranker.rank(tables[view], 1)
            seconds[str(ranker)] += time.perf_counter() - began
            entity = ranking.evidence.entity
            tested[str(ranker)].append(Tested(judge(entity, entity.tolist(), judged.grades[i]), ranking.values))
        progress.update(i + 1, len(judged), "ranking")
    return {name: (of, seconds[name]) for name, of in tested.items()}


def _provenance(judged: JudgedQueries, cv: str | int, seed: int, baseline: str | None) -> dict[str, Any]:
    reader = judged.index.reader
    return {
        "index": reader.folder.name, "documents": reader.documents, "tokens": reader.tokens,
        "mentions": reader.mentions, "queries": len(judged), "cross-validation": str(cv), "seed": seed,
        **({"baseline": baseline} if baseline else {}), **({"remarks": judged.remarks} if judged.remarks else {}),
    }  # fmt: skip


def _counts(judged: JudgedQueries) -> dict[str, Any]:
    """Candidates a query, and |S_e| (documents) of good and bad candidates; a sample where they are many."""
    candidates, good, bad = [], [], []
    for i in range(len(judged)):
        ranking = Count().rank(judged.contexts(i, View()), 1)
        entity = ranking.evidence.entity
        is_good = judge(entity, entity.tolist(), judged.grades[i]).grades > 0
        candidates.append(int(entity.size))
        good.append(ranking.values[is_good])
        bad.append(ranking.values[~is_good])
    return {"candidates": candidates, "supports": Supports(_sample(good), _sample(bad))}


def _sample(counts: Iterable[F64]) -> list[int]:
    every = np.concatenate([np.empty(0), *counts]).astype(np.int64)
    step = 1 + every.size // SAMPLED_SUPPORTS
    sampled: list[int] = np.sort(every)[::step].tolist()
    return sampled


class Figures:
    """What figures need of cross-validated models: mean weight grids, and context scores of a few entities."""

    def __init__(self) -> None:
        self.grids: list[Grid] = []
        self.scores: list[ContextScores] = []

    def add(self, judged: JudgedQueries, label: str, found: Validation) -> None:
        """Take what a system's folds show."""
        self.grids += _mean_grids(label, found)
        if not self.scores and found.outcomes and found.outcomes[0].model.aggregator.linear:
            self.scores = list(_context_scores(judged, found))


def _mean_grids(label: str, found: Validation) -> list[Grid]:
    """The mean cell values of each grid-like map over the folds that chose the same features."""
    models = list({id(o.model): o.model for o in found.outcomes}.values())
    same = [m for m in models if str(m.features) == str(models[0].features)]
    grids = []
    if models and isinstance(models[0].features, Combined):
        for i, part in enumerate(models[0].features.maps):
            if hasattr(part, "weight_grid"):
                weights = [list(m.features.split(m.weights))[i][1] for m in same]  # type: ignore[attr-defined]
                mean = np.mean([part.weight_grid(w) for w in weights], axis=0)
                rows, columns = part.row_labels(), part.column_labels()  # type: ignore[attr-defined]
                sides = [("", mean)] if mean.ndim == 2 else [(" left", mean[0]), (" right", mean[1])]
                for side, values in sides:
                    name = part.name + side
                    grids.append(Grid(label, name, rows, columns, values.tolist()))
    return grids


def _context_scores(judged: JudgedQueries, found: Validation) -> Iterable[ContextScores]:
    """Of queries whose good entities have many contexts: the good and the bad entity that are ranked highest."""
    ids = judged.index.reader.catalog.entity_ids
    by_support = sorted(found.outcomes, key=lambda o: -_largest_good(o))
    for outcome in by_support[: SHOWN_ENTITIES // 2]:
        cells = outcome.model.features.expand(outcome.model.weights)
        best = outcome.query.best(cells)
        scores, is_good = best.scores(cells), outcome.query.judgments.grades > 0
        if not is_good.any() or is_good.all():
            continue
        for good in (True, False):
            pool = np.flatnonzero(is_good == good)
            e = int(pool[np.argmax(outcome.values[pool])])
            of_entity = np.sort(scores[best.at[e] : best.at[e + 1]])[::-1]
            yield ContextScores(outcome.query.id, ids[int(outcome.query.entity[e])], good, of_entity[:1000].tolist())


def _largest_good(outcome: Outcome) -> int:
    size = np.diff(outcome.query.at)[outcome.query.judgments.grades > 0]
    return int(size.max(initial=0))

"""A model from judgments, and an honest comparison with the one that ranks now.

    w = (1 - m) w_old / |w_old| + m w_new / |w_new|,   m = n / (n + 20) for n judged questions

w_new is features x aggregator fitted to the judgments alone (`fader.systems.fader`, lambda 1). Few judgments move a
model a little, many move it far. Where the old model has other features there is nothing to start from, and m is 1.
Both are compared on the judged questions by five folds: a question is ranked by weights that its judgments had no part
in. A question needs an answer that is right or partly right; what nobody judged counts as wrong. Knows nothing of
files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.corpus.queries import FaultCollector
from fader.errors import InputError
from fader.experiment.judged import JudgedQueries, judge_queries
from fader.experiment.significance import LEVEL, t_test
from fader.experiment.tune import make_model
from fader.judging.files import as_judged
from fader.judging.record import Judgment
from fader.learn.crossvalidate import groups_of
from fader.learn.learner import Example
from fader.learn.model import Model
from fader.measures import AveragePrecision, judge
from fader.progress import Progress, Silent
from fader.rank.ranking import rank_entities
from fader.rank.system import System
from fader.search.batch import parse_all
from fader.search.index import Index
from fader.systems.fader import FeatureModel

F64 = NDArray[np.float64]
PRECISION = AveragePrecision()
FAMILY = FeatureModel(lam="1")
HALFWAY = 20  # judged questions that count as much as the old model
FOLDS = 5
LEAST = 2  # judged questions with a good answer
MOST_QUESTIONS = 1_000
SHOWN_CELLS = 12
SAME = 1e-9


@dataclass(frozen=True, slots=True)
class QuestionChange:
    """A judged question with its average precision by the old and by the new model."""

    question: str
    type: str | None
    old: float
    new: float


@dataclass(frozen=True, slots=True)
class CellChange:
    """A weight, as a share of all weights, before and after."""

    cell: str
    old: float
    new: float


@dataclass(frozen=True, slots=True)
class LearnReport:
    """Old against new on judged questions: MAP, how many are better and worse, and whether that may be chance."""

    questions: int
    judgments: int
    folds: int
    old_map: float
    new_map: float
    better: int
    worse: int
    p: float
    is_significant: bool
    per_question: list[QuestionChange]
    cells: list[CellChange]
    remarks: list[str]


@dataclass(frozen=True)
class Learned:
    """A new model, what is to be known of it, and the models of its folds."""

    model: Model
    report: LearnReport
    ensemble: list[System]


def learn(
    index: Index,
    judgments: Sequence[Judgment],
    old: Model,
    progress: Progress | None = None,
    family: FeatureModel = FAMILY,
) -> Learned:
    """Learn from judgments that count."""
    progress = progress or Silent()
    judged = _judged_queries(index, judgments)
    data, own = [], []
    for i in range(len(judged)):
        contexts = judged.contexts(i, family.view)
        encoded = family.encode(contexts)
        entity = contexts.groups.entity
        data.append(Example(encoded, judge(entity, entity.tolist(), judged.grades[i])))
        own.append(_rank_old(judged, i, old.system))
        progress.update(i + 1, 2 * len(judged), "reading contexts")
    usable = [
        i
        for i, example in enumerate(data)
        if 0 < np.count_nonzero(example.judgments.grades > 0) < len(example.judgments.grades)
    ]
    if len(usable) < LEAST:
        raise InputError(
            f"{len(usable)} judged questions have a good answer among others that is found; judge {LEAST} at least"
        )
    folds = min(FOLDS, len(usable))
    groups = groups_of(len(usable), folds, seed=0)
    new, ensemble = np.zeros(len(data)), []
    for f, group in enumerate(groups):
        held = {usable[g] for g in group.tolist()}
        fitted = _fit(family, [data[i] for i in usable if i not in held], old.system)
        ensemble.append(fitted)
        tested = held | ({i for i in range(len(data)) if i not in usable} if f == 0 else set())
        for i in tested:
            new[i] = PRECISION.of(fitted.values_of(data[i].query), data[i].judgments)
        progress.update(len(judged) + (f + 1) * len(judged) / (folds + 1), 2 * len(judged), "comparing old and new")
    final = _fit(family, [data[i] for i in usable], old.system)
    report = _report(judged, judgments, folds, np.array(own), new, old.system, final)
    progress.update(2 * len(judged), 2 * len(judged), "done")
    model = make_model(final, judged, {"judgments": report.judgments, "map": report.new_map, "old_map": report.old_map})
    return Learned(model, report, list(ensemble))


def _judged_queries(index: Index, judgments: Sequence[Judgment]) -> JudgedQueries:
    queries, grades = as_judged(judgments)
    kept = [q for q in queries if any(grade > 0 for grade in grades[q.id].values())][-MOST_QUESTIONS:]
    if not kept:
        raise InputError("no judged question has a right answer yet; judge some as right")
    parsed = parse_all(index, kept, FaultCollector(skip=True))
    return judge_queries(index, parsed, {q.id: grades[q.id] for q in kept})


def _rank_old(judged: JudgedQueries, i: int, system: System) -> float:
    contexts = judged.contexts(i, system.view)
    ranking = rank_entities(system, contexts, 1)
    entity = ranking.evidence.entity
    return PRECISION.of(ranking.values, judge(entity, entity.tolist(), judged.grades[i]))


def _fit(family: FeatureModel, examples: Sequence[Example], old: System) -> FeatureModel:
    """Weights between those of the old model and those that the examples teach."""
    weights: Any = old.weights if _is_like(family, old) else None  # type: ignore[attr-defined]
    if not examples:
        if weights is None:
            raise InputError("too few judged questions to compare; judge more")
        return replace(family, weights=weights)
    fitted = family.fit(examples, seed=0)
    if weights is None:
        return fitted
    share = len(examples) / (len(examples) + HALFWAY)
    mixed = (1 - share) * _unit(np.array(weights)) + share * _unit(np.array(fitted.weights))
    return replace(fitted, weights=tuple(mixed.tolist()))


def _is_like(family: FeatureModel, old: System) -> bool:
    """Whether weights of the old model mean the same as those of the family."""
    if not isinstance(old, FeatureModel) or not old.is_fitted:
        return False
    return old.encoding == family.encoding and str(old.aggregator) == str(family.aggregator)


def _unit(weights: F64) -> F64:
    size = float(np.linalg.norm(weights))
    return weights / size if size else weights


def _report(
    judged: JudgedQueries,
    judgments: Sequence[Judgment],
    folds: int,
    old: F64,
    new: F64,
    before: System,
    after: FeatureModel,
) -> LearnReport:
    names = {reading.id: reading.question or reading.query for reading in {j.reading for j in judgments}}
    changes = [
        QuestionChange(names.get(q.id, q.query.text), q.query.type, float(a), float(b))
        for q, a, b in zip(judged.queries, old, new, strict=True)
    ]
    p = t_test(new, old)
    return LearnReport(
        questions=len(judged),
        judgments=sum(len(graded) for graded in judged.grades),
        folds=folds,
        old_map=float(old.mean()),
        new_map=float(new.mean()),
        better=int(np.count_nonzero(new > old + SAME)),
        worse=int(np.count_nonzero(new < old - SAME)),
        p=p,
        is_significant=p < LEVEL,
        per_question=sorted(changes, key=lambda change: change.old - change.new),
        cells=_compare_cells(before, after),
        remarks=judged.remarks,
    )


def _compare_cells(before: System, after: FeatureModel) -> list[CellChange]:
    """The weights that changed most, as shares."""
    now = _shares(after)
    then = _shares(before) if _is_like(after, before) and isinstance(before, FeatureModel) else np.zeros_like(now)
    labels = after.feature_map.labels()
    order = np.argsort(-np.abs(now - then), kind="stable")[:SHOWN_CELLS]
    return [CellChange(labels[i], float(then[i]), float(now[i])) for i in order.tolist() if now[i] != then[i]]


def _shares(system: FeatureModel) -> F64:
    weights = np.abs(np.array(system.weights, dtype=np.float64))
    total = float(weights.sum())
    return weights / total if total else weights

"""A model from judgments, and an honest comparison with the one that ranks now.

The shipped cascade (`fader.systems.rerank`) is fitted to the judgments, near the weights that it ships with: few
judgments move a model a little, many move it far, and validation says how far (`fader.systems.shared.warmstart`). What
nobody judged counts as wrong there. A model of another kind stays as it is where the judged questions prefer it.

Old and new are compared on the judged questions by five folds: a question is ranked by weights that its judgments had
no part in. Average precision is that of the judged entities alone, in the order of the ranking: an answer that nobody
judged says nothing about either model (condensed lists; Sakai, Alternatives to Bpref, SIGIR 2007). A question needs an
answer that is right or partly right. Knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fader.corpus.queries import FaultCollector
from fader.errors import InputError
from fader.experiment.judged import JudgedQueries, judge_queries
from fader.experiment.significance import LEVEL, t_test
from fader.experiment.tune import make_model
from fader.judging.files import as_judged
from fader.judging.record import Judgment
from fader.learn.crossvalidate import groups_of, train
from fader.learn.learner import Example
from fader.learn.model import Model
from fader.measures import Judgments, average_precision, judge
from fader.progress import Progress, Silent
from fader.rank.ranking import rank_entities
from fader.rank.system import System
from fader.search.batch import parse_all
from fader.search.index import Index
from fader.search.models import DEFAULT, default_model
from fader.systems.rerank import Rerank, encode_all
from fader.systems.shared.warmstart import TakeFrom, WarmTrainer, alternative

F64 = NDArray[np.float64]
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
    """Old against new on judged questions: MAP, how many are better and worse, and whether that may be chance.

    `base` is the model that learning began from.
    """

    questions: int
    judgments: int
    folds: int
    base: str
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


@dataclass(frozen=True)
class _Data:
    """The judged questions as the cascade encodes them, and average precision of the old model and of the base."""

    cascade: Rerank
    old: Model
    examples: Sequence[Example]
    old_precision: F64
    base_precision: F64

    @property
    def is_old_like(self) -> bool:
        """Whether the old model is of the family that is trained."""
        return isinstance(self.old.system, Rerank)

    def teach(self, training: Sequence[int]) -> System:
        """What some questions make of the base; or the old model, if it is of another kind and they prefer it."""
        if not self.is_old_like and self.old_precision[training].mean() > self.base_precision[training].mean():
            return self.old.system
        examples = [self.examples[i] for i in training]
        known = alternative(self.cascade, TakeFrom(examples), len(examples), measure_judged)
        return self.cascade.fill_in(train(partial(WarmTrainer, [known]), len(examples), workers=1)[0].trained)

    def measure(self, system: System, i: int) -> float:
        """Average precision of a system that was taught, on a question."""
        if not isinstance(system, Rerank):
            return float(self.old_precision[i])
        return measure_judged(system.values_of(self.examples[i].query), self.examples[i].judgments)


def learn(index: Index, judgments: Sequence[Judgment], old: Model, progress: Progress | None = None) -> Learned:
    """Learn from judgments that count; `old` is the model that ranks now."""
    progress = progress or Silent()
    judged = _judged_queries(index, judgments)
    if len(judged) < LEAST:
        raise InputError(f"{len(judged)} judged question has a right answer; judge {LEAST} at least")
    data = _prepare(judged, old, progress)
    folds = min(FOLDS, len(judged))
    new, ensemble = np.zeros(len(judged)), []
    for f, group in enumerate(groups_of(len(judged), folds, seed=0)):
        held = set(group.tolist())
        system = data.teach([i for i in range(len(judged)) if i not in held])
        ensemble.append(system)
        for i in held:
            new[i] = data.measure(system, i)
        progress.update(len(judged) + (f + 1) * len(judged) / (folds + 1), 2 * len(judged), "comparing old and new")
    final = data.teach(range(len(judged)))
    base = str(old) if data.is_old_like or final is old.system else DEFAULT
    report = _report(judged, judgments, folds, base, data.old_precision, new, old.system, final)
    progress.update(2 * len(judged), 2 * len(judged), "done")
    told = {"judgments": report.judgments, "base": report.base, "map": report.new_map, "old_map": report.old_map}
    return Learned(make_model(final, judged, told), report, ensemble)


def measure_judged(values: F64, judgments: Judgments) -> float:
    """Average precision of the judged candidates alone."""
    kept = judgments.judged
    return float(average_precision(values[kept], judgments.entity[kept], judgments.grades[kept], judgments.good))


def _prepare(judged: JudgedQueries, old: Model, progress: Progress) -> _Data:
    ships = old.system if isinstance(old.system, Rerank) else default_model().system
    assert isinstance(ships, Rerank)
    cascade = ships.start_near()
    examples = encode_all(cascade, judged, 1, _Half(progress, len(judged)))
    base = np.array([measure_judged(ships.values_of(e.query), e.judgments) for e in examples])
    if ships is old.system:
        return _Data(cascade, old, examples, base, base)
    before = np.zeros(len(judged))
    for i in range(len(judged)):
        ranking = rank_entities(old.system, judged.contexts(i, old.system.view), 1)
        ranked = ranking.evidence.entity
        before[i] = measure_judged(ranking.values, judge(ranked, ranked.tolist(), judged.grades[i]))
    return _Data(cascade, old, examples, before, base)


@dataclass(frozen=True)
class _Half:
    """Progress of the first half of the work."""

    whole: Progress
    questions: int

    def update(self, done: float, total: float | None = None, note: str = "") -> None:
        share = done / (total or 1)
        self.whole.update(share * self.questions, 2 * self.questions, note)


def _judged_queries(index: Index, judgments: Sequence[Judgment]) -> JudgedQueries:
    queries, grades = as_judged(judgments)
    kept = [q for q in queries if any(grade > 0 for grade in grades[q.id].values())][-MOST_QUESTIONS:]
    if not kept:
        raise InputError("no judged question has a right answer yet; judge some as right")
    parsed = parse_all(index, kept, FaultCollector(skip=True))
    return judge_queries(index, parsed, {q.id: grades[q.id] for q in kept})


def _report(
    judged: JudgedQueries,
    judgments: Sequence[Judgment],
    folds: int,
    base: str,
    old: F64,
    new: F64,
    before: System,
    after: System,
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
        base=base,
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


def _compare_cells(before: System, after: System) -> list[CellChange]:
    """The weights that changed most, as shares of all."""
    if not isinstance(after, Rerank):
        return []
    second = after.second_system
    now = _shares(second.weights)
    then = np.zeros(now.size)
    if isinstance(before, Rerank) and before.second_system.encoding == second.encoding:
        then = _shares(before.second_system.weights)
    labels = second.feature_map.labels()
    order = np.argsort(-np.abs(now - then), kind="stable")[:SHOWN_CELLS]
    return [CellChange(labels[i], float(then[i]), float(now[i])) for i in order.tolist() if now[i] != then[i]]


def _shares(given: Sequence[float]) -> F64:
    weights = np.array(given, dtype=np.float64)
    total = float(np.abs(weights).sum())
    return weights / total if total else weights

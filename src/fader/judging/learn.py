"""A model from judgments, and an honest comparison with the one that ranks now.

    w = (1 - m) w_base / |w_base| + m w_new / |w_new|,   m = n / (n + 20) for n judged questions

The base is the model that ranks now or a shipped one, whichever the judged questions prefer. w_new is features x
aggregator fitted to the judgments alone (`fader.systems.fader`, lambda 1); what nobody judged counts as wrong there. So
few judgments move a model a little, many move it far. A base with other features than w_new stays as it is.

Old and new are compared on the judged questions by five folds: a question is ranked by a base and by weights that its
judgments had no part in. Average precision is that of the judged entities alone, in the order of the ranking: an answer
that nobody judged says nothing about either model (condensed lists; Sakai, Alternatives to Bpref, SIGIR 2007). A
question needs an answer that is right or partly right. Knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from fader.measures import Judgments, average_precision, judge
from fader.progress import Progress, Silent
from fader.rank.ranking import rank_entities
from fader.rank.system import System
from fader.search.batch import parse_all
from fader.search.index import Index
from fader.search.models import JOINT, shipped_model
from fader.systems.fader import FeatureModel

F64 = NDArray[np.float64]
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
    """The judged questions: as the family encodes them, and the average precision of each base on each."""

    family: FeatureModel
    bases: Sequence[Model]
    examples: list[Example]
    precision: F64  # (bases, questions)

    def teach(self, training: Sequence[int]) -> tuple[Model, System]:
        """The base that some questions prefer, and what they make of it."""
        means = self.precision[:, training].mean(axis=1)
        base = self.bases[int(means.argmax())]  # of equal ones the first, which ranks now
        if not _is_like(self.family, base.system):
            return base, base.system
        examples = [self.examples[i] for i in training if _is_telling(self.examples[i])]
        return base, _mix(self.family, examples, base.system)

    def measure(self, system: System, i: int) -> float:
        """Average precision of a system that was taught, on a question."""
        for base, precision in zip(self.bases, self.precision, strict=True):
            if system is base.system:
                return float(precision[i])
        assert isinstance(system, FeatureModel)
        example = self.examples[i]
        return measure_judged(system.values_of(example.query), example.judgments)


def learn(
    index: Index,
    judgments: Sequence[Judgment],
    old: Model,
    progress: Progress | None = None,
    family: FeatureModel = FAMILY,
    others: Sequence[Model] | None = None,
) -> Learned:
    """Learn from judgments that count; `others` are the bases beside the old model, by default a shipped one."""
    progress = progress or Silent()
    judged = _judged_queries(index, judgments)
    bases = [old, *([shipped_model(JOINT)] if others is None else others)]
    data = _prepare(judged, bases, family, progress)
    if len(judged) < LEAST:
        raise InputError(f"{len(judged)} judged question has a right answer; judge {LEAST} at least")
    folds = min(FOLDS, len(judged))
    new, ensemble = np.zeros(len(judged)), []
    for f, group in enumerate(groups_of(len(judged), folds, seed=0)):
        held = set(group.tolist())
        _base, system = data.teach([i for i in range(len(judged)) if i not in held])
        ensemble.append(system)
        for i in held:
            new[i] = data.measure(system, i)
        progress.update(len(judged) + (f + 1) * len(judged) / (folds + 1), 2 * len(judged), "comparing old and new")
    base, final = data.teach(range(len(judged)))
    report = _report(judged, judgments, folds, str(base), data.precision[0], new, old.system, final)
    progress.update(2 * len(judged), 2 * len(judged), "done")
    told = {"judgments": report.judgments, "base": report.base, "map": report.new_map, "old_map": report.old_map}
    return Learned(make_model(final, judged, told), report, ensemble)


def measure_judged(values: F64, judgments: Judgments) -> float:
    """Average precision of the judged candidates alone."""
    kept = judgments.judged
    return float(average_precision(values[kept], judgments.entity[kept], judgments.grades[kept], judgments.good))


def _prepare(judged: JudgedQueries, bases: Sequence[Model], family: FeatureModel, progress: Progress) -> _Data:
    examples, precision = [], np.zeros((len(bases), len(judged)))
    for i in range(len(judged)):
        contexts = judged.contexts(i, family.view)
        entity = contexts.groups.entity
        examples.append(Example(family.encode(contexts), judge(entity, entity.tolist(), judged.grades[i])))
        for b, base in enumerate(bases):
            table = contexts if base.system.view == family.view else judged.contexts(i, base.system.view)
            ranking = rank_entities(base.system, table, 1)
            ranked = ranking.evidence.entity
            precision[b, i] = measure_judged(ranking.values, judge(ranked, ranked.tolist(), judged.grades[i]))
        progress.update(i + 1, 2 * len(judged), "reading contexts")
    return _Data(family, bases, examples, precision)


def _is_telling(example: Example) -> bool:
    """Whether a question has a good candidate and a bad one."""
    good = np.count_nonzero(example.judgments.grades > 0)
    return bool(0 < good < example.judgments.grades.size)


def _judged_queries(index: Index, judgments: Sequence[Judgment]) -> JudgedQueries:
    queries, grades = as_judged(judgments)
    kept = [q for q in queries if any(grade > 0 for grade in grades[q.id].values())][-MOST_QUESTIONS:]
    if not kept:
        raise InputError("no judged question has a right answer yet; judge some as right")
    parsed = parse_all(index, kept, FaultCollector(skip=True))
    return judge_queries(index, parsed, {q.id: grades[q.id] for q in kept})


def _mix(family: FeatureModel, examples: Sequence[Example], base: System) -> FeatureModel:
    """Weights between those of the base and those that the examples teach."""
    weights = np.array(base.weights)  # type: ignore[attr-defined]
    if not examples:
        return replace(family, weights=tuple(weights.tolist()))
    fitted = family.fit(examples, seed=0)
    share = len(examples) / (len(examples) + HALFWAY)
    mixed = (1 - share) * _unit(weights) + share * _unit(np.array(fitted.weights))
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
    if not isinstance(after, FeatureModel):
        return []
    now, then = _shares(after), np.zeros(len(after.weights))
    if isinstance(before, FeatureModel) and _is_like(after, before):
        then = _shares(before)
    labels = after.feature_map.labels()
    order = np.argsort(-np.abs(now - then), kind="stable")[:SHOWN_CELLS]
    return [CellChange(labels[i], float(then[i]), float(now[i])) for i in order.tolist() if now[i] != then[i]]


def _shares(system: FeatureModel) -> F64:
    weights = np.abs(np.array(system.weights, dtype=np.float64))
    total = float(weights.sum())
    return weights / total if total else weights

"""Systems over questions beside systems over given queries, so that the price of reading is measured.

    asked            the text of the question alone, read by the model's own interpreter, or by the one that ships
    asked, trained   the same interpreter, trained further on the questions of the other folds

A system that learns is the one that was fitted without the query. Judgments, measures and tests are those of the given
queries; a query without a question has no value, and one that cannot be read the worst. Knows nothing of reports.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fader.corpus.queries import QueryLine
from fader.errors import FaderError
from fader.experiment.cache import Measured
from fader.experiment.comparison import SystemResult
from fader.experiment.experiment import PRECISION, Experiment, Tested
from fader.experiment.questions import FOLDS, QuestionJudge, score_judged, train_folds
from fader.experiment.system_specs import TRAINED, SystemSpec
from fader.jobs.runners import count_cores
from fader.lazy import cached_property
from fader.learn.crossvalidate import Validation, choose_unfitted, parse_cv
from fader.learn.interpreter import Interpreter
from fader.learn.model import Model
from fader.learn.threads import in_parallel
from fader.measures import judge
from fader.questions.reader import Reader
from fader.rank.system import System
from fader.search.ask import rank_question, resolve_interpreter

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
NOBODY = np.empty(0, dtype=np.int32), np.empty(0)


class AskedExperiment:
    """The questions of an experiment's queries, and systems measured on them."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment, self.judged = experiment, experiment.judged
        self.index = experiment.judged.index
        self.texts = [experiment.questions.get(query, "") for query in self.judged.ids]

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.index.collection.catalog)

    def measure(self, spec: SystemSpec, found: Validation | None = None) -> Measured:
        """A system on questions; of one that learns, `found` has the system that was fitted without each query."""
        began, cv = time.perf_counter(), spec.cv or self.experiment.cv
        notes = []
        if spec.reads == TRAINED:
            folds = min(parse_cv(cv) or FOLDS, max(2, sum(map(bool, self.texts))))
            tested, notes = self._read_trained(spec, folds), [f"read after training on the other of {folds} folds"]
        elif found is not None:
            fitted = {id(o.model): spec.learners[0].finish(o.model)[0] for o in found.outcomes}
            tested = self._rank_all(spec, [fitted[id(o.model)] for o in found.outcomes])
        elif len(spec.alternatives) == 1:
            tested = self._rank_all(spec, [spec.alternatives[0]] * len(self.judged))
        else:
            tested, notes = self._choose(spec, cv), [f"cv {cv}"]
        seconds = time.perf_counter() - began
        return Measured(SystemResult(spec.name, self._measure_all(tested), spec.label, [], seconds, 0, notes))

    def _measure_all(self, tested: Sequence[Tested]) -> dict[str, list[float | None]]:
        values = self.experiment.measure_all(tested)
        return {
            name: [value if text else None for value, text in zip(of, self.texts, strict=True)]
            for name, of in values.items()
        }

    def _rank_all(self, spec: SystemSpec, systems: Sequence[System]) -> list[Tested]:
        """Each question by its own system."""
        how = _find_interpreter(spec)
        workers = self.experiment.workers if isinstance(self.experiment.workers, int) else count_cores()
        work = lambda i: self._rank(i, systems[i], how)  # noqa: E731
        return in_parallel(work, range(len(self.judged)), workers, self.experiment.progress, "asking")

    def _rank(self, i: int, system: System, how: Interpreter) -> Tested:
        if not self.texts[i]:
            return self._judge(i, *NOBODY)
        try:
            found = rank_question(self.index.collection, self._reader, self.texts[i], how, system, self.index.limits)
        except FaderError:
            return self._judge(i, *NOBODY)
        return self._judge(i, found.entity, found.score)

    def _judge(self, i: int, entity: I32, values: F64) -> Tested:
        return Tested(judge(entity, entity.tolist(), self.judged.grades[i]), values, whole=False)

    def _choose(self, spec: SystemSpec, cv: str) -> list[Tested]:
        """Of several alternatives the one that is best on the training questions."""
        every = [self._rank_all(spec, [system] * len(self.judged)) for system in spec.alternatives]
        precision = np.array([[PRECISION.of(t.values, t.judgments) for t in tested] for tested in every])
        chosen = choose_unfitted(precision, cv, self.experiment.seed)
        return [every[c][i] for i, c in enumerate(chosen)]

    def _read_trained(self, spec: SystemSpec, folds: int) -> list[Tested]:
        """Each question as an interpreter reads it that was trained on the other folds."""
        ids, places = self.index.collection.catalog.entity_ids, {q: i for i, q in enumerate(self.judged.ids)}
        lines = [QueryLine(q, "", None, self.texts[i], q) for q, i in places.items() if self.texts[i]]
        grades = {
            q: {str(ids[e] if isinstance(e, int) else e): grade for e, grade in self.judged.grades[i].items()}
            for q, i in places.items()
        }
        ranker = QuestionJudge(self.index, grades, Model(spec.alternatives[0]))
        tested = [self._judge(i, *NOBODY) for i in range(len(self.judged))]
        for interpreter, questions in train_folds(ranker, lines, _find_interpreter(spec), folds, self.experiment.seed):
            for question in questions:
                scores = score_judged(question, interpreter).scores
                covered = np.isfinite(scores)
                i = places[question.id]
                tested[i] = self._judge(i, question.entity[covered], scores[covered])
        return tested


def _find_interpreter(spec: SystemSpec) -> Interpreter:
    return resolve_interpreter("default", spec.model)

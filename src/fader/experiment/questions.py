"""Judged questions: an interpreter trained from answers alone, and what reading costs, without leaks.

A question keeps the entities in the order of their evidence, as `search.ask` has them, and which of them are good. The
associations of words with type names, the words that are no literals, the weights and the calibration all come from
training questions; a training question's own answers are taken out of the associations before its features are
computed. Knows nothing of files or terminals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fader.contexts.query import Query
from fader.corpus.queries import QueryLine
from fader.errors import FaderError, UsageError
from fader.index.names import fold as fold_case
from fader.learn.interpreter import Associations, Interpreter
from fader.learn.model import Model
from fader.measures import average_precision
from fader.progress import Progress, Silent
from fader.questions.calibration import apply_calibration, describe_answers, fit_calibration, measure_calibration
from fader.questions.mixture import find_members, score_mixture, value_ranks
from fader.questions.reader import MOST_READINGS, Reader, softmax
from fader.questions.train import (
    QuestionData,
    add_associations,
    count_associations,
    fit_weights,
    keep_telling,
    prune_associations,
)
from fader.questions.words import Words
from fader.rank.ranking import order_entities
from fader.search.ask import match_question, read_question
from fader.search.index import Index

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
MOST_BAD = 400  # candidates of a question, by evidence, that training sets against the good ones
MOST_TYPES = 60
LEAST_TRIED = 5  # questions with a word, before it may be dropped
LEAST_GAIN = 0.005  # of average precision without a word, on average, for it to be dropped
NO_GAIN = 2.0  # questions without any gain, that a word's mean is drawn to
CALIBRATED_ON = 10  # answers per question: those that a person sees
FOLDS = 5


@dataclass(frozen=True)
class JudgedQuestion:
    """A question of a file: its words, its candidates in the order of their evidence, and its good entities.

    `shares` has the share of the good entities below types of each name, `relevant` how many good ones were judged.
    """

    id: str
    reader: Reader
    words: Words
    hints: tuple[str, ...]
    entity: I32
    values: F64
    good: NDArray[np.bool_]
    relevant: int
    shares: dict[str, float]


@dataclass(frozen=True)
class Asked:
    """A question that was read and ranked: its average precision, the types of its readings (-1: none), the most
    probable first, and of the first answers what a calibration sees and whether they are good.
    """

    precision: float
    types: list[int]
    known: F64
    good: NDArray[np.bool_]


@dataclass(frozen=True)
class TrainedReading:
    """An interpreter, and what cross-validation says of it: MAP before and after training, calibration error."""

    interpreter: Interpreter
    questions: int
    before: float
    validated: float
    calibration_error: float
    reliability: list[tuple[float, float, int]]


class QuestionJudge:
    """Ranks the candidates of an index's judged questions by a model; what was ranked once is kept."""

    def __init__(self, index: Index, grades: dict[str, dict[str, int]], model: Model) -> None:
        self.index, self.grades, self.system = index, grades, model.system
        self.reader = Reader(index.collection.catalog)
        self._options = match_question(self.system, index.limits)
        self._above = index.collection.catalog.ancestors()
        self._ranked: dict[str, tuple[I32, F64]] = {}

    def judge(self, lines: Sequence[QueryLine], dropped: tuple[str, ...], keep: bool = True) -> list[JudgedQuestion]:
        """The questions that have a good entity; one that cannot be read is left out. `keep` the rankings for later."""
        found, how = [], Interpreter(dropped=dropped)
        for line in lines:
            good = self._find_good(line)
            if good:
                try:
                    words, query = self._read(line, how)
                except FaderError:
                    continue
                entity, values = self._rank(query, keep)
                relevant = sum(grade > 0 for grade in self.grades[line.id].values())
                hints, shares = self.reader.hints(words), self._share_names(good)
                is_good = np.isin(entity, good)
                found.append(
                    JudgedQuestion(line.id, self.reader, words, hints, entity, values, is_good, relevant, shares)
                )
        return found

    def _find_good(self, line: QueryLine) -> list[int]:
        ids = self.index.collection.catalog.entity_ids
        every = (ids.find(entity) for entity, grade in self.grades.get(line.id, {}).items() if grade > 0)
        return [e for e in every if e >= 0]

    def _read(self, line: QueryLine, how: Interpreter) -> tuple[Words, Query]:
        collection, limits = self.index.collection, self.index.limits
        words = self.reader.split(line.question)
        return words, read_question(collection, self.reader, line.question, how, self._options, limits)[1]

    def find_words(self, line: QueryLine) -> frozenset[str]:
        """The words of a question that are literals by themselves."""
        try:
            literals = self._read(line, Interpreter())[1].literals
        except FaderError:
            return frozenset()
        return frozenset(fold_case(literal.text) for literal in literals if len(literal.terms) == 1)

    def _rank(self, query: Query, keep: bool) -> tuple[I32, F64]:
        found = self._ranked.get(query.text)
        if found is None:
            collection = self.index.collection
            every = max(1, len(collection.catalog.entity_ids))
            ranking = collection.evidence(query, self._options, self.system, every, with_rows=False).ranking
            found = ranking.entity, ranking.score
            if keep:
                self._ranked[query.text] = found
        return found

    def _share_names(self, good: Sequence[int]) -> dict[str, float]:
        """The share of good entities below types of each name."""
        catalog, (at, above), shares = self.index.collection.catalog, self._above, dict[str, float]()
        for e in good:
            types = catalog.entity_types[catalog.entity_types_at[e] : catalog.entity_types_at[e + 1]].tolist()
            every = (a for t in types for a in above[at[t] : at[t + 1]].tolist())
            for name in {" ".join(part) for a in every for part in self.reader.names.parts[a]}:
                shares[name] = shares.get(name, 0.0) + 1.0 / len(good)
        return shares


def train_interpreter(
    questions: Sequence[JudgedQuestion], dropped: tuple[str, ...] = (), base: Interpreter | None = None
) -> Interpreter:
    """An interpreter from judged questions, of one index or of several together, on top of another.

    From several it learns what question words ask for anywhere, not what all questions of one index ask for.
    """
    base = base or Interpreter()
    by_index: dict[int, list[JudgedQuestion]] = {}
    for one in questions:
        by_index.setdefault(id(one.reader), []).append(one)
    counted = Associations()
    for own in by_index.values():
        shares = [one.shares for one in own]
        found = count_associations([one.hints for one in own], shares)
        counted = add_associations(counted, keep_telling(found, shares) if len(by_index) > 1 else found)
    both = add_associations(base.associations, prune_associations(counted))
    start = replace(base, associations=both, dropped=join_words(base.dropped, dropped), calibration=())
    return fit_weights(start, [_prepare(one, start) for one in questions])


def _prepare(question: JudgedQuestion, interpreter: Interpreter) -> QuestionData:
    """A question as training sees it, without its own share of the associations."""
    found = question.reader.find_candidates(question.words, interpreter, question.shares)
    kept = np.argsort(-(found.phi @ np.array(interpreter.weights)), kind="stable")[:MOST_TYPES]
    rows = np.flatnonzero(question.good | (np.arange(question.good.size) < MOST_BAD))
    member = find_members(question.reader.catalog, found.types[kept].tolist(), question.entity[rows])
    values = value_ranks(question.entity.size)[rows]
    return QuestionData(found.phi[kept], member, values, question.good[rows])


@dataclass(frozen=True)
class ScoredQuestion:
    """The candidates of a question scored over its readings, minus infinity where none covers an entity."""

    scores: F64
    types: list[int]
    member: NDArray[np.bool_]
    share: F64  # of each reading


def score_judged(question: JudgedQuestion, interpreter: Interpreter, alone: bool = False) -> ScoredQuestion:
    """Score a judged question over all its readings, or with its most probable one `alone`."""
    found = question.reader.find_candidates(question.words, interpreter)
    probability = softmax(found.phi @ np.array(interpreter.weights))
    kept = np.argsort(-probability, kind="stable")[: 1 if alone else MOST_READINGS]
    types = found.types[kept].tolist()
    member = find_members(question.reader.catalog, types, question.entity)
    share = probability[kept] / probability[kept].sum()
    scores = score_mixture(value_ranks(question.entity.size), member, share, interpreter.temperature)
    return ScoredQuestion(scores, types, member, share)


def ask_judged(question: JudgedQuestion, interpreter: Interpreter, alone: bool = False) -> Asked:
    """Rank a judged question over all its readings, or with its most probable one `alone`."""
    scored = score_judged(question, interpreter, alone)
    scores = scored.scores
    precision = average_precision(scores, question.entity, question.good.astype(np.int64), question.relevant)
    order = order_entities(question.entity, scores, scores.size)
    order = order[np.isfinite(scores[order])]
    with np.errstate(divide="ignore"):
        log_prior = np.log(scored.member[order] @ scored.share)
    known = describe_answers(log_prior, order, question.values, float(scored.share[0]))[:CALIBRATED_ON]
    return Asked(precision, scored.types, known, question.good[order][: known.shape[0]])


def fit_answers(asked: Sequence[Asked]) -> tuple[float, ...]:
    """A calibration from rankings that were not trained on."""
    known, good = np.concatenate([one.known for one in asked]), np.concatenate([one.good for one in asked])
    return fit_calibration(known, good, np.ones(good.size))


def assign_folds(count: int, folds: int, seed: int) -> list[int]:
    """The fold of each of some questions, drawn by the seed."""
    drawn: list[int] = (np.random.default_rng(seed).permutation(count) % folds).tolist()
    return drawn


def measure_drops(
    judge: QuestionJudge, lines: Sequence[QueryLine], base: Interpreter, keep: bool = False
) -> dict[str, dict[str, float]]:
    """By question, how much more average precision `base` reaches without each of its words that many others have.

    `keep` the rankings, which takes much room, where this is measured again with another interpreter.
    """
    words = {line.id: judge.find_words(line) for line in lines}
    count = Counter(word for line in lines for word in words[line.id])
    found: dict[str, dict[str, float]] = {line.id: {} for line in lines}
    before = {one.id: ask_judged(one, base).precision for one in judge.judge(lines, base.dropped)}
    for word in sorted(word for word, n in count.items() if n >= LEAST_TRIED and word not in base.dropped):
        having = [line for line in lines if word in words[line.id]]
        for one in judge.judge(having, join_words(base.dropped, (word,)), keep):
            found[one.id][word] = ask_judged(one, base).precision - before[one.id]
    return found


def choose_dropped(gains: Iterable[Mapping[str, float]]) -> tuple[str, ...]:
    """The words without which questions are answered better, from the gains of each question."""
    by_word: dict[str, list[float]] = {}
    for gain in gains:
        for word, amount in gain.items():
            by_word.setdefault(word, []).append(amount)
    return tuple(
        word
        for word, own in sorted(by_word.items())
        if len(own) >= LEAST_TRIED and sum(own) / (len(own) + NO_GAIN) > LEAST_GAIN
    )


def join_words(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """The words of both."""
    return tuple(sorted({*one, *other}))


def train_folds(
    judge: QuestionJudge, lines: Sequence[QueryLine], base: Interpreter, folds: int = FOLDS, seed: int = 0
) -> Iterator[tuple[Interpreter, list[JudgedQuestion]]]:
    """For each fold an interpreter that was trained on the others, on top of `base`, and the fold's questions."""
    fold, gains = assign_folds(len(lines), folds, seed), measure_drops(judge, lines, base)
    for k in range(folds):
        train = [line for line, f in zip(lines, fold, strict=True) if f != k]
        test = [line for line, f in zip(lines, fold, strict=True) if f == k]
        dropped = join_words(base.dropped, choose_dropped(gains[line.id] for line in train))
        yield train_interpreter(judge.judge(train, dropped), dropped, base), judge.judge(test, dropped)


def cross_validate_questions(
    judge: QuestionJudge, lines: Sequence[QueryLine], base: Interpreter, folds: int = FOLDS, seed: int = 0
) -> list[tuple[JudgedQuestion, Asked, int]]:
    """Each question as an interpreter reads it that was trained on the other folds, on top of `base`; and its fold."""
    found = enumerate(train_folds(judge, lines, base, folds, seed))
    return [(one, ask_judged(one, interpreter), k) for k, (interpreter, test) in found for one in test]


def calibrate_across(asked: Sequence[tuple[Asked, int]]) -> tuple[F64, NDArray[np.bool_]]:
    """Probabilities of answers by calibrations that were fitted to other folds, and whether the answers are good."""
    probability, good = [], []
    for k in sorted({fold for _one, fold in asked}):
        weights = fit_answers([one for one, fold in asked if fold != k])
        test = [one for one, fold in asked if fold == k]
        probability += [apply_calibration(one.known, weights) for one in test]
        good += [one.good for one in test]
    return np.concatenate(probability), np.concatenate(good)


def train_questions(
    index: Index,
    lines: Sequence[QueryLine],
    grades: dict[str, dict[str, int]],
    model: Model,
    base: Interpreter,
    seed: int = 0,
    progress: Progress | None = None,
) -> TrainedReading:
    """Train and calibrate how questions are read, with cross-validated figures."""
    progress = progress or Silent()
    judge = QuestionJudge(index, grades, model)
    lines = [line for line in lines if any(grade > 0 for grade in grades.get(line.id, {}).values())]
    before = judge.judge(lines, base.dropped)
    if len(before) < 2 * FOLDS:
        raise UsageError(f"{len(before)} judged questions can be read, and training needs {2 * FOLDS}; judge more")
    progress.update(1, 3, "ranked")
    validated = cross_validate_questions(judge, lines, base, FOLDS, seed)
    progress.update(2, 3, "validated")
    asked = [(one, fold) for _question, one, fold in validated]
    error, bins = measure_calibration(*calibrate_across(asked))
    dropped = join_words(base.dropped, choose_dropped(measure_drops(judge, lines, base).values()))
    trained = train_interpreter(judge.judge(lines, dropped), dropped, base)
    trained = replace(trained, calibration=fit_answers([one for one, _fold in asked]))
    progress.update(3, 3, "trained")
    return TrainedReading(
        replace(trained, provenance={**base.provenance, "questions": len(before), "seed": seed}),
        len(before),
        float(np.mean([ask_judged(one, base).precision for one in before])),
        float(np.mean([one.precision for one, _fold in asked])),
        error,
        bins,
    )

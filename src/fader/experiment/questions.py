"""Judged questions: an interpreter trained from answers alone, and what reading costs, without leaks.

A question keeps the entities in the order of their evidence, as `search.ask` has them, and which of them are good. The
associations of words with type names, the words that many questions have, and the weights all come from the training
questions; a training question's own answers are taken out of the associations before its features are computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fader.corpus.queries import QueryLine
from fader.errors import FaderError
from fader.measures import average_precision
from fader.questions.interpreter import Interpreter
from fader.questions.mixture import find_members, score_mixture, value_ranks
from fader.questions.reader import MOST_READINGS, Reader, softmax
from fader.questions.train import QuestionData, count_associations, fit_weights, prune_associations
from fader.questions.words import Words, language
from fader.search.ask import read_question
from fader.search.index import Index
from fader.search.models import DEFAULT, resolve_model

I32 = NDArray[np.int32]
MOST_BAD = 400  # candidates of a question, by evidence, that training sets against the good ones
MOST_TYPES = 60
FRAME_SHARE = 0.05  # of the questions of a file have a word that belongs to their frame


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
    good: NDArray[np.bool_]
    relevant: int
    shares: dict[str, float]


def find_frame(lines: Sequence[QueryLine]) -> tuple[str, ...]:
    """The words that many questions of a file have, beside function words."""
    data = language()
    count: Counter[str] = Counter()
    for line in lines:
        count.update({word.strip("?!.,:;\"'()").casefold() for word in line.question.split()})
    least = max(5.0, FRAME_SHARE * len(lines))
    known = data["function_words"] | data["question_words"]
    return tuple(sorted(word for word, n in count.items() if word and n >= least and word not in known))


def judge_questions(
    index: Index,
    lines: Sequence[QueryLine],
    grades: dict[str, dict[str, int]],
    frame: tuple[str, ...],
    model: str = DEFAULT,
) -> list[JudgedQuestion]:
    """Rank the candidates of every question that has a good entity; one that cannot be read is left out."""
    collection, system = index.collection, resolve_model(model, index.collection).system
    catalog, reader = collection.catalog, Reader(collection.catalog)
    options, how = system.view.match_options(index.limits), Interpreter(frame=frame)
    at, above = catalog.ancestors()
    found = []
    for line in lines:
        ids = [entity for entity, grade in grades.get(line.id, {}).items() if grade > 0]
        good = [e for e in (catalog.entity_ids.find(entity) for entity in ids) if e >= 0]
        if not good:
            continue
        try:
            words = reader.split(line.question)
            _read, query = read_question(collection, reader, line.question, how, options, index.limits)
        except FaderError:
            continue
        every = len(catalog.entity_ids)
        ranked = collection.evidence(query, options, system, every, with_rows=False).ranking.entity
        shares: dict[str, float] = {}
        for e in good:
            types = catalog.entity_types[catalog.entity_types_at[e] : catalog.entity_types_at[e + 1]].tolist()
            parts = (part for t in types for a in above[at[t] : at[t + 1]].tolist() for part in reader.names.parts[a])
            for name in {" ".join(part) for part in parts}:
                shares[name] = shares.get(name, 0.0) + 1.0 / len(good)
        is_good = np.isin(ranked, good)
        found.append(JudgedQuestion(line.id, reader, words, reader.hints(words), ranked, is_good, len(ids), shares))
    return found


def train_interpreter(questions: Sequence[JudgedQuestion], frame: tuple[str, ...] = ()) -> Interpreter:
    """An interpreter from judged questions, of one index or of several together."""
    counted = count_associations([one.hints for one in questions], [one.shares for one in questions])
    start = Interpreter(associations=prune_associations(counted), frame=frame)
    return fit_weights(start, [_prepare(one, start) for one in questions])


def _prepare(question: JudgedQuestion, interpreter: Interpreter) -> QuestionData:
    """A question as training sees it, without its own share of the associations."""
    found = question.reader.find_candidates(question.words, interpreter, question.shares)
    kept = np.argsort(-(found.phi @ np.array(interpreter.weights)), kind="stable")[:MOST_TYPES]
    rows = np.flatnonzero(question.good | (np.arange(question.good.size) < MOST_BAD))
    member = find_members(question.reader.catalog, found.types[kept].tolist(), question.entity[rows])
    values = value_ranks(question.entity.size)[rows]
    return QuestionData(found.phi[kept], member, values, question.good[rows])


def measure_question(question: JudgedQuestion, interpreter: Interpreter) -> tuple[float, list[int]]:
    """Average precision over all readings, and the types of the readings, the most probable first (-1: none)."""
    found = question.reader.find_candidates(question.words, interpreter)
    probability = softmax(found.phi @ np.array(interpreter.weights))
    kept = np.argsort(-probability, kind="stable")[:MOST_READINGS]
    types = found.types[kept].tolist()
    member = find_members(question.reader.catalog, types, question.entity)
    values = value_ranks(question.entity.size)
    share = probability[kept] / probability[kept].sum()
    scores = score_mixture(values, member, share, interpreter.temperature)
    precision = average_precision(scores, question.entity, question.good.astype(np.int64), question.relevant)
    return precision, types

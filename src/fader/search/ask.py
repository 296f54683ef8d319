"""Plain questions on a collection: read, ranked over all readings, shown with evidence.

    1. the question is read (`questions.reader`): types with probabilities, and literals
    2. a name is required; a literal that occurs nowhere is corrected by the catalog's words, and this is said; literals
       match by stems and by the entities that they name
    3. every entity is ranked once, without a type, by the model
    4. s(e|q) = ln sum of the probabilities of the readings that cover e - b ln rank(e)      (`questions.mixture`)

Knows nothing of training.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.allowance import claim
from fader.contexts.match import MatchOptions
from fader.contexts.query import REQUIRED, Literal, Query, parse_query
from fader.contexts.statistics import Statistics
from fader.index.names import fold
from fader.learn.interpreter import Interpreter, default_interpreter, read_interpreter
from fader.learn.model import Model
from fader.limits import Limits
from fader.notebook import to_pandas, to_polars
from fader.questions.calibration import apply_calibration, describe_answers, suggest_cut
from fader.questions.mixture import find_members, score_mixture, share_readings, value_ranks
from fader.questions.reader import Choice, Read, Reader, Reading
from fader.rank.ranking import ShownContexts, explain_entity, order_entities
from fader.rank.system import System
from fader.search.answer import AnsweredQuery, QueryLiteral, Snippet
from fader.search.collection import Collection, RankedContexts
from fader.search.display import results_to_arrow, show_results
from fader.search.evidence import show_contexts, show_evidence
from fader.search.local import rank_contexts
from fader.search.passage import Passage
from fader.search.staged import StagedRanking, rank_by_evidence

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
SHORTEST_CORRECTED = 4
MOST_COMPARED = 50_000  # words of the catalog that a misspelt one is compared with
LIKENESS = 80.0
MOST_WITH_NAME = 7  # literals of a question whose name is required
READING_BYTES = 64  # of a candidate under a reading
MOST_DEEP = 500  # entities by evidence whose best contexts are found together with their ranks


@dataclass(frozen=True, slots=True)
class ReadingShare:
    """What one reading contributes to the score of an entity: the contributions of all add up to it."""

    type: str | None
    probability: float
    contribution: float


@dataclass(frozen=True, slots=True)
class AskedReading:
    """One way to read a question: the type that is asked for, of so many entities, and the literals.

    `type` and `query` are what a typed search takes. `features` are what its probability was computed from.
    """

    type: str | None
    name: str
    entities: int
    query: str
    literals: list[QueryLiteral]
    probability: float
    reason: str
    features: dict[str, float]

    @classmethod
    def of(cls, reading: Reading, query: AnsweredQuery) -> AskedReading:
        about = reading.type, reading.name, reading.entities
        return cls(*about, query.text, query.literals, reading.probability, reading.reason, reading.features)


@dataclass(frozen=True, slots=True)
class AskedResult:
    """One entity of the answer to a question; `place` is its rank by evidence alone, among all entities.

    `probability` is how sure it is that the entity is right: null where the interpreter was not calibrated.
    """

    rank: int
    entity: str
    name: str
    types: list[str]
    score: float
    probability: float | None
    place: int
    support: int
    readings: list[ReadingShare]
    evidence: list[Snippet]


@dataclass(frozen=True, slots=True)
class AskedAnswer:
    """The whole answer to a question, with all ways to read it; `corrected` has misspelt words and what they became.

    All readings count, each by its probability, unless one was `chosen`. About `expected` of the candidates are right,
    and the first `cut` are the best to take; both are null where the interpreter was not calibrated.
    """

    question: str
    query: AnsweredQuery
    readings: list[AskedReading]
    chosen: AskedReading | None
    corrected: dict[str, str]
    took_ms: float
    matched_documents: int
    contexts: int
    candidates: int
    expected: float | None
    cut: int | None
    warnings: list[str]
    model: str
    results: list[AskedResult]

    def to_dict(self) -> dict[str, Any]:
        """Plain data in the order of the documented JSON."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    def __repr__(self) -> str:
        return f"AskedAnswer({self.question!r}, results={len(self.results)} of {self.candidates:,})"

    def __len__(self) -> int:
        return len(self.results)

    def __bool__(self) -> bool:
        return True  # an answer without results is an answer

    def __iter__(self) -> Iterator[AskedResult]:
        return iter(self.results)

    def __getitem__(self, place: int) -> AskedResult:
        return self.results[place]

    def _repr_html_(self) -> str:
        read = [f"{each.name}: {each.query} ({each.probability:.2f})" for each in self.readings[:3]]
        foot = f"read as {'; '.join(read) or 'nothing'}; {self.candidates:,} candidates; {self.model}"
        return show_results(self.results, self.question, foot, self.warnings)

    def to_arrow(self) -> Any:
        """A row per result, as an Arrow table."""
        return results_to_arrow(self.results)

    def to_pandas(self) -> Any:
        """A row per result, as a pandas frame."""
        return to_pandas(self.to_arrow())

    def to_polars(self) -> Any:
        """A row per result, as a Polars frame."""
        return to_polars(self.to_arrow())


@dataclass(frozen=True)
class RankedQuestion:
    """All entities that a reading covers, the best first, with what their scores are made of.

    `place` is the rank of each by evidence alone, from 0; `member` says which readings cover it. `probable` are the
    probabilities of the first entities, empty without a calibration.
    """

    read: Read
    query: Query
    options: MatchOptions
    entity: I32
    score: F64
    support: I64
    place: I64
    member: NDArray[np.bool_]
    probable: F64
    matched_documents: int
    contexts: int
    warnings: list[str]
    whole: RankedContexts | None  # the ranking by evidence with all its contexts, where it has them
    staged: StagedRanking | None  # that of a cascade with the contexts to be shown, where it has them

    @property
    def expected(self) -> float | None:
        """How many are right."""
        return float(self.probable.sum()) if self.probable.size else None

    @property
    def cut(self) -> int | None:
        """How many to take."""
        return suggest_cut(self.probable) if self.probable.size else None

    @property
    def probability(self) -> F64:
        """With which the readings count."""
        return weigh_readings(self.read)


def weigh_readings(read: Read) -> F64:
    """The probabilities of readings; of a chosen one 1."""
    if read.chosen is None:
        return np.array([reading.probability for reading in read.readings])
    alone = np.zeros(len(read.readings))
    alone[read.chosen] = 1.0
    return alone


def resolve_interpreter(given: Any, model: Model | None = None) -> Interpreter:
    """The interpreter that a name, a file or an object stands for; the default is the model's own where it has one."""
    if isinstance(given, Interpreter):
        return given
    if given == "default" and model is not None and model.interpreter is not None:
        return model.interpreter
    return default_interpreter() if given == "default" else read_interpreter(Path(given))


def match_question(system: System, limits: Limits, choice: Choice | None = None) -> MatchOptions:
    """How the literals of a question match: as the system has it, by stems and by the entities that they name.

    Who asks in plain words gives no synonyms and no forms. A query that a person wrote matches as in a search.
    """
    options = system.view.match_options(limits)
    is_written = choice is not None and choice.query is not None
    return options if is_written else replace(options, stem=True, entities=True)


def read_question(
    collection: Collection,
    reader: Reader,
    question: str,
    interpreter: Interpreter,
    options: MatchOptions,
    limits: Limits,
    correct: bool = True,
    choice: Choice | None = None,
) -> tuple[Read, Query]:
    """The readings of a question, and the query that is matched for all of them; a chosen one stays as it is."""
    choice = choice or Choice()
    read = reader.read(question, interpreter, choice=choice)
    if choice.query is not None:
        return read, parse_query(choice.query, collection.analysis, None, limits)
    query, counts = _count_literals(collection, read, options, limits)
    corrected = _correct(reader, query, counts) if correct else {}
    if corrected:
        read = reader.read(question, interpreter, corrected, choice)
        query, counts = _count_literals(collection, read, options, limits)
        said = [f"{old} occurs nowhere, and is read as {new}" for old, new in corrected.items()]
        read = replace(read, notes=[*said, *read.notes])
    query = _require_name(reader, query, counts, question)
    text = " ".join(_write_literal(one) for one in (*query.literals, *query.forbidden))
    readings = [replace(reading, query=text) for reading in read.readings]
    return replace(read, readings=readings), replace(query, text=text)


def _count_literals(
    collection: Collection, read: Read, options: MatchOptions, limits: Limits
) -> tuple[Query, Statistics]:
    query = parse_query(read.readings[0].query, collection.analysis, None, limits)
    return query, collection.count(query, options)


def _require_name(reader: Reader, query: Query, counts: Statistics, question: str) -> Query:
    """The query with one literal required: the name that fewest documents have, of equal ones the last.

    A question of many literals describes its answer, and what is written of the answer need not have each name.
    """
    literals, df = list(query.literals), counts.df.tolist()
    if len(literals) > MOST_WITH_NAME:
        return query
    places = [i for i, one in enumerate(literals) if df[i] > 0 and _is_name(reader, one.text, question)]
    if places:
        chosen = min(places, key=lambda i: (df[i], -i))
        literals[chosen] = replace(literals[chosen], mode=REQUIRED)
    return replace(query, literals=tuple(literals))


def _is_name(reader: Reader, text: str, question: str) -> bool:
    """Whether a literal is a name: a phrase, or a name of the catalog with a capital inside of the question."""
    begin, end = reader.catalog.entity_labels.equal(fold(text))
    return len(text.split()) > 1 or (text[:1].isupper() and question.find(text) > 0 and begin < end)


def _write_literal(literal: Literal) -> str:
    sign = {"required": "+", "forbidden": "-"}.get(literal.mode, "")
    return f'{sign}"{literal.text}"' if len(literal.text.split()) > 1 else sign + literal.text


def _correct(reader: Reader, query: Query, counts: Statistics) -> dict[str, str]:
    """Words of a query that occur nowhere, and the word of the catalog that each is most like, if one is like it."""
    from rapidfuzz import fuzz, process  # quick to import, but few questions need it

    found = {}
    for literal, df in zip(query.literals, counts.df.tolist(), strict=True):
        word = fold(literal.text)
        if df or len(literal.terms) != 1 or len(word) < SHORTEST_CORRECTED or not word.isalpha():
            continue
        near: dict[str, None] = {}
        for labels in (reader.catalog.type_labels, reader.catalog.entity_labels):
            a, b = labels.words.beginning(word[0])
            near |= dict.fromkeys(labels.words[i] for i in range(a, min(b, a + MOST_COMPARED)))
        best = process.extractOne(word, list(near), scorer=fuzz.ratio, score_cutoff=LIKENESS)
        if best is not None and not best[0].startswith(word) and not word.startswith(best[0]):  # no other form of it
            found[literal.text] = best[0]
    return found


def rank_question(
    collection: Collection,
    reader: Reader,
    question: str,
    interpreter: Interpreter,
    system: System,
    limits: Limits,
    correct: bool = True,
    choice: Choice | None = None,
    snippets: int = 0,
) -> RankedQuestion:
    """Rank all entities over all readings of a question; those of a chosen type alone, as a typed search does.

    So many `snippets` of each shown entity are going to be asked for.
    """
    options = match_question(system, limits, choice)
    read, query = read_question(collection, reader, question, interpreter, options, limits, correct, choice)
    if read.chosen is not None:
        query = replace(query, type=read.readings[read.chosen].type)
    budget.check()
    found, staged = rank_by_evidence(collection, query, options, system, snippets)
    ranking, contexts = staged or found.ranking, found.contexts
    budget.check()
    claim(READING_BYTES * max(1, len(read.readings)) * ranking.entity.size)
    member = find_members(collection.catalog, read.types, ranking.entity)
    values = value_ranks(ranking.entity.size)
    weights = weigh_readings(read)
    scores = score_mixture(values, member, weights, interpreter.temperature)
    place = order_entities(ranking.entity, scores, scores.size)
    place = place[np.isfinite(scores[place])]
    probable = np.empty(0)
    if interpreter.calibration:
        known = describe_answers(np.log(member[place] @ weights), place, ranking.score, float(weights.max()))
        probable = apply_calibration(known, interpreter.calibration)
    empty = [contexts.empty_because] if contexts.empty_because else []
    return RankedQuestion(
        read,
        query,
        options,
        ranking.entity[place],
        scores[place],
        ranking.support[place],
        place,
        member[place],
        probable,
        contexts.matched_documents,
        found.total,
        [*read.notes, *contexts.warnings, *empty],
        found if staged is None and len(contexts) == found.total else None,
        staged,
    )


def show_question(
    collection: Collection,
    found: RankedQuestion,
    system: System,
    k: int,
    snippets: int,
    passage: Passage = Passage(),  # noqa: B008 - a value that nothing changes
) -> list[AskedResult]:
    """The k best entities with their evidence and the readings that speak for each."""
    entities = found.entity[:k]
    shown = _cut_snippets(collection, found, entities, system, snippets, passage) if snippets and entities.size else {}
    described = collection.catalog.describe_entities(entities.tolist())
    share = share_readings(found.member[:k], found.probability)
    return [
        AskedResult(
            i + 1,
            entity,
            name,
            types,
            float(found.score[i]),
            _find_probability(found, i),
            int(found.place[i]) + 1,
            int(found.support[i]),
            _share_score(found, share[i], float(found.score[i])),
            shown.get(int(entities[i]), []),
        )
        for i, (entity, name, types) in enumerate(described)
    ]


def _cut_snippets(
    collection: Collection, found: RankedQuestion, entities: I32, system: System, snippets: int, passage: Passage
) -> dict[int, list[Snippet]]:
    """The snippets of entities. Those that evidence alone ranks high come with its ranking, which is quick."""
    if found.staged is not None:
        return found.staged.show(collection, entities, snippets, passage)
    places, whole = found.place[: entities.size].tolist(), found.whole
    if whole is not None:
        shares = [explain_entity(system, whole.contexts, whole.ranking, p) for p in places]
        return dict(
            zip(entities.tolist(), show_evidence(collection, whole.contexts, shares, snippets, passage), strict=True)
        )
    depth = max(places) + 1
    if depth <= MOST_DEEP:
        ranked = collection.evidence(found.query, found.options, system, depth, best=snippets)
        if ranked.shown is not None:
            at, row, share = ranked.shown.at, ranked.shown.row, ranked.shown.share
            spans = [slice(int(at[p]), int(at[p + 1])) for p in places]
            begin = np.cumsum([0, *(span.stop - span.start for span in spans)])
            rows = ShownContexts(
                begin, np.concatenate([row[span] for span in spans]), np.concatenate([share[span] for span in spans])
            )
            cut = show_contexts(collection, ranked.contexts, rows, passage)
            return dict(zip(entities.tolist(), cut, strict=True))
    ranked = rank_contexts(collection.rows(found.query, found.options, entities), system, int(entities.size))
    order = range(ranked.ranking.entity.size)
    shares = [explain_entity(system, ranked.contexts, ranked.ranking, i) for i in order]
    cut = show_evidence(collection, ranked.contexts, shares, snippets, passage)
    return dict(zip(ranked.ranking.entity.tolist(), cut, strict=True))


def _find_probability(found: RankedQuestion, i: int) -> float | None:
    if not found.probable.size:
        return None
    return float(found.probable[i]) if i < found.probable.size else 0.0


def _share_score(found: RankedQuestion, share: F64, score: float) -> list[ReadingShare]:
    """The contributions of the readings that cover an entity, the largest shares first."""
    order = [int(z) for z in np.argsort(-share, kind="stable") if share[z] > 0]
    readings = found.read.readings
    return [ReadingShare(readings[z].type, float(share[z]), float(share[z]) * score) for z in order]

"""A question to its readings: an answer type, or none, and a query of literals, each with a probability and a reason.

Types come from the words of the question, from what the question word expects (english.json) and from learned
associations; a log-linear model over `interpreter.FEATURES` weighs them. Literals are the words that carry content;
those that are a name in the catalog stay together as a phrase. The noun that says the type is a literal too: good
answers are called so, whichever type they have in the catalog.
Deterministic: equal probabilities are ordered by the size of the type, then by its number. Knows nothing of documents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from fader.errors import QueryError, UsageError, quote
from fader.index.catalog import StoredCatalog
from fader.index.names import name_key
from fader.index.offering import is_insult
from fader.learn.interpreter import FEATURES, Interpreter
from fader.questions.typenames import Named, TypeNames
from fader.questions.words import MOST_WORDS, Words, language, split_question

F64 = NDArray[np.float64]
MOST_READINGS = 24
MOST_ASSOCIATED = 20  # names of types per hint
LONGEST_PHRASE = 6
NONE = -1
NAMES_IT = "the question names it: "
ANYTHING = "anything"  # the name of no type
_SMOOTH = 0.02  # of shares, before their logarithm
_PRIOR = 2.0  # questions with any answers, in associations


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a question: `search(query, type)` asks exactly this."""

    type: str | None
    name: str
    entities: int
    query: str
    probability: float
    reason: str
    features: dict[str, float]


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person says of how a question is to be read: the literals, and the type or that any will do."""

    query: str | None = None
    type: str | None = None
    any_type: bool = False

    def __post_init__(self) -> None:
        if self.any_type and self.type is not None:
            raise UsageError(f"any_type leaves the type open, and type is {quote(self.type)}; give one of them")

    @property
    def has_type(self) -> bool:
        """Whether only one reading counts."""
        return self.any_type or self.type is not None


@dataclass(frozen=True)
class Candidates:
    """The types that a question may ask for, `NONE` last, and their features, a row each."""

    types: NDArray[np.int64]
    phi: F64
    because: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question says of types: those that it names, those above them, those that its question word expects."""

    words: Words
    head: int
    hints: tuple[str, ...]
    named: dict[int, Named]
    above: dict[int, int]
    expected: dict[int, float]
    own: dict[str, float]


@dataclass(frozen=True, slots=True)
class Read:
    """A question that was read: readings, the most probable first, and what a reader should know."""

    question: str
    readings: list[Reading]
    notes: list[str]
    corrected: dict[str, str]
    types: list[int]  # their numbers, -1 for none
    chosen: int | None = None  # the place of the only reading that counts, where one was chosen


@final
class Reader:
    """Reads questions for one catalog. Safe to share among threads; making it costs about 10 microseconds per type."""

    def __init__(self, catalog: StoredCatalog, names: TypeNames | None = None) -> None:
        self.catalog = catalog
        self.names = names or TypeNames(catalog)

    def read(
        self,
        question: str,
        interpreter: Interpreter,
        corrected: dict[str, str] | None = None,
        choice: Choice | None = None,
    ) -> Read:
        """The readings of a question; `corrected` words are replaced by others, and a `choice` holds."""
        words, choice = self.split(question), choice or Choice()
        query, notes = choice.query, list[str]()
        if query is None:
            query, notes = self.write_query(words, corrected or {}, frozenset(interpreter.dropped))
        every = self.find_candidates(words, interpreter)
        probability = softmax(every.phi @ np.array(interpreter.weights))
        order = np.lexsort((every.types, -self._size(every.types), -probability))[:MOST_READINGS]
        total = float(probability[order].sum())
        readings = [self._reading(every, int(i), query, float(probability[i]) / total) for i in order]
        read = Read(question, readings, notes, corrected or {}, every.types[order].tolist())
        if choice.has_type:
            return self._choose(read, choice, query)
        return replace(read, notes=[*notes, *self._note_senses(readings)])

    def _choose(self, read: Read, choice: Choice, query: str) -> Read:
        """Let one reading count alone: that of the chosen type, which may be none that the question was read as."""
        number = NONE if choice.type is None else self.catalog.resolve_type(choice.type)
        if number in read.types:
            return replace(read, chosen=read.types.index(number))
        type_id, name, size = None, ANYTHING, self.names.entities
        if number != NONE:
            type_id, name = self.catalog.type_ids[number], self.catalog.type_names[number]
            size = int(self.names.sizes[number])
        added = Reading(type_id, name, size, query, 0.0, "chosen", {})
        return replace(read, readings=[*read.readings, added], types=[*read.types, number], chosen=len(read.readings))

    def split(self, question: str) -> Words:
        """The words of a question; one without any is an error."""
        if not isinstance(question, str):
            raise UsageError(f"a question must be text, not {quote(question)}")
        words = split_question(question)
        if not words.folded:
            raise QueryError("the question has no words; ask for something, such as: Who painted Sunflowers?", 0)
        return words

    def _size(self, types: NDArray[np.int64]) -> F64:
        sizes = np.full(types.size, self.names.entities, dtype=np.float64)
        sizes[types != NONE] = self.names.sizes[types[types != NONE]]
        return sizes

    def _reading(self, found: Candidates, i: int, query: str, probability: float) -> Reading:
        number, catalog = int(found.types[i]), self.catalog
        features = {name: float(value) for name, value in zip(FEATURES, found.phi[i], strict=True) if value}
        if number == NONE:
            return Reading(None, ANYTHING, self.names.entities, query, probability, found.because[i], features)
        name, size = catalog.type_names[number], int(self.names.sizes[number])
        return Reading(catalog.type_ids[number], name, size, query, probability, found.because[i], features)

    def _note_senses(self, readings: list[Reading]) -> list[str]:
        """Say which sense of an ambiguous type name was taken first, and which others there are."""
        best = readings[0]
        named = best.reason.startswith(NAMES_IT)
        senses = [r for r in readings[1:] if r.type is not None and named and r.reason == best.reason]
        others = [r for r in senses if not is_insult(r.name)]
        if best.type is None or not others:
            return []
        said = quote(best.reason.removeprefix(NAMES_IT))
        names = ", ".join(f"{r.type} ({r.entities:,})" for r in others[:3])
        return [f"{said} is read as {best.type}, which has {best.entities:,} entities; it may also be {names}"]

    # Types

    def choose_head(self, words: Words) -> int:
        """The place of the noun that says what is asked for, -1 without any: of the words that may be it, one whose
        types have many entities, which a verb after it seldom has, and a late one.
        """
        sizes = self.names.sizes

        def weigh(i: int) -> tuple[float, int]:
            named = self.names.exact.get((words.lemmas[i],), ())
            expected = language()["expected"].get(words.lemmas[i], ())
            types = [*named, *(t for name in expected for t in self._of_name(name))]
            size = max((float(sizes[t]) for t in types), default=0.0)
            return math.log1p(size) + (i - words.run[0] if size else 0.0), i

        return max(words.run, key=weigh, default=-1)

    def hints(self, words: Words) -> tuple[str, ...]:
        """What may tell the type: the question word and the head noun."""
        head = self.choose_head(words)
        return (f"asks:{words.asks}", *((f"head:{words.lemmas[head]}",) if head >= 0 else ()))

    def find_candidates(
        self,
        words: Words,
        interpreter: Interpreter,
        own: dict[str, float] | None = None,
    ) -> Candidates:
        """All types that a question may ask for, with features; `own` is taken out of the associations, as training
        must not find a question's own answers there.
        """
        names, head = self.names, self.choose_head(words)
        skip = tuple(words.is_function(i) for i in range(len(words.folded)))
        named: dict[int, Named] = {}
        hinted = names.hinted(words.lemmas[head], head) if head >= 0 else []
        for one in [*hinted, *names.find(words.lemmas, skip)]:  # whole names after hints: they replace them
            before = named.get(one.type)
            if before is None or _closeness(one, head, words) >= _closeness(before, head, words):
                named[one.type] = one
        keys = [words.asks, words.lemmas[head]] if head >= 0 else [words.asks]
        expected: dict[int, float] = {}
        for key in keys:
            for place, name in enumerate(language()["expected"].get(key, ())):
                for t in self._of_name(name):
                    weight = names.share(t, name_key(name)) / (1.0 + place)
                    expected[t] = max(expected.get(t, 0.0), weight)
        above = self._find_above(named, head)
        asked = _Asked(words, head, self.hints(words), named, above, expected, own or {})
        types = sorted({*named, *expected, *above, *self._find_associated(asked, interpreter)})
        none = [0.0] * (len(FEATURES) - 1) + [1.0]
        phi = np.array([*(self._describe(t, asked, interpreter) for t in types), none])
        because = *(self._explain(t, asked) for t in types), "no type"
        return Candidates(np.array([*types, NONE], dtype=np.int64), phi, because)

    def _of_name(self, name: str) -> list[int]:
        return self.names.exact.get(name_key(name), [])

    def _find_above(self, named: dict[int, Named], head: int) -> dict[int, int]:
        """The types above those that the head noun names, and the smallest of these: catalogs lack fine types."""
        found: dict[int, int] = {}
        for t, one in named.items():
            if one.whole and one.begin + one.words - 1 == head:
                for each in self.names.above(t):
                    if each != t and (each not in found or self.names.sizes[t] < self.names.sizes[found[each]]):
                        found[each] = t
        return found

    def _find_associated(self, asked: _Asked, interpreter: Interpreter) -> set[int]:
        """The types of the names that go with the question's hints most often. After "which" and "what" the noun says
        what is asked for, and the question word adds no type: what others asked for by it is no matter here.
        """
        is_said = asked.head >= 0 and asked.words.asks in language()["heads_follow"]
        hints = asked.hints[1:] if is_said else asked.hints
        tables = (interpreter.associations.names.get(hint, {}) for hint in hints)
        best = (sorted(table.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_ASSOCIATED] for table in tables)
        return {t for pairs in best for name, _count in pairs for t in self._of_name(name)}

    def _describe(self, number: int, asked: _Asked, interpreter: Interpreter) -> list[float]:
        """The features of a type, in their order."""
        names, words, named = self.names, asked.words, asked.named.get(number)
        share = float(names.sizes[number]) / names.entities
        last = run = elsewhere = several = hinted = sense = 0.0
        if named is not None and named.whole:
            end = named.begin + named.words - 1
            last, run = float(end == asked.head), float(end in words.run and end != asked.head)
            elsewhere, several = float(end not in words.run), min(named.words - 1, 2) / 2
            sense = math.log(max(named.share, 1e-3))
        elif named is not None:
            hinted = 1.0 / named.words
        known = [_log_lift(interpreter, hint, names, number, share, asked.own) for hint in asked.hints]
        return [
            last,
            run,
            elsewhere,
            several,
            hinted,
            float(number in asked.above),
            asked.expected.get(number, 0.0),
            known[0],
            known[1] if len(known) > 1 else 0.0,
            math.log(share + _SMOOTH / 10),
            float(names.depths[number]) / 5.0,
            sense,
            float(share > 0.6),
            0.0,
        ]

    def _explain(self, number: int, asked: _Asked) -> str:
        words, head, named = asked.words, asked.head, asked.named.get(number)
        if named is not None:
            said = " ".join(words.folded[named.begin : named.begin + (named.words if named.whole else 1)])
            return f"{NAMES_IT}{said}" if named.whole else f"its name is about: {said}"
        if number in asked.expected and head >= 0 and words.lemmas[head] in language()["expected"]:
            return f"another word for {words.folded[head]}"
        if number in asked.expected:
            return f"what {words.asks} asks for"
        if number in asked.above:
            return f"above {self.catalog.type_names[asked.above[number]]}"
        return "such questions ask for it"

    # Literals

    def write_query(
        self, words: Words, corrected: dict[str, str], dropped: frozenset[str] = frozenset()
    ) -> tuple[str, list[str]]:
        """The literals in the query language, and notes; without `dropped` words where others are left."""
        n = len(words.folded)
        taken, pieces, notes = [False] * n, [], []
        for a, b in words.negated:
            content = [i for i in range(a + 1, b) if not words.is_function(i)]
            pieces.append((a, "-" + self._quote(words, content[0], b, corrected)))
            taken[a:b] = [True] * (b - a)
        for a, b in words.quoted:
            if not any(taken[a:b]):
                pieces.append((a, self._quote(words, a, b, corrected)))
                taken[a:b] = [True] * (b - a)
        for a, b in self.find_phrases(words, taken):
            pieces.append((a, self._quote(words, a, b, corrected)))
            taken[a:b] = [True] * (b - a)
        single = [i for i in range(n) if not taken[i] and not words.is_function(i)]
        kept = [i for i in single if words.folded[i] not in dropped]
        if not kept and all(text.startswith("-") for _a, text in pieces):
            kept = single
        pieces += [(i, self._quote(words, i, i + 1, corrected)) for i in kept]
        texts = list(dict.fromkeys(text for _a, text in sorted(pieces)))
        if not any(not text.startswith("-") for text in texts):
            raise QueryError(
                "the question has only question words and function words; say what the answer is known for", 0
            )
        if words.left_out:
            notes.append(f"the question has more than {MOST_WORDS} words; {words.left_out:,} are left out")
        return " ".join(texts), [*notes, *self._note_kind(words)]

    def find_phrases(self, words: Words, taken: list[bool]) -> list[tuple[int, int]]:
        """Spans of several words that are a name or alias in the catalog, the longest first from the left."""
        labels, found, i, n = self.catalog.entity_labels, [], 0, len(words.folded)
        while i < n - 1:
            best = 0
            if not taken[i] and (not words.is_function(i) or words.folded[i] == "the"):
                for length in range(2, min(LONGEST_PHRASE, n - i) + 1):
                    if taken[i + length - 1]:
                        break
                    text = " ".join(words.folded[i : i + length])
                    a, b = labels.beginning(text)
                    if a == b:
                        break
                    whole = labels.equal(text)
                    content = sum(not words.is_function(j) for j in range(i, i + length))
                    if whole[0] < whole[1] and content and not words.is_function(i + length - 1):
                        best = length
            if best:
                found.append((i, i + best))
            i += max(best, 1)
        return found

    def _quote(self, words: Words, a: int, b: int, corrected: dict[str, str]) -> str:
        """Some words as a literal."""
        texts = [words.text[s:e] for s, e in words.at[a:b]]
        texts = [corrected.get(text, text) for text in texts]
        return f'"{" ".join(texts)}"' if len(texts) > 1 else texts[0]

    def _note_kind(self, words: Words) -> list[str]:
        """Say what a ranking cannot answer."""
        data, text = language(), " ".join(words.folded)
        notes = [
            "how many there are is not counted; the list has the entities themselves, with evidence"
            for phrase in sorted(data["counts"])
            if f" {phrase} " in f" {text} "
        ][:1]
        extremes = sorted(set(words.folded) & data["superlatives"])
        if extremes and not notes:
            said = quote(extremes[0])
            notes.append(f"{said} is a word to be found near answers, as nothing is measured; the list is by evidence")
        return notes


def _closeness(named: Named, head: int, words: Words) -> tuple[bool, bool, bool, int]:
    """How well a place in the question names a type: whole, at the head noun, near it, and by how many words."""
    end = named.begin + named.words - 1 if named.whole else named.begin
    return named.whole, end == head, end in words.run, named.words


def _log_lift(
    interpreter: Interpreter, hint: str, names: TypeNames, number: int, share: float, own: dict[str, float]
) -> float:
    """ln of how much larger the share of good answers below a type's name is for a hint than that of all entities.

    Smoothed by some questions whose answers are like all entities.
    """
    if hint not in interpreter.associations.questions:
        return 0.0
    counted, table = interpreter.associations.questions.get(hint, 0.0), interpreter.associations.names.get(hint, {})
    keys = [(part, " ".join(part)) for part in names.parts[number]]
    counts = ((table.get(key, 0.0) - own.get(key, 0.0)) * names.share(number, part) for part, key in keys)
    count = max(counts, default=0.0)
    questions = max(0.0, counted - (1.0 if own else 0.0))
    good = (max(count, 0.0) + _PRIOR * share) / (questions + _PRIOR)
    return math.log((good + _SMOOTH) / (share + _SMOOTH))


def softmax(values: F64) -> F64:
    """Probabilities in proportion to exp(values)."""
    weight = np.exp(values - values.max())
    shares: F64 = weight / weight.sum()
    return shares

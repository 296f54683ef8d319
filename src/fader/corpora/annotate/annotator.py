"""Names, rules and choices put together: texts to mentions.

    annotator = Annotator.from_files("entities.tsv", "types.tsv", links=["linked.jsonl"])
    annotator.annotate("Marie Curie was born in Warsaw.")
    [Mention(start=0, end=11, entity="marie_curie", confidence=0.9), ...]

Knows nothing of files of documents: that is `texts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fader.arrays import F32, I32, I64
from fader.corpora.annotate.build import build
from fader.corpora.annotate.dictionary import Dictionary
from fader.corpora.annotate.match import Matcher, policy_number
from fader.corpora.annotate.names import Names, Rows, read_names
from fader.corpora.annotate.profiles import add_profiles, find_ambiguous, profile_catalog
from fader.corpora.annotate.resolve import Resolver
from fader.corpus.analysis import normalise, spans
from fader.errors import UsageError, quote
from fader.limits import Limits

THOUSANDTHS = 1000  # confidences are written so


class Mention(NamedTuple):
    """Characters `[start, end)` of a text that mean an entity."""

    start: int
    end: int
    entity: str
    confidence: float


@dataclass(slots=True)
class AnnotatedColumns:
    """The mentions of a batch of texts as arrays; `ends` has per text the end of its mentions."""

    start: I32
    end: I32
    entity: I32
    confidence: F32
    ends: I64


@dataclass(slots=True)
class Made:
    """What a dictionary was made of, for people."""

    entities: int = 0
    names: int = 0
    notes: list[str] = field(default_factory=list)


class Annotator:
    """A dictionary with a policy for overlaps and a least confidence; not for several threads at once."""

    def __init__(self, dictionary: Dictionary, overlaps: str = "longest", min_confidence: float = 0.0) -> None:
        if not 0.0 <= min_confidence <= 1.0:
            raise UsageError(f"min_confidence must be a number from 0 to 1, not {quote(min_confidence)}")
        self._policy, self._least = policy_number(overlaps), min_confidence
        self.dictionary = dictionary
        self._matcher, self._resolver = Matcher(dictionary), Resolver(dictionary)
        self._ids: dict[int, str] = {}

    @classmethod
    def from_files(
        cls,
        entities: Rows,
        types: Rows | None = None,
        links: Sequence[str | Path] = (),
        common_words: Iterable[str] | None = None,
        overlaps: str = "longest",
        min_confidence: float = 0.0,
        on_error: str = "fail",
        limits: Limits | None = None,
    ) -> Annotator:
        """An annotator for a catalog; `common_words` are the English ones unless given."""
        names = read_names(entities, types, on_error, limits)
        dictionary, _made = make_dictionary(names, links, common_words, limits)
        return cls(dictionary, overlaps, min_confidence)

    def annotate(self, text: str) -> list[Mention]:
        """The mentions of a text."""
        return self.annotate_all([text])[0]

    def annotate_all(self, texts: Sequence[str]) -> list[list[Mention]]:
        """The mentions of each text; half a surrogate pair is a character that no name has."""
        found = self.columns([t.encode("utf-8", "surrogatepass") for t in texts])
        rows = self.rows(found)
        bounds = [0, *found.ends.tolist()]
        return [[Mention(*row) for row in rows[a:b]] for a, b in pairwise(bounds)]

    def rows(self, found: AnnotatedColumns) -> list[tuple[int, int, str, float]]:
        """Start, end, entity's id and rounded confidence of each mention."""
        confidence = (thousandths(found.confidence) / THOUSANDTHS).tolist()
        numbers = found.entity.tolist()
        for number in set(numbers) - self._ids.keys():
            self._ids[number] = self.dictionary.entity_id(number)
        ids = map(self._ids.__getitem__, numbers)
        return list(zip(found.start.tolist(), found.end.tolist(), ids, confidence, strict=True))

    def columns(self, encoded: list[bytes]) -> AnnotatedColumns:
        """The mentions of UTF-8 texts."""
        tokens, term = self._matcher.scan(encoded)
        matches = self._matcher.match(tokens, term, self._policy)
        resolved = self._resolver.resolve(tokens, term, matches)
        start, end = tokens.first[matches.token], tokens.last[matches.token + matches.length - 1]
        columns = AnnotatedColumns(start, end, resolved.entity, resolved.confidence, matches.ends)
        if self._least <= 0:
            return columns
        keep = thousandths(resolved.confidence) / THOUSANDTHS >= self._least
        ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(keep)])[matches.ends]
        return AnnotatedColumns(start[keep], end[keep], resolved.entity[keep], resolved.confidence[keep], ends)


def thousandths(confidence: F32) -> I64:
    """Confidences as they are written, in thousandths."""
    return np.rint(confidence.astype(np.float64) * THOUSANDTHS).astype(np.int64)


@cache
def english_words() -> tuple[str, ...]:
    """The common words that ship with Fader."""
    lines = files("fader.corpora.annotate").joinpath("english.txt").read_text("utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def make_dictionary(
    names: Names,
    links: Sequence[str | Path] = (),
    common_words: Iterable[str] | None = None,
    limits: Limits | None = None,
) -> tuple[Dictionary, Made]:
    """The dictionary of a catalog's names, with what a linked corpus teaches where one is given."""
    given = english_words() if common_words is None else common_words
    common = frozenset(normalise(w[a:b]).encode() for w in given for a, b in spans(w))
    if links:
        from fader.corpora.annotate.links import build_from_links

        dictionary, made = build_from_links(names, links, common, limits)
    else:
        made = build(names, common)
        dictionary = add_profiles(made.dictionary, profile_catalog(names, find_ambiguous(made.dictionary)))
    return dictionary, Made(len(names.ids), made.names, names.notes + made.notes)

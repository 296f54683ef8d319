"""Text to terms, the same for documents, phrases and queries.

A token is a maximal run of characters of the Unicode categories L, M and N; its term is
`NFC(casefold(NFC(run)))`, then stemmed where a Snowball stemmer is set. Of more than 30 combining marks in a row only
the first 30 count, so that normalising takes linear time. A stop word keeps its position but has no term. This file is
the plain definition; `tokenise.py` is its compiled twin for whole corpora.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from fader.errors import UsageError, did_you_mean, quote
from fader.lazy import cached_property

_ASCII_RUN = re.compile("[0-9A-Za-z]+")
_RUN = re.compile(r"\S+")
STEMS = "english"
MOST_MARKS = 30  # as many as UAX #15 takes for enough in its stream-safe text format


class Token(NamedTuple):
    """A token: its term (None for a stop word) and its characters `[start, end)` in the text."""

    term: str | None
    start: int
    end: int


def spans(text: str) -> list[tuple[int, int]]:
    """The character spans of the tokens of a text."""
    if text.isascii():
        return [m.span() for m in _ASCII_RUN.finditer(text)]
    blank = {ord(c): " " for c in set(text) if unicodedata.category(c)[0] not in "LMN"}
    return [m.span() for m in _RUN.finditer(text.translate(blank))]


def cut_marks(text: str) -> str:
    """A text without the characters that follow on 30 combining ones (of a class other than 0) and combine too.

    Normal forms sort the marks of a letter, which takes quadratic time for their number.
    """
    if len(text) <= MOST_MARKS or text.isascii():
        return text
    kept, run = [], 0
    for character in text:
        run = run + 1 if unicodedata.combining(character) else 0
        if run <= MOST_MARKS:
            kept.append(character)
    return "".join(kept)


def normalise(run: str) -> str:
    """`NFC(casefold(NFC(run)))`, of a run whose marks are cut."""
    if run.isascii():
        return run.lower()
    run = cut_marks(run)
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", run).casefold())


@dataclass(frozen=True)
class Analysis:
    """How text becomes terms: recorded in the index, so that queries go the same way."""

    stemmer: str | None = None
    stopwords: tuple[str, ...] = ()
    unicode: str = unicodedata.unidata_version

    def __post_init__(self) -> None:
        object.__setattr__(self, "stopwords", tuple(sorted({normalise(w) for w in self.stopwords})))
        if self.stemmer is not None:
            import Stemmer

            known = Stemmer.algorithms()
            if self.stemmer not in known:
                hint = did_you_mean(self.stemmer, known)
                raise UsageError(f"unknown stemmer {quote(self.stemmer)}{hint or '; known: ' + ', '.join(known)}")

    @cached_property
    def _stem(self) -> Any:
        if self.stemmer is None:
            return None
        import Stemmer

        return Stemmer.Stemmer(self.stemmer).stemWord

    @cached_property
    def _stop(self) -> frozenset[str]:
        return frozenset(self.stopwords)

    @property
    def stems(self) -> str:
        """The language by whose stems words can be looked for; empty where terms are stems already."""
        return "" if self.stemmer is not None else STEMS

    @property
    def is_plain(self) -> bool:
        """Whether an ASCII run's term is just its lower case."""
        return self.stemmer is None and not self.stopwords

    def term(self, run: str) -> str | None:
        """The term of one token, None for a stop word."""
        word = normalise(run)
        if word in self._stop:
            return None
        return self._stem(word) if self._stem is not None else word

    def tokens(self, text: str) -> list[Token]:
        """All tokens of a text."""
        return [Token(self.term(text[a:b]), a, b) for a, b in spans(text)]

    def to_dict(self) -> dict[str, Any]:
        return {"stemmer": self.stemmer, "stopwords": list(self.stopwords), "unicode": self.unicode}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Analysis:
        return cls(given["stemmer"], tuple(given["stopwords"]), given["unicode"])


def read_stopwords(lines: Iterable[str]) -> tuple[str, ...]:
    """Stop words, one a line; `#` opens a comment."""
    words = (line.split("#", 1)[0].strip() for line in lines)
    return tuple(sorted({normalise(w) for w in words if w}))

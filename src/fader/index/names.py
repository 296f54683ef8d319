"""Labels of things and the words in them, folded, sorted and stored: what completion looks up.

A thing (an entity or a type) has labels: its name first, then others. A label is folded so that case and accents do not
matter: `fold`. Its words are the maximal runs of letters, marks and numbers that are left, as in `corpus.analysis`.

    K_folded        the folded labels of things of kind K, sorted; of a thing each once        row = place in it
    K_folded_of     the thing of each row; rows of equal labels ascend by thing
    K_folded_name   for each thing the row of its name
    K_word          the distinct words of all rows, sorted
    K_rows_at, K_rows   for each word, ascending, the rows that have it, laid end to end

So the labels that begin with a text are one range of rows, and the labels with a word that begins so are one piece of
`K_rows`, in which a label stands once for each such word. Knows nothing of popularity, or of which match is the best.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.corpus.analysis import cut_marks, spans
from fader.corpus.singular import find_singular
from fader.corpus.strings import join_strings, lower_strings, mark_new, sort_distinct, sort_strings, take_strings
from fader.corpus.tokenise import RawVocabulary
from fader.index.encoding.shapes import Source, check_array, check_offsets, check_range, damage_error
from fader.index.encoding.strings import Joined, Sink, SortedStrings, narrow, write_sorted
from fader.kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
BATCH = 1 << 22  # bytes of labels that are cut into words at once

# Letters that readers take for others with an accent, or for two, but that Unicode does not take apart.
_LETTERS = {"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe"}
_PLAIN = str.maketrans(_LETTERS)
_SYNONYMS = re.compile(r"\s+or\s+|[,;/]")


def fold(text: str) -> str:
    """NFKD(casefold(NFKD(text))) without the marks that combine, some letters made plain, blanks as single spaces.

    A mark combines if its combining class is not 0: accents and points do, vowel signs of Indian scripts do not.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", cut_marks(text)).casefold())
    return " ".join("".join([c for c in apart if not unicodedata.combining(c)]).translate(_PLAIN).split())


def words_of(folded: str) -> list[str]:
    """The words of a folded text, in order."""
    return [folded[a:b] for a, b in spans(folded)]


def name_key(text: str) -> tuple[str, ...]:
    """The name of a type as it is compared where case, accents and number do not matter: its words as singulars."""
    return tuple(map(find_singular, words_of(fold(text))))


def split_synonyms(name: str) -> list[str]:
    """The synonyms that the name of a type lists: "film, movie, picture", "chemical or drug"."""
    return _SYNONYMS.split(name)


class InMemory:
    """Arrays by name, written and read like those of a file."""

    path = "labels in memory"

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}
        self.meta: dict[str, Any] = {}

    def array(self, name: str, values: NDArray[Any]) -> None:
        self._arrays[name] = values

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name]


def write_names(sink: Sink, kind: str, labels: Labels) -> None:
    """Store the labels of all things."""
    folded, at = lower_strings(labels.data, labels.at, fold, squeeze=True)
    order = sort_strings(folded, at[:-1], at[1:])
    owner = labels.owner[order]
    # A thing's label that it has already makes no new row.
    kept = (mark_new(folded, at[:-1], at[1:], order) > 0) | (np.diff(owner, prepend=-1) != 0)
    place = np.empty(order.size, dtype=np.int32)
    place[order] = np.cumsum(kept, dtype=np.int32) - 1
    joined = Joined(*take_strings(folded, at[:-1], at[1:], order[kept]))
    write_sorted(sink, kind + "_folded", joined)
    sink.array(kind + "_folded_of", owner[kept])
    sink.array(kind + "_folded_name", place[labels.first])
    words, raw, ends = _split_words(joined)
    write_sorted(sink, kind + "_word", words)
    rows_at, rows = _postings(raw, ends, len(words))
    sink.array(kind + "_rows_at", narrow(rows_at))
    sink.array(kind + "_rows", rows)


@dataclass(frozen=True)
class Labels:
    """Labels laid end to end: label i is `data[at[i]:at[i+1]]`, of thing `owner[i]`; `first` is the name of each."""

    data: U8
    at: I64
    owner: I32
    first: I64

    @classmethod
    def of(cls, labels: Iterable[Sequence[str]]) -> Labels:
        """The labels of all things, of each its name first."""
        flat, first = list[str](), [0]
        for each in labels:
            flat += each
            first.append(len(flat))
        begin = np.array(first, dtype=np.int64)
        owner = np.repeat(np.arange(begin.size - 1, dtype=np.int32), np.diff(begin))
        return cls(*join_strings(flat), owner, begin[:-1])


def _split_words(labels: Joined) -> tuple[Joined, I32, I64]:
    """The distinct words, sorted; the number of each word as it stands in the labels; the end of each label's words."""
    vocabulary = RawVocabulary()
    numbers, ends, before, a = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int64)], 0, 0
    while a < len(labels):
        b = max(a + 1, int(np.searchsorted(labels.at, labels.at[a] + BATCH, side="right")) - 1)
        piece = labels.data[labels.at[a] : labels.at[b]]
        tokens = vocabulary.tokenise(piece, labels.at[a + 1 : b + 1] - labels.at[a])
        numbers.append(tokens.raw.copy())
        ends.append(tokens.ends + before)
        before, a = before + tokens.raw.size, b
    data, at, rank = sort_distinct(*vocabulary.joined())
    return Joined(data, at), rank[np.concatenate(numbers)], np.concatenate(ends)


@kernel
def _postings(word: I32, ends: I64, words: int) -> tuple[I64, I32]:
    """For each word the rows that have it, each once, as offsets and values."""
    last = np.full(words, -1, dtype=np.int32)
    at, put, out = np.zeros(words + 1, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    for fill in range(2):
        if fill:
            for w in range(words):
                at[w + 1] += at[w]
            put, out = at[:-1].copy(), np.empty(at[words], dtype=np.int32)
            last[:] = -1
        t = 0
        for row in range(ends.size):
            while t < ends[row]:
                w = word[t]
                if last[w] != row:
                    last[w] = row
                    if fill:
                        out[put[w]] = row
                        put[w] += 1
                    else:
                        at[w + 1] += 1
                t += 1
    return at, out


class StoredNames:
    """The stored labels of one kind of things."""

    def __init__(self, source: Source, kind: str, things: int) -> None:
        self._source, self._kind = source, kind
        self.labels = SortedStrings(source, kind + "_folded")
        self.owner: I32 = check_array(source, kind + "_folded_of", "i4", size=len(self.labels))
        check_range(source, kind + "_folded_of", self.owner, things)
        self.name_row: I32 = check_array(source, kind + "_folded_name", "i4", size=things)
        check_range(source, kind + "_folded_name", self.name_row, len(self.labels))
        self.words = SortedStrings(source, kind + "_word")
        self._rows: I32 = check_array(source, kind + "_rows", "i4")
        check_range(source, kind + "_rows", self._rows, len(self.labels))
        self._rows_at = check_offsets(source, kind + "_rows_at", len(self.words), self._rows.size, "u4", "u8")

    @classmethod
    def of(cls, labels: Iterable[Sequence[str]]) -> StoredNames:
        """The same made in memory, for an index that does not store it."""
        memory, own = InMemory(), Labels.of(labels)
        write_names(memory, "", own)
        return cls(memory, "", own.first.size)

    def equal(self, folded: str) -> tuple[int, int]:
        """The rows [a, b) of the labels that are this text."""
        return self.labels.equal(folded)

    def beginning(self, folded: str) -> tuple[int, int]:
        """The rows [a, b) of the labels that begin with this text."""
        return self.labels.beginning(folded)

    def with_word(self, beginning: str) -> I32:
        """The rows of labels with a word that begins so; a row with several such words stands there as often."""
        a, b = self.words.beginning(beginning)
        rows: I32 = self._rows[int(self._rows_at[a]) : int(self._rows_at[b])]
        return rows

    def by_popularity(self, popularity: NDArray[Any]) -> I32:
        """All things, the most popular first, then by folded name, then by number."""
        # Rows of names are in that order, and different for different things.
        key = (popularity.max(initial=0) - popularity.astype(np.int64)) << 32 | self.name_row
        key.sort()
        ordered: I32 = self.owner[key & 0xFFFFFFFF]
        if (np.bincount(ordered, minlength=ordered.size) != 1).any():  # kernels count on each of them
            raise damage_error(self._source, f"names of {self._kind or 'things'} belong to others")
        return ordered

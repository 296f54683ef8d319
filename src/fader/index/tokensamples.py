"""Where every 64th token of a text begins, so that any token is found by walking over 63 others at most.

The samples of a text are those of its tokens 64, 128, ...; token 0 is found from the text's beginning. A sample is the
token's first character, and how many bytes more than characters stand before it in UTF-8: none in a text of ASCII,
which takes no bits then.

    samples of text r := rows sample_at[r] to sample_at[r+1] of sample_character and sample_extra (packed columns)

Knows nothing of what the tokens are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.index.encoding.packed import Packed, check_ends, write_packed
from fader.index.format import Container, FileWriter
from fader.kernel import kernel

EVERY_BITS = 6
EVERY = 1 << EVERY_BITS
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples of some texts, one text after the other: how many each has, and their columns."""

    count: I32
    character: I32
    extra: I32

    @classmethod
    def join(cls, parts: list[Samples]) -> Samples:
        columns = zip(*((p.count, p.character, p.extra) for p in parts), strict=True)
        return cls(*map(np.concatenate, columns)) if parts else cls(*np.empty((3, 0), dtype=np.int32))


@kernel
def _sample(text: U8, ends: I64, begin: I32, tokens_end: I64, count: I32, character: I32, extra: I32) -> int:
    n, t = 0, 0
    for d in range(ends.size):
        i = ends[d - 1] if d > 0 else 0
        characters, more = 0, 0
        count[d] = max(0, tokens_end[d] - t - 1) >> EVERY_BITS
        for token in range(t + EVERY, tokens_end[d], EVERY):
            within = 0  # bytes that do not begin a character
            for j in range(i, begin[token]):
                within += (text[j] & 0xC0) == 0x80
            characters += begin[token] - i - within
            more += within
            i = np.int64(begin[token])
            character[n], extra[n] = characters, more
            n += 1
        t = tokens_end[d]
    return n


def sample_tokens(text: U8, ends: I64, begin: I32, tokens_end: I64) -> Samples:
    """The samples of texts laid end to end.

    Given are the end of each text, the first byte of each token among those of all texts, and the end of each text's
    tokens.
    """
    count = np.empty(ends.size, dtype=np.int32)
    character, extra = np.empty((2, (begin.size >> EVERY_BITS) + 1), dtype=np.int32)
    n = _sample(text, ends, begin, tokens_end, count, character, extra)
    return Samples(count, character[:n], extra[:n])


def write_samples(writer: FileWriter, samples: Samples) -> None:
    """Store the samples of all texts of a file."""
    at = np.zeros(samples.count.size + 1, dtype=np.int32)
    np.cumsum(samples.count, out=at[1:])
    write_packed(writer, "sample_at", at)
    write_packed(writer, "sample_character", samples.character)
    write_packed(writer, "sample_extra", samples.extra)


class StoredSamples:
    """The samples of the texts of a file."""

    def __init__(self, container: Container, texts: int) -> None:
        self.at, self.character = Packed(container, "sample_at", texts + 1), Packed(container, "sample_character")
        self.extra = Packed(container, "sample_extra", self.character.rows)
        check_ends(container, "sample_at", self.at, self.character.rows)

    @property
    def arrays(self) -> tuple[Any, Any, Any]:
        """The packed columns, for kernels."""
        return self.at.arrays, self.character.arrays, self.extra.arrays

    def take(self, rows: I32) -> Samples:
        """Those of some texts."""
        begin = self.at.gather(rows)
        count = self.at.gather(rows + np.int32(1)) - begin
        before = np.cumsum(count, dtype=np.int32) - count
        which = np.arange(count.sum(), dtype=np.int32) + np.repeat(begin - before, count)
        return Samples(count, self.character.gather(which), self.extra.gather(which))

"""The sentences of texts, stored: where each begins, in tokens.

    sentences of text r := rows sentence_at[r] to sentence_at[r+1] of sentence_gap (packed columns)

A gap is the number of tokens from the beginning of the sentence before; a text's first sentence begins with the text
and is not stored. Where none are stored, as in files before version 5, they are found in the texts, if these are kept;
else a text is one sentence. The rule is in `corpus.sentences`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fader.allowance import claim
from fader.corpus.sentences import Sentences, find_sentences
from fader.corpus.tokenise import batch_bytes, scan_tokens
from fader.index.encoding.packed import Packed, check_ends, write_packed
from fader.index.format import Container, FileWriter

if TYPE_CHECKING:
    from fader.index.textstore import TextStore

I32 = NDArray[np.int32]
SENTENCE_BYTES = 40  # of a sentence, read and laid out


def write_sentences(writer: FileWriter, sentences: Sentences) -> None:
    """Store the sentences of all texts of a file."""
    at = np.zeros(sentences.count.size + 1, dtype=np.int32)
    np.cumsum(sentences.count, out=at[1:])
    write_packed(writer, "sentence_at", at)
    write_packed(writer, "sentence_gap", sentences.gap)


class StoredSentences:
    """The sentences of the texts of a file."""

    def __init__(self, container: Container, texts: int) -> None:
        self.at, self.gap = Packed(container, "sentence_at", texts + 1), Packed(container, "sentence_gap")
        check_ends(container, "sentence_at", self.at, self.gap.rows)

    def take(self, rows: I32) -> Sentences:
        """Those of some texts."""
        begin = self.at.gather(rows)
        count = self.at.gather(rows + np.int32(1)) - begin
        claim(SENTENCE_BYTES * int(count.sum()))
        before = np.cumsum(count, dtype=np.int32) - count
        which = np.arange(count.sum(), dtype=np.int32) + np.repeat(begin - before, count)
        return Sentences(count, self.gap.gather(which))


def read_sentences(store: TextStore, documents: I32) -> Sentences:
    """The sentences of some documents."""
    if store.sentences is not None:
        return store.sentences.take(store.row[documents])
    if not store.keeps_text:
        return Sentences(np.zeros(documents.size, dtype=np.int32), np.empty(0, dtype=np.int32))
    data, ends = batch_bytes([store.read_text(d) for d in documents.tolist()])
    begin, end, tokens_end = scan_tokens(data, ends)
    return find_sentences(data, begin, end, tokens_end)

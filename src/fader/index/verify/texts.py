"""What must hold among the stored documents of a segment, and that every reader relies on.

    ids ascend; `row` names every text once; texts are UTF-8, each with the tokens that its document has, and samples
    and sentences are those of the tokens; frames, or the blocks of older versions, are of the size they should have

Tokens are compared only in the Unicode that the index was built in. The container is opened and its checksum compared
already. The first thing wrong is a `DamagedError` that names the file. Knows nothing of the segment's other files.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import numpy as np
import zstandard
from numpy.typing import NDArray

from fader.corpus.analysis import Analysis
from fader.corpus.sentences import Sentences, find_sentences
from fader.corpus.tokenise import scan_tokens
from fader.index.encoding.shapes import check_array, check_flag, check_offsets, damage_error
from fader.index.encoding.strings import check_text
from fader.index.format import WITH_FRAMES, Array, Container
from fader.index.sentences import StoredSentences
from fader.index.textframes import FRAME_BYTES, Frames
from fader.index.tokensamples import Samples, StoredSamples, sample_tokens
from fader.index.verify.structure import CHUNK, check_ascending, check_strings

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
LARGEST = 1 << 31  # bytes of a text, or of a block of texts


def check_stored(container: Container, documents: int, tokens: I64, analysis: Analysis) -> None:
    """Ids, titles, urls and priors of documents, and their texts; `tokens` is how many each document has."""
    c = container
    data, at = check_strings(c, "id", documents)
    as_they_are = np.arange(documents, dtype=np.int32)
    is_old = c.version == 1
    order = _check_permutation(c, "id_order", documents) if is_old else as_they_are
    check_ascending(c, "id", data, at, order)
    for name in ("title", "url"):
        check_strings(c, name, documents)
    if not np.isfinite(check_array(c, "prior", "f8", size=documents)).all():
        raise damage_error(c, "a prior is not finite")
    check_flag(c, "keeps_text")
    row = as_they_are if is_old else _check_permutation(c, "row", documents)
    lengths = np.empty(documents, dtype=np.int64)
    lengths[row] = tokens
    known = lengths if analysis.unicode == unicodedata.unidata_version else None
    if c.version >= WITH_FRAMES:
        _check_texts(c, documents, known)
    else:
        _check_blocks(c, documents, known)


def _check_permutation(c: Container, name: str, size: int) -> I32:
    values = check_array(c, name, "i4", size=size)
    if size and (values.min() < 0 or values.max() >= size or (np.bincount(values, minlength=size) != 1).any()):
        raise damage_error(c, f"{name!r} does not name every document once")
    return values


def _check_texts(c: Container, documents: int, lengths: I64 | None) -> None:
    """Frames that decompress to texts; `lengths` are the tokens of each text, where known."""
    document_at = check_array(c, "document_at", "u4", "u8", size=documents + 1)
    size = int(document_at[-1])
    check_offsets(c, "document_at", documents, size, "u4", "u8")
    check_offsets(c, "frame_at", -(-size // FRAME_BYTES), check_array(c, "text", "u1").size, "u4", "u8")
    check_array(c, "dictionary", "u1")
    if not c.meta["keeps_text"] and size:
        raise damage_error(c, "texts are said not to be kept, but are there")
    samples, sentences, frames = _check_samples(c, documents), _check_sentences(c, documents, lengths), Frames(c, size)
    for a, b in _batches(document_at):
        start, end = int(document_at[a]), int(document_at[b])
        if end - start > LARGEST:
            raise damage_error(c, f"text {a} has {end - start} bytes, more than {LARGEST}")
        data = np.frombuffer(frames.read(start, end), dtype=np.uint8)
        ends = document_at[a : b + 1].astype(np.int64) - start
        check_text(c, "text", data, ends)
        if lengths is None or not c.meta["keeps_text"]:
            continue
        tokens, expected, told = _tokens(data, ends[1:])
        if (tokens != lengths[a:b]).any():
            raise damage_error(c, f"one of the texts {a} to {b - 1} does not have the tokens that its document has")
        if samples is not None and not _equal(samples.take(np.arange(a, b, dtype=np.int32)), expected):
            raise damage_error(c, f"samples of the texts {a} to {b - 1} are not those of their tokens")
        own = None if sentences is None else sentences.take(np.arange(a, b, dtype=np.int32))
        if own is not None and not (np.array_equal(own.count, told.count) and np.array_equal(own.gap, told.gap)):
            raise damage_error(c, f"sentences of the texts {a} to {b - 1} are not those of their tokens")


def _check_samples(c: Container, documents: int) -> StoredSamples | None:
    """Samples that can be read; None where there are none."""
    if not check_flag(c, "has_samples"):
        return None
    if not c.meta["keeps_text"]:
        raise damage_error(c, "texts are not kept, but samples of them are there")
    return StoredSamples(c, documents)


def _check_sentences(c: Container, documents: int, lengths: I64 | None) -> StoredSentences | None:
    """Sentences that can be read, each with a token at least; None where there are none."""
    if "has_sentences" not in c.meta or not check_flag(c, "has_sentences"):
        return None
    stored = StoredSentences(c, documents)
    gap, at = stored.gap.all(), stored.at.all()
    last = np.append(0, np.cumsum(gap, dtype=np.int64))
    if (gap < 1).any() or (lengths is not None and (np.diff(last[at]) >= np.maximum(1, lengths)).any()):
        raise damage_error(c, "column 'sentence_gap' has a sentence without tokens, or behind its text")
    return stored


def _batches(document_at: Array) -> Iterator[tuple[int, int]]:
    """The texts [a, b) that are read together: so many bytes, or one that has more."""
    a = 0
    while a < document_at.size - 1:
        b = max(a + 1, int(np.searchsorted(document_at, int(document_at[a]) + CHUNK, side="right")) - 1)
        yield a, b
        a = b


def _tokens(data: U8, ends: I64) -> tuple[I64, Samples, Sentences]:
    """How many tokens each text has, their samples, and the sentences that they make."""
    begin, end, tokens_end = scan_tokens(data, ends)
    sentences = find_sentences(data, begin, end, tokens_end)
    return np.diff(tokens_end, prepend=0), sample_tokens(data, ends, begin, tokens_end), sentences


def _equal(found: Samples, expected: Samples) -> bool:
    pairs = zip(
        (found.count, found.character, found.extra), (expected.count, expected.character, expected.extra), strict=True
    )
    return all(np.array_equal(a, b) for a, b in pairs)


# Versions 1 to 3


def _check_blocks(c: Container, documents: int, lengths: I64 | None) -> None:
    """Blocks of whole texts that decompress to their sizes; `lengths` are the tokens of each text, where known."""
    raw_at, block_at = check_array(c, "raw_at", "i8"), check_array(c, "block_at", "i8")
    if raw_at.size < 1 or block_at.size != raw_at.size:
        raise damage_error(c, "'raw_at' and 'block_at' do not have the same blocks")
    blocks = raw_at.size - 1
    document_at = check_offsets(c, "document_at", documents, int(raw_at[-1]), "i8")
    check_offsets(c, "raw_at", blocks, int(document_at[-1]), "i8")
    check_offsets(c, "block_at", blocks, check_array(c, "text", "u1").size, "i8")
    if not c.meta["keeps_text"] and document_at[-1]:
        raise damage_error(c, "texts are said not to be kept, but are there")
    first = np.searchsorted(document_at, raw_at)
    if (document_at[first] != raw_at).any() or (np.diff(raw_at) < 1).any():
        raise damage_error(c, "a block of texts does not begin with a document")
    for block, size in enumerate(np.diff(raw_at).tolist()):
        data = _decompress(c, block, int(block_at[block]), int(block_at[block + 1]), size)
        ends = document_at[first[block] : first[block + 1] + 1] - raw_at[block]
        check_text(c, f"text block {block}", data, ends)
        if lengths is not None and (_tokens(data, ends[1:])[0] != lengths[first[block] : first[block + 1]]).any():
            raise damage_error(c, f"a text of block {block} does not have the tokens that its document has")
    # Empty documents may stand behind the last block, and where texts are not kept there is no block at all.
    if lengths is not None and c.meta["keeps_text"] and lengths[first[-1] :].any():
        raise damage_error(c, "a document with tokens has no text")


def _decompress(c: Container, block: int, start: int, end: int, size: int) -> U8:
    """A block of texts. The frame's own word on its size is compared first, because quota is made as it says."""
    frame = c.slice("text", start, end)
    try:
        claimed = zstandard.get_frame_parameters(frame)
        if claimed.content_size != size or claimed.window_size > LARGEST or size > LARGEST:
            raise damage_error(c, f"text block {block} is not of the size it should have, {size}")
        data = zstandard.ZstdDecompressor().decompress(frame, max_output_size=size, allow_extra_data=False)
    except (zstandard.ZstdError, ValueError, MemoryError) as error:
        raise damage_error(c, f"text block {block} cannot be read ({error})") from None
    if len(data) != size:
        raise damage_error(c, f"text block {block} has {len(data)} bytes, not {size}")
    return np.frombuffer(data, dtype=np.uint8)

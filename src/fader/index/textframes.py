"""Texts laid end to end, compressed in small frames, so that any few bytes of them are read quickly.

    byte b of all texts is byte b mod 4096 of frame b // 4096; frame f is text[frame_at[f] : frame_at[f+1]]

Frames begin and end anywhere, also inside of a character. Each is a zstandard frame with a checksum of its content. So
small frames compress well only with a *dictionary*: it is trained on the texts that come first and stored beside them.
A segment of little text has none, as it would take more bytes than it saves. Knows nothing of documents.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache

import numpy as np
import zstandard

from fader.errors import DamagedError
from fader.index.encoding.shapes import check_array
from fader.index.encoding.strings import narrow
from fader.index.format import Array, Container, FileWriter
from fader.lazy import cached_property

FRAME_BITS = 12
FRAME_BYTES = 1 << FRAME_BITS
LEVEL = 3
SAMPLE_BYTES = 1 << 22  # of the first texts, to train a dictionary with
LEAST_SAMPLE_BYTES = 1 << 18  # with less there is no dictionary
DICTIONARY_BYTES = 1 << 16
SAMPLE_PER_DICTIONARY = 32  # a dictionary is this much smaller than its sample, at least
# How the trainer selects segments: their bytes, and the bytes of the substrings that it counts.
SEGMENT_BYTES, SUBSTRING_BYTES = 50, 8
BATCH_BYTES = 64 * FRAME_BYTES  # compressed by one call
MOST_PENDING = 16
CACHED_FRAMES = 1024
CACHED_BLOCKS = 64
LARGEST_BLOCK = 1 << 31


class FrameWriter:
    """Appends texts to a file; with a pool, frames are compressed by its threads and written in order."""

    def __init__(self, writer: FileWriter, pool: ThreadPoolExecutor | None) -> None:
        self._writer, self._pool = writer, pool
        self._writer.begin("text", np.uint8)
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._is_trained = False
        self._dictionary: zstandard.ZstdCompressionDict | None = None
        self._pending: list[Future[list[bytes]]] = []
        self._frame_at = [0]

    def append(self, text: bytes) -> None:
        """The next text."""
        self._held.append(text)
        self._held_bytes += len(text)
        if self._held_bytes >= (BATCH_BYTES if self._is_trained else SAMPLE_BYTES):
            self._flush(is_last=False)

    def close(self) -> None:
        """Write what is held, and all that is needed to read it."""
        self._flush(is_last=True)
        for future in self._pending:
            self._write(future.result())
        w = self._writer
        w.end()
        w.array("frame_at", narrow(np.array(self._frame_at, dtype=np.int64)))
        content = b"" if self._dictionary is None else self._dictionary.as_bytes()
        w.array("dictionary", np.frombuffer(content, dtype=np.uint8))

    def _flush(self, is_last: bool) -> None:
        """Compress the whole frames that are held, and at the end the rest."""
        data = b"".join(self._held)
        if not self._is_trained:
            self._dictionary, self._is_trained = _train(data[:SAMPLE_BYTES]), True
        end = len(data) if is_last else len(data) & -FRAME_BYTES
        self._held, self._held_bytes = [data[end:]], len(data) - end
        for begin in range(0, end, BATCH_BYTES):
            batch = data[begin : min(end, begin + BATCH_BYTES)]
            if self._pool is None:
                self._write(_compress(batch, self._dictionary))
                continue
            self._pending.append(self._pool.submit(_compress, batch, self._dictionary))
            while len(self._pending) > MOST_PENDING:
                self._write(self._pending.pop(0).result())

    def _write(self, frames: list[bytes]) -> None:
        self._writer.append(b"".join(frames))
        for frame in frames:
            self._frame_at.append(self._frame_at[-1] + len(frame))


def _train(sample: bytes) -> zstandard.ZstdCompressionDict | None:
    """The dictionary for texts like these; None where it would not pay."""
    if len(sample) < LEAST_SAMPLE_BYTES:
        return None
    size = min(DICTIONARY_BYTES, len(sample) // SAMPLE_PER_DICTIONARY)
    try:
        trained = zstandard.train_dictionary(size, [*_cut(sample)], k=SEGMENT_BYTES, d=SUBSTRING_BYTES)
        trained.precompute_compress(level=LEVEL)
    except zstandard.ZstdError:  # nothing is repeated in the sample
        return None
    return trained


def _cut(data: bytes) -> list[bytes]:
    return [data[at : at + FRAME_BYTES] for at in range(0, len(data), FRAME_BYTES)]


def _compress(data: bytes, dictionary: zstandard.ZstdCompressionDict | None) -> list[bytes]:
    """The frames of some bytes."""
    compressor = zstandard.ZstdCompressor(level=LEVEL, dict_data=dictionary, write_checksum=True, write_dict_id=False)
    return [compressor.compress(piece) for piece in _cut(data)]


class Frames:
    """The stored bytes of all texts, `size` of them. Safe to share among threads."""

    def __init__(self, container: Container, size: int) -> None:
        self._container, self._size = container, size
        self._frame_at: Array = check_array(container, "frame_at", "u4", "u8")
        self._of_thread = threading.local()
        self._frame = lru_cache(maxsize=CACHED_FRAMES)(self._decompress)

    def read(self, start: int, end: int) -> bytes:
        """The bytes [start, end)."""
        if not 0 <= start <= end <= self._size:
            raise DamagedError(f"{self._container.path}: bytes {start}-{end} lie outside of its texts")
        if start == end:
            return b""
        first, last = start >> FRAME_BITS, (end - 1) >> FRAME_BITS
        base = first << FRAME_BITS
        if first == last:
            return self._frame(first)[start - base : end - base]
        return b"".join([self._frame(f) for f in range(first, last + 1)])[start - base : end - base]

    def _decompress(self, frame: int) -> bytes:
        at = self._frame_at
        if not 0 <= frame < at.size - 1:
            raise self._damage(frame, "is missing")
        size = min(FRAME_BYTES, self._size - (frame << FRAME_BITS))
        data = self._container.slice("text", at.item(frame), at.item(frame + 1))
        try:
            # The decompressor allocates what the frame claims, so the claim is compared first.
            if zstandard.frame_content_size(data) != size:
                raise self._damage(frame, "is not of the size it should have")
            return self._decompressor.decompress(data, max_output_size=size, allow_extra_data=False)
        except zstandard.ZstdError as error:
            raise self._damage(frame, f"cannot be read ({error})") from None

    def _damage(self, frame: int, what: str) -> DamagedError:
        return DamagedError(f"{self._container.path}: text frame {frame} {what}")

    @property
    def _decompressor(self) -> zstandard.ZstdDecompressor:
        """The thread's own: one decompressor must not be used by two threads at a time."""
        own: zstandard.ZstdDecompressor | None = getattr(self._of_thread, "decompressor", None)
        if own is None:
            own = self._of_thread.decompressor = zstandard.ZstdDecompressor(dict_data=self._dictionary)
        return own

    @cached_property
    def _dictionary(self) -> zstandard.ZstdCompressionDict | None:
        """What frames were compressed with. A damaged one is found when it is first used."""
        content = self._container["dictionary"].tobytes()
        return zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_FULLDICT) if content else None


class Blocks:
    """The same of versions 1 to 3: blocks of about 64 KiB, cut at document ends; `raw_at` says where each begins."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._raw_at = check_array(container, "raw_at", "i8")
        self._block_at = check_array(container, "block_at", "i8", size=self._raw_at.size)
        self._block = lru_cache(maxsize=CACHED_BLOCKS)(self._decompress)

    def read(self, start: int, end: int) -> bytes:
        """The bytes [start, end), which lie in one block."""
        if start == end:
            return b""
        block = int(np.searchsorted(self._raw_at, start, side="right")) - 1
        if not 0 <= block < self._raw_at.size - 1:
            raise DamagedError(f"{self._container.path}: bytes {start}-{end} lie outside of its texts")
        base = int(self._raw_at[block])
        return self._block(block)[start - base : end - base]

    def _decompress(self, block: int) -> bytes:
        where = f"{self._container.path}: text block {block}"
        size = int(self._raw_at[block + 1] - self._raw_at[block])
        data = self._container.slice("text", int(self._block_at[block]), int(self._block_at[block + 1]))
        try:
            # The decompressor allocates what the frame claims, so the claim is compared first.
            if zstandard.frame_content_size(data) != size or size > LARGEST_BLOCK:
                raise DamagedError(f"{where} is not of the size it should have")
            return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
        except zstandard.ZstdError as error:
            raise DamagedError(f"{where} cannot be read ({error})") from None

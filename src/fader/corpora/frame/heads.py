"""The beginning of a source, by which its layout is known. Knows nothing of layouts."""

from __future__ import annotations

from contextlib import closing
from os.path import basename

from fader.corpus.readers import read_chunks
from fader.errors import InputError

HEAD = 1 << 20  # bytes looked at
_PACKED = (".gz", ".bz2", ".zst")


def head(source: str, size: int = HEAD) -> bytes:
    """The first bytes of a source, uncompressed, without byte order mark; none if it cannot be read.

    Its cutter will tell of that. Standard input cannot be looked at without losing what was read.
    """
    if source == "-":
        return b""
    with closing(read_chunks(source)) as chunks:  # type: ignore[type-var]
        try:
            return next(chunks, (b"", 0))[0][:size].removeprefix(b"\xef\xbb\xbf")
        except InputError:
            return b""


def stem(source: str, *suffixes: str) -> str:
    """The name of a source without folder, compression and one of the suffixes (any one, if none are given)."""
    name = plain(basename(source))
    if suffixes:
        return next((name.removesuffix(s) for s in suffixes if name.endswith(s)), name)
    return name.rpartition(".")[0] or name


def plain(source: str) -> str:
    """A path without the suffix of a compression."""
    return next((source.removesuffix(s) for s in _PACKED if source.endswith(s)), source)

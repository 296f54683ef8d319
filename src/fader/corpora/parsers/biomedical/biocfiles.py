"""Sources of BioC in pieces: XML cut behind documents, JSON behind records, and archives of such files.

Which of the two a file is, its first byte says. A piece of a source is a list of `Piece`, for an archive may have many
small files. A member that is neither is a fault. Knows nothing of what is in a document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from fader.corpora.frame import inputs
from fader.corpora.frame.archives import archive_kind, members
from fader.corpora.frame.base import Batch
from fader.corpora.frame.inputs import head
from fader.corpora.parsers.jsoncut import cut_json, cut_json_pieces
from fader.corpus.documents import Faults
from fader.corpus.readers import display_name
from fader.limits import Limits

XML, JSON = "xml", "json"
OTHER = "members of archives that are neither XML nor JSON"
_END = b"</document>"
_COLLECTION = rb"documents|PubTator3"  # keys whose array holds the documents


class BiocPiece(NamedTuple):
    """Bytes in one of the layouts, the file they are from, and where they begin in it."""

    layout: str
    source: str
    place: int
    data: bytes


def cut_bioc(sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
    """The sources in batches; the payload is a list of pieces."""
    for source in sources:
        if archive_kind(source):
            yield from _cut_archive(source, faults)
            continue
        layout = _find_layout(head(source))
        found = cut_json([source], faults, _COLLECTION) if layout == JSON else None
        for batch in found or inputs.mark_batches([source], faults, _END):
            yield batch._replace(payload=[BiocPiece(layout or XML, batch.source, batch.place, batch.payload)])


def _find_layout(begin: bytes) -> str:
    first = begin.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return JSON if first in (b"{", b"[") else XML if first == b"<" else ""


def _cut_archive(source: str, faults: Faults) -> Iterator[Batch]:
    """An archive: pieces of its files, together about as large as pieces of others."""
    held, weight, count = list[BiocPiece](), 0, 0
    for member in members(source, faults):
        for piece in _cut_member(member.name, member.chunks, faults):
            held.append(piece)
            weight += len(piece.data)
            if weight >= inputs.PIECE:
                yield Batch(display_name(source), count, held, member.consumed)
                held, weight, count = [], 0, count + len(held)
    if held:
        yield Batch(display_name(source), count, held, 0)


def _cut_member(name: str, chunks: Iterator[bytes], faults: Faults) -> Iterator[BiocPiece]:
    """The pieces of a file of an archive."""
    first = next(chunks, b"")
    layout = _find_layout(first)
    if not layout:
        what = "it is empty" if not first.strip() else "a member begins with <, { or [, and is not packed itself"
        faults.add(OTHER, f"{name}: {what}")
        return
    over = partial(inputs.report_excess, faults, name)
    whole = chain([first], chunks)
    found = cut_json_pieces(whole, over, _COLLECTION) if layout == JSON else _cut_xml(whole, over)
    for place, data in found:
        yield BiocPiece(layout, name, place, data)


def _cut_xml(chunks: Iterable[bytes], over: partial[None]) -> Iterator[tuple[int, bytes]]:
    """XML in pieces that end behind a document; the last may not."""
    limit, held, place = Limits.from_environment().line_bytes, bytearray(), 0
    for chunk in chunks:
        held += chunk
        end = held.rfind(_END, max(0, len(held) - len(chunk) - len(_END)))
        if len(held) >= inputs.PIECE and end >= 0:
            yield place, bytes(held[: end + len(_END)])
            del held[: end + len(_END)]
            place += end + len(_END)
        if len(held) > limit:
            over(place, _END)
            return
    if held.strip():
        yield place, bytes(held)

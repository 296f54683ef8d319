"""Raw documents in, annotated lines out: plain text files, lines, or JSON lines, in pieces that any process can do.

- text: a file is a document, without the line end at its end; its id is its path.
- lines: a line is a document; its id is `path:number`. Empty lines are none.
- jsonl: lines of the project's corpus format, with `id` and `text` (or `contents`). Further keys are kept; mentions
  that are there already (`mentions`, `entities`) are replaced.

Every piece is converted alone, so that the result does not depend on how many processes share the work. Faults name the
file and the line. Knows nothing of dictionaries beyond the annotator's call.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from fader.corpora.annotate.annotator import AnnotatedColumns
from fader.corpora.annotate.dictionary import Dictionary
from fader.corpora.annotate.written import write_mentions
from fader.corpus.documents import LARGEST, OVER, Faults
from fader.corpus.readers import LongLine, display_name, file_size, read_batches, show_line, too_long, without_mark
from fader.errors import CorpusError, quote
from fader.limits import Limits

TEXT, LINES, JSONL = "text", "lines", "jsonl"
PIECE_BYTES = 1 << 21
JSON_NAMES = (".jsonl", ".json", ".ndjson")


class TextPiece(NamedTuple):
    """Some documents, raw: rows of file, line (0: the whole file) and bytes; and how far in the input they reach."""

    kind: str
    rows: list[tuple[str, int, bytes]]
    source: str
    consumed: int


class Annotates(Protocol):
    """What finds mentions in a batch of UTF-8 texts."""

    dictionary: Dictionary

    def columns(self, encoded: list[bytes]) -> AnnotatedColumns: ...


class Converted(NamedTuple):
    """Lines as they are written, and their counts."""

    lines: bytes
    documents: int
    mentions: int


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


def kind_of(path: str, given: str | None) -> str:
    """Find how a file is read: as given, or by its name."""
    name = path.lower().removesuffix(".gz").removesuffix(".zst")
    return given or (JSONL if name.endswith(JSON_NAMES) else TEXT)


def cut_pieces(sources: Sequence[str], kind: str | None, limits: Limits) -> Iterator[TextPiece]:
    """The sources in pieces, always the same ones in the same order."""
    rows = list[tuple[str, int, bytes]]()
    size, before = 0, ""
    for source in sources:
        as_told = kind_of(source, kind)
        if rows and (as_told != before or as_told != TEXT):
            yield TextPiece(before, rows, rows[-1][0], file_size(rows[-1][0]))
            rows, size = [], 0
        before = as_told
        whole = as_told == TEXT  # one line with the number 0
        batches = [(0, [_read_whole(source, limits)], file_size(source))] if whole else read_batches(source, limits)
        for first, lines, consumed in batches:
            for number, line in enumerate(lines, first):
                rows.append((source, number, line))
                size += len(line)
                if size >= PIECE_BYTES:
                    yield TextPiece(as_told, rows, source, consumed)
                    rows, size = [], 0
    if rows:
        yield TextPiece(before, rows, rows[-1][0], file_size(rows[-1][0]))


def _read_whole(path: str, limits: Limits) -> bytes:
    """A file's bytes, or of one that is too long the start."""
    held, size = list[bytes](), 0
    for _first, lines, _consumed in read_batches(path, limits):
        held += lines
        size += sum(map(len, lines)) + len(lines)
        if size > limits.line_bytes or any(isinstance(line, LongLine) for line in lines):
            long = LongLine(b"\n".join(held)[:60])
            long.size = size
            return long
    return b"\n".join(held)


def convert(piece: TextPiece, annotator: Annotates, faults: Faults, limits: Limits) -> Converted:
    """The annotated documents of a piece as JSON lines."""
    documents, places = _read_documents(piece, faults, limits)
    found = annotator.columns([d["text"].encode() for d in documents])
    mentions = write_mentions(found, annotator.dictionary)
    lines, kept, first = list[bytes | memoryview](), 0, 0
    for document, place, end, inner in zip(documents, places, found.ends.tolist(), mentions, strict=True):
        if end - first > limits.document_mentions:
            has = f"{place}: document {quote(document['id'])} gets {end - first:,} mentions"
            faults.add(OVER, f"{has}; {limits.at_most('document_mentions')}")
        else:
            head = _encode({"id": document.pop("id"), "text": document.pop("text")})
            rest = b"," + _encode(document)[1:] if document else b"}"
            lines += (head[:-1], b',"mentions":[', inner, b"]", rest, b"\n")
            kept += end - first
        first = end
    return Converted(b"".join(lines), len(lines) // 6, kept)


def _read_documents(piece: TextPiece, faults: Faults, limits: Limits) -> tuple[list[dict[str, Any]], list[str]]:
    """The documents of a piece that can be used, and where they are from."""
    documents, places = list[dict[str, Any]](), list[str]()
    for source, number, raw in piece.rows:
        if number and (not raw or raw.isspace()):
            continue
        place = f"{display_name(source)}:{number}" if number else display_name(source)
        try:
            documents.append(_read_document(piece.kind, number, raw, place, limits))
            places.append(place)
        except _OverError as error:
            faults.add(OVER, str(error))
        except CorpusError as error:
            faults.add("documents", str(error))
    return documents, places


class _OverError(CorpusError):
    """A document beyond a limit."""


def _read_document(kind: str, number: int, raw: bytes, place: str, limits: Limits) -> dict[str, Any]:
    """Id, text, and what else the document has."""
    if isinstance(raw, LongLine):
        raise _OverError(f"{place}: {too_long(raw, limits)}")
    line = without_mark(raw, number or 1)
    if kind == JSONL:
        document = _read_json(line, place)
    else:
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise CorpusError(f"{place}: not UTF-8 at byte {error.start + 1}; save the file as UTF-8") from None
        document = {"id": place, "text": text.removesuffix("\r")}
    for key, name in (("id", "id_characters"), ("text", "document_characters")):
        if len(document[key]) > getattr(limits, name):
            has = f"{'an' if key == 'id' else 'a'} {key} of {len(document[key]):,} characters"
            raise _OverError(f"{place}: {has}; {limits.at_most(name)}")
    return document


def _read_json(line: bytes, place: str) -> dict[str, Any]:
    try:
        given = _decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise CorpusError(f"{place}: not a JSON object ({error}): {show_line(line)}") from None
    identity, text = given.pop("id", None), given.pop("text", None)
    contents = given.pop("contents", None)
    text = contents if text is None else text
    if isinstance(identity, int) and not isinstance(identity, bool) and abs(identity) <= LARGEST:
        identity = str(identity)
    if not isinstance(identity, str) or not identity:
        raise CorpusError(f'{place}: a document needs an "id"')
    if not isinstance(text, str):
        raise CorpusError(f'{place}: document {quote(identity)} needs a "text" (or "contents")')
    for key in ("mentions", "entities"):
        given.pop(key, None)
    for key in ("title", "url"):
        if not isinstance(given.get(key), str | None):
            raise CorpusError(f'{place}: "{key}" must be text, not {quote(given[key])}')
    prior = given.get("prior")
    number = isinstance(prior, int | float) and not isinstance(prior, bool)
    if prior is not None and not (number and math.isfinite(prior) and prior >= 0):
        raise CorpusError(f'{place}: "prior" must be a number >= 0, not {quote(prior)}')
    return {"id": identity, "text": text, **given}

"""Tables and JSON as documents: a row or an object is one.

A column called text (or contents, body, abstract, description, ...) is its text, title or subject its title, id its id.
The other columns follow the text, `Column: value` a line, and are all there is where no column is the text. JSON
lines with `id` and `text` are documents as they are, with their own ids. A JSON file that is one object is one
document.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from fader.corpora.files.kinds import guess_delimiter
from fader.corpora.files.piece import DAMAGED, OVER, Piece, UnreadableError
from fader.corpora.parsers.web import charset
from fader.corpus.readers import LongLine, read_batches
from fader.limits import Limits

TEXTS = "text contents content body abstract description message comment review transcript summary notes note article"
TITLES = "title subject headline heading name label"
IDS = "id docid documentid docno key identifier doi pmid"
KEPT = ("url", "prior")
_ROW = 1 << 20  # characters of a cell
_decode = msgspec.json.Decoder(dict[str, Any]).decode


def read_table(path: str, limits: Limits) -> Iterator[Piece]:
    """The rows of a CSV or TSV file with a header."""
    lines = _lines(path, limits)
    first = next(lines, "")
    delimiter, ids = guess_delimiter([first]), _Ids()
    before = csv.field_size_limit(limits.document_characters)
    try:
        rows = csv.reader(_chain(first, lines), delimiter=delimiter)
        header = [cell.strip() or f"Column {i}" for i, cell in enumerate(next(rows, []), 1)]
        for number, cells in enumerate(rows, 1):
            if any(map(str.strip, cells)):
                yield ids.tell_apart(make_piece(dict(zip(header, cells, strict=False)), number), number)
    except csv.Error as error:
        raise UnreadableError(DAMAGED, f"is no table that can be read ({error})") from None
    finally:
        csv.field_size_limit(before)


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _lines(path: str, limits: Limits) -> Iterator[str]:
    for _first, lines, _consumed in read_batches(path, limits):
        for line in lines:
            if isinstance(line, LongLine):
                raise UnreadableError(OVER, f"has a line of {line.size:,} bytes; {limits.at_most('line_bytes')}")
            yield charset.decode(line)[0].lstrip("\ufeff").replace("\0", " ") + "\n"


def read_parquet(path: str) -> Iterator[Piece]:
    """The rows of a Parquet file."""
    import pyarrow.parquet
    from pyarrow import ArrowException

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            batches, ids = file.iter_batches(batch_size=1024), _Ids()
            for number, row in enumerate((row for batch in batches for row in batch.to_pylist()), 1):
                yield ids.tell_apart(make_piece(row, number), number)
    except (ArrowException, OSError) as error:
        raise UnreadableError(DAMAGED, f"is no Parquet file that can be read ({str(error)[:100]})") from None


def read_json(path: str, head: bytes, limits: Limits) -> Iterator[Piece | UnreadableError]:
    """The objects of JSON lines, of an array, or the one object of a file."""
    first = head.lstrip().split(b"\n", 1)[0]
    if first.startswith(b"{") and _is_object(first):
        for start, lines, _consumed in read_batches(path, limits):
            for number, line in enumerate(lines, start):
                if line.strip():
                    yield _read_object(line, number, limits)
        return
    held, size = list[bytes](), 0
    for _start, lines, _consumed in read_batches(path, limits):
        held += lines
        size += sum(map(len, lines)) + len(lines)
        if size > limits.file_bytes:
            raise UnreadableError(OVER, f"is one JSON value of more than {limits.at_most('file_bytes')} bytes")
    try:
        value = msgspec.json.decode(b"\n".join(held))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise UnreadableError(DAMAGED, f"is no JSON that can be read ({str(error)[:100]})") from None
    values, ids = value if isinstance(value, list) else [value], _Ids()
    for number, each in enumerate(values, 1):
        row = each if isinstance(each, dict) else {"text": each}
        yield ids.tell_apart(make_piece(row, number if isinstance(value, list) else 0), number)


def _is_object(line: bytes) -> bool:
    try:
        _decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False
    return True


def _read_object(line: bytes, number: int, limits: Limits) -> Piece | UnreadableError:
    if isinstance(line, LongLine):
        return UnreadableError(OVER, f"line {number} has {line.size:,} bytes; {limits.at_most('line_bytes')}")
    try:
        return make_piece(_decode(line), number, is_document=True)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return UnreadableError(DAMAGED, f"line {number} is no JSON object ({str(error)[:100]})")


class _Ids:
    """Tells rows of one id apart: each but the first is called by its number too."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def tell_apart(self, piece: Piece, number: int) -> Piece:
        if piece.suffix in self._seen:
            piece = msgspec.structs.replace(piece, suffix=f"{piece.suffix}:{number}")
        self._seen.add(piece.suffix)
        return piece


def make_piece(row: Mapping[str, Any], number: int, is_document: bool = False) -> Piece:
    """The document of a row; its number tells it from others where it has no id.

    A line of a corpus, which has `id` and `text`, `is_document` as it is.
    """
    plain = {_plain(key): key for key in reversed(list(row))}
    identity, title, text = (_find(plain, words, row) for words in (IDS, TITLES, TEXTS))
    own = is_document and ({"id", "text"} <= row.keys() or {"id", "contents"} <= row.keys())
    left_out = {identity, title, text, *KEPT, *(("mentions", "entities") if own else ())}
    rest = "\n".join(f"{key}: {said}" for key, value in row.items() if key not in left_out and (said := _say(value)))
    body = _say(row[text]) if text else ""
    if own:
        rest = ""
    fields = {key: row[key] for key in KEPT if row.get(key) is not None} if own else {}
    found = _say(row[identity]) if identity else ""
    shown = _say(row[title]) if title else ""
    if not text:
        body, rest = "\n".join(filter(None, (shown, rest))), ""
    return Piece(
        "\n\n".join(filter(None, (body, rest))),
        " ".join(shown.split()),
        f"#{found or number}" if number or found else "",
        fields=fields,
        id=found if own else "",
    )


def _find(plain: Mapping[str, str], words: str, row: Mapping[str, Any]) -> str:
    """The column of a role that has a value."""
    return next((plain[word] for word in words.split() if word in plain and row[plain[word]] not in (None, "")), "")


def _plain(name: str) -> str:
    return "".join(c for c in str(name).lower() if c.isalnum())


def _say(value: Any, deep: int = 8) -> str:
    """A value in words; lists and objects by their parts."""
    if value is None or value == "" or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, Mapping):
        parts: Iterable[str] = (f"{key}: {_say(each, deep - 1)}" for key, each in value.items()) if deep else ()
        return "; ".join(parts)
    if isinstance(value, list | tuple):
        return ", ".join(_say(each, deep - 1) for each in value) if deep else ""
    return str(value).encode("utf-8", "replace").decode().strip()

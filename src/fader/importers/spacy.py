"""spaCy's DocBin (.spacy): documents with entities, zlib around MessagePack; spaCy itself is not needed.

    {"version": "0.1", "attrs": [65, 77, 78, 452], "tokens": uint64[n, attrs], "spaces": bool[n],
     "lengths": int32[documents], "strings": ["Ada", "PERSON", ...], "user_data": [MessagePack, ...]}

Tokens are numbers of strings: MurmurHash64A of their UTF-8 with seed 1, or a symbol's own number. The text is tokens
and blanks, as spaCy's `doc.text`. An entity is the `kb_id` of a mention, its type the label. In a source where no
mention has a `kb_id`, mentions are of the entity `LABEL:words`; else those that have none are dropped and counted. A
document's id is `id` or `doc_id` in its user data, else file and number.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec
import numpy as np

from fader.corpus.documents import Faults
from fader.importers.base import Batch, Importer, Records
from fader.importers.concepts import UNLINKED
from fader.importers.faults import at
from fader.importers.heads import stem
from fader.importers.inputs import whole_files
from fader.importers.standoff import add_row, unnamed
from fader.importers.tokens import OUTSIDE, Label, TokenText, labelled
from fader.limits import Limits

ORTH, ENT_IOB, ENT_TYPE, ENT_KB_ID = 65, 77, 78, 452
# Labels that are symbols have fixed numbers instead of hashes.
_LABELS = (
    "PERSON", "NORP", "FACILITY", "ORG", "GPE", "LOC", "PRODUCT", "EVENT", "WORK_OF_ART", "LANGUAGE", "LAW", "DATE",
    "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL",
)  # fmt: skip
SYMBOLS = dict(enumerate(_LABELS, 380))
LETTERS = ("O", "I", "O", "B")  # ENT_IOB: 0 is not set
EXPANDS = 16  # times the limit on lines that a source may hold, uncompressed
UNREADABLE = "sources that are no DocBin"


@dataclass(frozen=True)
class DocBin(Importer):
    """Documents of a DocBin."""

    name: ClassVar[str] = "spacy"
    title: ClassVar[str] = "spaCy's DocBin (.spacy)"
    example: ClassVar[str] = "fader import spacy train.spacy -o corpus/"
    citation: ClassVar[str] = "https://spacy.io/api/docbin"

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return whole_files(sources, faults)

    def convert(self, batch: Batch, state: Any, faults: Faults) -> Records:
        out = Records()
        try:
            _documents(batch, out)
        except (zlib.error, msgspec.DecodeError, KeyError, ValueError, TypeError, IndexError) as error:
            what = f"cannot be read as a DocBin of spaCy 2 or 3 ({type(error).__name__}: {error})"
            faults.add(UNREADABLE, f"{at(batch.source, 0, 'byte')}: {what}")
        return out


def _documents(batch: Batch, out: Records) -> None:
    said = msgspec.msgpack.decode(_expanded(batch.payload))
    attributes = list(said["attrs"])
    columns = {name: attributes.index(name) for name in (ORTH, ENT_IOB, ENT_TYPE, ENT_KB_ID) if name in attributes}
    tokens = np.frombuffer(said["tokens"], dtype=np.uint64).reshape(-1, len(attributes))
    spaces = np.frombuffer(said["spaces"], dtype=np.uint8)
    ends = np.cumsum(np.frombuffer(said["lengths"], dtype=np.int32), dtype=np.int64)
    if spaces.size != len(tokens) or (ends.size and int(ends[-1]) != len(tokens)):
        raise ValueError("tokens, blanks and lengths do not agree")
    if ENT_KB_ID in columns and not tokens[:, columns[ENT_KB_ID]].any():
        del columns[ENT_KB_ID]
    words = {0: "", **SYMBOLS, **{murmur(text.encode()): text for text in said["strings"]}}
    start = 0
    for number, end in enumerate(ends.tolist(), 1):
        rows = tokens[start:end]
        data = (said.get("user_data") or [])[number - 1 : number]
        name = _id(data[0] if data else b"") or f"{stem(batch.source)}:{number}"
        _document(name, rows, spaces[start:end], columns, words, out)
        start = end


def _document(name: str, rows: Any, spaces: Any, columns: dict[int, int], words: dict[int, str], out: Records) -> None:
    text = TokenText()
    for number, blank in zip(rows[:, columns[ORTH]].tolist(), spaces.tolist(), strict=True):
        text.add(words[number], bool(blank))
    mentions: list[dict[str, Any]] = []
    for first, end, label in labelled(_labels(rows, columns, words)):
        start, stop = text.spans[first][0], text.spans[end - 1][1]
        surface = "" if ENT_KB_ID in columns else text.text[start:stop]
        entity = label.entity or (unnamed(label.kind, surface) if surface else "")
        if not entity:
            out.counts[UNLINKED] = out.counts.get(UNLINKED, 0) + 1
            continue
        add_row(out, entity, label.kind, surface)
        mentions.append({"start": start, "end": stop, "entity": entity})
    out.documents.append({"id": name, "text": text.text, "mentions": mentions})


def _labels(rows: Any, columns: dict[int, int], words: dict[int, str]) -> list[Label]:
    if ENT_IOB not in columns:
        return [OUTSIDE] * len(rows)
    empty = [0] * len(rows)
    kinds = rows[:, columns[ENT_TYPE]].tolist() if ENT_TYPE in columns else empty
    entities = rows[:, columns[ENT_KB_ID]].tolist() if ENT_KB_ID in columns else empty
    letters = rows[:, columns[ENT_IOB]].tolist()
    return [Label(LETTERS[i], words[k], words[e]) for i, k, e in zip(letters, kinds, entities, strict=True)]


def _expanded(data: bytes) -> bytes:
    limit = EXPANDS * Limits.from_environment().line_bytes
    stream = zlib.decompressobj()
    out = stream.decompress(data, limit)
    if stream.unconsumed_tail or not stream.eof:
        raise ValueError("cut short" if not stream.unconsumed_tail else f"more than {limit:,} bytes, uncompressed")
    return out


def _id(data: bytes) -> str:
    """The document's id in its user data, as a key of its own or of an extension attribute."""
    try:
        said = msgspec.msgpack.decode(data) if data else {}
    except (msgspec.DecodeError, TypeError):
        return ""
    for key, value in said.items() if isinstance(said, dict) else ():
        name = key[1] if isinstance(key, tuple) and len(key) > 1 else key
        if name in ("id", "doc_id", "docid") and isinstance(value, str | int):
            return str(value)
    return ""


def murmur(data: bytes, seed: int = 1) -> int:
    """MurmurHash64A, by which spaCy numbers its strings."""
    mask, m = 0xFFFFFFFFFFFFFFFF, 0xC6A4A7935BD1E995
    if not data:
        return 0
    h = (seed ^ (len(data) * m)) & mask
    whole = len(data) & ~7
    for i in range(0, whole, 8):
        k = int.from_bytes(data[i : i + 8], "little") * m & mask
        h = (h ^ ((k ^ (k >> 47)) * m & mask)) * m & mask
    if len(data) > whole:
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & mask
    h = (h ^ (h >> 47)) * m & mask
    return h ^ (h >> 47)

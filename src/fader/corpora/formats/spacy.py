"""spaCy's DocBin (.spacy): documents with entities, zlib around MessagePack; spaCy itself is not needed.

    {"version": "0.1", "attrs": [65, 77, 78, 452], "tokens": uint64[n, attrs], "spaces": bool[n],
     "lengths": int32[documents], "strings": ["Ada", "PERSON", ...], "user_data": [MessagePack, ...]}

Tokens are numbers of strings (`docbin_strings`). The text is tokens and blanks, as spaCy's `doc.text`. An entity is the
`kb_id` of a mention, its type the label. In a source where no mention has a `kb_id`, mentions are of the entity
`LABEL:words`; else those that have none, or spaCy's `NIL`, are dropped and counted. A document's id is `id` or `doc_id`
in its user data, else file and number.

Why not by spaCy: it would be a package of 126 MB that takes 1.5 seconds to import, for a file of arrays and strings.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec
import numpy as np

from fader.corpora.frame.base import Batch, Importer, MentionRow, Records
from fader.corpora.frame.faults import UNLINKED, at, tally
from fader.corpora.frame.inputs import stem, whole_files
from fader.corpora.parsers.text.docbin_strings import murmur, number_strings
from fader.corpora.parsers.text.tokens import OUTSIDE, Label, TokenText, add_row, find_labelled, make_entity_id
from fader.corpus.documents import Faults
from fader.errors import quote
from fader.limits import Limits

ORTH, ENT_IOB, ENT_TYPE, ENT_KB_ID = 65, 77, 78, 452
LETTERS = ("O", "I", "O", "B")  # ENT_IOB: 0 is not set
NIL = murmur(b"NIL")  # what spaCy's linker gives a mention that it knows no entity for
EXPANDS = 16  # times the limit on lines that a source may hold, uncompressed
UNREADABLE = "sources that are no DocBin"
WORDLESS = "documents with words that the DocBin does not have"


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
            _add_documents(batch, out, faults)
        except (zlib.error, msgspec.DecodeError, KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
            what = f"no DocBin of spaCy 2 or 3, for {_explain(error)}; write it with DocBin.to_disk"
            faults.add(UNREADABLE, f"{at(batch.source, 0, 'byte')}: {what}")
        return out


def _explain(error: Exception) -> str:
    """What is wrong with a source, in our words."""
    if isinstance(error, zlib.error):
        return "it is not compressed with zlib, or damaged"
    if isinstance(error, msgspec.DecodeError):
        return "what is compressed in it is not MessagePack"
    if isinstance(error, KeyError):
        return f"it has no {error}"
    return str(error) if isinstance(error, _DocBinError) else "its parts are not of the types that they must have"


class _DocBinError(ValueError):
    """What is wrong, in words."""


def _add_documents(batch: Batch, out: Records, faults: Faults) -> None:
    said = msgspec.msgpack.decode(_decompress(batch.payload))
    attributes = list(said["attrs"])
    columns = {name: attributes.index(name) for name in (ORTH, ENT_IOB, ENT_TYPE, ENT_KB_ID) if name in attributes}
    if ORTH not in columns:
        raise _DocBinError("words are not among its attributes")
    tokens = np.frombuffer(said["tokens"], dtype=np.uint64).reshape(-1, len(attributes))
    spaces = np.frombuffer(said["spaces"], dtype=np.uint8)
    ends = np.cumsum(np.frombuffer(said["lengths"], dtype=np.int32), dtype=np.int64)
    if spaces.size != len(tokens) or (ends.size and int(ends[-1]) != len(tokens)):
        raise _DocBinError("tokens, blanks and lengths do not agree")
    if ENT_KB_ID in columns and np.isin(tokens[:, columns[ENT_KB_ID]], np.array((0, NIL), dtype=np.uint64)).all():
        del columns[ENT_KB_ID]
    words = number_strings(said["strings"])
    start = 0
    for number, end in enumerate(ends.tolist(), 1):
        rows = tokens[start:end]
        data = (said.get("user_data") or [])[number - 1 : number]
        name = _find_id(data[0] if data else b"") or f"{stem(batch.source)}:{number}"
        try:
            _add_document(name, rows, spaces[start:end], columns, words, out)
        except KeyError as error:
            what = f"document {quote(name)} has the string {error}, which is not in its table; write the file anew"
            faults.add(WORDLESS, f"{batch.source}: {what}")
        start = end


def _add_document(
    name: str, rows: Any, spaces: Any, columns: dict[int, int], words: dict[int, str], out: Records
) -> None:
    tokens = TokenText()
    for number, blank in zip(rows[:, columns[ORTH]].tolist(), spaces.tolist(), strict=True):
        tokens.add(words[number], bool(blank))
    text, spans = tokens.text, tokens.spans
    mentions: list[MentionRow] = []
    for first, end, label in find_labelled(_read_labels(rows, columns, words)):
        start, stop = spans[first][0], spans[end - 1][1]
        surface = "" if ENT_KB_ID in columns else text[start:stop]
        entity = label.entity or (make_entity_id(label.kind, surface) if surface else "")
        if not entity:
            tally(out.counts, UNLINKED)
            continue
        add_row(out, entity, label.kind, surface)
        mentions.append({"start": start, "end": stop, "entity": entity})
    out.documents.append({"id": name, "text": text, "mentions": mentions})


def _read_labels(rows: Any, columns: dict[int, int], words: dict[int, str]) -> list[Label]:
    if ENT_IOB not in columns:
        return [OUTSIDE] * len(rows)
    empty = [0] * len(rows)
    kinds = rows[:, columns[ENT_TYPE]].tolist() if ENT_TYPE in columns else empty
    entities = rows[:, columns[ENT_KB_ID]].tolist() if ENT_KB_ID in columns else empty
    letters = rows[:, columns[ENT_IOB]].tolist()
    return [
        Label(LETTERS[i], words[k], "" if e == NIL else words[e])
        for i, k, e in zip(letters, kinds, entities, strict=True)
    ]


def _decompress(data: bytes) -> bytes:
    limit = EXPANDS * Limits.from_environment().line_bytes
    stream = zlib.decompressobj()
    out = stream.decompress(data, limit)
    if stream.unconsumed_tail or not stream.eof:
        over = f"it is more than {limit:,} bytes, uncompressed"
        raise _DocBinError(over if stream.unconsumed_tail else "it is cut short")
    return out


def _find_id(data: bytes) -> str:
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

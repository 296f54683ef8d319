"""Records checked and encoded, in the worker: what is written is always fit for `fader index --on-error fail`.

Mentions must lie in the text and cover a token; what does not is dropped with a fault. Half surrogate pairs become
U+FFFD, character for character, so that offsets hold. Ids lose tabs and line ends, ids of types also `|`. Knows nothing
of formats and of where the lines go.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import lt
from typing import Any

import msgspec
import xxhash

from fader.corpora.frame.base import EntityRow, MentionRow, Records, TypeRow
from fader.corpus.documents import Faults
from fader.errors import quote
from fader.limits import Limits

_SURROGATE = re.compile("[\ud800-\udfff]")
_WORD = re.compile(r"[^\W_]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
_encode = msgspec.json.Encoder().encode
_Surfaces = Counter[tuple[str, str]]  # how often an entity has a surface


@dataclass(slots=True)
class EncodedRecords:
    """Lines without their ends: documents with a hash of their ids; entities, types and (entity, surface, count) with
    tabs; queries; judgments."""

    documents: list[bytes] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    entities: list[bytes] = field(default_factory=list)
    types: list[bytes] = field(default_factory=list)
    mentioned: list[bytes] = field(default_factory=list)
    queries: list[bytes] = field(default_factory=list)
    qrels: list[bytes] = field(default_factory=list)
    mentions: list[int] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)


def encode(records: Records, source: str, faults: Faults) -> EncodedRecords:
    """Check and encode the records of a batch; `faults` are those of their conversion, and get more here."""
    limits = Limits.from_environment()
    out = EncodedRecords(counts=records.counts)
    surfaces = _Surfaces()
    for document in records.documents:
        _document(document, source, faults, limits, surfaces, out)
    lines = [f"{e}\t{s if s.isprintable() else one_line(s)}\t{n}" for (e, s), n in surfaces.items()]
    out.mentioned = "\n".join(lines).encode().split(b"\n") if lines else []
    out.entities = [line for row in records.entities if (line := entity_line(row, faults, limits)) is not None]
    out.types = [line for row in records.types if (line := type_line(row, faults, limits)) is not None]
    for query in records.queries:
        query["id"] = "_".join(str(query.get("id") or "").split())  # a run cannot hold white space
        if query["id"] and isinstance(query.get("query"), str):
            out.queries.append(_encode(_whole(query)))
        else:
            faults.add("queries without id or text", f"{source}: query {quote(query['id'])} needs an id and a query")
    judged = (("_".join(q.split()), "_".join(whole_text(e).split()), int(grade)) for q, e, grade in records.qrels)
    out.qrels = [f"{name} 0 {entity} {grade}".encode() for name, entity, grade in judged]
    out.faults = faults
    return out


def _document(
    document: dict[str, Any], source: str, faults: Faults, limits: Limits, surfaces: _Surfaces, out: EncodedRecords
) -> None:
    name = one_line(str(document.get("id") or ""))
    place = f"{source}: document {quote(name)}"
    text = document.get("text")
    if not name or not isinstance(text, str):
        faults.add("documents without id or text", f"{place} needs an id and a text")
        return
    if len(name) > limits.id_characters or len(text) > limits.document_characters:
        over = "id_characters" if len(name) > limits.id_characters else "document_characters"
        faults.add("documents over a limit", f"{place} is too long; {limits.at_most(over)}")
        return
    text = whole_text(text)
    mentions = _mentions(document.get("mentions") or [], text, place, faults, limits, surfaces)
    if len(mentions) > limits.document_mentions:
        over = f"{len(mentions):,} mentions; {limits.at_most('document_mentions')}"
        faults.add("documents over a limit", f"{place} has {over}")
        return
    row: dict[str, Any] = {"id": name, "text": text, "mentions": mentions}
    for key, value in document.items():
        if key not in row and value is not None:
            row[key] = one_line(value)[: limits.name_characters] if key in ("title", "url") else _whole(value)
    out.documents.append(_encode(row))
    out.ids.append(xxhash.xxh3_64_intdigest(name.encode()))
    out.places.append(place)
    out.mentions.append(len(mentions))


def _mentions(
    given: list[MentionRow], text: str, place: str, faults: Faults, limits: Limits, surfaces: _Surfaces
) -> list[MentionRow]:
    """The usable mentions in the order of the text, none twice."""
    keys = [(m["start"], m["end"], m["entity"]) for m in given]
    if not all(type(key[2]) is str and (key[2] in _sound or _is_sound(key[2])) for key in keys):
        given = [{**m, "entity": one_line(str(m["entity"] or ""))} for m in given]
        keys = [_key(m) for m in given]
    if not all(map(lt, keys, keys[1:])):
        order = sorted(range(len(keys)), key=keys.__getitem__)
        order = [i for n, i in enumerate(order) if n == 0 or keys[i] != keys[order[n - 1]]]
        given, keys = [given[i] for i in order], [keys[i] for i in order]
    size, most = len(text), limits.id_characters
    for (start, end, entity), mention in zip(keys, given, strict=True):
        if not (0 <= start < end <= size and 0 < len(entity) <= most and text[start].isalnum() and len(mention) == 3):
            given = [m for m in given if _usable_mention(m, text, place, faults, limits)]
            keys = [_key(m) for m in given]
            break
    surfaces.update([(entity, text[start:end]) for start, end, entity in keys])
    return given


def _key(mention: MentionRow) -> tuple[int, int, str]:
    return mention["start"], mention["end"], mention["entity"]


def _usable_mention(mention: MentionRow, text: str, place: str, faults: Faults, limits: Limits) -> bool:
    """Whether a mention can be written; it is a fault where it cannot."""
    start, end, entity = _key(mention)
    where = f"{place}: mention {start}-{end}"
    if not 0 <= start < end <= len(text):
        faults.add("mentions outside the text", f"{where} in {len(text):,} characters")
    elif not entity or len(entity) > limits.id_characters:
        faults.add("mentions without a usable entity", f"{where} names {quote(entity)}")
    elif not has_token(text, start, end):
        faults.add("mentions that cover no token", f"{where}: {quote(text[start:end])}")
    elif "confidence" in mention and not math.isfinite(mention["confidence"]):
        faults.add("mentions with a bad confidence", where)
    else:
        return True
    return False


_sound: set[str] = set()  # ids that were looked at before


def _is_sound(name: str) -> bool:
    """Whether an id can be written as it is."""
    if one_line(name) != name:
        return False
    if len(_sound) >= 1 << 18:
        _sound.clear()
    _sound.add(name)
    return True


def has_token(text: str, start: int, end: int) -> bool:
    """Whether a letter, a mark or a digit is in the span: what the tokens of an index are made of."""
    if text[start].isalnum() or _WORD.search(text, start, end):
        return True
    return any(unicodedata.category(c)[0] in "LMN" for c in text[start:end])


def whole_text(text: str) -> str:
    """The text with each half of a surrogate pair replaced by U+FFFD."""
    try:
        text.encode()  # five times as fast as to look for one
        return text
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)


def one_line(text: str) -> str:
    """The text without control characters and line ends: a blank for each run of them."""
    if text.isprintable():  # which half surrogate pairs are not
        return text.strip()
    return whole_text(_CONTROL.sub(" ", text)).strip()


def _whole(value: Any) -> Any:
    """A value whose strings can be written."""
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, dict):
        return {whole_text(str(key)): _whole(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(inner) for inner in value]
    return value


def entity_line(row: EntityRow, faults: Faults, limits: Limits) -> bytes | None:
    """A line of a run of entities."""
    name = one_line(row.id)
    if not name or len(name) > limits.id_characters:
        faults.add("entities without a usable id", f"entity {quote(name)}")
        return None
    return "\t".join(entity_cells(row, limits)).encode()


def entity_cells(row: EntityRow, limits: Limits) -> list[str]:
    """Id, name, types and aliases as they are written."""
    aliases = (_clean_name(alias, limits).replace("|", "/") for alias in row.aliases)
    shown = "|".join(dict.fromkeys(filter(None, aliases)))
    return [one_line(row.id), _clean_name(row.name, limits), _ids(row.types), shown]


def type_line(row: TypeRow, faults: Faults, limits: Limits) -> bytes | None:
    """A line of a run of types."""
    name = type_id(row.id)
    if not name or len(name) > limits.id_characters:
        faults.add("types without a usable id", f"type {quote(name)}")
        return None
    return "\t".join((name, _clean_name(row.name, limits), _ids(row.supertypes))).encode()


def type_id(name: str) -> str:
    """An id of a type as files can hold it."""
    return one_line(name).replace("|", "_")


def _ids(names: Iterable[str]) -> str:
    return "|".join(dict.fromkeys(filter(None, map(type_id, names))))


def _clean_name(name: str, limits: Limits) -> str:
    return one_line(name or "")[: limits.name_characters]


def name_of(identifier: str) -> str:
    """The name of something of which only the id is known."""
    return identifier.replace("_", " ").strip() or identifier

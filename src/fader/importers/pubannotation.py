"""PubAnnotation's JSON: texts with denotations.

    {"sourcedb": "PubMed", "sourceid": "227508", "text": "Naloxone reverses ...",
     "denotations": [{"id": "T1", "span": {"begin": 0, "end": 8}, "obj": "Chemical"}],
     "attributes": [{"subj": "T1", "pred": "id", "obj": "MESH:D009270"}]}

One document a source, one a line, or an array. The `obj` of a denotation is its type, and its entity is in an attribute
whose predicate names an id; without one, an `obj` that looks like an id (with a colon, or an address) is the entity;
else the entity is `TYPE:words`. A span of several pieces goes from the first to the last. Relations are counted. A
division of an article (`divid`) is a document of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fader.corpus.documents import Faults
from fader.importers.base import Batch, Importer, Records
from fader.importers.heads import stem
from fader.importers.jsoncut import json_batches, objects
from fader.importers.spans import Given, mentions_of
from fader.importers.standoff import add_row, unnamed

PIECES = "mentions in several pieces, from the first to the last"
RELATIONS = "relations, which are not imported"
WRONG = "documents that cannot be read"
_NAMED = re.compile(r"(?:.*[_:])?(?:id|identifier|reference|denoted_by|normali[sz]ation|uri|iri|link)", re.IGNORECASE)
_ID = re.compile(r"https?://\S+|[A-Za-z][\w.-]*:[^\s:/]\S*")


@dataclass(frozen=True)
class PubAnnotation(Importer):
    """Texts with denotations."""

    name: ClassVar[str] = "pubannotation"
    title: ClassVar[str] = "PubAnnotation's JSON"
    example: ClassVar[str] = "fader import pubannotation annotations.json -o corpus/"
    citation: ClassVar[str] = "Kim et al. 2019, Open Agile text mining, doi:10.1093/bioinformatics/btz227"

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return json_batches(sources, faults)

    def convert(self, batch: Batch, state: Any, faults: Faults) -> Records:
        out = Records()
        for place, value in objects(batch, faults):
            try:
                _document(value, f"{stem(batch.source)}:{place.split()[-1].replace(',', '')}", place, out, faults)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                what = f"not as PubAnnotation has it ({type(error).__name__}: {error})"
                faults.add(WRONG, f"{place}: the document is {what}")
        return out


def _document(value: dict[str, Any], fallback: str, place: str, out: Records, faults: Faults) -> None:
    text = value["text"]
    if not isinstance(text, str):
        raise TypeError("text must be a string")
    if count := len(value.get("relations") or ()):
        out.counts[RELATIONS] = out.counts.get(RELATIONS, 0) + count
    said = {
        attribute["subj"]: str(attribute["obj"])
        for attribute in value.get("attributes") or ()
        if _NAMED.fullmatch(str(attribute.get("pred", "")))
    }
    given, names, kinds = list[Given](), list[list[str]](), list[str]()
    for denotation in value.get("denotations") or ():
        spans = denotation["span"] if isinstance(denotation["span"], list) else [denotation["span"]]
        start, end = min(int(s["begin"]) for s in spans), max(int(s["end"]) for s in spans)
        if len(spans) > 1:
            out.counts[PIECES] = out.counts.get(PIECES, 0) + 1
        kind, entity = str(denotation.get("obj") or ""), said.get(denotation.get("id"), "")
        if not entity and _ID.fullmatch(kind):
            kind, entity = "", kind
        given.append((start, end, ""))
        names.append([entity or unnamed(kind, text[start:end])])
        kinds.append(kind)
    mentions = mentions_of(text, given, names, lambda _i: place, faults, out.counts)
    kept = {mention["entity"] for mention in mentions}
    for (name,), kind in zip(names, kinds, strict=True):
        if name in kept:
            add_row(out, name, kind)
    parts = [str(value[key]) for key in ("sourcedb", "sourceid", "divid") if value.get(key) not in (None, "")]
    document = {"id": ":".join(parts) or fallback, "text": text, "mentions": mentions}
    if isinstance(value.get("target"), str):
        document["url"] = value["target"]
    out.documents.append(document)

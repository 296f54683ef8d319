"""PubAnnotation's JSON: texts with denotations.

    {"sourcedb": "PubMed", "sourceid": "227508", "text": "Naloxone reverses ...",
     "denotations": [{"id": "T1", "span": {"begin": 0, "end": 8}, "obj": "Chemical"}],
     "attributes": [{"subj": "T1", "pred": "id", "obj": "MESH:D009270"}]}

One document per source, one per line, or an array. The `obj` of a denotation is its type; its entity is in an attribute
whose predicate names an id; without one, an `obj` that looks like an id (with a colon, or an address) is the entity;
else the entity is `TYPE:words`. A span of several pieces goes from the first to the last. Relations are counted. Where
several projects annotate a text, their `tracks` are joined. A division of an article (`divid`) is a document of its
own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fader.corpora.frame.base import Batch, Importer, Records
from fader.corpora.frame.faults import PIECES, RELATIONS, tally
from fader.corpora.frame.inputs import stem
from fader.corpora.parsers.jsoncut import cut_json, read_objects
from fader.corpora.parsers.text.spans import Linked, make_mentions
from fader.corpora.parsers.text.tokens import add_row, make_entity_id
from fader.corpus.documents import Faults
from fader.errors import quote

UNREADABLE = "documents that cannot be read"
WRONG = "denotations that cannot be read"
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
        return cut_json(sources, faults)

    def convert(self, batch: Batch, state: Any, faults: Faults) -> Records:
        out = Records()
        for place, value in read_objects(batch, faults):
            if isinstance(value.get("text"), str):
                _add_document(value, f"{stem(batch.source)}:{place.split()[-1].replace(',', '')}", place, out, faults)
            else:
                faults.add(UNREADABLE, f"{place}: the document needs a string under the key text")
        return out


def _add_document(value: dict[str, Any], fallback: str, place: str, out: Records, faults: Faults) -> None:
    text = value["text"]
    tracks: list[Any] = value["tracks"] if isinstance(value.get("tracks"), list) else []
    denoted = [each for track in (value, *tracks) for each in _read_denotations(track, text, place, out, faults)]
    mentions, kept = make_mentions(text, denoted, faults, out.counts)
    for each in denoted:
        if each.entities[0] in kept:
            add_row(out, each.entities[0], each.kind)
    parts = [str(value[key]) for key in ("sourcedb", "sourceid", "divid") if value.get(key) not in (None, "")]
    document = {"id": ":".join(parts) or fallback, "text": text, "mentions": mentions}
    if isinstance(value.get("target"), str):
        document["url"] = value["target"]
    out.documents.append(document)


def _read_denotations(track: Any, text: str, place: str, out: Records, faults: Faults) -> Iterator[Linked]:
    """What a document, or one of its tracks, denotes."""
    if not isinstance(track, dict):
        faults.add(WRONG, f"{place}: a track must be an object, not {quote(str(track), 40)}")
        return
    tally(out.counts, RELATIONS, len(track.get("relations") or ()))
    said = {
        attribute.get("subj"): str(attribute.get("obj"))
        for attribute in track.get("attributes") or ()
        if isinstance(attribute, dict) and _NAMED.fullmatch(str(attribute.get("pred", "")))
    }
    for denotation in track.get("denotations") or ():
        try:
            spans = denotation["span"] if isinstance(denotation["span"], list) else [denotation["span"]]
            start, end = min(int(s["begin"]) for s in spans), max(int(s["end"]) for s in spans)
            kind, entity = str(denotation.get("obj") or ""), said.get(denotation.get("id"), "")
        except (KeyError, TypeError, ValueError, AttributeError):
            what = "a denotation needs a span with begin and end, whole numbers"
            faults.add(WRONG, f"{place}: {what}, not {quote(str(denotation), 60)}")
            continue
        tally(out.counts, PIECES, len(spans) > 1)
        if not entity and _ID.fullmatch(kind):
            kind, entity = "", kind
        entity = entity or make_entity_id(kind, text[max(start, 0) : max(end, 0)])
        yield Linked((start, end, ""), [entity], place, kind)

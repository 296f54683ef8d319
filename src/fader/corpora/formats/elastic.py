"""Elasticsearch's annotated_text: JSON documents whose text has entities in it, like links of Markdown.

    Investors in [Apple](Apple+Inc.) rejoiced; [Jeff Beck](Jeff%20Beck&Guitarist) did not.

Sources are bodies of the bulk API (a line of action, a line of document), what elasticdump writes (`_id`, `_source`),
or one document per line. The option `field` names the field, with dots for one inside another. Values are URL-encoded
and joined by `&`: the first is the entity, the others are its types, or with the option `further` entities too. The
plugin refuses `key=value` annotations; they are dropped with a fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar
from urllib.parse import unquote_plus

import msgspec

from fader.corpora.frame.base import Batch, EntityRow, Importer, MentionRow, Records, TypeRow, option
from fader.corpora.frame.faults import at
from fader.corpora.frame.inputs import decode_line, group_batches, head, stem
from fader.corpus.documents import Faults
from fader.errors import quote

_MARKUP = re.compile(r"\[([^\]\[]*)\]\(([^)(]*)\)")
_ACTION = re.compile(rb'\s*\{\s*"(index|create|update|delete)"\s*:\s*\{')


@dataclass(frozen=True)
class Elastic(Importer):
    """Documents with annotated_text."""

    name: ClassVar[str] = "elastic"
    title: ClassVar[str] = "Elasticsearch's annotated_text in JSON lines or bulk bodies"
    example: ClassVar[str] = "fader import elastic bulk.json --field my_field -o corpus/"
    citation: ClassVar[str] = "https://www.elastic.co/docs/reference/elasticsearch/plugins/mapper-annotated-text"
    passes: ClassVar[int] = 2  # the first line says what it is

    field: str = option("text", "The field that has the annotated text; a.b for b inside a.")
    further: str = option(
        "types", "What values behind the first are: types of the entity, or entities.", choices=("types", "entities")
    )

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return chain.from_iterable(
            group_batches([s], faults, _ACTION.match if _ACTION.match(head(s)) else None) for s in sources
        )

    def convert(self, batch: Batch, state: Any, faults: Faults) -> Records:
        out = Records()
        action: dict[str, Any] = {}
        for number, raw in enumerate(batch.payload, batch.place):
            line = decode_line(raw, number, batch.source, faults)
            if line is None or not line.strip():
                action = action if line is not None else {}
                continue
            place = at(batch.source, number)
            try:
                value = msgspec.json.decode(line)
            except (msgspec.DecodeError, RecursionError) as error:
                why = "brackets are nested too deeply" if isinstance(error, RecursionError) else str(error)
                faults.add("lines that are not JSON", f"{place}: {why}; write one object per line")
                action = {}
                continue
            if not isinstance(value, dict):
                what = f"needs an object in braces, not {quote(line, 40)}"
                faults.add("lines that are not JSON", f"{place}: {what}")
            elif _ACTION.match(line.encode()) and len(value) == 1:
                kind, said = next(iter(value.items()))
                action = {"update": kind == "update", **said} if kind != "delete" else {}
            else:
                self._document(value, action, number, batch.source, out, faults)
                action = {}
        return out

    def _document(
        self, value: dict[str, Any], action: dict[str, Any], number: int, source: str, out: Records, faults: Faults
    ) -> None:
        inner = value.get("doc") if action.get("update") else value.get("_source")
        fields = inner if isinstance(inner, dict) else value
        name = action.get("_id") or value.get("_id") or fields.get("id") or f"{stem(source)}:{number}"
        marked: Any = fields
        for key in self.field.split("."):
            marked = marked.get(key) if isinstance(marked, dict) else None
        if isinstance(marked, list) and all(isinstance(each, str) for each in marked):
            marked = "\n".join(marked)
        if not isinstance(marked, str):
            what = f"no text in the field {quote(self.field)}; name the field with --field"
            faults.add("documents without a text", f"{at(source, number)}: {what}")
            return
        text, mentions = self._plain(marked, at(source, number), out, faults)
        document = {"id": str(name), "text": text, "mentions": mentions}
        for key in ("title", "url"):
            if isinstance(fields.get(key), str) and key != self.field:
                document[key] = fields[key]
        out.documents.append(document)

    def _plain(self, marked: str, place: str, out: Records, faults: Faults) -> tuple[str, list[MentionRow]]:
        """The text without markup, and its mentions."""
        pieces, mentions, last, size = list[str](), list[MentionRow](), 0, 0
        for found in _MARKUP.finditer(marked):
            pieces += [marked[last : found.start()], found[1]]
            start = size + found.start() - last
            last, size = found.end(), start + len(found[1])
            values = [unquote_plus(value) for value in found[2].split("&") if value and "=" not in value]
            if "=" in found[2]:
                faults.add("annotations with a key", f"{place}: {quote(found[0])}; the plugin takes values alone")
            if not values:
                continue
            types = values[1:] if self.further == "types" else []
            for value in values[:1] if self.further == "types" else values:
                entity = "_".join(value.split())
                mentions.append({"start": start, "end": size, "entity": entity})
                out.entities.append(EntityRow(entity, value, types))
            out.types += [TypeRow(kind, kind) for kind in types]
        return "".join([*pieces, marked[last:]]), mentions

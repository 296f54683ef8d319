"""OBO ontologies (Gene Ontology, Disease Ontology, ChEBI ...): terms to types, or to types and entities.

    [Term]
    id: DOID:8469
    name: influenza
    synonym: "flu" EXACT []
    is_a: DOID:934 ! viral infectious disease

A term is a type below those it `is_a`. With `entities` it is an entity too, of the type that it is itself, so that a
search for a type finds it and all below it; its synonyms and former ids are aliases. Obsolete terms and other
stanzas are left out. Knows no relations but `is_a`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fader.corpora.frame.base import Batch, EntityRow, Importer, Records, TypeRow, option
from fader.corpora.frame.faults import at, tally
from fader.corpora.frame.inputs import decode_lines, group_batches
from fader.corpus.documents import Faults

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(.)")
_REMARK = re.compile(r"(?<!\\)\s+[!{].*")
_PLAIN = {"n": "\n", "t": "\t", "W": " "}


@dataclass(frozen=True)
class Obo(Importer):
    """The terms of an ontology in OBO."""

    name: ClassVar[str] = "obo"
    title: ClassVar[str] = "an OBO ontology: types, no documents"
    example: ClassVar[str] = "fader import obo doid.obo --entities -o catalog/"
    citation: ClassVar[str] = "https://owlcollab.github.io/oboformat/doc/GO.format.obo-1_4.html"

    entities: bool = option(False, "Terms are entities too, each of the type that it is.")

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return group_batches(sources, faults, lambda line: line.startswith(b"["))

    def convert(self, batch: Batch, state: Any, faults: Faults) -> Records:
        out = Records()
        for number, tags in _read_terms(batch, faults):
            if tags.get("is_obsolete") == ["true"]:
                tally(out.counts, "obsolete terms")
                continue
            if not tags.get("id"):
                faults.add("terms without an id", f"{at(batch.source, number)}: a term needs an id")
                continue
            name, shown = tags["id"][0], tags.get("name", [""])[0]
            out.types.append(TypeRow(name, shown, tags.get("is_a", [])))
            if self.entities:
                synonyms = [_unescape(found[1]) for text in tags.get("synonym", []) if (found := _QUOTED.match(text))]
                out.entities.append(EntityRow(name, shown, (name,), (*synonyms, *tags.get("alt_id", []))))
        return out


def _read_terms(batch: Batch, faults: Faults) -> Iterator[tuple[int, dict[str, list[str]]]]:
    """The stanzas of terms: the line they begin at, and their values by tag."""
    tags: dict[str, list[str]] | None = None
    begin = batch.place
    for number, line in decode_lines(enumerate(batch.payload, batch.place), batch.source, faults):
        if line.startswith("["):
            if tags is not None:
                yield begin, tags
            tags, begin = ({} if line.strip() == "[Term]" else None), number
        elif tags is not None and ":" in line and line[0] != "!":
            tag, _colon, value = line.partition(":")
            value = value.strip()
            if tag != "synonym":
                value = _unescape(_REMARK.sub("", value))
            tags.setdefault(tag.strip(), []).append(value)
    if tags is not None:
        yield begin, tags


def _unescape(text: str) -> str:
    """Without the backslashes before characters that mean something."""
    return _ESCAPE.sub(lambda found: _PLAIN.get(found[1], found[1]), text).strip()

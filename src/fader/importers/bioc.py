"""BioC, XML and JSON: documents in passages, with annotations that carry identifiers; also as PubTator3 gives them out.

    <document><id>14510914</id><passage><offset>0</offset><text>Congenital hypothyroidism ...</text>
      <annotation id="0"><infon key="identifier">MESH:D003409</infon><infon key="type">Disease</infon>
        <location offset="0" length="25"/><text>Congenital hypothyroidism</text></annotation></passage></document>

JSON has the same tree. A document's text is that of its passages, a line each. Locations count from the beginning of
the document, so the passage's offset is subtracted; where a source counts from the passage, that is noticed by the
words. An annotation of several locations is one mention, from the first to the last. Identifiers are in the infon
`identifier` or in one named like their resource (`concepts`). Relations and annotations without an identifier are
counted. A tar archive of XML files is read as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from xml.etree import ElementTree

from fader.corpus.documents import Faults
from fader.importers.base import Batch, Importer, Records, option
from fader.importers.conceptrows import ConceptRows, place_by_name
from fader.importers.concepts import UNLINKED, concepts, kinds
from fader.importers.faults import at
from fader.importers.heads import head
from fader.importers.inputs import marked_batches
from fader.importers.jsoncut import json_batches, objects
from fader.importers.mesh import Mesh, read_mesh
from fader.importers.spans import Given, mentions_of, placed
from fader.importers.store import Store
from fader.progress import Progress

_DOCUMENT = re.compile(rb"<document>.*?</document>", re.DOTALL)
_OPEN = re.compile(rb"<document>")
_COLLECTION = rb"documents|PubTator3"
_GENERAL = ("identifier", "Identifier", "identifiers", "normalized_id", "concept_id", "ui", "UI", "ID", "id")
_NAMED = ("MESH", "MeSH", "mesh", "OMIM", "UMLS", "CHEBI", "ChEBI", "NCBI Gene", "NCBI GENE", "NCBI gene",
          "NCBIGene", "NCBI Taxonomy", "NCBI Species", "Species", "Cellosaurus", "dbSNP")  # fmt: skip
UNREADABLE = "documents that cannot be read"
RELATIONS = "relations, which are not imported"
PIECES = "mentions in several pieces, from the first to the last"


class _Note(NamedTuple):
    """An annotation; `locations` are pairs of offset and length."""

    locations: list[tuple[int, int]]
    words: str
    infons: dict[str, str]


class _Unit(NamedTuple):
    """A passage, or a sentence of a passage that has no text itself."""

    offset: int
    text: str
    notes: list[_Note]
    title: bool


@dataclass(frozen=True)
class BioC(Importer):
    """Documents with annotations in BioC."""

    name: ClassVar[str] = "bioc"
    title: ClassVar[str] = "BioC XML or JSON, also of PubTator3"
    example: ClassVar[str] = "fader import bioc BioCXML.0.tar.gz --mesh desc2026.xml -o corpus/"
    citation: ClassVar[str] = "Comeau et al. 2013, BioC, doi:10.1093/database/bat064; Wei et al. 2024, PubTator 3.0"
    passes: ClassVar[int] = 2  # the first bytes say what it is

    mesh: str = option("", "A file of MeSH (descriptors or tree) that gives entities their names and types.", path=True)

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return chain.from_iterable(_cut(source, faults) for source in sources)

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> Any:
        return read_mesh([self.mesh], faults, progress) if self.mesh else None

    def convert(self, batch: Batch, state: Mesh | None, faults: Faults) -> Records:
        out, rows = Records(), ConceptRows(state)
        layout, payload = batch.payload
        batch = batch._replace(payload=payload)
        for place, tree in _from_xml(batch, faults) if layout == "xml" else _from_json(batch, faults):
            try:
                _document(tree, place, rows, out, faults)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                what = f"not as BioC has it ({type(error).__name__}: {error})"
                faults.add(UNREADABLE, f"{place}: the document is {what}")
        rows.add_to(out)
        return out

    def finish(self, state: Mesh | None, store: Store) -> None:
        place_by_name(state, store)


def _cut(source: str, faults: Faults) -> Iterator[Batch]:
    """A source in pieces, with its layout by its first bytes."""
    if head(source).lstrip()[:1] in (b"{", b"["):
        pieces, layout = json_batches([source], faults, _COLLECTION), "json"
    else:
        pieces, layout = marked_batches([source], faults, b"</document>"), "xml"
    for batch in pieces:
        yield batch._replace(payload=(layout, batch.payload))


def _from_json(batch: Batch, faults: Faults) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, tree in objects(batch, faults):
        if isinstance(tree, dict) and ("passages" in tree or "id" in tree):
            yield place, tree
        else:
            faults.add(UNREADABLE, f"{place}: an object without the keys id and passages")


def _from_xml(batch: Batch, faults: Faults) -> Iterator[tuple[str, dict[str, Any]]]:
    """Documents as JSON would have them."""
    end = 0
    for found in _DOCUMENT.finditer(batch.payload):
        end = found.end()
        place = at(batch.source, batch.place + found.start(), "byte")
        try:
            yield place, _tree(ElementTree.fromstring(found[0]))
        except (ElementTree.ParseError, ValueError) as error:
            faults.add(UNREADABLE, f"{place}: {error} in the document that begins here")
    if rest := _OPEN.search(batch.payload, end):
        place = at(batch.source, batch.place + rest.start(), "byte")
        faults.add(UNREADABLE, f"{place}: the document has no end; get a whole copy of the file")


def _tree(element: ElementTree.Element) -> dict[str, Any]:
    """An element of BioC XML, with what is below it, as BioC JSON has it."""
    tree: dict[str, Any] = {"infons": {i.get("key", ""): i.text or "" for i in element.findall("infon")}}
    for child in element:
        if child.tag in ("id", "offset", "text"):
            tree[child.tag] = child.text or ""
        elif child.tag in ("passage", "sentence", "annotation", "relation"):
            tree.setdefault(f"{child.tag}s", []).append(_tree(child))
        elif child.tag == "location":
            tree.setdefault("locations", []).append(dict(child.attrib))
    return tree


def _document(tree: dict[str, Any], place: str, rows: ConceptRows, out: Records, faults: Faults) -> None:
    units = [unit for passage in tree.get("passages") or [] for unit in _units(passage, out.counts)]
    _count(out.counts, RELATIONS, len(tree.get("relations") or ()))
    text, mentions = "", list[dict[str, Any]]()
    for unit in units:
        base = len(text)
        for mention in _mentions(unit, place, rows, out.counts, faults):
            mentions.append({**mention, "start": mention["start"] + base, "end": mention["end"] + base})
        text += unit.text + "\n"
    titles = [unit.text for unit in units if unit.title]
    document: dict[str, Any] = {"id": str(tree.get("id") or ""), "text": text.rstrip("\n"), "mentions": mentions}
    out.documents.append({**document, "title": titles[0]} if titles else document)


def _units(passage: dict[str, Any], counts: dict[str, int]) -> Iterator[_Unit]:
    """A passage as one unit, or its sentences if it has no text of its own."""
    sentences = passage.get("sentences") or []
    for each in (passage, *sentences):
        _count(counts, RELATIONS, len(each.get("relations") or ()))
    infons = passage.get("infons") or {}
    title = str(infons.get("type", "")).lower() in ("title", "front")
    notes = [_note(a) for a in passage.get("annotations") or []]
    if passage.get("text") or not sentences:
        notes += [_note(a) for s in sentences for a in s.get("annotations") or []]
        yield _Unit(int(passage.get("offset") or 0), passage.get("text") or "", notes, title)
        return
    for sentence in sentences:
        offset, text = int(sentence.get("offset") or 0), sentence.get("text") or ""
        mine = [_note(a) for a in sentence.get("annotations") or []]
        mine += [n for n in notes if n.locations and offset <= n.locations[0][0] < offset + max(len(text), 1)]
        yield _Unit(offset, text, mine, title and sentence is sentences[0])


def _note(annotation: dict[str, Any]) -> _Note:
    locations = sorted((int(each["offset"]), int(each["length"])) for each in annotation.get("locations") or [])
    infons = {str(k): _written(v) for k, v in (annotation.get("infons") or {}).items()}
    return _Note(locations, annotation.get("text") or "", infons)


def _written(value: Any) -> str:
    """An infon's value as text; PubTator3's JSON also has lists, numbers and nulls."""
    if isinstance(value, list):
        return ";".join(_written(each) for each in value)
    return "" if value is None else str(value)


def _mentions(
    unit: _Unit, place: str, rows: ConceptRows, counts: dict[str, int], faults: Faults
) -> list[dict[str, Any]]:
    given: list[Given] = []
    entities: list[list[str]] = []
    notes: list[_Note] = []
    for note in unit.notes:
        kind = note.infons.get("type", "")
        names = _identifiers(note.infons, kind)
        if not names or not note.locations:
            _count(counts, UNLINKED, 1)
            continue
        first, last = note.locations[0][0], max(offset + length for offset, length in note.locations)
        _count(counts, PIECES, len(note.locations) > 1)
        given.append((first - unit.offset, last - unit.offset, _words(note, unit)))
        entities.append(names)
        notes.append(note)
    if unit.offset and None in placed(unit.text, given).spans:
        there = [(start + unit.offset, end + unit.offset, words) for start, end, words in given]
        if placed(unit.text, there).spans.count(None) < placed(unit.text, given).spans.count(None):
            given = there  # the source counts from the passage
    mentions = mentions_of(unit.text, given, entities, lambda _i: place, faults, counts)
    kept = {mention["entity"] for mention in mentions}
    for names, note in zip(entities, notes, strict=True):
        titles = {names[0]: note.infons.get("name", "")} if len(names) == 1 else {}
        rows.see([name for name in names if name in kept], kinds(note.infons.get("type", "")), titles)
    return mentions


def _words(note: _Note, unit: _Unit) -> str:
    """The words that the mention must have: of an annotation in pieces, all from the first to the last."""
    if len(note.locations) == 1:
        return note.words
    pieces = [unit.text[o - unit.offset : o - unit.offset + n] for o, n in note.locations]
    found, wanted = "".join(pieces), note.words.replace("...", "")
    return "" if "".join(found.split()) == "".join(wanted.split()) else note.words


def _identifiers(infons: dict[str, str], kind: str) -> list[str]:
    for key in _GENERAL:
        if found := concepts(infons.get(key, ""), kind, infons.get("database", "") if key == "normalized_id" else ""):
            return found
    for key in _NAMED:
        if found := concepts(infons.get(key, ""), kind, key):
            return found
    return []


def _count(counts: dict[str, int], name: str, more: int) -> None:
    if more:
        counts[name] = counts.get(name, 0) + int(more)

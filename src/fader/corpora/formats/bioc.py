"""BioC, XML and JSON: documents in passages, with annotations that carry identifiers; also as PubTator3 serves them.

    <document><id>14510914</id><passage><offset>0</offset><text>Congenital hypothyroidism ...</text>
      <annotation id="0"><infon key="identifier">MESH:D003409</infon><infon key="type">Disease</infon>
        <location offset="0" length="25"/><text>Congenital hypothyroidism</text></annotation></passage></document>

JSON has the same tree. A document's text is that of its passages, one per line. Locations count from the beginning of
the document, so the passage's offset is subtracted; where a source counts from the passage, that is noticed by the
words. An annotation of several locations is one mention, from the first to the last. Identifiers are in the infon
`identifier` or in one named like their resource (`find_concepts`). Relations and annotations without an identifier are
counted. Tar and zip archives of such files are read as they are (`biocfiles`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from xml.etree import ElementTree

from fader.corpora.frame.base import Batch, Importer, MentionRow, Records, option
from fader.corpora.frame.faults import PIECES, RELATIONS, UNLINKED, at, tally
from fader.corpora.frame.store import Store
from fader.corpora.parsers.biomedical.biocfiles import XML, cut_bioc
from fader.corpora.parsers.biomedical.concept_rows import MESH, ConceptRows, complete_rows, read_chosen_mesh
from fader.corpora.parsers.biomedical.concepts import find_concepts, split_kinds
from fader.corpora.parsers.biomedical.mesh_tables import Mesh
from fader.corpora.parsers.jsoncut import read_objects
from fader.corpora.parsers.text.spans import ELSEWHERE, Linked, make_mentions, place_mentions, stretch_pieces
from fader.corpus.documents import Faults
from fader.errors import quote
from fader.progress import Progress

_DOCUMENT = re.compile(rb"<document>.*?</document>", re.DOTALL)
_OPEN = re.compile(rb"<document>")
_GENERAL = ("identifier", "Identifier", "identifiers", "normalized_id", "concept_id", "ui", "UI", "ID", "id")
_NAMED = (
    "MESH|MeSH|mesh|OMIM|UMLS|CHEBI|ChEBI|NCBI Gene|NCBI GENE|NCBI gene|NCBIGene|NCBI Taxonomy|NCBI Species|Species"
    "|Cellosaurus|dbSNP"
).split("|")
UNREADABLE = "documents that cannot be read"
WRONG = "annotations that cannot be read"


class _Note(NamedTuple):
    """An annotation; `pieces` are where it begins and ends, counted from the beginning of the document."""

    pieces: list[tuple[int, int]]
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
    title: ClassVar[str] = "BioC XML or JSON, also of PubTator3, and tar or zip archives of them"
    example: ClassVar[str] = "fader import bioc BioCXML.0.tar.gz --mesh desc2026.xml -o corpus/"
    citation: ClassVar[str] = "Comeau et al. 2013, BioC, doi:10.1093/database/bat064; Wei et al. 2024, PubTator 3.0"
    passes: ClassVar[int] = 2  # the first bytes say what it is
    archives: ClassVar[bool] = True  # it reads tar and zip archives itself
    state_type: ClassVar[Any] = Mesh | None

    mesh: str = option("", MESH, path=True)

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return cut_bioc(sources, faults)

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> Any:
        return read_chosen_mesh(self.mesh, faults, progress)

    def convert(self, batch: Batch, state: Mesh | None, faults: Faults) -> Records:
        out, rows = Records(), ConceptRows(state)
        for layout, source, first, data in batch.payload:
            piece = Batch(source, first, data, 0)
            for place, tree in _read_xml(piece, faults) if layout == XML else _read_json(piece, faults):
                try:
                    _add_document(tree, place, rows, out, faults)
                except (KeyError, TypeError, ValueError, AttributeError):
                    what = "passages, sentences and annotations must be lists of objects, offsets whole numbers"
                    faults.add(UNREADABLE, f"{place}: the document is not as BioC has it; {what}")
        rows.add_to(out)
        return out

    def finish(self, state: Mesh | None, store: Store) -> None:
        complete_rows(state, store)


def _read_json(batch: Batch, faults: Faults) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, tree in read_objects(batch, faults):
        inner = next((tree[key] for key in ("documents", "PubTator3") if isinstance(tree.get(key), list)), None)
        for each in [tree] if inner is None else inner:  # PMC's service gives an array of collections
            if isinstance(each, dict) and ("passages" in each or "id" in each):
                yield place, each
            else:
                faults.add(UNREADABLE, f"{place}: a document needs the keys id and passages")


def _read_xml(batch: Batch, faults: Faults) -> Iterator[tuple[str, dict[str, Any]]]:
    """Documents as JSON would have them."""
    end = 0
    for found in _DOCUMENT.finditer(batch.payload):
        end = found.end()
        place = at(batch.source, batch.place + found.start(), "byte")
        try:
            yield place, _make_tree(ElementTree.fromstring(found[0]))
        except (ElementTree.ParseError, ValueError) as error:
            faults.add(UNREADABLE, f"{place}: {error} in the document that begins here")
    if rest := _OPEN.search(batch.payload, end):
        place = at(batch.source, batch.place + rest.start(), "byte")
        faults.add(UNREADABLE, f"{place}: the document has no end; get a whole copy of the file")
    elif not end and not batch.place and b"<collection" not in batch.payload:
        what = "no <document> in it; give BioC XML, BioC JSON, or a tar or zip archive of them"
        faults.add(UNREADABLE, f"{at(batch.source, 0, 'byte')}: {what}")


def _make_tree(element: ElementTree.Element) -> dict[str, Any]:
    """An element of BioC XML, with what is below it, as BioC JSON has it."""
    tree: dict[str, Any] = {"infons": {i.get("key", ""): i.text or "" for i in element.findall("infon")}}
    for child in element:
        if child.tag in ("id", "offset", "text"):
            tree[child.tag] = child.text or ""
        elif child.tag in ("passage", "sentence", "annotation", "relation"):
            tree.setdefault(f"{child.tag}s", []).append(_make_tree(child))
        elif child.tag == "location":
            tree.setdefault("locations", []).append(dict(child.attrib))
    return tree


def _add_document(tree: dict[str, Any], place: str, rows: ConceptRows, out: Records, faults: Faults) -> None:
    units = [unit for passage in tree.get("passages") or [] for unit in _list_units(passage, place, out.counts, faults)]
    tally(out.counts, RELATIONS, len(tree.get("relations") or ()))
    text, mentions = "", list[MentionRow]()
    for unit in units:
        base = len(text)
        for mention in _find_mentions(unit, place, rows, out.counts, faults):
            mentions.append({**mention, "start": mention["start"] + base, "end": mention["end"] + base})
        text += unit.text + "\n"
    titles = [unit.text for unit in units if unit.title]
    document: dict[str, Any] = {"id": str(tree.get("id") or ""), "text": text.rstrip("\n"), "mentions": mentions}
    out.documents.append({**document, "title": titles[0]} if titles else document)


def _list_units(passage: dict[str, Any], place: str, counts: dict[str, int], faults: Faults) -> Iterator[_Unit]:
    """A passage as one unit, or its sentences if it has no text of its own."""
    sentences = passage.get("sentences") or []
    for each in (passage, *sentences):
        tally(counts, RELATIONS, len(each.get("relations") or ()))
    infons = passage.get("infons") or {}
    title = str(infons.get("type", "")).lower() in ("title", "front")
    notes = _read_notes(passage, place, faults)
    if passage.get("text") or not sentences:
        notes += [note for sentence in sentences for note in _read_notes(sentence, place, faults)]
        yield _Unit(int(passage.get("offset") or 0), passage.get("text") or "", notes, title)
        return
    for sentence in sentences:
        offset, text = int(sentence.get("offset") or 0), sentence.get("text") or ""
        mine = [n for n in notes if n.pieces and offset <= n.pieces[0][0] < offset + max(len(text), 1)]
        notes = [n for n in notes if n not in mine]
        yield _Unit(offset, text, _read_notes(sentence, place, faults) + mine, title and sentence is sentences[0])
    for note in notes:
        faults.add(ELSEWHERE, f"{place}: {quote(note.words, 40)} of a passage is in none of its sentences")


def _read_notes(unit: dict[str, Any], place: str, faults: Faults) -> list[_Note]:
    """The annotations of a passage or a sentence."""
    notes: list[_Note] = []
    for annotation in unit.get("annotations") or []:
        try:
            starts = [(int(each["offset"]), int(each["length"])) for each in annotation.get("locations") or []]
            infons = {str(k): _write_infon(v) for k, v in (annotation.get("infons") or {}).items()}
            pieces = sorted((start, start + length) for start, length in starts)
            notes.append(_Note(pieces, str(annotation.get("text") or ""), infons))
        except (KeyError, TypeError, ValueError, AttributeError):
            what = "an annotation needs locations with a whole offset and length, and infons"
            faults.add(WRONG, f"{place}: {what}, not {quote(str(annotation), 60)}")
    return notes


def _write_infon(value: Any) -> str:
    """An infon's value as text; PubTator3's JSON also has lists, numbers and nulls."""
    if isinstance(value, list):
        return ";".join(_write_infon(each) for each in value)
    return "" if value is None else str(value)


def _find_mentions(
    unit: _Unit, place: str, rows: ConceptRows, counts: dict[str, int], faults: Faults
) -> list[MentionRow]:
    linked: list[Linked] = []
    notes: list[_Note] = []
    for note in unit.notes:
        kind = note.infons.get("type", "")
        names = _find_identifiers(note.infons, kind)
        if not names:
            tally(counts, UNLINKED)
        elif not note.pieces:
            faults.add(WRONG, f"{place}: {quote(note.words, 40)} has no location")
        else:
            tally(counts, PIECES, len(note.pieces) > 1)
            pieces = [(start - unit.offset, end - unit.offset) for start, end in note.pieces]
            linked.append(Linked(stretch_pieces(unit.text, pieces, note.words), names, place, kind))
            notes.append(note)
    given = [each.given for each in linked]
    if unit.offset and (wrong := place_mentions(unit.text, given).wrong):
        there = [(start + unit.offset, end + unit.offset, words) for start, end, words in given]
        if place_mentions(unit.text, there).wrong < wrong:  # the source counts from the passage
            linked = [each._replace(given=span) for each, span in zip(linked, there, strict=True)]
    mentions, kept = make_mentions(unit.text, linked, faults, counts)
    for each, note in zip(linked, notes, strict=True):
        titles = {each.entities[0]: note.infons.get("name", "")} if len(each.entities) == 1 else {}
        if kept.issuperset(each.entities):
            rows.see(each.entities, split_kinds(each.kind), titles, note.words)
    return mentions


def _find_identifiers(infons: dict[str, str], kind: str) -> Sequence[str]:
    spaces = {**dict.fromkeys(_GENERAL, ""), **{key: key for key in _NAMED}}
    spaces["normalized_id"] = infons.get("database", "")
    found = (find_concepts(infons.get(key, ""), kind, space) for key, space in spaces.items())
    return next(filter(None, found), ())

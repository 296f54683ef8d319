"""NIF 2.0: texts and their mentions as RDF, in Turtle or N-Triples.

    <http://ex/d1#char=0,26> a nif:Context ; nif:isString "Welcome to Berlin in 2016." .
    <http://ex/d1#char=11,17> a nif:Phrase ; nif:referenceContext <http://ex/d1#char=0,26> ; nif:anchorOf "Berlin" ;
        nif:beginIndex "11" ; nif:endIndex "17" ; itsrdf:taIdentRef <http://dbpedia.org/resource/Berlin> ;
        itsrdf:taClassRef <http://dbpedia.org/ontology/City> ; itsrdf:taConfidence 0.9 .

A context is a document; its id is its address without the part that says which characters. A resource is an entity, a
class its type: of DBpedia, Wikidata, YAGO and Wikipedia by their local names, as the importers of those catalogs write
them, of others by the whole address. Indices that are missing are taken from the address. Mentions that are linked to
nothing, or to http://aksw.org/notInWiki/, are dropped and counted. What a phrase says in a `nif:annotationUnit`, as NIF
2.1 does, counts as said of the phrase. A source of up to `WHOLE` bytes may have its
statements in any order; a larger one must have those of a document together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import unquote

from fader.corpora.frame import inputs
from fader.corpora.frame.base import THING, Batch, EntityRow, Importer, Records, TypeRow
from fader.corpora.frame.faults import UNLINKED, at, tally
from fader.corpora.parsers.rdf.oxigraph import Context, read_turtle
from fader.corpora.parsers.rdf.vocabularies import RDF
from fader.corpora.parsers.text.spans import Linked, make_mentions
from fader.corpus.documents import Faults
from fader.corpus.readers import display_name, read_chunks
from fader.errors import InputError
from fader.limits import Limits

WHOLE = 1 << 26
NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
ITS = "http://www.w3.org/2005/11/its/rdf#"
_KEYS = {
    **{NIF + key: key for key in ("isString", "referenceContext", "anchorOf", "beginIndex", "endIndex", "sourceUrl")},
    **{ITS + key: key for key in ("taIdentRef", "taClassRef", "taConfidence")},
    NIF + "annotationUnit": "annotationUnit",
}
NOWHERE = ("http://aksw.org/notInWiki", "null", "NIL", "--NME--")
_START = re.compile(rb"\.[ \t]*\r?\n\s*<([^>#?]*)[>#?]")
_PREFIXES = re.compile(r"(?im)^\s*@?(?:prefix\s[^<>\n]*|base\s*)<[^>\n]*>[ \t]*\.?")
_FRAGMENT = re.compile(r"(?:char=|offset_)(\d{1,18})[,_](\d{1,18})")
_KNOWN = re.compile(
    r"https?://(?:(?:[a-z-]+\.)?dbpedia\.org/(?:resource|ontology)|www\.wikidata\.org/(?:entity|wiki)"
    r"|yago-knowledge\.org/resource|(?:[a-z-]+\.)(?:m\.)?wikipedia\.org/wiki)/(.+)"
)


@dataclass(slots=True)
class _Node:
    """What is said of a subject."""

    line: int
    said: dict[str, list[str]] = field(default_factory=dict)

    def one(self, key: str) -> str:
        return self.said.get(key, [""])[0]


@dataclass(frozen=True)
class Nif(Importer):
    """Texts and mentions in NIF."""

    name: ClassVar[str] = "nif"
    title: ClassVar[str] = "NIF 2.0: annotated texts as RDF (Turtle, N-Triples)"
    example: ClassVar[str] = "fader import nif kore50.ttl -o corpus/"
    citation: ClassVar[str] = "Hellmann et al. 2013, Integrating NLP using Linked Data, doi:10.1007/978-3-642-41338-4_7"

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        """The payload is the prefixes of the source, and a piece of it; the place is a line."""
        for source in sources:
            yield from _cut_documents(source, faults)

    def convert(self, batch: Batch, state: Any, faults: Faults) -> Records:
        out = Records()
        head, data = batch.payload
        text = _decode(data, batch, faults)
        nodes: dict[str, _Node] = {}
        for found in read_turtle(text, batch.source, faults, batch.place, Context.from_head(head)):
            key, value = _KEYS.get(found.predicate), found.object
            if found.predicate == RDF + "type" and value.startswith(NIF):
                key, value = "a", value.removeprefix(NIF)
            if key is not None:
                nodes.setdefault(found.subject, _Node(found.line)).said.setdefault(key, []).append(value)
        _add_records(nodes, batch.source, out, faults)
        return out


def _cut_documents(source: str, faults: Faults) -> Iterator[Batch]:
    held, line, head, consumed, some = bytearray(), 1, "", 0, False
    limit = Limits.from_environment().line_bytes
    try:
        for chunk, consumed in read_chunks(source):
            if not some:
                chunk = chunk.removeprefix(b"\xef\xbb\xbf")
                head = "\n".join(_PREFIXES.findall(chunk[: 1 << 16].decode("utf-8", "replace")))
            some = True
            held += chunk
            if len(held) > WHOLE and (end := _find_boundary(held)):
                yield Batch(display_name(source), line, (head, bytes(held[:end])), consumed)
                line += held.count(b"\n", 0, end)
                del held[:end]
            if len(held) > limit:
                inputs.report_excess(faults, source, 0, b"end of a document")
                return
    except InputError as error:
        inputs.report_cut(faults, source, error, some)
    if held.strip():
        yield Batch(display_name(source), line, (head, bytes(held)), consumed)


def _find_boundary(held: bytearray) -> int:
    """Where the last document but one ends: the last place where statements of another document begin."""
    starts = [(found.start(1) - 1, found[1]) for found in _START.finditer(held)]
    for i in range(len(starts) - 1, 0, -1):
        if starts[i][1] != starts[i - 1][1]:
            return starts[i][0]
    return 0


def _decode(data: bytes, batch: Batch, faults: Faults) -> str:
    """The text; lines that are not UTF-8 are left out, which costs the statement that they are in."""
    with suppress(UnicodeDecodeError):
        return data.decode("utf-8").replace("\r\n", "\n")  # offsets count line ends as one, however a file is kept
    numbered = enumerate(data.split(b"\n"), batch.place)
    return "\n".join(inputs.decode_line(raw, number, batch.source, faults) or "" for number, raw in numbered)


def _add_records(nodes: dict[str, _Node], source: str, out: Records, faults: Faults) -> None:
    phrases: dict[str, list[tuple[str, _Node]]] = {}
    for name, node in nodes.items():
        whole = "isString" in node.said and "taIdentRef" in node.said  # the address of all the text is the text's
        if whole or ("referenceContext" in node.said and "isString" not in node.said):
            for unit in node.said.get("annotationUnit", ()):
                for key, values in nodes[unit].said.items() if unit in nodes else ():
                    node.said.setdefault(key, []).extend(values)
            phrases.setdefault(name if whole else node.one("referenceContext"), []).append((name, node))
    for name, node in nodes.items():
        if "isString" in node.said:
            _add_document(name, node, phrases.pop(name, []), source, out, faults)
        elif "Context" in node.said.get("a", ()):
            faults.add("contexts without a text", f"{at(source, node.line)}: {name} has no nif:isString")
            phrases.pop(name, None)
    for context, lost in phrases.items():
        for _name, node in lost:
            faults.add("phrases without their context", f"{at(source, node.line)}: {context} is not in the source")


def _add_document(
    name: str, node: _Node, phrases: list[tuple[str, _Node]], source: str, out: Records, faults: Faults
) -> None:
    text = node.one("isString")
    linked: list[Linked] = []
    used: list[_Node] = []
    for phrase, said in phrases:
        place, kinds = at(source, said.line), {*said.said, *said.said.get("a", ())}
        names = [make_local_name(r) for r in said.said.get("taIdentRef", ()) if not r.startswith(NOWHERE)]
        indices = _find_indices(phrase, said)
        if not names:  # it is about an entity at all, not a word, sentence or paragraph
            tally(out.counts, UNLINKED, bool(kinds & {"taIdentRef", "taClassRef", "Phrase", "EntityOccurrence"}))
        elif indices is None:
            faults.add("phrases without indices", f"{place}: {phrase} has no begin or no end")
        else:
            sure: float | None = None
            with suppress(ValueError):
                sure = float(said.one("taConfidence"))
            linked.append(Linked((*indices, said.one("anchorOf")), names, place, "", sure))
            used.append(said)
    mentions, kept = make_mentions(text, linked, faults, out.counts)
    for each, said in zip(linked, used, strict=True):
        types = [make_local_name(c) for c in said.said.get("taClassRef", ())]
        rows = [EntityRow(name, _name_resource(name), types) for name in each.entities if name in kept]
        out.entities += rows
        out.types += [TypeRow(kind, "") for kind in types] if rows else []
    document = {"id": re.split(r"[#?](?=char=|offset_|nif=)", name)[0], "text": text, "mentions": mentions}
    if url := node.one("sourceUrl"):
        document["url"] = url
    out.documents.append(document)


def _find_indices(name: str, node: _Node) -> tuple[int, int] | None:
    """Begin and end, as they are said or as the address has them."""
    with suppress(ValueError):
        return int(node.one("beginIndex")), int(node.one("endIndex"))
    found = _FRAGMENT.search(name)
    return (int(found[1]), int(found[2])) if found else None


def make_local_name(address: str) -> str:
    """The id of a resource or a class."""
    if address == "http://www.w3.org/2002/07/owl#Thing":
        return THING
    found = _KNOWN.match(address)
    return unquote(found[1]).replace(" ", "_") if found else address


def _name_resource(name: str) -> str:
    """The name of a resource, from its id; none if that is a number."""
    if re.fullmatch(r"Q\d+", name):
        return ""
    last = name.rstrip("/#").rpartition("/")[2].rpartition("#")[2] if "://" in name else name
    return unquote(last).replace("_", " ")

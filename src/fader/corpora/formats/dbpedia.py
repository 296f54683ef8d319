"""DBpedia: instance types, the ontology, labels and redirects, in any mixture, distinguished by their predicates.

    instance types   <http://dbpedia.org/resource/Berlin> <...#type> <http://dbpedia.org/ontology/City> .
    ontology         N-Triples, Turtle or RDF/XML (dbpedia.owl): rdfs:subClassOf and rdfs:label of classes
    labels           <http://dbpedia.org/resource/Berlin> <...#label> "Berlin"@en .
    redirects        <http://dbpedia.org/resource/Berlin,_Germany> <.../wikiPageRedirects> <.../Berlin> .

An entity's id is the title of its page with underscores: what the importer of Wikipedia writes. A type's is its local
name, `SoccerPlayer`, named by its label, else in words; owl:Thing is `thing`. Types of other vocabularies (schema.org,
Wikidata, YAGO) are left out unless asked for. A redirected title is an alias of the page that redirects lead to in the
end, and no entity. Nodes that are no pages (`X__CareerStation__1`, categories) are no entities. It reads sources twice:
first for redirects, and for links to Wikidata (owl:sameAs) where ids are to be from there; a third time if redirects
lead to redirects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from urllib.parse import unquote

from fader.corpora.frame import selection
from fader.corpora.frame.base import THING, Batch, Importer, Records, option
from fader.corpora.frame.faults import tally
from fader.corpora.frame.selection import ABSENT, LISTED, Gathered, Numbers, NumbersWriter, wikidata_number
from fader.corpora.frame.store import Store
from fader.corpora.parsers.rdf.layout import Layout, cut_statements, find_layouts
from fader.corpora.parsers.rdf.triples import cut_marked, read_statements
from fader.corpora.parsers.rdf.vocabularies import OWL, RDF, RDFS, SCHEMA, SECURE_SCHEMA, SKOS, WIKIDATA
from fader.corpus.documents import Faults
from fader.progress import Progress

ONTOLOGY = "http://dbpedia.org/ontology/"
RESOURCE = "http://dbpedia.org/resource/"
REDIRECTS = ONTOLOGY + "wikiPageRedirects"
TYPE, BELOW, LABEL, REDIRECT = "type", "below", "label", "redirect"
PREDICATES = {
    RDF + "type": TYPE, RDFS + "subClassOf": BELOW, RDFS + "label": LABEL, SKOS + "prefLabel": LABEL,
    REDIRECTS: REDIRECT,
}  # fmt: skip
FORMS = ("wikipedia", "wikidata", "uri")
PARTS = "statements on nodes that are no pages"
CIRCLES = "redirects that lead in a circle"
_RESOURCE = re.compile(r"https?://(?:[a-z]{2,3}(?:-[a-z]+)?\.)?dbpedia\.org/resource/")
_ITEM = re.compile(r"https?://(?:www\.)?wikidata(?:\.dbpedia)?\.org/(?:entity|resource)/(Q\d{1,18})")
_NO_PAGE = re.compile(
    r".+__\d+|(?:Category|Template|File|Image|Portal|Wikipedia|Help|MediaWiki|Module|Draft|Kategorie|Vorlage|Datei|Hilfe"
    r"|Catégorie|Modèle|Fichier|Portail|Categoría|Plantilla|Archivo|Categoria|Categorie|Bestand|Sjabloon|Kategoria"
    r"|Plik|Szablon|Категория|Шаблон|Файл|Категорія|Kategori|分类|カテゴリ|Template|ファイル|분류):"
)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class _First(NamedTuple):
    layouts: dict[str, Layout]
    onward: dict[str, str]  # redirected pages that redirects lead to: where these lead in the end; empty: nowhere
    only: bool  # whether there is a list of entities


class _State(NamedTuple):
    first: _First
    redirected: Numbers
    wikidata: Numbers
    only: Numbers | None


class _Kinds(dict[str, dict[str, None]]):
    """Addresses of types to their ids; to none where the type is not kept."""

    def __init__(self, foreign: bool) -> None:
        super().__init__()
        self._foreign = foreign

    def __missing__(self, address: str) -> dict[str, None]:
        kept = self._foreign or address.startswith(ONTOLOGY) or address == OWL + "Thing"
        self[address] = found = {make_type_id(address): None} if kept else {}
        return found


@dataclass(frozen=True)
class Dbpedia(Importer):
    """Types, ontology, labels and redirects of DBpedia."""

    name: ClassVar[str] = "dbpedia"
    title: ClassVar[str] = "DBpedia: entities and types, no documents"
    example: ClassVar[str] = "fader import dbpedia instance-types.ttl.bz2 ontology.nt labels.ttl.bz2 -o catalog/"
    citation: ClassVar[str] = "Lehmann et al., DBpedia, Semantic Web 6(2), 2015; https://databus.dbpedia.org/dbpedia"
    passes: ClassVar[int] = 2
    state_type: ClassVar[Any] = _First

    ids: str = option(
        "wikipedia", "Ids of entities: wikipedia (titles), wikidata (needs owl:sameAs), or uri.", choices=FORMS
    )
    language: str = option("en", "The language of names.")
    only: str = option("", LISTED, path=True)
    foreign: bool = option(False, "Types of other vocabularies than DBpedia's ontology are kept too.")
    unused: bool = option(True, "Types that no entity has are kept too.")

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return cut_statements(sources, faults)

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> _First:
        found = find_layouts(sources)
        onward = self._write_redirects(sources, found, folder, progress)
        if self.ids == "wikidata":
            numbers = NumbersWriter()
            for page, above in self._links(sources, found, OWL + "sameAs", progress):
                if item := _ITEM.fullmatch(above):
                    numbers.add(page, wikidata_number(item[1]))
            numbers.write(folder, "wikidata")
        return _First(found, onward, selection.write_ids(self.only, folder, faults))

    def _write_redirects(
        self, sources: Sequence[str], found: dict[str, Layout], folder: Path, progress: Progress
    ) -> dict[str, str]:
        """Put the pages that are redirected into a file; where those of them lead that redirects lead to."""
        redirected, targets = NumbersWriter(), NumbersWriter()
        for page, target in self._links(sources, found, REDIRECTS, progress):
            redirected.add(page)
            targets.add(target)
        redirected.write(folder, "redirected")
        targets.write(folder, "targets")
        between = Numbers(folder, "redirected").common(Numbers(folder, "targets"))
        if not between:
            return {}
        every = self._links(sources, found, REDIRECTS, progress)
        links = {page: target for page, target in every if selection.number_of(page) in between}
        return {page: _follow(page, links) for page in links}

    def _links(
        self, sources: Sequence[str], found: dict[str, Layout], predicate: str, progress: Progress
    ) -> Iterator[tuple[str, str]]:
        """Find the statements of a predicate in all sources; faults are reported in the second pass."""
        local = predicate.rpartition("/")[2].rpartition("#")[2]
        for batch in cut_marked(sources, found, re.compile(re.escape(local).encode()), progress, local):
            layout = found[batch.source]
            for _n, page, _t, above, _l in read_statements(batch, layout, {predicate: local}, self._short, Faults()):
                yield page, above

    @property
    def _short(self) -> Callable[[str], str]:
        return mark_page if self.ids == "uri" else shorten

    def open_state(self, state: _First, folder: Path) -> _State:
        redirected, wikidata = Numbers(folder, "redirected"), Numbers(folder, "wikidata")
        return _State(state, redirected, wikidata, selection.read_ids(folder, state.only))

    def convert(self, batch: Batch, state: _State, faults: Faults) -> Records:
        out = Records()
        gathered = Gathered()
        layout = state.first.layouts[batch.source]
        kinds, asked = _Kinds(self.foreign), self.language.lower()
        last, types = "", dict[str, None]()  # statements on one page follow each other
        for _number, subject, tag, thing, language in read_statements(batch, layout, PREDICATES, self._short, faults):
            if tag == TYPE:
                if subject is last:
                    types.update(kinds[thing])
                elif subject[:1] == PAGE and self._is_page(subject, out.counts):
                    last, types = subject, gathered.entities[subject][1]
                    types.update(kinds[thing])
            elif subject[:1] != PAGE:
                if tag == BELOW and kinds[subject] and kinds[thing]:
                    gathered.types[make_type_id(subject)][1].update(kinds[thing])
                elif tag == LABEL and language == asked and subject.startswith(ONTOLOGY):
                    local = make_type_id(subject)  # properties begin with a small letter, or are `Person/height`
                    if local[:1].isupper() and "/" not in local:
                        gathered.types[local][0].append(thing)
            elif not self._is_page(subject, out.counts):
                continue
            elif tag == LABEL and language in (asked, ""):
                gathered.entities[subject][0].append(thing)
            elif tag == REDIRECT and thing[:1] == PAGE:
                if end := state.first.onward.get(thing, thing):
                    gathered.entities[end][2][_find_title(subject).replace("_", " ")] = None
                else:
                    tally(out.counts, CIRCLES)
        out.types = gathered.type_rows()
        final = self._final(list(gathered.entities), state, out.counts)
        out.entities = selection.select_listed(gathered.entity_rows(final), state.only, out.counts)
        return out

    def _is_page(self, subject: str, counts: dict[str, int]) -> bool:
        if (":" in subject or "__" in subject) and _NO_PAGE.match(_find_title(subject)):
            tally(counts, PARTS)
            return False
        return True

    def _final(self, names: list[str], state: _State, counts: dict[str, int]) -> dict[str, str]:
        """Ids in the form that is asked for, of those that are no redirects."""
        redirected = state.redirected.find(names)
        pages = [name for name in names if name not in redirected]
        if len(pages) < len(names):
            counts["rows of redirected titles"] = len(names) - len(pages)
        if self.ids == "wikidata":
            final = {page: f"Q{number}" for page, number in state.wikidata.find(pages).items()}
            if len(final) < len(pages):
                counts[ABSENT] = len(pages) - len(final)
            return final
        return {page: page[1:] for page in pages}

    def finish(self, state: _State, store: Store) -> None:
        selection.end_types(store, make_type_name, self.unused)


PAGE = "\t"  # before the title of a page, to distinguish it from other addresses


def shorten(address: str) -> str:
    """An address; of a page, a mark and its title, which older dumps write with percent signs."""
    if address.startswith(RESOURCE):
        title = address[len(RESOURCE) :]
    elif found := _RESOURCE.match(address):
        title = address[found.end() :]
    else:
        return address
    return PAGE + (unquote(title) if "%" in title else title)


def mark_page(address: str) -> str:
    """An address; of a page, with a mark before it and without percent signs."""
    if not _RESOURCE.match(address):
        return address
    return PAGE + (unquote(address) if "%" in address else address)


def _find_title(page: str) -> str:
    """The title of a page with a mark, in either form."""
    found = _RESOURCE.match(page, 1)
    return page[found.end() :] if found else page[1:]


def _follow(page: str, links: dict[str, str]) -> str:
    """Where redirects lead in the end; empty where they lead in a circle."""
    seen = set[str]()
    while page in links:
        if page in seen:
            return ""
        seen.add(page)
        page = links[page]
    return page


def make_type_id(address: str) -> str:
    """The local name of a class of the ontology; of others with a prefix."""
    if address.startswith(ONTOLOGY):
        return address[len(ONTOLOGY) :]
    if address == OWL + "Thing":
        return THING
    for space, prefix in FOREIGN.items():
        if address.startswith(space):
            return prefix + address[len(space) :]
    return address


FOREIGN = {
    SCHEMA: "schema:", SECURE_SCHEMA: "schema:", WIKIDATA: "wd:", "http://dbpedia.org/class/yago/": "yago:",
    "http://xmlns.com/foaf/0.1/": "foaf:", "http://www.ontologydesignpatterns.org/ont/dul/DUL.owl#": "dul:",
}  # fmt: skip


def make_type_name(name: str) -> str:
    """The name of a type without label: soccer player of SoccerPlayer."""
    return _HUMP.sub(" ", name.rpartition(":")[2].rpartition("/")[2]).replace("_", " ").lower()

r"""YAGO: its entities, their names and types, and its taxonomy, from files of any version, in any mixture.

    1, 2       `id TAB Albert_Einstein TAB wikicategory_Physicists TAB 0.98`, the file or folder named by the
               relation: type, subclassOf, means, isCalled, hasPreferredName, hasPreferredMeaning
    2s, 3      `<id_1> TAB <Albert_Einstein> TAB rdf:type TAB <wikicat_Physicists> TAB`: yagoTypes, yagoTaxonomy,
               yagoLabels .tsv; id and last cell are often empty; or the same facts in Turtle, below `#@ <id_1>`
    4          N-Triples: yago-wd-full-types, -class, -labels, -sameAs .nt
    4.5, 4.6   Turtle, one statement per line, with prefixes on top: yago-facts, -taxonomy, -labels .ttl; yago-meta.ttl,
               which says things of facts, is passed over line by line

An entity's id is YAGO's own: up to version 3 the title of its Wikipedia page (`de/Kayna` where that is not the English
one), from 4 on that title percent-encoded, or label and number of Wikidata. Types are named as in YAGO:
`wordnet_vaccine_104517535`, `wikicat_Towns_in_Saxony`, `schema:Person`; owl:Thing and schema:Thing are `thing`. Names:
skos:prefLabel, from 4 on rdfs:label. Aliases: other labels, the words of which it is the preferred meaning, titles that
lead to it. It reads sources twice: first for classes and for nodes that stand for any degree or office, which are no
entities, and for numbers of Wikidata where these are to be ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, ClassVar, NamedTuple
from urllib.parse import unquote

from fader.corpora.frame import selection
from fader.corpora.frame.base import THING, Batch, Importer, Records, option
from fader.corpora.frame.faults import at
from fader.corpora.frame.inputs import decode_lines
from fader.corpora.frame.selection import ABSENT, LISTED, Gathered, Numbers, NumbersWriter, wikidata_number
from fader.corpora.frame.store import Store
from fader.corpora.parsers.rdf.escapes import unescape
from fader.corpora.parsers.rdf.layout import BARE, COLUMNS, Layout, cut_statements, find_layouts
from fader.corpora.parsers.rdf.triples import FAULTY, Statement, cut_marked, read_statements
from fader.corpora.parsers.rdf.vocabularies import OWL, RDF, RDFS, SCHEMA, SECURE_SCHEMA, SKOS, WIKIDATA
from fader.corpus.documents import Faults
from fader.progress import Progress

BASE = "http://yago-knowledge.org/resource/"
TYPE, BELOW, NAME, LABEL, ALIAS, SAME = "type", "below", "name", "label", "alias", "same"
PREDICATES = {
    RDF + "type": TYPE, RDFS + "subClassOf": BELOW, SKOS + "prefLabel": NAME, RDFS + "label": LABEL,
    SCHEMA + "alternateName": ALIAS, SECURE_SCHEMA + "alternateName": ALIAS, BASE + "isPreferredMeaningOf": ALIAS,
    BASE + "redirectedFrom": ALIAS,
}  # fmt: skip
FIRST = {RDFS + "subClassOf": BELOW, OWL + "sameAs": SAME, RDFS + "label": LABEL}
GENERIC = "Generic instance"  # what 4.5 calls a node that stands for any degree, any office ...
_MARKS = re.compile(rb"ubClassOf|sameAs|\"Generic instance\"")
RELATIONS = {
    "type": TYPE, "subclassof": BELOW, "means": LABEL, "iscalled": ALIAS, "label": LABEL, "haspreferredname": NAME,
    "haspreferredmeaning": ALIAS,
}  # fmt: skip
THINGS = (OWL + "Thing", SCHEMA + "Thing", SECURE_SCHEMA + "Thing")
FORMS = ("native", "wikipedia", "wikidata")
_SPACES = {SCHEMA: "schema:", SECURE_SCHEMA: "schema:", "http://bioschemas.org/": "bioschemas:", OWL: "owl:",
           RDFS: "rdfs:", RDF: "rdf:", WIKIDATA: "wd:", "http://www.w3.org/ns/shacl#": "sh:"}  # fmt: skip
_SPACE = re.compile("|".join(map(re.escape, _SPACES)))
_META = frozenset(
    """owl:Class rdfs:Class rdf:Property sh:NodeShape owl:NamedIndividual owl:Ontology owl:ObjectProperty
    owl:DatatypeProperty owl:AnnotationProperty""".split()
)
_CLASS = re.compile(r"(?:wordnet|wikicat|wikicategory|geoclass)_")
_WORDNET = re.compile(r"wordnet_(.+)_\d{9}")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBERED = re.compile(r"Q\d+|.*_Q\d{4,}")  # Audi_Q5 is a title
_FACT = re.compile(r"#\d+\t")
_OTHER_WIKI = re.compile(r"[a-z]{2,3}(?:-[a-z]+)?/")
_TWO, _THREE = "en de fr es it nl pl ro fa ar pt ru ja zh", "eng deu fra spa ita nld pol ron fas ara por rus jpn zho"
THREE = dict(zip(_TWO.split(), _THREE.split(), strict=True))


class _First(NamedTuple):
    """What the first pass finds, beside the numbers of Wikidata, which are in a file."""

    layouts: dict[str, Layout]
    old: frozenset[str]  # sources of versions up to 3, where a label is any name
    classes: frozenset[str]  # whose names do not tell
    only: bool  # whether there is a list of entities


class _State(NamedTuple):
    first: _First
    numbers: Numbers
    generic: Numbers
    only: Numbers | None


@dataclass(frozen=True)
class Yago(Importer):
    """Types, taxonomy and labels of YAGO."""

    name: ClassVar[str] = "yago"
    title: ClassVar[str] = "YAGO: entities and types, no documents"
    example: ClassVar[str] = "fader import yago yagoTypes.tsv yagoTaxonomy.tsv yagoLabels.tsv -o catalog/"
    citation: ClassVar[str] = (
        "Suchanek et al., YAGO 4.5, SIGIR 2024; Rebele et al., YAGO, ISWC 2016; https://yago-knowledge.org/downloads"
    )
    passes: ClassVar[int] = 2
    state_type: ClassVar[Any] = _First

    ids: str = option(
        "native", "Ids of entities: native, wikipedia (English titles), or wikidata (needs owl:sameAs).", choices=FORMS
    )
    language: str = option("en", "The language of names.")
    only: str = option("", LISTED, path=True)
    unused: bool = option(True, "Types that no entity has are kept too.")

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return cut_statements(sources, faults)

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> _First:
        """The first pass; its faults are those of the second, and reported there."""
        declared = find_layouts(sources)
        old = frozenset(name for name, each in declared.items() if each.kind in (COLUMNS, BARE) or each.base)
        found = {name: each._replace(base=BASE) for name, each in declared.items()}
        classes: set[str] = set()
        numbers, generic = NumbersWriter(), NumbersWriter()
        wanted = {address: tag for address, tag in FIRST.items() if tag != SAME or self.ids == "wikidata"}
        for batch in cut_marked(sources, found, _MARKS, progress, "classes"):
            for _n, below, tag, above, _l in _read_facts(batch, found[batch.source], wanted, Faults()):
                if tag == BELOW:
                    classes.update(each for each in (below, above) if not _CLASS.match(each))
                elif tag == LABEL and above == GENERIC:
                    generic.add(below)
                elif tag == SAME and above.startswith("wd:") and (number := wikidata_number(above[3:])):
                    numbers.add(below, number)
        numbers.write(folder, "wikidata")
        generic.write(folder, "generic")
        return _First(found, old, frozenset(classes), selection.write_ids(self.only, folder, faults))

    def open_state(self, state: _First, folder: Path) -> _State:
        numbers, generic = Numbers(folder, "wikidata"), Numbers(folder, "generic")
        return _State(state, numbers, generic, selection.read_ids(folder, state.only))

    def convert(self, batch: Batch, state: _State, faults: Faults) -> Records:
        out = Records()
        layout, classes = state.first.layouts[batch.source], state.first.classes
        if layout.kind == BARE and not find_relation(batch.source):
            out.counts["facts of other relations"] = len(batch.payload)
        old = batch.source in state.first.old
        gathered = Gathered()
        asked = self.language.lower()
        languages = {"", asked, THREE.get(asked, asked)}
        last, types = "", dict[str, None]()  # facts on one entity follow each other
        for _number, subject, tag, thing, language in _read_facts(batch, layout, PREDICATES, faults):
            if tag == TYPE and subject is last:
                if thing not in _META:
                    types[thing] = None
                continue
            is_class = subject in classes or (subject[:1] in "wg" and _CLASS.match(subject) is not None)
            if tag == BELOW:
                gathered.types[subject][1][thing] = None
                gathered.types[thing]
            elif tag == TYPE:
                if thing not in _META and not is_class and language is None:
                    last, types = subject, gathered.entities[subject][1]
                    types[thing] = None
            elif language is None or language not in languages:
                continue
            elif tag == NAME or (tag == LABEL and not old):
                (gathered.types if is_class else gathered.entities)[subject][0].append(thing)
            elif not is_class:
                gathered.entities[subject][2][thing] = None
        out.types = gathered.type_rows()
        final = self._final(list(gathered.entities), state, out.counts)
        out.entities = selection.select_listed(gathered.entity_rows(final), state.only, out.counts)
        return out

    def _final(self, names: list[str], state: _State, counts: dict[str, int]) -> dict[str, str]:
        """Entities' ids in the form that is asked for."""
        if generic := state.generic.find(names):
            counts["rows of generic instances"] = len(generic)
            names = [name for name in names if name not in generic]
        if self.ids == "native":
            return dict(zip(names, names, strict=True))
        if self.ids == "wikidata":
            final = {name: f"Q{number}" for name, number in state.numbers.find(names).items()}
        else:
            english = (name for name in names if not (_OTHER_WIKI.match(name) or _NUMBERED.fullmatch(name)))
            final = {name: title for name in english if (title := unquote(name))}
        if len(final) < len(names):
            counts[ABSENT] = len(names) - len(final)
        return final

    def finish(self, state: _State, store: Store) -> None:
        selection.end_types(store, make_type_name, self.unused)


def shorten(address: str) -> str:
    """An address as an id: without YAGO's own, with a prefix for other usual vocabularies."""
    if address.startswith(BASE):
        return address[len(BASE) :]
    if address in THINGS:
        return THING
    found = _SPACE.match(address)
    return _SPACES[found[0]] + address[found.end() :] if found else address


def make_type_name(name: str) -> str:
    """The name of a type that has no label: vaccine of wordnet_vaccine_104517535, body of water of BodyOfWater."""
    if found := _WORDNET.fullmatch(name):
        return found[1].replace("_", " ")
    if found := _CLASS.match(name):
        return name[found.end() :].replace("_", " ")
    local = unquote(name.rpartition(":")[2].rpartition("/")[2])
    if ":" in name or ("_" not in local and _HUMP.search(local)):
        return _HUMP.sub(" ", local).lower()
    return re.sub(r"_Q\d+$", "", local).replace("_", " ")


def _read_facts(batch: Batch, layout: Layout, wanted: Mapping[str, str], faults: Faults) -> Iterator[Statement]:
    if layout.kind == BARE:
        return _read_bare(batch, set(wanted.values()), faults)
    return read_statements(batch, layout, wanted, shorten, faults)


def find_relation(source: str) -> str:
    """The tag of the relation that a file of YAGO 1 or 2 is named by: type.tsv, or type/Extractor.txt."""
    path = PurePath(source)
    names = (path.name.split(".")[0], path.parent.name)
    return next((RELATIONS[name.lower()] for name in names if name.lower() in RELATIONS), "")


def _read_bare(batch: Batch, tags: set[str], faults: Faults) -> Iterator[Statement]:
    """Facts of YAGO 1 or 2; `means` and `hasPreferredMeaning` have the word before the entity."""
    tag = find_relation(batch.source)
    if tag not in tags:
        return
    for number, line in decode_lines(enumerate(batch.payload, batch.place), batch.source, faults):
        if not line or (line[0] == "#" and not _FACT.match(line)):
            continue
        cells = line.split("\t")
        if len(cells) < 3 or not cells[1] or not cells[2]:
            faults.add(FAULTY, f"{at(batch.source, number)}: {len(cells)} columns; expected id, subject and object")
            continue
        one, other = unescape(cells[1]), unescape(cells[2])
        if tag in (TYPE, BELOW):
            yield number, one, tag, other, None
        elif cells[1][0] == '"':
            yield number, other, tag, one.strip('"'), ""
        else:
            yield number, one, tag, other.strip('"'), ""

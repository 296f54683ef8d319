"""Statements of RDF/XML: nodes with addresses and their properties; what ontologies such as dbpedia.owl are written in.

    <owl:Class rdf:about="http://dbpedia.org/ontology/City">
      <rdfs:label xml:lang="en">city</rdfs:label>
      <rdfs:subClassOf rdf:resource="http://dbpedia.org/ontology/Settlement"/>
    </owl:Class>

Read are rdf:about, rdf:ID, rdf:resource, rdf:datatype, xml:base, xml:lang, properties as attributes, nodes in nodes and
entities that the file declares. What is said of nodes without an address is passed over, and so are lists, reified
statements and texts that are XML. A file that is cut gives what stands before, and a fault. Knows nothing of what
statements mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urljoin
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from fader.corpora.frame.faults import at
from fader.corpora.parsers.rdf.vocabularies import RDF
from fader.corpus.documents import Faults

CUT = "files that cannot be read to their end"
DEEPEST = 100  # nodes in nodes
_R, _X = f"{{{RDF}}}", "{http://www.w3.org/XML/1998/namespace}"
_CHUNK = 1 << 16


class Said(NamedTuple):
    """A statement; of a literal the language, empty where it has none, of a node None."""

    subject: str
    predicate: str
    object: str
    language: str | None


class _Scope(NamedTuple):
    """What holds inside an element."""

    base: str
    language: str

    def inside(self, element: Element) -> _Scope:
        return _Scope(element.get(_X + "base", self.base), element.get(_X + "lang", self.language))


def statements(data: bytes, source: str, faults: Faults, base: str = "") -> Iterator[Said]:
    """The statements of a file whose subjects have addresses."""
    parser: Any = XMLPullParser(("start", "end"))
    depth, scope = 0, _Scope(base, "")
    root: Element | None = None
    try:
        for start in range(0, len(data), _CHUNK):
            parser.feed(data[start : start + _CHUNK])
            for event, element in parser.read_events():
                depth += 1 if event == "start" else -1
                if depth == 1 and event == "start":
                    root, scope = element, scope.inside(element)
                elif depth == 1 and root is not None and root.tag == _R + "RDF":
                    yield from _node(element, scope)
                    root.clear()
                elif depth == 0 and element.tag != _R + "RDF":
                    yield from _node(element, scope)
        parser.close()
    except ParseError as error:
        faults.add(CUT, f"{at(source, error.position[0])}: no XML from here on ({error}); what stands before is used")
    except (ValueError, LookupError) as error:  # an encoding that nobody knows
        faults.add(CUT, f"{source}: {error}; save it as UTF-8")


def _node(element: Element, outer: _Scope, depth: int = 0) -> Iterator[Said]:
    """What a node says, and the nodes in it."""
    scope = outer.inside(element)
    subject = _address(element, scope)
    if subject and element.tag != _R + "Description":
        yield Said(subject, RDF + "type", _plain(element.tag), None)
    for key, value in element.attrib.items() if subject else ():
        if key == _R + "type":
            yield Said(subject, RDF + "type", _joined(scope.base, value), None)
        elif not key.startswith((_R, _X)):
            yield Said(subject, _plain(key), value, scope.language)
    for each in element:
        yield from _property(subject, each, scope, depth)


def _property(subject: str, element: Element, outer: _Scope, depth: int) -> Iterator[Said]:
    """What a property says of its subject."""
    scope, predicate = outer.inside(element), _plain(element.tag)
    thing = element.get(_R + "resource")
    if thing is not None:
        if subject:
            yield Said(subject, predicate, _joined(scope.base, thing), None)
    elif len(element) and element.get(_R + "parseType") in (None, "Collection"):
        for each in element:
            if subject and element.get(_R + "parseType") is None and (above := _address(each, scope)):
                yield Said(subject, predicate, above, None)
            if depth < DEEPEST:
                yield from _node(each, scope, depth + 1)
    elif subject and element.get(_R + "nodeID") is None and element.get(_R + "parseType") is None:
        typed = element.get(_R + "datatype") is not None
        yield Said(subject, predicate, element.text or "", "" if typed else scope.language)


def _address(element: Element, outer: _Scope) -> str:
    """The address of a node; empty where it has none."""
    base = outer.inside(element).base
    about, name = element.get(_R + "about"), element.get(_R + "ID")
    if about is not None:
        return _joined(base, about)
    return _joined(base, f"#{name}") if name is not None else ""


def _joined(base: str, address: str) -> str:
    """An address that may be relative; a whole one stays as it is written, which `urljoin` does not promise."""
    return address if "://" in address or not base else urljoin(base.partition("#")[0], address)


def _plain(tag: str) -> str:
    """The address of a tag, which the parser writes {space}local."""
    return tag[1:].replace("}", "", 1) if tag[:1] == "{" else tag

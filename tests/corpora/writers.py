"""Small writers of foreign formats, each from its documented layout alone: what is written must be read back the same.

A writer takes documents and gives the files that hold them, the first being the source, and the options of the import.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from fader.corpora.formats.nif import ITS, NIF


class Mention(NamedTuple):
    """Where it is in the text, in characters; its tokens, counted over the document; its entity and type."""

    start: int
    end: int
    first: int
    last: int  # exclusive
    entity: str
    kind: str


class Document(NamedTuple):
    """Sentences of tokens; the text is tokens with blanks, sentences with line ends between them."""

    id: str
    sentences: list[list[str]]
    mentions: list[Mention]  # in the order of the text, none over another

    @property
    def text(self) -> str:
        return "\n".join(" ".join(tokens) for tokens in self.sentences)


Written = tuple[dict[str, bytes], dict[str, object]]
Writer = Callable[[Sequence[Document]], Written]


def pubtator(documents: Sequence[Document]) -> Written:
    lines = []
    for document in documents:
        text = document.text.replace("\n", " ")
        title, _blank, abstract = text.partition(" ")
        lines += [f"{document.id}|t|{title}", f"{document.id}|a|{abstract}"]
        for m in document.mentions:
            lines.append("\t".join((document.id, str(m.start), str(m.end), text[m.start : m.end], m.kind, m.entity)))
        lines += [f"{document.id}\tCID\tD000001\tD000002", ""]
    return {"a.txt": "\n".join(lines).encode()}, {}


def passages(document: Document) -> Iterator[tuple[int, str, list[Mention]]]:
    """Sentences with their offsets and mentions."""
    offset = 0
    for tokens in document.sentences:
        text = " ".join(tokens)
        yield offset, text, [m for m in document.mentions if offset <= m.start < offset + len(text)]
        offset += len(text) + 1


def bioc_xml(documents: Sequence[Document]) -> Written:
    out = '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE collection SYSTEM "BioC.dtd"><collection><source/>'
    for document in documents:
        out += f"<document><id>{document.id}</id>"
        for offset, text, mentions in passages(document):
            out += f'<passage><infon key="type">title</infon><offset>{offset}</offset><text>{escape(text)}</text>'
            for i, m in enumerate(mentions):
                words = escape(text[m.start - offset : m.end - offset])
                out += f'<annotation id="{i}"><infon key="identifier">{m.entity}</infon>'
                out += f'<infon key="type">{m.kind}</infon><location offset={quoteattr(str(m.start))} '
                out += f'length="{m.end - m.start}"/><text>{words}</text></annotation>'
            out += "</passage>\n"
        out += "</document>\n"
    return {"a.xml": (out + "</collection>").encode()}, {}


def bioc_json(documents: Sequence[Document]) -> Written:
    made = []
    for document in documents:
        tree = []
        for offset, text, mentions in passages(document):
            annotations = [
                {
                    "id": str(i),
                    "infons": {"identifier": m.entity, "type": m.kind},
                    "text": text[m.start - offset : m.end - offset],
                    "locations": [{"offset": m.start, "length": m.end - m.start}],
                }
                for i, m in enumerate(mentions)
            ]
            tree.append({"offset": offset, "infons": {}, "text": text, "annotations": annotations, "relations": []})
        made.append({"id": document.id, "infons": {}, "passages": tree})
    return {"a.json": json.dumps({"source": "", "documents": made}, indent=1).encode()}, {}


def nif(documents: Sequence[Document]) -> Written:
    out = f"@prefix nif: <{NIF}> .\n@prefix its: <{ITS}> .\n"
    for document in documents:
        text, name = document.text, f"http://ex/{document.id}"
        context = f"<{name}#char=0,{len(text)}>"
        long = text.replace("\\", "\\\\").replace('"', '\\"')
        out += f'{context} a nif:Context ;\n  nif:isString """{long}""" .\n'
        for m in document.mentions:
            words = json.dumps(text[m.start : m.end], ensure_ascii=False)
            out += f"<{name}#char={m.start},{m.end}> a nif:Phrase ; nif:referenceContext {context} ;"
            out += f"nif:anchorOf {words} ;"
            out += f'nif:beginIndex "{m.start}"^^<http://www.w3.org/2001/XMLSchema#int> ; nif:endIndex {m.end} ;'
            out += f"its:taIdentRef <http://dbpedia.org/resource/{quote(m.entity)}> ;"
            out += f"its:taClassRef <http://dbpedia.org/ontology/{m.kind}> .\n"
    return {"a.ttl": out.encode()}, {}


def letters(document: Document, scheme: str) -> list[tuple[str, str, str]]:
    """The label of each token: letter, type, entity."""
    made = [("O", "", "")] * sum(len(tokens) for tokens in document.sentences)
    before: Mention | None = None
    for m in document.mentions:
        touches = before is not None and before.last == m.first and before.kind == m.kind
        for i in range(m.first, m.last):
            letter = "B" if i == m.first else "I"
            if scheme == "IOB1":
                letter = "B" if i == m.first and touches else "I"
            if scheme in ("IOBES", "BILOU"):
                end, single = ("E", "S") if scheme == "IOBES" else ("L", "U")
                letter = single if m.last - m.first == 1 else end if i == m.last - 1 else letter
            made[i] = (letter, m.kind, m.entity)
        before = m
    return made


def conll(scheme: str, separator: str) -> Writer:
    def write(documents: Sequence[Document]) -> Written:
        lines = []
        for document in documents:
            lines += [f"-DOCSTART- ({document.id} x)", ""]
            labels = iter(letters(document, scheme))
            for tokens in document.sentences:
                for token in tokens:
                    letter, kind, entity = next(labels)
                    label = letter if letter == "O" else f"{letter}-{kind}"
                    lines.append(separator.join((token, label, entity or "_")))
                lines.append("")
        return {"a.conll": "\n".join(lines).encode()}, {}

    return write


def conllu(documents: Sequence[Document]) -> Written:
    lines = []
    for document in documents:
        lines.append(f"# newdoc id = {document.id}")
        labels = iter(letters(document, "IOB2"))
        for tokens in document.sentences:
            lines.append(f"# text = {' '.join(tokens)}")
            for i, token in enumerate(tokens, 1):
                letter, kind, entity = next(labels)
                misc = "_" if letter == "O" else f"NER={letter}-{kind}|Wikidata={entity}"
                lines.append("\t".join((str(i), token, *"_______", misc)))
            lines.append("")
    return {"a.conllu": "\n".join(lines).encode()}, {}


def aida(documents: Sequence[Document]) -> Written:
    lines = []
    for document in documents:
        lines.append(f"-DOCSTART- ({document.id} TITLE)")
        labels = iter(letters(document, "IOB2"))
        text, place = document.text, 0
        words = {m.first + i: text[m.start : m.end] for m in document.mentions for i in range(m.last - m.first)}
        for tokens in document.sentences:
            for token in tokens:
                letter, _kind, entity = next(labels)
                shown = entity.encode("ascii", "backslashreplace").decode().replace("\\xe9", "\\u00e9")
                url = f"http://en.wikipedia.org/wiki/{quote(entity)}"
                cells = (token, letter, words.get(place, ""), shown, url, "1", "/m/1")
                lines.append(token if letter == "O" else "\t".join(cells))
                place += 1
            lines.append("")
    return {"a.tsv": "\n".join(lines).encode()}, {}


def rel(documents: Sequence[Document]) -> Written:
    links = {
        d.id: [[m.start, m.end - m.start, d.text[m.start : m.end], m.entity, 0.9, 0.8, m.kind] for m in d.mentions]
        for d in documents
    }
    texts = "".join(json.dumps({"id": d.id, "text": d.text}) + "\n" for d in documents)
    return {"a.json": json.dumps(links, indent=1).encode(), "texts.jsonl": texts.encode()}, {"texts": "texts.jsonl"}


def mmead(documents: Sequence[Document]) -> Written:
    lines = ""
    for d in documents:
        body = [
            {"start_pos": str(m.start), "end_pos": m.end, "entity": m.entity, "details": {"tag": m.kind}}
            for m in d.mentions
        ]
        lines += json.dumps({"docid": d.id, "title": [], "headings": [], "body": body}, ensure_ascii=False) + "\n"
    texts = "".join(json.dumps({"docid": d.id, "body": d.text}) + "\n" for d in documents)
    return {"a.json": lines.encode(), "texts.jsonl": texts.encode()}, {"texts": "texts.jsonl"}


def elastic(documents: Sequence[Document]) -> Written:
    lines = ""
    for d in documents:
        marked, last = "", 0
        for m in d.mentions:
            marked += d.text[last : m.start]
            marked += f"[{d.text[m.start : m.end]}]({quote(m.entity, safe='')}&{quote(m.kind, safe='')})"
            last = m.end
        marked += d.text[last:]
        lines += json.dumps({"index": {"_id": d.id}}) + "\n" + json.dumps({"text": marked}, ensure_ascii=False) + "\n"
    return {"a.json": lines.encode()}, {}


def qlever(documents: Sequence[Document]) -> Written:
    words, texts = "", ""
    for d in documents:
        tokens = [token for sentence in d.sentences for token in sentence]
        entities = {i: m.entity for m in d.mentions for i in range(m.first, m.last)}
        for i, token in enumerate(tokens):
            words += f"{token}\t0\t{d.id}\t1\n"
            words += f"<{entities[i]}>\t1\t{d.id}\t1\n" if i in entities else ""
        texts += f"{d.id}\t{d.text}\n".replace("\n", " ").removesuffix(" ") + "\n"
    return {"a.words": words.encode(), "a.docs": texts.encode()}, {"docs": "a.docs"}


def brat(documents: Sequence[Document]) -> Written:
    files: dict[str, bytes] = {}
    for d in documents:
        lines = []
        for i, m in enumerate(d.mentions, 1):
            lines.append(f"T{i}\t{m.kind} {m.start} {m.end}\t{d.text[m.start : m.end]}")
            lines.append(f"N{i}\tReference T{i} {m.entity}\t{m.entity}")
        files[f"{d.id}.txt"] = d.text.encode()
        files[f"{d.id}.ann"] = "\n".join(lines).encode()
    return files, {}


def pubannotation(documents: Sequence[Document]) -> Written:
    made = []
    for d in documents:
        denotations = [
            {"id": f"T{i}", "span": {"begin": m.start, "end": m.end}, "obj": m.kind} for i, m in enumerate(d.mentions)
        ]
        attributes = [{"subj": f"T{i}", "pred": "id", "obj": m.entity} for i, m in enumerate(d.mentions)]
        made.append({"sourceid": d.id, "text": d.text, "denotations": denotations, "attributes": attributes})
    return {"a.json": json.dumps(made, ensure_ascii=False, indent=2).encode()}, {}


WRITERS: dict[str, tuple[str, Writer]] = {
    "pubtator": ("pubtator", pubtator),
    "bioc xml": ("bioc", bioc_xml),
    "bioc json": ("bioc", bioc_json),
    "nif": ("nif", nif),
    "conll iob1": ("conll", conll("IOB1", " ")),
    "conll iob2": ("conll", conll("IOB2", "\t")),
    "conll iobes": ("conll", conll("IOBES", " ")),
    "conll bilou": ("conll", conll("BILOU", "\t")),
    "conllu": ("conll", conllu),
    "aida": ("aida", aida),
    "rel": ("rel", rel),
    "mmead": ("rel", mmead),
    "elastic": ("elastic", elastic),
    "qlever": ("qlever", qlever),
    "brat": ("brat", brat),
    "pubannotation": ("pubannotation", pubannotation),
}
ONE_LINE = ("pubtator", "qlever")  # formats whose texts have no line ends

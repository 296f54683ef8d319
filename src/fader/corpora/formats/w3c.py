"""The W3C corpus of the TREC Enterprise track: experts in pages and e-mails.

    fader import w3c w3c/lists w3c/www ex.topics ex.qrels --candidates ent05.expert.candidates -o corpus/

Documents are pages between DOC tags, sometimes plain text. Experts are mentioned in one of two ways:

- tagged: the corpus in which each occurrence is written `<candidate-0001>Dan B.</candidate-0001>`. Tags are taken out
  first, wherever they are; those in attributes and comments are no mentions, as their words are no text, and counted.
- plain: names and addresses of the candidate list are found by `fader.corpora.annotate`. A line of the list is
  an id, the words of a name, and e-mail addresses. Names of a candidate are the full name, in its order and as "Last,
  First", and, if no other candidate has the same, "D. Last", the name without initials in between, and all without
  accents.

Archived e-mails begin with comments that name the sender; `From: name <address>` is then the first line of the text,
the date is kept as `date`. Candidates are entities of the type `person`; queries (EX01 ...) ask for it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from fader.corpora.frame.base import Batch, EntityRow, Importer, Records, TypeRow, option
from fader.corpora.frame.faults import at, tally
from fader.corpora.frame.inputs import head
from fader.corpora.frame.store import Store
from fader.corpora.parsers.trec import files as trecfiles
from fader.corpora.parsers.trec.files import TrecDocument
from fader.corpora.parsers.web import charset, html
from fader.corpus.analysis import cut_marks
from fader.corpus.documents import Faults
from fader.corpus.readers import read_chunks
from fader.errors import InputError, UsageError, quote
from fader.progress import Progress

PERSON = "person"
MALFORMED = "candidates that cannot be read"
REPEATED = "candidates with a repeated id"
HALF = "candidate tags without their other half"
IN_MARKUP = "candidate tags in markup"

_TAG = re.compile(rb"<(/?)(candidate-[0-9]{4,5})>")
_HEADER = re.compile(rb'<!--((?:\s*[A-Za-z-]+="[^"]*")+)\s*-->')
_VALUE = re.compile(rb'([A-Za-z-]+)="([^"]*)"')
_HEAD = 4096  # bytes in which the header of an e-mail is
_LOOKED_AT = 1 << 22  # bytes of a source in which tags show that it is tagged
_ID = re.compile(r"candidate-[0-9]{4,5}")
_ADDRESS = re.compile(r"[^\s<>(),;]+@[^\s<>(),;]+")
_MARKS = re.compile("[\u0300-\u036f]")
_INITIAL = re.compile(r"\w\.?")


class Candidate(NamedTuple):
    """A line of the candidate list."""

    id: str
    label: str
    addresses: tuple[str, ...]


class Sender(NamedTuple):
    """The first line of an e-mail; of each of its parts the bytes it is from, its first character, and its text."""

    line: str
    parts: tuple[tuple[int, int, int, html.HtmlPage], ...]

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """The characters of the line that bytes of the source became; None where they are in none of its parts."""
        for first, last, character, value in self.parts:
            if first <= start and end <= last:
                return _shift(value.span(start - first, end - first), character)
        return None


class _State(NamedTuple):
    candidates: list[Candidate]
    annotator: Any


@dataclass(frozen=True)
class W3c(Importer):
    """Pages and e-mails with experts."""

    name: ClassVar[str] = "w3c"
    title: ClassVar[str] = "the W3C corpus of the TREC Enterprise track, plain or tagged, with topics and judgments"
    example: ClassVar[str] = "fader import w3c w3c/ EX.topics EX.qrels --candidates ent05.expert.candidates -o corpus/"
    citation: ClassVar[str] = (
        "N. Craswell, A. P. de Vries and I. Soboroff. Overview of the TREC-2005 Enterprise Track. TREC 2005; "
        "tagged corpus: J. Zhu, 2006"
    )
    compiles: ClassVar[bool] = True  # names are found by kernels, which the first run compiles
    state_type: ClassVar[Any] = tuple[list[Candidate], bool]

    candidates: str = option("", "The candidate list: an id, a name and e-mail addresses per line.", path=True)
    headers: bool = option(True, "Senders of archived e-mails are the first line of the text.")

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return trecfiles.cut_files(sources, faults)

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> Any:
        """The candidates, and whether the corpus is tagged."""
        found = _read_candidates(self.candidates, faults) if self.candidates else []
        if self.candidates and not found:
            raise InputError(f"{self.candidates}: no line such as candidate-0001 Ada Quill ada@example.org in it")
        tagged = any(_TAG.search(head(source, _LOOKED_AT)) for source in sources)
        if not (tagged or self.candidates):
            for source in sources:
                if source != "-" and trecfiles.find_kind(source)[0] == trecfiles.DOCUMENTS:
                    raise UsageError(f"{source}: has no candidate tags, nor has another source; give --candidates")
        return found, tagged

    def open_state(self, state: Any, folder: Path) -> _State:
        found, tagged = state
        if tagged or not found:
            return _State(found, None)
        from fader.corpora.annotate import Annotator

        shorts = _count_shorts(found)
        return _State(found, Annotator.from_files([_list_names(candidate, shorts) for candidate in found]))

    def convert(self, batch: Batch, state: _State, faults: Faults) -> Records:
        kind, data = batch.payload
        if kind != trecfiles.DOCUMENTS:
            return trecfiles.read_judged(batch, faults, PERSON)
        out = Records(types=[TypeRow(PERSON, PERSON)])
        for raw in trecfiles.read_documents(data, batch.source, batch.place, faults):
            out.documents.append(_make_document(raw, self.headers, out.counts, faults))
        if state.annotator is not None:
            found = state.annotator.annotate_all([document["text"] for document in out.documents])
            for document, mentions in zip(out.documents, found, strict=True):
                if not document["mentions"]:  # which tags gave: standard input shows too late that it is tagged
                    document["mentions"] = [mention._asdict() for mention in mentions]
        return out

    def unknown(self, name: str, surface: str, state: Any) -> EntityRow:
        return EntityRow(name, surface, (PERSON,))

    def finish(self, state: _State, store: Store) -> None:
        for candidate in state.candidates:
            store.entity(EntityRow(candidate.id, candidate.label, (PERSON,), candidate.addresses))
        if state.candidates:
            store.type(TypeRow(PERSON, PERSON))


def _read_candidates(path: str, faults: Faults) -> list[Candidate]:
    data = b"".join(chunk for chunk, _consumed in read_chunks(path))
    found: dict[str, Candidate] = {}
    for number, line in enumerate(charset.decode(data)[0].lstrip("\ufeff").split("\n"), 1):
        words = line.split()
        if not words:
            continue
        addresses = tuple(_ADDRESS.findall(" ".join(word for word in words[1:] if "@" in word)))
        label = " ".join(word for word in words[1:] if "@" not in word)
        if not _ID.fullmatch(words[0]) or not (label or addresses):
            what = f"needs an id such as candidate-0001 and a name: {quote(line, 60)}"
            faults.add(MALFORMED, f"{at(path, number)}: {what}")
        elif words[0] in found:
            faults.add(REPEATED, f"{at(path, number)}: {words[0]} was there before; the first is kept")
        else:
            found[words[0]] = Candidate(words[0], label or addresses[0], addresses)
    return list(found.values())


def _count_shorts(candidates: list[Candidate]) -> Counter[str]:
    """How many candidates have a name that is not the full one."""
    return Counter(short.casefold() for candidate in candidates for short in _list_short_names(candidate))


def _list_short_names(candidate: Candidate) -> list[str]:
    """A candidate's name as "D. Last", and without initials in between; these and the full one without accents."""
    words, found = candidate.label.split(), [candidate.label]
    if len(words) > 1:
        between = [word for word in words[1:-1] if not _INITIAL.fullmatch(word)]
        found += [f"{words[0][0]}. {words[-1]}", " ".join([words[0], *between, words[-1]])]
    found += [_MARKS.sub("", unicodedata.normalize("NFD", cut_marks(name))) for name in found]
    return [name for name in dict.fromkeys(found) if name != candidate.label]


def _list_names(candidate: Candidate, shorts: Counter[str]) -> dict[str, Any]:
    """A row for the annotator."""
    words = candidate.label.split()
    aliases = [*candidate.addresses]
    if len(words) > 1:
        aliases.append(f"{words[-1]}, {' '.join(words[:-1])}")
    aliases += [short for short in _list_short_names(candidate) if shorts[short.casefold()] == 1]
    return {"id": candidate.id, "name": candidate.label, "types": [PERSON], "aliases": aliases}


def _make_document(raw: TrecDocument, headers: bool, counts: dict[str, int], faults: Faults) -> dict[str, Any]:
    text, _encoding = charset.decode(raw.body)
    source, tagged = _remove_tags(text.encode("utf-8", "replace"), raw, faults)
    page = html.read(source) if html.looks_like_html(source) else html.read_plain(source)
    values = _find_header(source)
    sender = _make_sender(source, values) if headers else Sender("", ())
    mentions = []
    for start, end, entity in tagged:
        span = sender.span(start, end) or _shift(page.span(start, end), len(sender.line))
        if span is None:
            tally(counts, IN_MARKUP)
        else:
            mentions.append({"start": span[0], "end": span[1], "entity": entity})
    shown = {name: html.read(source[a:b]).text for name, (a, b) in values.items()}
    return {
        "id": raw.id,
        "text": sender.line + page.text,
        "mentions": mentions,
        "url": raw.url,
        "title": page.title or shown.get("subject") or None,
        "date": shown.get("sent") or shown.get("received"),
    }


def _shift(span: tuple[int, int] | None, by: int) -> tuple[int, int] | None:
    return None if span is None else (span[0] + by, span[1] + by)


def _remove_tags(source: bytes, raw: TrecDocument, faults: Faults) -> tuple[bytes, list[tuple[int, int, str]]]:
    """The source without candidate tags, and where in it candidates are."""
    if b"candidate-" not in source:
        return source, []
    pieces, found, last, size = list[bytes](), list[tuple[int, int, str]](), 0, 0
    opened: dict[bytes, list[int]] = {}
    for tag in _TAG.finditer(source):
        pieces.append(source[last : tag.start()])
        size += tag.start() - last
        last = tag.end()
        if not tag[1]:
            opened.setdefault(tag[2], []).append(size)
        elif opened.get(tag[2]):
            found.append((opened[tag[2]].pop(), size, tag[2].decode()))
        else:
            faults.add(HALF, f"{raw.place}: document {raw.id}: {tag[0].decode()} ends nothing")
    for name, starts in opened.items():
        for _start in starts:
            faults.add(HALF, f"{raw.place}: document {raw.id}: <{name.decode()}> has no end")
    return b"".join([*pieces, source[last:]]), found


def _find_header(source: bytes) -> dict[str, tuple[int, int]]:
    """The fields of an archived e-mail, with where their values are."""
    found: dict[str, tuple[int, int]] = {}
    for comment in _HEADER.finditer(source, 0, _HEAD):
        for value in _VALUE.finditer(source, comment.start(1), comment.end(1)):
            found.setdefault(value[1].decode().lower(), value.span(2))
    return found if "name" in found or "email" in found else {}


def _make_sender(source: bytes, values: dict[str, tuple[int, int]]) -> Sender:
    """The line that names the sender."""
    line, parts = "From:", list[tuple[int, int, int, html.HtmlPage]]()
    for field, before, after in (("name", " ", ""), ("email", " <", ">")):
        start, end = values.get(field, (0, 0))
        value = html.read(source[start:end])
        if value.text:
            parts.append((start, end, len(line) + len(before), value))
            line += before + value.text + after
    return Sender(f"{line}\n" if parts else "", tuple(parts))

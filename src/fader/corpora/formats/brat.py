"""brat stand-off: a text file and beside it a file of annotations.

    x.txt   Naloxone reverses the effect of clonidine.
    x.ann   T1<TAB>Chemical 0 8<TAB>Naloxone                     words from 0 to 8; 0 4;9 13 is in two pieces
            N1<TAB>Reference T1 MESH:D009270<TAB>Naloxone        the entity
            #1<TAB>AnnotatorNotes T1<TAB>MESH:D009270            or in a note, if it is one word with a colon

Give the files or their folder. A text is a document, named as its file. A mention is of the entity of its N line; in a
file of annotations without such lines, of `TYPE:words`; else mentions without an entity are dropped and counted. One in
several pieces goes from the first to the last. Events, relations and attributes are counted. A text without
annotations, annotations without a text and other files are faults, but for the `.conf` files that brat keeps beside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from fader.corpora.frame.base import Batch, Importer, Records
from fader.corpora.frame.faults import PIECES, UNLINKED, at, tally
from fader.corpora.frame.inputs import decode_lines, head, plain, stem, whole_files
from fader.corpora.parsers.text.spans import Linked, make_mentions, place_mentions, stretch_pieces
from fader.corpora.parsers.text.tokens import add_row, make_entity_id
from fader.corpus.documents import Faults
from fader.corpus.readers import display_name

_SPAN = re.compile(r"(\S+) (\d{1,18} \d{1,18}(?:;\d{1,18} \d{1,18})*)")
_NOTE = re.compile(r"\S+:\S+")
UNREADABLE = "lines that cannot be read"
OTHERS = "relations, events and attributes, which are not imported"


class _BratMention(NamedTuple):
    kind: str
    pieces: list[tuple[int, int]]
    words: str
    line: int


@dataclass(frozen=True)
class Brat(Importer):
    """Texts with brat's annotations."""

    name: ClassVar[str] = "brat"
    title: ClassVar[str] = "brat stand-off: .txt and .ann files"
    example: ClassVar[str] = "fader import brat corpus-folder/ -o corpus/"
    citation: ClassVar[str] = "Stenetorp et al. 2012, brat, EACL; https://brat.nlplab.org/standoff.html"
    passes: ClassVar[int] = 2  # texts and annotations are looked for among the sources

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        """A document each: the payload is the text, the name of the annotations, and these."""
        notes = {plain(source).removesuffix(".ann"): source for source in sources if plain(source).endswith(".ann")}
        for source in sources:
            if plain(source).endswith((".ann", ".conf")):
                continue
            if not plain(source).endswith(".txt"):
                what = "brat has texts in .txt and annotations in .ann; rename it if it is one"
                faults.add("files that are neither .txt nor .ann", f"{display_name(source)}: {what}")
                continue
            beside = notes.pop(plain(source).removesuffix(".txt"), "")
            if not beside:
                what = "no .ann file of the name is given; give both, or their folder, or it has no mentions"
                faults.add("texts without their annotations", f"{display_name(source)}: {what}")
            if not head(source, 1):
                faults.add("texts that are empty", f"{display_name(source)}: has nothing that could be a document")
            found = next(iter(whole_files([beside], faults)), None) if beside else None
            for batch in whole_files([source], faults):
                yield batch._replace(payload=(batch.payload, display_name(beside), found.payload if found else b""))
        for beside in notes.values():
            what = "no .txt file of the name is given; give both files, or their folder"
            faults.add("annotations without their text", f"{display_name(beside)}: {what}")

    def convert(self, batch: Batch, state: Any, faults: Faults) -> Records:
        out = Records()
        data, beside, notes = batch.payload
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            place = at(batch.source, error.start, "byte")
            faults.add("texts that are not UTF-8", f"{place}: not UTF-8; save the file as UTF-8")
            return out
        mentions, entities = _read(notes, beside, out, faults)
        plain_text = text.replace("\r\n", "\n")
        every = [stretch_pieces(text, m.pieces, m.words) for m in mentions.values()]
        if place_mentions(text, every).wrong >= place_mentions(plain_text, every).wrong:
            text = plain_text  # offsets are not right only with the line ends that it has
        linked: list[Linked] = []
        said: list[str] = []  # the words of each
        for key, (kind, pieces, words, line) in mentions.items():
            name = entities.get(key, "") or ("" if entities else make_entity_id(kind, words))
            if not name:
                tally(out.counts, UNLINKED)
                continue
            tally(out.counts, PIECES, len(pieces) > 1)
            linked.append(Linked(stretch_pieces(text, pieces, words), [name], at(beside, line), kind))
            said.append("" if entities else words)
        found, kept = make_mentions(text, linked, faults, out.counts)
        for each, words in zip(linked, said, strict=True):
            if each.entities[0] in kept:
                add_row(out, each.entities[0], each.kind, words)
        out.documents.append({"id": stem(batch.source, ".txt"), "text": text, "mentions": found})
        return out


def _read(data: bytes, source: str, out: Records, faults: Faults) -> tuple[dict[str, _BratMention], dict[str, str]]:
    """Mentions by their keys, and the entities of those that have one."""
    mentions: dict[str, _BratMention] = {}
    entities: dict[str, str] = {}
    for number, line in decode_lines(enumerate(data.split(b"\n"), 1), source, faults):
        if not line.strip():
            continue
        key, *cells = line.split("\t")
        if key.startswith("T"):
            span = _SPAN.fullmatch(cells[0].strip()) if cells else None
            if span is None:
                what = "a mention needs a type, start and end, like Chemical 0 8"
                faults.add(UNREADABLE, f"{at(source, number)}: {what}")
                continue
            pieces = sorted((int(a), int(b)) for a, b in (piece.split() for piece in span[2].split(";")))
            mentions[key] = _BratMention(span[1], pieces, cells[1] if len(cells) > 1 else "", number)
        elif key.startswith(("N", "#")) and cells:
            parts = cells[0].split()
            said = parts[2] if key.startswith("N") and len(parts) > 2 else cells[1].strip() if len(cells) > 1 else ""
            if len(parts) > 1 and (key.startswith("N") or _NOTE.fullmatch(said)):
                entities.setdefault(parts[1], said)
        else:
            tally(out.counts, OTHERS)
    return mentions, entities

"""AIDA-CoNLL-YAGO: newspaper articles of CoNLL 2003 with entities of YAGO2, one token per line.

    -DOCSTART- (1 EU)
    German<TAB>B<TAB>German<TAB>Germany<TAB>http://en.wikipedia.org/wiki/Germany<TAB>11867<TAB>/m/0345h

A line of one column is a token outside of mentions, an empty line ends a sentence. The columns of a mention are token,
B or I, words, entity of YAGO2 with `\\uXXXX` for other than ASCII (--NME--: not in YAGO2), and the same as Wikipedia's
address, its page number and Freebase's id. Without the texts, which are Reuters', there is the stand-off variant: with
the option `annotations` the sources are eng.train, eng.testa, eng.testb of CoNLL 2003, in this order, and the file of
annotations has for each document lines of `token number<TAB>entity<TAB>...`, counted from 0 over tokens alone. A
mention is then as long as its label in the source, which also gives its type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from urllib.parse import unquote

from fader.corpora.frame.base import Batch, EntityRow, Importer, Records, TypeRow, option
from fader.corpora.frame.faults import UNLINKED, at, tally
from fader.corpora.frame.inputs import companion_lines, decode_line, decode_lines, group_batches, stem
from fader.corpora.parsers.rdf.escapes import unescape
from fader.corpora.parsers.text.spans import read_number
from fader.corpora.parsers.text.tokens import OUTSIDE, UNLABELLED, Label, TokenText, find_labelled, split_cells
from fader.corpus.documents import Faults
from fader.errors import quote
from fader.progress import Progress

START = b"-DOCSTART-"
_TITLE = re.compile(r"-DOCSTART-\s*\((\S+)\s*(.*)\)")
_CONLL = re.compile(r"\S+ \S+ \S+ (?:O|[BI]-\w+)\s*")  # a token of CoNLL 2003
_UNKNOWN = ("--NME--", "--OOKBE--", "")
_IDS = {"yago": 0, "wikipedia": 1, "page": 2, "freebase": 3}
_Lines = list[tuple[int, str]]
_Columns = list[tuple[Label, list[str]]]  # of each token its label, and the columns of its entity


class _Annotated(NamedTuple):
    """A document of the stand-off file: its title line, and the columns behind the number of a token."""

    title: str
    entities: dict[int, tuple[int, list[str]]]  # token -> (line, columns)


@dataclass(frozen=True)
class Aida(Importer):
    """Articles with mentions of entities of YAGO2."""

    name: ClassVar[str] = "aida"
    title: ClassVar[str] = "AIDA-CoNLL-YAGO, whole or stand-off"
    example: ClassVar[str] = "fader import aida AIDA-YAGO2-dataset.tsv -o corpus/"
    citation: ClassVar[str] = "Hoffart et al. 2011, Robust Disambiguation of Named Entities in Text, EMNLP"
    state_type: ClassVar[Any] = list[_Annotated] | None

    annotations: str = option("", "AIDA-YAGO2-annotations.tsv; the sources are then CoNLL 2003's.", path=True)
    ids: str = option(
        "yago", "Which id an entity has: yago, wikipedia (its title), page (its number) or freebase.", choices=_IDS
    )

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        """The payload is the number of documents before it, and lines."""
        before = 0
        for batch in group_batches(sources, faults, lambda line: line.startswith(START)):
            yield batch._replace(payload=(before, batch.payload))
            before += sum(line.startswith(START) for line in batch.payload)

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> Any:
        return _read_annotations(self.annotations, faults) if self.annotations else None

    def convert(self, batch: Batch, state: list[_Annotated] | None, faults: Faults) -> Records:
        out = Records()
        before, payload = batch.payload
        lines: _Lines = []
        for number, line in decode_lines(enumerate([*payload, START], batch.place), batch.source, faults):
            if line.startswith("-DOCSTART-") and lines:
                before += lines[0][1].startswith("-DOCSTART-")
                self._document(lines, batch.source, state, before - 1, out, faults)
                lines = []
            lines.append((number, line))
        return out

    def _document(
        self, lines: _Lines, source: str, state: list[_Annotated] | None, ordinal: int, out: Records, faults: Faults
    ) -> None:
        number, first = lines[0]
        if not first.startswith("-DOCSTART-"):
            if any(line.strip() for _number, line in lines):
                what = "no -DOCSTART- line before it; give AIDA-YAGO2-dataset.tsv, or CoNLL 2003 with --annotations"
                faults.add("lines before a document", f"{at(source, number)}: {what}")
            return
        if state is None and (bare := next((each for each in lines if _CONLL.fullmatch(each[1])), None)):
            what = "a token of CoNLL 2003, which has no entities; give AIDA-YAGO2-annotations.tsv with --annotations"
            faults.add("documents without annotations", f"{at(source, bare[0])}: {what}")
            return
        if state is not None and ordinal >= len(state):
            what = f"document {ordinal + 1:,} of the sources, but the annotations have {len(state):,}"
            faults.add("documents without annotations", f"{at(source, number)}: {what}; give the sources in order")
            return
        annotated = None if state is None else state[ordinal]
        found = _TITLE.match(annotated.title if annotated else first)
        text, columns = _read_tokens(lines[1:], source, faults) if annotated is None else _read_stand_off(lines[1:])
        mentions, begun = [], set()
        for begin, end, label in find_labelled([label for label, _columns in columns]):
            cells = columns[begin][1] if annotated is None else annotated.entities.get(begin, (0, []))[1]
            begun.add(begin)
            entity = self._entity(cells, label, out)
            if entity:
                mentions.append({"start": text.spans[begin][0], "end": text.spans[end - 1][1], "entity": entity})
        if annotated is not None:
            for token, (at_line, _cells) in annotated.entities.items():
                if token not in begun:
                    where = at(self.annotations, at_line)
                    faults.add("annotations that begin no mention", f"{where}: token {token} of {annotated.title}")
        document: dict[str, Any] = {"id": found[1] if found else f"{stem(source)}:{number}", "text": text.text}
        if found and found[2]:
            document["title"] = found[2]
        out.documents.append({**document, "mentions": mentions})

    def _entity(self, cells: list[str], label: Label, out: Records) -> str:
        """The id of a mention's entity, whose row is added; empty if it has none."""
        cells = [*(cell.strip() for cell in cells), "", "", "", ""]
        yago = unescape(cells[0])
        entity = (yago, unquote(cells[1].rpartition("/wiki/")[2]), cells[2], cells[3])[_IDS[self.ids]]
        if cells[0] in _UNKNOWN or not entity:
            tally(out.counts, UNLINKED)
            return ""
        out.entities.append(EntityRow(entity, yago.replace("_", " "), [label.kind] if label.kind else []))
        if label.kind:
            out.types.append(TypeRow(label.kind, label.kind))
        return entity


def _read_tokens(lines: _Lines, source: str, faults: Faults) -> tuple[TokenText, _Columns]:
    """The text of a document, and what is said of its tokens."""
    text, columns = TokenText(), _Columns()
    for number, line in lines:
        cells = line.split("\t")
        if not line.strip():
            text.end_sentence()
        elif len(cells) > 1 and (len(cells) < 4 or cells[1] not in ("B", "I")):
            what = f"a mention's token needs B or I, the words and the entity, not {quote(line, 40)}"
            faults.add(UNLABELLED, f"{at(source, number)}: {what}")
            text.add(cells[0].strip())
            columns.append((OUTSIDE, []))
        else:
            text.add(cells[0].strip())
            entity = "\t".join(cells[2:4]) if len(cells) > 1 else ""
            columns.append((Label(cells[1] if len(cells) > 1 else "O", "", entity), cells[3:]))
    return text, columns


def _read_stand_off(lines: _Lines) -> tuple[TokenText, _Columns]:
    """The same from the columns of CoNLL 2003: token, part of speech, chunk, label."""
    text, columns = TokenText(), _Columns()
    for _number, line in lines:
        cells = split_cells(line)
        if not cells:
            text.end_sentence()
            continue
        letter, _dash, kind = cells[-1].partition("-")
        text.add(cells[0])
        columns.append((Label(letter if letter in "BIESLU" else "O", kind), []))
    return text, columns


def _read_annotations(path: str, faults: Faults) -> list[_Annotated]:
    found: list[_Annotated] = []
    for number, raw, _consumed in companion_lines(path, faults):
        line = decode_line(raw, number, path, faults)
        if line is None or not line.strip():
            continue
        token, *cells = line.split("\t")
        if line.startswith("-DOCSTART-"):
            found.append(_Annotated(line, {}))
        elif not found or (index := read_number(token)) is None or not cells:
            what = "needs the number of a token, a tab and an entity, below a -DOCSTART- line"
            faults.add("annotations that cannot be read", f"{at(path, number)}: {what}")
        else:
            found[-1].entities[index] = (number, cells)
    return found

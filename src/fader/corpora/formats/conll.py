"""CoNLL files: one token per line, labelled IOB1, IOB2, IOBES or BILOU, with entities by the usual conventions.

    EU NNP B-NP B-ORG                the label is the last column that looks like one
    EU<TAB>B-ORG<TAB>Q458            the entity is the column behind it
    EU<TAB>B-ORG<TAB>B-Q458          or a label itself
    EU<TAB>B-ORG|Q458                or behind a bar in the label
    EU<TAB>B-Q458                    or all there is in the label
    1<TAB>EU<TAB>...<TAB>NER=B-ORG|Wikidata=Q458     CoNLL-U, in MISC; also GUM's Entity=(1-organization-...-EU)

Columns are separated by tabs or blanks; an empty line ends a sentence. A document begins at `-DOCSTART-`, `# newdoc`,
`#begin document` or `# document_id = ...`; in a source that has none of them each sentence is one. Mentions of a source
that has no place for entities are of the entity `TYPE:words`; where it has one and it is empty, they are dropped and
counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from fader.corpora.frame.base import Batch, Importer, MentionRow, Records, option
from fader.corpora.frame.faults import UNLINKED, at, tally
from fader.corpora.frame.inputs import decode_lines, group_batches, head, stem
from fader.corpora.parsers.text.tokens import (
    NIL,
    OUTSIDE,
    UNLABELLED,
    Label,
    TokenText,
    add_row,
    find_labelled,
    make_entity_id,
    split_cells,
)
from fader.corpus.documents import Faults
from fader.corpus.readers import display_name
from fader.errors import UsageError, quote
from fader.progress import Progress

_OPENS = re.compile(rb"(?m)^(?:-DOCSTART-|#\s*newdoc\b|#begin document|#\s*(?:\w+:)?document_id\s*=)")
_MARK = re.compile(
    r"-DOCSTART-\s*(.*)|#\s*newdoc\b(?:\s+id)?\s*=?\s*(.*)|#begin document\s*(.*)|#\s*(?:\w+:)?document_id\s*=\s*(.*)"
)
_NAMELESS = re.compile(r"-X-.*|(?:O|-|\s)+")
_GLOBAL = re.compile(r"#\s*global\.Entity\s*=\s*(\S+)")
_NUMBER = re.compile(r"(\d{1,9})(?:-(\d{1,9})|\.\d+)?")
_LABEL = re.compile(r"([BIESLUM])[-_](\S.*)|([OBI])")
_ENTITY = re.compile(r"Q\d+|[A-Za-z]+:\S+|/m/\S+|[DC]\d{6,9}|\d+")
_BRACKET = re.compile(r"\(([^()]+)(\))?|([^()]+)\)")
_NONE = frozenset(("", "_", "-", "O", "*", "NIL", "--NME--", "null", "None", "-1"))
_KEYS = ("Wikidata", "WikidataID", "wikidata", "QID", "Identity", "EntityID", "EntityId", "Wiki", "KB", "Id", "ID")
_UNLINKED = (
    "What mentions without an id become: name (of the entity TYPE:words), drop (counted), "
    "or auto (name in a source that has no place for ids, else drop)."
)
_LABELS = ("NER", "NE", "Entity", "ner")


@dataclass(slots=True)
class _Document:
    id: str
    line: int
    text: TokenText = field(default_factory=TokenText)
    labels: list[Label] = field(default_factory=list)
    brackets: list[tuple[int, int, str, str]] = field(default_factory=list)  # first, last token, type, entity
    open: list[tuple[str, int, str, str]] = field(default_factory=list)
    covered: int = 0  # the last word of a token of several words
    stray: int = 0  # brackets that close nothing


@dataclass(frozen=True)
class Conll(Importer):
    """Tokens with labels."""

    name: ClassVar[str] = "conll"
    title: ClassVar[str] = "CoNLL: labelled tokens (IOB1, IOB2, IOBES, BILOU), CoNLL-U"
    example: ClassVar[str] = "fader import conll train.conll --label 2 --identifier 3 -o corpus/"
    citation: ClassVar[str] = (
        "Tjong Kim Sang, De Meulder 2003, CoNLL-2003; https://universaldependencies.org/format.html"
    )
    passes: ClassVar[int] = 2

    label: int = option(0, "The column of the label, from 1; 0: the last that looks like one.")
    identifier: int = option(0, "The column of the entity, from 1; 0: by the conventions.")
    unlinked: str = option("auto", _UNLINKED, choices=("auto", "name", "drop"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if (least := min(self.label, self.identifier)) < 0:
            raise UsageError(f"conll: columns are counted from 1, not {least}")

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        """The payload says whether documents are marked, and has the lines."""
        for source in sources:
            marked = _OPENS.search(head(source)) is not None
            opens = _OPENS.match if marked else lambda line: not line.strip()
            for batch in group_batches([source], faults, opens):
                yield batch._replace(payload=(marked, batch.payload))

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> Any:
        """What the parts of Entity=(...) are, by source: it is said once, at its head."""
        found = {display_name(s): _GLOBAL.search(head(s).decode("utf-8", "replace")) for s in sources}
        return {name: keys[1].split("-") for name, keys in found.items() if keys}

    def convert(self, batch: Batch, state: dict[str, list[str]], faults: Faults) -> Records:
        out = Records()
        marked, payload = batch.payload
        keys = state.get(batch.source, [])
        document: _Document | None = None
        width = 0  # columns of the token before
        for number, line in decode_lines(enumerate(payload, batch.place), batch.source, faults):
            if mark := _MARK.match(line):  # with an id like `(1 EU)`, `-X- O O` (none), `(bc/cctv/00); part 000`
                self._close(document, batch.source, out, faults)
                said = next((group for group in mark.groups() if group), "").strip("() ")
                name = "" if _NAMELESS.fullmatch(said) else "_".join(said.replace(")", "").split())
                document = _Document(name or f"{stem(batch.source)}:{number}", number)
            elif not line.strip():
                if document and marked:
                    document.text.end_sentence()
                elif not marked:
                    self._close(document, batch.source, out, faults)
                    document = None
            elif line.startswith("#") and not _is_token(line, width):
                if found := _GLOBAL.match(line):
                    keys = found[1].split("-")
                if not marked and (named := re.match(r"#\s*sent_id\s*=\s*(\S+)", line)):
                    document = _Document(f"{stem(batch.source)}:{named[1]}", number)
            elif not line.startswith("TOKEN\t"):  # a heading
                document = document or _Document(f"{stem(batch.source)}:{number}", number)
                width = self._token(line, document, keys, at(batch.source, number), faults)
        self._close(document, batch.source, out, faults)
        return out

    def _token(self, line: str, document: _Document, keys: list[str], place: str, faults: Faults) -> int:
        """Add a token to a document; how many columns it has."""
        cells = split_cells(line)
        numbered = _NUMBER.fullmatch(cells[0]) if len(cells) == 10 else None
        if numbered:
            _read_universal(cells, numbered, document, keys)
            return len(cells)
        if len(cells) < 2 or max(self.label, self.identifier) > len(cells):
            need = max(self.label, self.identifier, 2)
            what = f"{len(cells)} columns, but a token and its label need {need}, with tabs or blanks between"
            faults.add("lines with too few columns", f"{place}: {what}")
            return len(cells)
        glued = any("NoSpaceAfter" in cell or "SpaceAfter=No" in cell for cell in cells[1:])
        document.text.add(cells[0], blank=not glued)
        document.labels.append(self._label(cells, place, faults))
        return len(cells)

    def _label(self, cells: list[str], place: str, faults: Faults) -> Label:
        """What the columns say of a token."""
        chosen = [self.label - 1] if self.label else range(len(cells) - 1, 0, -1)
        looks = [(i, found) for i in chosen if (found := _LABEL.fullmatch(cells[i].strip()))]
        if not looks:
            seen = quote(cells[self.label - 1] if self.label else " ".join(cells[1:]), 40)
            what = f"a label is O, or one of B, I, E, S, L, U, M, a dash and a type, not {seen}"
            faults.add(UNLABELLED, f"{place}: {what}; name its column with --label")
        if not looks or looks[0][1][3] == "O":
            return OUTSIDE
        column, found = looks[0]
        letter, kind, entity = found[1] or found[3], found[2] or "", ""
        if "|" in kind:
            kind, _bar, entity = kind.partition("|")
            entity = NIL if entity in _NONE else entity
        if _ENTITY.fullmatch(kind):
            kind, entity = "", kind
            if len(looks) > 1 and looks[1][1][2]:
                kind = looks[1][1][2]
        if self.identifier:
            said = cells[self.identifier - 1]
            said = found[2] if (found := _LABEL.fullmatch(said)) and found[2] else said
            entity = NIL if said in _NONE else said
        elif not entity and column + 1 < len(cells):
            after = [c for c in cells[column + 1 :] if "NoSpaceAfter" not in c and "SpaceAfter=No" not in c]
            entity = next((c for c in after if c not in _NONE), NIL) if after else ""
        return Label(letter, kind, entity)

    def _close(self, document: _Document | None, source: str, out: Records, faults: Faults) -> None:
        if document is None or not document.text.spans:
            return
        for _ in range(document.stray + len(document.open)):
            what = f"document {quote(document.id)}: an Entity= opens a bracket that is not closed, or closes none"
            faults.add("halves of mentions", f"{at(source, document.line)}: {what}")
        text, spans = document.text.text, document.text.spans
        found = [(first, end, label.kind, label.entity) for first, end, label in find_labelled(document.labels)]
        mentions: list[MentionRow] = []
        for first, end, kind, said in (*found, *document.brackets):
            start, stop = spans[first][0], spans[end - 1][1]
            entity = said
            if not said or said == NIL:
                if self.unlinked == "drop" or (said == NIL and self.unlinked == "auto"):
                    tally(out.counts, UNLINKED)
                    continue
                entity = make_entity_id(kind, text[start:stop])
                add_row(out, entity, kind, text[start:stop])
            else:
                add_row(out, entity, kind)
            mentions.append({"start": start, "end": stop, "entity": entity})
        out.documents.append({"id": document.id, "text": text, "mentions": mentions})


def _is_token(line: str, width: int) -> bool:
    """Whether a line that begins like a remark is a token, as `#tag<TAB>O` is: it has a label, and the right width."""
    cells = split_cells(line)
    fits = "\t" in line or (len(cells) == width if width else len(cells) < 5 and "=" not in cells)
    return fits and any(_LABEL.fullmatch(cell.strip()) for cell in cells[1:])


def _read_universal(cells: list[str], numbered: re.Match[str], document: _Document, keys: list[str]) -> None:
    """A line of CoNLL-U."""
    misc = dict(pair.split("=", 1) for pair in cells[9].split("|") if "=" in pair)
    blank = misc.get("SpaceAfter") != "No"
    if "." in cells[0]:
        return  # a word that is not written
    if numbered[2]:
        document.text.add(cells[1], blank)
        document.labels.append(OUTSIDE)
        document.covered = int(numbered[2])
        return
    if int(numbered[1]) <= document.covered:
        document.text.again()
    else:
        document.text.add(cells[1], blank)
        document.covered = 0
    if cells[0] == str(document.covered):
        document.covered = 0
    said = next((misc[key] for key in _KEYS if key in misc), "")
    label = next((found for key in _LABELS if (found := _LABEL.fullmatch(misc.get(key, "")))), None)
    if label and label[3] != "O":
        kind = label[2] or ""
        document.labels.append(Label(label[1] or label[3], kind, (NIL if said in _NONE else said) if said else ""))
    else:
        document.labels.append(OUTSIDE)
        if "(" in misc.get("Entity", "") or ")" in misc.get("Entity", ""):
            _read_brackets(misc["Entity"], document, keys)


def _read_brackets(said: str, document: _Document, keys: list[str]) -> None:
    """Mentions in brackets: `(1-person-new-Jane)` opens and closes, `(1-person` opens, `1)` closes."""
    here = len(document.labels) - 1
    for opened, closed, name in _BRACKET.findall(said):
        if not opened:
            for i in range(len(document.open) - 1, -1, -1):
                if document.open[i][0] == name.split("-")[0]:
                    _name, first, kind, entity = document.open.pop(i)
                    document.brackets.append((first, here + 1, kind, entity))
                    break
            else:
                document.stray += 1
            continue
        parts = dict(zip(keys or ["GRP", "etype"], opened.split("-", max(len(keys) - 1, 1)), strict=False))
        kind = parts.get("etype", "")
        entity = next((parts[key] for key in ("identity", "wiki", "wikidata") if parts.get(key)), NIL)
        entity = entity if entity == NIL else entity.replace("%2D", "-").replace("%28", "(").replace("%29", ")")
        if closed:
            document.brackets.append((here, here + 1, kind, entity))
        else:
            document.open.append((opened.split("-")[0], here, kind, entity))

"""PubTator and PubTator3 text: title and abstract of an article, then a line for each mention.

    227508|t|Naloxone reverses the antihypertensive effect of clonidine.
    227508|a|In unanesthetized, spontaneously hypertensive rats ...
    227508<TAB>0<TAB>8<TAB>Naloxone<TAB>Chemical<TAB>D009270
    227508<TAB>CID<TAB>D008750<TAB>D007022                                a relation

An article is a document: title, a blank, abstract. An identifier is an entity (`concepts` has the spellings), the fifth
column its type; with the option `mesh` also its places in the tree of MeSH. A composite mention is one of each of its
entities. Relations and mentions without an id are counted. Offsets may count characters, UTF-16 units or bytes
(`spans`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from fader.corpora.frame.base import Batch, Importer, Records, option
from fader.corpora.frame.faults import RELATIONS, UNLINKED, at, tally
from fader.corpora.frame.inputs import decode_lines, group_batches
from fader.corpora.frame.store import Store
from fader.corpora.parsers.biomedical.concept_rows import MESH, ConceptRows, complete_rows, read_chosen_mesh
from fader.corpora.parsers.biomedical.concepts import find_concepts, split_kinds
from fader.corpora.parsers.biomedical.mesh_tables import Mesh
from fader.corpora.parsers.text.spans import Linked, make_mentions, read_number
from fader.corpus.documents import Faults
from fader.errors import quote
from fader.progress import Progress

_OPENS = re.compile(rb"(?:\xef\xbb\xbf)?[^|\t]{1,64}\|t\|")
_PASSAGE = re.compile(r"([^|\t]{1,64})\|([a-z])\|(.*)", re.DOTALL)
UNREADABLE = "lines that are neither text, mention nor relation"
HOMELESS = "lines without their article"


@dataclass(slots=True)
class _Article:
    id: str
    passages: list[str]
    linked: list[Linked] = field(default_factory=list)
    titles: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True)
class PubTator(Importer):
    """Articles with their mentions, in PubTator's text format."""

    name: ClassVar[str] = "pubtator"
    title: ClassVar[str] = "PubTator text: articles with mentions of biomedical concepts"
    example: ClassVar[str] = "fader import pubtator CDR_TrainingSet.PubTator.txt --mesh desc2026.xml -o corpus/"
    citation: ClassVar[str] = "Wei et al. 2024, PubTator 3.0, doi:10.1093/nar/gkae235; tmTools, Format.html"
    state_type: ClassVar[Any] = Mesh | None

    mesh: str = option("", MESH, path=True)

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return group_batches(sources, faults, _OPENS.match)

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> Any:
        return read_chosen_mesh(self.mesh, faults, progress)

    def convert(self, batch: Batch, state: Mesh | None, faults: Faults) -> Records:
        out, rows = Records(), ConceptRows(state)
        article: _Article | None = None
        for number, line in decode_lines(enumerate(batch.payload, batch.place), batch.source, faults):
            passage = _PASSAGE.fullmatch(line)
            if passage and passage[2] == "t":
                _close(article, rows, out, faults)
                article = _Article(passage[1].strip(), [passage[3]])
            elif passage and article and passage[1].strip() == article.id:
                article.passages.append(passage[3])
            elif passage:
                what = f"text without a line {passage[1].strip()}|t| before it"
                faults.add(HOMELESS, f"{at(batch.source, number)}: {what}")
            elif line.strip():
                _read_tabbed(line.split("\t"), article, at(batch.source, number), out, faults)
        _close(article, rows, out, faults)
        rows.add_to(out)
        return out

    def finish(self, state: Mesh | None, store: Store) -> None:
        complete_rows(state, store)


def _read_tabbed(cells: list[str], article: _Article | None, place: str, out: Records, faults: Faults) -> None:
    """A mention or a relation."""
    start, end = (read_number(cell) for cell in cells[1:3]) if len(cells) > 3 else (None, None)
    if start is None and 4 <= len(cells) < 6 and article and cells[0].strip() == article.id:
        tally(out.counts, RELATIONS)
    elif len(cells) < 4 or not cells[0].strip():
        faults.add(UNREADABLE, f"{place}: needs six columns: article, start, end, words, type, id")
    elif article is None or cells[0].strip() != article.id:
        remedy = "a list without texts has no offsets: import PubTator3's BioCXML files as bioc"
        faults.add(HOMELESS, f"{place}: no line {cells[0].strip()[:40]}|t| before it; {remedy}")
    elif start is None or end is None:
        wrong = quote(cells[1] if start is None else cells[2])
        faults.add(UNREADABLE, f"{place}: start and end must be whole numbers, not {wrong}")
    else:
        kind = cells[4].strip() if len(cells) > 4 else ""
        names = find_concepts(cells[5], kind) if len(cells) > 5 else ()
        if not names:
            tally(out.counts, UNLINKED)
            return
        titles = cells[6].split("|") if len(cells) > 6 else []
        article.linked.append(Linked((start, end, cells[3]), names, place, kind))
        article.titles.append([title.strip() for title in titles] if len(titles) == len(names) > 1 else [])


def _close(article: _Article | None, rows: ConceptRows, out: Records, faults: Faults) -> None:
    """The document of an article that has been read."""
    if article is None:
        return
    text = " ".join(article.passages).rstrip()
    mentions, kept = make_mentions(text, article.linked, faults, out.counts)
    for each, titles in zip(article.linked, article.titles, strict=True):
        if kept.issuperset(each.entities):
            named = dict(zip(each.entities, titles, strict=False))
            rows.see(each.entities, split_kinds(each.kind), named, each.given[2])
    out.documents.append({"id": article.id, "text": text, "title": article.passages[0], "mentions": mentions})

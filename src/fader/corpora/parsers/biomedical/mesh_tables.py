"""The tables of MeSH, the medical subject headings, from its files.

Three layouts, known by their first bytes, in any mixture:

    descriptor or supplement XML    <DescriptorRecord>... <DescriptorUI>D000001, <TreeNumber>D03.633.100.221.173
    the same in ASCII               *NEWRECORD, then lines like `MH = Calcimycin`, `MN = D03...`, `UI = D000001`
    tree                            `Body Regions;A01`, or with tabs, with or without the heading's id in a cell

A heading that has others below it is also a type, `mesh_D009369`, below the types of the headings above it in the
tree; the letter of a branch is the topmost type, `mesh_C`. Where the files have no ids, a tree number takes the place
of one. The importer `mesh` writes them as a catalog; `pubtator` and `bioc` use them for their option `mesh`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple
from xml.etree import ElementTree

from fader.corpora.frame.base import Batch, EntityRow, TypeRow
from fader.corpora.frame.faults import at
from fader.corpora.frame.inputs import decode_lines, group_batches, head, line_batches, mark_batches
from fader.corpus.documents import Faults
from fader.progress import Progress

BRANCHES = {
    "A": "Anatomy", "B": "Organisms", "C": "Diseases", "D": "Chemicals and Drugs",
    "E": "Analytical, Diagnostic and Therapeutic Techniques and Equipment", "F": "Psychiatry and Psychology",
    "G": "Phenomena and Processes", "H": "Disciplines and Occupations",
    "I": "Anthropology, Education, Sociology and Social Phenomena", "J": "Technology, Industry, Agriculture",
    "K": "Humanities", "L": "Information Science", "M": "Named Groups", "N": "Health Care",
    "V": "Publication Characteristics", "Z": "Geographicals",
}  # fmt: skip
_UI = re.compile(r"[DC]\d{6,9}")
_TREE = re.compile(r"[A-NVZ]\d{2}(?:\.\d{3})*(?:\.\d+)*")
_RECORD = re.compile(rb"<(DescriptorRecord|SupplementalRecord)\b.*?</\1>", re.DOTALL)
_OPEN = re.compile(rb"<(?:DescriptorRecord|SupplementalRecord)\b")
UNREADABLE = "records that cannot be read"


class Heading(NamedTuple):
    """A heading as a record has it; `mapped` are the ids or names of the headings that a supplement belongs to."""

    ui: str
    title: str
    trees: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    mapped: tuple[str, ...] = ()


class Mesh(NamedTuple):
    """All headings: what types are made of."""

    headings: dict[str, Heading]  # by id, or by the first tree number where files have no ids
    at: dict[str, str]  # tree number -> key of the heading there
    above: frozenset[str]  # keys of headings that have others below them
    named: dict[str, str]  # lower case title -> key

    def entity(self, key: str) -> EntityRow | None:
        """The row of a heading, by its id, without aliases."""
        heading = self.headings.get(key)
        return EntityRow(f"MESH:{key}", heading.title, self.types(heading)) if heading else None

    def types(self, heading: Heading) -> list[str]:
        """The types right above a heading, and its own if others are below it."""
        found: list[str] = []
        for name in () if heading.trees else heading.mapped:
            over = self.named.get(name.lower(), name)
            if over in self.headings and self.headings[over].trees:
                found += [f"mesh_{over}"] if over in self.above else self.types(self.headings[over])
        found += [self._type(parent) for tree in heading.trees if (parent := tree.rpartition(".")[0])]
        found += [f"mesh_{tree[0]}" for tree in heading.trees if "." not in tree]
        key = self.at.get(heading.trees[0], "") if heading.trees else ""
        return list(dict.fromkeys([*found, f"mesh_{key}"] if key in self.above else found))

    def rows(self, names: Sequence[str]) -> Iterator[TypeRow]:
        """Types with all that are above them, each once."""
        waiting, seen = list(names), set(names)
        while waiting:
            name = waiting.pop()
            key = name.removeprefix("mesh_")
            heading = self.headings.get(key)
            if heading is None:
                yield TypeRow(name, BRANCHES.get(key, key))
                continue
            parents = [parent for parent in self.types(heading) if parent != name]
            yield TypeRow(name, heading.title, parents)
            waiting += [parent for parent in parents if parent not in seen]
            seen.update(parents)

    def _type(self, tree: str) -> str:
        """The type of a place in the tree; of the nearest one above it that is known."""
        while tree not in self.at:
            tree, dot, _last = tree.rpartition(".")
            if not dot:
                return f"mesh_{_last[:1]}"
        return f"mesh_{self.at[tree]}"


def read_mesh(sources: Sequence[str], faults: Faults, progress: Progress | None = None, aliases: bool = False) -> Mesh:
    """The tables of MeSH files; headings have their aliases on demand, which are most of the memory."""
    by_id: dict[str, Heading] = {}
    loose: dict[str, Heading] = {}  # titles to headings without an id
    for batch in cut_files(sources, faults):
        for heading in read_headings(batch, faults):
            if heading.ui:
                before = by_id.get(heading.ui, heading)
                trees = tuple(sorted({*before.trees, *heading.trees}))
                known = tuple(dict.fromkeys((*before.aliases, *heading.aliases))) if aliases else ()
                by_id[heading.ui] = before._replace(trees=trees, aliases=known, title=before.title or heading.title)
            else:
                trees = tuple(sorted({*loose.get(heading.title.lower(), heading).trees, *heading.trees}))
                loose[heading.title.lower()] = heading._replace(trees=trees)
        if progress is not None:
            progress.update(batch.consumed, None, f"{len(by_id) + len(loose):,} headings")
    return _join_headings(by_id, loose)


def _join_headings(by_id: dict[str, Heading], loose: dict[str, Heading]) -> Mesh:
    """Join headings without ids to those that have one, by their titles."""
    named = {heading.title.lower(): ui for ui, heading in sorted(by_id.items(), reverse=True) if heading.title}
    taken = {tree: ui for ui, heading in by_id.items() for tree in heading.trees}
    for title, heading in loose.items():
        ui = named.get(title) or next((taken[tree] for tree in heading.trees if tree in taken), "")
        if ui:
            known = by_id[ui]
            trees = tuple(sorted({*known.trees, *heading.trees}))
            by_id[ui] = known._replace(trees=trees, title=known.title or heading.title)
        else:
            by_id[heading.trees[0]] = heading
        named.setdefault(title, ui or heading.trees[0])
    at = {tree: key for key, heading in by_id.items() for tree in heading.trees}
    parents = {tree.rpartition(".")[0] for tree in at}
    return Mesh(by_id, at, frozenset(at[tree] for tree in parents if tree in at), named)


def cut_files(sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
    """The sources in pieces; the payload is `(layout, piece)`."""
    for source in sources:
        begin = head(source)
        if begin.lstrip().startswith(b"<"):
            mark = b"</SupplementalRecord>" if b"<SupplementalRecord" in begin else b"</DescriptorRecord>"
            pieces, layout = mark_batches([source], faults, mark), "xml"
        elif b"*NEWRECORD" in begin:
            pieces, layout = group_batches([source], faults, lambda line: line.startswith(b"*NEWRECORD")), "ascii"
        else:
            pieces, layout = line_batches([source], faults), "tree"
        for batch in pieces:
            yield batch._replace(payload=(layout, batch.payload))


def read_headings(batch: Batch, faults: Faults) -> Iterator[Heading]:
    """The headings of a piece."""
    layout, payload = batch.payload
    if layout == "xml":
        return _read_xml(batch, payload, faults)
    lines = decode_lines(enumerate(payload, batch.place), batch.source, faults)
    return (_read_ascii if layout == "ascii" else _read_tree)(lines, batch, faults)


def _read_xml(batch: Batch, payload: bytes, faults: Faults) -> Iterator[Heading]:
    end = 0
    for record in _RECORD.finditer(payload):
        end = record.end()
        try:
            yield _read_element(ElementTree.fromstring(record[0]))
        except (ElementTree.ParseError, ValueError) as error:
            faults.add(UNREADABLE, f"{at(batch.source, batch.place + record.start(), 'byte')}: {error}")
    if rest := _OPEN.search(payload, end):
        place = at(batch.source, batch.place + rest.start(), "byte")
        faults.add(UNREADABLE, f"{place}: the record has no end; get a whole copy of the file")
    elif not end and not batch.place:
        what = "no DescriptorRecord and no SupplementalRecord in it; give files of MeSH, as desc2026.xml"
        faults.add(UNREADABLE, f"{at(batch.source, 0, 'byte')}: {what}")


def _read_element(record: ElementTree.Element) -> Heading:
    kind = record.tag if record.tag == "SupplementalRecord" else "Descriptor"
    ui, title = record.findtext(f"{kind}UI") or "", record.findtext(f"{kind}Name/String") or ""
    trees = tuple(t.text.strip() for t in record.iterfind("TreeNumberList/TreeNumber") if t.text)
    mapped = record.iterfind("HeadingMappedToList/HeadingMappedTo/DescriptorReferredTo/DescriptorUI")
    terms = (t.text.strip() for t in record.iterfind("ConceptList/Concept/TermList/Term/String") if t.text)
    if not ui or not title:
        raise ValueError("the record has no id or no name")
    aliases = tuple(dict.fromkeys(term for term in terms if term != title))
    return Heading(ui.strip(), title.strip(), trees, aliases, tuple((m.text or "").strip("* \n") for m in mapped))


def _read_ascii(lines: Iterable[tuple[int, str]], batch: Batch, faults: Faults) -> Iterator[Heading]:
    fields = defaultdict[str, list[str]](list)
    first = batch.place
    for number, line in chain(lines, [(0, "*NEWRECORD")]):
        key, equals, value = line.partition(" = ")
        if equals and not line.startswith("*NEWRECORD"):
            fields[key.strip()].append(value.strip())
        if not line.startswith("*NEWRECORD"):
            continue
        ui, title = "".join(fields["UI"][:1]), "".join((fields["MH"] or fields["NM"] or fields["SH"])[:1])
        if ui and title:
            entries = (e.split("|")[0] for key in ("ENTRY", "PRINT ENTRY", "SY") for e in fields[key])
            mapped = tuple(name.strip("* ").split("/")[0] for name in fields["HM"])
            aliases = tuple(dict.fromkeys(entry for entry in entries if entry != title))
            yield Heading(ui, title, tuple(fields["MN"]), aliases, mapped)
        elif any(fields.values()):
            faults.add(UNREADABLE, f"{at(batch.source, first)}: the record needs the lines UI and MH or NM")
        fields.clear()
        first = number


def _read_tree(lines: Iterable[tuple[int, str]], batch: Batch, faults: Faults) -> Iterator[Heading]:
    for number, line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in (line.split("\t") if "\t" in line else line.rsplit(";", 1))]
        ui = next((cell for cell in cells if _UI.fullmatch(cell)), "")
        trees = tuple(t for cell in cells for t in re.split(r"[|;, ]", cell) if _TREE.fullmatch(t) and t != ui)
        title = next((c for c in cells if c and c != ui and not _TREE.match(c)), "")
        if not trees or not (title or ui):
            what = "needs a heading and a tree number, like Body Regions;A01"
            faults.add(UNREADABLE, f"{at(batch.source, number)}: {what}")
            continue
        yield Heading(ui, title, trees)

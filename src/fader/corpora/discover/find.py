"""A catalog from texts: names, what is said of them, spellings put together, and a file that a person can edit.

A spelling of several words is kept if it was seen once where its capital says something, or LEAST times at all; one of
a single word if it was seen LEAST times where its capital says something, and more often so than in lower case. `least`
raises both. A type counts that was said twice of an entity, or of SUPPORT names. The catalog is tab-separated with a
header (id, name, types, aliases, count), the most frequent first: lines can be deleted, names corrected, types added.
Memory grows with the names, not with the texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from fader.corpora.discover.grouping import Group, Spelling, group_spellings
from fader.corpora.discover.names import ADJECTIVES, Name, common_words, find_names
from fader.corpora.discover.patterns import PERSON, find_short_name, find_types, type_by_words
from fader.corpus.readers import read_batches
from fader.jobs.files import write_whole
from fader.progress import Progress, Silent

LEAST = 2
DOCUMENTS = 2_000  # of which a spelling remembers that it is in them
TYPES = 3  # of an entity
SUPPORT = 3
HEADER = "id\tname\ttypes\taliases\tcount"
_LOWER = re.compile(r"\b[a-z][a-z'-]+\b")
Finder = Callable[[str], Iterable[tuple[Name, str]]]


@dataclass(frozen=True, slots=True)
class Entity:
    """A row of the catalog."""

    id: str
    name: str
    types: list[str]
    aliases: list[str]
    count: int


@dataclass(slots=True)
class Discovery:
    """What is gathered from texts; `add` each, then `entities`."""

    least: int = LEAST
    finder: Finder | None = None
    spellings: dict[str, Spelling] = field(default_factory=dict)
    lower: Counter[str] = field(default_factory=Counter)
    documents: int = 0

    def add(self, text: str, spans: Iterable[Mapping[str, Any]] = ()) -> None:
        """Look through a text; `spans` mark persons, as those of mail do."""
        self.documents += 1
        self.lower.update(_LOWER.findall(text))
        for name in find_names(text):
            spelling = self._see(text[name.start : name.end], name.weak)
            for kind, sure in find_types(text, name):
                (spelling.types if sure else spelling.hints)[kind] += 1
            if short := find_short_name(text, name):
                spelling.short[short] += 1
        for name, kind in self.finder(text) if self.finder else ():
            self._see(text[name.start : name.end], False).types[kind] += 1
        for span in spans:
            if span.get("kind") == PERSON and span.get("name"):
                spelling = self._see(str(span["name"]), False)
                spelling.types[PERSON] += 1
                spelling.person += 1

    def _see(self, text: str, weak: bool) -> Spelling:
        text = " ".join(text.split())
        spelling = self.spellings.get(text)
        if spelling is None:
            spelling = self.spellings[text] = Spelling(text)
        if weak:
            spelling.weak += 1
        else:
            spelling.strong += 1
        if len(spelling.documents) < DOCUMENTS:
            spelling.documents.add(self.documents)
        return spelling

    def _is_name(self, spelling: Spelling) -> bool:
        words = spelling.text.split()
        if spelling.person:
            return True
        if len(words) > 1:
            return spelling.strong + spelling.weak >= self.least and (spelling.strong > 0 or spelling.weak > self.least)
        if len(spelling.text) > 1 and spelling.text.isupper():
            return spelling.strong >= self.least  # WHO is not who
        low = self.lower[spelling.text.lower()]
        return spelling.strong >= self.least and spelling.strong > low and not _is_plain(spelling.text.lower())

    def entities(self) -> list[Entity]:
        """The entities, the most frequent first."""
        kept = {text: spelling for text, spelling in self.spellings.items() if self._is_name(spelling)}
        support = Counter(kind for spelling in kept.values() for kind in spelling.types)
        known = {kind for kind, names in support.items() if names >= SUPPORT}
        made, taken = list[Entity](), set[str]()
        for group, name in group_spellings(kept):
            identity = name.replace(" ", "_").replace("\t", "_")
            while identity in taken:
                identity += "_"
            taken.add(identity)
            aliases = sorted({s.text for s in group.spellings} - {name})
            made.append(Entity(identity, name, _types(group, name, known), aliases, group.count))
        return sorted(made, key=lambda entity: (-entity.count, entity.id))


def _is_plain(word: str) -> bool:
    return word in common_words() or word in ADJECTIVES


def _types(group: Group, name: str, known: set[str]) -> list[str]:
    """The types that were said most often; a word right before a name counts if it is a type elsewhere."""
    said = Counter[str]()
    for spelling in group.spellings:
        said.update(spelling.types)
        said.update({kind: n for kind, n in spelling.hints.items() if kind in known})
    said = Counter({kind: n for kind, n in said.items() if kind in known or n > 1 or kind == PERSON})
    if own := type_by_words(name):
        said[own] += 1
    return [kind for kind, _count in sorted(said.items(), key=lambda item: (-item[1], item[0]))[:TYPES]]


def discover(
    documents: Iterable[tuple[str, Iterable[Mapping[str, Any]]]], least: int = LEAST, finder: Finder | None = None
) -> list[Entity]:
    """The entities of texts, each with its spans."""
    found = Discovery(least, finder)
    for text, spans in documents:
        found.add(text, spans)
    return found.entities()


class _Line(msgspec.Struct):
    text: str | None = None
    contents: str | None = None
    title: str | None = None
    spans: list[dict[str, Any]] | None = None


def read_texts(path: str | Path, progress: Progress | None = None) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Texts and spans of a corpus of JSON lines; lines that are none are passed over."""
    decode, shown = msgspec.json.Decoder(_Line).decode, progress or Silent()
    for first, lines, _consumed in read_batches(path):
        for line in lines:
            try:
                row = decode(line)
            except (msgspec.MsgspecError, ValueError):
                continue
            yield row.text or row.contents or "", row.spans or []
        shown.update(first + len(lines), None, "documents")


def write_entities(entities: Iterable[Entity], path: Path) -> None:
    """Write the catalog."""
    lines = [HEADER]
    for each in entities:
        cells = each.id, each.name, "|".join(each.types), "|".join(a.replace("|", " ") for a in each.aliases)
        lines.append("\t".join([cell.replace("\t", " ") for cell in cells] + [str(each.count)]))
    write_whole(path, ("\n".join(lines) + "\n").encode("utf-8", "replace"))

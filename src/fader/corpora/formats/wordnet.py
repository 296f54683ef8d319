"""WordNet: its database files to types named as in YAGO, and to entities for the instances among its synsets.

A line of data.noun (the WNDB layout, see the manual page wndb(5WN)) is a synset:

    04517535 06 n 01 vaccine 0 002 @ 03740161 n 0000 + 00817003 v 0101 | immunogen consisting of ...
    offset, file of the lexicographer, part of speech, number of words (hex), each word with its number (hex), number
    of pointers, each pointer as symbol, offset, part of speech and the words it joins; a gloss behind the bar

It becomes the type `wordnet_vaccine_104517535`: the first word, and the offset behind the digit of its part of speech
(1 noun, 2 verb, 3 adjective, 4 adverb), as in YAGO, for version 3.0. Pointers `@` lead to supertypes. A synset with
pointers `@i` is an instance: an entity with these types and its other words as aliases. Where other synsets lead to an
instance (Bodhisattva, Great Britain), it is a type too. Lines that begin with two blanks are the licence. Other files
of the folder (index.noun, noun.exc) are passed over. It reads sources twice: a pointer has an offset, and the name of
what is there is on its own line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, ClassVar, NamedTuple

from fader.corpora.frame.base import Batch, EntityRow, Importer, Records, TypeRow, option
from fader.corpora.frame.faults import at
from fader.corpora.frame.inputs import decode_lines, head, line_batches
from fader.corpora.frame.records import name_of
from fader.corpora.frame.selection import end_types
from fader.corpora.frame.store import Store
from fader.corpus.documents import Faults
from fader.errors import InputError, UsageError, quote
from fader.progress import Progress

FAULTY = "lines that are no synset"
DIGIT = {"n": "1", "v": "2", "a": "3", "s": "3", "r": "4"}
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
ABOVE, INSTANCE = "@", "@i"
_SYNSET = re.compile(rb"\d{8} \d\d [nvasr] [0-9a-f]{2} ")
_MARKER = re.compile(r"\((?:p|a|ip)\)$")  # where an adjective may stand


class _Net(NamedTuple):
    """What the first pass finds: ids by offset, and the offsets that others are below."""

    ids: dict[str, str]
    above: frozenset[str]


class Synset(NamedTuple):
    """A line: the offset behind the digit of its part of speech, words, and where its pointers lead."""

    key: str
    words: list[str]
    above: list[str]
    instance_of: list[str]


@dataclass(frozen=True)
class Wordnet(Importer):
    """The data files of a WordNet."""

    name: ClassVar[str] = "wordnet"
    title: ClassVar[str] = "WordNet: types named as in YAGO, and entities, no documents"
    example: ClassVar[str] = "fader import wordnet WordNet-3.0/dict -o catalog/"
    citation: ClassVar[str] = "Fellbaum, WordNet, 1998; https://wordnet.princeton.edu/documentation/wndb5wn"
    passes: ClassVar[int] = 2
    state_type: ClassVar[Any] = _Net

    parts: str = option("n", "Parts of speech: letters of n, v, a, r.")
    instances: bool = option(True, "Instances, such as Einstein, are entities; else they are left out.")
    unused: bool = option(True, "Types that no entity has are kept too.")

    def __post_init__(self) -> None:
        if not self.parts or set(self.parts) - set(FILES):
            raise UsageError(f"wordnet: parts must be letters of {', '.join(FILES)}, not {quote(self.parts)}")

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return line_batches(self._data(sources), faults)

    def _data(self, sources: Sequence[str]) -> list[str]:
        """The files that hold synsets of the parts asked for: by WordNet's names, or by what is in them."""
        wanted, found = {FILES[part] for part in self.parts}, list[str]()
        for source in sources:
            first, _dot, kind = PurePath(source).name.partition(".")
            begin = next((line for line in head(source).splitlines() if line[:2] != b"  "), b"")
            if (first == "data" and kind.split(".")[0] in wanted) or (first != "data" and _SYNSET.match(begin)):
                found.append(source)
        if not found:
            raise InputError(f"{sources[0]}: no data.{' or data.'.join(sorted(wanted))} here; give the folder dict")
        return found

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> _Net:
        """The id of each synset; faults are reported in the second pass."""
        ignored, ids, above = Faults(), dict[str, str](), set[str]()
        for batch in line_batches(self._data(sources), ignored):
            for _number, synset in _read_synsets(batch, ignored):
                ids[synset.key] = make_id(synset)
                above.update(synset.above, synset.instance_of)
        return _Net(ids, frozenset(above))

    def convert(self, batch: Batch, state: _Net, faults: Faults) -> Records:
        out = Records()
        for number, synset in _read_synsets(batch, faults):
            lost = [key for key in (*synset.above, *synset.instance_of) if key not in state.ids]
            if lost:
                what = f"no synset {lost[0]}, which {make_id(synset)} points to"
                faults.add("pointers to absent synsets", f"{at(batch.source, number)}: {what}; give whole files")
            name, *others = [word.replace("_", " ") for word in synset.words]
            kinds = [state.ids[key] for key in synset.instance_of if key in state.ids]
            if not synset.instance_of or synset.key in state.above:
                classes = [state.ids[key] for key in synset.above if key in state.ids]
                out.types.append(TypeRow(make_id(synset), name, [*classes, *kinds]))
            if synset.instance_of and self.instances:
                out.entities.append(EntityRow(make_id(synset), name, kinds, others))
        return out

    def finish(self, state: _Net, store: Store) -> None:
        end_types(store, name_of, self.unused)


def make_id(synset: Synset) -> str:
    """A synset's name in YAGO."""
    return f"wordnet_{synset.words[0]}_{synset.key}"


def _read_synsets(batch: Batch, faults: Faults) -> Iterator[tuple[int, Synset]]:
    numbered = ((number, raw) for number, raw in enumerate(batch.payload, batch.place) if raw[:2] != b"  ")
    for number, line in decode_lines(numbered, batch.source, faults):
        if not line.strip():
            continue
        try:
            yield number, read_synset(line)
        except (ValueError, IndexError, KeyError) as error:
            faults.add(FAULTY, f"{at(batch.source, number)}: {quote(line[:40])}: {error or 'too short'}")


def read_synset(line: str) -> Synset:
    """A line of a data file, as wndb(5WN) says."""
    cells = line.partition("|")[0].split()
    offset, part, count = cells[0], cells[2], int(cells[3], 16)
    if len(offset) != 8 or not offset.isdecimal() or count < 1:
        raise ValueError("needs an offset of 8 digits and a word")
    words = [_MARKER.sub("", cells[4 + 2 * i]) for i in range(count)]
    first = 4 + 2 * count
    pointers = [cells[first + 1 + 4 * i : first + 5 + 4 * i] for i in range(int(cells[first]))]
    if pointers and len(pointers[-1]) < 4:
        raise ValueError(f"{len(pointers)} pointers are announced, but the line ends before")
    above, instance_of = (
        [DIGIT[other] + at_offset for kind, at_offset, other, _words in pointers if kind == symbol]
        for symbol in (ABOVE, INSTANCE)
    )
    return Synset(DIGIT[part] + offset, words, above, instance_of)

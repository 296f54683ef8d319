"""Spellings of one entity put together.

- Spellings that differ in case, blanks and full stops alone are one; the most frequent is the name.
- `J. Smith` and `J Smith` are `John Smith` where exactly one name fits and both are in some document.
- A last word alone, `Hopper`, is `Grace Hopper` where exactly one name of two or more words ends with it and they share
  documents more often than not.
- An acronym in brackets is its long name (`patterns.find_short_name`).

What could mean two entities is left alone. Knows nothing of texts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

SEEN = 0.1  # of how often a short form is seen, for a long one to have it
TOGETHER = 0.5  # of the documents of a short form that also have the long one
_KEY = re.compile(r"[\W_]+")


@dataclass(slots=True)
class Spelling:
    """A spelling of a name: how often it was seen, weak ones aside, and in which documents (some of them)."""

    text: str
    strong: int = 0
    weak: int = 0
    documents: set[int] = field(default_factory=set)
    types: Counter[str] = field(default_factory=Counter)
    hints: Counter[str] = field(default_factory=Counter)
    person: int = 0
    short: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Group:
    """An entity: its name, its other names, and what its spellings had."""

    spellings: list[Spelling]

    @property
    def name(self) -> str:
        return max(self.spellings, key=lambda s: (s.strong + s.weak, s.text)).text

    @property
    def count(self) -> int:
        return sum(s.strong + s.weak for s in self.spellings)

    @property
    def documents(self) -> set[int]:
        return set().union(*(s.documents for s in self.spellings))

    def add(self, other: Group) -> None:
        """Take in another's spellings; the name stays this one's if it is the longer."""
        self.spellings += other.spellings


def key_of(text: str) -> str:
    """What spellings of one name share."""
    return _KEY.sub(" ", text.casefold()).strip()


def group_spellings(spellings: Mapping[str, Spelling]) -> list[tuple[Group, str]]:
    """Groups with the name of each."""
    groups = dict[str, Group]()
    for spelling in spellings.values():
        key = key_of(spelling.text)
        if key in groups:
            groups[key].spellings.append(spelling)
        else:
            groups[key] = Group([spelling])
    names = {key: group.name for key, group in groups.items()}
    _join_short(groups)
    _join_parts(groups)
    return [(group, names[key]) for key, group in groups.items()]


def _join_short(groups: dict[str, Group]) -> None:
    """Acronyms go to the one long name that gave them."""
    owners = defaultdict[str, set[str]](set)
    for key, group in groups.items():
        for spelling in group.spellings:
            for short in spelling.short:
                owners[key_of(short)].add(key)
    for short, keys in owners.items():
        (first, *others) = keys
        if short in groups and not others and short != first and first in groups:
            groups[first].add(groups.pop(short))


def _join_parts(groups: dict[str, Group]) -> None:
    """Last words and names with initials go to the one long name that fits."""
    by_last = defaultdict[str, list[str]](list)
    for key in groups:
        words = key.split()
        if len(words) > 1:
            by_last[words[-1]].append(key)
    for key in sorted(groups, key=lambda k: (-len(k.split()), k)):
        words = key.split()
        if key not in groups:
            continue
        fitting = [
            other
            for other in by_last.get(words[-1], ())
            if other != key and other in groups and _fits(words, other.split())
        ]
        if len(fitting) != 1:
            continue
        own, whole = groups[key].documents, groups[fitting[0]].documents
        if groups[fitting[0]].count < SEEN * groups[key].count:
            continue
        if own and len(own & whole) >= TOGETHER * len(own):
            groups[fitting[0]].add(groups.pop(key))


def _fits(part: list[str], whole: list[str]) -> bool:
    """Whether a name is the end of another, or the same with first names as initials."""
    if len(part) == 1:
        return len(whole) > 1 and len(part[0]) > 2
    if len(part) > len(whole) or part == whole:
        return False
    initials = all(len(word) == 1 for word in part[:-1])
    return initials and all(a == b[0] for a, b in zip(part[:-1], whole[:-1], strict=False)) and len(whole[0]) > 1

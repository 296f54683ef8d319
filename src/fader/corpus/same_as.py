"""Entities that are the same: of two rows one is left, and the other's id stands for it.

    old id <tab> id of the entity that it becomes            a line of a file; in Python {"old": "new"}

The row that is left keeps its id and name and gets the other's name and aliases as aliases, and its types. Chains are
followed to their end. Knows nothing of mentions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from fader.corpus.readers import display_name, read_lines
from fader.corpus.rows import ID, Row, Rows, join_rows, pack_rows
from fader.corpus.strings import join_strings
from fader.corpus.tokenise import NameNumbers
from fader.errors import CatalogError, UsageError, quote
from fader.limits import Limits

SAME_HELP = "A file of pairs: the id of an entity, a tab, the id of the entity that it becomes."
Same = dict[str, str]


def join_same(
    rows: Rows, before: Same, given: str | Path | Mapping[str, str] | None, limits: Limits
) -> tuple[Rows, Same]:
    """The rows with those joined that are the same, and all ids that stand for entities with other ids.

    Of the ids that stood for others before, those that have a row again, or whose entity is gone, stand no more.
    """
    numbers = NameNumbers(*rows.column(ID))
    new = dict(_read_pairs(given, limits)) if given is not None else {}
    if not before and not new:
        return rows, {}
    own = {one for one in (before.keys() | set(before.values())) if _find(numbers, one) >= 0} if before else set()
    old = {a: b for a, b in before.items() if a not in own and a not in new}
    same = old | new
    ends = {a: _follow(same, a) for a in same}
    known = {b: _find(numbers, b) for b in set(ends.values())}
    for a in new:
        if known[ends[a]] < 0:
            raise CatalogError(
                f"{quote(a)} cannot be the same as {quote(ends[a])}: there is no such entity; put it in, or another id"
            )
    left = {a: b for a, b in ends.items() if known[b] >= 0}
    return _join_rows(rows, numbers, {a: left[a] for a in new}), left


def _read_pairs(given: str | Path | Mapping[str, str], limits: Limits) -> Iterator[tuple[str, str]]:
    seen: Same = {}
    for place, a, b in _pairs(given, limits):
        if a == b:
            raise CatalogError(f"{place}: {quote(a)} is said to be the same as itself")
        if seen.setdefault(a, b) != b:
            raise CatalogError(
                f"{place}: {quote(a)} is said to be the same as {quote(b)} and {quote(seen[a])}; choose one"
            )
        yield a, b
    if not seen:
        where = "same_as" if isinstance(given, Mapping) else display_name(given)
        raise CatalogError(f"{where}: there is no pair in it; give one at least, or leave it out")


def _pairs(given: str | Path | Mapping[str, str], limits: Limits) -> Iterator[tuple[str, str, str]]:
    """Place, id, and the id that it becomes."""
    if isinstance(given, Mapping):
        for a, b in given.items():
            if not isinstance(a, str) or not isinstance(b, str) or not a or not b:
                raise UsageError(f"same_as must map ids to ids, not {quote(a)} to {quote(b)}")
            yield "same_as", a, b
        return
    for number, line in read_lines(given, limits=limits):
        if line.strip():
            cells = line.rstrip("\r").split("\t")
            if len(cells) != 2 or not all(cells):
                raise CatalogError(
                    f"{display_name(given)}:{number}: {len(cells)} columns; expected two ids with a tab between"
                )
            yield f"{display_name(given)}:{number}", cells[0], cells[1]


def _follow(same: Same, first: str) -> str:
    """The id at the end of a chain."""
    seen, at = [first], same[first]
    while at in same:
        if at in seen:
            shown = " -> ".join(map(quote, [*seen, at]))
            raise CatalogError(f"entities are the same as each other in a circle: {shown}; take one pair out")
        seen.append(at)
        at = same[at]
    return at


def _find(numbers: NameNumbers, name: str) -> int:
    return int(numbers.find(*join_strings([name.encode("utf-8", "surrogatepass")]))[0])


def _join_rows(rows: Rows, numbers: NameNumbers, pairs: Same) -> Rows:
    """The rows without those that became others, which have their names and types now."""
    made: dict[int, Row] = {}
    kept = np.ones(len(rows), dtype=bool)
    for a, b in pairs.items():
        number, other = _find(numbers, a), _find(numbers, b)
        if number < 0:
            continue
        kept[[number, other]] = False
        gone, stays = rows[number], made.setdefault(other, rows[other])
        labels = dict.fromkeys([*stays.aliases, gone.name, *gone.aliases])
        labels.pop(stays.name, None)
        stays.aliases = list(labels)
        stays.above = list(dict.fromkeys([*stays.above, *gone.above]))
    if not made:
        return rows
    left = replace(rows, spans=rows.spans[kept], line=rows.line[kept])
    return join_rows([left, pack_rows(list(made.values()), [0] * len(made), rows.places)], rows.places).sort()[0]

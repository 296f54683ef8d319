"""Runs to a catalog: entities.tsv and types.tsv, and queries and judgments without repetitions.

Rows of one id are joined: the first name that is not empty, all types, all aliases. An entity that is mentioned but has
no row gets one with the surface it has most often; an entity without types is a `thing`. A type that is used but has no
row gets one, named by its id. Cycles among types are broken (`hierarchy`). Entities are merged line by line, types are
held in memory (about 300 bytes each), queries and judgments too. Knows nothing of parts and formats.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from fader.corpora.frame.base import THING, EntityRow
from fader.corpora.frame.hierarchy import break_cycles
from fader.corpora.frame.records import entity_cells, name_of
from fader.corpora.frame.sorted_runs import merge_runs
from fader.corpora.frame.store import Store
from fader.corpus.documents import Faults
from fader.jobs.files import sync_file
from fader.limits import Limits

SHOWN_EDGES = 20


@dataclass(slots=True)
class _Type:
    name: str
    supertypes: dict[str, None] = field(default_factory=dict)


def write_catalog(store: Store, folder: Path, unknown: Callable[[str, str], EntityRow]) -> dict[str, Any]:
    """Write entities.tsv and types.tsv into a folder, each if it has content; what the report says of them."""
    types = _types(store)
    defined = len(types)
    entities = _write(folder / "entities.tsv", _join_entities(store, types, unknown))
    for each in list(types.values()):
        for above in each.supertypes:
            types.setdefault(above, _Type(name_of(above)))
    edges = [(below, above) for below, each in types.items() for above in each.supertypes]
    kept, removed = break_cycles(edges)
    over = {name: [pair[1] for pair in pairs] for name, pairs in groupby(kept, key=lambda edge: edge[0])}
    lines = ("\t".join((name, types[name].name, "|".join(over.get(name, ())))) for name in sorted(types))
    _write(folder / "types.tsv", (f"{line}\n".encode() for line in lines))
    return {
        "entities": entities,
        "types": len(types),
        "types added that had no row": len(types) - defined,
        "cycle edges removed": len(removed),
        "cycle edges": [f"{below} -> {above}" for below, above in removed[:SHOWN_EDGES]],
    }


def _types(store: Store) -> dict[str, _Type]:
    types: dict[str, _Type] = {}
    for name, rows in merge_runs(store.runs("types")):
        joined = types.setdefault(name, _Type(_first(row[0] for row in rows) or name_of(name)))
        for row in rows:
            joined.supertypes.update(dict.fromkeys(_cells(row[1])))
    return types


def _join_entities(store: Store, types: dict[str, _Type], unknown: Callable[[str, str], EntityRow]) -> Iterator[bytes]:
    """The lines of entities.tsv; types that are not known yet are added."""
    limits = Limits.from_environment()
    named = ((name, [[surface]]) for name, surface, _count in store.mentioned())
    both = heapq.merge(merge_runs(store.runs("entities")), named, key=lambda found: found[0])
    for name, groups in groupby(both, key=lambda found: found[0]):
        rows = [row for _name, found in groups for row in found]
        surface = rows.pop()[0] if len(rows[-1]) == 1 else ""
        if not rows:
            rows = [entity_cells(unknown(name, surface), limits)[1:]]
        rows.append([surface, "", ""])
        above = list(dict.fromkeys(cell for row in rows for cell in _cells(row[1]))) or [THING]
        aliases = list(dict.fromkeys(cell for row in rows for cell in _cells(row[2])))
        shown = _first(row[0] for row in rows) or name_of(name)
        for each in above:
            if each not in types:
                types[each] = _Type(name_of(each))
        cells = [name, shown, "|".join(above), "|".join(alias for alias in aliases if alias != shown)]
        yield ("\t".join(cells if cells[3] else cells[:3]) + "\n").encode()


def write_judged(store: Store, folder: Path) -> dict[str, int]:
    """Write queries and judgments without repetitions, in the order they came, each file if it has content."""
    queries, qrels = store.files["queries"], store.files["qrels"]
    return {
        "queries": _write(folder / queries.name, _distinct_queries(queries, store.faults)),
        "judgments": _write(folder / qrels.name, _distinct_qrels(qrels, store.faults)),
    }


def _distinct_queries(path: Path, faults: Faults) -> Iterator[bytes]:
    seen: dict[str, bytes] = {}
    for line in _existing(path):
        name = str(msgspec.json.decode(line)["id"])
        if name not in seen:
            seen[name] = line
            yield line
        elif seen[name] != line:
            faults.add("queries with a repeated id", f"query {name}: there was another of this id; the first is kept")


def _distinct_qrels(path: Path, faults: Faults) -> Iterator[bytes]:
    seen: dict[bytes, bytes] = {}
    for line in _existing(path):
        pair, grade = line.rstrip().rsplit(b" ", 1)
        if pair not in seen:
            seen[pair] = grade
            yield line
        elif seen[pair] != grade:
            shown = f"{pair.decode()}: grade {grade.decode()} after {seen[pair].decode()}; the first is kept"
            faults.add("judgments that contradict another", shown)


def _existing(path: Path) -> Iterator[bytes]:
    if path.exists():
        with open(path, "rb") as file:
            yield from file


def _write(path: Path, lines: Iterator[bytes]) -> int:
    """Write lines; how many they are."""
    count = 0
    with open(path, "wb") as file:
        for line in lines:
            file.write(line)
            count += 1
        sync_file(file)
    if not count:
        path.unlink()
    return count


def _first(names: Iterator[str]) -> str:
    return next((name for name in names if name), "")


def _cells(cell: str) -> list[str]:
    return cell.split("|") if cell else []

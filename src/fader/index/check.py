"""Verification: every checksum, and the invariants that readers rely on.

Reports problems as messages that name the damaged file; knows nothing of repairing them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from fader.errors import FaderError
from fader.index.commit import file_names
from fader.index.reader import IndexReader
from fader.index.segment import Segment


def check(folder: Path, report: Callable[[str], None] = lambda _name: None) -> list[str]:
    """All problems of an index; empty where it is whole. `report` is told each file as it is read."""
    try:
        reader = IndexReader(folder)
    except FaderError as error:
        return [str(error)]
    problems: list[str] = []
    for container in [reader.catalog.container, *(c for s in reader.segments for c in s.containers)]:
        report(container.path.name)
        try:
            container.verify()
        except FaderError as error:
            problems.append(str(error))
    # Kernels trust their arrays: what failed its checksum must not reach them.
    for segment in reader.segments if not problems else []:
        try:
            faults = list(_invariants(segment, len(reader.catalog.entity_ids), len(reader.catalog.type_ids)))
        except (IndexError, ValueError, FaderError) as error:
            faults = [f"cannot be read through: {error}"]
        problems += [f"{folder / segment.name}.*: {fault}" for fault in faults]
    problems += [f"{folder / n}: missing" for n in file_names(reader.manifest) if not (folder / n).exists()]
    return problems


def _invariants(segment: Segment, entities: int, types: int) -> Iterator[str]:
    """What is wrong with a segment's arrays."""
    base, mentions_at = segment.base, segment.mentions_at.all()
    if base[0] != 0 or (np.diff(base) < 1).any() or base[-1] - segment.documents != segment.tokens:
        yield "documents do not lie end to end"
    if mentions_at[0] != 0 or (np.diff(mentions_at) < 0).any() or mentions_at[-1] != segment.mentions:
        yield "the mentions of documents do not lie end to end"
    start, length, document = segment.start.all(), segment.length.all(), segment.document.all()
    entity = segment.entity.all()
    if (np.diff(start) < 0).any() or (length < 1).any():
        yield "mentions are not sorted, or one is empty"
    if entity.size and (entity.min() < 0 or entity.max() >= entities):
        yield "a mention's entity is not in the catalog"
    inside = (start >= base[document]) & (start + length < base[document + 1])
    if not inside.all():
        yield "a mention does not lie in its document"
    yield from _list_invariants(segment, types)


def _list_invariants(segment: Segment, types: int) -> Iterator[str]:
    """What is wrong with postings and type lists."""
    if len(segment.rows_of_type) != types:
        yield "there is not one mention list a type"
    total = 0
    for name, lists, end in (
        ("postings", segment.postings, int(segment.base[-1])),
        ("type list", segment.rows_of_type, segment.mentions),
    ):
        for i in range(len(lists)):
            values = lists.values(i)
            total += values.size if lists is segment.postings else 0
            if values.size and (values[0] < 0 or values[-1] >= end or (np.diff(values) < 1).any()):
                yield f"{name} {i} is not sorted or leaves its bounds"
    if total > segment.tokens:
        yield "there are more postings than tokens"
    terms = list(segment.terms)
    if any(a >= b for a, b in itertools.pairwise(terms)):
        yield "terms are not sorted"

"""A small index that lives: named operations one after another, the documents each leaves, and how to ask for them.

What must be found is taken from a fresh build of the same documents in another place and from the documents
themselves, never from the index under test. Knows nothing of crashes.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import fader
from fader.corpus.catalog_change import CatalogChange
from fader.index.commit import commit_numbers, read_commit
from fader.index.write import change
from fader.index.write.writer import BuildOptions, build

Documents = dict[str, str]  # id: text
Answers = tuple[Any, ...]

ENTITIES = [{"id": f"E{i}", "name": f"entity {i}", "types": ["T"]} for i in range(3)]
TYPES = [{"id": "T", "name": "thing"}, {"id": "U", "name": "other"}]
# The catalog as the one change of it leaves it, which comes with a document: entities and types are numbered anew.
CHANGED_ENTITIES = [{"id": "A", "types": ["S"]}, {"id": "E1", "name": "one", "types": ["U", "S"]}]
CHANGED_TYPES = [{"id": "S", "name": "some"}]
CATALOG = "catalog"
QUERIES = ("gamma", '+gamma "beta w1"', "w3 w7 -w11")


def text(number: int, edition: int = 0) -> str:
    """A text that starts with the mention; its words depend on both numbers."""
    words = [f"w{(number * 7 + edition * 13 + j * j) % 50}" for j in range(12 + number % 9)]
    rare = random.Random(number * 100 + edition).randbytes(150).hex(" ", 3)  # so that files have several pages
    return " ".join(["alpha", "beta", *words, "gamma", rare])


def corpus(documents: Documents) -> list[dict[str, Any]]:
    """The documents as a corpus; each mentions an entity that its text decides."""
    return [
        {"id": i, "text": t, "mentions": [{"start": 0, "end": 5, "entity": f"E{len(t) % 3}"}]}
        for i, t in documents.items()
    ]


def some(first: int, last: int, edition: int = 0, step: int = 1) -> Documents:
    return {f"d{n:03d}": text(n, edition) for n in range(first, last, step)}


@dataclass(frozen=True)
class Operation:
    """One step: what is put in and taken out, and the call that does it."""

    name: str
    run: Callable[[Path], object]
    puts: Documents
    takes: tuple[str, ...] = ()
    anew: bool = False  # nothing of what was there stays

    def after(self, before: Documents) -> Documents:
        """The documents that are there when the step is done."""
        kept = {} if self.anew else {i: t for i, t in before.items() if i not in self.takes}
        return kept | self.puts


def _build(documents: Documents, **options: Any) -> Callable[[Path], object]:
    """Build with the catalog as it was, or, where its document is there, as it was changed."""
    entities, types = list(ENTITIES), list(TYPES)
    if CATALOG in documents:
        entities = [*(e for e in entities if e["id"] not in ("E1", "E2")), *CHANGED_ENTITIES]
        types += CHANGED_TYPES
    return lambda folder: build(folder, corpus(documents), entities, types, BuildOptions(**options))


def _change_catalog(documents: Documents, **options: Any) -> Callable[[Path], object]:
    change_of = CatalogChange(CHANGED_ENTITIES, CHANGED_TYPES, ["E2"])
    return lambda folder: change.add(folder, corpus(documents), change.ChangeOptions(**options), catalog=change_of)


def _add(documents: Documents, **options: Any) -> Callable[[Path], object]:
    return lambda folder: change.add(folder, corpus(documents), change.ChangeOptions(**options))


def _delete(ids: tuple[str, ...], **options: Any) -> Callable[[Path], object]:
    return lambda folder: change.delete(folder, ids, change.ChangeOptions(**options))


FIRST, SECOND = some(0, 50), some(20, 60, 1)
NEW, CHANGED, LATE = some(50, 56), some(6, 40, 2, 9) | some(56, 58), some(100, 130)
GONE = tuple(some(0, 40, step=7))
TOLD = {CATALOG: text(200)}

HISTORY = (
    Operation("build", _build(FIRST), FIRST, anew=True),
    Operation("add", _add(NEW, merge=False), NEW),
    Operation("replace", _add(CHANGED, merge=False), CHANGED),
    Operation("delete", _delete(GONE, merge=False), {}, GONE),
    Operation("change the catalog", _change_catalog(TOLD, merge=False), TOLD),
    Operation("merge", change.merge, {}),
    Operation("add and merge", _add(LATE), LATE),
    Operation("rebuild", _build(SECOND, overwrite=True, segment_tokens=1500), SECOND, anew=True),
    Operation("delete and merge", _delete(tuple(SECOND)[:30]), {}, tuple(SECOND)[:30]),
    Operation("add, keep one commit", _add(NEW, keep=1), NEW),
)
IN_EMPTY = Operation("build in an empty folder", _build(FIRST), FIRST, anew=True)
OPERATIONS = (*HISTORY, IN_EMPTY)


def documents_after(operations: Sequence[Operation]) -> list[Documents]:
    """The documents after each of some operations, the first of which builds."""
    found: list[Documents] = []
    for operation in operations:
        found.append(operation.after(found[-1] if found else {}))
    return found


def answers(folder: Path, at: int | None = None) -> Answers:
    """What an index answers: every document with its text, its counts, and the contexts of some queries."""
    index = fader.open(folder, verify=True, at=at)
    reader = index.collection.reader
    stored = []
    for number in range(reader.documents):
        segment, local = reader.locate(number)
        stored.append((reader.document_id(number), segment.text.text(local)))
    counts = (reader.tokens, reader.mentions, tuple(reader.entity_documents.tolist()))
    return (tuple(stored), counts, *(_asked(index, query) for query in QUERIES))


def _asked(index: fader.Index, query: str) -> Answers:
    found = index.contexts(query)
    arrays = (found.entity, found.document, found.distances, found.start, found.end)
    return (tuple(found.df), tuple(found.cf), found.matched_documents, *(a.tobytes() for a in arrays))


def expected(documents: Documents) -> Answers:
    """What an index of these documents must answer."""
    return _expected(tuple(sorted(documents.items())))


@cache
def _expected(documents: tuple[tuple[str, str], ...]) -> Answers:
    with tempfile.TemporaryDirectory(dir=memory()) as place:
        _build(dict(documents))(Path(place, "fresh"))
        found = answers(Path(place, "fresh"))
    assert found[0] == documents
    return found


def needed(folder: Path) -> set[str]:
    """The names of all files that the commits of a folder are made of, their manifests among them."""
    numbers = commit_numbers(folder)
    names = {name for number in numbers for name in read_commit(folder, number).file_names}
    return names | {f"commit-{number:08d}.json" for number in numbers}


def debris(folder: Path) -> set[str]:
    """What is there without need: in the folder, which need not exist, and beside it."""
    beside = {p.name for p in folder.parent.iterdir() if p != folder}
    return beside | ({p.name for p in folder.iterdir()} - needed(folder) if folder.is_dir() else set())


def memory() -> str | None:
    """A place for many small files: in memory where there is one."""
    place = "/dev/shm"
    return place if os.path.isdir(place) and os.access(place, os.W_OK) else None


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder in such a place, for as long as it is needed."""
    with tempfile.TemporaryDirectory(dir=memory()) as place:
        yield Path(place).resolve()

"""Results of systems kept in a folder while a comparison runs, so that it can be stopped and taken up again.

    KEEP/KEY/SYSTEM.part      an entry of a journal (`fader.jobs.journal`)

KEY is a digest of what results depend on besides the system: queries, judgments, collection, seed, measures and release
of Fader; SYSTEM one of the system and its folds. What cannot be read is computed again. Knows nothing of how results
come about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import xxhash

from fader.errors import StorageError
from fader.experiment.comparison import ContextScores, SystemGrid, SystemResult
from fader.experiment.system_specs import SystemSpec
from fader.jobs.journal import Journal, Key, digest_key, from_json, to_json
from fader.jobs.storage import LocalFolder, MemoryFolder


@dataclass(frozen=True)
class Measured:
    """A system's result, and what figures show of it."""

    result: SystemResult
    grids: list[SystemGrid] = field(default_factory=list)
    scores: list[ContextScores] = field(default_factory=list)


def open_results(folder: str | Path | None, key: Key) -> Journal:
    """The journal of the comparison with a key; without a folder results are kept in memory alone."""
    digest = digest_key(key)
    if folder is None:
        return Journal(MemoryFolder(), digest, digest)
    try:
        (Path(folder) / digest).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{folder}: results cannot be kept there: {error.strerror}") from None
    return Journal(LocalFolder(Path(folder)), digest, digest)


def name_entry(system: str, cv: str) -> str:
    """The name of a system's entry; its text, which may be a whole model, is too long for a file name."""
    return xxhash.xxh3_64_hexdigest(f"{system}\n{cv}".encode())


def find_result(journal: Journal, system: str, cv: str) -> Measured | None:
    """What was kept of a system, if it was."""
    try:
        entry = journal.find(name_entry(system, cv))
        return None if entry is None else from_json(entry.data, Measured)
    except (OSError, ValueError):
        return None


def keep_result(journal: Journal, system: str, cv: str, measured: Measured) -> None:
    """Keep the result of a system."""
    try:
        journal.keep(name_entry(system, cv), to_json(measured))
    except OSError as error:
        place = f"{journal.storage.shown}/{journal.path(name_entry(system, cv))}"
        raise StorageError(f"{place}: cannot be written: {error.strerror or error}") from error


class MeasuredSystems:
    """The join of a comparison: items are systems that are measured together, results those of each, in order."""

    def __init__(self, journal: Journal, systems: Sequence[SystemSpec], cv: str) -> None:
        self._journal, self._systems, self._cv = journal, systems, cv
        self._found: dict[str, Measured] = {}

    def choose_left(self, items: Iterable[Sequence[SystemSpec]]) -> Iterator[Sequence[SystemSpec]]:
        """Those of each item's systems that are not kept; all are looked up before the first is measured."""
        for e in self._systems:
            kept = find_result(self._journal, e.key, e.cv or self._cv)
            if kept is not None:
                self._found[e.name] = replace(kept, result=replace(kept.result, name=e.name, label=e.label))
        for item in items:
            left = [e for e in item if e.name not in self._found]
            if left:
                yield left

    def take(self, item: Sequence[SystemSpec], result: Sequence[Measured]) -> None:
        """Keep the result of each system."""
        for e, measured in zip(item, result, strict=True):
            keep_result(self._journal, e.key, e.cv or self._cv, measured)
            self._found[e.name] = measured

    def finish(self) -> list[Measured]:
        """The results of all systems, in order."""
        return [self._found[e.name] for e in self._systems]

"""The history of an index recorded call by call, and what a power loss after any of the calls may leave.

    recording = recorded()                          the calls of every operation, in order
    for crash in crashes(recording, draws): ...     what a disk may hold, and when the power went
    Laid(place, recording).faults(crash)            the promises that are broken there

Knows nothing of how an index keeps its promises.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from durability.calls import Call, recorder, watched
from durability.disk import Disk, Tree, tree_of
from durability.history import HISTORY, Documents, Operation, documents_after, scratch
from durability.promises import NOTHING, Made, broken, broken_by_next, made

FOLDER = os.path.join("new", "place", "index")  # folders that the first build has to make
BEFORE, COMMITTED, RETURNED = "before the rename", "after the rename", "returned"


@dataclass(frozen=True)
class Step:
    """An operation as it was recorded."""

    name: str
    calls: list[Call]
    made: Made


@dataclass(frozen=True)
class Recording:
    """A history as it was recorded, under `root`."""

    root: str
    start: Tree  # what was there before
    steps: list[Step]
    documents: dict[int, Documents]  # of each commit


@dataclass(frozen=True)
class Crash:
    """What a power loss has left, and when it came."""

    step: int
    phase: str
    tree: Tree
    lost: bool


def recorded(operations: Sequence[Operation] = HISTORY, in_empty: bool = False) -> Recording:
    """Operations, done once under watch; the first makes the folder, or finds it empty."""
    steps: list[Step] = []
    found: dict[int, Documents] = {}
    with scratch() as root:
        if in_empty:
            (root / FOLDER).mkdir(parents=True)
        start = tree_of(root)
        for operation, documents in zip(operations, documents_after(operations), strict=True):
            steps.append(_recorded_step(operation, root))
            found[steps[-1].made.commit] = documents
        return Recording(str(root), start, steps, found)


def _recorded_step(operation: Operation, root: Path) -> Step:
    """One operation; its calls are all of it: done again, they leave the same files."""
    disk = Disk(str(root), tree_of(root))
    calls: list[Call] = []
    with watched(root, recorder(calls)):
        operation.run(root / FOLDER)
    for call in calls:
        disk.do(call)
    assert disk.all_kept() == tree_of(root), f"{operation.name}: calls were overlooked"
    return Step(operation.name, calls, made(root / FOLDER))


def recorded_again(recording: Recording, crash: Crash, place: Path, operation: Operation) -> Recording:
    """The next writer's calls, on what a crash has left; the crash counts as the step whose commit is there."""
    there = newest(crash.tree)
    for path, content in sorted(crash.tree.items()):
        if content is None:
            (place / path).mkdir()
        else:
            (place / path).write_bytes(content)
    step = _recorded_step(operation, place)
    steps = [*(replace(s, calls=[]) for s in recording.steps if s.made.commit == there), step]
    documents = recording.documents | {step.made.commit: operation.after(recording.documents.get(there, {}))}
    return Recording(str(place), crash.tree, steps, documents)


def crashes(recording: Recording, draws: int, first: int = 0) -> Iterator[Crash]:
    """Power losses after every call from step `first` on, and when it has returned; no two leave and mean the same."""
    rng = random.Random(1)
    seen: set[tuple[int, bool, frozenset[tuple[str, bytes | None]]]] = set()
    disk = Disk(recording.root, recording.start)
    for call in (call for step in recording.steps[:first] for call in step.calls):
        disk.do(call)
    for number, step in enumerate(recording.steps[first:], first):
        for at in range(len(step.calls) + 1):
            if at < len(step.calls):
                disk.do(step.calls[at])
            whole = disk.all_kept()
            phase = RETURNED if at == len(step.calls) else COMMITTED if newest(whole) == step.made.commit else BEFORE
            for tree in disk.crashes(rng, draws):
                key = (number, phase == RETURNED, frozenset(tree.items()))
                if key not in seen:
                    seen.add(key)
                    yield Crash(number, phase, tree, tree != whole)


def newest(tree: Tree) -> int:
    """The newest commit by the names that are there, 0 for none."""
    names = [os.path.basename(path) for path in tree if os.path.dirname(path) == FOLDER]
    return max((int(name[7:15]) for name in names if name.startswith("commit-")), default=0)


class Laid:
    """Crashes laid out as real folders, one at a time. Files are links: each content is written once."""

    def __init__(self, place: Path, recording: Recording) -> None:
        self._recording = recording
        self._contents: dict[bytes, Path] = {}
        self._store, self._root = place / "contents", place / "root"
        self._store.mkdir()

    def lay(self, crash: Crash) -> Path:
        """The folder of the index, in a place that holds what the crash has left."""
        shutil.rmtree(self._root, ignore_errors=True)
        self._root.mkdir()
        for path, content in sorted(crash.tree.items()):
            if content is None:
                (self._root / path).mkdir()
            else:
                os.link(self._content(content), self._root / path)
        return self._root / FOLDER

    def _content(self, content: bytes) -> Path:
        if content not in self._contents:
            self._contents[content] = self._store / str(len(self._contents))
            self._contents[content].write_bytes(content)
        return self._contents[content]

    def untouched(self) -> bool:
        """Whether no file that was there was ever written to."""
        return all(path.read_bytes() == content for content, path in self._contents.items())

    def faults(self, crash: Crash) -> list[str]:
        """The promises that are broken: what was acknowledged is there, of the rest only what was in flight may be."""
        steps = self._recording.steps
        allowed = [steps[crash.step].made]
        if crash.phase != RETURNED:
            allowed.append(steps[crash.step - 1].made if crash.step else NOTHING)
        return broken(self.lay(crash), allowed, self._recording.documents)

    def faults_of_next(self, crash: Crash, operation: Operation) -> list[str]:
        """The promises that the next writer breaks."""
        return broken_by_next(self.lay(crash), operation, self._recording.documents)

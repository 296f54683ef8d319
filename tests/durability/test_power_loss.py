"""After a power loss at any moment every acknowledged commit is there and whole, and none is half there."""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dose import dose
from durability.calls import Call, recorder, watched
from durability.disk import tree_of
from durability.history import HISTORY, IN_EMPTY, answers, documents_after, expected, scratch
from durability.power import (
    BEFORE,
    FOLDER,
    RETURNED,
    Crash,
    Laid,
    Recording,
    Step,
    crashes,
    newest,
    recorded,
    recorded_again,
)
from durability.promises import made
from fader.index.verify.check import repair

REBUILD, ADD = (next(o for o in HISTORY if o.name == name) for name in ("rebuild", "add and merge"))
Calls = list[Call]


@pytest.fixture(scope="module")
def recording() -> Recording:
    return recorded()


def sample(found: Iterable[Crash], size: int) -> list[Crash]:
    """So many crashes, or a few more: as many as there are of each operation and phase, or an equal share."""
    groups: dict[tuple[int, str], list[Crash]] = defaultdict(list)
    for crash in found:
        groups[crash.step, crash.phase].append(crash)
    rng = random.Random(2)
    for group in groups.values():
        rng.shuffle(group)
    share = 1
    while sum(len(group[:share]) for group in groups.values()) < min(size, sum(map(len, groups.values()))):
        share += 1
    return [crash for group in groups.values() for crash in group[:share]]


def told(recording: Recording, crash: Crash, faults: list[str]) -> str:
    return f"{recording.steps[crash.step].name}, {crash.phase}, {sorted(crash.tree)}: {'; '.join(faults)}"


def judged(recording: Recording, found: list[Crash]) -> set[tuple[int, int]]:
    """Assert that every promise is kept; returns which commits were the newest after a crash of which step."""
    seen: set[tuple[int, int]] = set()
    with scratch() as place:
        laid = Laid(place, recording)
        for i, crash in enumerate(found):
            assert not (faults := laid.faults(crash)), told(recording, crash, faults)
            seen.add((crash.step, newest(crash.tree)))
            if i % 5 == 0:
                operation = ADD if newest(crash.tree) and i % 2 else REBUILD
                assert not (faults := laid.faults_of_next(crash, operation)), told(recording, crash, faults)
        assert laid.untouched(), "a file was changed in place"
    return seen


@pytest.mark.timeout(7200)
def test_no_acknowledged_commit_is_lost_and_none_is_half_there(recording: Recording) -> None:
    """At every call of every operation, whatever of the unsynced has arrived: the newest commit is the acknowledged
    one or the one in flight, all commits that are there answer as they did, and the next writer works and clears up.
    """
    wanted = dose(12_000, 120)
    found = sample(crashes(recording, dose(120, 2)), wanted)
    seen = judged(recording, found)
    lost = sum(crash.lost for crash in found)
    print(f"power losses: {len(found)}, with something lost: {lost}")
    assert len(found) >= wanted
    assert lost > len(found) / 2
    commits = [0, *(step.made.commit for step in recording.steps)]
    assert seen == {(i, commit) for i in range(len(HISTORY)) for commit in commits[i : i + 2]}


@pytest.mark.timeout(7200)
def test_a_power_loss_in_a_folder_that_was_empty_leaves_it_so_or_an_index() -> None:
    """A first build there is one commit as any other; what it leaves unfinished does not keep the next one out."""
    recording = recorded([IN_EMPTY], in_empty=True)
    found = sample(crashes(recording, dose(60, 2)), dose(1_000, 20))
    assert judged(recording, found) == {(0, 0), (0, 1)}
    print(f"power losses in an empty folder: {len(found)}")


@pytest.mark.timeout(7200)
def test_the_writer_that_comes_after_a_power_loss_may_lose_power_too(recording: Recording) -> None:
    """It finds the debris of another; all promises hold for it as for the first."""
    first = sample(crashes(recording, 1), dose(200, 24))
    judged = 0
    for i, crash in enumerate(random.Random(3).sample(first, dose(200, 6))):
        with scratch() as place, scratch() as other:
            again = recorded_again(recording, crash, other, ADD if newest(crash.tree) and i % 2 else REBUILD)
            laid = Laid(place, again)
            for second in sample(crashes(again, 2, first=len(again.steps) - 1), 10):
                assert not (faults := laid.faults(second)), told(again, second, faults)
                judged += 1
    print(f"power losses after power losses: {judged}")
    assert judged >= dose(2_000, 50)


@pytest.mark.timeout(7200)
def test_a_power_loss_during_a_repair_loses_no_commit_that_is_whole() -> None:
    """The damaged commit is there or not, as names go; the one to fall back to always is."""
    with scratch() as place, scratch() as root:
        for operation in HISTORY[:3]:
            operation.run(root / FOLDER)
        damaged = root / FOLDER / "00000003-0.text"
        damaged.write_bytes(damaged.read_bytes()[:-100])
        start = tree_of(root)
        calls: Calls = []
        with watched(root, recorder(calls)):
            assert repair(root / FOLDER).commit == 2
        recording = Recording(str(root), start, [Step("repair", calls, made(root / FOLDER))], {})
        laid = Laid(place, recording)
        before = documents_after(HISTORY)[1]
        found = list(crashes(recording, dose(40, 2)))
        for crash in found:
            folder = laid.lay(crash)
            assert answers(folder, 2) == expected(before), told(recording, crash, [])
            assert newest(crash.tree) == 2 or (newest(crash.tree) == 3 and crash.phase != RETURNED)
        assert {newest(crash.tree) for crash in found} == {2, 3}


def is_pending(call: Call) -> bool:
    return os.path.basename(call.path).startswith("pending-")


def publishes(call: Call) -> bool:
    return call.kind == "rename" and is_pending(call)


def no_file_sync(calls: Calls) -> Calls:
    return [c for c in calls if c.kind != "sync" or is_pending(c)]


def no_manifest_sync(calls: Calls) -> Calls:
    return [c for c in calls if c.kind != "sync" or not is_pending(c)]


def no_folder_sync_before(calls: Calls) -> Calls:
    at = next(i for i, c in enumerate(calls) if publishes(c))
    return [c for i, c in enumerate(calls) if i > at or c.kind != "syncfolder"]


def no_folder_sync_after(calls: Calls) -> Calls:
    at = next(i for i, c in enumerate(calls) if publishes(c))
    gone = next(i for i, c in enumerate(calls) if i > at and c.kind == "syncfolder")
    return calls[:gone] + calls[gone + 1 :]


def no_sync_between_manifests_and_files(calls: Calls) -> Calls:
    gone = [i for i, c in enumerate(calls) if c.kind == "syncfolder" and calls[i - 1].kind == "unlink"]
    return [c for i, c in enumerate(calls) if i not in gone]


def no_parent_sync(calls: Calls) -> Calls:
    at = [i for i, c in enumerate(calls) if c.kind == "rename" and not is_pending(c)]
    return [c for i, c in enumerate(calls) if not at or i < at[0] or c.kind != "syncfolder"]


def deletes_before_commit(calls: Calls) -> Calls:
    at = next(i for i, c in enumerate(calls) if publishes(c))
    late = [c for c in calls[at:] if c.kind == "unlink"]
    return [*calls[:at], *late, *(c for c in calls[at:] if c.kind != "unlink")]


EVERY = frozenset(operation.name for operation in HISTORY)
LATER = EVERY - {"build", "add"}  # what removes a commit
PLANTED: dict[Callable[[Calls], Calls], frozenset[str]] = {
    no_file_sync: EVERY,
    no_manifest_sync: EVERY,
    no_folder_sync_before: EVERY - {"build"},  # which is not there before its folder is renamed
    # With a commit to remove, the sync before its files go saves the new commit too, before it is acknowledged.
    no_folder_sync_after: frozenset({"add", "add, keep one commit"}),
    no_sync_between_manifests_and_files: LATER - {"replace", "delete", "merge"},  # where no file goes
    no_parent_sync: frozenset({"build"}),
    deletes_before_commit: LATER,
}


def alone(recording: Recording, step: int, calls: Calls) -> Recording:
    """One operation of a recording with other calls, after the others as they were."""
    steps = [replace(s, calls=calls) if i == step else s for i, s in enumerate(recording.steps[: step + 1])]
    return replace(recording, steps=steps)


def first_fault(recording: Recording, laid: Laid, step: int) -> str:
    """The first promise that a power loss during or after an operation breaks; the late ones are tried first."""
    found = list(crashes(recording, 2, first=step))
    random.Random(4).shuffle(found)
    found.sort(key=lambda crash: crash.phase == BEFORE)
    return next((told(recording, crash, faults) for crash in found if (faults := laid.faults(crash))), "")


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_found(recording: Recording, plant: Callable[[Calls], Calls]) -> None:
    """A sync left out, or old files deleted too early, breaks a promise in every operation that it can break it in."""
    with scratch() as place:
        laid = Laid(place, recording)
        for i, step in enumerate(recording.steps):
            if step.name in PLANTED[plant]:
                planted = plant(step.calls)
                assert planted != step.calls
                assert first_fault(alone(recording, i, planted), laid, i), step.name


@pytest.mark.parametrize("function", ["commit.sync_folder", "commit.sync_and_close", "format.sync_and_close"])
def test_a_bug_in_the_code_itself_is_found(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is when the recording is changed: the calls that are recorded are those that the code makes."""

    def without_sync(file: Any) -> None:
        if not isinstance(file, Path):
            file.close()

    monkeypatch.setattr(f"fader.index.{function}", without_sync)
    recording = recorded(HISTORY[:2])
    with scratch() as place:
        assert first_fault(recording, Laid(place, recording), 1)

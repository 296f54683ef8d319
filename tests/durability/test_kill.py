"""A writer killed at any moment leaves the last acknowledged commit or the one in flight, and no lock."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from dose import dose
from durability.calls import Call, recorder, watched
from durability.history import HISTORY, OPERATIONS, debris
from durability.lives import Life, lives
from durability.nursery import Nursery, nursery
from durability.promises import NOTHING, broken, broken_by_next, made

REBUILD, ADD = (next(o for o in HISTORY if o.name == name) for name in ("rebuild", "add and merge"))


@pytest.fixture(scope="module")
def kills() -> Iterator[Nursery]:
    with nursery() as found:
        yield found


@pytest.fixture(scope="module")
def started() -> Iterator[list[Life]]:
    with lives() as found:
        yield found


def phase(folder: Path, life: Life) -> str:
    """What a killed writer has left, by what can be seen."""
    if made(folder).commit == life.after.commit:
        return "committed"
    return "debris" if debris(folder) else "nothing yet"


def survived(life: Life, folder: Path, returned: bool, turn: int) -> str:
    """Assert that every promise holds after a kill, and that the next writer takes over; returns the phase."""
    seen = phase(folder, life)
    allowed = [life.after] if returned else [life.before, life.after]
    assert broken(folder, allowed, life.documents) == [], (life.operation.name, seen)
    operation = ADD if made(folder) is not NOTHING and turn % 2 else REBUILD
    assert broken_by_next(folder, operation, life.documents) == [], (life.operation.name, seen)
    return "returned" if returned else seen


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("number", range(len(OPERATIONS)), ids=[operation.name for operation in OPERATIONS])
def test_a_writer_killed_after_any_call_loses_nothing(kills: Nursery, started: list[Life], number: int) -> None:
    """Before its commit it leaves the old one and debris, after it the new one; the next writer takes the lock."""
    life = started[number]
    calls: list[Call] = []
    with life.copy() as folder, watched(folder.parent, recorder(calls)):
        life.operation.run(folder)
    seen: Counter[str] = Counter()
    between = range(2, len(calls) - 1)
    chosen = random.Random(number).sample(between, dose(len(between), 1))
    for at in (0, 1, *chosen, len(calls) - 1, len(calls)):
        with life.copy() as folder:
            answer = kills.ask(life.operation.name, folder, calls=at)
            assert answer["returned"] == (at == len(calls))
            seen[survived(life, folder, answer["returned"], at)] += 1
    print(f"kills after calls of {life.operation.name}: {dict(seen)}")
    assert seen["nothing yet"]
    assert seen["debris"]
    assert seen["returned"] == 1


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("number", range(len(OPERATIONS)), ids=[operation.name for operation in OPERATIONS])
def test_a_writer_killed_at_any_moment_loses_nothing(kills: Nursery, started: list[Life], number: int) -> None:
    """Moments are drawn from the time that the operation takes, which is found out as it goes."""
    life = started[number]
    with life.copy() as folder:
        alone = kills.ask(life.operation.name, folder)
    assert alone["returned"]
    longest, wanted = alone["seconds"], dose(200, 3)
    rng = random.Random(number)
    seen: Counter[str] = Counter()
    while seen.total() - seen["returned"] < wanted:
        moment = rng.random() * longest
        with life.copy() as folder:
            answer = kills.ask(life.operation.name, folder, seconds=moment)
            seen[survived(life, folder, answer["returned"], seen.total())] += 1
        if answer["returned"]:
            longest = answer["seconds"]
        elif moment > 0.8 * longest:
            longest *= 1.1
        assert seen.total() < 100 * wanted
    if wanted >= 100:
        assert {"nothing yet", "debris"} <= set(seen)
    print(f"kills at random moments of {life.operation.name}: {dict(seen)}")

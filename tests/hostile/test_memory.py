"""The memory of a query: claimed before it is taken, by every system and call, and refused where it is too much.

What Python and numpy allocate is traced. A query with room for all of it may take no more than it claims; one without
is refused before it has taken it. Dose: 25 times the documents with FADER_DOSE=1.
"""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import fader
from dose import dose
from fader.allowance import Allowance, allowance, claim, claimed, release_later
from fader.errors import LimitError
from fader.limits import Limits
from fader.registry import discover
from hostile.crowd import ENTITIES, NAMED, document, list_calls, list_plain_calls, make_system

ROOMY = Limits(memory_mb=1 << 20)
SLACK = 1 << 20  # bytes that do not grow with the collection
FIRST_SLACK = 2 << 20  # the same for the first query of an index, which reads frames of text
SYSTEMS = [*NAMED, "lambdamart(features=rectangle(32x32))", "macdonald(cutoffs=1/2/3/4/5/6/7/8/9/10/20/30/40/50/0)"]


def write_long(number: int) -> dict[str, Any]:
    """A text of many sentences and few mentions."""
    words = random.Random(number).choices([f"w{i}" for i in range(10)], k=2_000)
    mention = {"start": 0, "end": 2, "entity": f"E{number % 50}"}
    return {"id": f"d{number}", "title": "w1 w2", "text": ". ".join(words), "mentions": [mention]}


def write_short(number: int) -> dict[str, Any]:
    """A text of its own entity; most mention none."""
    mentions = [] if number % 8 else [{"start": 0, "end": 2, "entity": f"E{number}"}]
    return {"id": f"d{number}", "title": "w1", "text": "w0 w1 w2 w3 w4", "mentions": mentions}


WORLDS = {
    "mentions": (document, dose(10_000, least=400), ENTITIES),
    "words": (write_long, dose(2_000, least=200), 50),
    "documents": (write_short, dose(200_000, least=10_000), dose(200_000, least=10_000)),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Many mentions, many words, many documents and entities; each in several segments."""
    found = {}
    for name, (write, documents, entities) in WORLDS.items():
        found[name] = tmp_path_factory.mktemp("memory") / name
        named = ({"id": f"E{i}", "name": f"w{i % 40} name {i}", "types": ["thing"]} for i in range(entities))
        fader.build(found[name], map(write, range(documents)), named, [{"id": "thing"}], segment_tokens=20_000)
    return found


def trace(call: Callable[[], object]) -> int:
    """The most bytes that a call had at a time."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", SYSTEMS)
def test_what_is_taken_is_claimed(folders: dict[str, Path], name: str) -> None:
    """By every call, on collections that grow in different ways, through the table."""
    system = make_system(name)
    for world, folder in folders.items():
        plain, index = fader.open(folder), fader.open(folder, limits=ROOMY, cache_mb=0)
        for query in ("w0", 'w0 +w1 "w2 w3" w4'):
            entity = plain.rank(query, None, 1, system).entities[0]
            for call, ask in list_calls(index, query, system, entity).items():
                ask()  # what is made once for an index is no query's
                with allowance(ROOMY) as counted:
                    taken = trace(ask)
                assert taken <= counted.most + SLACK, (world, query, call)


@pytest.mark.parametrize("name", SYSTEMS)
def test_so_it_is_by_decoded_lists(folders: dict[str, Path], name: str) -> None:
    """Through lists that are decoded for a query and kept for the next ones."""
    system, query = make_system(name), 'w0 +w1 "w2 w3" w4'
    for world, folder in folders.items():
        entity = fader.open(folder).rank(query, None, 1, system).entities[0]
        for call in ("search", "ask"):
            for is_traced in (False, True):  # kernels are loaded by another index
                index = fader.open(folder, limits=ROOMY)
                _ = index.collection.documents, index.rank("w5", None, 1, "plm")  # what is made once for an index
                for time in range(3):
                    ask = list_calls(index, query, system, entity)[call]
                    with allowance(ROOMY) as counted:
                        taken = trace(ask) if is_traced else ask() and 0
                    assert not is_traced or taken <= counted.most + FIRST_SLACK, (world, call, time)


def test_so_it_is_without_a_system(folders: dict[str, Path]) -> None:
    for world, folder in folders.items():
        for query in ("w0", 'w0 +w1 "w2 w3" w4'):
            index = fader.open(folder, limits=ROOMY, cache_mb=0)
            for call, ask in list_plain_calls(index, query, "E0", "d0").items():
                ask()
                with allowance(ROOMY) as counted:
                    taken = trace(ask)
                assert taken <= counted.most + SLACK, (world, query, call, taken, counted.most)


@pytest.mark.parametrize("name", SYSTEMS)
def test_too_much_is_refused(folders: dict[str, Path], name: str) -> None:
    """With room for one megabyte nobody takes much more, and the error says how to have more."""
    system, query, folder = make_system(name), 'w0 +w1 "w2 w3" w4', folders["mentions"]
    entity = fader.open(folder).rank(query, None, 1, system).entities[0]
    index = fader.open(folder, limits=Limits(memory_mb=1), cache_mb=0)
    calls = list_calls(index, query, system, entity)
    assert calls.pop("propose")().proposals == []  # type: ignore[attr-defined]  # questions that are too much are left out
    for call, ask in calls.items():

        def refused(ask: Callable[[], object] = ask) -> None:
            with pytest.raises(LimitError, match=r"needs about .* MB; at most 1, which FADER_LIMIT_MEMORY_MB raises"):
                ask()

        refused()
        assert trace(refused) <= (1 << 20) + SLACK, call


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_claim_can_be_the_last(folders: dict[str, Path], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the room ends, the query ends there with the error; with enough room it answers."""
    system, query = make_system(name), 'w0 +w1 "w2 w3" w4'
    index = fader.open(folders["documents"], limits=ROOMY, cache_mb=0)
    entity = index.rank(query, None, 1, system).entities[0]
    held: list[int] = []
    real = Allowance.claim

    def note(self: Allowance, size: int) -> None:
        real(self, size)
        held.append(self.held)

    monkeypatch.setattr(Allowance, "claim", note)
    ask = list_calls(index, query, system, entity)["explain"]
    ask()
    steps = [n for i, n in enumerate(held) if n > max(held[:i], default=0)]
    for step in steps[:: max(1, len(steps) // 5)]:

        def end_there(self: Allowance, size: int, step: int = step) -> None:
            if self.held + size >= step:
                raise LimitError("no room")
            real(self, size)

        monkeypatch.setattr(Allowance, "claim", end_there)
        with pytest.raises(LimitError, match="no room"):
            ask()


def test_claims_are_held_and_released() -> None:
    """To the end of the query, or of a block; a query inside of another one is part of it."""
    with allowance(Limits(memory_mb=1)) as outer:
        claim(1 << 19)
        with claimed(1 << 18), allowance(ROOMY) as inner:
            assert inner is outer
            claim(1 << 18)
            with pytest.raises(LimitError, match=r"needs about 1 MB; at most 1, which"):
                claim(1)
        assert (outer.held, outer.most) == (1 << 19, 1 << 20)
    claim(1 << 60)  # nobody counts


def test_what_is_to_be_released_is_released_with_its_block() -> None:
    """Of the innermost block, also where it ends with an error; nothing without an allowance."""
    released: list[str] = []
    release_later(lambda: released.append("never"))
    with allowance(ROOMY):
        release_later(lambda: released.append("query"))
        with suppress(LimitError), claimed():
            release_later(lambda: released.append("block"))
            claim(1 << 60)
        assert released == ["block"]
    assert released == ["block", "query"]


def test_systems_are_all_there() -> None:
    """A new one is tried too."""
    assert set(discover("fader.systems")) - {"fader", "literals"} <= {name.split("(")[0] for name in SYSTEMS}

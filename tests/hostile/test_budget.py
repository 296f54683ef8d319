"""The time of a query: counted, looked at inside long work, and never a part of the answer.

The clock is played: every look at it takes a millisecond, so that a budget of n milliseconds is one of n looks.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fader
from cli.running import passed, refused
from fader import budget
from fader.budget import check, chunks, deadline, gather_chunks
from fader.contexts import nearest
from fader.contexts.policy import Evidence
from fader.errors import BudgetError, UsageError
from fader.index.encoding.lists import HIGHEST, LOWEST
from fader.learn.learner import Learner
from fader.rank.system import aggregate_evidence
from fader.registry import discover
from hostile import world

FOREVER = 10**12
QUERIES = ("violin", '"old town" +the', "physics -river of", '"the of" violin', "漢字 Éire x1 the of river old town")

TRAINED = {name for name, part in discover("fader.systems").items() if issubclass(part, Learner)} | {"fader"}
UNTRAINED = sorted(set(discover("fader.systems")) - TRAINED)


class Clock:
    """A clock that only goes on when it is looked at."""

    def __init__(self) -> None:
        self.looks = 0

    def monotonic(self) -> float:
        self.looks += 1
        return self.looks * 1.000001 / 1000  # a little more, so that rounding never hides a look


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(budget, "time", clock)
    return clock


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "CHUNK", 16)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    """Several segments, some documents deleted."""
    folder = tmp_path_factory.mktemp("budget") / "index"
    world.index(folder)
    return fader.delete(folder, [f"d{i}" for i in range(0, 80, 7)], merge=False)


def answer(index: fader.Index, text: str, **options: Any) -> dict[str, Any]:
    found = index.search(text, k=100, snippets=2, **options).to_dict()
    del found["took_ms"]
    return found


# --------------------------------------------------------------------------------------------- alone


def test_without_a_budget_nothing_is_cut(clock: Clock) -> None:
    """One piece, and no look at the clock."""
    check()
    assert list(chunks(10**9, 1)) == [(0, 10**9)]
    assert not budget.is_counted()
    assert clock.looks == 0


def test_pieces_cover_everything_and_look_before_each(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces follow each other, and are smaller where elements take longer; an empty range is one piece."""
    monkeypatch.setattr(budget, "CHUNK", 8)
    with deadline(FOREVER):
        before = clock.looks
        assert list(chunks(10, weight=2)) == [(0, 4), (4, 8), (8, 10)]
        assert clock.looks - before == 3
        assert list(chunks(2, weight=100)) == [(0, 1), (1, 2)]
        assert list(chunks(0)) == [(0, 0)]
    assert gather_chunks(5, lambda a, b: np.arange(a, b)).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.usefixtures("clock")
def test_time_ends_at_its_look() -> None:
    """So many looks are free, the next one is an error."""
    with deadline(3):
        check()
        check()
        with pytest.raises(BudgetError, match=r"needs more than its 3 ms; .* FADER_LIMIT_TIME_MS$"):
            check()
    check()


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(("outer", "inner"), [(5, FOREVER), (FOREVER, 5), (5, None)])
def test_the_nearer_end_holds(outer: int, inner: int | None) -> None:
    """Time counted inside of counted time can end earlier, never later."""
    with deadline(outer), deadline(inner), pytest.raises(BudgetError, match="its 5 ms"):
        list(chunks(10, weight=budget.CHUNK))


@pytest.mark.usefixtures("clock")
def test_other_threads_are_not_stopped() -> None:
    """The clock belongs to the thread that asked."""
    counted = []
    with deadline(1):
        thread = threading.Thread(target=lambda: counted.append(budget.is_counted()))
        thread.start()
        thread.join()
    assert counted == [False]


@pytest.mark.parametrize("time_ms", [0, -1, float("nan"), float("inf"), "5", True, [1]])
def test_a_budget_is_a_number_above_0(time_ms: Any) -> None:
    """Anything else is wrong usage."""
    with (
        pytest.raises(UsageError, match="timeout_ms must be a number of milliseconds above 0, not "),
        deadline(time_ms),
    ):
        pass


# --------------------------------------------------------------------------------------- in a query


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("model", ["default", *UNTRAINED])
@pytest.mark.parametrize("text", QUERIES)
def test_counting_the_time_changes_no_answer(index: fader.Index, clock: Clock, text: str, model: str) -> None:
    """Cut into the smallest pieces, every system answers bit for bit as in one."""
    whole = answer(index, text, model=model)
    assert clock.looks == 0
    assert answer(index, text, model=model, timeout_ms=FOREVER) == whole
    assert clock.looks > 10


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("options", [{}, {"overlap": False}, {"plan": "type"}, {"plan": "document"}, {"window": 3}])
@pytest.mark.parametrize("answer_type", [None, "thing", "city"])
def test_counting_the_time_changes_no_context(
    index: fader.Index, options: dict[str, Any], answer_type: str | None
) -> None:
    """Sides, positions and values of documents included, whichever way they were found."""
    for text in QUERIES:
        whole = index.contexts(text, answer_type, **options)
        with deadline(FOREVER):
            cut = index.contexts(text, answer_type, **options)
            assert cut.rows() == whole.rows()
            for name in ("counts", "length", "row", "number"):
                assert np.array_equal(getattr(cut.documents, name), getattr(whole.documents, name))
            assert np.array_equal(cut.positions.start, whole.positions.start)
            assert np.array_equal(cut.groups.order, whole.groups.order)
            assert np.array_equal(cut.groups.order, np.argsort(cut.slot, kind="stable"))


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("text", QUERIES)
def test_every_look_can_be_the_last(index: fader.Index, clock: Clock, text: str) -> None:
    """Wherever the time ends, the query ends there, with the error; afterwards the index answers as before."""
    whole = answer(index, text, timeout_ms=FOREVER)
    looks = clock.looks
    for end in range(1, looks, max(1, looks // 40)):
        clock.looks = 0
        with pytest.raises(BudgetError):
            answer(index, text, timeout_ms=end)
        assert clock.looks == end + 1
    assert answer(index, text, timeout_ms=looks) == whole


def test_the_clock_is_looked_at_inside_of_long_work(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten times the documents in one segment, about ten times the looks; and fewer, the larger the pieces."""

    def looks(documents: int, piece: int) -> int:
        monkeypatch.setattr(budget, "CHUNK", piece)
        corpus = [{**world.document(i % 80), "id": f"d{i:05}"} for i in range(documents)]
        built = fader.build(tmp_path / f"{documents}-{piece}", corpus, world.ENTITIES, world.KINDS)
        clock.looks = 0
        built.rank('violin +the "old town"', model="paper", timeout_ms=FOREVER)
        return clock.looks

    few, many, coarse = looks(80, 64), looks(800, 64), looks(800, 1 << 20)
    assert many > 5 * few
    assert coarse < few


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(1, 4)), max_size=60),
    st.sets(st.integers(0, 300), max_size=60),
    st.integers(1, 3),
    st.integers(1, 70),
)
def test_distances_do_not_depend_on_pieces(
    spans: list[tuple[int, int]], occurrences: set[int], length: int, piece: int
) -> None:
    """Nor do sides and marks: a merge can begin anywhere."""
    place = np.array([(s, s + n, 0, 305) for s, n in sorted(spans)], dtype=np.int32).reshape(-1, 4)
    found = np.array([LOWEST, *sorted(occurrences), HIGHEST], dtype=np.int32)
    base, cell = np.arange(0, 330, 10, dtype=np.int32), np.array([0, 25, 32], dtype=np.int32)
    with pytest.MonkeyPatch.context() as patch:

        def everything() -> list[list[int]]:
            columns = [np.full(len(place), 9, dtype=np.int32) for _ in range(2)]
            side, marks = np.zeros(len(place), dtype=np.int8), np.zeros(32, dtype=np.uint8)
            nearest.distances(place, found, length, columns[0])
            nearest.distances_beside(place, found, length, columns[1])
            nearest.sides(place, found, length, columns[0], side)
            nearest.mark_documents(found, base, cell, marks)
            return [c.tolist() for c in (*columns, side, marks)]

        whole = everything()
        patch.setattr(budget, "CHUNK", piece)
        with deadline(FOREVER):
            assert everything() == whole


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(-5, 5), min_size=1, max_size=20), max_size=20), st.integers(1, 30))
def test_aggregates_do_not_depend_on_pieces(scores: list[list[float]], piece: int) -> None:
    """Of every aggregator, entities with more contexts than a piece included."""
    at = np.cumsum([0, *map(len, scores)])
    flat = np.array([s for own in scores for s in own], dtype=np.float64)
    rows = np.arange(flat.size, dtype=np.int32)
    evidence = Evidence(np.arange(at.size - 1, dtype=np.int32), rows, at, flat)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "CHUNK", piece)
        for part in discover("fader.aggregate").values():
            whole = aggregate_evidence(part(), evidence)
            with deadline(FOREVER):
                assert aggregate_evidence(part(), evidence).tolist() == whole.tolist(), part


# -------------------------------------------------------------------------------------- who sets it


def test_the_limit_of_an_index_holds_for_every_query(index: fader.Index, clock: Clock) -> None:
    """Given when it is opened; a query can take less, never more."""
    short = fader.open(index.collection.folder, limits=fader.Limits(time_ms=4))
    for ask in (short.search, short.rank, short.contexts):
        for options in ({}, {"timeout_ms": FOREVER}):
            with pytest.raises(BudgetError, match="its 4 ms"):
                ask("violin", **options)
    with pytest.raises(BudgetError, match="its 1 ms"):
        short.rank("violin", timeout_ms=1)


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    path = tmp_path / "queries.jsonl"
    path.write_text('{"id": "a", "query": "violin"}\n{"id": "b", "query": "nowhere"}\n')
    return path


@pytest.mark.usefixtures("clock")
def test_the_command_line(index: fader.Index, queries: Path, tmp_path: Path) -> None:
    """A query that takes too long is exit code 1; a batch names it, or leaves it out and says so."""
    folder, run = str(index.collection.folder), str(tmp_path / "run")
    assert "more than its 3 ms" in refused(1, "search", folder, "violin", "--timeout-ms", "3")
    assert "time_ms must be a whole number from 1" in refused(2, "search", folder, "violin", "--timeout-ms", "0")
    batch = ("batch", folder, "--queries", queries, "--run", run, "--timeout-ms", "3")
    assert 'query "a": the query needs more than its 3 ms' in refused(1, *batch)
    assert not Path(run).exists()
    outcome = passed(*batch, "--on-error", "skip", "--json")
    assert outcome.json["skipped"] == 2
    assert 'skipped query "a": the query needs more' in outcome.err


@pytest.mark.usefixtures("clock")
def test_the_environment(index: fader.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an option the environment counts."""
    monkeypatch.setenv("FADER_LIMIT_TIME_MS", "3")
    assert "more than its 3 ms" in refused(1, "search", str(index.collection.folder), "violin")
    monkeypatch.setenv("FADER_LIMIT_TIME_MS", "none")
    passed("search", str(index.collection.folder), "violin")


def test_work_ends_when_nobody_waits() -> None:
    """However much time is left; what is inside with a nearer end asks too, and afterwards nothing is asked."""
    is_gone = False
    with deadline(FOREVER, lambda: is_gone):
        check()
        with deadline(FOREVER / 2):
            check()
            is_gone = True
            with pytest.raises(BudgetError):
                check()
        with deadline(2 * FOREVER), pytest.raises(BudgetError):
            check()
    check()

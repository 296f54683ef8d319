"""Many queries through shards leave, byte for byte, the files of one machine; a job that was stopped goes on.

All in this process: chunks, parts and the index that travels are the same on a cluster (test_many_ray.py). Every system
and every aggregator by discovery, for 1, 2, 4 and 8 groups: each at one of these, at all with FADER_DOSE=1.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import fader
from cluster.here import Here
from cluster.serving import mingled_index, ranged_index
from dose import dose
from fader.cluster.jobs import batch as many
from fader.cluster.jobs.index_handle import open_index
from fader.cluster.jobs.task import Task, run_task
from fader.corpus.queries import FaultCollector, QueryLine
from fader.errors import ClusterError, IncompleteError, LimitError, StorageError
from fader.jobs.runners import Failure, InProcess
from fader.limits import Limits
from fader.progress import Silent
from fader.search.batch import Parsed, parse_all, write_contexts, write_letor, write_run
from fader.search.models import resolve_model

GROUPS = (1, 2, 4, 8)
TEXTS: list[tuple[str, str | None]] = [
    ("a b", None), ('+a "b the c" d', "person"), ("c -e é absent", "thing"), ("+absent a", None), ("x1 A", "poet"),
]  # fmt: skip
GRADES = {"q0": {"E1": 1, "E2": 0}, "q2": {"E3": 2, "nobody": 1}}


@pytest.fixture(scope="module", params=["ranges", "mingled"])
def local(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    folder = tmp_path_factory.mktemp(request.param) / "index"
    return ranged_index(folder) if request.param == "ranges" else mingled_index(folder)


def recipe(index: fader.Index, groups: int, limits: Limits | None = None) -> Here:
    return Here(str(index.collection.folder), index.commit, groups, limits or Limits())


def parsed(index: fader.Index, count: int = len(TEXTS)) -> list[Parsed]:
    """So many queries; the same texts again and again."""
    lines = [QueryLine(f"q{n}", *TEXTS[n % len(TEXTS)], "", f"line {n}") for n in range(count)]
    return parse_all(index, lines, FaultCollector())


def same(folder: Path, one: Callable[[str], Any], other: Callable[[str], Any]) -> None:
    """Both write the same bytes and return the same, and nothing else is left."""
    assert one(str(folder / "one")) == other(str(folder / "other"))
    assert (folder / "one").read_bytes() == (folder / "other").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["one", "other"]


def ran_by(write: Callable[..., Any], queries: list[Parsed], ranker: Any, path: str) -> Any:
    return write(queries, ranker, 20, path, Silent())


def test_runs_of_all_rankers(local: fader.Index, rankers: list[Any], tmp_path: Path) -> None:
    """The default model, all aggregators, all systems."""
    queries = parsed(local)
    for n, given in enumerate(rankers):
        ranker = resolve_model(given, local.collection, any_index=True)
        for groups in (*GROUPS[n % len(GROUPS) :], *GROUPS[: n % len(GROUPS)])[: dose(len(GROUPS), 1)]:
            here, there = partial(write_run, local), partial(many.run, InProcess(), recipe(local, groups))
            same(tmp_path, *(partial(ran_by, write, queries, ranker) for write in (here, there)))


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("options", [{}, {"window": 3, "overlap": False}])
@pytest.mark.parametrize("grades", [None, GRADES])
def test_tables(local: fader.Index, groups: int, options: dict[str, Any], grades: Any, tmp_path: Path) -> None:
    """Parquet, with and without grades."""
    queries, made = parsed(local), recipe(local, groups)
    same(
        tmp_path,
        lambda path: write_contexts(local, queries, grades, path, Silent(), **options),
        lambda path: many.contexts(InProcess(), made, queries, grades, path, Silent(), **options),
    )


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("features", ["noprox+rectangle", "noprox+rectangle(edges=learned)"])
def test_vectors(local: fader.Index, groups: int, features: str, tmp_path: Path) -> None:
    """LETOR, also where the buckets' edges are learned from the contexts of all queries."""
    queries, made = parsed(local), recipe(local, groups)
    options = {"features": features, "policy": "mention" if groups == 2 else "document"}
    same(
        tmp_path,
        lambda path: write_letor(local, queries, GRADES, path, Silent(), **options),
        lambda path: many.letor(InProcess(), made, queries, GRADES, path, Silent(), **options),
    )


def test_chunks() -> None:
    """Every query once, in order; a few chunks at least, and none too large."""
    for count in (1, 2, 63, 64, 128, 1000, 5000):
        cut = many.cut_chunks(count, 16)
        assert [i for some in cut for i in some] == list(range(count))
        assert max(map(len, cut)) <= 16
        assert len(cut) >= min(count, many.CHUNKS)


class Stopping:
    """Stops after some jobs, as a killed driver does; counts those it did."""

    def __init__(self, most: int) -> None:
        self.left, self.done = most, 0

    def run(self, work: Any, items: Iterable[Task], take: Callable[[Task, Any], None]) -> None:
        for task in items:
            if not self.left:
                raise ClusterError("the head is gone")
            self.left, self.done = self.left - 1, self.done + 1
            InProcess().run(work, [task], take)


def ran(local: fader.Index, runner: Any, path: Path, k: int = 5, count: int = 20) -> dict[str, list[str]]:
    ranker = resolve_model("proximity", local.collection)
    return many.run(runner, recipe(local, 2), parsed(local, count), ranker, k, str(path), Silent())


def test_a_stopped_job_goes_on(local: fader.Index, tmp_path: Path) -> None:
    """What was found before is not found again, but for a damaged part; the file appears only when it is whole."""
    whole, out, folder = tmp_path / "whole", tmp_path / "out", tmp_path / "out.unfinished"
    expected = ran(local, InProcess(), whole)
    with pytest.raises(ClusterError, match="head"):
        ran(local, Stopping(7), out)
    assert not out.exists()
    parts = sorted(folder.glob("*/*.part"))
    assert len(parts) == 7
    parts[3].write_bytes(parts[3].read_bytes()[:-1])
    rest = Stopping(100)
    assert ran(local, rest, out) == expected
    assert rest.done == 20 - 6
    assert out.read_bytes() == whole.read_bytes()
    assert not folder.exists()


def test_parts_of_another_job_are_not_taken(local: fader.Index, tmp_path: Path) -> None:
    """Another k, other queries: all is done anew."""
    out = tmp_path / "out"
    with pytest.raises(ClusterError):
        ran(local, Stopping(7), out)
    anew = Stopping(100)
    ran(local, anew, out, k=6)
    assert anew.done == 20
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_one_job_at_a_time_writes_an_output(local: fader.Index, tmp_path: Path) -> None:
    """Another is refused and takes nothing away."""
    out, refusals = tmp_path / "out", []

    class Meanwhile:
        def run(self, work: Any, items: Iterable[Task], take: Callable[[Task, Any], None]) -> None:
            with pytest.raises(StorageError, match="another run is writing") as refusal:
                ran(local, InProcess(), out, k=6)
            refusals.append(refusal)
            InProcess().run(work, items, take)

    ran(local, Meanwhile(), out)
    assert len(refusals) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_job_of_which_everything_is_kept_asks_nothing(local: fader.Index, tmp_path: Path) -> None:
    """It was stopped before the file was written."""
    out = tmp_path / "out"
    with pytest.raises(ClusterError):
        ran(local, Stopping(20), out, count=21)
    rest = Stopping(1)
    ran(local, rest, out, count=21)
    assert rest.done == 1


def test_a_query_beyond_a_limit(local: fader.Index, tmp_path: Path) -> None:
    """The error of one machine, or a remark and the other queries; the same file.

    How many contexts were seen before they were too many is told by the way, and hangs on who saw them.
    """
    limits = Limits(contexts=30)
    one = fader.open(local.collection.folder, limits=limits)
    queries, ranker = parsed(one), resolve_model("count", one.collection)
    told: list[list[str]] = []

    def by(write: Callable[..., Any], path: str) -> Any:
        fault = FaultCollector(skip=True)
        found = write(queries, ranker, 10, path, Silent(), fault)
        told.append([uncounted(message) for message in fault.messages])
        return found

    spread = recipe(local, 4, limits)
    same(
        tmp_path,
        lambda path: by(lambda *asked: write_run(one, *asked), path),
        lambda path: by(lambda *asked: many.run(InProcess(), spread, *asked), path),
    )
    assert told[0] == told[1] != []
    with pytest.raises(LimitError) as here:
        write_run(one, queries, ranker, 10, str(tmp_path / "one"), Silent())
    with pytest.raises(LimitError) as there:
        many.run(InProcess(), spread, queries, ranker, 10, str(tmp_path / "other"), Silent())
    assert uncounted(str(here.value)) == uncounted(str(there.value))


def uncounted(message: str) -> str:
    assert "contexts or more; at most 30," in message
    return re.sub(r"[0-9]+ contexts or more", "N contexts or more", message)


def test_outputs_that_cannot_be(local: fader.Index, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Refused before anything is asked; standard output and devices have nothing kept beside them."""
    for path in (tmp_path, tmp_path / "missing" / "out"):
        runner = Stopping(0)
        with pytest.raises(StorageError):
            ran(local, runner, path)
        assert runner.done == 0
    many.run(InProcess(), recipe(local, 2), parsed(local), resolve_model("count", local.collection), 3, "-", Silent())
    write_run(local, parsed(local), resolve_model("count", local.collection), 3, str(tmp_path / "run"), Silent())
    assert capsys.readouterr().out == (tmp_path / "run").read_text("utf-8")


def test_an_index_travels_as_its_recipe(local: fader.Index) -> None:
    """A copy is the index that the other process has open: here the same object."""
    index = open_index(recipe(local, 2))
    assert pickle.loads(pickle.dumps(index)).collection is index.collection
    assert open_index(recipe(local, 2)).collection is index.collection
    assert open_index(recipe(local, 4)).collection is not index.collection


def test_errors_of_tasks() -> None:
    """What cannot be is told as it is; what may pass, to be tried again; another Fader on a node is refused."""

    @dataclass(frozen=True, kw_only=True)
    class Raising(Task):
        error: Exception

        def run(self) -> bytes:
            raise self.error

    def raising(error: Exception, **given: Any) -> Any:
        return run_task(Raising(name="task", error=error, **given))

    assert raising(IncompleteError("no group")) == Failure("task", "IncompleteError", "no group", again=True)
    assert raising(ClusterError("the head is gone")).again
    assert raising(LimitError("much")) == Failure("task", "LimitError", "much", again=False)
    assert raising(OSError(28, "No space", "x")).again
    assert "install the same" in raising(OSError(), version="0").message
    with pytest.raises(KeyError):
        raising(KeyError("ours"))

"""A build by tasks gives the index that one machine builds: the same answers, the same faults, whatever the cuts.

Tasks run in this process here; test_build_ray.py runs them on a cluster.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import json
import random
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cluster.corpora import catalog, corpus, files_of
from dose import some
from fader.cluster.build.driver import ClusterBuildOptions, build
from fader.cluster.jobs.task import Task
from fader.corpus.analysis import Analysis
from fader.errors import CatalogError, ClusterError, CorpusError, InputError, StorageError, UsageError
from fader.index.commit import read_commit
from fader.index.reader import IndexReader
from fader.index.verify.check import check
from fader.index.write.writer import BuildOptions
from fader.index.write.writer import build as build_here
from fader.jobs.runners import InProcess
from fader.jobs.storage import LocalFolder
from fader.limits import Limits

HOW = BuildOptions(analysis=Analysis("english", ("pine",)), limits=Limits(line_bytes=2500))


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A corpus with faults, its catalog, and the index that one machine builds of it."""
    folder = tmp_path_factory.mktemp("given")
    names = catalog(folder)
    paths = corpus(folder)
    report = build_here(folder / "here", paths, names["entities"], names["types"], HOW)
    return {"corpus": paths, **names, "here": folder / "here", "report": report}


def built(given: dict[str, Any], out: Path | str, shards: int, runner: Any = None, **options: Any) -> Any:
    how = ClusterBuildOptions(shards, **{"build": HOW, "piece_bytes": 20_000, "run_bytes": 4_000, **options})
    return build(out, given["corpus"], given["entities"], given["types"], how, runner or InProcess())


def contents(folder: Path) -> list[Any]:
    """The ids of all documents by number, and tables and answers of some queries."""
    import fader

    index = fader.open(folder)
    reader = index.collection.reader
    found: list[Any] = [reader.documents, reader.tokens, reader.mentions]
    found += [reader.document_id(d) for d in range(reader.documents)]
    for text in ("amber +birch", "cedar delta", '"ocean marsh" kelp', "night"):
        for kind in ("thing", "river", None):
            table = index.contexts(text, kind)
            found += [np.asarray(table.entity), np.asarray(table.document), np.asarray(table.distances)]
            answer = index.search(text, kind, k=10, snippets=2)
            found.append(json.dumps(answer.to_dict() | {"took_ms": 0}, sort_keys=True))
    return found


def same(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(
        np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("shards", [1, 2, 4, 8])
def test_as_built_on_one_machine(given: dict[str, Any], tmp_path: Path, shards: int) -> None:
    """Documents, tables and answers are equal to the bit; so are the counts of faults and their first examples, with
    file and line. The index is whole, and of so many segments with ranges of ids that do not overlap."""
    report = built(given, tmp_path / "out", shards)
    assert report.built.faults.counts == given["report"].faults.counts
    assert report.built.faults.examples == given["report"].faults.examples
    assert report.built.manifest.skipped == given["report"].manifest.skipped
    assert report.shards == shards == len(report.built.manifest.segments)
    assert same(contents(tmp_path / "out"), contents(given["here"]))
    assert check(tmp_path / "out") == []
    assert not (tmp_path / "out" / ".unfinished").exists()
    reader = IndexReader(tmp_path / "out")
    ids = [[segment.text.ids[d] for d in (0, segment.documents - 1)] for segment in reader.segments]
    assert all(a[1] < b[0] for a, b in pairwise(ids))


@pytest.mark.parametrize(("piece_bytes", "run_bytes"), [(5_000, 1), (1 << 30, 1), (9_000, 1 << 26)])
def test_the_cuts_do_not_matter(given: dict[str, Any], tmp_path: Path, piece_bytes: int, run_bytes: int) -> None:
    """However the corpus is cut into pieces and runs, the same faults at the same lines, and the same contents."""
    report = built(given, tmp_path / "out", 3, piece_bytes=piece_bytes, run_bytes=run_bytes)
    assert report.built.faults.counts == given["report"].faults.counts
    assert report.built.faults.examples == given["report"].faults.examples
    assert same(contents(tmp_path / "out"), contents(given["here"]))


def test_shards_are_of_about_one_size(given: dict[str, Any], tmp_path: Path) -> None:
    tokens = [s.tokens for s in built(given, tmp_path / "out", 4).built.manifest.segments]
    assert max(tokens) < 2 * min(tokens)


def test_a_shard_may_have_several_segments(given: dict[str, Any], tmp_path: Path) -> None:
    """Those of a shard follow each other, and every name is used once."""
    how = dataclasses.replace(HOW, segment_tokens=800)
    report = built(given, tmp_path / "out", 2, build=how)
    names = [segment.name for segment in report.built.manifest.segments]
    assert len(set(names)) == len(names) > 4
    assert same(contents(tmp_path / "out"), contents(given["here"]))


def test_an_empty_corpus_is_an_empty_index(given: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "void.jsonl").touch()
    with_nothing = given | {"corpus": [str(tmp_path / "void.jsonl")]}
    assert built(with_nothing, tmp_path / "void", 2).built.manifest.operation.documents == 0
    (tmp_path / "empty.jsonl").write_bytes(b"\n\n")
    report = built(given | {"corpus": [str(tmp_path / "empty.jsonl")]}, tmp_path / "out", 4)
    assert report.built.manifest.operation.documents == 0
    assert IndexReader(tmp_path / "out").documents == 0


def test_more_shards_than_documents(given: dict[str, Any], tmp_path: Path) -> None:
    """Shards without documents are left out."""
    few = [json.dumps({"id": f"d{n}", "text": "birch"}) for n in range(3)]
    (tmp_path / "few.jsonl").write_text("\n".join(few))
    report = built(given | {"corpus": [str(tmp_path / "few.jsonl")]}, tmp_path / "out", 8)
    assert report.built.manifest.operation.documents == 3
    assert report.shards == len(report.built.manifest.segments) <= 3


class Stopped(BaseException):
    """The driver was killed."""


class StopsAfter:
    """Runs so many jobs, then dies; `ran` are the names of those that it ran."""

    def __init__(self, most: int) -> None:
        self._most, self.ran = most, list[str]()

    def run(self, work: Any, items: Any, take: Any) -> None:
        def one(task: Task, found: Any) -> None:
            take(task, found)
            self.ran.append(f"{type(task).__name__} {task.name}")
            if len(self.ran) >= self._most:
                raise Stopped

        InProcess().run(work, items, one)


def test_it_goes_on_where_it_was(given: dict[str, Any], tmp_path: Path) -> None:
    """A driver that dies after every few tasks ends with the bytes of one that lived; nothing is done twice but the
    looking at ids, which is kept as a whole."""
    whole = built(given, tmp_path / "whole", 3)
    ran: list[str] = []
    for _ in range(100):
        runner = StopsAfter(3 if "SplitPiece" in " ".join(ran) else 30)
        try:
            report = built(given, tmp_path / "out", 3, runner)
            break
        except Stopped:
            ran += runner.ran
    done = [name for name in ran + runner.ran if not name.startswith("SampleIds")]
    assert len(done) == len(set(done)) > 10
    assert report.resumed > 0
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")
    assert report.built.faults.examples == whole.built.faults.examples


class Crash:
    """Dies before or after the n-th change of the storage; `count` is how many there were."""

    def __init__(self, patch: pytest.MonkeyPatch, at: int, after: bool) -> None:
        self.count = 0
        for name in ("write", "put", "double", "make", "remove_folder"):
            patch.setattr(LocalFolder, name, self._crashing(getattr(LocalFolder, name), at, after))

    def _crashing(self, change: Any, at: int, after: bool) -> Any:
        def crashing(*given: Any) -> None:
            self.count += 1
            if self.count == at and not after:
                raise Stopped
            change(*given)
            if self.count == at:
                raise Stopped

        return crashing


def test_it_may_die_at_any_change(given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before or after any write, move or removal: the same command ends with the bytes of a build that lived, or says
    that there is an index, and then it is that; nothing else is left."""
    small = given | {"corpus": given["corpus"][:1]}
    how = {"piece_bytes": 1 << 30, "run_bytes": 1 << 26}
    with monkeypatch.context() as patch:
        crash = Crash(patch, 0, False)
        built(small, tmp_path / "whole", 2, **how)
    cases = [(at, after) for at in range(1, crash.count + 1) for after in (False, True)]
    random.Random(8).shuffle(cases)
    assert len(cases) > 40
    for at, after in some(cases, 10):
        out = tmp_path / f"{at}-{after}"
        with monkeypatch.context() as patch:
            Crash(patch, at, after)
            with pytest.raises(Stopped):
                built(small, out, 2, **how)
        with contextlib.suppress(StorageError):
            built(small, out, 2, **how)
        assert files_of(out) == files_of(tmp_path / "whole"), (at, after)
        assert not (out / ".unfinished").exists()


def test_other_input_is_refused(given: dict[str, Any], tmp_path: Path) -> None:
    """What has changed is named; --restart begins anew and leaves nothing of what was begun."""
    with pytest.raises(Stopped):
        built(given, tmp_path / "out", 3, StopsAfter(30))
    with pytest.raises(StorageError, match=r"--shards changed.*--restart"):
        built(given, tmp_path / "out", 4)
    with pytest.raises(StorageError, match="the corpus changed"):
        built(given | {"corpus": given["corpus"][:2]}, tmp_path / "out", 3)
    built(given, tmp_path / "out", 4, restart=True)
    built(given, tmp_path / "whole", 4)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_lost_files_are_made_again(given: dict[str, Any], tmp_path: Path) -> None:
    """A mark whose files are gone or cut is not believed, nor one that is damaged."""
    built(given, tmp_path / "whole", 3)
    with pytest.raises(Stopped):
        built(given, tmp_path / "out", 3, StopsAfter(41))
    folder = next(path for path in (tmp_path / "out" / ".unfinished").iterdir() if path.is_dir())
    buckets = sorted((folder / "map").glob("*.buckets"))
    buckets[0].unlink()
    buckets[1].write_bytes(buckets[1].read_bytes()[:-1])
    marks = sorted((folder / "map").glob("*.part"))
    marks[2].write_bytes(marks[2].read_bytes().replace(b"1", b"2"))
    (folder / "catalog").unlink()
    built(given, tmp_path / "out", 3)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_a_crash_after_the_commit_makes_no_second_one(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever dies before the journal says so is told the same commit; later, that there is an index. Nothing of the
    journal stays in either case."""
    from fader.cluster.build import driver as module

    def dies(*_given: Any) -> None:
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(module, "end", dies)
        with pytest.raises(Stopped):
            built(given, tmp_path / "out", 2)
    assert (tmp_path / "out" / ".unfinished").exists()
    report = built(given, tmp_path / "out", 2)
    assert report.built.manifest.commit == 1
    assert not (tmp_path / "out" / ".unfinished").exists()
    assert same(contents(tmp_path / "out"), contents(given["here"]))
    with monkeypatch.context() as patch:
        patch.setattr(LocalFolder, "remove_folder", dies)
        with pytest.raises(Stopped):
            built(given, tmp_path / "late", 2)
    with pytest.raises(StorageError, match="holds an index already"):
        built(given, tmp_path / "late", 3)
    assert files_of(tmp_path / "late") == files_of(tmp_path / "out")
    assert not (tmp_path / "late" / ".unfinished").exists()


def test_an_index_is_replaced_only_if_told(given: dict[str, Any], tmp_path: Path) -> None:
    """With --overwrite it becomes a new commit; the old one can still be read."""
    shutil.copytree(given["here"], tmp_path / "out")
    with pytest.raises(StorageError, match="--overwrite"):
        built(given, tmp_path / "out", 2)
    report = built(given, tmp_path / "out", 2, build=dataclasses.replace(HOW, overwrite=True))
    assert report.built.manifest.commit == 2
    assert IndexReader(tmp_path / "out", at=1).documents == IndexReader(tmp_path / "out").documents


def test_an_index_that_came_meanwhile_is_not_replaced(given: dict[str, Any], tmp_path: Path) -> None:
    """Nor is one whose replacing was begun by a command that may: what was done so far stays for that."""
    with pytest.raises(Stopped):
        built(given, tmp_path / "out", 2, StopsAfter(30))
    for file in given["here"].iterdir():
        shutil.copy(file, tmp_path / "out")
    with pytest.raises(StorageError, match="--overwrite"):
        built(given, tmp_path / "out", 2)
    assert files_of(tmp_path / "out") == files_of(given["here"])
    report = built(given, tmp_path / "out", 2, build=dataclasses.replace(HOW, overwrite=True))
    assert report.built.manifest.commit == 2
    assert report.resumed > 10


def test_other_options_are_another_commit(given: dict[str, Any], tmp_path: Path) -> None:
    """Even where they change no file."""
    built(given, tmp_path / "out", 2)
    how = dataclasses.replace(HOW, overwrite=True, analysis=Analysis("english", ("pine", "nowhere")))
    report = built(given, tmp_path / "out", 2, build=how)
    assert report.built.manifest.commit == 2
    assert read_commit(tmp_path / "out").analysis.stopwords == ("nowhere", "pine")


def test_a_driver_that_died_before_its_plan_was_written(given: dict[str, Any], tmp_path: Path) -> None:
    """Leaves empty folders, which are no one else's things."""
    (tmp_path / "out" / ".unfinished" / "0123456789abcdef" / "map").mkdir(parents=True)
    built(given, tmp_path / "out", 2)
    assert not (tmp_path / "out" / ".unfinished").exists()


def test_a_folder_of_others_is_left_alone(given: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("dear")
    with pytest.raises(StorageError, match="other things"):
        built(given, tmp_path / "out", 2)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["letter.txt"]


def test_faults_can_stop_it(given: dict[str, Any], tmp_path: Path) -> None:
    """The first one is told with file and line, and nothing is left behind."""
    how = dataclasses.replace(HOW, on_error="fail")
    with pytest.raises(CorpusError, match=r"part-0\.jsonl:\d+: .*--on-error skip"):
        built(given, tmp_path / "out", 2, build=how)
    assert not (tmp_path / "out").exists()


def test_a_disk_that_fails_is_told_and_nothing_is_lost(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, and buckets that cannot be read: an error of the storage, not of the corpus, which says what it
    speaks of; the same command then goes on."""

    def full(_self: Any, files: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def unreadable(_self: Any, name: str) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", name)

    whole = built(given, tmp_path / "whole", 2)
    for method, fails, said in (("put", full, "No space left"), ("open", unreadable, r"buckets: Permission denied")):
        with monkeypatch.context() as patch:
            patch.setattr(LocalFolder, method, fails)
            with pytest.raises(ClusterError, match=said):
                built(given, tmp_path / "out", 2)
        assert (tmp_path / "out" / ".unfinished" / "job.json").exists()
        assert not list((tmp_path / "out").rglob("work-*"))
    report = built(given, tmp_path / "out", 2)
    assert report.resumed > 10
    assert report.built.faults.examples == whole.built.faults.examples
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "too little memory; pass less --memory"),
        (type("ClientError", (Exception,), {})("slow\ndown"), r"out: ClientError: slow down"),
        (OSError(errno.EIO, "Input/output error", "/far/file"), "/far/file: Input/output error"),
    ],
)
def test_what_a_node_or_a_storage_raises_is_in_words(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    """With the name of the task; a fault of the program is not taken for one of these."""
    from fader.cluster.build import tasks

    def fails(*_given: Any) -> None:
        raise error

    monkeypatch.setattr(tasks, "_split", fails)
    with pytest.raises(ClusterError, match=rf'^".*part-0\.jsonl.*{said}'):
        built(given, tmp_path / "out", 2)
    error = KeyError("ours")
    with pytest.raises(KeyError):
        built(given, tmp_path / "out", 2)


def test_a_node_with_another_fader_is_refused(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fader.cluster.jobs import task

    monkeypatch.setattr(task, "__version__", "0.0.1")
    with pytest.raises(ClusterError, match=r"this node has Fader 0\.0\.1.*install the same on all nodes"):
        built(given, tmp_path / "out", 2)


def test_a_corpus_that_grows_meanwhile_is_refused(given: dict[str, Any], tmp_path: Path) -> None:
    """What is indexed would else depend on who reads first."""
    growing = tmp_path / "growing.jsonl"
    growing.write_bytes(Path(given["corpus"][0]).read_bytes())

    class Grows:
        def run(self, work: Any, items: Any, take: Any) -> None:
            with open(growing, "ab") as file:
                file.write(b'\n{"id": "late", "text": "late"}')
            InProcess().run(work, items, take)

    with pytest.raises(InputError, match=r"growing\.jsonl: has changed"):
        built(given | {"corpus": [str(growing)]}, tmp_path / "out", 2, Grows())


def test_a_file_that_a_node_does_not_see_is_no_fault_of_the_input(given: dict[str, Any], tmp_path: Path) -> None:
    """What was finished is kept for when its storage is back."""
    types = Path(shutil.copy(given["types"], tmp_path))

    class Unseen:
        def run(self, work: Any, items: Any, take: Any) -> None:
            types.rename(tmp_path / "away")
            try:
                InProcess().run(work, items, take)
            finally:
                (tmp_path / "away").rename(types)

    with pytest.raises(ClusterError, match=r"^catalog .*types\.tsv: No such file"):
        built(given | {"types": str(types)}, tmp_path / "out", 1, Unseen())
    assert (tmp_path / "out" / ".unfinished" / "job.json").exists()
    built(given | {"types": str(types)}, tmp_path / "out", 1)


def _kept(out: Path) -> int:
    """How many pieces an unfinished build has done."""
    return len(list(out.glob(".unfinished/*/map/*.part")))


def test_a_corpus_that_a_node_loses_sight_of_is_no_fault_of_the_input(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is one that cannot be looked at again when it has been read: what was finished is kept, and used."""
    from fader.cluster import storage

    seen = storage._describe
    failures = [FileNotFoundError(errno.ENOENT, "No such file"), type("ClientError", (Exception,), {})("slow down")]

    def unseen(path: str) -> Any:
        if _kept(tmp_path / "out") >= 3:
            raise failures[0]
        return seen(path)

    while failures:
        with monkeypatch.context() as patch:
            patch.setattr(storage, "_describe", unseen)
            patch.setattr("fader.cluster.build.driver.describe_file", seen)
            with pytest.raises(
                ClusterError, match=r"part-0\.jsonl.*part-0\.jsonl: (No such file|ClientError: slow down)"
            ):
                built(given, tmp_path / "out", 2)
        assert _kept(tmp_path / "out") == 3
        failures.pop(0)
    assert built(given, tmp_path / "out", 2).resumed >= 3


def test_a_catalog_that_cannot_be_read_for_once_is_no_fault_of_the_input(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the file as it was given, and the journal stays."""
    from fader.corpus import readers

    class Fails:
        def __init__(self, *_given: Any) -> None:
            raise OSError(errno.EIO, "Input/output error")

    def corrupted(raw: Any) -> Any:
        return Fails() if raw.name == given["types"] else whole(raw)

    whole = readers._Decompressed
    monkeypatch.setattr(readers, "_Decompressed", corrupted)
    with pytest.raises(ClusterError, match=r"^catalog .*types\.tsv: Input/output error"):
        built(given, tmp_path / "out", 1)
    assert (tmp_path / "out" / ".unfinished" / "job.json").exists()


def test_a_node_without_a_storages_package_is_no_fault_of_the_call(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command itself could reach it."""
    from fader.cluster.build import tasks

    def lacks(*_given: Any) -> None:
        raise UsageError("s3://bucket: cannot be reached: install s3fs")

    monkeypatch.setattr(tasks, "_split", lacks)
    with pytest.raises(ClusterError, match=r"a node cannot .*install s3fs"):
        built(given, tmp_path / "out", 2)
    assert (tmp_path / "out" / ".unfinished" / "job.json").exists()


def test_a_fault_of_the_corpus_is_not_told_as_one_of_the_index(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where the storage does not say what it failed at."""
    from fader.cluster.build import pieces

    def fails(_path: str) -> None:
        raise type("ClientError", (Exception,), {})("slow down")

    monkeypatch.setattr(pieces, "open_source", fails)
    with pytest.raises(StorageError, match=r"part-[0-9]\.jsonl(\.gz)?: cannot be read.*slow down"):
        built(given, tmp_path / "out", 2)
    with pytest.raises(ClusterError, match=r"part-0\.jsonl: ClientError: slow down"):
        built(given, tmp_path / "other", 1, piece_bytes=1 << 30)


def test_jobs_say_what_they_take_and_hold_little(given: dict[str, Any], tmp_path: Path) -> None:
    """Each the memory that docs/cluster.md tells; a shard's task, and where its blocks lie, is made when sent."""
    tasks: list[Task] = []
    steps: list[Any] = []

    class Looks:
        def run(self, work: Any, items: Any, take: Any) -> None:
            def looked() -> Any:
                for task in items:
                    tasks.append(task)
                    yield task

            steps.append(items)
            InProcess().run(work, looked(), take)

    built(given, tmp_path / "out", 2, Looks(), run_bytes=64 << 20)
    memory = {type(task).__name__: task.memory >> 20 for task in tasks}
    assert memory == {"SampleIds": 356, "SplitPiece": 356, "MakeCatalog": 100, "BuildShard": 356 + HOW.memory_mb}
    assert all(iter(step) is step for step in steps)
    assert [task.name for task in tasks[-2:]] == ["shard 0 of 2", "shard 1 of 2"]


def test_wrong_input_is_said_and_leaves_nothing(given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        built(given | {"corpus": ["gone.jsonl"]}, tmp_path / "out", 2)
    with pytest.raises(UsageError, match="standard input"):
        built(given | {"corpus": ["-"]}, tmp_path / "out", 2)
    with pytest.raises(UsageError, match="shards"):
        built(given, tmp_path / "out", 0)
    (tmp_path / "bad.tsv").write_text("one\tOne\tno_such_type\t\n")
    with pytest.raises(CatalogError, match=r"bad\.tsv:1"):
        built(given | {"entities": str(tmp_path / "bad.tsv")}, tmp_path / "out", 2)
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(Path(given["corpus"][1]).read_bytes()[:-20])
    with pytest.raises(InputError, match=r"cut\.jsonl\.gz: damaged or cut short after line"):
        built(given | {"corpus": [str(cut)]}, tmp_path / "out", 2)
    assert not (tmp_path / "out").exists()

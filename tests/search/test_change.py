"""An index changed from Python: what each call gives back, snapshots, older commits, and what is kept of results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fader
from fader.errors import InputError, NotAnIndexError, StorageError, UsageError
from fader.experiment.compare import compare
from fader.index import commit
from fader.index.write import change
from fader.index.write.change import ChangeReport
from fader.search.models import collection_of, contents_of

ENTITIES = [{"id": name, "name": name, "types": ["t"]} for name in ("A", "B")]
JUDGED = (
    [{"id": name, "query": "word", "type": "t"} for name in ("p", "q")],
    {name: {"A": 1, "B": 0} for name in ("p", "q")},
)


def document(name: str, text: str = "word and more", entity: str = "A") -> dict[str, Any]:
    text = f"{entity} {text}"
    return {"id": name, "text": text, "mentions": [{"start": 0, "end": 1, "entity": entity}]}


@pytest.fixture
def index(tmp_path: Path) -> fader.Index:
    corpus = [document(f"d{i}", entity="AB"[i % 2]) for i in range(10)]
    return fader.build(tmp_path / "index", corpus=corpus, entities=ENTITIES, types=[{"id": "t", "name": "t"}])


def found(index: fader.Index) -> list[tuple[str, int]]:
    ranked = index.rank("word", type="t", model="count")
    return list(zip(ranked.entities, ranked.support, strict=True))


def test_adding_gives_the_index_at_its_commit(index: fader.Index, tmp_path: Path) -> None:
    """With what was done; the index that was open before has not changed."""
    more = fader.add(tmp_path / "index", [document("d0", "other", "B"), document("d10"), {"id": "no text"}])
    assert isinstance(more.report, ChangeReport)
    report = more.report
    assert (more.commit, report.added, report.replaced, report.faults.total) == (2, 2, 1, 1)
    assert (found(more), more.collection.documents) == ([("B", 5), ("A", 5)], 11)
    assert (index.commit, found(index), index.collection.documents) == (1, [("B", 5), ("A", 5)], 10)
    with pytest.raises(InputError, match='needs a "text"'):
        fader.add(tmp_path / "index", [{"id": "no text"}], on_error="fail")
    assert fader.open(tmp_path / "index").commit == 2


def test_deleting_and_merging(index: fader.Index, tmp_path: Path) -> None:
    """One id may be given as a text; what was not there is listed."""
    fewer = fader.delete(tmp_path / "index", ["d1", "d3", "nobody"], merge=False)
    assert isinstance(fewer.report, ChangeReport)
    assert (fewer.commit, fewer.report.deleted, fewer.report.missing) == (2, 2, ["nobody"])
    assert found(fewer) == [("A", 5), ("B", 3)]
    assert found(fader.delete(tmp_path / "index", "d5", merge=False)) == [("A", 5), ("B", 2)]
    merged = fader.merge(tmp_path / "index", keep=1)
    assert isinstance(merged.report, ChangeReport)
    assert (merged.commit, merged.report.merged, found(merged)) == (4, 1, [("A", 5), ("B", 2)])
    with pytest.raises(StorageError, match="has no commit 3, or no longer; there is commit 4"):
        fader.open(tmp_path / "index", at=3)


def test_an_index_is_refreshed(index: fader.Index, tmp_path: Path) -> None:
    """To the newest commit, and it is itself where nothing has changed."""
    assert index.refresh() is index
    index.report = None
    fader.delete(tmp_path / "index", ["d1"])
    newer = index.refresh()
    assert (index.commit, newer.commit, newer.report) == (1, 2, None)
    assert (found(index), found(newer)) == ([("B", 5), ("A", 5)], [("A", 5), ("B", 4)])
    assert newer.refresh() is newer
    old = fader.open(tmp_path / "index", at=1)
    assert (old.commit, found(old), old.refresh().commit) == (1, found(index), 2)


def test_a_snapshot_outlives_its_files(index: fader.Index, tmp_path: Path) -> None:
    """Queries in it go on while writers remove what it was opened from."""
    before = found(index)
    for i in range(5):
        fader.add(tmp_path / "index", [document(f"n{i}")], keep=1)
    fader.merge(tmp_path / "index")
    assert not (tmp_path / "index" / "commit-00000001.json").exists()
    assert not list((tmp_path / "index").glob("00000001-*"))
    assert found(index) == before
    assert index.search("word", type="t").results[0].evidence[0].snippet


def test_a_refreshed_index_that_is_gone_is_told(index: fader.Index, tmp_path: Path) -> None:
    """The folder was moved away."""
    (tmp_path / "index").rename(tmp_path / "moved")
    with pytest.raises(NotAnIndexError, match="no such folder"):
        index.refresh()
    assert found(index) == [("B", 5), ("A", 5)]


def test_ids_are_texts_or_numbers(index: fader.Index, tmp_path: Path) -> None:
    """As in a corpus; anything else is refused."""
    fader.add(tmp_path / "index", [{"id": 7, "text": "seven"}, {"id": "8", "text": "eight"}, {"id": 9, "text": "nine"}])
    for given in (7, [8, "9"]):
        fewer = fader.delete(tmp_path / "index", given)
        assert isinstance(fewer.report, ChangeReport)
        assert fewer.report.missing == []
    assert fewer.collection.documents == 10
    with pytest.raises(UsageError, match="a text or a whole number, not"):
        fader.delete(tmp_path / "index", ["d1", None])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="ids must be ids of documents"):
        fader.delete(tmp_path / "index", None)  # type: ignore[arg-type]
    assert fader.open(tmp_path / "index").commit == fewer.commit


def test_limits_hold_for_what_is_added(index: fader.Index, tmp_path: Path) -> None:
    """And stay with the index that is opened, also when it is refreshed."""
    limits = fader.Limits(document_characters=20, k=3)
    more = fader.add(tmp_path / "index", [document("long", "word " * 20), document("short")], limits=limits)
    assert isinstance(more.report, ChangeReport)
    assert (more.report.added, more.report.faults.total, more.limits) == (1, 1, limits)
    fader.delete(tmp_path / "index", ["short"])
    assert more.refresh().limits == limits


@pytest.mark.parametrize("keep", [0, -1])
def test_at_least_one_commit_is_kept(index: fader.Index, tmp_path: Path, keep: int) -> None:
    """The newest one is the index."""
    with pytest.raises(UsageError, match="keep must be at least 1"):
        fader.merge(tmp_path / "index", keep=keep)


def test_commits_share_their_origin(index: fader.Index, tmp_path: Path) -> None:
    """And have counts of their own; another index has another origin."""
    more = fader.add(tmp_path / "index", [document("d10")])
    first, second = collection_of(index.collection), collection_of(more.collection)
    assert first.origin == second.origin != ""
    assert (first.documents, second.documents) == (10, 11)
    assert first.matches(second)
    other = fader.build(
        tmp_path / "other", corpus=[document("d1")], entities=ENTITIES, types=[{"id": "t", "name": "t"}]
    )
    assert not first.matches(collection_of(other.collection))


def test_contents_are_told_apart_where_counts_are_equal(index: fader.Index, tmp_path: Path) -> None:
    """Results that were kept for an index are not taken for what has become of it."""
    changed = fader.add(tmp_path / "index", [document("d1", "word and mere", "A")])
    assert collection_of(changed.collection) == collection_of(index.collection)
    assert contents_of(changed.collection) != contents_of(index.collection)
    assert contents_of(fader.open(tmp_path / "index", at=1).collection) == contents_of(index.collection)
    for i, opened in enumerate((index, changed, index), 1):
        compare(opened, *JUDGED, ["count"], cv=2, keep=tmp_path / "kept")
        assert len(list((tmp_path / "kept").iterdir())) == min(i, 2)


@pytest.mark.parametrize("given", [1 << 40, 3.0, True, "2"])
def test_no_commit_is_made_that_could_not_be_read(index: fader.Index, tmp_path: Path, given: Any) -> None:
    """A number of commits to keep that no manifest can hold is refused, and the index answers as before."""
    with pytest.raises(UsageError, match="keep must be a whole number from 1 to"):
        fader.merge(tmp_path / "index", keep=given)
    with pytest.raises(UsageError, match="keep must be a whole number from 1 to"):
        fader.build(tmp_path / "other", corpus=[], entities=ENTITIES, types=[{"id": "t"}], keep=given)
    assert fader.open(tmp_path / "index").commit == 1
    assert not (tmp_path / "other").exists()


def test_a_commit_that_goes_while_it_is_opened_is_not_damage(
    index: fader.Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the folder and the reading of a manifest another writer removes it: the next one is read."""
    folder, look = tmp_path / "index", commit.commit_numbers
    numbers = [look(folder)]
    fader.add(folder, [document("new")], keep=1)
    monkeypatch.setattr(commit, "commit_numbers", lambda folder: numbers.pop() if numbers else look(folder))
    assert fader.open(folder).commit == 2


def test_a_change_that_changes_nothing_still_clears_up(
    index: fader.Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commits and files that a writer left when it was stopped after its commit go with the next writer."""
    folder = tmp_path / "index"
    with monkeypatch.context() as stopped:
        stopped.setattr("fader.index.write.change.remove_unneeded", lambda *_: None)
        fader.delete(folder, ["d1"], keep=1)
    assert commit.commit_numbers(folder) == [1, 2]
    fader.delete(folder, ["not there"])
    assert commit.commit_numbers(folder) == [2]


def test_an_index_that_others_write_opens_at_the_newest_commit(
    index: fader.Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change was made, so it does not fail because a later one has removed its commit."""
    folder, add = tmp_path / "index", change.add

    def followed(*given: Any) -> ChangeReport:
        report = add(*given)
        change.delete(folder, ["d3"], change.ChangeOptions(keep=1))
        return report

    monkeypatch.setattr(change, "add", followed)
    opened = fader.add(folder, [document("new")], keep=1)
    assert (opened.commit, opened.collection.find_document("new") >= 0) == (3, True)
    assert isinstance(opened.report, ChangeReport)
    assert opened.report.added == 1


@pytest.mark.parametrize("ids", [b"12", True, [10**5000], [b"d1"], [None]])
def test_what_is_no_id_is_refused(index: fader.Index, tmp_path: Path, ids: Any) -> None:
    """Bytes are no list of numbers, and truth is no id."""
    with pytest.raises(UsageError):
        fader.delete(tmp_path / "index", ids)
    assert fader.open(tmp_path / "index").collection.documents == 10

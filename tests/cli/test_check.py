"""`fader info` and `fader check`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli.running import fader, passed, refused
from fader.search.change import delete as fader_delete
from fader.search.index import build as fader_build

PARTS = ("terms", "mentions", "documents", "text", "catalog", "json")


@pytest.fixture
def copy(index: Path, tmp_path: Path) -> Path:
    """A copy of the demo index that a test may damage."""
    return Path(shutil.copytree(index, tmp_path / "index"))


def test_info_counts(index: Path, demo: Path) -> None:
    info = passed("info", index, "--json").json
    with open(demo / "corpus.jsonl", encoding="utf-8") as file:
        assert info["documents"] == sum(1 for _line in file)
    with open(demo / "entities.tsv", encoding="utf-8") as file:
        assert info["entities"] == sum(1 for _line in file)
    assert info["bytes"] == sum(p.stat().st_size for p in index.iterdir())
    assert info["bytes"] == sum(info["bytes_by_part"].values())
    assert info["average_length"] == round(info["tokens"] / info["documents"], 2)
    assert (info["stemmer"], info["stop_words"], info["segments"]) == ("none", 0, 1)


def test_info_for_people(index: Path) -> None:
    out = passed("info", index).out
    assert "documents          2," in out
    assert "stemmer            none" in out


def test_a_whole_index_passes(index: Path) -> None:
    assert "whole" in passed("check", index).err
    assert passed("check", index, "--quiet").err == ""
    report = passed("check", index, "--json").json
    assert report == {
        "index": str(index), "whole": True, "files": 5, "problems": [], "debris": [],
        "commits": [{"commit": 1, "whole": True, "problems": []}],
    }  # fmt: skip


def _damage(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "flip":
        data[len(data) // 3] ^= 1
    elif how == "cut":
        del data[-1:]
    elif how == "extend":
        data += b"\0"
    path.unlink()
    if how != "remove":
        path.write_bytes(bytes(data))


@pytest.mark.parametrize("how", ["flip", "cut", "extend", "remove"])
@pytest.mark.parametrize("part", PARTS)
def test_damage_is_found_and_the_file_named(copy: Path, part: str, how: str) -> None:
    """One flipped bit, a byte less, a byte more, or no file: exit code 1, and the file's name in the message."""
    (path,) = copy.glob(f"*.{part}")
    _damage(path, how)
    outcome = fader("check", copy)
    assert outcome.code == 1
    named = copy.name if (part, how) == ("json", "remove") else path.name
    assert named in outcome.err
    report = fader("check", copy, "--json")
    assert report.code == 1
    assert not report.json["whole"]
    assert any(named in problem for problem in report.json["problems"])


def test_debris_is_told_and_is_no_damage(copy: Path) -> None:
    """Files that no commit names: a remark, a list for programs, and exit code 0."""
    (copy / "pending-00000002").write_text("half")
    assert "named by no commit" in passed("check", copy).err
    assert passed("check", copy, "--json").json["debris"] == ["pending-00000002"]
    assert passed("check", copy, "--quiet").err == ""


@pytest.fixture
def two_commits(tmp_path: Path) -> Path:
    """An index of three documents, then of two."""
    folder = tmp_path / "two"
    documents = [{"id": f"d{i}", "text": f"some text {i}"} for i in range(3)]
    fader_build(folder, documents, entities=[{"id": "E"}], types=[{"id": "T"}])
    fader_delete(folder, ["d1"], merge=False)
    return folder


def test_repair_says_what_is_lost(two_commits: Path) -> None:
    """`check` names the whole commit and the way out; `--repair` takes it, and then all is well."""
    _damage(two_commits / "00000002-0.deleted", "flip")
    told = refused(1, "check", two_commits)
    assert "00000002-0.deleted" in told
    assert "commit 1 is whole" in told
    assert "--repair" in told
    repaired = passed("check", two_commits, "--repair")
    assert "commit 2, delete (1 deleted), is lost; it had 1 document fewer than what is left" in repaired.out
    assert "00000002-0.deleted" in repaired.out
    assert "commit 1 is whole and is the index: 3 documents" in repaired.err
    assert passed("check", two_commits, "--quiet").err == ""
    assert passed("info", two_commits, "--json").json["documents"] == 3
    again = passed("check", two_commits, "--repair")
    assert again.out == ""
    assert "nothing had to be removed" in again.err


def test_repair_for_programs(two_commits: Path) -> None:
    _damage(two_commits / "commit-00000002.json", "flip")
    report = passed("check", two_commits, "--repair", "--json").json
    assert (report["commit"], report["documents"]) == (1, 3)
    assert [lost["commit"] for lost in report["lost"]] == [2]
    assert "commit-00000002.json" in report["removed"]


def test_repair_refuses_what_it_cannot_mend(two_commits: Path, tmp_path: Path) -> None:
    """Where no commit is whole, and where there is no index: exit code 1, and nothing is changed."""
    _damage(two_commits / "00000001.catalog", "cut")
    before = {path.name for path in two_commits.iterdir()}
    assert "nothing was changed" in refused(1, "check", two_commits, "--repair")
    assert {path.name for path in two_commits.iterdir()} == before
    assert "no such folder" in refused(1, "check", tmp_path / "none", "--repair")


def test_search_can_verify_first(copy: Path) -> None:
    """Without `--verify` a flipped bit may pass unseen; with it the file is named."""
    (path,) = copy.glob("*.text")
    _damage(path, "flip")
    assert path.name in refused(1, "search", copy, "violin", "--verify")


@pytest.mark.parametrize("command", [["info"], ["check"], ["types"], ["entities"], ["search", "x"]])
def test_a_folder_that_is_no_index_is_told(tmp_path: Path, command: list[str]) -> None:
    name, *rest = command
    assert "no such folder; build an index" in fader(name, tmp_path / "none", *rest).err
    assert "not a Fader index" in fader(name, tmp_path, *rest).err
    assert fader(name, tmp_path, *rest).code == 1

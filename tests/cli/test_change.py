"""`fader add`, `fader delete`, `fader merge`, the commits that `fader info` lists, and `--at`."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import zstandard

from cli.running import fader, passed, refused
from fader.index.lock import lock_for_writing

LINES = 120
QUERY = ("played made the", "--type", "person", "-k", "50", "--json")


@pytest.fixture(scope="session")
def lines(demo: Path) -> list[str]:
    """The first documents of the demo: enough to ask, quick to index."""
    with open(demo / "corpus.jsonl", encoding="utf-8") as file:
        return [next(file) for _ in range(LINES)]


@pytest.fixture(scope="session")
def ids(lines: list[str]) -> list[str]:
    return [json.loads(line)["id"] for line in lines]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, lines: list[str], catalog: list[str]) -> Path:
    """An index of the first hundred; tests must not change it."""
    place = tmp_path_factory.mktemp("change")
    write(place / "corpus.jsonl", lines[:100])
    passed("index", place / "corpus.jsonl", *catalog, "-o", place / "index", "--quiet")
    return place / "index"


@pytest.fixture
def living(built: Path, tmp_path: Path) -> Path:
    """A copy of it to be changed."""
    return Path(shutil.copytree(built, tmp_path / "living"))


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(lines), encoding="utf-8")
    return path


def answers(index: Path, *more: str) -> list[tuple[str, float, int]]:
    """The ranking of one query."""
    found = passed("search", index, *QUERY, *more).json
    return [(r["entity"], r["score"], r["support"]) for r in found["results"]]


def fresh(tmp_path: Path, lines: list[str], catalog: list[str]) -> Path:
    corpus = write(tmp_path / "fresh.jsonl", lines)
    passed("index", corpus, *catalog, "-o", tmp_path / "fresh", "--quiet", "--overwrite")
    return tmp_path / "fresh"


def change(*arguments: str | Path, stdin: bytes = b"") -> dict[str, Any]:
    found: dict[str, Any] = passed(*arguments, "--json", stdin=stdin).json
    return found


def test_documents_are_added_and_replaced(
    living: Path, tmp_path: Path, lines: list[str], ids: list[str], catalog: list[str]
) -> None:
    """The report counts both; answers are those of a fresh build of the documents that are left."""
    changed = [json.dumps({"id": i, "text": "Nothing that was made here."}) + "\n" for i in ids[:3]]
    report = change("add", living, write(tmp_path / "more.jsonl", [*changed, *lines[100:]]))
    assert {k: report[k] for k in ("commit", "added", "replaced", "deleted", "missing", "documents")} == {
        "commit": 2, "added": 23, "replaced": 3, "deleted": 0, "missing": [], "documents": 120,
    }  # fmt: skip
    assert report["index"] == str(living)
    assert answers(living) == answers(fresh(tmp_path, [*lines[3:], *changed], catalog))
    passed("check", living)


def test_documents_are_deleted(
    living: Path, tmp_path: Path, lines: list[str], ids: list[str], catalog: list[str]
) -> None:
    """By a file and on the command line; ids of no document, and ids given twice, do no harm."""
    gone = write(tmp_path / "gone.txt", [f"{i}\n" for i in [*ids[10:30], "", "nobody", ids[10]]])
    report = change("delete", living, "--ids", gone, "--id", ids[40], "--id", "nor I")
    assert (report["commit"], report["deleted"], report["documents"]) == (2, 21, 79)
    assert sorted(report["missing"]) == ["nobody", "nor I"]
    left = [line for i, line in enumerate(lines[:100]) if not 10 <= i < 30 and i != 40]
    assert answers(living) == answers(fresh(tmp_path, left, catalog))
    passed("check", living)


def test_every_kind_of_file_is_read(living: Path, tmp_path: Path, lines: list[str], ids: list[str]) -> None:
    """Plain, gzip, zstandard and standard input, of documents and of ids."""
    text = "".join(lines[100:]).encode()
    (tmp_path / "c.gz").write_bytes(gzip.compress(text))
    (tmp_path / "c.zst").write_bytes(zstandard.ZstdCompressor().compress(text))
    added = "\r\n".join(ids[100:]).encode()
    (tmp_path / "i.gz").write_bytes(gzip.compress(added))
    (tmp_path / "i.zst").write_bytes(zstandard.ZstdCompressor().compress(added))
    for corpus, gone in (("c.gz", "i.gz"), ("c.zst", "i.zst")):
        assert change("add", living, tmp_path / corpus)["added"] == 20
        assert change("delete", living, "--ids", tmp_path / gone)["deleted"] == 20
    assert change("add", living, "-", stdin=text)["added"] == 20
    report = change("delete", living, "--ids", "-", stdin=added)
    assert (report["deleted"], report["documents"], report["commit"]) == (20, 100, 7)


def test_merging_leaves_one_segment_and_the_same_answers(living: Path, tmp_path: Path, lines: list[str]) -> None:
    """Nothing of what is deleted is left; a second merge has nothing to do and makes no commit."""
    change("add", living, write(tmp_path / "a.jsonl", lines[100:110]), "--no-merge")
    change("add", living, write(tmp_path / "b.jsonl", lines[90:120]), "--no-merge")
    before, info = answers(living), passed("info", living, "--json").json
    assert (info["segments"], info["deleted"]["documents"]) == (3, 20)
    report = change("merge", living)
    assert (report["commit"], report["merged"], report["segments"], report["documents"]) == (4, 3, 1, 120)
    assert answers(living) == before
    assert passed("info", living, "--json").json["deleted"] == {"documents": 0, "tokens": 0, "mentions": 0}
    again = change("merge", living)
    assert (again["commit"], again["merged"]) == (4, 0)
    passed("check", living)


def test_nothing_to_do_is_no_commit(living: Path, tmp_path: Path) -> None:
    """An empty corpus, which is no success; ids of no document."""
    before = sorted(p.name for p in living.iterdir())
    assert "no document was added" in refused(1, "add", living, write(tmp_path / "empty.jsonl", []))
    assert change("delete", living, "--id", "nobody")["commit"] == 1
    said = passed("delete", living, "--id", "nobody").err
    assert 'not found: 1 id\n  "nobody"\n' in said
    assert "no document was changed; commit 1: 100 documents in 1 segment" in said
    assert sorted(p.name for p in living.iterdir()) == before


def test_what_is_said_to_people(living: Path, tmp_path: Path, lines: list[str], ids: list[str]) -> None:
    """One line on standard error, with faults and their examples before it; nothing when quiet."""
    more = write(tmp_path / "more.jsonl", [lines[0], *lines[100:104], '{"id": "x"}\n', lines[0]])
    outcome = passed("add", living, more)
    assert outcome.out == ""
    assert f'  {more}:6: document "x" needs a "text"' in outcome.err
    assert f'{more}:7: duplicate document id "{ids[0]}"' in outcome.err
    assert f"{living}: 5 added (1 in place of older ones)" in outcome.err
    assert "commit 2: 104 documents in " in outcome.err
    gone = write(tmp_path / "gone.txt", [*(f"nobody{i}\n" for i in range(8)), f"{ids[0]}\n"])
    said = passed("delete", living, "--ids", gone).err
    assert "not found: 8 ids\n" in said
    assert '  "nobody4"\n  and 3 more\n' in said
    assert "1 deleted" in said
    for command in (["add", living, more], ["delete", living, "--id", ids[7]], ["merge", living]):
        quiet = passed(*command, "--quiet")
        assert (quiet.out, quiet.err) == ("", "")
    assert passed("info", living, "--json").json["documents"] == 103


def test_a_fault_stops_an_add_that_is_to_fail(living: Path, tmp_path: Path, lines: list[str]) -> None:
    """Nothing is changed, and no file is left behind."""
    more = write(tmp_path / "more.jsonl", [*lines[100:], "{not json\n"])
    before = sorted(p.name for p in living.iterdir())
    assert f"{more}:21: not JSON" in refused(1, "add", living, more, "--on-error", "fail")
    assert sorted(p.name for p in living.iterdir()) == before
    report = change("add", living, more)
    assert (report["added"], report["skipped"]) == (20, {"lines": 1})


def test_limits_are_faults(living: Path, tmp_path: Path, lines: list[str]) -> None:
    """As in a build."""
    more = write(tmp_path / "more.jsonl", ['{"id": "short", "text": "short"}\n', *lines[100:]])
    outcome = passed("add", living, more, "--max-document-chars", "10", "--json")
    assert (outcome.json["added"], outcome.json["documents"]) == (1, 101)
    assert "--max-document-chars" in outcome.err


def test_mentions_of_entities_that_the_index_has_not_are_skipped(living: Path, tmp_path: Path) -> None:
    """The catalog is that of the build."""
    line = {"id": "new", "text": "Somebody new", "mentions": [{"start": 0, "end": 8, "entity": "Somebody"}]}
    outcome = passed("add", living, write(tmp_path / "new.jsonl", [json.dumps(line)]), "--json")
    assert outcome.json["added"] == 1
    assert 'names "Somebody", not in the catalog' in outcome.err


def test_commits_are_kept_listed_and_read(living: Path, tmp_path: Path, lines: list[str], ids: list[str]) -> None:
    """Two at first, and as many as asked for from then on; an older one answers as it did when it was the newest."""
    then = {1: answers(living)}
    more = write(tmp_path / "more.jsonl", lines[100:])
    for number, command in enumerate((["add", living, more], ["delete", living, "--id", ids[3]]), 2):
        passed(*command, "--quiet")
        then[number] = answers(living)
    assert [c["commit"] for c in passed("info", living, "--json").json["commits"]] == [2, 3]
    passed("delete", living, "--id", ids[5], "--keep", "3", "--quiet")
    passed("delete", living, "--id", ids[6], "--quiet")
    info = passed("info", living, "--json").json
    assert (info["commit"], info["commits_kept"]) == (5, 3)
    told = [(c["commit"], c["operation"]["name"], c["documents"]) for c in info["commits"]]
    assert told == [(3, "delete", 119), (4, "delete", 118), (5, "delete", 117)]
    assert answers(living, "--at", "3") == then[3] != answers(living)
    assert passed("info", living, "--at", "3", "--json").json["documents"] == 119
    shown = passed("info", living).out.splitlines()
    assert any(line.startswith("deleted            documents ") for line in shown)
    assert all("UTC  delete: 11" in line for line in shown[-3:])
    passed("merge", living, "--keep", "1", "--quiet")
    assert [c["commit"] for c in passed("info", living, "--json").json["commits"]] == [6]


def test_a_damaged_older_commit_is_shown_as_such(living: Path, ids: list[str]) -> None:
    """The newest one is not disturbed by it."""
    passed("delete", living, "--id", ids[3], "--quiet")
    (living / "commit-00000001.json").write_text("damaged")
    info = passed("info", living, "--json").json
    assert info["documents"] == 99
    assert "commit-00000001.json: the manifest is damaged" in info["commits"][0]["problem"]
    assert "1  cannot be read: " in passed("info", living).out


@pytest.mark.parametrize(
    "command",
    [
        ["info"], ["search", "played"], ["types"], ["entities"],
        ["batch", "--queries", "Q", "--run", "-"], ["contexts", "--queries", "Q", "-o", "OUT"],
        ["train", "--queries", "Q", "--qrels", "R", "-o", "OUT"],
        ["compare", "--queries", "Q", "--qrels", "R", "--systems", "count", "-o", "OUT"],
    ],
    ids=lambda command: command[0],
)  # fmt: skip
def test_every_reader_reads_the_commit_it_is_told(built: Path, demo: Path, tmp_path: Path, command: list[str]) -> None:
    """One that is not there is refused, and those that are there are named."""
    place = {"Q": demo / "queries.jsonl", "R": demo / "qrels.txt", "OUT": tmp_path / "out"}
    name, *rest = command
    arguments = [str(place.get(word, word)) for word in rest]
    outcome = fader(name, built, *arguments, "--at", "7")
    assert outcome.code == 1
    assert f"{built}: has no commit 7, or no longer; there is commit 1" in outcome.err
    assert not (tmp_path / "out").exists()
    if name in ("info", "types", "entities"):
        assert passed(name, built, *arguments, "--at", "1").out == passed(name, built, *arguments).out


def test_batch_reads_an_older_commit(living: Path, demo: Path, tmp_path: Path, ids: list[str]) -> None:
    """Its run is that of the time."""
    options = ["--queries", demo / "queries.jsonl", "--system", "count", "--quiet", "--run"]
    passed("batch", living, *options, tmp_path / "then.run")
    passed("delete", living, "--quiet", *(word for i in ids[:50] for word in ("--id", i)))
    passed("batch", living, *options, tmp_path / "now.run")
    passed("batch", living, *options, tmp_path / "at.run", "--at", "1")
    then, now, at = ((tmp_path / f"{name}.run").read_text() for name in ("then", "now", "at"))
    assert at == then != now


def test_wrong_usage(living: Path, tmp_path: Path) -> None:
    """No ids, no corpus, no number of commits."""
    assert "no ids are given; pass --ids FILE or --id ID" in refused(2, "delete", living)
    assert "nothing is given to add; pass CORPUS files" in refused(2, "add", living)
    for command in (["add", living, "x"], ["delete", living, "--id", "x"], ["merge", living]):
        assert "--keep" in refused(2, *command, "--keep", "0")
    assert "memory" in refused(2, "add", living, living / "commit-00000001.json", "--memory", "1")


def test_what_cannot_be_changed_is_told(living: Path, tmp_path: Path) -> None:
    """A folder that is no index stays as it is; a file that is not there is named."""
    (tmp_path / "empty").mkdir()
    for command in (["add", "{}", "{}/x.jsonl"], ["delete", "{}", "--id", "x"], ["merge", "{}"]):
        name, *rest = command
        (tmp_path / "empty" / "x.jsonl").touch()
        for place, message in ((tmp_path / "none", "no such folder"), (tmp_path / "empty", "not a Fader index")):
            said = refused(
                1, name, *(word.format(place if i == 0 else tmp_path / "empty") for i, word in enumerate(rest))
            )
            assert message in said
    assert [p.name for p in (tmp_path / "empty").iterdir()] == ["x.jsonl"]
    assert not (tmp_path / "none").exists()
    assert "nothere.jsonl: no such file" in refused(1, "add", living, tmp_path / "nothere.jsonl")
    assert "nothere.txt: no such file" in refused(1, "delete", living, "--ids", tmp_path / "nothere.txt")


def test_a_second_writer_is_refused(living: Path, tmp_path: Path, lines: list[str], ids: list[str]) -> None:
    """It is told so, and readers are not disturbed."""
    more = write(tmp_path / "more.jsonl", lines[100:])
    with lock_for_writing(living):
        for command in (["add", living, more], ["delete", living, "--id", ids[0]], ["merge", living]):
            assert "another process is writing this index" in refused(1, *command)
        assert answers(living)
    assert change("add", living, more)["added"] == 20


def test_a_model_stays_good_while_its_index_grows(
    living: Path, demo: Path, tmp_path: Path, lines: list[str], catalog: list[str]
) -> None:
    """For later and earlier commits; much growth is warned of; another index is another one."""
    model, more = tmp_path / "model.json", tmp_path / "more.jsonl"
    judged = ["--queries", demo / "queries.jsonl", "--qrels", demo / "qrels.txt", "--lambda", "1", "--quiet"]
    passed("train", living, *judged, "--features", "noprox", "-o", model)
    ask = ["search", "played", "--type", "person", "--json", "--model", model]
    passed("add", living, write(more, lines[100:]), "--quiet")
    assert passed(ask[0], living, *ask[1:]).json["warnings"] == []
    passed(
        "add", living, write(more, [json.dumps({"id": f"n{i}", "text": "New."}) + "\n" for i in range(9)]), "--quiet"
    )
    said = "the model was trained when the index had 100 documents; it has 129 now; train it again"
    assert passed(ask[0], living, *ask[1:]).json["warnings"] == [said]
    assert passed(ask[0], living, *ask[1:], "--at", "2").json["warnings"] == []
    options = ["--queries", demo / "queries.jsonl", "--run", tmp_path / "out.run", "--model", model]
    assert said in passed("batch", living, *options).err
    other = fresh(tmp_path, lines, catalog)
    assert "the model was trained on another index" in refused(1, ask[0], other, *ask[1:])

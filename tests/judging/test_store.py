"""Judgments survive: what was acknowledged is there after any crash, and nothing that was not whole is read."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dose import dose
from fader.corpus.queries import FaultCollector
from fader.errors import DamagedError, InputError, LimitError, UsageError
from fader.judging import store as stores
from fader.judging.files import as_judged, export_judgments, import_judgments
from fader.judging.record import FREE_SHARE, JudgedReading, Judgment, limit_shares, parse_grade
from fader.judging.store import JudgmentStore, path_beside

READING = JudgedReading("Who played the violin?", "played +violin", "person")
WHEN = "2026-01-01T00:00:00.000Z"


def judged(entity: str, grade: int | None = 2, who: str = "ada", reading: JudgedReading = READING) -> Judgment:
    return Judgment(who, WHEN, reading, entity, grade)


def test_what_is_added_is_there_for_every_reader(tmp_path: Path) -> None:
    """In order, with every character as it was; a second store appends behind the first."""
    path = path_beside(tmp_path / "index")
    assert path == tmp_path / "index.judgments"
    one = JudgmentStore(path)
    assert list(one.records) == []
    first = judged("E1", 1, who="Björn\n\u202e", reading=JudgedReading('"quoted"\n?', "a b", None))
    assert one.add(first) == 1
    other = JudgmentStore(path)
    assert other.add(judged("E2"), judged("E3", 0)) == 3
    one.refresh()
    assert one.records == other.records == (first, judged("E2"), judged("E3", 0))
    assert [j.entity for j in one.current()] == ["E1", "E2", "E3"]


def test_the_last_word_counts_and_can_be_taken_back(tmp_path: Path) -> None:
    """Of a person on a question and an entity; undo takes a whole person back, who may judge again."""
    store = JudgmentStore(tmp_path / "j")
    store.add(judged("E1", 2), judged("E1", 0), judged("E2", 2), judged("E2", None), judged("E1", 1, who="ben"))
    assert [(j.who, j.entity, j.grade) for j in store.current()] == [("ada", "E1", 0), ("ben", "E1", 1)]
    assert store.undo("ada", "root", WHEN) == 1
    assert store.undo("ada", "root", WHEN) == 0
    assert [(j.who, j.grade) for j in store.current()] == [("ben", 1)]
    store.add(judged("E1", 2))
    assert [(j.who, j.grade) for j in JudgmentStore(tmp_path / "j").current()] == [("ben", 1), ("ada", 2)]


def test_every_torn_tail_is_cut(tmp_path: Path) -> None:
    """Whatever part of the last record is on disk, the ones before it are read, and the next goes behind them."""
    path = tmp_path / "j"
    store = JudgmentStore(path)
    store.add(judged("E1"))
    kept = path.read_bytes()
    store.add(judged("E2"))
    whole = path.read_bytes()
    for size in range(len(kept), len(whole)):
        for rest in (b"", b"\0" * 5):
            path.write_bytes(whole[:size] + rest)
            found = JudgmentStore(path)
            assert [j.entity for j in found.current()] == ["E1"]
    path.write_bytes(whole[:-3])
    assert JudgmentStore(path).add(judged("E3")) == 2
    assert [j.entity for j in JudgmentStore(path).current()] == ["E1", "E3"]
    path.write_bytes(b"")
    assert JudgmentStore(path).add(judged("E4")) == 1


def test_damage_before_whole_records_is_an_error(tmp_path: Path) -> None:
    """Nothing that was acknowledged is dropped in silence."""
    path = tmp_path / "j"
    JudgmentStore(path).add(judged("E1"), judged("E2"))
    whole = path.read_bytes()
    for place in (whole.index(b'"E1"') + 1, 3):
        path.write_bytes(whole[:place] + b"x" + whole[place + 1 :])
        with pytest.raises(DamagedError):
            JudgmentStore(path)
    path.write_bytes(b"not a file of judgments\n" * 3)
    assert len(JudgmentStore(path)) == 0  # no line of it is whole; the first judgment would replace it
    other = tmp_path / "other"
    other.write_bytes(whole.split(b"\n")[1] + b"\n")
    with pytest.raises(DamagedError):
        JudgmentStore(other)


CHILD = """
import sys
from fader.judging.record import JudgedReading, Judgment
from fader.judging.store import JudgmentStore
store = JudgmentStore(sys.argv[1])
first = len(store)
for i in range(first, first + 10_000):
    reading = JudgedReading("q" * (i % 500), "violin", None)
    store.add(Judgment("ada", "now", reading, f"E{i}", 2))
    print(i, flush=True)
"""


def test_kill_9_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """A process is killed at random moments, again and again; the next one goes on behind the last whole record."""
    path, draw, acknowledged = tmp_path / "j", random.Random(22), -1
    for _life in range(dose(50, least=3)):
        with subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            for _line in range(draw.randrange(1, 40)):
                acknowledged = int(child.stdout.readline())
            child.send_signal(signal.SIGKILL)
            rest = child.stdout.read().split(b"\n")[:-1]  # a line that was cut acknowledges nothing
            acknowledged = int(rest[-1]) if rest else acknowledged
        found = [judgment.entity for judgment in JudgmentStore(path).current()]
        assert len(found) > acknowledged
        assert found == [f"E{i}" for i in range(len(found))]
        acknowledged = len(found) - 1


def test_threads_and_stores_may_judge_at_once(tmp_path: Path) -> None:
    """Every judgment of all of them is there once."""
    store = JudgmentStore(tmp_path / "j")

    def judge(name: str) -> None:
        own = store if name < "c" else JudgmentStore(tmp_path / "j")
        for i in range(20):
            own.add(judged(f"{name}{i}", who=name))

    threads = [threading.Thread(target=judge, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [judgment.entity for judgment in JudgmentStore(tmp_path / "j").current()]
    assert sorted(found) == sorted(f"{name}{i}" for name in "abcd" for i in range(20))


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long texts, other grades, and more than one may judge are refused; what was there stays."""
    store = JudgmentStore(tmp_path / "j")
    for wrong in (judged(""), judged("E" * 3_000), judged("E1", 3), judged("E1", who=""), judged("E", who="x" * 201)):
        with pytest.raises(InputError):
            store.add(wrong)
    monkeypatch.setattr(stores, "MOST_OF_ONE", 2)
    store.add(judged("E1"), judged("E2"))
    store.add(judged("E2", 0))
    with pytest.raises(LimitError):
        store.add(judged("E3"))
    store.add(judged("E3", who="ben"), judged("E1", None))
    store.add(judged("E3"))
    monkeypatch.setattr(stores, "MOST_RECORDS", 6)
    with pytest.raises(LimitError):
        store.add(judged("E9", who="cleo"))
    assert len(store) == len(JudgmentStore(tmp_path / "j")) == 6


def test_no_flood_outweighs_all_others() -> None:
    """Of one who has judged more than all others together, and more than 100, the newest count."""
    few = [judged(f"E{i}", who="ada") for i in range(3)]
    flood = [judged(f"F{i}", 0, who="mallory") for i in range(5_000)]
    kept = limit_shares([*few, *flood])
    assert kept == [*few, *flood[-FREE_SHARE:]]
    assert limit_shares(flood) == flood


def test_export_and_import_are_inverse(tmp_path: Path) -> None:
    """Grades of several people are combined: the lower median; files can be read back as one person's judgments."""
    other = JudgedReading("", "landed +mars", None)
    said = [judged("E1", 2), judged("E1", 0, who="ben"), judged("E1", 2, who="cleo"), judged("E2", 1, reading=other)]
    queries, grades = export_judgments(said, tmp_path / "out")
    assert grades == {READING.id: {"E1": 2}, other.id: {"E2": 1}}
    assert [(q.query, q.type) for q in queries] == [("played +violin", "person"), ("landed +mars", None)]
    again = import_judgments(tmp_path / "out/queries.jsonl", tmp_path / "out/qrels.txt", "import", FaultCollector())
    assert as_judged(again).grades == grades
    assert [j.reading for j in again] == [READING, other]


def test_grades_have_names() -> None:
    assert [parse_grade(text) for text in ("right", "Partly", "wrong", "2", 1, 0)] == [2, 1, 0, 2, 1, 0]
    for wrong in ("good", 3, "-1", True):
        with pytest.raises(UsageError):
            parse_grade(wrong)

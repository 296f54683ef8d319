"""Judgments from files: grades are whole numbers, and an entity has one for a query."""

from __future__ import annotations

from pathlib import Path

import pytest

from fader.corpus.queries import FaultCollector, read_qrels
from fader.errors import InputError


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "qrels.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_grades_by_query_and_entity(tmp_path: Path) -> None:
    """Negative ones too; a judgment may be repeated, and an entity judged differently for another query."""
    path = written(tmp_path, "q1 0 a 2\nq1 0 b -1\n\nq2 Q0 a +0\nq1 1 a 2\nq2 0 b 2147483647\n")
    assert read_qrels(path, FaultCollector()) == {"q1": {"a": 2, "b": -1}, "q2": {"a": 0, "b": 2147483647}}


@pytest.mark.parametrize("grade", ["one", "nan", "inf", "1.5", "1.0", "1_0", "٣", "2147483648", "9" * 5000])
def test_a_grade_must_be_a_whole_number(tmp_path: Path, grade: str) -> None:
    """File and line, the value, and what to write."""
    path = written(tmp_path, f"q1 0 a 1\nq1 0 b {grade}\nq1 0 c 0\n")
    with pytest.raises(InputError) as caught:
        read_qrels(path, FaultCollector())
    said = str(caught.value)
    assert said.startswith(f'{path}:2: grade "{grade[:20]}')
    assert said.endswith("is not a whole number within ±2147483647; write 1 or more for good, 0 or less for bad")
    fault = FaultCollector(skip=True)
    assert read_qrels(path, fault) == {"q1": {"a": 1, "c": 0}}
    assert len(fault.messages) == 1


def test_two_grades_for_one_entity_are_a_fault(tmp_path: Path) -> None:
    """Both places and both grades are named; where faults are skipped the first counts."""
    path = written(tmp_path, "q1 0 a 1\nq2 0 a 0\nq1 0 a 0\n")
    with pytest.raises(InputError) as caught:
        read_qrels(path, FaultCollector())
    assert str(caught.value) == f'{path}:3: "a" has grade 0 for query "q1", but 1 at {path}:1; keep one'
    fault = FaultCollector(skip=True)
    assert read_qrels(path, fault) == {"q1": {"a": 1}, "q2": {"a": 0}}
    assert len(fault.messages) == 1

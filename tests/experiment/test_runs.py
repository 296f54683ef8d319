"""TREC runs from files: what is read, and faults with their place."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from fader.corpus.queries import FaultCollector
from fader.errors import InputError
from fader.experiment.runs import read_run

GOOD = "q1 Q0 a 1 2.5 t\nq2 Q0 a 1 -1e-3 t\n\nq1\tQ0\té 7 2.5 t\r\n"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "x.run"
    path.write_bytes(text.encode())
    return path


def test_a_run_is_scores_by_query_and_entity(tmp_path: Path) -> None:
    """Blanks or tabs, empty lines, any order of queries, any ranks, gzip."""
    expected = {"q1": {"a": 2.5, "é": 2.5}, "q2": {"a": -0.001}}
    path = written(tmp_path, GOOD)
    assert read_run(path, FaultCollector()) == expected
    path.write_bytes(gzip.compress(GOOD.encode()))
    assert read_run(path, FaultCollector()) == expected


BAD = [
    ("q1 Q0 b 2 1.0", "5 columns; expected qid Q0 entity rank score tag"),
    ("q1", "1 column; expected"),
    ("q1 Q0 b 2 1.0 my tag", "7 columns; expected"),
    ("q1 Q0 b 2 high t", 'score "high" is not a finite number; write one like 12.5'),
    ("q1 Q0 b 2 nan t", 'score "nan" is not a finite number'),
    ("q1 Q0 b 2 -inf t", 'score "-inf" is not a finite number'),
    ("q1 Q0 b 2 1e999 t", 'score "1e999" is not a finite number'),
    ("q1 Q0 b 2 1_0 t", 'score "1_0" is not a finite number'),
    ("q1 Q0 a 2 1.0 t", 'entity "a" is ranked twice for query "q1"; the first is at line 1; keep one'),
]


@pytest.mark.parametrize(("line", "says"), BAD)
def test_a_bad_line_is_named(tmp_path: Path, line: str, says: str) -> None:
    """With file and line number, or skipped and told; the first of two lines counts."""
    path = written(tmp_path, f"q1 Q0 a 1 2.5 t\n\n{line}\nq2 Q0 a 1 1 t\n")
    with pytest.raises(InputError) as caught:
        read_run(path, FaultCollector())
    assert str(caught.value).startswith(f"{path}:3: {says}")
    fault = FaultCollector(skip=True)
    assert read_run(path, fault) == {"q1": {"a": 2.5}, "q2": {"a": 1.0}}
    assert len(fault.messages) == 1

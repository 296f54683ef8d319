"""Kept results come back exactly, and only for what they are results of."""

from __future__ import annotations

from pathlib import Path

import pytest

from fader.errors import StorageError
from fader.experiment.cache import Measured, find_result, keep_result, name_entry, open_results
from fader.experiment.comparison import ContextScores, SystemGrid, SystemResult

ABOUT = {"queries": "abc", "seed": 0}
RESULT = SystemResult("count", {"AP": [0.1, 1 / 3, None]}, "Count", [{"model": "x", "queries": 2}], 1.5, 3, ["cv 5"])
MEASURED = Measured(RESULT, [SystemGrid("count", "grid", ["a"], ["b", "c"], [[0.1, 0.2]])],
                    [ContextScores("q", "e", True, [2.0, 1.0], "count")])  # fmt: skip


def test_a_result_comes_back(tmp_path: Path) -> None:
    keep_result(open_results(tmp_path / "kept", ABOUT), "count", "5", MEASURED)
    assert find_result(open_results(tmp_path / "kept", ABOUT), "count", "5") == MEASURED


def test_other_results_are_not_found(tmp_path: Path) -> None:
    """Another system, other folds, other queries or another seed."""
    kept = open_results(tmp_path, ABOUT)
    keep_result(kept, "count", "5", MEASURED)
    assert find_result(kept, "count", "loo") is None
    assert find_result(kept, "proximity", "5") is None
    assert find_result(open_results(tmp_path, {**ABOUT, "seed": 1}), "count", "5") is None
    assert find_result(open_results(tmp_path, {**ABOUT, "queries": "abd"}), "count", "5") is None


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"result": 1}', '{"result": {"name": 3}, "grids": [], "scores": []}']
)
def test_what_cannot_be_read_is_not_there(tmp_path: Path, damage: str) -> None:
    """Neither a damaged file nor a whole one that holds something else."""
    kept = open_results(tmp_path, ABOUT)
    keep_result(kept, "count", "5", MEASURED)
    next(tmp_path.glob("*/*.part")).write_text(damage)
    assert find_result(kept, "count", "5") is None
    kept.keep(name_entry("count", "5"), damage.encode())
    assert find_result(kept, "count", "5") is None
    keep_result(kept, "count", "5", MEASURED)
    assert find_result(kept, "count", "5") == MEASURED


def test_without_a_folder_nothing_is_kept() -> None:
    keep_result(open_results(None, ABOUT), "count", "5", MEASURED)
    assert find_result(open_results(None, ABOUT), "count", "5") is None


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="results cannot be kept there"):
        open_results(tmp_path / "file", ABOUT)


def test_a_result_that_cannot_be_kept_is_said(tmp_path: Path) -> None:
    """With the file and not the whole text of a model."""
    kept, text = open_results(tmp_path, ABOUT), "a very long text\n" * 99
    (tmp_path / kept.path(name_entry(text, "5") + ".part")).mkdir()
    assert find_result(kept, text, "5") is None
    with pytest.raises(StorageError, match="cannot be written: Is a directory") as error:
        keep_result(kept, text, "5", MEASURED)
    assert "very long" not in str(error.value)

"""Kept results come back exactly, and only for what they are results of."""

from __future__ import annotations

from pathlib import Path

import pytest

from fader.errors import StorageError
from fader.experiment.cache import Kept, Measured
from fader.experiment.comparison import ContextScores, Grid, SystemResult

ABOUT = {"queries": "abc", "seed": 0}
RESULT = SystemResult("count", {"AP": [0.1, 1 / 3, None]}, "Count", [{"model": "x", "queries": 2}], 1.5, 3, ["cv 5"])
MEASURED = Measured(RESULT, [Grid("count", "grid", ["a"], ["b", "c"], [[0.1, 0.2]])],
                    [ContextScores("q", "e", True, [2.0, 1.0], "count")])  # fmt: skip


def test_a_result_comes_back(tmp_path: Path) -> None:
    Kept(tmp_path / "kept", ABOUT).keep("count", "5", MEASURED)
    assert Kept(tmp_path / "kept", ABOUT).find("count", "5") == MEASURED


def test_other_results_are_not_found(tmp_path: Path) -> None:
    """Another system, other folds, other queries or another seed."""
    kept = Kept(tmp_path, ABOUT)
    kept.keep("count", "5", MEASURED)
    assert kept.find("count", "loo") is None
    assert kept.find("proximity", "5") is None
    assert Kept(tmp_path, {**ABOUT, "seed": 1}).find("count", "5") is None
    assert Kept(tmp_path, {**ABOUT, "queries": "abd"}).find("count", "5") is None


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"result": 1}', '{"result": {"name": 3}, "grids": [], "scores": []}']
)
def test_what_cannot_be_read_is_not_there(tmp_path: Path, damage: str) -> None:
    kept = Kept(tmp_path, ABOUT)
    kept.keep("count", "5", MEASURED)
    next(tmp_path.glob("*.json")).write_text(damage)
    assert kept.find("count", "5") is None
    kept.keep("count", "5", MEASURED)
    assert kept.find("count", "5") == MEASURED


def test_without_a_folder_nothing_is_kept() -> None:
    kept = Kept(None, ABOUT)
    kept.keep("count", "5", MEASURED)
    assert kept.find("count", "5") is None


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="results cannot be kept there"):
        Kept(tmp_path / "file", ABOUT)


def test_a_result_that_cannot_be_kept_is_said(tmp_path: Path) -> None:
    """With the file and not the whole text of a model."""
    kept, text = Kept(tmp_path, ABOUT), "a very long text\n" * 99
    kept._path(text, "5").mkdir()
    with pytest.raises(StorageError, match="is a folder") as error:
        kept.keep(text, "5", MEASURED)
    assert "very long" not in str(error.value)

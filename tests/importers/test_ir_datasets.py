"""Collections by their ids: unknown ones, and the package missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fader.errors import UsageError
from fader.importers.run import import_corpus


def test_an_unknown_id(tmp_path: Path) -> None:
    """The nearest known id is named."""
    pytest.importorskip("ir_datasets")
    with pytest.raises(UsageError, match="vaswani"):
        import_corpus("ir_datasets", "vaswanni", tmp_path / "out")


def test_the_package_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(UsageError, match="datasets"):
        import_corpus("ir_datasets", "vaswani", tmp_path / "out")

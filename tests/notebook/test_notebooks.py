"""The notebooks of docs/ run from top to bottom."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

BOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::RuntimeWarning")
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    """Every cell, in an empty folder; results are shown as HTML."""
    book = nbformat.read(path, 4)
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [output["data"] for output in outputs if output.output_type == "execute_result"]
    assert sum("text/html" in data for data in shown) >= 3
    assert not any(output.output_type == "error" for output in outputs)

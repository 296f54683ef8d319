"""Collections by their ids: unknown ones, the package missing, what it cannot give, and fields of all kinds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from corpora.cases import documents
from fader.corpora.formats import ir_datasets
from fader.corpora.frame.run import import_corpus
from fader.errors import InputError, UsageError


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


class Doc(NamedTuple):
    doc_id: str
    title: str
    summary: str
    url: str


class Query(NamedTuple):
    query_id: str
    doc_id: str
    text: str


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    subtopic_id: str


class Dataset:
    """What the importer calls; `rows` may raise what the package raises."""

    def __init__(self, rows: list[Any], error: Exception | None = None) -> None:
        self.rows, self.error = rows, error

    def has_docs(self) -> bool:
        return True

    has_queries = has_qrels = has_docs

    def qrels_cls(self) -> type[Qrel]:
        return Qrel

    def _of(self, kind: type) -> Iterator[Any]:
        if self.error:
            raise self.error
        return (row for row in self.rows if isinstance(row, kind))

    def docs_iter(self) -> Iterator[Any]:
        return self._of(Doc)

    def queries_iter(self) -> Iterator[Any]:
        return self._of(Query)

    def qrels_iter(self) -> Iterator[Any]:
        return self._of(Qrel)


def test_rows_without_a_default_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their text is their `text`, else their other fields; of several grades for subtopics the highest counts."""
    rows = [
        Doc("d", "Ada", "A chemist.", "http://x"),
        Query("q", "d", "who?"),
        Qrel("q", "d", 0, "1"),
        Qrel("q", "d", 2, "2"),
    ]
    monkeypatch.setattr(ir_datasets, "_load", lambda _name: Dataset(rows))
    report = import_corpus("ir_datasets", "x", tmp_path / "out")
    assert [d["text"] for d in documents(tmp_path / "out")] == ["Ada\nA chemist."]
    assert '"query":"who?"' in (tmp_path / "out" / "queries.jsonl").read_text()
    assert (tmp_path / "out" / "qrels.txt").read_text() == "q 0 d 2\n"
    assert not report.faults.counts


@pytest.mark.parametrize("error", [RuntimeError("All download sources failed"), FileNotFoundError("corpus")])
def test_what_the_package_cannot_give(error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No network, no licence: the id, the reason and the remedy, not a traceback or a fault of the output folder."""
    monkeypatch.setattr(ir_datasets, "_load", lambda _name: Dataset([], error))
    with pytest.raises(InputError, match=f"^disks45: .*{error}.*network"):
        import_corpus("ir_datasets", "disks45", tmp_path / "out")


def test_a_limit_below_zero(tmp_path: Path) -> None:
    """It is refused, not taken for none."""
    with pytest.raises(UsageError, match="limit"):
        import_corpus("ir_datasets", "vaswani", tmp_path / "out", limit=-1)

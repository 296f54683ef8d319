"""A collection of our own in ir_datasets, for the fixture of that importer, which is skipped without the package."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import NamedTuple

import pytest

PACKAGE = "ir_datasets"


class Doc(NamedTuple):
    doc_id: str
    title: str
    url: str
    body: str

    def default_text(self) -> str:
        return f"{self.title} {self.body}".strip()


class Query(NamedTuple):
    query_id: str
    text: str
    description: str

    def default_text(self) -> str:
        return self.text


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


DOCS = [
    Doc("d1", "Ada Quill", "http://example.org/1", "Ada Quill found a vaccine. " * 8),
    Doc("d2", "Port Vell", "", "A town."),
    Doc("d3", "", "", ""),
    Doc("d4", "Émile Ébène", "", "A chemist\nof Port Vell."),
    Doc("d5", "", "", "Blue fever."),
]
QUERIES = [Query("q1", 'who found the "vaccine', "Find the finder."), Query("q2", "-port +vell", "")]
QRELS = [Qrel("q1", "d1", 2, "0"), Qrel("q1", "d2", 0, "0"), Qrel("q2", "d2", 1, "0")]


def registered() -> None:
    """Make the collections known, once."""
    import ir_datasets
    from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries

    class Docs(BaseDocs):
        def docs_iter(self) -> Iterator[Doc]:
            return iter(DOCS)

        def docs_cls(self) -> type[Doc]:
            return Doc

    class Queries(BaseQueries):
        def queries_iter(self) -> Iterator[Query]:
            return iter(QUERIES)

        def queries_cls(self) -> type[Query]:
            return Query

    class Qrels(BaseQrels):
        def qrels_iter(self) -> Iterator[Qrel]:
            return iter(QRELS)

        def qrels_cls(self) -> type[Qrel]:
            return Qrel

    if "fader-tiny" not in ir_datasets.registry:
        ir_datasets.registry.register("fader-tiny", ir_datasets.Dataset(Docs()))
        ir_datasets.registry.register("fader-tiny/queries", ir_datasets.Dataset(Queries(), Qrels()))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Register the collections, or skip what needs them."""
    ours = [item for item in items if f"[{PACKAGE}-" in item.name or f"-{PACKAGE}-" in item.name]
    if importlib.util.find_spec(PACKAGE) is not None:
        if ours:
            registered()
        return
    for item in ours:
        item.add_marker(pytest.mark.skip(reason="ir_datasets is not installed: pip install 'fader[datasets]'"))

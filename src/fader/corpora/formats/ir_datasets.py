"""Collections that the package ir_datasets knows, by their ids: documents, queries, judgments.

    fader import ir_datasets beir/dbpedia-entity/test -o corpus/

A source is an id, not a file. The package gets what it can from the web and says what else it needs. The text of a
document is what the package calls its default text, else all its fields; its title and address are kept where it has
them. Of judgments of subtopics the highest counts. Documents have no
mentions: `fader annotate` finds them then. Judgments are written as they are, `qid 0 docid grade`; in collections whose
documents are entities, such as DBpedia-Entity, that is what a search for entities is compared with.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

from fader.corpora.frame import inputs
from fader.corpora.frame.base import Batch, Importer, Records, option
from fader.corpora.parsers.trec.judgments import keep_highest
from fader.corpora.parsers.trec.topics import simplify_query
from fader.corpus.documents import Faults
from fader.errors import InputError, UsageError, did_you_mean, quote

TEXTLESS = "documents without text"


@dataclass(frozen=True)
class IrDatasets(Importer):
    """Documents, queries and judgments of a collection."""

    name: ClassVar[str] = "ir_datasets"
    title: ClassVar[str] = "a collection that ir_datasets knows, by its id"
    example: ClassVar[str] = "fader import ir_datasets beir/dbpedia-entity/test -o corpus/"
    citation: ClassVar[str] = "S. MacAvaney et al. Simplified Data Wrangling with ir_datasets. SIGIR 2021"
    files: ClassVar[bool] = False

    documents: bool = option(True, "Take the documents, too; without them only queries and judgments.")
    limit: int = option(0, "Documents to take of each collection; 0: all.", least=0)

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        for source in sources:
            dataset = _load(source)
            if not (dataset.has_docs() or dataset.has_queries()):
                raise InputError(f"{source}: has neither documents nor queries; give one of the ids below it")
            if dataset.has_docs() and self.documents:
                rows = islice(_ask(source, "documents", dataset.docs_iter), self.limit or None)
                made = ((str(d.doc_id), _find_text(d), _find_field(d, "title"), _find_field(d, "url")) for d in rows)
                yield from _cut_pieces(source, "documents", made)
            if dataset.has_queries():
                asked = _ask(source, "queries", dataset.queries_iter)
                given = (
                    (str(q.query_id), _find_text(q), _find_field(q, "description") or _find_field(q, "narrative"))
                    for q in asked
                )
                yield from _cut_pieces(source, "queries", given)
            if dataset.has_qrels():
                found = ((q.query_id, q.doc_id, int(q.relevance)) for q in _ask(source, "qrels", dataset.qrels_iter))
                subtopics = "subtopic_id" in getattr(dataset.qrels_cls(), "_fields", ())
                yield from _cut_pieces(source, "qrels", iter(keep_highest(found, {})) if subtopics else found)

    def convert(self, batch: Batch, state: Any, faults: Faults) -> Records:
        kind, rows = batch.payload
        if kind == "qrels":
            return Records(qrels=rows)
        out = Records()
        for name, text, *rest in rows:
            if kind == "documents" and text.strip():
                title, url = rest
                out.documents.append({"id": name, "text": text, "mentions": [], "title": title, "url": url})
            elif kind == "documents":
                faults.add(TEXTLESS, f"{batch.source}: document {quote(name)} has no text")
            elif words := simplify_query(text):
                out.queries.append({"id": name, "query": words, "question": rest[0] or text})
            else:
                faults.add("queries without words", f"{batch.source}: query {quote(name)}: {quote(text)}")
        return out


def _load(name: str) -> Any:
    try:
        package: Any = importlib.import_module("ir_datasets")
    except ImportError:
        raise UsageError("ids of collections need ir_datasets; pip install 'fader[datasets]'") from None
    try:
        return package.load(name)
    except KeyError:
        hint = did_you_mean(name, package.registry) or "; `ir_datasets list` lists them"
        raise UsageError(f"ir_datasets has no collection {quote(name)}{hint}") from None


def _ask(source: str, what: str, rows: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """What the package gives; whatever it raises is raised in our words."""
    try:
        yield from rows()
    except Exception as error:
        reason = quote(error or type(error).__name__, 160)
        remedy = "it needs the network, or files that you get yourself; see what it says above and its documentation"
        raise InputError(f"{source}: ir_datasets cannot give the {what}: {reason}; {remedy}") from None


def _find_text(row: Any) -> str:
    """The default text of a document or query; of one that has none, its `text`, else all its fields but ids."""
    if hasattr(row, "default_text"):
        text = row.default_text()
        return text.decode("utf-8", "replace") if isinstance(text, bytes) else text or ""
    names = [name for name in row._fields if not name.endswith("id") and name != "url"]
    return _find_field(row, "text") or "\n".join(filter(None, (_find_field(row, name) for name in names)))


def _find_field(row: Any, name: str) -> str | None:
    value = getattr(row, name, None)
    return value if isinstance(value, str) and value else None


def _cut_pieces(source: str, kind: str, rows: Iterator[Any]) -> Iterator[Batch]:
    """Rows in pieces of some size; the place is the number of the first row."""
    held, weight, first = list[Any](), 0, 1
    for number, row in enumerate(rows, 1):
        held.append(row)
        weight += sum(len(cell) if isinstance(cell, str) else 8 for cell in row)
        if weight >= inputs.PIECE:
            yield Batch(source, first, (kind, held), 0)
            held, weight, first = [], 0, number + 1
    if held:
        yield Batch(source, first, (kind, held), 0)

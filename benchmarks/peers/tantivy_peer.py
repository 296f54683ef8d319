"""Another answer, for orientation: tantivy's BM25 top 1000 documents, then votes for entities they mention.

An entity of the type gets, per mention in a retrieved document, the document's score. This looks at no
distance and at a thousand documents only. Counting votes is done in numpy on mention lists per type, laid
out untimed.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import orjson
import tantivy

from benchmarks.common import FORBIDDEN, REQUIRED, Answer, Dataset, K, Literal, Peer, Query

DEPTH = 1_000
HEAP = 512_000_000


class TantivyPeer(Peer):
    name = "tantivy + voting"
    same_answer = False

    def prepare(self, data: Dataset, queries: Sequence[Query]) -> None:
        self.index = voting_index(data.folder)
        self.searcher = self.index.searcher()
        self.words = data.words
        self.lists: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        for type_ in {q.type for q in queries}:
            rows = data.type_rows(type_)
            bounds = np.searchsorted(data.mention_document[rows], np.arange(data.documents + 1))
            names, local = np.unique(data.mention_entity[rows], return_inverse=True)
            self.lists[type_] = bounds, local, names

    def _literal(self, literal: Literal) -> tantivy.Query:
        words: list[str | tuple[int, str]] = [self.words[t] for t in literal.terms]
        if len(words) == 1:
            return tantivy.Query.term_query(self.index.schema, "text", words[0])
        return tantivy.Query.phrase_query(self.index.schema, "text", words)

    def _query(self, query: Query) -> tantivy.Query:
        occur = {REQUIRED: tantivy.Occur.Must, FORBIDDEN: tantivy.Occur.MustNot}
        parts = [(occur.get(t.kind, tantivy.Occur.Should), self._literal(t)) for t in query.literals]
        return tantivy.Query.boolean_query(parts)

    def answer(self, query: Query) -> Answer:
        hits = self.searcher.search(self._query(query), DEPTH, count=False).hits
        if not hits:
            return []
        scores = np.array([score for score, _ in hits])
        documents = np.array(self.searcher.fast_field_values("number", [address for _, address in hits]))
        bounds, local, names = self.lists[query.type]
        begin = bounds[documents]
        count = bounds[documents + 1] - begin
        total = np.cumsum(count)
        rows = np.repeat(begin - total + count, count) + np.arange(total[-1])
        votes = np.bincount(local[rows], weights=np.repeat(scores, count), minlength=len(names))
        order = np.argsort(-votes, kind="stable")[:K]
        return [(int(names[i]), float(votes[i])) for i in order if votes[i] > 0]


def voting_index(folder: Path) -> tantivy.Index:
    """A positional index of the corpus, text not stored, with the document's number as a fast field."""
    path = folder / "tantivy-voting"
    if (path / "done").exists():
        return tantivy.Index.open(str(path))
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=False, tokenizer_name="default", index_option="position")
    builder.add_integer_field("number", stored=False, indexed=False, fast=True)
    index = tantivy.Index(builder.build(), path=str(path))
    writer = index.writer(HEAP, 1)
    with open(folder / "corpus.jsonl", "rb") as lines:
        for number, line in enumerate(lines):
            writer.add_document(tantivy.Document(text=orjson.loads(line)["text"], number=number))
    writer.commit()
    writer.wait_merging_threads()
    (path / "done").touch()
    index.reload()
    return index

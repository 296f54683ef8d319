"""A retriever for LlamaIndex: a node per passage, the entity in its metadata.

    retriever = FaderRetriever(fader.open("index/"), type="scientist", k=5)
    retriever.retrieve("played +violin")

Needs llama-index-core.
"""

from __future__ import annotations

from typing import Any

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from fader.integrations.passages import find_passages
from fader.search.index import Index
from fader.search.models import DEFAULT


class FaderRetriever(BaseRetriever):
    """Passages of the best entities; with `ask` queries are questions in plain words."""

    def __init__(
        self,
        index: Index,
        *,
        type: str | None = None,
        k: int = 10,
        snippets: int = 1,
        model: Any = DEFAULT,
        ask: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self._index = index
        self._how: dict[str, Any] = {"type": type, "k": k, "snippets": snippets, "model": model, "ask": ask}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = find_passages(self._index, query_bundle.query_str, **self._how)
        return [
            NodeWithScore(node=TextNode(id_=each.id, text=each.text, metadata=each.metadata), score=each.score)
            for each in found
        ]

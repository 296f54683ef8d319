"""A retriever for LangChain: a document per passage, the entity in its metadata.

    retriever = FaderRetriever(index=fader.open("index/"), type="scientist", k=5)
    retriever.invoke("played +violin")

Needs langchain-core.
"""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from fader.integrations.passages import find_passages
from fader.search.index import Index
from fader.search.models import DEFAULT


class FaderRetriever(BaseRetriever):
    """Passages of the best entities; with `ask` queries are questions in plain words."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    index: Index
    type: str | None = None
    k: int = 10
    snippets: int = 1
    model: Any = DEFAULT
    ask: bool = False

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        found = find_passages(
            self.index, query, type=self.type, k=self.k, snippets=self.snippets, model=self.model, ask=self.ask
        )
        return [Document(id=each.id, page_content=each.text, metadata=each.metadata) for each in found]

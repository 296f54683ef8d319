"""Retrievers of LangChain and LlamaIndex, by the real packages where they are installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fader

pytestmark = pytest.mark.filterwarnings("ignore")  # what the frameworks warn of is their own affair


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    folder: Path = tmp_path_factory.mktemp("retrievers") / "index"
    mention = {"start": 0, "end": 3, "entity": "ada"}
    return fader.build(
        folder,
        corpus=[
            {
                "id": "d1",
                "title": "Diary",
                "url": "https://example.org/1",
                "text": "Ada wrote it.",
                "mentions": [mention],
            },
            {
                "id": "d2",
                "text": "Ada wrote more, Bob wrote less.",
                "mentions": [mention, {**mention, "start": 16, "end": 19, "entity": "bob"}],
            },
        ],
        entities=[{"id": "ada", "name": "Ada", "types": ["person"]}, {"id": "bob", "name": "Bob", "types": ["person"]}],
    )


def check(found: list[tuple[str, dict[str, Any]]]) -> None:
    """Two passages of Ada, then one of Bob."""
    assert [about["entity"] for _text, about in found] == ["ada", "ada", "bob"]
    assert {about["document"] for _text, about in found[:2]} == {"d1", "d2"}
    assert all("wrote" in text for text, _about in found)
    first = next(about for _text, about in found if about["document"] == "d1")
    assert (first["title"], first["url"], first["name"], first["types"]) == (
        "Diary",
        "https://example.org/1",
        "Ada",
        ["person"],
    )


def test_langchain(index: fader.Index) -> None:
    """Documents by `invoke`, as chains call it; each has an id of its own."""
    pytest.importorskip("langchain_core")
    from fader.integrations.langchain import FaderRetriever

    found = FaderRetriever(index=index, snippets=2, model="paper").invoke("wrote")
    check([(each.page_content, each.metadata) for each in found])
    assert len({each.id for each in found}) == 3
    assert (
        FaderRetriever(index=index, ask=True, model="paper").invoke("Which person wrote more?")[0].metadata["entity"]
        == "ada"
    )


def test_llama_index(index: fader.Index) -> None:
    """Nodes with scores by `retrieve`."""
    pytest.importorskip("llama_index.core")
    from fader.integrations.llama_index import FaderRetriever

    found = FaderRetriever(index, snippets=2, type="person", model="paper").retrieve("wrote")
    check([(each.node.get_content(), each.node.metadata) for each in found])
    assert found[0].score == found[1].score > found[2].score

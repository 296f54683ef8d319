"""Passages of every width are text of the document around the mention; a document has its sentences and mentions.

The oracle is the text itself, cut by hand and by the plain definition of tokens.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fader
from fader.corpus.analysis import spans
from fader.errors import CatalogError, UsageError
from fader.search.passage import MOST_CHARACTERS, Passage, parse_passage
from fader.search.passages import LEAST_CHARACTERS, MOST_TOGETHER

VIOLIN = (
    'Ada was born in Rome. "Ada plays the violin", wrote Béla (a friend) in 1911! Nobody heard it.\nThe end of Ada.'
)
LONG = "Unrelated words come first. " * 400 + "Then Béla tunes a violin. " + "And more words follow here. " * 900
ENTITIES = [{"id": "Q1", "name": "Ada", "types": ["person"]}, {"id": "Q2", "name": "Béla", "types": ["person"]}]


def mention(text: str, name: str, entity: str, nth: int = 0) -> dict[str, Any]:
    start = -1
    for _time in range(nth + 1):
        start = text.index(name, start + 1)
    return {"start": start, "end": start + len(name), "entity": entity}


DOCUMENTS = [
    {
        "id": "d/1",
        "title": "Two players",
        "url": "https://example.org/1",
        "text": VIOLIN,
        "mentions": [mention(VIOLIN, "Ada", "Q1", i) for i in range(3)] + [mention(VIOLIN, "Béla", "Q2")],
    },
    {"id": "d2", "text": LONG, "mentions": [mention(LONG, "Béla", "Q2")]},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    folder = tmp_path_factory.mktemp("passages") / "index"
    return fader.build(folder, DOCUMENTS, ENTITIES, [{"id": "person", "name": "person"}])


def shown(index: fader.Index, entity: str, passage: str) -> list[Any]:
    """The snippets of an entity."""
    answer = index.search("violin heard", k=2, snippets=10, passage=passage)
    return next(result.evidence for result in answer.results if result.entity == entity)


def test_a_sentence_is_whole_with_its_quotes_and_full_stops(index: fader.Index) -> None:
    """The sentence of the mention and nothing else, whatever the distance of the words that match."""
    texts = {snippet.snippet for snippet in shown(index, "Q1", "sentence")}
    assert '"Ada plays the violin", wrote Béla (a friend) in 1911!' in texts
    assert texts <= {
        "Ada was born in Rome.",
        '"Ada plays the violin", wrote Béla (a friend) in 1911!',
        "The end of Ada.",
    }
    long = next(s for s in shown(index, "Q2", "sentence") if s.doc == "d2")
    assert long.snippet == "Then Béla tunes a violin."


@pytest.mark.parametrize("width", [1, 2, 6, 12, 30, 2000])
def test_a_window_has_whole_sentences_where_they_fit(index: fader.Index, width: int) -> None:
    """At most so many tokens on each side; it begins and ends with a sentence, or an ellipsis says that it does not."""
    for entity in ("Q1", "Q2"):
        for snippet in shown(index, entity, f"window:{width}"):
            source = VIOLIN if snippet.doc == "d/1" else LONG
            body = snippet.snippet.removeprefix("… ").removesuffix(" …")
            assert body in source.replace("\n", " ")
            a, b = snippet.mention
            assert snippet.snippet[a:b] in ("Ada", "Béla")
            before, behind = spans(snippet.snippet[:a]), spans(snippet.snippet[b:])
            assert len(before) <= width
            assert len(behind) <= width
            if not snippet.snippet.endswith("…"):
                assert snippet.snippet.endswith((".", "!"))


def test_a_document_is_the_whole_text_up_to_a_limit(index: fader.Index) -> None:
    """A long text is cut around the mention."""
    short = next(s for s in shown(index, "Q2", "document") if s.doc == "d/1")
    assert short.snippet == VIOLIN.replace("\n", " ")
    long = next(s for s in shown(index, "Q2", "document") if s.doc == "d2")
    assert long.snippet.startswith("… ")
    assert long.snippet.endswith(" …")
    assert len(long.snippet) <= MOST_CHARACTERS + 4
    assert long.snippet[slice(*long.mention)] == "Béla"
    assert MOST_TOGETHER // LEAST_CHARACTERS > 1_000


@pytest.mark.parametrize("passage", ["highlights", "sentence", "window:5", "document"])
def test_every_offset_is_exact_and_leads_into_the_document(index: fader.Index, passage: str) -> None:
    """Mentions and matches are where the offsets say; the tokens of a snippet's mention are those of the document's."""
    for entity in ("Q1", "Q2"):
        for snippet in shown(index, entity, passage):
            page = index.document(snippet.doc, "violin heard")
            own = next(m for m in page.mentions if m.tokens == snippet.tokens)
            assert own.entity == entity
            assert own.at is not None
            assert page.text[slice(*own.at)] == snippet.snippet[slice(*snippet.mention)]
            for match in snippet.matches:
                assert snippet.snippet[slice(*match.at)].lower() == match.literal


def test_evidence_and_questions_have_passages_too(index: fader.Index) -> None:
    """The same widths wherever snippets are shown."""
    page = index.evidence("violin", "Q2", passage="sentence").contexts
    assert "Then Béla tunes a violin." in {item.snippet for item in page.items}
    asked = index.ask("Which person plays the violin?", snippets=5, passage="sentence")
    assert any("plays the violin" in s.snippet for result in asked.results for s in result.evidence)
    assert all(not s.snippet.startswith("…") for result in asked.results for s in result.evidence)


@pytest.mark.parametrize(
    "text", ["", "page", "window", "window:", "window:0", "window:-1", "window:99999999", "Sentence"]
)
def test_other_widths_are_refused(index: fader.Index, text: str) -> None:
    with pytest.raises(UsageError):
        index.search("violin", passage=text)


def test_a_passage_is_its_text() -> None:
    for text in ("highlights", "sentence", "window:7", "document"):
        assert str(parse_passage(text)) == text
    assert parse_passage("highlights") == Passage()


def test_a_document_has_all_that_is_stored_of_it(index: fader.Index) -> None:
    """Text, sentences that cover it, mentions with names and offsets, and all occurrences of a query's literals."""
    page = index.document("d/1", 'play "the violin" -rome')
    assert (page.id, page.title, page.url, page.text) == ("d/1", "Two players", "https://example.org/1", VIOLIN)
    assert "".join(page.text[a:b] for a, b in page.sentences) == VIOLIN
    assert len(page.sentences) == 4
    named = [(m.entity, m.name, page.text[slice(*m.at)]) for m in page.mentions if m.at]
    assert named == [("Q1", "Ada", "Ada"), ("Q1", "Ada", "Ada"), ("Q2", "Béla", "Béla"), ("Q1", "Ada", "Ada")]
    assert [page.text[slice(*m.at)] for m in page.matches] == ["plays", "the violin"]
    assert [m.literal for m in index.document("d/1", "entity:Q2 =play").matches] == ["entity:Q2"]
    assert index.document("d2").matches == []


@pytest.mark.parametrize("doc_id", ["", "d1", "d/", "\x00", "D2"])
def test_there_is_no_other_document(index: fader.Index, doc_id: str) -> None:
    with pytest.raises(CatalogError):
        index.document(doc_id)


def test_texts_that_are_not_kept_leave_mentions_without_places(tmp_path: Path) -> None:
    """Where the index keeps no texts there is nothing to show, and nothing fails."""
    types = [{"id": "person", "name": "person"}]
    index = fader.build(tmp_path / "bare", DOCUMENTS, ENTITIES, types, store_text=False)
    page = index.document("d/1", "violin")
    assert (page.text, page.sentences, page.matches) == ("", [], [])
    assert [m.at for m in page.mentions] == [None] * 4
    answer = index.search("violin", passage="sentence")
    assert {s.snippet for r in answer.results for s in r.evidence} == {""}

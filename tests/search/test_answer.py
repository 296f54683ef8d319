"""An answer is plain data: the keys of the documented JSON, and values that JSON can hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import fader
from fader.errors import QueryError, UsageError

ENTITIES = [{"id": f"E{i}", "name": f"Name {i}", "types": ["T"]} for i in range(4)]
TYPES = [{"id": "T", "name": "Thing"}, {"id": "U", "name": "Other", "supertypes": ["T"]}]
CORPUS = [
    {
        "id": f"d{i}",
        "text": f"word {i} name",
        "title": f"Title {i}",
        "mentions": [{"start": 7, "end": 11, "entity": f"E{i % 4}", "confidence": 0.5}],
    }
    for i in range(9)
]

# The example of `search --json` in the specification of the interface.
ANSWER = {"query", "type", "took_ms", "matched_documents", "contexts", "candidates", "warnings", "model", "results"}
RESULT = {"rank", "entity", "name", "types", "score", "support", "evidence"}
EVIDENCE = {"doc", "title", "score", "snippet", "mention", "matches"}
MATCH = {"literal", "at", "distance"}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    folder: Path = tmp_path_factory.mktemp("answers") / "index"
    return fader.build(folder, corpus=CORPUS, entities=ENTITIES, types=TYPES)


@pytest.mark.parametrize("explain", [False, True])
@pytest.mark.parametrize("query", ["word", "+word -3 nowhere", "nowhere", "+nowhere word", "type:thing word"])
def test_an_answer_has_the_documented_keys(index: fader.Index, query: str, explain: bool) -> None:
    """Every key of the specification at every level, more allowed; it goes through strict JSON unchanged."""
    plain = index.search(query, explain=explain, snippets=2).to_dict()
    assert plain.keys() >= ANSWER
    for result in plain["results"]:
        assert result.keys() >= RESULT
        assert ("explain" in result) is explain
        for evidence in result["evidence"]:
            assert evidence.keys() >= EVIDENCE
            assert len(evidence["mention"]) == 2
            for match in evidence["matches"]:
                assert match.keys() >= MATCH
                assert len(match["at"]) == 2
    assert json.loads(json.dumps(plain, allow_nan=False)) == json.loads(json.dumps(plain, default=fail))


def fail(value: Any) -> None:
    pytest.fail(f"{value!r} is not plain")


def test_the_values_are_those_of_the_query(index: fader.Index) -> None:
    """Counts, names and ranks; the type by its id, the model by a text that parses back."""
    answer = index.search('name +word "not there"', type="Thing", k=3, model="paper")
    assert (answer.type, answer.model) == ("T", "noprox+rectangle x sum")
    assert (answer.matched_documents, answer.contexts, answer.candidates) == (9, 9, 4)
    assert answer.warnings == ['"not there" occurs nowhere in the collection; it is left out']
    assert [r.rank for r in answer.results] == [1, 2, 3]
    assert answer.results[0].entity == "E0"
    assert (answer.results[0].name, answer.results[0].types, answer.results[0].support) == ("Name 0", ["T"], 3)
    assert [(x.text, x.mode) for x in answer.query.literals] == [
        ("name", "optional"),
        ("word", "required"),
        ("not there", "optional"),
    ]
    evidence = answer.results[0].evidence[0]
    assert (evidence.doc, evidence.title, evidence.confidence) == ("d0", "Title 0", 0.5)


def test_an_empty_answer_says_why(index: fader.Index) -> None:
    """A required literal that occurs nowhere is named; so is a query of which nothing occurs."""
    expected = 'no answer: the required "nowhere" occurs nowhere in the collection'
    assert expected in index.search("word +nowhere").warnings
    assert "no answer: none of the words occurs in the collection" in index.search("nowhere").warnings
    assert index.search("word", type="Other").results == []


def test_evidence_is_given_where_it_was_asked_for(index: fader.Index) -> None:
    """As many snippets as asked for, no more than there are, none if none."""
    for snippets, expected in ((0, 0), (1, 1), (2, 2), (50, 3)):
        assert len(index.search("word", k=1, snippets=snippets, model="paper").results[0].evidence) == expected


def test_a_negative_number_of_snippets_is_wrong_usage(index: fader.Index) -> None:
    """As for k."""
    with pytest.raises(UsageError):
        index.search("word", snippets=-1)


@pytest.mark.parametrize("k", [0, -1, 100_001])
def test_k_has_bounds(index: fader.Index, k: int) -> None:
    """The message gives both, and the value."""
    with pytest.raises(UsageError, match=rf"k must be a whole number from 1 to 100,000, not {k}"):
        index.search("word", k=k)


def test_an_unknown_type_is_a_fault_of_the_query(index: fader.Index) -> None:
    """With a suggestion."""
    with pytest.raises(QueryError, match='unknown type "thingg"; did you mean "thing"'):
        index.search("word", type="thingg")


def test_rank_and_search_agree(index: fader.Index) -> None:
    """The same entities, scores and support, with or without evidence."""
    ranked, answer = index.rank("word name", k=10), index.search("word name", k=10)
    assert ranked.entities == [r.entity for r in answer.results]
    assert ranked.scores == [r.score for r in answer.results]
    assert ranked.support == [r.support for r in answer.results]


def test_a_parsed_query_takes_no_second_type(index: fader.Index) -> None:
    """It would be ignored silently."""
    with pytest.raises(UsageError, match="has its type already"):
        index.search(index.parse("word"), type="T")


def test_a_snippet_is_bounded_before_and_behind_the_text(tmp_path: Path) -> None:
    """What stands before the first and behind the last token is shown for some characters only."""
    text = "-" * 10_000 + "alpha one" + "-" * 10_000
    mention = {"start": 10_000, "end": 10_005, "entity": "E"}
    found = fader.build(
        tmp_path / "long", corpus=[{"id": "d", "text": text, "mentions": [mention]}], entities=[{"id": "E"}], types=[]
    ).search("one")
    snippet = found.results[0].evidence[0]
    assert len(snippet.snippet) < 100
    assert snippet.snippet[slice(*snippet.mention)] == "alpha"

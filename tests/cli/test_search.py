"""`fader search`: answers for people and for programs, warnings, and queries that are refused."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from cli.running import passed, refused
from fader import build

ANSWER = {
    "query": dict, "type": str, "took_ms": float, "matched_documents": int, "contexts": int, "candidates": int,
    "warnings": list, "model": str, "results": list,
}  # fmt: skip
RESULT = {
    "rank": int, "entity": str, "name": str, "types": list, "score": float, "support": int, "evidence": list,
}  # fmt: skip
SNIPPET = {
    "doc": str, "title": str, "url": str, "score": float, "confidence": float, "snippet": str, "mention": list,
    "matches": list, "tokens": list,
}  # fmt: skip
MATCH = {"literal": str, "at": list, "distance": int}


def ask(index: Path, *arguments: str) -> dict[str, Any]:
    answer: dict[str, Any] = passed("search", index, *arguments, "--json").json
    return answer


def has_shape(given: dict[str, Any], shape: dict[str, type]) -> bool:
    """The keys in the documented order, each value of its type."""
    return list(given) == list(shape) and all(isinstance(given[k], t) for k, t in shape.items())


def test_json_has_the_documented_shape(index: Path) -> None:
    answer = ask(index, 'played +violin -"no such phrase"', "--type", "scientist", "--snippets", "3")
    assert has_shape(answer, ANSWER)
    assert answer["type"] == "scientist"
    assert answer["model"] == "default"
    assert [(x["text"], x["mode"]) for x in answer["query"]["literals"]] == [
        ("played", "optional"), ("violin", "required"), ("no such phrase", "forbidden"),
    ]  # fmt: skip
    assert answer["results"]
    for rank, result in enumerate(answer["results"], 1):
        assert has_shape(result, RESULT)
        assert result["rank"] == rank
        assert 1 <= len(result["evidence"]) <= min(3, result["support"])
        for snippet in result["evidence"]:
            assert has_shape(snippet, SNIPPET)
            assert all(has_shape(match, MATCH) for match in snippet["matches"])


def test_offsets_are_characters_of_the_snippet(index: Path) -> None:
    """`mention` and `at` cut the mention and the literals out of the snippet, exactly."""
    answer = ask(index, '"chicken pox" vaccine', "--type", "vaccine", "-k", "50", "--snippets", "5")
    for result in answer["results"]:
        for snippet in result["evidence"]:
            start, end = snippet["mention"]
            assert snippet["snippet"][start:end].strip()
            assert snippet["snippet"][start:end] == snippet["snippet"][start:end].strip()
            for match in snippet["matches"]:
                a, b = match["at"]
                assert re.split(r"\W+", snippet["snippet"][a:b].casefold()) == match["literal"].split()
                assert (match["distance"] == 0) == (a < end and start < b)


def test_order_is_by_score_then_by_id_descending(index: Path) -> None:
    results = ask(index, "river city", "-k", "200", "--snippets", "0")["results"]
    keys = [(r["score"], r["entity"]) for r in results]
    assert keys == sorted(keys, reverse=True)
    assert all(r["evidence"] == [] for r in results)


def test_the_type_may_stand_in_the_query(index: Path) -> None:
    inside, beside = ask(index, "+violin type:scientist"), ask(index, "+violin", "--type", "scientist")
    assert inside["results"] == beside["results"]
    by_name = ask(index, '+violin type:"computer scientist"')
    assert by_name["type"] == "computer_scientist"


def test_k_limits_the_answer_and_not_the_counts(index: Path) -> None:
    one, many = ask(index, "river", "-k", "1"), ask(index, "river", "-k", "30")
    assert (len(one["results"]), len(many["results"])) == (1, 30)
    assert one["candidates"] == many["candidates"] > 30
    assert one["results"][0]["entity"] == many["results"][0]["entity"]


@pytest.mark.parametrize("k", ["0", "-3", "100001"])
def test_k_out_of_bounds_is_a_usage_error(index: Path, k: str) -> None:
    assert f"k must be a whole number from 1 to 100,000, not {k}" in refused(2, "search", index, "river", "-k", k)


def test_explain_adds_up_to_the_score(index: Path) -> None:
    """The contexts' contributions, the literals' contributions, and the score are three views of one sum."""
    for model in ("proximity", "proximity(width=3,policy=mention)", "count"):
        answer = ask(index, "company +rotary engine", "--type", "manufacturer", "--explain", "--model", model)
        for result in answer["results"]:
            explain = result["explain"]
            contexts = sum(c["contribution"] for c in explain["contexts"]) + explain["others"]["contribution"]
            assert math.isclose(contexts, result["score"], rel_tol=1e-9)
            assert math.isclose(sum(explain["literals"].values()), result["score"], rel_tol=1e-9)
            assert len(explain["contexts"]) + explain["others"]["contexts"] == result["support"]


def test_plain_text_marks_mention_and_matches(index: Path) -> None:
    outcome = passed("search", index, "played +violin", "--type", "scientist", "-k", "1")
    lines = outcome.out.splitlines()
    assert lines[0].startswith("  1. Albert Einstein  nobel laureate, physicist")
    assert "[Albert Einstein] *played* the *violin*" in outcome.out
    assert re.fullmatch(r"\d+ candidates, \d+ contexts, \d+ documents; default; [\d.]+ ms", lines[-1])
    assert "\x1b" not in outcome.out


def test_the_model_may_be_chosen_with_parameters(index: Path) -> None:
    assert ask(index, "river", "--model", "count")["model"] == "count"
    assert ask(index, "river", "--system", "proximity( width=20 , policy=mention)")["model"] == (
        "proximity(width=20.0,policy=mention)"
    )


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("proximty", 'unknown system "proximty"; did you mean "proximity"?'),
        ("nonsense", 'unknown system "nonsense"; known: '),
        ("proximity(widht=2)", 'proximity has no parameter "widht"; did you mean "width"?'),
        ("proximity(width=far)", 'width must be a number like 10.0, not "far"'),
        ("proximity(width=0)", "width must be a number of tokens above 0, not 0.0"),
        ("proximity(idf=none)", 'idf must be log or paper, not "none"'),
        ("proximity(policy=all)", 'policy must be one of document, mention, not "all"'),
        ("proximity(", "is not of the form name or name(parameter=value,...)"),
    ],
)
def test_a_wrong_model_is_a_usage_error(index: Path, model: str, says: str) -> None:
    assert says in refused(2, "search", index, "river", "--model", model)


def test_an_unknown_type_comes_with_a_suggestion(index: Path) -> None:
    message = refused(1, "search", index, "violin", "--type", "scientis")
    assert 'unknown type "scientis"; did you mean "scientist"' in message


def test_of_an_ambiguous_type_the_larger_sense_is_taken(tmp_path: Path) -> None:
    """It is said, and the other is offered; each id is accepted, and so is a synonym."""
    (tmp_path / "types.tsv").write_text(
        "river_bank\tbank\t\nmoney_bank\tbank\t\nlender\tlender, usurer or shark\tmoney_bank\n"
    )
    (tmp_path / "entities.tsv").write_text("A\ta\tmoney_bank\n", encoding="utf-8")
    mention = '{"start": 0, "end": 1, "entity": "A"}'
    (tmp_path / "c.jsonl").write_text(f'{{"id": "d", "text": "a loan", "mentions": [{mention}]}}\n', encoding="utf-8")
    files = ["--entities", tmp_path / "entities.tsv", "--types", tmp_path / "types.tsv", "-o", tmp_path / "index"]
    passed("index", tmp_path / "c.jsonl", *files)
    said = '"Bank" is read as type money_bank (1 entities); it may also be river_bank (0)'
    answer = ask(tmp_path / "index", "loan", "--type", "Bank")
    assert (answer["type"], answer["warnings"]) == ("money_bank", [said])
    assert said in passed("search", tmp_path / "index", "loan", "--type", "Bank").out
    for synonym in ("usurer", "Shark"):
        answer = ask(tmp_path / "index", "loan", "--type", synonym)
        assert (answer["type"], answer["warnings"], answer["results"]) == ("lender", [], [])
    assert [r["entity"] for r in ask(tmp_path / "index", "loan", "--type", "money_bank")["results"]] == ["A"]
    assert ask(tmp_path / "index", "loan", "--type", "river_bank")["results"] == []


def test_an_unknown_word_is_left_out_with_a_warning(index: Path) -> None:
    answer = ask(index, "river xyzzyx")
    assert answer["warnings"] == ['"xyzzyx" occurs nowhere in the collection; it is left out']
    alone = ask(index, "river")
    assert [r["entity"] for r in answer["results"]] == [r["entity"] for r in alone["results"]]
    assert [r["score"] for r in answer["results"]] == [r["score"] for r in alone["results"]]
    assert '! "xyzzyx" occurs nowhere' in passed("search", index, "river xyzzyx").out


@pytest.mark.parametrize("query", ["river +xyzzyx", "xyzzyx"])
def test_an_empty_answer_says_why(index: Path, query: str) -> None:
    """A required word that occurs nowhere, or no known word at all, is no error: the answer is empty."""
    answer = ask(index, query)
    assert (answer["results"], answer["contexts"], answer["candidates"]) == ([], 0, 0)
    assert answer["warnings"][-1].startswith("no answer: ")
    assert "! no answer: " in passed("search", index, query).out


@pytest.mark.parametrize(
    ("query", "says", "position"),
    [
        ('river "old town', "a quote is opened and not closed", 7),
        ("", "empty query", 1),
        ("   ", "empty query", 1),
        ("-river", "only forbidden literals", 1),
        ("river +", '"+" is followed by nothing', 7),
        ('river ""', "empty phrase", 7),
        ("river type:", "type: is followed by nothing", 7),
        ("river --", 'literal "-" has no letter or digit', 7),
        ("+river lake -river", 'literal "river" is both required and forbidden', 13),
        ("river type:city type:town", 'two types, "city" and "town"', 17),
        ("w" * 2001, "query of 2,001 characters; at most 2,000", 2001),
        (" ".join(f"w{i}" for i in range(65)), "65 literals; at most 64", 247),
    ],
)
def test_a_bad_query_is_refused_with_the_position(index: Path, query: str, says: str, position: int) -> None:
    message = refused(1, "search", index, "--", query)
    assert says in message
    assert f"(at character {position})" in message


def test_types_are_shown_by_name_and_not_without_end(tmp_path: Path) -> None:
    """An entity of six types: the names of four, and how many more there are; as JSON all ids."""
    ids = [f"t{i}" for i in range(6)]
    corpus = [{"id": "d", "text": "Ada wrote.", "mentions": [{"start": 0, "end": 3, "entity": "ada"}]}]
    types = [{"id": i, "name": f"kind {i}"} for i in ids]
    build(tmp_path / "x", corpus, [{"id": "ada", "name": "Ada", "types": ids}], types)
    lines = passed("search", tmp_path / "x", "wrote").out.splitlines()
    assert lines[0].startswith("  1. Ada  kind t0, kind t1, kind t2, kind t3 and 2 more  ")
    assert ask(tmp_path / "x", "wrote")["results"][0]["types"] == ids

"""`fader explain` and `fader entity`: one entity, however far down; `fader search --csv`."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from cli.running import passed, refused

QUERY = ("played +violin", "--type", "scientist")


def test_explain_for_programs(index: Path) -> None:
    """The same rank and score as in the answer to the whole query; features, contexts and points add up to it."""
    answer = passed("search", index, *QUERY, "-k", "1000", "--json").json
    last = answer["results"][-1]
    assert last["rank"] == answer["candidates"] > 20
    why = passed("explain", index, *QUERY, "--entity", last["entity"], "--json").json
    assert (why["rank"], why["score"], why["candidates"]) == (last["rank"], last["score"], answer["candidates"])
    assert sum(part["contribution"] for part in why["features"]) == pytest.approx(last["score"])
    (grid,) = why["grids"]
    assert (len(grid["rows"]), len(grid["columns"])) == (len(grid["values"]), len(grid["values"][0]))
    rectangle = next(p["contribution"] for p in why["features"] if p["feature"] == grid["feature"])
    assert sum(p["contribution"] for p in grid["points"]) == pytest.approx(rectangle)
    assert len(why["evidence"]) == len(why["explain"]["contexts"]) == last["support"]


def test_explain_for_people(index: Path) -> None:
    """Name, rank, features, cells, contexts and snippets, in this order."""
    out = passed("explain", index, *QUERY, "--entity", "Isaac_Newton", "--model", "paper").out
    lines = out.splitlines()
    assert lines[0] == "Isaac Newton"
    assert re.fullmatch(r" +rank 3 of 33  [\d.]+ from 5 contexts; noprox\+rectangle x sum", lines[1])
    assert any(re.fullmatch(r" +'violin'  in 57 documents, \d+% of the IDF", line) for line in lines)
    assert any(re.fullmatch(r" +[\d.]+ = [\d.]+ noprox \+ [\d.]+ rectangle", line) for line in lines)
    assert "rectangle: 'violin' in 3 contexts, IDF share 0.5 to 0.6, distance 35 to 62" in out
    assert "without it rank" in out
    assert "[Isaac Newton]" in lines[-1]


@pytest.mark.parametrize("model", ["voting", "proximity", "balog2"])
def test_every_system_explains(index: Path, model: str) -> None:
    assert "rank " in passed("explain", index, *QUERY, "--entity", "Isaac_Newton", "--model", model).out


def test_no_candidate_is_told_why(index: Path) -> None:
    """It is no fault."""
    out = passed("explain", index, "violin", "--type", "city", "--entity", "Isaac_Newton").out
    assert '! "Isaac_Newton" is no candidate: it is not of the type "city"' in out
    out = passed("entity", index, "Isaac_Newton", "violin", "--type", "city").out
    assert '! "Isaac_Newton" is no candidate' in out


def test_an_unknown_entity_is_refused(index: Path) -> None:
    for command in (("explain", index, "violin", "--entity", "Isaac_Newto"), ("entity", index, "Isaac_Newto")):
        assert 'did you mean "Isaac_Newton"?' in refused(1, *command)
    refused(2, "explain", index, "violin")


def test_an_entity_alone(index: Path) -> None:
    """Its names, how many documents mention it, and the way down to each of its types."""
    card = passed("entity", index, "Isaac_Newton", "--json").json
    assert (card["name"], card["aliases"], card["evidence"]) == ("Isaac Newton", ["Newton"], None)
    assert [step["id"] for step in card["types"][0]["path"]][-2:] == ["scientist", "astronomer"]
    lines = passed("entity", index, "Isaac_Newton").out.splitlines()
    assert lines[0] == f"Isaac Newton  Isaac_Newton  {card['documents']} documents mention it"
    assert lines[1:3] == ["     also Newton", "     entity > living thing > person > scientist > astronomer"]


def test_pages_of_contexts(index: Path) -> None:
    """Some of the contexts from an offset on, and how many there are."""
    whole = passed("entity", index, "Isaac_Newton", *QUERY, "--model", "paper", "--json").json["evidence"]["contexts"]
    assert whole["total"] == len(whole["items"]) == 5
    page = ("entity", index, "Isaac_Newton", *QUERY, "--model", "paper", "--offset", "3", "--limit", "9")
    assert passed(*page, "--json").json["evidence"]["contexts"]["items"] == whole["items"][3:]
    assert passed(*page).out.splitlines()[-1] == "contexts 4 to 5 of 5"
    last = passed("entity", index, "Isaac_Newton", *QUERY, "--model", "paper", "--offset", "50").out.splitlines()[-1]
    assert last == "no context after the first 50; there are 5"
    assert "limit must be a whole number" in refused(2, "entity", index, "Isaac_Newton", *QUERY, "--limit", "0")


def test_csv(index: Path) -> None:
    """A line a snippet, under the names of the columns."""
    text = passed("search", index, *QUERY, "-k", "3", "--snippets", "1", "--csv").out
    heads, *lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert heads[:3] == ["rank", "entity", "name"]
    assert [line[1] for line in lines] == ["Albert_Einstein", "William_Herschel", "Isaac_Newton"]
    assert "give one" in refused(2, "search", index, *QUERY, "--csv", "--json")

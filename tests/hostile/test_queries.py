"""Queries that nobody should write: parsed, some of them searched, some through the command line.

A million of them with FADER_DOSE=1. A failing case prints itself and its number; `cases.query(drawn(SEED, number))` is
the same case again.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import fader
from cli.running import fader as run
from dose import dose
from fader.errors import BudgetError, FaderError
from hostile import world
from hostile.cases import Asked, drawn, query

SEED = "queries-1"
SEARCHED = 8  # one of so many queries that can be understood is searched as well
LONGEST = 600  # characters of a message that people can read
HUNG = 20.0  # seconds past the budget; no machine is as slow as that
TIMEOUT = pytest.mark.timeout(4 * 3600)


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> list[fader.Index]:
    """A plain one, and one with a stemmer and stop words."""
    folder = tmp_path_factory.mktemp("hostile")
    plain = world.index(folder / "plain")
    stemmed = world.index(folder / "stemmed", stemmer="english", stopwords=["the", "of"])
    for index in (plain, stemmed):
        index.search("violin", explain=True)  # what is compiled on the way is not the query's time
    return [plain, stemmed]


def tried(number: int, asked: Asked, what: Any) -> str:
    """What became of a case: "fine" or the name of an error that may be shown to people; nothing else may come."""
    try:
        what()
    except FaderError as error:
        message = str(error)
        assert 0 < len(message) <= LONGEST, f"case {number}: {asked!r}: {message!r}"
        assert "\n" not in message, f"case {number}: {asked!r}: {message!r}"
        return type(error).__name__
    except BaseException as error:
        pytest.fail(f"case {number}: {asked!r}: {error!r}")
    return "fine"


def searched(index: fader.Index, number: int, asked: Asked) -> str:
    """What became of a search, which must have come to its end in time."""
    began = time.monotonic()
    end = tried(number, asked, lambda: index.search(asked.text, asked.type, **asked.options))
    allowed = asked.options["timeout_ms"]
    if isinstance(allowed, int | float) and 0 < allowed < float("inf"):
        assert time.monotonic() - began < allowed / 1000 + HUNG, f"case {number}: {asked!r} hangs"
    return end


@TIMEOUT
def test_no_query_does_harm(indexes: list[fader.Index]) -> None:
    """Whatever is asked, an answer comes or an error for people; never anything else, and never too late."""
    parsed, found = Counter[str](), Counter[str]()
    for number in range(dose(full=1_000_000, least=5_000)):
        asked = query(drawn(SEED, number))
        index = indexes[number % 2]
        end = tried(number, asked, lambda index=index, asked=asked: index.parse(asked.text, asked.type))
        parsed[end] += 1
        if end == "fine" and parsed["fine"] % SEARCHED == 0:
            found[searched(index, number, asked)] += 1
    print(f"parsed {dict(parsed)}, searched {dict(found)}")
    assert set(parsed) == {"fine", "QueryError"}
    assert {"fine", "UsageError", "BudgetError"} <= set(found)


@TIMEOUT
def test_no_query_does_harm_at_the_command_line(indexes: list[fader.Index]) -> None:
    """An exit code of 0, 1 or 2, and a message without a traceback where it is not 0."""
    folder = str(indexes[0].collection.folder)
    codes = Counter[int]()
    for number in range(dose(full=4_000, least=40)):
        asked = query(drawn(SEED + "-command", number))
        options = ["--type", asked.type] if asked.type else []
        outcome = run("search", folder, "-k", str(asked.options["k"]), *options, "--", asked.text)
        codes[outcome.code] += 1
        assert outcome.code in (0, 1, 2), f"case {number}: {asked!r}: {outcome}"
        assert outcome.code == 0 or outcome.err.strip(), f"case {number}: {asked!r}: {outcome}"
    print(f"codes {dict(codes)}")
    assert {0, 1, 2} <= set(codes)


def test_answers_after_all_this(indexes: list[fader.Index], tmp_path: Path) -> None:
    """The index is as it was: the same answers as one that was never asked anything hostile."""
    fresh = world.index(tmp_path / "fresh")
    for text in ("violin", '"old town" +the', "physics -river", "漢字 Éire"):
        assert indexes[0].rank(text, k=100) == fresh.rank(text, k=100)


def test_time_that_is_over_is_an_error_of_its_own(indexes: list[fader.Index]) -> None:
    """It says how much there was and how to get more."""
    with pytest.raises(BudgetError) as caught:
        indexes[0].search("violin", timeout_ms=0.001)
    assert str(caught.value).startswith("the query needs more than its 0.001 ms; ")
    assert str(caught.value).endswith("give it more time: --timeout-ms, timeout_ms= or FADER_LIMIT_TIME_MS")

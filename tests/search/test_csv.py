"""CSV that other programs read back as it was shown, and in which no spreadsheet finds a formula."""

from __future__ import annotations

import csv
import io
import math
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fader
from fader.csvtext import format_csv, guard_text
from fader.errors import UsageError
from fader.search.csv import to_csv

# Line ends that the csv module would take for the end of a record only where they are not in quotes.
texts = st.text(st.sampled_from("ab=+-@'\",;\t\r\n |\u202e\u200b\u00a0\uff1d\u2028é𝔘"), max_size=8)
values = st.one_of(texts, st.integers(), st.floats(), st.none(), st.booleans(), st.lists(texts, max_size=3))


def read(text: str) -> list[list[str]]:
    """By the standard library, strictly."""
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


@settings(deadline=None)
@given(st.lists(st.lists(values, min_size=2, max_size=4), max_size=4))
def test_cells_read_back(lines: list[list[Any]]) -> None:
    """Texts as they were, but for the apostrophe of a guard; numbers exactly; lists joined by a bar."""
    for line, found in zip(lines, read(format_csv(lines)), strict=True):
        for value, shown in zip(line, found, strict=True):
            if isinstance(value, bool):
                assert shown == ("true" if value else "false")
            elif isinstance(value, int):
                assert int(shown) == value
            elif isinstance(value, float):
                assert float(shown) == value or math.isnan(value)
            else:
                text = "" if value is None else value if isinstance(value, str) else "|".join(value)
                assert shown in (text, f"'{text}")


@settings(deadline=None)
@given(texts)
def test_no_text_is_a_formula(text: str) -> None:
    """Nor is one after what a program may strip or not show; the guard is put nowhere else."""
    visible = text.lstrip(" \t\r\n\u202e\u200b\u00a0\u2028")
    risky = visible[:1] in tuple("=+-@\uff1d") or text[:1] in tuple("\t\r\n\u2028")
    assert guard_text(text) == (f"'{text}" if risky else text)


@settings(deadline=None)
@given(st.text(st.characters(max_codepoint=0xFF)))
def test_no_text_steers_a_terminal(text: str) -> None:
    """No control character is left but tabs, line ends and NUL, and nothing else is lost."""
    guarded = guard_text(text)
    assert {c for c in guarded if unicodedata.category(c) == "Cc"} <= set("\0\t\n\v\f\r\x85")
    assert len(guarded.removeprefix("'" * (len(guarded) - len(text)))) == len(text)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("=1+1, x", '"\'=1+1, x"'), ("plain", "plain"), ('say "hi"', '"say ""hi"""'), (-1.5, "-1.5"), ("-1.5", "'-1.5"),
        ("@SUM(A1)", "'@SUM(A1)"), ("\t=1", "\"'\t=1\""), ("a;b", '"a;b"'), ("", ""), (None, ""), (("a", "b"), "a|b"),
        ("\x00=1", "'\x00=1"), ("1e5", "1e5"), ("'=1", "'=1"),
        ("a\x1b[31mb", "a\ufffd[31mb"), ("\x9b2Ja\x07\x08\x7f", "\ufffd2Ja\ufffd\ufffd\ufffd"), ("\x1b=1", "'\ufffd=1"),
        ("\x1b]0;x\x07", '"\ufffd]0;x\ufffd"'),
    ],
)  # fmt: skip
def test_golden_cells(value: Any, shown: str) -> None:
    """In a line of its own the empty text is quoted: a reader would take an empty line for none."""
    assert format_csv([["x", value]]) == f"x,{shown}\r\n"
    assert format_csv([[value]], line_end="\n") == (shown or '""') + "\n"


HOSTILE = '=HYPERLINK("http://x","a"), b'


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    corpus = [
        {"id": f"=d{i}", "title": HOSTILE, "text": "@word name, \"quoted\"\nword", "mentions": [
            {"start": 6, "end": 10, "entity": f"+E{i % 2}"}, {"start": 22, "end": 26, "entity": "+E0"}]}
        for i in range(3)
    ]  # fmt: skip
    entities = [{"id": f"+E{i}", "name": HOSTILE, "types": ["T", "-U"]} for i in range(2)]
    types = [{"id": "T", "name": "T"}, {"id": "-U", "name": "U"}]
    folder: Path = tmp_path_factory.mktemp("csv") / "index"
    return fader.build(folder, corpus=corpus, entities=entities, types=types)


def test_an_answer_as_csv(index: fader.Index) -> None:
    """A line a snippet, or one for an entity where none was asked for; lines end as RFC 4180 wants."""
    answer = index.search("word", snippets=2)
    text = to_csv(answer)
    heads, *lines = read(text)
    assert heads[:6] == ["rank", "entity", "name", "types", "score", "support"]
    assert heads[6:] == ["doc", "title", "url", "contribution", "confidence", "snippet"]
    expected = [(r, s) for r in answer.results for s in r.evidence]
    assert len(lines) == len(expected) > len(answer.results)
    for line, (r, s) in zip(lines, expected, strict=True):
        assert (int(line[0]), line[1], line[2], line[3]) == (r.rank, f"'{r.entity}", f"'{r.name}", "'-U|T")
        assert (float(line[4]), int(line[5]), float(line[9])) == (r.score, r.support, s.score)
        assert (line[6], line[7], line[11]) == (f"'{s.doc}", f"'{s.title}", f"'{s.snippet}")
    assert text.endswith("\r\n")
    without = read(to_csv(index.search("word", snippets=0)))
    assert [line[6:] for line in without[1:]] == [[""] * 6] * len(answer.results)


def test_two_answers_as_csv(index: fader.Index) -> None:
    both = index.versus("word", "default", "count")
    heads, *lines = read(to_csv(both))
    expected = [(label, side.model, r) for label, side in zip("ab", both.sides, strict=True) for r in side.results]
    for line, (label, model, r) in zip(lines, expected, strict=True):
        row = dict(zip(heads, line, strict=True))
        assert (row["side"], row["model"], row["entity"]) == (label, model, f"'{r.entity}")
        assert (row["rank"], row["other_rank"]) == (str(r.rank), str(r.other_rank))


def test_the_contexts_of_an_entity_as_csv(index: fader.Index) -> None:
    found = index.evidence("word", "+E0")
    heads, *lines = read(to_csv(found))
    assert (heads[0], [line[0] for line in lines]) == ("place", [str(i.place) for i in found.contexts.items])


@dataclass(frozen=True)
class Hit:
    """As suggestions are."""

    id: str
    types: list[str]
    documents: int


def test_a_list_as_csv() -> None:
    """Fields are columns; of an empty list nothing is known."""
    assert to_csv([Hit("=a", ["T", "U"], 3)]) == "id,types,documents\r\n'=a,T|U,3\r\n"
    assert to_csv([{"id": "b"}, {"id": "c"}]) == "id\r\nb\r\nc\r\n"
    assert to_csv([]) == ""
    with pytest.raises(UsageError, match="has no CSV"):
        to_csv("text")

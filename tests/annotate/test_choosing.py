"""Entities and confidences against the rules as a slow program."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from annotate.choosing import Chooser, Linked
from annotate.oracle import tokens
from fader.corpora.annotate import Annotator

COMMON = ("time", "the")
WORDS = st.sampled_from(
    ["Ada", "ada", "ADA", "Byron", "byron", "Time", "time", "TIME", "the", "The", "THE", "US", "us", "ä", "Ä", "7"]
)
GAPS = st.sampled_from([" ", " ", " ", ", ", "; ", ". ", "! ", "\n", "-"])
TYPES = {"E": ["poet"], "F": ["magazine time"], "G": []}


@st.composite
def strings(draw: st.DrawFn, least: int, most: int) -> str:
    words = draw(st.lists(WORDS, min_size=least, max_size=most))
    return "".join(word + draw(GAPS) for word in words)


@st.composite
def linked(draw: st.DrawFn) -> Linked:
    """Texts with mentions from token to token, each place once."""
    out: Linked = []
    for text in draw(st.lists(strings(1, 6), max_size=4)):
        parts, mentions, i = tokens(text), list[tuple[int, int, str]](), 0
        while i < len(parts):
            length = draw(st.sampled_from([0, 1, 1, 2]))
            if length:
                last = parts[min(len(parts), i + length) - 1]
                mentions.append((parts[i].start, last.end, draw(st.sampled_from("EFG"))))
            i += max(1, length)
        out.append((text, mentions))
    return out


# Few names, so that entities share them.
NAMES = st.sampled_from(
    [
        "Ada",
        "ada",
        "Ada Byron",
        "Ada, Byron",
        "Ada; byron",
        "Time",
        "TIME",
        "The time",
        "the Time",
        "The TIME",
        "US",
        "7",
    ]
)
CATALOGS = st.lists(st.tuples(st.sampled_from("EFG"), NAMES), min_size=2, max_size=8)


def rows_of(catalog: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """An entity's first name is its name, further ones are aliases."""
    rows: dict[str, dict[str, Any]] = {}
    for entity, name in catalog:
        row = rows.setdefault(entity, {"id": entity, "name": name, "types": TYPES[entity], "aliases": []})
        if name != row["name"]:
            row["aliases"].append(name)
    return list(rows.values())


def surfaces_of(rows: list[dict[str, Any]]) -> list[tuple[str, str, float]]:
    out: dict[tuple[str, str], float] = {}
    for row in rows:
        out |= {(row["id"], alias): 0.5 for alias in row["aliases"]}
        out[row["id"], row["name"]] = 1.0
    return [(entity, surface, weight) for (entity, surface), weight in out.items()]


def annotator(rows: list[dict[str, Any]], links: Linked) -> Annotator:
    if not links:
        return Annotator.from_files(rows, common_words=COMMON)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "links.jsonl"
        lines = [
            json.dumps(
                {"id": str(i), "text": text, "mentions": [{"start": a, "end": b, "entity": e} for a, b, e in ms]}
            )
            for i, (text, ms) in enumerate(links)
        ]
        path.write_text("\n".join(lines))
        return Annotator.from_files(rows, common_words=COMMON, links=[path])


def check(catalog: list[tuple[str, str]], links: Linked, text: str) -> None:
    rows = rows_of(catalog)
    entities = [row["id"] for row in rows]
    links = [(t, [m for m in mentions if m[2] in entities]) for t, mentions in links]
    types = {e: TYPES[e] for e in entities}
    expected = Chooser(entities, surfaces_of(rows), set(COMMON), types, links).confidences(text)
    found = annotator(rows, links).annotate(text)
    assert [(m.start, m.end) for m in found] == [(start, end) for start, end, _all in expected]
    for m, (_start, _end, each) in zip(found, expected, strict=True):
        best = max(each.values())
        assert m.confidence == pytest.approx(best, abs=6e-4)
        assert each[m.entity] == pytest.approx(best, abs=1e-6)
        if sum(v > best - 1e-6 for v in each.values()) == 1:
            assert m.entity == max(each, key=lambda e: each[e])


@settings(deadline=None)
@given(catalog=CATALOGS, text=strings(1, 12))
@example([("E", "Ada; byron"), ("E", "Ada, Byron")], "Ada byron")
@example([("E", "Ada, Byron"), ("E", "Ada; byron")], "Ada byron")
def test_from_the_catalog_alone(catalog: list[tuple[str, str]], text: str) -> None:
    """The entity with the best score, at its confidence: priors, context words, kinds of names, capitals, sentences."""
    check(catalog, [], text)


@settings(deadline=None)
@given(catalog=CATALOGS, links=linked(), text=strings(1, 12))
def test_with_a_linked_corpus(catalog: list[tuple[str, str]], links: Linked, text: str) -> None:
    """The same with what linked texts teach: attested spellings, counts, link probabilities, words near mentions."""
    check(catalog, links, text)

"""Completion finds what its definition says, in the order that it says: exact, prefix, words; popularity; name; id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fader
from fader.errors import CatalogError, UsageError
from fader.index.reader import IndexReader
from fader.limits import Limits
from fader.search.suggest import EntityHint, Suggester, TypeHint
from index.catalogs import Rows, stored_catalog
from index.plain_names import HOSTILE, plain_fold, plain_words
from oracles.bruteforce import reachable_types

FORMATS = Path(__file__).parent.parent / "index" / "formats"

# The oracle


def matched(labels: Sequence[str], text: str) -> tuple[int, int]:
    """How well the best label matches (0 exact, 1 prefix, 2 words, 3 not at all), and the first label that does so."""
    key = plain_fold(text)
    found = []
    for place, label in enumerate(labels):
        folded = plain_fold(label)
        words, wanted = plain_words(folded), plain_words(key)
        if not key or folded == key:
            found.append((0, place))
        elif folded.startswith(key):
            found.append((1, place))
        elif wanted and all(any(word.startswith(w) for word in words) for w in wanted):
            found.append((2, place))
        else:
            found.append((3, place))
    return min(found)


def expected(things: Sequence[tuple[str, list[str], int]], text: str, limit: int) -> list[tuple[str, str]]:
    """Ids and labels, given ids, labels (names first) and popularities."""
    found = []
    for name, labels, popularity in things:
        how, place = matched(labels, text)
        if how < 3:
            found.append((how, -popularity, plain_fold(labels[0]), name, labels[place]))
    return [(row[3], row[4]) for row in sorted(found)[:limit]]


# Any catalog

hostile = st.text("abAé İı\u0301ß-", min_size=1, max_size=5) | st.sampled_from([h for h in HOSTILE if h])
entities = st.lists(st.tuples(hostile, st.lists(hostile.filter(lambda s: "\t" not in s), max_size=3)), max_size=90)
texts = st.lists(hostile, max_size=3).map(" ".join) | st.text(max_size=3) | st.just("")


@contextmanager
def suggester_of(rows: Rows, types: Rows, documents: Sequence[int]) -> Iterator[Suggester]:
    """Of a stored catalog, with as many documents that mention each entity as are given."""
    with stored_catalog(rows, types) as catalog:
        reader: Any = SimpleNamespace(catalog=catalog, entity_documents=np.array(documents, dtype=np.int32))
        yield Suggester(reader)


@settings(deadline=None)
@given(entities, st.data())
def test_entities_are_those_of_the_definition(given: list[tuple[str, list[str]]], data: st.DataObject) -> None:
    """Whatever the labels: empty words, marks alone, Turkish i, CJK, emoji, right to left."""
    rows = [{"id": f"{i:03}", "name": name, "aliases": aliases} for i, (name, aliases) in enumerate(given)]
    documents = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    things = [(r["id"], [r["name"], *r["aliases"]], n) for r, n in zip(rows, documents, strict=True)]
    with suggester_of(rows, [], documents) as suggester:
        for text in data.draw(st.lists(texts, min_size=1, max_size=4)):
            for limit in (1, 4, 200):
                found = suggester.entities(text, limit)
                assert [(hint.id, hint.label) for hint in found] == expected(things, text, limit)
                assert [hint.documents for hint in found] == [documents[int(hint.id)] for hint in found]


@settings(deadline=None)
@given(st.lists(hostile, min_size=1, max_size=12), st.data())
def test_types_are_those_of_the_definition(names: list[str], data: st.DataObject) -> None:
    """Labels are name and id; popular is what has many entities, through all levels."""
    ids = [f"T{i}" for i in range(len(names))]
    above = {t: data.draw(st.lists(st.sampled_from(ids[:i]), unique=True, max_size=2)) if i else []
             for i, t in enumerate(ids)}  # fmt: skip
    types = [{"id": t, "name": name, "supertypes": above[t]} for t, name in zip(ids, names, strict=True)]
    rows = [{"id": f"E{i}", "types": data.draw(st.lists(st.sampled_from(ids), max_size=2))} for i in range(6)]
    counted = {t: sum(t in reachable_types(row["types"], above) for row in rows) for t in ids}
    things = [(t, [name, t], counted[t]) for t, name in zip(ids, names, strict=True)]
    with suggester_of(rows, types, [0] * len(rows)) as suggester:
        for text in data.draw(st.lists(texts | st.sampled_from(["t", "T1"]), min_size=1, max_size=4)):
            found = suggester.types(text, 5)
            assert [(hint.id, hint.label) for hint in found] == expected(things, text, 5)
            assert [hint.entities for hint in found] == [counted[hint.id] for hint in found]
            assert [hint.supertypes for hint in found] == [sorted(above[hint.id]) for hint in found]


@settings(deadline=None)
@given(entities, st.data())
def test_a_type_leaves_its_entities(given: list[tuple[str, list[str]]], data: st.DataObject) -> None:
    """Those that match it, its subtypes' included, in the same order."""
    types: Rows = [{"id": "up"}, {"id": "down", "supertypes": ["up"]}, {"id": "side"}, {"id": "none"}]
    of = st.lists(st.sampled_from(["up", "down", "side"]), max_size=2)
    rows: Rows = [{"id": f"{i:03}", "name": n, "aliases": a, "types": data.draw(of)} for i, (n, a) in enumerate(given)]
    documents = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    with suggester_of(rows, types, documents) as suggester:
        for text in ("", data.draw(texts)):
            everything = suggester.entities(text, 1000)
            for wanted, has in (("up", {"up", "down"}), ("down", {"down"}), ("side", {"side"}), ("none", set())):
                found = suggester.entities(text, 7, wanted)
                assert found == [hint for hint in everything if has & set(hint.types)][:7]


# One by one

TYPES: Rows = [
    {"id": "T1", "name": "Scientist", "supertypes": ["T2"]},
    {"id": "T2", "name": "Person"},
    {"id": "T3", "name": "Computer scientist", "supertypes": ["T1"]},
    {"id": "science", "name": "Field of knowledge"},
]
ENTITIES: Rows = [
    {"id": "E1", "name": "Albert Einstein", "types": ["T1"], "aliases": ["Einstein", "A. E."]},
    {"id": "E2", "name": "Alfred Einstein", "types": ["T2"]},
    {"id": "E3", "name": "einsteinium", "types": ["science"]},
    {"id": "E4", "name": "Einstein (unit)", "types": []},
    {"id": "E5", "name": "Łukasz Çelik", "types": ["T3"]},
]
DOCUMENTS = [5, 2, 9, 0, 1]


@pytest.fixture(scope="module")
def suggester() -> Iterator[Suggester]:
    with suggester_of(ENTITIES, TYPES, DOCUMENTS) as found:
        yield found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("einstein", ["E1", "E3", "E4", "E2"]),  # exact by alias; prefix, popular first; words
        ("EINSTEIN a", ["E1", "E2"]),
        ("e a", ["E1", "E2"]),
        ("ei al al", ["E1", "E2"]),
        ("a e", ["E1", "E2"]),
        ("a. e", ["E1", "E2"]),
        ("einstein unit", ["E4"]),
        ("einstein (", ["E4", "E3", "E1", "E2"]),
        ("einstein )", ["E3", "E1", "E2", "E4"]),
        ("(unit", ["E4"]),
        ("celik lukasz", ["E5"]),
        ("Ç", ["E5"]),
        ("berlin", []),
        ("albert e. einstein berlin", []),
        ("(", []),
        ("!", []),
        ("  ", ["E3", "E1", "E2", "E5", "E4"]),
    ],
)
def test_golden(suggester: Suggester, text: str, found: list[str]) -> None:
    """Worked out by hand. Words of two labels do not add up, and signs alone find nothing but beginnings of labels."""
    assert [hint.id for hint in suggester.entities(text)] == found


def test_hints_say_what_matched(suggester: Suggester) -> None:
    """Whole hints: an alias as it is written, the type's counts through all levels."""
    assert suggester.entities("A.", 1) == [EntityHint("E1", "Albert Einstein", "A. E.", ["T1"], 5)]
    assert suggester.entities("alb", 1)[0].label == "Albert Einstein"
    assert suggester.types("scien") == [
        TypeHint("T1", "Scientist", "Scientist", ["T2"], 2, 1),
        TypeHint("science", "Field of knowledge", "science", [], 1, 0),
        TypeHint("T3", "Computer scientist", "Computer scientist", ["T1"], 1, 0),
    ]
    assert [hint.id for hint in suggester.types("", 2)] == ["T2", "T1"]


def test_a_type_is_given_by_id_or_name(suggester: Suggester) -> None:
    """As in a query; an unknown one is an error."""
    assert [hint.id for hint in suggester.entities("e", type="person")] == ["E1", "E2"]
    assert [hint.id for hint in suggester.entities("", type="T3")] == ["E5"]
    with pytest.raises(CatalogError, match='unknown type "persn"'):
        suggester.entities("e", type="persn")


@pytest.mark.parametrize("limit", [0, -1, 1.5, "3", None, True])
def test_a_limit_is_a_whole_number(suggester: Suggester, limit: Any) -> None:
    for ask in (suggester.types, suggester.entities):
        with pytest.raises(UsageError, match="limit must be a whole number from 1 on"):
            ask("e", limit)


def test_a_text_has_a_limit() -> None:
    """The same as a query; many words within it are no trouble."""
    with stored_catalog(ENTITIES, TYPES) as catalog:
        reader: Any = SimpleNamespace(catalog=catalog, entity_documents=np.array(DOCUMENTS, dtype=np.int32))
        small = Suggester(reader, Limits(query_characters=9))
        assert small.entities("a b c d e") == []
        with pytest.raises(UsageError, match="has 10 characters; at most 9, which FADER_LIMIT_QUERY_CHARACTERS raises"):
            small.types("a b c d ef")
        many = " ".join(["einstein"[: i % 8 + 1] for i in range(250)] + ["albert"])
        assert [hint.id for hint in Suggester(reader).entities(many)] == ["E1"]
        assert Suggester(reader).entities("\ud800", 1) == []


def test_documents_are_those_of_the_commit(tmp_path: Path) -> None:
    """Popularity follows from the documents that are there: added and deleted ones change the order."""
    mentions = {"x": [{"start": 0, "end": 1, "entity": "E1"}], "y": [{"start": 0, "end": 1, "entity": "E2"}]}
    corpus = [{"id": f"{who}{i}", "text": "a", "mentions": mentions[who]} for who in "xy" for i in range(3)]
    fader.build(tmp_path / "index", corpus[:-1], ENTITIES, TYPES)

    def order() -> list[tuple[str, int]]:
        return [(h.id, h.documents) for h in Suggester(IndexReader(tmp_path / "index")).entities("einstein a")]

    assert order() == [("E1", 3), ("E2", 2)]
    fader.delete(tmp_path / "index", ["x0", "x1"])
    assert order() == [("E2", 2), ("E1", 1)]


@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
def test_indexes_of_all_versions_are_completed_alike(version: str) -> None:
    """What a format before version 3 lacks is made in memory."""
    suggester = Suggester(IndexReader(FORMATS / version))
    suggester.warm()
    assert [hint.id for hint in suggester.entities("love a")] == ["E3"]
    assert [(hint.id, hint.entities) for hint in suggester.types("p")] == [("person", 2), ("place", 1)]
    assert [hint.id for hint in suggester.entities("", type="person")] == ["E3", "E1"]


def test_threads_share_one(suggester: Suggester) -> None:
    """Whoever asks first makes what all use."""
    with suggester_of(ENTITIES, TYPES, DOCUMENTS) as fresh, ThreadPoolExecutor(8) as pool:
        asked = list(pool.map(lambda i: (fresh.entities("e", 9), fresh.types("s")), range(40)))
    assert all(one == (suggester.entities("e", 9), suggester.types("s")) for one in asked)


def test_nothing_to_complete() -> None:
    """An empty catalog."""
    with suggester_of([], [], []) as nothing:
        nothing.warm()
        assert nothing.types("") == nothing.types("a") == []
        assert nothing.entities("") == nothing.entities("a b") == []

"""Names and texts that nobody should have, and that must neither break nor be slow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fader.corpora.annotate import Annotator
from fader.corpora.annotate.build import build
from fader.corpora.annotate.dictionary import MOST_TOKENS
from fader.corpora.annotate.groups import MOST_CANDIDATES
from fader.corpora.annotate.names import read_names
from fader.errors import CatalogError
from fader.limits import Limits


def test_names_without_tokens_are_passed_over() -> None:
    """Empty names, punctuation and symbols name nothing and are counted."""
    names = read_names([{"id": str(i), "name": name} for i, name in enumerate(["", "...", "  ", "☃", "-", "x y"])])
    made = build(names)
    assert made.names == 1
    assert made.notes == ['passed over 4 names without a letter or digit, such as "..."']
    annotator = Annotator(made.dictionary)
    assert [m.entity for m in annotator.annotate("... ☃ - x y")] == ["5"]


def test_names_of_one_character() -> None:
    annotator = Annotator.from_files([{"id": "c", "name": "C"}, {"id": "x", "name": "東"}, {"id": "r", "name": "Rust"}])
    assert [(m.start, m.entity) for m in annotator.annotate("C c 東 東京")] == [(0, "c"), (4, "x")]


def test_a_catalog_without_names_finds_nothing() -> None:
    assert Annotator.from_files([]).annotate("Marie Curie") == []
    assert Annotator.from_files([{"id": "a", "name": ""}]).annotate_all(["", "a"]) == [[], []]


def test_long_names() -> None:
    """A word of 10 kB is a name; a name of too many words is passed over; one beyond the limit is a fault."""
    word = "W" + "o" * 10_000
    names = read_names([{"id": "w", "name": word}, {"id": "many", "name": "many " * (MOST_TOKENS + 1)}])
    made = build(names)
    assert "more than 64 words" in made.notes[0]
    assert [m.entity for m in Annotator(made.dictionary).annotate(f"a {word} b")] == ["w"]
    with pytest.raises(CatalogError, match="at most 20,000"):
        read_names([{"id": "w", "name": "w" * 20_001}], limits=Limits())


def test_a_name_of_the_most_tokens() -> None:
    name = " ".join(f"w{i}" for i in range(MOST_TOKENS))
    annotator = Annotator.from_files([{"id": "n", "name": name}, {"id": "X", "name": "Xx"}], overlaps="nested")
    assert [(m.start, m.end) for m in annotator.annotate(f"{name} {name}")] == [
        (0, len(name)),
        (len(name) + 1, 2 * len(name) + 1),
    ]


def test_many_aliases_of_one_entity() -> None:
    aliases = [f"Alias Number{i}" for i in range(100_000)]
    annotator = Annotator.from_files([{"id": "e", "name": "E name", "aliases": aliases}, {"id": "f", "name": "alias"}])
    assert [m.entity for m in annotator.annotate("Alias Number77777 then alias")] == ["e", "f"]


def test_many_entities_of_one_name() -> None:
    """The first 64 are candidates; which is noted."""
    made = build(read_names([{"id": f"e{i:05d}", "name": "John Smith"} for i in range(5_000)]))
    assert made.dictionary.candidate_entity.size == MOST_CANDIDATES
    assert "4,936 are not" in made.notes[0]
    found = Annotator(made.dictionary).annotate("John Smith")
    assert [m.entity for m in found] == ["e00000"]
    assert found[0].confidence == pytest.approx(0.9 / 64, abs=1e-3)


def test_many_spellings_of_one_name() -> None:
    """Of thousands of spellings that differ only in case, the last 64 groups are kept, the widest rules among them."""
    word = "abcdefghijklm"
    spellings = ["".join(c.upper() if i >> k & 1 else c for k, c in enumerate(word)) for i in range(4096)]
    names = [{"id": str(i), "name": f"{s} {s.upper()} 1"} for i, s in enumerate(spellings)]
    made = build(read_names(names))
    assert Annotator(made.dictionary).annotate(f"{word} {word} 1")
    short = [{"id": f"e{i}{j}", "name": a + "," * (i + 1) + b} for i, a in enumerate("xX") for j, b in enumerate("yY")]
    short += [{"id": str(i), "name": "x" + "," * i + "y"} for i in range(200)]
    made = build(read_names(short))
    assert any("spellings" in note for note in made.notes)
    assert Annotator(made.dictionary).annotate("x y")


def test_texts_of_one_token_after_another_that_almost_match() -> None:
    """A walk goes at most 64 tokens far, so that texts made to be slow are not."""
    names = [{"id": "a", "name": " ".join(["aaaa"] * 64)}]
    text = " ".join(["aaaa"] * 63 + ["b"]) * 200
    assert Annotator.from_files(names).annotate(text) == []


@pytest.mark.parametrize(
    ("line", "what"),
    [(b"a\n", "1 columns"), (b"\tname\n", "2 columns"), (b"a\tb\tc\td\te\n", "5 columns"), (b"a\t\xff\n", "not UTF-8"),
     (b"a\tA\na\tB\n", "duplicate")],
)  # fmt: skip
def test_faults_of_catalogs(tmp_path: Path, line: bytes, what: str) -> None:
    """A bad row is an error that names file and line; with skip it is counted and the rest is used."""
    path = tmp_path / "entities.tsv"
    path.write_bytes(b"ok\tGood Name\r\n" + line + b"\n")
    with pytest.raises(CatalogError, match=what) as error:
        read_names(path)
    assert f"{path}:" in str(error.value)
    names = read_names(path, on_error="skip")
    assert names.skipped == 1
    assert names.ids[0] == "ok"
    assert names.surfaces[0] == b"Good Name"


def test_ids_of_any_text() -> None:
    catalog: list[dict[str, Any]] = [
        {"id": 'q"\\\u2028\U0001d11e', "name": "Quoted Thing"},
        {"id": 7, "name": "Seven Up"},
    ]
    annotator = Annotator.from_files(catalog)
    assert [m.entity for m in annotator.annotate("Quoted Thing, Seven Up")] == ['q"\\\u2028\U0001d11e', "7"]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Alpha, Beta, Gamma", "Alpha,\0,Beta Gamma", []),
        ("Alpha,\0 Beta", "Alpha,\0Beta; Alpha, Beta", ["Alpha,\0Beta"]),
        ("Alpha Beta", "\ud800 Alpha Beta\udfff", ["Alpha Beta"]),
        ("Alpha Beta", "Alpha\u200dBeta, Alpha \u200eBeta, Alpha\u202e Beta", 3),
        ("محمد علي", "قال محمد\u200f علي", ["محمد\u200f علي"]),
        ("İzmir", "İZMIR, i\u0307zmir, IZMIR, ızmir", ["İZMIR", "i\u0307zmir"]),
        ("Ofﬁce Straße", "OFFICE STRASSE", ["OFFICE STRASSE"]),
        ("Zoe", "Zoe\u0308, Zoe", ["Zoe"]),
        ("Alpha Beta", "\U0001f600" * 9 + "Alpha Beta", ["Alpha Beta"]),
    ],
)
def test_characters(name: str, text: str, expected: Any) -> None:
    """NUL, half a surrogate pair, what is not seen, right to left, dotless i, ligatures, marks; all by code points."""
    found = [text[m.start : m.end] for m in Annotator.from_files([{"id": "e", "name": name}]).annotate(text)]
    assert found == expected or len(found) == expected


def test_names_that_begin_one_another() -> None:
    names = ["New", "New York", "New York City", "New York City Council"]
    annotator = Annotator.from_files([{"id": n, "name": n} for n in names], overlaps="nested")
    text = "New York City Councils; New York City Council"
    assert [m.entity for m in annotator.annotate(text)] == [*names[2::-1], *names[::-1]]


def test_equal_spellings_go_by_the_catalog() -> None:
    """Of names that differ only in what stands between their words, and fit a text alike, the catalog's first."""
    for names in (["A, Bcde", "A; Bcde"], ["A; Bcde", "A, Bcde"]):
        annotator = Annotator.from_files([{"id": n, "name": n} for n in names])
        assert [m.entity for m in annotator.annotate("A Bcde / A, Bcde / A; Bcde")] == [names[0], "A, Bcde", "A; Bcde"]

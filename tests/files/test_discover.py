"""Names by capitals, types by patterns, spellings put together."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from cli.running import passed, refused
from fader.corpora.discover.find import discover
from fader.corpora.discover.names import find_names
from fader.corpora.discover.patterns import find_types, type_by_words
from fader.corpora.discover.spacy_names import find_model
from fader.corpus.catalog import read_catalog
from fader.corpus.singular import find_singular


def names(text: str) -> list[str]:
    return [text[n.start : n.end] for n in find_names(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("In 1952 Grace Hopper met Dr. Ada King.", ["Grace Hopper", "Ada King"]),
        ("The University of Oslo is in Norway.", ["University of Oslo", "Norway"]),
        ("We heard J. S. Bach and Hitler's aide.", ["J. S. Bach", "Hitler"]),
        ("World Health Organization staff met, Bob left.", ["World Health Organization", "Bob"]),
        ("New York, Paris and Rome", ["New York", "Paris", "Rome"]),
        ("We saw the President of the United States.", ["United States"]),
        ("nothing here. But this", []),
        ("They met Ada.\nBob went home.", ["Ada", "Bob"]),
        ("", []),
    ],
)
def test_names_are_runs_of_capitals(text: str, found: list[str]) -> None:
    """Sentence openers, titles, possessives and commas are no part of them."""
    assert names(text) == found


def test_the_first_word_of_a_sentence_says_little() -> None:
    """Alone it is weak; after a title it is a person."""
    assert [n.weak for n in find_names("Instruments were played.")] == [True]
    assert [(n.weak, n.titled) for n in find_names("Dr. King spoke.")] == [(False, True)]


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("x Marie Curie was a Polish physicist who", {"physicist"}),
        ("x Marie Curie (born 1867) was a famous Polish physicist.", {"physicist"}),
        ("x Warsaw, the capital of Poland, is", {"capital"}),
        ("x Berlin and other cities", {"city"}),
        ("many instruments such as the Theremin", {"instrument"}),
        ("x Phil Nelson <phil.nelson@acm.org> wrote it", {"person"}),
        ("x Bob (at <home>) was here", set()),
        ("x Bob was a member of it", set()),
        ("x Bob is the largest", set()),
    ],
)
def test_patterns_give_types(text: str, types: set[str]) -> None:
    """The head of a noun phrase, as a singular."""
    name = next(n for n in find_names(text) if text[n.start].isupper())
    assert {kind for kind, sure in find_types(text, name) if sure} == types


def test_words_of_names_give_types() -> None:
    """At the end, or for some at the start."""
    assert type_by_words("Acme Ltd.") == "company"
    assert type_by_words("Lake Como") == "lake"
    assert type_by_words("Ltd") == ""
    assert [find_singular(w) for w in ("cities", "glasses", "species", "bus", "people", "cats")] == [
        "city", "glass", "species", "bus", "person", "cat",
    ]  # fmt: skip


def test_spellings_of_one_entity_are_one() -> None:
    """Last names, initials and acronyms, where only one long name fits."""
    text = (
        "We met Grace Hopper. They like Grace Hopper and Hopper and G. Hopper. So Hopper left with G. Hopper. "
        "They asked the World Health Organization (WHO). So the World Health Organization met, as WHO does, and WHO."
    )
    found = {entity.name: entity for entity in discover([(text, [])])}
    assert set(found) == {"Grace Hopper", "World Health Organization"}
    assert found["Grace Hopper"].aliases == ["G. Hopper", "Hopper"]
    assert found["World Health Organization"].aliases == ["WHO"]
    assert found["World Health Organization"].types == ["organisation"]


def test_what_could_be_two_is_left_alone() -> None:
    """Hopper is neither Grace nor Dennis."""
    text = "We met Grace Hopper, Grace Hopper, Dennis Hopper, Dennis Hopper, then Hopper and Hopper."
    assert {entity.name for entity in discover([(text, [])])} == {"Grace Hopper", "Dennis Hopper", "Hopper"}


def test_the_command_writes_a_catalog_that_is_read_back(tmp_path: Path) -> None:
    """And does not replace one that a person may have edited."""
    (tmp_path / "a.txt").write_text("We met Grace Hopper. Then Grace Hopper spoke.\n")
    out = tmp_path / "catalog.tsv"
    assert passed("discover", tmp_path / "a.txt", "-o", out, "--json").json["entities"] == 1
    assert [e.name for e in read_catalog(out).entities] == ["Grace Hopper"]
    assert "--overwrite" in refused(1, "discover", tmp_path / "a.txt", "-o", out)
    (tmp_path / "b.txt").write_text("nothing here\n")
    assert "no name was found" in refused(1, "discover", tmp_path / "b.txt", "-o", tmp_path / "none.tsv")
    assert not (tmp_path / "none.tsv").exists()


def test_an_english_spacy_model_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of spaCy's own before others; one that is asked for and missing is an error."""
    module = "fader.corpora.discover.spacy_names"
    models = [EntryPoint(name, name, "spacy_models") for name in ("en_a", "en_core_web_md", "de_core_news_sm")]
    for installed, best in ((models, "en_core_web_md"), (models[::2], "en_a"), (models[2:], None)):
        monkeypatch.setattr(f"{module}.entry_points", lambda group, installed=installed: installed)
        assert find_model() == best
    (tmp_path / "a.txt").write_text("Grace Hopper met Grace Hopper.")
    given = "discover", tmp_path / "a.txt", "-o", tmp_path / "c.tsv", "--spacy-model", "en_none"
    assert 'spaCy has no model "en_none"' in refused(2, *given)

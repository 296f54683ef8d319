"""Titles, redirects, nouns, types and propagated names: golden cases, and oracles by brute force."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpora.parsers.wiki import dump
from fader.corpora.parsers.wiki.kinds import Kinds, is_disambiguation
from fader.corpora.parsers.wiki.nouns import (
    find_bracketed_nouns,
    find_category_classes,
    find_category_nouns,
    find_defined_nouns,
    find_described_nouns,
    make_singular,
)
from fader.corpora.parsers.wiki.propagate import list_own_names, propagate_links
from fader.corpora.parsers.wiki.redirects import Redirects, Spool
from fader.corpora.parsers.wiki.titles import LANGUAGE, OTHER_WIKI, SECTION, Target, find_target, read_site
from fader.corpus.documents import Faults

HEAD = """<mediawiki xml:lang="de"><siteinfo><base>https://de.example.org/wiki/Hauptseite</base>
<case>first-letter</case><namespaces><namespace key="6" case="first-letter">Datei</namespace>
<namespace key="14">Kategorie</namespace></namespaces>"""


def test_site() -> None:
    """A dump's own names of namespaces hold beside the English ones; the language and address are the dump's."""
    site = read_site(HEAD)
    assert (site.language, site.english, site.first_letter) == ("de", False, True)
    assert site.base == "https://de.example.org/wiki/"
    for written in ("Kategorie:Physiker", "Category:Physiker", "kategorie : physiker"):
        assert find_target(site, written) == Target(14, "Physiker")
    assert find_target(site, "Datei:X.jpg").space == 6
    assert not read_site("<case>case-sensitive</case>").first_letter
    assert find_target(read_site("<case>case-sensitive</case>"), "cat").title == "cat"
    assert read_site("").english


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("cat", Target(0, "Cat")),
        (" cat__food ", Target(0, "Cat food")),
        ("Cat#Tail", Target(0, "Cat")),
        ("#Tail", Target(SECTION, "")),
        ("fr:Chat", Target(LANGUAGE, "Chat")),
        ("wikt:cat", Target(OTHER_WIKI, "Cat")),
        ("w:cat", Target(0, "Cat")),
        ("Star Wars: Episode I", Target(0, "Star Wars: Episode I")),
        ("talk:cat", Target(1, "Cat")),
        ("Caf%C3%A9", Target(0, "Café")),
        ("100% cat", Target(0, "100% cat")),
        ("AT&amp;T", Target(0, "AT&T")),
    ],
)
def test_targets(written: str, expected: Target) -> None:
    """What links lead to in the English Wikipedia."""
    assert find_target(read_site(""), written) == expected


PAIRS = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("abcdefghxyz"), max_size=8)


@settings(deadline=None, max_examples=200)
@given(PAIRS)
def test_redirects(pairs: dict[str, str]) -> None:
    """Chains are followed to their end; those that lead in a circle are no redirects."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        spool = Spool(Path(name))
        for title, end in pairs.items():
            spool.redirect(title, end)
        spool.article("x")
        counts = spool.finish()
        table = Redirects(Path(name))
        found = table.resolve("abcdefghxyz")
        assert table.articles("xyz") == {"x"}
    expected = {}
    for title in pairs:
        end, seen = title, set()
        while end in pairs and end not in seen:
            seen.add(end)
            end = pairs[end]
        if end not in pairs:
            expected[title] = end
    assert found == expected
    assert counts == {"redirects": len(pairs), "redirects that lead in a circle": len(pairs) - len(expected)}


@pytest.mark.parametrize(
    ("category", "nouns"),
    [
        ("Vaccines", "vaccine"), ("People from Berlin", "person"), ("1879 births", "person"),
        ("Living people", "person"),
        ("Buildings and structures in X", "building structure"), ("Novels set in Paris", "novel"), ("Physics", ""),
        ("The Beatles", ""), ("United States", ""), ("Articles with short description", ""), ("Use dmy dates", ""),
        ("Films directed by X", "film"), ("Alumni of X College", "alumnus"), ("Anarchism", ""),
        ("Cities in Italy", "city"),
        ("Women in war", "woman"), ("Viruses", "virus"), ("Lighthouses in Norway", "lighthouse"),
        ("Churches", "church"), ("Pigs in literature", ""), ("Cats in popular culture", ""), ("Burials at X", "person"),
        ("Members of the X Academy", ""), ("Miniseries", "miniseries"),
    ],
)  # fmt: skip
def test_category_nouns(category: str, nouns: str) -> None:
    """The head nouns of a category in the singular; none where it is no class of things."""
    assert find_category_nouns(category) == tuple(nouns.split())


@pytest.mark.parametrize(
    ("category", "classes"),
    [
        ("American film directors", [("film director", "director")]),
        ("American male tennis players", [("male tennis player", "tennis player", "player")]),
        ("German physicists", [("physicist",)]),
        ("Tennis players", [("player",)]),
        ("20th-century women writers", [("woman writer", "writer")]),
        ("American dramatists and playwrights", [("dramatist",), ("playwright",)]),
        ("Science fiction and fantasy writers", [("fantasy writer", "writer")]),
        ("X Award winning works", [("work",)]),
    ],
)
def test_category_classes(category: str, classes: list[tuple[str, ...]]) -> None:
    """Head nouns with the small words that qualify them, and what these are below."""
    assert find_category_classes(category) == tuple(classes)


@pytest.mark.parametrize(
    ("phrase", "nouns"),
    [
        ("film", "film"), ("1950 film", "film"), ("card game", "game"), ("painting", "painting"), ("biology", ""),
        ("mathematics", ""), ("law", ""), ("legal", ""), ("Aristotle", ""), ("disambiguation", ""), ("name", ""),
        ("town, Ohio", "town"),
    ],
)  # fmt: skip
def test_bracketed_nouns(phrase: str, nouns: str) -> None:
    """What the brackets of a title say that it is; a field of knowledge says nothing."""
    assert find_bracketed_nouns(phrase) == nouns.split()


@pytest.mark.parametrize(
    ("text", "nouns"),
    [
        ("Aardvarks are a burrowing mammal native to Africa.", "mammal"),
        ("Ann Lee (born 1879) was a German-born theoretical physicist who developed x.", "physicist"),
        ("Berlin is the capital and largest city of Germany.", "capital city"),
        ("Autism is a neurodevelopmental disorder characterized by x.", "disorder"),
        ("Algae are a large and diverse group of photosynthetic organisms.", "group organism"),
        ("The accordion is a type of musical instrument of the x family.", "instrument"),
        ("She is an American actress, film director, and producer best known for x.", "actress director producer"),
        ("Alabama is a U.S. state in the south.", "state"),
        ("Rosa is a genus of flowering plants. It is a thing.", "genus plant"),
        ("It rained.", ""),
        ("", ""),
    ],
)
def test_defined_nouns(text: str, nouns: str) -> None:
    """What the first sentence says its subject is."""
    assert find_defined_nouns(text) == nouns.split()


def test_described_nouns() -> None:
    """A short description without a verb."""
    assert find_described_nouns("English naturalist and geologist (1809-1882)") == ["naturalist", "geologist"]
    assert [make_singular(w) for w in ("houses", "boxes", "heroes", "waves", "policemen")] == [
        "house",
        "box",
        "hero",
        "wave",
        "policeman",
    ]


def test_types() -> None:
    """Categories, infoboxes, first sentence and title; a category stands below parents of a noun known to be above."""
    kinds = Kinds({"physicist": ("scientist",), "scientist": ("person",)}, english=True, categories=True)
    types = kinds.of_article(
        "X (film)", "X is a bridge.", ["German physicists"], ["Infobox musical artist\n|x", "cite"]
    )
    assert types == ["wikicat_German_physicists", "physicist", "musical_artist", "bridge", "film"]
    assert kinds.includes(types, "person")
    kinds.below("German physicists", ["German scientists", "Physicists", "Guitars", "Physics"])
    rows = {(row.id, tuple(row.supertypes)) for row in kinds.rows}
    assert ("physicist", ("scientist",)) in rows
    assert ("musical_artist", ("artist",)) in rows
    assert ("wikicat_German_physicists", ("wikicat_German_scientists", "wikicat_Physicists")) in rows
    german = Kinds({}, english=False, categories=True)
    assert german.of_article("X", "X ist Physiker.", ["Physiker"], []) == ["wikicat_Physiker"]
    plain = Kinds({"player": ("person",)}, english=True, categories=False)
    types = plain.of_article("X", "X is a player.", ["British male tennis players", "Tennis players"], [])
    assert types == ["male_tennis_player"]
    assert plain.includes(types, "person")
    boxes = ["Infobox province or territory of Canada|x", "Infobox symbols"]
    assert plain.of_article("X", "", [], boxes) == ["province_or_territory_of_canada"]
    assert ("province_or_territory_of_canada", ("territory",)) in {(r.id, tuple(r.supertypes)) for r in plain.rows}
    assert plain.of_article("X", "", [], ["Infobox tennis biography"]) == ["person"]
    assert is_disambiguation("X", ["disambiguation|geo"])
    assert not is_disambiguation("X", ["Infobox disambiguator"])


def test_propagated() -> None:
    """Later occurrences, the longest name first, free-standing, not over links, not of words with two meanings."""
    text = "Ann Lee met Bo Oak. Lee and Oak saw Rome. Annex. Ann Lee, Bo Oak, Bo Oaks; Paris and Paris."
    links = [(text.index(s), text.index(s) + len(s), e) for s, e in (("Bo Oak", "B"), ("Rome", "R"))]
    first = text.index("Paris")
    links += [(first, first + 5, "P1"), (text.rindex("Paris"), text.rindex("Paris") + 5, "P2")]
    found = [
        (text[a:b], entity)
        for a, b, entity, _sure in propagate_links(text, links, list_own_names("Ann Lee", [], True), "A")
    ]
    assert found == [("Ann Lee", "A"), ("Lee", "A"), ("Ann Lee", "A"), ("Bo Oak", "B")]
    assert list_own_names("Autism", [], False).keys() == {"Autism", "autism"}
    assert list_own_names("Ann Lee (chemist)", ["Ann M. Lee"], True).keys() == {"Ann Lee", "Ann M. Lee", "Lee"}


WORDS = st.lists(st.sampled_from(["Ann", "Lee", "Oak", "ox", "Ann Lee"]), min_size=1, max_size=30).map(" ".join)


@settings(deadline=None, max_examples=200)
@given(WORDS, st.sets(st.integers(0, 20), max_size=4))
def test_propagated_anywhere(text: str, chosen: set[int]) -> None:
    """Mentions never overlap each other or a link, and have the words of a name of theirs."""
    words = [(i, word) for i, word in enumerate(text.split())]
    places, at = [], 0
    for _i, word in words:
        places.append((at, at + len(word), word))
        at += len(word) + 1
    links = [(a, b, w.upper()) for i, (a, b, w) in enumerate(places) if i in chosen]
    found = propagate_links(text, links, {"Ann Lee": 0.9}, "own")
    spans = sorted([(a, b) for a, b, _e in links] + [(a, b) for a, b, _e, _s in found])
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(spans))
    for a, b, entity, _sure in found:
        assert text[a:b] == "Ann Lee" if entity == "own" else text[a:b].upper() == entity


def test_pages() -> None:
    """Pages of a piece; old redirects, several revisions, empty texts, escapes; faults with their byte."""
    faults = Faults()
    data = (
        b"junk<page><title>A &amp; B</title><ns>0</ns><id>1</id><revision><text>old</text></revision>"
        b'<revision><text xml:space="preserve">x &lt;b&gt; &amp;nbsp;</text></revision></page>'
        b"<page><title>C</title><ns>0</ns><revision><text>#REDIRECT: [[A &amp; B|x]]</text></revision></page>"
        b'<page><title>D</title><ns>0</ns><revision><text bytes="0" /></revision></page>'
        b"<page><title>E</title></page><page><title>F</title><revision><text>cut"
    )
    found = list(dump.read_pages(data, 1000, "f.xml", faults))
    assert [(page.title, page.body) for page in found][:1] == [("A & B", b"x &lt;b&gt; &amp;nbsp;")]
    assert [dump.find_redirect(page) for page in found] == ["", "A & B", ""]
    assert faults.counts == {"pages without title or text": 1, "pages cut short": 1}
    assert f"byte {1000 + data.index(b'<page><title>E'):,}" in faults.examples["pages without title or text"][0]

"""The compiled annotator against the rules as a slow program."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate import oracle
from fader.corpora.annotate.build import build
from fader.corpora.annotate.match import POLICIES, Matcher
from fader.corpora.annotate.names import Names

COMMON = {"a", "the", "who", "ab", "aab", "straße", "strasse"}
# Letters that fold together, combine, have no case, title case; digits; every kind of gap.
WORDS = st.sampled_from(
    ["a", "A", "b", "B", "AB", "Ab", "ab", "aab", "Aab", "AAB", "aabb", "Aabb", "the", "The", "THE", "Who", "who",
     "WHO", "é", "E\u0301", "É", "e\u0301a", "ß", "ss", "SS", "Straße", "STRASSE", "ǅ", "ǆ", "İ", "i", "ı", "K", "k",
     "\u212a", "東京", "1", "12", "ﬁ", "fi", "Å", "\u212b", "σ", "ς", "Σ", "abcdefghijk", "Abcdefghijk", "ABCDEFGHIJK",
     "\u0301"]
)  # fmt: skip
GAPS = st.sampled_from(
    [" ", " ", " ", "-", "'", ". ", ".", ", ", "! ", "\n", "\n\n", "\r\n", "  ", " (", ") ", "&", " — ", "–", "\u00a0",
     "\u2009", "         ", " :::::::::::: ", "…", "\u00ad", "。", "𝄞", "·", "_", "\u2028", "\ufeff", "\0", ",\0,",
     ", ", ",", "; ", "\u200d", " \u200e", "\u061c", "\u202e\u2066", "\u1680", "\u3000"]
)  # fmt: skip


@st.composite
def strings(draw: st.DrawFn, most: int) -> str:
    words = draw(st.lists(WORDS, max_size=most))
    return "".join(word + draw(GAPS) for word in words) + draw(st.sampled_from(["", "", ".", "a"]))


CATALOGS = st.lists(st.tuples(st.sampled_from("EFGH"), strings(4)), max_size=12)


def names_of(catalog: list[tuple[str, str]]) -> Names:
    ids = sorted({e for e, _name in catalog})
    surfaces = [name.encode() for _e, name in catalog]
    owners = [ids.index(e) for e, _name in catalog]
    return Names(ids, surfaces, owners, [1.0] * len(surfaces), [b""] * len(ids))


def found(catalog: list[tuple[str, str]], texts: list[str], policy: str) -> list[list[oracle.Found]]:
    names = names_of(catalog)
    dictionary = build(names, frozenset(w.encode() for w in COMMON)).dictionary
    matcher = Matcher(dictionary)
    tokens, term = matcher.scan([t.encode() for t in texts])
    matches = matcher.match(tokens, term, POLICIES[policy])
    out, first = [], 0
    for end in matches.ends.tolist():
        rows = []
        for m in range(first, end):
            g, t = matches.group[m], matches.token[m]
            a, b = dictionary.group_candidates[g : g + 2]
            entities = frozenset(names.ids[e] for e in dictionary.candidate_entity[a:b])
            rows.append((int(tokens.first[t]), int(tokens.last[t + matches.length[m] - 1]), entities))
        out.append(rows)
        first = end
    return out


@pytest.mark.parametrize("policy", list(POLICIES))
@settings(deadline=None)
@given(catalog=CATALOGS, texts=st.lists(strings(10), min_size=1, max_size=4))
def test_spans_are_those_of_the_rules(policy: str, catalog: list[tuple[str, str]], texts: list[str]) -> None:
    """Spans are the oracle's, and the deciding group's entities are among those of the names that apply."""
    names = oracle.prepared(catalog, COMMON)
    for text, rows in zip(texts, found(catalog, texts, policy), strict=True):
        expected = oracle.annotate(names, text, policy)
        assert [row[:2] for row in rows] == [row[:2] for row in expected], text
        for row, wanted in zip(rows, expected, strict=True):
            assert row[2]
            assert row[2] <= wanted[2]


@settings(deadline=None)
@given(catalog=CATALOGS, texts=st.lists(strings(10), min_size=2, max_size=5))
def test_batches_do_not_matter(catalog: list[tuple[str, str]], texts: list[str]) -> None:
    """Texts annotated together are annotated as each alone."""
    together = found(catalog, texts, "longest")
    assert together == [found(catalog, [text], "longest")[0] for text in texts]

"""What a linked corpus teaches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fader.corpora.annotate import Annotator
from fader.errors import InputError, UsageError

CATALOG = [
    {"id": "capital", "name": "Paris (capital)", "types": ["city"]},
    {"id": "trojan", "name": "Paris (hero)", "types": ["hero"]},
    {"id": "dog", "name": "Dog", "types": ["animal"]},
]


def linked(path: Path, rows: list[tuple[str, list[tuple[str, str]]]]) -> Path:
    """A corpus file: texts, and in each the surfaces that are mentions, at their first place."""
    lines = []
    for i, (text, mentions) in enumerate(rows):
        spans = [{"start": text.index(s), "end": text.index(s) + len(s), "entity": entity} for s, entity in mentions]
        lines.append(json.dumps({"id": str(i), "text": text, "mentions": spans}))
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def annotator(tmp_path: Path) -> Annotator:
    rows: list[tuple[str, list[tuple[str, str]]]] = []
    rows += [("Paris lies on the Seine, in France", [("Paris", "capital")])] * 6
    rows += [("Paris took Helen to Troy", [("Paris", "trojan")])] * 2
    rows += [("the dog barked", [("dog", "dog")])] * 3
    rows += [("the dog slept", [])] * 1
    rows += [("City of Light", [("City of Light", "capital")]), ("unknown Thing", [("Thing", "nobody")])]
    return Annotator.from_files(CATALOG, links=[linked(tmp_path / "links.jsonl", rows)])


def test_what_is_meant_most_often_is_the_prior(annotator: Annotator) -> None:
    """(6 + 1/2) / 9 for the capital, by counts and the catalog; all 8 spans are mentions: link = (8 + 1.6) / 10."""
    found = annotator.annotate("Paris")[0]
    assert found.entity == "capital"
    assert found.confidence == pytest.approx(6.5 / 9 * 0.96, abs=1e-3)


def test_words_near_mentions_choose(annotator: Annotator) -> None:
    assert annotator.annotate("Paris and Helen went to Troy")[0].entity == "trojan"
    assert annotator.annotate("Paris by the Seine")[0].entity == "capital"


def test_attested_spellings_override_the_rules(annotator: Annotator) -> None:
    """`dog` is a common word and would need its capital; it is a mention three times in four: (3 + 2 * 0.6) / 6."""
    assert [m.entity for m in Annotator.from_files(CATALOG).annotate("a dog")] == []
    found = annotator.annotate("a dog")[0]
    assert found.entity == "dog"
    assert found.confidence == pytest.approx((3 + 2 * 0.6) / 6, abs=1e-3)


def test_attested_names_that_the_catalog_has_not(annotator: Annotator) -> None:
    assert [m.entity for m in annotator.annotate("in the City of Light")] == ["capital"]
    assert annotator.annotate("in the city of light") == []


def test_the_order_of_documents_changes_no_prior(tmp_path: Path) -> None:
    rows: list[Any] = [("Paris of Troy", [("Paris", "trojan")]), ("Paris", [("Paris", "capital")])] * 3
    one = Annotator.from_files(CATALOG, links=[linked(tmp_path / "a.jsonl", rows)])
    two = Annotator.from_files(CATALOG, links=[linked(tmp_path / "b.jsonl", rows[::-1])])
    for text in ("Paris", "Paris of Troy", "Dog"):
        assert one.annotate(text) == two.annotate(text)


def test_links_must_be_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        Annotator.from_files(CATALOG, links=[tmp_path / "none.jsonl"])
    with pytest.raises(UsageError, match="read twice"):
        Annotator.from_files(CATALOG, links=["-"])

"""What every importer must keep, on every fixture there is; a new importer needs a fixture, and no new test here.

What holds of any importer is the contract that plug-ins have too (`fader.testing.importers`); what only a fixture can
say is here.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import fader
from corpora.cases import Case, all_cases
from fader.corpora.frame import inputs
from fader.corpora.frame.base import Importer
from fader.corpora.frame.run import run
from fader.registry import discover
from fader.testing.importers import check_description, check_importer, check_variants, list_surfaces

CASES = all_cases()
FIRST = {case.format: case for case in CASES[::-1]}  # one of each format
each_case = pytest.mark.parametrize("case", CASES, ids=str)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fixtures are small; so must be the pieces, for there to be several. The disk need not be waited for."""
    monkeypatch.setattr(inputs, "PIECE", 300)
    monkeypatch.setattr(os, "fsync", lambda _handle: None)


def test_every_importer_has_a_fixture() -> None:
    """An importer without a fixture is not tested."""
    assert {case.format for case in CASES} == set(discover("fader.corpora.formats"))


@pytest.mark.parametrize("name", discover("fader.corpora.formats"))
def test_describes_itself(name: str) -> None:
    """An importer has a title, an example that calls it, a citation, and help for each option."""
    part = discover("fader.corpora.formats")[name]
    assert issubclass(part, Importer)
    assert part().name == name
    check_description(part())


@each_case
def test_contract(case: Case) -> None:
    """The contract of importers; what the frame does with processes does not hang on a format's variants."""
    check_importer(case.importer(), case.sources, processes=2 if case is FIRST[case.format] else 1)


@pytest.mark.parametrize("case", [case for case in CASES if case.importer().files], ids=str)
def test_variants(case: Case) -> None:
    """Sources that are compressed, cut short, broken or have other line ends, as far as the format can have them."""
    check_variants(case.importer(), case.sources, case.has("compressed"), case.has("crlf"), case.has("broken"))


@each_case
def test_what_the_fixture_says(case: Case, tmp_path: Path) -> None:
    """Counts, faults and surfaces; the index builds without a single fault, and a search finds what it must."""
    out = tmp_path / "out"
    report = run(case.importer(), case.sources, out, part_bytes=1)
    expected = dict(case.written["expect"])
    assert report.faults.counts == expected.pop("faults", {})
    assert {name: report.counts.get(name, 0) for name in expected} == expected
    found = list_surfaces(out)
    for name, mentions in case.written.get("surfaces", {}).items():
        assert found[name] == [tuple(mention) for mention in mentions]
    if "entities.tsv" not in report.files:
        return
    corpus = [str(out / "corpus.jsonl")] if report.counts["documents"] else []
    entities, types = str(out / "entities.tsv"), str(out / "types.tsv")
    index = fader.build(tmp_path / "index", corpus, entities, types, on_error="fail", catalog_on_error="fail")
    if "search" in case.written:
        asked = case.written["search"]
        answer = index.search(asked["query"], type=asked.get("type"))
        assert asked["finds"] in [result.entity for result in answer.results]

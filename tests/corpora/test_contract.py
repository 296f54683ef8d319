"""What every importer must keep, on every fixture there is; a new importer needs a fixture, and no new test here."""

from __future__ import annotations

import bz2
import contextlib
import dataclasses
import gzip
import itertools
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import zstandard

import fader
from corpora.cases import Case, all_cases, contents, documents
from fader.corpora.frame import inputs
from fader.corpora.frame.base import Importer
from fader.corpora.frame.run import ImportReport, run
from fader.corpora.frame.store import Store
from fader.corpus.catalog import read_catalog
from fader.errors import FaderError
from fader.registry import discover

CASES = all_cases()
each_case = pytest.mark.parametrize("case", CASES, ids=str)
# What the frame does with processes and folders does not hang on a format's variants: one case of each will do.
each_format = pytest.mark.parametrize("case", list({case.format: case for case in CASES[::-1]}.values()), ids=str)


def each_with(variant: str) -> pytest.MarkDecorator:
    """The cases whose sources are files that can have a variant."""
    return pytest.mark.parametrize("case", [case for case in CASES if case.has(variant)], ids=str)


class Killed(BaseException):
    """Stands for the end of a process."""


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fixtures are small; so must be the pieces, for there to be several. The disk need not be waited for."""
    monkeypatch.setattr(inputs, "PIECE", 300)
    monkeypatch.setattr(os, "fsync", lambda _handle: None)


def imported(case: Case, out: Path, **more: Any) -> ImportReport:
    return run(case.importer(), case.sources, out, **{"part_bytes": 1, **more})


def test_every_importer_has_a_fixture() -> None:
    """An importer without a fixture is not tested."""
    assert {case.format for case in CASES} == set(discover("fader.corpora.formats"))


@pytest.mark.parametrize("name", discover("fader.corpora.formats"))
def test_describes_itself(name: str) -> None:
    """An importer has a title, an example that calls it, a citation, and help for each option."""
    part = discover("fader.corpora.formats")[name]
    assert issubclass(part, Importer)
    assert part.title
    assert part.citation
    assert f"fader import {name} " in part.example
    assert all(field.metadata["help"] for field in dataclasses.fields(part))
    assert part().name == name


@each_case
def test_counts(case: Case, tmp_path: Path) -> None:
    """Counts and faults are what the fixture says; each fault names the source it is in."""
    report = imported(case, tmp_path / "out")
    expected = dict(case.written["expect"])
    assert report.faults.counts == expected.pop("faults", {})
    assert {name: report.counts.get(name, 0) for name in expected} == expected
    for examples in report.faults.examples.values():
        assert all(":" in example for example in examples)


@each_case
def test_surfaces(case: Case, tmp_path: Path) -> None:
    """Text sliced by the offsets of a mention gives the surface that the source has."""
    imported(case, tmp_path / "out")
    found = {
        d["id"]: [[d["text"][m["start"] : m["end"]], m["entity"]] for m in d["mentions"]]
        for d in documents(tmp_path / "out")
    }
    for name, mentions in case.written.get("surfaces", {}).items():
        assert found[name] == mentions


@each_case
def test_indexes(case: Case, tmp_path: Path) -> None:
    """The catalog is sound, the index builds without a single fault, and a search finds what the fixture says."""
    report = imported(case, tmp_path / "out")
    out = tmp_path / "out"
    if "entities.tsv" not in report.files:
        return
    assert not read_catalog(out / "entities.tsv", out / "types.tsv").notes
    corpus = [str(out / "corpus.jsonl")] if report.counts["documents"] else []
    index = fader.build(
        tmp_path / "index", corpus, str(out / "entities.tsv"), str(out / "types.tsv"), on_error="fail",
        catalog_on_error="fail",
    )  # fmt: skip
    if "search" in case.written:
        asked = case.written["search"]
        answer = index.search(asked["query"], type=asked.get("type"))
        assert asked["finds"] in [result.entity for result in answer.results]


@each_case
def test_resumes(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is killed when a part is whole, or just before, goes on and gives the same bytes."""
    end_part, parts, kill_at, before = Store.end_part, 0, 0, False

    def counted(store: Store) -> None:
        nonlocal parts
        parts += 1
        if parts == kill_at and before:
            raise Killed
        end_part(store)
        if parts == kill_at:
            raise Killed

    monkeypatch.setattr(Store, "end_part", counted)
    imported(case, tmp_path / "whole")
    for kill_at, before in sorted(itertools.product({1, 2, parts // 2 + 1, parts}, (True, False))):
        out, parts = tmp_path / f"out{kill_at}{before}", 0
        if kill_at > 0:
            with contextlib.suppress(Killed):
                imported(case, out)
        if parts == kill_at:  # else there are fewer parts
            parts = -1000
            imported(case, out)
        assert contents(out) == contents(tmp_path / "whole")


@each_format
def test_processes_do_not_matter(case: Case, tmp_path: Path) -> None:
    """Two processes give the bytes of one."""
    imported(case, tmp_path / "one")
    imported(case, tmp_path / "two", processes=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


@each_format
def test_refuses_other_sources_and_finished_folders(case: Case, tmp_path: Path) -> None:
    """A finished import is not overwritten unless told."""
    imported(case, tmp_path / "out")
    with pytest.raises(FaderError, match="--restart"):
        imported(case, tmp_path / "out")
    before = contents(tmp_path / "out")
    imported(case, tmp_path / "out", restart=True)
    assert contents(tmp_path / "out") == before


def variant(case: Case, folder: Path, change: Any, suffix: str = "") -> list[str]:
    """The sources of a case, each changed, in a folder of their own."""
    shutil.copytree(case.path.parent, folder)
    made = []
    for name in case.written["sources"]:
        below = [folder / name] if (folder / name).is_file() else sorted(p for p in (folder / name).rglob("*.*"))
        for path in below:
            data = change(path.read_bytes())
            path.unlink()
            path.with_name(path.name + suffix).write_bytes(data)
        made.append(str(folder / name) + (suffix if not (folder / name).is_dir() else ""))
    return made


def results(folder: Path) -> dict[str, bytes]:
    """What an import wrote, but for the report, which names sources."""
    return {name: data for name, data in contents(folder).items() if name != "import.json"}


@each_with("compressed")
@pytest.mark.parametrize(
    ("suffix", "compress"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".zst", zstandard.ZstdCompressor().compress)],
)
def test_compression_does_not_matter(case: Case, suffix: str, compress: Any, tmp_path: Path) -> None:
    """Compressed sources give the bytes of plain ones."""
    imported(case, tmp_path / "plain")
    sources = variant(case, tmp_path / "sources", compress, suffix)
    run(case.importer(), sources, tmp_path / "out", part_bytes=1)
    assert results(tmp_path / "plain") == results(tmp_path / "out")


@each_with("crlf")
def test_line_ends_do_not_matter(case: Case, tmp_path: Path) -> None:
    """Sources with CRLF give as many records, and the same surfaces."""
    plain = imported(case, tmp_path / "plain")
    sources = variant(case, tmp_path / "sources", lambda data: data.replace(b"\n", b"\r\n"))
    report = run(case.importer(), sources, tmp_path / "out", part_bytes=1)
    assert report.counts == plain.counts
    for before, after in zip(documents(tmp_path / "plain"), documents(tmp_path / "out"), strict=True):
        assert before["id"] == after["id"]
        assert [before["text"][m["start"] : m["end"]] for m in before["mentions"]] == [
            after["text"][m["start"] : m["end"]] for m in after["mentions"]
        ]


@each_with("compressed")
def test_a_cut_source_is_a_fault(case: Case, tmp_path: Path) -> None:
    """A compressed source that ends early is counted and named; the policy to fail ends the run at the first fault."""
    cut = variant(case, tmp_path / "sources", lambda data: gzip.compress(data)[:-12], ".gz")
    report = run(case.importer(), cut, tmp_path / "out", part_bytes=1)
    assert inputs.CUT in report.faults.counts
    assert all(".gz" in example for example in report.faults.examples[inputs.CUT])
    with pytest.raises(FaderError) as raised:
        run(case.importer(), cut, tmp_path / "other", on_error="fail", part_bytes=1)
    assert any(each in str(raised.value) for examples in report.faults.examples.values() for each in examples)


@each_with("broken")
@pytest.mark.parametrize("where", [0.2, 0.5, 0.9])
def test_broken_bytes_never_stop_an_import(case: Case, where: float, tmp_path: Path) -> None:
    """Bytes that are not UTF-8, or the end of an uncompressed source, are at most a fault; what is written is sound."""

    def broken(data: bytes) -> bytes:
        at = int(len(data) * where)
        return data[:at] + b"\xff\xfe" + data[at:-1]

    report = run(case.importer(), variant(case, tmp_path / "sources", broken), tmp_path / "out", part_bytes=1)
    if "entities.tsv" in report.files:
        read_catalog(tmp_path / "out" / "entities.tsv", tmp_path / "out" / "types.tsv")
    assert len(documents(tmp_path / "out")) == report.counts["documents"]
    json.loads((tmp_path / "out" / "import.json").read_text())

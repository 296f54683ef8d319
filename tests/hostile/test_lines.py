"""Lines that nobody should write, among good ones: corpora, catalogs, queries, judgments, compressed or not.

A hundred thousand corrupted lines with FADER_DOSE=1. A failing batch prints its number; `cases.line(drawn(SEED, i))` is
line i again.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import zstandard

import fader
from dose import dose
from fader.corpus.catalog import read_catalog
from fader.corpus.documents import Faults, read_corpus
from fader.corpus.queries import FaultCollector, read_qrels, read_queries
from fader.errors import FaderError, InputError
from fader.index.verify.check import check
from fader.search.batch import parse_all
from hostile import world
from hostile.cases import catalog_line, damaged, drawn, line

SEED = "lines-1"
BATCH = 1_000
LONGEST = 600  # characters of a message that people can read
ENTITIES = [{"id": "E", "types": ["T"]}, {"id": "F"}, {"id": "GOOD", "types": ["T"]}]
TYPES = [{"id": "T"}]
TIMEOUT = pytest.mark.timeout(4 * 3600)


def good(number: int) -> bytes:
    """A line that must be indexed whatever stands around it."""
    mention = {"start": 8, "end": 14, "entity": "GOOD", "confidence": 0.5}
    return json.dumps({"id": f"good-{number:09}", "text": "splendid Euler", "mentions": [mention]}).encode()


def batch(number: int) -> tuple[list[bytes], int]:
    """Corrupted lines with a good one after every third, and how many are good."""
    lines: list[bytes] = []
    for i in range(number * BATCH, (number + 1) * BATCH):
        lines.append(line(drawn(SEED, i), f"case-{i}"))
        if i % 3 == 0:
            lines.append(good(i))
    return lines, sum(text.startswith(b'{"id": "good-') for text in lines)


def readable(messages: list[str], where: str) -> None:
    """Whether people can read what is said."""
    for message in messages:
        assert 0 < len(message) <= LONGEST, f"{where}: {message!r}"
        assert "\n" not in message, f"{where}: {message!r}"


def kept_and_left_out(index: fader.Index) -> int:
    """How many lines are accounted for: as a document, or as a fault of a whole line."""
    assert index.report is not None
    counts = index.report.faults.counts
    whole = ("lines", "documents over a limit", "repeated documents")
    return index.collection.documents + sum(counts.get(kind, 0) for kind in whole)


def holds(index: fader.Index, lines: list[bytes], expected: int, where: str) -> None:
    """Every line is accounted for, every good one indexed, and the index is whole and answers."""
    # A line may have been cut in two by a line's end that was put into it.
    total = sum(1 for text in b"\n".join(lines).split(b"\n") if text and not text.isspace())
    assert kept_and_left_out(index) == total, where
    assert check(index.collection.folder) == [], where
    reader = index.collection
    for text in lines:
        if text.startswith(b'{"id": "good-'):
            assert reader.find_document(json.loads(text)["id"]) >= 0, f"{where}: {text!r}"
    (answer,) = index.search("splendid", type="T", k=3, model="paper").results
    assert (answer.entity, answer.support) == ("GOOD", expected), where
    assert answer.evidence[0].snippet == "splendid Euler"
    assert index.report is not None
    readable(index.report.faults.lines(), where)


@TIMEOUT
def test_good_lines_are_indexed_whatever_stands_around_them(tmp_path: Path) -> None:
    """Corrupted lines are counted and named, and nothing else happens."""
    counts = Counter[str]()
    for number in range(dose(full=100_000, least=2_000) // BATCH):
        lines, expected = batch(number)
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(b"\n".join(lines))
        try:
            index = fader.build(
                tmp_path / f"{number}", path, ENTITIES, TYPES, segment_tokens=1_000 if number % 2 else None
            )
        except BaseException as error:
            pytest.fail(f"batch {number}: {error!r}")
        holds(index, lines, expected, f"batch {number}")
        assert index.report is not None
        counts += Counter(index.report.faults.counts)
    print(dict(counts))
    assert counts["lines"]
    assert counts["mentions outside the text"]


def odd_rows() -> list[dict[str, Any]]:
    """Dictionaries with one thing in them that does not belong there."""
    odd = (
        float("nan"), float("inf"), 10**5000, -(10**5000), "\ud800", b"bytes", object(), (), {1: 2}, True, "a" * 10**5
    )  # fmt: skip
    rows: list[dict[str, Any]] = []
    for value in odd:
        for name in ("id", "text", "mentions", "title", "prior", "contents", "entities"):
            rows.append({"id": f"d{len(rows)}", "text": "Euler", name: value})
        for name in ("start", "end", "entity", "confidence"):
            mention = {"start": 0, "end": 5, "entity": "E", name: value}
            rows.append({"id": f"d{len(rows)}", "text": "Euler", "mentions": [mention]})
        rows.append({"id": f"d{len(rows)}", "text": "Euler", "mentions": [value]})
    return rows


def test_dictionaries_with_what_no_line_can_hold(tmp_path: Path) -> None:
    """Values that only Python has are faults like others, skipped or raised."""
    rows = odd_rows()
    index = fader.build(tmp_path / "index", [*rows, json.loads(good(1))], ENTITIES, TYPES)
    assert index.search("splendid").results[0].entity == "GOOD"
    assert check(tmp_path / "index") == []
    assert index.report is not None
    readable(index.report.faults.lines(), "dictionaries")
    for number, row in enumerate(rows):
        faults = Faults("fail")
        try:
            list(read_corpus([row], faults))
        except FaderError as error:
            readable([str(error)], f"row {number}")


MAGIC = {"gzip": b"\x1f\x8b", "zstandard": b"\x28\xb5\x2f\xfd"}


@TIMEOUT
@pytest.mark.parametrize("kind", MAGIC)
def test_compressed_files_that_are_damaged(tmp_path: Path, kind: str) -> None:
    """An error that names the file, or all lines; less only where nothing tells that the file was compressed."""
    text = b"\n".join(good(i) for i in range(300))
    whole = gzip.compress(text) if kind == "gzip" else zstandard.ZstdCompressor(write_checksum=True).compress(text)
    path = tmp_path / "corpus"
    ends = Counter[str]()
    for number in range(dose(full=20_000, least=300)):
        data = damaged(drawn(SEED + kind, number), whole)
        path.write_bytes(data)
        try:
            found = sum(len(part.documents) for part in read_corpus([path], Faults("skip")))
            end = "whole" if found == 300 else "lost" if data.startswith(MAGIC[kind]) else "not compressed"
        except InputError as error:
            end = str(error).removeprefix(f"{path}: ")[:20]
        except BaseException as error:
            pytest.fail(f"{kind} case {number}: {error!r}")
        assert end in ("whole", "not compressed", "damaged or cut short"), f"{kind} case {number}: {end}"
        ends[end] += 1
    print(kind, dict(ends))
    assert ends["damaged or cut short"]


@TIMEOUT
def test_catalogs_queries_and_judgments(tmp_path: Path) -> None:
    """With faults skipped a bad line is left out and noted; without, the first is an error that names it."""
    index = world.index(tmp_path / "index")
    path = tmp_path / "lines"
    noted = Counter[str]()
    for number in range(dose(full=100_000, least=1_000) // 100):
        lines = [catalog_line(drawn(SEED + "catalog", i), i) for i in range(100 * number, 100 * (number + 1))]
        path.write_bytes(b"\n".join([b"T\t\t", b"U\t\t", *lines]))
        try:
            noted += _all_readers(index, path, skip=True)
            _all_readers(index, path, skip=False)
        except BaseException as error:
            pytest.fail(f"batch {number}: {error!r}")
    print(dict(noted))
    assert all(noted[what] for what in ("catalog", "queries", "qrels"))


def _all_readers(index: fader.Index, path: Path, skip: bool) -> Counter[str]:
    """Read one file as everything that has lines; how many faults were skipped."""
    noted = Counter[str]()
    for what in ("types", "catalog", "queries", "qrels"):
        fault = FaultCollector(skip)
        try:
            if what == "types":
                notes = read_catalog([], path, "skip" if skip else "fail").notes
            elif what == "catalog":
                notes = read_catalog(path, TYPES, "skip" if skip else "fail").notes
            elif what == "queries":
                parse_all(index, read_queries(path, fault), fault)
                notes = fault.messages
            else:
                read_qrels(path, fault)
                notes = fault.messages
        except InputError as error:
            notes = [str(error)]
            if skip and "cycle" not in notes[0]:
                raise
        readable(notes, what)
        noted[what] += len(notes)
    return noted

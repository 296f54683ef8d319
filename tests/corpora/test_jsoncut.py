"""JSON in pieces: whatever the pieces, all records come out, in order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpora.frame import inputs
from fader.corpora.parsers import jsoncut
from fader.corpora.parsers.jsoncut import cut_json, read_objects
from fader.corpus.documents import Faults

TEXT = st.text('a"\\{}[],:é𝒳\n', max_size=8)
VALUE = st.recursive(
    TEXT | st.integers(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
)
RECORDS = st.lists(st.dictionaries(TEXT, VALUE, min_size=1, max_size=3), min_size=1, max_size=6)


def written(records: list[Any], layout: str, ascii_only: bool) -> str:
    if layout == "lines":
        return "".join(json.dumps(record, ensure_ascii=ascii_only) + "\n" for record in records)
    if layout == "array":
        return json.dumps(records, ensure_ascii=ascii_only, indent=1)
    return json.dumps({"source": "{[", "infons": {"a": [1]}, "documents": records, "z": {}}, ensure_ascii=ascii_only)


@pytest.mark.parametrize("layout", ["lines", "array", "collection"])
@settings(deadline=None, max_examples=50)
@given(records=RECORDS, piece=st.integers(1, 60), chunk=st.integers(60, 120), ascii_only=st.booleans())
def test_all_records(layout: str, records: list[Any], piece: int, chunk: int, ascii_only: bool) -> None:
    """Records of lines, of an array, or of an array in an object are read whole, however the source is cut."""
    faults, data = Faults(), written(records, layout, ascii_only).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "PIECE", piece)
        patch.setattr(jsoncut, "read_chunks", lambda _s: ((data[i : i + chunk], i) for i in range(0, len(data), chunk)))
        pieces = list(cut_json(["a.json"], faults, b"documents"))
    assert [value for batch in pieces for _place, value in read_objects(batch, faults)] == records
    assert not faults.counts
    for batch in pieces:
        assert data[batch.place :].startswith(batch.payload)


@settings(deadline=None, max_examples=50)
@given(
    records=st.dictionaries(TEXT, st.lists(st.lists(VALUE, max_size=2), max_size=3), min_size=1, max_size=6),
    piece=st.integers(1, 60), chunk=st.integers(60, 120), indent=st.sampled_from([None, 1]), mark=st.booleans(),
)  # fmt: skip
def test_an_object_of_arrays(records: dict[str, Any], piece: int, chunk: int, indent: int | None, mark: bool) -> None:
    """What REL writes for many documents is cut behind arrays, each piece an object of some of them."""
    faults, data = Faults(), ("\ufeff" * mark + json.dumps(records, indent=indent)).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "PIECE", piece)
        patch.setattr(jsoncut, "read_chunks", lambda _s: ((data[i : i + chunk], i) for i in range(0, len(data), chunk)))
        pieces = list(cut_json(["a.json"], faults, keyed=True))
    found = [pair for batch in pieces for _place, value in read_objects(batch, faults) for pair in value.items()]
    assert found == list(records.items())
    assert not faults.counts


def test_a_cut_object_of_arrays_keeps_what_is_whole(tmp_path: Path) -> None:
    """Of a mapping that ends early, the arrays before are read, and the rest is a fault."""
    path = tmp_path / "a.json"
    path.write_text('{\n"a": [[1]],\n"b": [[2]],\n"c": [[3], [')
    faults = Faults()
    found = [value for batch in cut_json([str(path)], faults, keyed=True) for _p, value in read_objects(batch, faults)]
    assert found == [{"a": [[1]], "b": [[2]]}]
    assert faults.counts == {jsoncut.UNREADABLE: 1}


def test_a_broken_line_costs_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a line with a bracket or a quotation mark too many, lines are cut and read as before it."""
    lines = [json.dumps({"n": i, "text": "some words"}) for i in range(200)]
    lines[50], lines[100], lines[150] = '{"n": {"text": ', '{"n": "text}', '{"n": 1}}]}'
    path = tmp_path / "a.json"
    path.write_text("\n".join(lines))
    monkeypatch.setattr(inputs, "PIECE", 500)
    faults = Faults()
    batches = list(cut_json([str(path)], faults))
    assert max(len(batch.payload) for batch in batches) < 600
    found = [value["n"] for batch in batches for _place, value in read_objects(batch, faults)]
    assert found == [1 if i == 150 else i for i in range(200) if i not in (50, 100)]
    assert faults.counts == {jsoncut.UNREADABLE: 3}


@pytest.mark.parametrize(
    "text", ["no JSON at all\n", '{"a": 1}\nwords\n{"a": 2}\n', '{"a": 1}\n5', '["a"]', '[{"a": 1}, 7, {}]']
)
def test_what_is_no_record_is_a_fault(text: str, tmp_path: Path) -> None:
    """Text that belongs to no object is told of, with its byte."""
    path = tmp_path / "a.json"
    path.write_text(text)
    faults = Faults()
    for batch in cut_json([str(path)], faults):
        list(read_objects(batch, faults))
    assert faults.counts == {jsoncut.UNREADABLE: 1}
    assert "expected an object in braces" in faults.examples[jsoncut.UNREADABLE][0]


def test_broken_records(tmp_path: Path) -> None:
    """Records that are not UTF-8, not JSON, or cut short are faults at their bytes; the others are read."""
    path = tmp_path / "a.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\n{"b": "\xff"}\n{"c": x}\n{"d": "\xc3\xa9"}\n{"e": ')
    faults = Faults()
    found = [value for batch in cut_json([str(path)], faults) for _place, value in read_objects(batch, faults)]
    assert found == [{"a": 1}, {"d": "é"}]
    assert faults.counts == {"records that are not UTF-8": 1, "records that are not JSON": 2}
    assert "byte 12:" in faults.examples["records that are not UTF-8"][0]

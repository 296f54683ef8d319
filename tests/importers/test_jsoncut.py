"""JSON in pieces: whatever the pieces, all records come out, in order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpus.documents import Faults
from fader.importers import inputs, jsoncut
from fader.importers.jsoncut import json_batches, objects

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
def test_all_records(
    layout: str, records: list[Any], piece: int, chunk: int, ascii_only: bool, tmp_path_factory: Any
) -> None:
    """Records of lines, of an array, or of an array in an object are read whole, however the source is cut."""
    path: Path = tmp_path_factory.mktemp("json") / "a.json"
    path.write_text(written(records, layout, ascii_only), "utf-8")
    faults, data = Faults(), path.read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "PIECE", piece)
        patch.setattr(jsoncut, "read_chunks", lambda _s: ((data[i : i + chunk], i) for i in range(0, len(data), chunk)))
        pieces = list(json_batches([str(path)], faults, b"documents"))
    assert [value for batch in pieces for _place, value in objects(batch, faults)] == records
    assert not faults.counts
    for batch in pieces:
        assert path.read_bytes()[batch.place :].startswith(batch.payload)


def test_broken_records(tmp_path: Path) -> None:
    """Records that are not UTF-8, not JSON, or cut short are faults at their bytes; the others are read."""
    path = tmp_path / "a.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\n{"b": "\xff"}\n{"c": x}\n{"d": "\xc3\xa9"}\n{"e": ')
    faults = Faults()
    found = [value for batch in json_batches([str(path)], faults) for _place, value in objects(batch, faults)]
    assert found == [{"a": 1}, {"d": "é"}]
    assert faults.counts == {"records that are not UTF-8": 1, "records that are not JSON": 2}
    assert "byte 12:" in faults.examples["records that are not UTF-8"][0]

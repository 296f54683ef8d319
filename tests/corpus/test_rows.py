"""Lines of a catalog cut by the kernel: what plain Python makes of the same lines, to the last fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpus import catalog as catalog_module
from fader.corpus.catalog import read_catalog
from fader.corpus.rows import ABOVE, ID, Row, Rows, cut_rows, pack_rows
from fader.errors import FaderError
from fader.limits import DEFAULTS, Limits

cells = st.one_of(
    st.sampled_from(
        ["", "T1", "T2", "T1|T2", "|T2||T1|", "T9", " ", "a|b", "é", "x" * 9, "\xa0", "\x0b", "a\r", "\ufeff", "\0"]
    ),
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=6),
)
lines = st.one_of(
    st.lists(cells, max_size=5).map(lambda row: "\t".join(row).encode()),
    st.builds(lambda i, row: "\t".join([f"E{i}", *row]).encode(), st.integers(0, 5), st.lists(cells, max_size=3)),
    st.sampled_from(
        [b"", b"\r", b"\t\t", b"E\xff\tx", b"\xef\xbb\xbfE7\tmarked", b"E8\tname\tT1\t|a||b|\r\r", b"\xc3\t\xa9"]
    ),
)


def leave_all(block: bytes, first: int, places: str, _columns: Any, _limits: Limits) -> tuple[Rows, Any]:
    """No line is cut by the kernel."""
    left, at = [], 0
    for number, line in enumerate(block.split(b"\n")[:-1], first):
        left.append((number, at, at + len(line)))
        at += len(line) + 1
    return pack_rows([], [], places), np.array(left, dtype=np.int64).reshape(-1, 3)


def outcome(entities: Path, types: Path, on_error: str, limits: Limits) -> Any:
    try:
        found = read_catalog(entities, types, on_error, limits)
    except FaderError as error:
        return type(error), str(error)
    return list(found.entities), list(found.types), found.entity_types, found.supertypes, found.notes


@settings(deadline=None, max_examples=300)
@given(
    st.lists(lines, max_size=6),
    st.lists(lines, max_size=3),
    st.booleans(),
    st.sampled_from(["skip", "fail"]),
    st.booleans(),
)
def test_lines_are_cut_as_python_cuts_them(
    tmp_path_factory: pytest.TempPathFactory,
    entity_lines: list[bytes],
    type_lines: list[bytes],
    ended: bool,
    policy: str,
    tight: bool,
) -> None:
    folder = tmp_path_factory.mktemp("catalog")
    end = b"\n" if ended else b""
    (folder / "entities").write_bytes(b"\n".join(entity_lines) + end)
    (folder / "types").write_bytes(b"\n".join([b"T1\tOne", b"T2\tTwo\tT1", *type_lines]) + end)
    limits = Limits(line_bytes=20, id_characters=3, name_characters=5) if tight else DEFAULTS
    compiled = outcome(folder / "entities", folder / "types", policy, limits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog_module, "cut_rows", leave_all)
        assert outcome(folder / "entities", folder / "types", policy, limits) == compiled


def test_usual_lines_are_cut_by_the_kernel() -> None:
    """With and without the last columns, other alphabets, empty cells and line ends of Windows."""
    block = "E1\tOne\tT1|T2\ta|b\r\nE2\t\n\nÉ3\tdrei é\t\t\nE4\tvier\tT1\n".encode()
    rows, left = cut_rows(block, 1, "f:", (2, 4), DEFAULTS)
    assert left[:, 0].tolist() == [3]  # the empty line
    assert list(rows) == [
        Row("E1", "One", ["T1", "T2"], ["a", "b"], "f:1"),
        Row("E2", "E2", [], [], "f:2"),
        Row("É3", "drei é", [], [], "f:4"),
        Row("E4", "vier", ["T1"], [], "f:5"),
    ]
    assert rows.spans[:, ABOVE + 1].tolist() == [2, 2, 2, 3]
    assert rows.column(ID)[0].tobytes().decode() == "E1E2É3E4"


def test_rows_made_in_python() -> None:
    """What goes in comes out, names with bars and tabs too."""
    given = [Row("b", "n|m", ["T|1", "T\t2"], ["x y", "z|w"], "row 1"), Row("a", "a", [], [], "row 2")]
    rows = Rows.of(given)
    assert list(rows) == given
    kept, repeated = rows.sort()
    assert [row.id for row in kept] == ["a", "b"]
    assert repeated == []
    assert Rows.of([]).sort()[0].line.size == 0

"""Structures that pass are read alike by the careful walk and by the readers; what is changed passes only where sound.

The walk decodes by itself, so that it is also an oracle for the readers, and they for it.
"""

from __future__ import annotations

import random
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.errors import DamagedError
from fader.index.encoding.list_writer import encode_lists, write_lists
from fader.index.encoding.lists import Lists
from fader.index.encoding.packed import Packed, write_packed
from fader.index.encoding.strings import SortedStrings, Strings, write_sorted, write_strings
from fader.index.format import Container, FileWriter, writing
from fader.index.verify.structure import check_different, check_lists, check_sorted, check_strings
from index.damage import Sealed
from index.stored import stored

END = 5000
# A list's length, its widest gap, and the chance by which its gaps are drawn.
gaps = st.builds(
    lambda n, widest, seed: random.Random(seed).choices(range(1, widest + 1), k=n),
    st.sampled_from([0, 1, 2, 20, 127, 128, 129, 256, 300]), st.integers(1, 40), st.integers(0, 99),
)  # fmt: skip
lists = st.lists(gaps, max_size=40)
words = st.text(st.characters(codec="utf-8"), max_size=6)
texts = st.lists(words | st.sampled_from(["aé", "aé日", "aé本", "a"]), max_size=40)
# Which array, which byte of it, and what is done to its bits.
change = st.tuples(st.integers(0, 100), st.integers(0, 10_000), st.integers(1, 255))


def write_some(writer: FileWriter, given: list[list[int]]) -> list[list[int]]:
    values = [[v for v in np.cumsum(g).tolist() if v < END] for g in given]
    at = np.concatenate([[0], np.cumsum([len(v) for v in values])]).astype(np.int64)
    flat = np.array([v for row in values for v in row], dtype=np.int32)
    write_lists(writer, "x", encode_lists(flat, at, np.array([len(v) for v in values], dtype=np.int32)))
    return values


def walked(container: Container, n: int) -> tuple[list[list[int]], list[int]]:
    """All lists, and what is kept beside each, by the careful walk."""
    found: list[list[int]] = []
    extra: list[int] = []
    for part in check_lists(container, "x", n, END):
        assert part.first == len(found)
        at = part.at.tolist()
        found += [part.values[a:b].tolist() for a, b in pairwise(at)]
        extra += part.extra.tolist()
    return found, extra


def changed(path: Path, how: tuple[int, int, int]) -> Container:
    """The container with one byte of one array changed, under checksums that fit."""
    sealed = Sealed(path)
    names = sorted(name for name, values in sealed.arrays.items() if values.size)
    which, byte, bits = how
    if names:
        raw = sealed.arrays[names[which % len(names)]].view(np.uint8)
        raw[byte % raw.size] ^= bits
    sealed.seal(manifests=False)
    container = Container(path, "test")
    container.verify()
    return container


@settings(deadline=None)
@given(lists)
def test_lists_are_walked_as_they_were_written(given: list[list[int]]) -> None:
    expected: list[list[int]] = []
    with stored(lambda w: expected.extend(write_some(w, given))) as container:
        assert walked(container, len(given)) == (expected, [len(v) for v in expected])


@settings(deadline=None)
@given(lists, change)
def test_changed_lists_are_refused_or_read_alike(given: list[list[int]], how: tuple[int, int, int]) -> None:
    """Never outside of arrays: whatever passes, the reader decodes the same values, which ascend below the end."""
    with stored(lambda w: write_some(w, given)) as whole:
        container = changed(whole.path, how)
    read_or_refuse(container, END)
    try:
        found, extra = walked(container, len(given))
    except DamagedError:
        return
    reader = Lists(container, "x")
    assert [reader.values(i).tolist() for i in range(len(reader))] == found
    assert [reader.head(i) for i in range(len(reader))] == [(len(v), e) for v, e in zip(found, extra, strict=True)]
    for values in found:
        assert values == sorted(set(values))
        assert all(0 <= v < END for v in values)


def read_or_refuse(container: Container, end: int) -> None:
    """Lists that nobody has walked: every way of reading refuses one, or gives values that ascend below the end."""
    ranges = np.array([3, 2000], dtype=np.int32), np.array([900, 4000], dtype=np.int32)
    starts = np.arange(0, end, 3, dtype=np.int32)
    with suppress(DamagedError):
        reader = Lists(container, "x", end)
        for i in range(len(reader)):
            for read in (
                reader.values,
                lambda i: reader.within(i, *ranges)[1:-1],
                lambda i: reader.retain(i, starts, 2),
            ):
                with suppress(DamagedError):
                    values = read(i)
                    assert (np.diff(values) > 0).all()
                    assert not values.size or 0 <= values[0] <= values[-1] < end
        values, at = reader.all()
        for a, b in pairwise(at.tolist()):
            assert (np.diff(values[a:b]) > 0).all()


@settings(deadline=None)
@given(texts)
def test_sorted_strings_pass(given: list[str]) -> None:
    """With repetitions, which are told, or without."""
    ordered = sorted(given)
    with stored(lambda w: write_sorted(w, "x", ordered)) as container:
        same = check_sorted(container, "x")
        assert same.tolist() == [int(i > 0 and ordered[i] == ordered[i - 1]) for i in range(len(ordered))]
        if len(set(given)) < len(given):
            with pytest.raises(DamagedError, match="holds a string twice"):
                check_different(container, "x")
    with stored(lambda w: write_sorted(w, "x", sorted(set(given)))) as container:
        assert check_different(container, "x") == len(set(given))


def plain(data: bytes, n: int) -> list[bytes]:
    """Front-coded strings of less than 128 bytes as their definition says."""
    found, p = [b""], 0
    for _ in range(n):
        shared, rest = data[p], data[p + 1]
        found.append(found[-1][:shared] + data[p + 2 : p + 2 + rest])
        p += 2 + rest
    return found[1:]


@settings(deadline=None)
@given(texts, change)
def test_changed_strings_are_refused_or_read_alike(given: list[str], how: tuple[int, int, int]) -> None:
    """Whatever passes is UTF-8, ascends, and is found where it stands."""
    with stored(lambda w: write_sorted(w, "x", sorted(set(given)))) as whole:
        container = changed(whole.path, how)
    with suppress(DamagedError):  # what nobody has walked is read inside of its bytes, whatever it is
        reader = SortedStrings(container, "x")
        assert sum(map(len, reader)) <= 16 * container["x"].size
        assert all(len(reader[i]) <= container["x"].size for i in range(len(reader)))
        assert all(-1 <= reader.find(s) < len(reader) and reader.beginning(s) for s in given)
        assert len(reader.take(range(len(reader)))) == len(reader)
    try:
        n = check_different(container, "x")
    except DamagedError:
        return
    reader = SortedStrings(container, "x")
    found = list(reader)
    assert len(found) == n
    assert found == sorted(set(found))
    assert [reader[i] for i in range(n)] == found
    assert [reader.find(s) for s in found] == list(range(n))
    assert found == [s.decode("utf-8") for s in plain(container["x"].tobytes(), n)]


@settings(deadline=None)
@given(st.lists(words, max_size=40), change)
def test_plain_strings_are_refused_or_read(given: list[str], how: tuple[int, int, int]) -> None:
    """As written, they pass; changed, they pass only if every one is UTF-8."""
    with stored(lambda w: write_strings(w, "x", given)) as whole:
        check_strings(whole, "x", len(given))
        container = changed(whole.path, how)
    try:
        check_strings(container, "x", len(given))
    except DamagedError:
        return
    data, at = container["x"].tobytes(), container["x_at"].tolist()
    assert list(Strings(container, "x")) == [data[a:b].decode("utf-8") for a, b in pairwise(at)]


@settings(deadline=None)
@given(st.lists(st.integers(0, 1 << 30), max_size=300), change)
def test_columns_are_refused_or_read(given: list[int], how: tuple[int, int, int]) -> None:
    """As written, they pass; changed, no row is read outside of the arrays."""
    with stored(lambda w: write_packed(w, "x", np.array(given, dtype=np.int32))) as whole:
        assert Packed(whole, "x", len(given)).all().tolist() == given
        container = changed(whole.path, how)
    try:
        column = Packed(container, "x", len(given))
    except DamagedError:
        return
    assert column.all().tolist() == [slow(column, i) for i in range(len(given))]


def slow(column: Packed, i: int) -> int:
    """A row as its definition says, in whole numbers of any size; the last 32 bits of it, with a sign."""
    base, at, words = column.arrays
    block, row = divmod(i, 128)
    here = words[int(at[block]) : int(at[block + 1])].tolist()
    width = len(here) // 4
    bits = sum(int(word) << (32 * j) for j, word in enumerate(here))
    value = int(base[block]) + (bits >> (row * width)) % (1 << width)
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


@pytest.mark.parametrize("value", [-1, 0, 300, 1 << 39, 1 << 62, 1.0, True, "3", None, [3]])
def test_counts_are_not_believed(tmp_path: Path, value: Any) -> None:
    """A count that is none, or that the bytes do not bear out, is refused before memory is taken for it."""
    path = tmp_path / "file"
    with writing(path, "test") as writer:
        write_some(writer, [[1, 2], [3]])
        write_sorted(writer, "y", ["a", "b"])
        write_packed(writer, "z", np.arange(3, dtype=np.int32))
        for name in writer.meta:
            writer.meta[name] = value
        writer.close()
    container = Container(path, "test")
    claimed = value if isinstance(value, int) and not isinstance(value, bool) else 2
    for check in (
        lambda: list(check_lists(container, "x", claimed, END)),
        lambda: check_sorted(container, "y"),
        lambda: Packed(container, "z", claimed),
    ):
        with pytest.raises(DamagedError, match="file: "):
            check()

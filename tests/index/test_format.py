"""A container gives back its arrays, and never accepts a file that is not byte for byte the one written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fader.errors import DamagedError, StorageError, VersionError
from fader.index.format import OLDEST, VERSION, Container, writing
from index.damage import Sealed
from index.stored import stored

DTYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]


@st.composite
def arrays(draw: st.DrawFn) -> NDArray[Any]:
    size = draw(st.integers(0, 70))
    data = draw(st.binary(min_size=8 * size, max_size=8 * size))
    return np.frombuffer(data, dtype="u8").astype(draw(st.sampled_from(DTYPES)))


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=5), arrays(), max_size=5), st.integers(0, 70))
def test_arrays_come_back(given: dict[str, NDArray[Any]], cut: int) -> None:
    """Names, types and values, whether written at once or in pieces; what is read cannot be changed."""

    def write(writer: Any) -> None:
        for name, values in given.items():
            writer.begin(name, values.dtype)
            writer.append(values[:cut])
            writer.append(values[cut:].tobytes())
            writer.end()
        writer.array("written whole", np.arange(3))
        writer.meta["note"] = {"é": [1, 2.5, None]}

    with stored(write) as container:
        for name, values in given.items():
            found = container[name]
            assert found.dtype == values.dtype
            assert found.tobytes() == values.tobytes()
            assert not found.flags.writeable
        assert container["written whole"].tolist() == [0, 1, 2]
        assert container.meta == {"note": {"é": [1, 2.5, None]}}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A small file with padding behind each of its arrays."""
    path = tmp_path / "small"
    with writing(path, "test") as writer:
        writer.array("bytes", np.arange(5, dtype=np.uint8))
        writer.array("numbers", np.arange(20, dtype=np.int64))
        writer.array("none", np.empty(0, dtype=np.float64))
        writer.meta["rows"] = 5
        writer.close()
    return path


def is_refused(path: Path) -> bool:
    """Whether opening or verifying says that the file is damaged; any other exception is a failure."""
    message = ""
    try:
        Container(path, "test").verify()
    except (DamagedError, VersionError) as error:
        message = str(error)
    assert not message or str(path) in message
    return bool(message)


def test_a_whole_file_is_accepted(small: Path) -> None:
    """The other tests here would pass if everything were refused."""
    assert not is_refused(small)


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_no_flipped_byte_is_accepted(small: Path, mask: int) -> None:
    """Arrays, padding, table of contents and footer alike."""
    whole = small.read_bytes()
    for i in range(len(whole)):
        small.write_bytes(whole[:i] + bytes([whole[i] ^ mask]) + whole[i + 1 :])
        assert is_refused(small), f"byte {i} of {len(whole)}"


def test_no_truncated_file_is_accepted(small: Path) -> None:
    """Down to nothing."""
    whole = small.read_bytes()
    for size in range(len(whole)):
        small.write_bytes(whole[:size])
        assert is_refused(small), f"{size} bytes of {len(whole)}"


def test_no_extended_file_is_accepted(small: Path) -> None:
    """Neither by zeros, nor by its own footer or whole self, at either end or in the middle."""
    whole = small.read_bytes()
    for more in (b"\0", b"\0" * 64, b"\0" * 4096, whole[-64:], whole, whole[:64], b"x" * 100):
        for changed in (whole + more, more + whole, whole[:64] + more + whole[64:]):
            small.write_bytes(changed)
            assert is_refused(small)


def test_another_version_is_named(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole file of a later format says its version, the one that is read, and the remedy."""
    monkeypatch.setattr("fader.index.format.VERSION", 99)
    path = small.with_name("later")
    with writing(path, "test") as writer:
        writer.close()
    monkeypatch.undo()
    with pytest.raises(VersionError, match=r"later: format version 99; this release reads 1 to \d+; rebuild the index"):
        Container(path, "test")


def test_another_whole_file_is_not_the_one_expected(small: Path) -> None:
    """A commit names its files by size and checksum: a file of another commit is refused."""
    described = {}
    for name, value in (("a", 1), ("b", 2)):
        with writing(small.with_name(name), "test") as writer:
            writer.array("x", np.array([value]))
            described[name] = writer.close()
    Container(small.with_name("a"), "test", described["a"])
    with pytest.raises(DamagedError, match="is not the file that the commit names"):
        Container(small.with_name("b"), "test", described["a"])


def test_another_kind_a_missing_array_and_a_missing_file_are_damage(small: Path) -> None:
    """Each message names the file and what is wrong with it."""
    with pytest.raises(DamagedError, match="holds 'test' where 'other' was expected"):
        Container(small, "other")
    with pytest.raises(DamagedError, match="array 'x' is missing"):
        Container(small, "test")["x"]
    with pytest.raises(DamagedError, match="none: missing"):
        Container(small.with_name("none"), "test")
    for start, end in ((-1, 2), (3, 2), (0, 6)):
        with pytest.raises(DamagedError, match="lie outside array 'bytes'"):
            Container(small, "test").slice("bytes", start, end)


@pytest.mark.parametrize(
    "place",
    [
        ("u1", 1 << 60, 0),
        ("u8", 1 << 62, 64),
        ("u1", 1, 1 << 40),
        ("u1", -1, 0),
        ("u1", 1, -64),
        ("O", 1, 0),
        ("u1", 1, 7),
    ],
)
def test_a_hostile_table_of_contents_is_refused(tmp_path: Path, place: tuple[str, int, int]) -> None:
    """Whole checksums do not help: an array must be plain, aligned and inside the file."""
    path = tmp_path / "hostile"
    with writing(path, "test") as writer:
        writer.array("x", np.arange(100))
        writer._arrays["x"] = place
        writer.close()
    with pytest.raises(DamagedError, match="array 'x' does not lie inside the file"):
        Container(path, "test")


BOMBS: dict[str, bytes] = {
    "deep": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "no JSON": b"{",
    "not UTF-8": b"\xff\xfe{}",
    "another encoding": '{"kind": "test", "arrays": {}, "meta": {}}'.encode("utf-16"),
    "a huge number": b'{"kind": "test", "arrays": {"x": ["u1", ' + b"9" * 5000 + b', 0]}, "meta": {}}',
    "a list": b"[]",
    "nothing": b"",
    "null": b"null",
    "no arrays": b'{"kind": "test", "meta": {}}',
    "a list of arrays": b'{"kind": "test", "arrays": [], "meta": {}}',
    "no values": b'{"kind": "test", "arrays": {}}',
    "a list of values": b'{"kind": "test", "arrays": {}, "meta": []}',
    "no kind": b'{"arrays": {}, "meta": {}}',
    "a kind of no kind": b'{"kind": ["test"], "arrays": {}, "meta": {}}',
    "a place of no kind": b'{"kind": "test", "arrays": {"x": 7}, "meta": {}}',
    "a short place": b'{"kind": "test", "arrays": {"x": ["u1", 1]}, "meta": {}}',
    "a type of no kind": b'{"kind": "test", "arrays": {"x": [["u1"], 1, 0]}, "meta": {}}',
    "an object type": b'{"kind": "test", "arrays": {"x": ["O", 1, 0]}, "meta": {}}',
    "a fraction": b'{"kind": "test", "arrays": {"x": ["u1", 1.0, 0]}, "meta": {}}',
    "true": b'{"kind": "test", "arrays": {"x": ["u1", true, 0]}, "meta": {}}',
    "no number": b'{"kind": "test", "arrays": {"x": ["u1", NaN, 0]}, "meta": {}}',
    "infinity": b'{"kind": "test", "arrays": {"x": ["u1", 1, 1e999]}, "meta": {}}',
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_table_of_contents_made_to_harm_is_damage(small: Path, bomb: str) -> None:
    """Its checksum fits, but it is no table of contents: that is said of the file, whatever the JSON holds."""
    sealed = Sealed(small)
    sealed.toc = BOMBS[bomb]
    sealed.seal()
    with pytest.raises(DamagedError) as caught:
        Container(small, "test")
    assert str(small) in str(caught.value)


def test_both_versions_are_read(small: Path) -> None:
    """A reader can tell them apart; what was before the first is refused."""
    assert Container(small, "test").version == VERSION
    sealed = Sealed(small)
    for version in range(OLDEST, VERSION + 1):
        sealed.version = version
        sealed.seal()
        assert Container(small, "test").version == version
    sealed.version = OLDEST - 1
    sealed.seal()
    with pytest.raises(VersionError, match=f"format version {OLDEST - 1}; this release reads {OLDEST} to {VERSION}"):
        Container(small, "test")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without pipes that have names")
def test_what_is_no_file_is_damage(small: Path) -> None:
    """A pipe must not hold the reader up, and a folder holds no arrays."""
    small.unlink()
    os.mkfifo(small)
    with pytest.raises(DamagedError, match="small: is no plain file"):
        Container(small, "test")
    small.unlink()
    small.mkdir()
    with pytest.raises(StorageError, match="small: "):
        Container(small, "test")

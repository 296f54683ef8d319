"""Archives as sources: what of them is read, and that nothing is lost without a word."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from corpora.cases import documents
from fader.corpora.frame import inputs
from fader.corpora.frame.archives import archive_kind, members
from fader.corpora.frame.run import importer, run
from fader.corpus.documents import Faults

XML = "<collection><document><id>{0}</id><passage><offset>0</offset><text>Ache</text></passage></document></collection>"
JSON = '{{"documents": [{{"id": "{0}", "passages": [{{"offset": 0, "text": "Ache"}}]}}]}}'
FILES = {"x/1.xml": XML.format(1), "x/2.json": JSON.format(2), "x/.hidden": "x", "README": "words", "x/3.json": ""}
DAMAGED = "sources damaged or cut short"


def tar(files: dict[str, str], mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


def zipped(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def written(data: bytes, folder: Path) -> str:
    (folder / "a.bin").write_bytes(data)
    return str(folder / "a.bin")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (tar(FILES), "tar"),
        (tar(FILES, "w"), "tar"),
        (tar(FILES, "w:bz2"), "tar"),
        (zipped(FILES), "zip"),
        (zipped({}), "zip"),
        (b"", ""),
        (b"words " * 200, ""),
        (b"\0" * 2000, ""),
    ],
)
def test_kinds(data: bytes, kind: str, tmp_path: Path) -> None:
    """A tar file is known by the sum over its first header, so that old ones without a mark are too."""
    assert archive_kind(written(data, tmp_path)) == kind


@pytest.mark.parametrize("data", [tar(FILES), tar(FILES, "w"), zipped(FILES)], ids=["tar.gz", "tar", "zip"])
@pytest.mark.parametrize("size", [1, 1 << 20])
def test_bioc_of_both_layouts(data: bytes, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """XML and JSON members are documents, whatever the size of pieces; others are told with the member's name."""
    monkeypatch.setattr(inputs, "PIECE", size)
    monkeypatch.setattr(os, "fsync", lambda _handle: None)
    report = run(importer("bioc"), [written(data, tmp_path)], tmp_path / "out")
    assert [d["id"] for d in documents(tmp_path / "out")] == ["1", "2"]
    assert report.faults.counts == {"members of archives that are neither XML nor JSON": 2}
    assert [e.split(": ")[0] for e in report.faults.examples["members of archives that are neither XML nor JSON"]] == [
        f"{tmp_path}/a.bin/README",
        f"{tmp_path}/a.bin/x/3.json",
    ]


def held(source: str) -> tuple[dict[str, bytes], Faults]:
    faults = Faults()
    return {member.name.rpartition("/")[2]: b"".join(member.chunks) for member in members(source, faults)}, faults


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_a_tar_file_that_is_cut_short(mode: str, tmp_path: Path) -> None:
    """What is before the cut is read, and the cut is told once."""
    files = {str(i): os.urandom(4000).hex() for i in range(4)}
    data = tar(files, mode)
    found, faults = held(written(data[: len(data) // 2], tmp_path))
    assert found["0"] == files["0"].encode()
    assert "3" not in found
    assert faults.counts == {DAMAGED: 1}


def test_a_tar_file_with_a_header_that_is_damaged(tmp_path: Path) -> None:
    """Members behind it cannot be found, which is told."""
    data = bytearray(tar({"1": "x", "2": "y"}, "w"))
    data[1024:1030] = b"broken"
    found, faults = held(written(bytes(data), tmp_path))
    assert found == {"1": b"x"}
    assert faults.counts == {DAMAGED: 1}


def test_zip_files_that_are_damaged(tmp_path: Path) -> None:
    """A member whose sum is wrong costs no other; without its end a zip file cannot be read."""
    data = zipped({"1": "words " * 9, "2": "y"})
    place = data.index(b"1", 30) + 3
    broken = data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :]
    found, faults = held(written(broken, tmp_path))
    assert found["2"] == b"y"
    assert faults.counts == {DAMAGED: 1}
    assert held(written(data[:-30], tmp_path))[1].counts == {DAMAGED: 1}

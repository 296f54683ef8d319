"""Files and folders that are damaged, odd or meant to harm: each is said in words, and costs no other file."""

from __future__ import annotations

import io
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from cli.running import passed, refused
from fader.corpora.files.corpus import Documents, write_documents
from fader.corpora.files.read import ReadReport, read_files
from fader.corpora.files.walk import DEEPEST, find_files
from fader.corpus.documents import Faults
from fader.errors import CorpusError, StorageError
from fader.limits import Limits
from fader.search.start import StartOptions, start
from files.making import SENTENCE, pdf, repack, word, write_all, zipped
from files.support import answers, people

TEXT = SENTENCE.encode()
READ = "it is read"
HEADERS = b"From: a@x.org\nTo: b@x.org\nSubject: x\n"
LAUGHS = b"<!DOCTYPE x [<!ENTITY a 'ha'>" + b"".join(
    b"<!ENTITY %c '%s'>" % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(10)
) + b"]>"  # fmt: skip


def odd_parquet() -> bytes:
    """Types that no text is, and values that no date can have."""
    columns = {
        "text": [SENTENCE, "other"],
        "list": pyarrow.array([[1], None]),
        "map": pyarrow.array([[("a", 1)], None], type=pyarrow.map_(pyarrow.string(), pyarrow.int64())),
        "record": pyarrow.array([{"x": None}, None]),
        "bytes": pyarrow.array([b"\xff", None]),
        "time": pyarrow.array([2**62, None], pyarrow.timestamp("ns")),
        "nothing": pyarrow.nulls(2),
    }
    held = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), held)
    return held.getvalue()


def tar_of_links() -> bytes:
    """A link out of the archive, and a device, but no file."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name, kind in (("out", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE), ("device", tarfile.CHRTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    return held.getvalue()


# What a file holds, what is said of it, and the texts of its documents.
CASES: dict[str, tuple[bytes, str, list[str]]] = {
    "loop.pdf": (pdf("x").replace(b"/Kids [ 4 0 R ]", b"/Kids [ 2 0 R ]"), "in/loop.pdf: ", []),
    "laughs.docx": (repack(word(SENTENCE), b"?>", b"?>" + LAUGHS, TEXT, b"&k;"), "is no DOCX", []),
    "outside.docx": (
        repack(word(SENTENCE), b"?>", b"?><!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>", b"compiler", b"&e;"),
        READ,
        ["Grace Hopper wrote a"],
    ),
    "laughs.xml": (b"<?xml version='1.0'?>" + LAUGHS + b"<x>&k; " + TEXT + b"</x>", READ, [f"]>&k; {SENTENCE}"]),
    "attributes.html": (b"<p" + b' a="b' * 50_000 + b'">' + TEXT, READ, [SENTENCE]),
    "comments.html": (b"<html>" + b"<!--" * 50_000 + TEXT, READ, ["<!--" * 50_000 + SENTENCE]),
    "entities.html": (b"<p>" + b"&lt;" * 50_000, READ, ["<" * 50_000]),
    "garbage.mbox": (b"From a@x.org Mon Jan  1 10:00:00 2024\n" + HEADERS + b"\n\x00\xff\xfe", "is not text", []),
    "charset.eml": (HEADERS + b"Content-Type: text/plain; charset=none\n\n" + TEXT, READ, [SENTENCE]),
    "deep.eml": (
        HEADERS + b"".join(b'Content-Type: multipart/mixed; boundary="%d"\n\n--%d\n' % (i, i) for i in range(3000)),
        "is no mail that can be read",
        [],
    ),
    "nul.csv": (b"id,text\n1," + TEXT + b"\0\n", "is not text", []),
    "ragged.csv": (b"id,text\n1," + TEXT + b"\n2\n3,b,c,d\n4", "has no text", [SENTENCE, "b"]),
    "same.csv": (b"id,text\n1,one\n1,two\n1,three\n", READ, ["one", "two", "three"]),
    "open.csv": (b'id,text\n1,"' + TEXT + b"\n", READ, [SENTENCE]),
    "odd.parquet": (odd_parquet(), READ, [SENTENCE, "other"]),
    "number.json": (b'[{"id": 1' + b"0" * 5000 + b', "text": "x"}]', "is no JSON", []),
    "deep.json": (b"[" * 100_000, "is no JSON", []),
    "links.tar": (tar_of_links(), "is an archive without files", []),
    "empty.zip": (zipped({"a/": b""}), "is an archive without files", []),
    "up.zip": (zipped({"../../up.txt": TEXT, "/etc/up.txt": TEXT}), READ, [SENTENCE, SENTENCE]),
    "marks.txt": (b"a" + b"\xcc\x81" * 100_000, READ, ["a" + "\u0301" * 100_000]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_file_costs_no_other(tmp_path: Path, name: str) -> None:
    """What it is, is said with its name, or it is read; nothing is fetched from outside, or written there."""
    data, said, texts = CASES[name]
    write_all(tmp_path / "in", {name: data, "zz.txt": b"Short."})
    report = ReadReport()
    found = read_files(find_files([str(tmp_path / "in")]).files, report, Limits())
    documents = [document for file in found for document in file.documents]
    assert documents.pop()["id"] == "in/zz.txt"
    first = 1 if name == "charset.eml" else 0  # behind the headers
    assert [document["text"].split("\n\n")[first].strip() for document in documents] == texts
    lines = report.faults.lines()
    assert any(said in line and f"in/{name}" in line for line in lines) if said != READ else not lines
    assert len({d["id"] for d in documents}) == len(documents)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_text_over_the_limit_is_not_unpacked(tmp_path: Path) -> None:
    """The limit on characters bounds the bytes that are held."""
    write_all(tmp_path / "in", {"a.txt": b"a " * 500})
    report = ReadReport()
    (found,) = read_files(find_files([str(tmp_path / "in")]).files, report, Limits(document_characters=100))
    assert not list(found.documents)
    assert "a text of more than 400 bytes; at most 100" in report.faults.examples["files over a limit"][0]


def test_what_is_no_file_is_counted_and_named(tmp_path: Path) -> None:
    """Links to nothing and to themselves, pipes, and folders without end; links to folders are not followed."""
    folder = write_all(tmp_path / "in", {"a.txt": TEXT})
    (folder / "nothing").symlink_to("/nowhere/at/all")
    (folder / "self").symlink_to("self")
    (folder / "loop").symlink_to(folder)
    (folder / "inside").symlink_to("a.txt")
    os.mkfifo(folder / "pipe.txt")
    (folder / "/".join(["d"] * (DEEPEST + 2))).mkdir(parents=True)
    found = find_files([str(folder)])
    assert found.links == 1
    assert {each.name: each.fault for each in found.files if each.fault} == {
        "in/nothing": "is a link to nothing",
        "in/self": "is a link to nothing",
        "in/pipe.txt": "is a pipe, a socket or a device",
        "in" + "/d" * (DEEPEST + 1): f"is a folder that cannot be read: it is more than {DEEPEST} folders deep",
    }
    report = ReadReport()
    ids = [d["id"] for file in read_files(found.files, report, Limits()) for d in file.documents]
    assert ids == ["in/a.txt"]  # once, though there is a link to it
    assert report.faults.counts == {"damaged files": 4}
    with pytest.raises(CorpusError, match=r"in/d/.* is a folder that cannot be read"):
        list(read_files(found.files, ReadReport(faults=Faults("fail")), Limits()))


def test_a_folder_that_is_locked_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's reason is said."""
    folder, list_folder = write_all(tmp_path / "in", {"a.txt": TEXT, "locked/b.txt": TEXT}), os.scandir

    def scan(path: str) -> object:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return list_folder(path)

    monkeypatch.setattr(os, "scandir", scan)
    found = find_files([str(folder)])
    assert [(each.name, each.fault) for each in found.files] == [
        ("in/a.txt", ""), ("in/locked", "is a folder that cannot be read: Permission denied"),
    ]  # fmt: skip


def test_names_of_all_kinds_are_kept(tmp_path: Path) -> None:
    """Control characters, and bytes that are no UTF-8, which are written out; messages have none of them raw."""
    folder = tmp_path / "in"
    write_all(folder, {"a\nb.txt": TEXT, "tab\t.txt": TEXT, "bell\x07\x1b[31m": b"", "-rf": TEXT, "q\"'.txt": TEXT})
    with open(os.fsencode(folder) + b"/caf\xe9.txt", "wb") as file:
        file.write(TEXT)
    said = passed("start", folder, "-o", tmp_path / "out", "--no-serve", "--catalog", people(tmp_path)).err
    assert "in/bell\\x07\\x1b[31m: is empty" in said
    assert "\x07" not in said
    files = json.loads((tmp_path / "out" / "start.json").read_text())["files"]
    kept = {name.removeprefix("in/") for name, state in files.items() if state["ids"]}
    assert kept == {"a\nb.txt", "tab\t.txt", "-rf", "q\"'.txt", "caf\\xe9.txt"}


def test_a_file_that_changes_or_vanishes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next run takes up what has changed since the files were listed; one that is gone is named."""
    folder, catalog, out = tmp_path / "in", people(tmp_path), tmp_path / "out"
    write_all(folder, {"a.txt": TEXT, "b.txt": b"Grace Hopper ate."})
    said: list[str] = []

    def change(*given: Any) -> Documents:
        (folder / "b.txt").unlink()
        (folder / "a.txt").write_text("Grace Hopper painted.")
        return write_documents(*given)

    with monkeypatch.context() as patched:
        patched.setattr("fader.search.start.write_documents", change)
        start([str(folder)], out, StartOptions(str(catalog)), said.append)
    assert any("in/b.txt: no such file" in line for line in said)
    assert [name for name, _score in answers(out / "index", "painted")] == ["Grace Hopper"]
    # The file has the size and time that it had when it was read, not those that were listed.
    assert start([str(folder)], out, StartOptions(str(catalog))).added == 1
    assert start([str(folder)], out, StartOptions(str(catalog))).added == 0


def test_faulty_rows_of_a_catalog_can_be_left_out(tmp_path: Path) -> None:
    """As the message says; the same option stops at the first file that cannot be read."""
    catalog, out = tmp_path / "twice.csv", tmp_path / "out"
    write_all(tmp_path / "in", {"a.txt": TEXT, "b.txt": b""})
    catalog.write_text("id,name,type\ng,Grace Hopper,admiral\ng,Grace,poet\n")
    given = ["start", tmp_path / "in", "--catalog", catalog, "-o", out, "--no-serve"]
    assert 'twice.csv:3: duplicate entity id "g"' in refused(1, *given)
    assert not (out / "index").exists()
    passed(*given, "--on-error", "skip")
    assert [name for name, _score in answers(out / "index", "compiler")] == ["Grace Hopper"]
    assert "in/b.txt: is empty" in refused(1, *given[:-1], "--no-serve", "--on-error", "fail")


@pytest.mark.parametrize("step", ["annotate_written", "build"])
def test_a_disk_that_is_full_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Whatever a step has left behind is removed; the next run does it all."""
    out, catalog = tmp_path / "out", people(tmp_path)
    write_all(tmp_path / "in", {"a.txt": TEXT})

    def fail(*_given: Any, **_more: Any) -> None:
        (out / "work" / "half.unfinished").mkdir()
        raise StorageError(f"{out}: cannot be written: No space left on device")

    given = ["start", tmp_path / "in", "--catalog", catalog, "-o", out, "--no-serve"]
    with monkeypatch.context() as patched:
        patched.setattr(f"fader.search.start.{step}", fail)
        assert "No space left on device" in refused(1, *given)
    assert not out.exists()
    passed(*given)
    assert [name for name, _score in answers(out / "index", "compiler")] == ["Grace Hopper"]


def test_a_document_that_two_files_have_is_named(tmp_path: Path) -> None:
    """The first file's counts."""
    line = b'{"id": "own", "text": "%s"}\n'
    write_all(tmp_path / "in", {"a.jsonl": line % TEXT, "b.jsonl": line % b"Grace Hopper ate."})
    given = "--catalog", people(tmp_path), "-o", tmp_path / "out", "--no-serve"
    said = passed("start", tmp_path / "in", *given).err
    assert 'in/b.jsonl: "own" is a document of in/a.jsonl already' in said
    assert [name for name, _score in answers(tmp_path / "out" / "index", "compiler")] == ["Grace Hopper"]

"""The contract of importers (`fader.corpora.frame.base`), on sources that its author gives."""

from __future__ import annotations

import bz2
import contextlib
import dataclasses
import gzip
import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import zstandard

from fader.corpora.frame import inputs
from fader.corpora.frame.base import Importer
from fader.corpora.frame.run import ImportReport, run
from fader.corpora.frame.store import Store
from fader.corpus.catalog import read_catalog
from fader.corpus.documents import Faults
from fader.errors import FaderError
from fader.testing.expect import expect
from fader.testing.parts import check_part

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


def check_importer(importer: Importer, sources: Sequence[str | Path], processes: int = 2) -> None:
    """Run the contract on an importer and its sources; AssertionError says what does not hold.

    It describes itself; cutting twice gives the same pieces; documents have unique ids and mentions inside their
    texts; the catalog is sound; several processes, a second run, and a run that goes on after it was killed give the
    same bytes; a finished import is replaced only where that is asked for.
    """
    check_description(importer)
    given = [str(source) for source in sources]
    check_batches(importer, inputs.expand_folders(given) if importer.files else given)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_report(run(importer, given, folder / "one", part_bytes=1), folder / "one")
        run(importer, given, folder / "again")
        compare_folders(folder / "one", folder / "again", "a second run")
        if processes > 1:
            run(importer, given, folder / "many", processes, part_bytes=1)
            compare_folders(folder / "one", folder / "many", f"{processes} processes")
        check_restart(importer, given, folder / "again")
        compare_folders(folder / "one", folder / "again", "a run that replaces another")
        check_resumed(importer, given, folder)


def check_variants(
    importer: Importer,
    sources: Sequence[str | Path],
    compressed: bool = True,
    crlf: bool = True,
    broken: bool = True,
) -> None:
    """Check what holds of most formats that are files; AssertionError says what does not hold.

    Compressed sources give the same files; those with CRLF as many records with the same surfaces; a compressed source
    that ends early is a fault; broken bytes never stop an import. Each may be left out where a format cannot have it.
    """
    given = [Path(source) for source in sources]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report = run(importer, [str(source) for source in given], folder / "plain", part_bytes=1)
        if compressed:
            for suffix, compress in COMPRESSIONS.items():
                changed = copy_sources(given, folder / f"sources{suffix}", compress, suffix)
                run(importer, changed, folder / f"out{suffix}", part_bytes=1)
                compare_folders(folder / "plain", folder / f"out{suffix}", suffix, but="import.json")
            check_cut(importer, copy_sources(given, folder / "cut", lambda d: gzip.compress(d)[:-12], ".gz"), folder)
        if crlf:
            changed = copy_sources(given, folder / "crlf", lambda data: data.replace(b"\n", b"\r\n"))
            made = run(importer, changed, folder / "out", part_bytes=1)
            expect(made.counts == report.counts, "sources with CRLF give other counts")
            same = list_surfaces(folder / "out") == list_surfaces(folder / "plain")
            expect(same, "sources with CRLF give other documents or surfaces")
        for where in (0.2, 0.5, 0.9) if broken else ():
            check_broken(importer, given, where, folder / f"broken{where}")


def check_description(importer: Importer) -> None:
    """An importer has a title, an example that calls it, a citation, and help for each option."""
    cls = type(importer)
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]
    if not any(
        "," in str(getattr(importer, field.name)) for field in fields
    ):  # which stand between parameters of a part
        check_part(importer)
    for name in ("title", "citation", "example"):
        expect(getattr(cls, name, ""), f"{cls.__name__} has no {name}")
    expect(f"fader import {cls.name} " in cls.example, f"the example does not call `fader import {cls.name}`")
    for field in fields:
        expect(field.metadata.get("help"), f"the option {field.name} has no help; declare it with `option`")


def check_batches(importer: Importer, sources: Sequence[str]) -> None:
    """Cutting gives the same pieces every time: a run that was interrupted goes on from that."""
    one, two = ([*importer.batches(sources, Faults())] for _time in range(2))
    expect(len(one) == len(two), "cutting the sources twice gives another number of pieces")
    for a, b in zip(one, two, strict=True):
        expect((a.source, a.place, a.consumed) == (b.source, b.place, b.consumed), "pieces are cut differently")


def check_report(report: ImportReport, folder: Path) -> None:
    """Ids are unique, mentions lie inside their texts, and what is counted is there."""
    documents = read_documents(folder)
    expect(len(documents) == report.counts["documents"], "another number of documents than is counted")
    expect(len({d["id"] for d in documents}) == len(documents), "two documents have the same id")
    for document in documents:
        for mention in document["mentions"]:
            inside = 0 <= mention["start"] < mention["end"] <= len(document["text"])
            expect(inside, f"a mention of document {document['id']} is not inside its text")
    if "entities.tsv" in report.files:
        catalog = read_catalog(folder / "entities.tsv", folder / "types.tsv")
        expect(not catalog.notes, f"the catalog is not sound: {catalog.notes[:1]}")
    for examples in report.faults.examples.values():
        expect(all(":" in example for example in examples), "a fault does not say where it is: source:line")


def check_restart(importer: Importer, sources: Sequence[str], out: Path) -> None:
    """A finished import is refused unless it is to be replaced."""
    try:
        run(importer, sources, out)
    except FaderError as error:
        expect("--restart" in str(error), "the refusal of a finished import does not name --restart")
    else:
        raise AssertionError("a finished import is replaced without being asked")
    run(importer, sources, out, restart=True)


def check_resumed(importer: Importer, sources: Sequence[str], folder: Path) -> None:
    """A run that is killed when a part is whole, or just before, goes on and gives the bytes of `folder / "one"`."""
    end_part, parts = Store.end_part, 0

    class Killed(BaseException):
        """Stands for the end of a process."""

    def kill(at: int, before: bool) -> Callable[[Store], None]:
        def counted(store: Store) -> None:
            nonlocal parts
            parts += 1
            if parts == at and before:
                raise Killed
            end_part(store)
            if parts == at:
                raise Killed

        return counted

    with mock.patch.object(Store, "end_part", kill(0, False)):
        run(importer, sources, folder / "counted", part_bytes=1)
    for at, before in itertools.product(sorted({1, 2, parts // 2 + 1, parts} - {0}), (True, False)):
        out, parts = folder / f"killed{at}{before}", 0
        with mock.patch.object(Store, "end_part", kill(at, before)), contextlib.suppress(Killed):
            run(importer, sources, out, part_bytes=1)
        if parts == at:  # else there are fewer parts
            run(importer, sources, out, part_bytes=1)
        compare_folders(folder / "one", out, f"a run that was killed at part {at}")


def check_cut(importer: Importer, sources: Sequence[str], folder: Path) -> None:
    """A compressed source that ends early is counted and named; the policy to fail ends the run at the first fault."""
    faults = run(importer, sources, folder / "short", part_bytes=1).faults
    expect(inputs.CUT in faults.counts, "a compressed source that ends early is no fault")
    expect(all(".gz" in example for example in faults.examples[inputs.CUT]), "the fault does not name the source")
    try:
        run(importer, sources, folder / "failed", on_error="fail", part_bytes=1)
    except FaderError as error:
        named = any(each in str(error) for examples in faults.examples.values() for each in examples)
        expect(named, "the error is none of the faults")
    else:
        raise AssertionError("a fault does not end a run whose policy is to fail")


def check_broken(importer: Importer, sources: Sequence[Path], where: float, folder: Path) -> None:
    """Bytes that are not UTF-8, or the end of an uncompressed source, are at most a fault; what is written is sound."""

    def broken(data: bytes) -> bytes:
        at = int(len(data) * where)
        return data[:at] + b"\xff\xfe" + data[at:-1]

    report = run(importer, copy_sources(sources, folder / "sources", broken), folder / "out", part_bytes=1)
    if "entities.tsv" in report.files:
        read_catalog(folder / "out" / "entities.tsv", folder / "out" / "types.tsv")
    counted = len(read_documents(folder / "out")) == report.counts["documents"]
    expect(counted, "another number of documents than is counted, where a source is broken")
    json.loads((folder / "out" / "import.json").read_text())


def compare_folders(one: Path, two: Path, what: str, but: str = "") -> None:
    """Two imports of the same sources have the same files with the same bytes, except for one."""
    names = [{path.name for path in folder.iterdir() if path.is_file()} - {but} for folder in (one, two)]
    expect(names[0] == names[1], f"{what} gives other files: {', '.join(sorted(names[0] ^ names[1]))}")
    for name in sorted(names[0]):
        expect((one / name).read_bytes() == (two / name).read_bytes(), f"{what} gives another {name}")


def copy_sources(
    sources: Sequence[Path], folder: Path, change: Callable[[bytes], bytes], suffix: str = ""
) -> list[str]:
    """Sources, each file of them changed, in a folder of their own; they lie there as they lay to each other."""
    made, common = [], os.path.commonpath([source.absolute().parent for source in sources])
    for source in sources:
        copy = folder / source.absolute().relative_to(common)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy)
        else:
            shutil.copy(source, copy)
        for path in sorted(copy.rglob("*.*")) if source.is_dir() else [copy]:
            data = change(path.read_bytes())
            path.unlink()
            path.with_name(path.name + suffix).write_bytes(data)
        made.append(str(copy) + ("" if source.is_dir() else suffix))
    return made


def read_documents(folder: Path) -> list[dict[str, Any]]:
    """The documents that an import wrote."""
    path = folder / "corpus.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]] if path.exists() else []


def list_surfaces(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """The documents that an import wrote: of each mention the words and the entity."""
    return {
        document["id"]: [(document["text"][m["start"] : m["end"]], m["entity"]) for m in document["mentions"]]
        for document in read_documents(folder)
    }

"""The contract of importers (`fader.corpora.frame.base`), on sources that its author gives."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fader.corpora.frame.base import Importer
from fader.corpora.frame.run import ImportReport, run
from fader.corpus.catalog import read_catalog
from fader.corpus.documents import Faults
from fader.testing.expect import expect
from fader.testing.parts import check_part


def check_importer(importer: Importer, sources: Sequence[str | Path], processes: int = 2) -> None:
    """Run the contract on an importer and its sources; AssertionError says what does not hold.

    It describes itself; cutting twice gives the same pieces; documents have unique ids and mentions inside their
    texts; the catalog is sound; several processes and a second run give the same bytes.
    """
    check_description(importer)
    given = [str(source) for source in sources]
    check_batches(importer, given)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report = run(importer, given, folder / "one", part_bytes=1)
        check_report(report, folder / "one")
        run(importer, given, folder / "again")
        compare_folders(folder / "one", folder / "again", "a second run")
        if processes > 1:
            run(importer, given, folder / "many", processes, part_bytes=1)
            compare_folders(folder / "one", folder / "many", f"{processes} processes")


def check_description(importer: Importer) -> None:
    """An importer has a title, an example that calls it, a citation, and help for each option."""
    check_part(importer)
    cls = type(importer)
    for name in ("title", "citation", "example"):
        expect(getattr(cls, name, ""), f"{cls.__name__} has no {name}")
    expect(f"fader import {cls.name} " in cls.example, f"the example does not call `fader import {cls.name}`")
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        expect(field.metadata.get("help"), f"the option {field.name} has no help; declare it with `option`")


def check_batches(importer: Importer, sources: Sequence[str]) -> None:
    """Cutting gives the same pieces every time: a run that was interrupted goes on from that."""
    one, two = ([*importer.batches(sources, Faults())] for _time in range(2))
    expect(len(one) == len(two), "cutting the sources twice gives another number of pieces")
    for a, b in zip(one, two, strict=True):
        expect((a.source, a.place, a.consumed) == (b.source, b.place, b.consumed), "pieces are cut differently")


def check_report(report: ImportReport, folder: Path) -> None:
    """Ids are unique, mentions lie inside their texts, and what is counted is there."""
    corpus = folder / "corpus.jsonl"
    lines = corpus.read_text(encoding="utf-8").splitlines() if corpus.exists() else []
    documents = [json.loads(line) for line in lines]
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


def compare_folders(one: Path, two: Path, what: str) -> None:
    """Two imports of the same sources have the same bytes."""
    for path in sorted(one.iterdir()):
        if path.is_file():
            other = two / path.name
            same = other.exists() and path.read_bytes() == other.read_bytes()
            expect(same, f"{what} gives another {path.name}")

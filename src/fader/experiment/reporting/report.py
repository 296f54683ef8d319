"""The report of a comparison: a folder with the data, tables in four forms, figures and one HTML page.

    report.json      the comparison, its table, how significance was tested, what the figures show, Fader's version;
                     a folder with this file is a report
    table.csv        means and p-values
    table.md         title, means, and what made the report
    table.tex        a document with the table; tabular.tex is the table alone, for \\input
    per-query.csv    query, system, measure, value
    figures/         each figure as SVG and PNG, where matplotlib is installed
    index.html       all of it on one page that needs no other file

The folder appears whole or not at all: it is written beside its place and renamed. An existing report is replaced only
with `overwrite`, any other folder only if it is empty. Knows nothing of how systems were measured.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from fader.errors import InputError, StorageError
from fader.experiment.comparison import FORMAT, Comparison, from_plain, to_plain
from fader.experiment.provenance import list_provenance
from fader.experiment.reporting import figures as plots
from fader.experiment.reporting.markup import escape_markdown, format_list
from fader.experiment.reporting.page import make_page
from fader.experiment.reporting.tables import (
    TEST_TITLES,
    MeansTable,
    make_table,
    per_query_csv,
    to_csv,
    to_latex,
    to_markdown,
)
from fader.experiment.significance import LEVEL, PairedTest
from fader.jobs.files import sync_and_close, sync_folder

MARK = "report.json"
NAMES = {title: name for name, title in TEST_TITLES.items()}


@dataclass(frozen=True, slots=True)
class SignificanceTest:
    """How significance was tested, as `report.json` has it; `test` is the title of the test."""

    test: str = TEST_TITLES["t"]
    corrected: bool = False
    level: float = LEVEL
    baseline: str | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class FigureCaption:
    """What a figure shows."""

    name: str
    title: str
    caption: str


@dataclass(frozen=True, slots=True)
class ReportExtras:
    """What `report.json` holds besides the comparison; reports of older releases have no table and no captions."""

    significance: SignificanceTest = SignificanceTest()
    table: MeansTable | None = None
    figures: list[FigureCaption] = field(default_factory=list)
    fader: str = ""


@dataclass(frozen=True, slots=True)
class StoredReport:
    """All that `report.json` holds."""

    comparison: Comparison
    extras: ReportExtras

    def table(self) -> MeansTable:
        """The stored table or, without one that fits, a new one; a test that Fader does not know becomes the t-test."""
        c, t, written = self.comparison, self.extras.significance, self.extras.table
        # One that was read is taken where it has a cell for every system and measure.
        if (
            written is not None
            and [column.measure for column in written.columns] == c.measures
            and [row.name for row in written.rows] == [system.name for system in c.systems]
            and all(len(row.cells) == len(written.columns) for row in written.rows)
        ):
            return written
        test = NAMES.get(t.test, "t")
        return make_table(c, test=test, correct=t.corrected, level=t.level, baseline=t.baseline, seed=t.seed)

    def to_json(self) -> str:
        """The text of `report.json`."""
        return json.dumps({**self.comparison.to_dict(), **to_plain(self.extras)}, allow_nan=False) + "\n"


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """What was written; `notes` say what is missing and why."""

    folder: Path
    files: list[str]
    notes: list[str]
    table: MeansTable


def write_report(
    comparison: Comparison,
    folder: str | Path,
    *,
    test: str | PairedTest = "t",
    correct: bool = False,
    level: float = LEVEL,
    baseline: str | None = None,
    seed: int = 0,
    figures: bool = True,
    overwrite: bool = False,
) -> WrittenReport:
    """Write the report of a comparison; `test`, `correct`, `level`, `baseline` and `seed` are those of the table."""
    place = Path(folder).resolve()
    check_destination(place, overwrite)
    table = make_table(comparison, test=test, correct=correct, level=level, baseline=baseline, seed=seed)
    notes = [] if not figures or plots.can_draw() else [f"There are no figures: {plots.REMEDY}"]
    drawings = plots.draw(comparison) if figures and not notes else []
    differences = comparison.measures[:1] if baseline is not None else []
    extras = ReportExtras(
        significance=SignificanceTest(table.test, correct, level, baseline, seed),
        table=table,
        figures=[FigureCaption(d.name, d.title, d.caption) for d in drawings],
        fader=list_provenance(comparison)["fader"],
    )
    provenance = format_list(list_provenance(comparison))
    contents: dict[str, str | bytes] = {
        "table.csv": to_csv(table),
        "table.md": f"# {escape_markdown(comparison.title)}\n\n{to_markdown(table, differences)}\n{provenance}",
        "table.tex": to_latex(table, differences),
        "tabular.tex": to_latex(table, differences, whole=False),
        "per-query.csv": per_query_csv(comparison),
        "index.html": make_page(comparison, table, drawings, notes),
        MARK: StoredReport(comparison, extras).to_json(),
    }
    for drawing in drawings:
        contents[f"figures/{drawing.name}.svg"] = drawing.svg
        contents[f"figures/{drawing.name}.png"] = drawing.png
    _write_whole(place, contents)
    return WrittenReport(Path(folder), sorted(contents), notes, table)


def read_report(folder: str | Path) -> Comparison:
    """The comparison of a report."""
    path = Path(folder) / MARK
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; give the folder of a report") from None
    return parse_report(data, str(path)).comparison


def parse_report(data: bytes, where: str) -> StoredReport:
    """What the bytes of a `report.json` hold; `where` says in an error whose they are."""
    decoded = _decode(data, where)
    plain = decoded if isinstance(decoded, dict) else {}
    try:
        return StoredReport(Comparison.from_dict(plain), from_plain(ReportExtras, plain, "report"))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _decode(data: bytes, where: str) -> Any:
    """The JSON in some bytes; msgspec is faster, json accepts a few texts that msgspec does not."""
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: is not JSON: {error}") from None


def check_destination(folder: str | Path, overwrite: bool = False) -> None:
    """Refuse a folder that a report must not replace; call it before long work."""
    place = Path(folder).resolve()
    if not os.path.lexists(place):
        return
    if not place.is_dir():
        raise StorageError(f"{folder}: is a file; give the name of a folder")
    if any(Path(kept).resolve().is_relative_to(place) for kept in (".", os.path.expanduser("~"))):
        raise StorageError(
            f"{folder}: is the working or home folder, or holds it, and is never replaced; give a folder inside it"
        )
    if not any(place.iterdir()):
        return
    try:
        data = json.loads((place / MARK).read_bytes())
    except (OSError, ValueError):
        data = None
    if not isinstance(data, dict) or not str(data.get("format", "")).startswith(FORMAT.split("/")[0] + "/"):
        raise StorageError(f"{folder}: is a folder with other files, which a report never replaces; give a new one")
    if not overwrite:
        raise StorageError(f"{folder}: already holds a report; give another folder, or --overwrite (overwrite=True)")


def _write_whole(place: Path, contents: dict[str, str | bytes]) -> None:
    """All files under another name, then the rename; after a failure everything is as it was before."""
    work = place.with_name(f".{place.name}.writing-{uuid.uuid4().hex[:8]}")
    parents = [p for p in place.parents if not p.exists()]
    try:
        work.mkdir(parents=True)
        for name, content in contents.items():
            (work / name).parent.mkdir(exist_ok=True)
            with open(work / name, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
                sync_and_close(file)
        for folder in {(work / name).parent for name in contents}:
            sync_folder(folder)
        _put_in_place(work, place)
    except BaseException as error:
        shutil.rmtree(work, ignore_errors=True)
        for parent in parents:
            with suppress(OSError):
                parent.rmdir()
        if isinstance(error, OSError):
            message = f"{place}: cannot be written: {error.strerror or error}; nothing was left behind"
            raise StorageError(message) from error
        raise
    with suppress(OSError):  # the report is already in place
        for parent in (place.parent, *(p.parent for p in parents)):
            sync_folder(parent)


def _put_in_place(work: Path, place: Path) -> None:
    if not place.exists():
        os.rename(work, place)
        return
    old = place.with_name(f".{place.name}.replaced-{uuid.uuid4().hex[:8]}")
    os.rename(place, old)
    try:
        os.rename(work, place)
    except BaseException:
        os.rename(old, place)
        raise
    shutil.rmtree(old, ignore_errors=True)

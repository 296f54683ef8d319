"""The reports that are served: read when they are asked for, and kept until their `report.json` changes.

So a report that is written again is seen without a restart. Knows nothing of HTTP or of indexes.
"""

from __future__ import annotations

import gzip
import os
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from fader.errors import FaderError, InputError, did_you_mean, quote
from fader.experiment.comparison import Comparison, SystemResult
from fader.experiment.provenance import list_provenance
from fader.experiment.reporting.page import count_settings
from fader.experiment.reporting.report import MARK, StoredReport, parse_report
from fader.experiment.reporting.tables import MeansTable
from fader.lazy import cached_property
from fader.serve.errors import NotFound
from fader.serve.reports.files import FIGURE, ReportFile, list_files, open_file

FEW_CHOICES = 12  # settings of a system that are shown in brief


@dataclass(frozen=True, slots=True)
class BestSystem:
    """The system with the best mean of the first measure."""

    measure: str
    system: str
    title: str
    mean: float | None


@dataclass(frozen=True, slots=True)
class ReportLine:
    """A report in the list."""

    name: str
    title: str
    time: str
    index: str | None
    systems: int
    queries: int
    measures: list[str]
    best: BestSystem | None


@dataclass(frozen=True, slots=True)
class UnreadableReport:
    """A report that cannot be read, in the list."""

    name: str
    error: str


@dataclass(frozen=True, slots=True)
class ReportFigure:
    """A drawing of a report."""

    name: str
    title: str
    caption: str
    file: str


@dataclass(frozen=True, slots=True)
class SettingCount:
    """A setting that a system chose, and on how many folds."""

    settings: str
    folds: int


@dataclass(frozen=True)
class ServedReport:
    """A report as it was at one moment; `tag` tells it from what it was before."""

    name: str
    tag: str
    time: str
    stored: StoredReport
    table: MeansTable
    files: list[ReportFile]

    @cached_property
    def line(self) -> ReportLine:
        """Its line in the list."""
        comparison, column = self.stored.comparison, self.table.columns[0]
        row = next((row for row in self.table.rows if row.name == column.against), None)
        return ReportLine(
            self.name,
            comparison.title,
            self.time,
            self.index,
            len(comparison.systems),
            len(comparison.queries),
            comparison.measures,
            None if row is None else BestSystem(column.title, row.name, row.title, row.cells[0].mean),
        )

    @property
    def index(self) -> str | None:
        """The name of the index that was asked, where the report says it."""
        index = self.stored.comparison.provenance.get("index")
        return index if isinstance(index, str) else None

    @cached_property
    def whole(self) -> bytes:
        """All of it as JSON."""
        comparison = self.stored.comparison
        return self._encode({f.name: getattr(comparison, f.name) for f in fields(Comparison)}, values=True)

    @cached_property
    def brief(self) -> bytes:
        """The same without what is per query."""
        comparison = self.stored.comparison
        names = ("title", "measures", "smaller_is_better", "provenance")
        kept = {name: getattr(comparison, name) for name in names}
        return self._encode(kept | {"queries": len(comparison.queries)}, values=False)

    @cached_property
    def whole_packed(self) -> bytes:
        """Compressed at the quickest level: a large report is mostly digits."""
        return gzip.compress(self.whole, 1, mtime=0)

    @cached_property
    def brief_packed(self) -> bytes:
        return gzip.compress(self.brief, 5, mtime=0)

    def _encode(self, comparison: Mapping[str, object], values: bool) -> bytes:
        stored, extras = self.stored, self.stored.extras
        pairs = zip(stored.comparison.systems, self._choices, strict=True)
        return msgspec.json.encode(
            {
                "name": self.name,
                "time": self.time,
                "index": self.index,
                "fader": extras.fader,
                "made_by": list_provenance(stored.comparison),
                "significance": extras.significance,
                "table": asdict(self.table) | {"legend": self.table.legend()},
                "figures": self._figures(),
                "files": self.files,
                **comparison,
                "systems": [_describe_system(system, choices, values) for system, choices in pairs],
            }
        )

    @cached_property
    def _choices(self) -> list[list[SettingCount]]:
        """What each system chose; counting the folds of a large report takes longest."""
        return [[SettingCount(*each) for each in count_settings(s)] for s in self.stored.comparison.systems]

    def _figures(self) -> list[ReportFigure]:
        """The drawings that are there, the means first; those of older reports have no caption but their own title."""
        captions = {caption.name: caption for caption in self.stored.extras.figures}
        found = []
        for entry in self.files:
            match = FIGURE.fullmatch(entry.file)
            if match and entry.file.endswith(".svg"):
                told = captions.get(match["name"])
                title, caption = (told.title, told.caption) if told else (entry.about, "")
                found.append(ReportFigure(match["name"], title, caption, entry.file))
        order = list(captions) or ["means"]
        return sorted(found, key=lambda figure: order.index(figure.name) if figure.name in order else len(order))


class Shelf:
    """The reports that are served, by name; a report.json has at most `most_bytes`."""

    def __init__(self, folders: Mapping[str, Path], most_bytes: int) -> None:
        self._folders, self._most_bytes = dict(folders), most_bytes
        self._kept: dict[str, ServedReport] = {}
        self._locks = {name: threading.Lock() for name in folders}

    def list_reports(self) -> list[ReportLine | UnreadableReport]:
        """A line per report."""
        found: list[ReportLine | UnreadableReport] = []
        for name in self._folders:
            try:
                found.append(self.read(name).line)
            except NotFound as error:
                found.append(UnreadableReport(name, error.message))
        return found

    def folder(self, name: str) -> Path:
        """The folder of a report."""
        if name not in self._folders:
            remedy = did_you_mean(name, self._folders).removeprefix("; ") or "GET /v1/reports lists those there are"
            raise NotFound(f"there is no report {quote(name)}", remedy)
        return self._folders[name]

    def read(self, name: str) -> ServedReport:
        """A report as it is now; one thread at a time reads it."""
        folder = self.folder(name)
        with self._locks[name]:
            try:
                with open_file(folder, MARK) as file:
                    about = os.fstat(file.fileno())
                    tag = f"{about.st_mtime_ns:x}-{about.st_size:x}-{about.st_ino:x}"
                    if name not in self._kept or self._kept[name].tag != tag:
                        self._kept[name] = self._read(name, tag, about, file)
            except (FaderError, OSError, ValueError, RecursionError) as error:
                self._kept.pop(name, None)
                # Without the folders of the server.
                reason = f"{MARK}: {error.strerror or 'cannot be opened'}" if isinstance(error, OSError) else error
                raise NotFound(f"report {quote(name)} cannot be read: {reason}", "write it again") from None
            return self._kept[name]

    def _read(self, name: str, tag: str, about: os.stat_result, file: BinaryIO) -> ServedReport:
        most = self._most_bytes
        if about.st_size > most:
            raise InputError(f"{MARK} has {about.st_size:,} bytes, more than the {most:,} that are read")
        stored = parse_report(file.read(most + 1), MARK)
        when = datetime.fromtimestamp(int(about.st_mtime), UTC).isoformat().replace("+00:00", "Z")
        read = ServedReport(name, tag, when, stored, stored.table(), list_files(self._folders[name]))
        read.brief  # noqa: B018 - what cannot be written as JSON is found out here
        return read


def _describe_system(system: SystemResult, choices: list[SettingCount], values: bool) -> dict[str, Any]:
    """A system; `runs` is the ranker that was chosen most often, by its name, which a server may be asked for."""
    models = [fold["model"] for fold in system.hyperparameters if isinstance(fold.get("model"), str)]
    plain: dict[str, Any] = {f.name: getattr(system, f.name) for f in fields(system)}
    if not values:
        plain |= {"values": {}, "hyperparameters": []}
    return plain | {
        "title": system.title,
        "chosen": choices if values else choices[:FEW_CHOICES],
        "runs": Counter(models).most_common(1)[0][0] if models else system.name,
    }

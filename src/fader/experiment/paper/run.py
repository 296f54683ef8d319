"""From testbeds to all the paper's tables and figures: features, aggregation, every system end to end.

The folder of a run gets an index and three reports for each testbed, `results.md` and `results.json` with all tables,
and `index.html`, one page with tables and figures. Results of systems are kept in it as they come, so that a run that
was stopped goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Protocol

from markupsafe import Markup

from fader.errors import StorageError
from fader.experiment.compare import compare_judged
from fader.experiment.comparison import Comparison
from fader.experiment.judged import JudgedQueries
from fader.experiment.paper.checks import check_memory, check_systems
from fader.experiment.paper.numbers import list_published
from fader.experiment.paper.plan import PaperEffort, plan_tables
from fader.experiment.paper.testbeds import KEPT, Testbed
from fader.experiment.published import format_published
from fader.experiment.reporting.figures import can_draw, draw
from fader.experiment.reporting.html import render_page
from fader.experiment.reporting.page import embed_drawing
from fader.experiment.reporting.report import write_report
from fader.experiment.reporting.tables import make_table, to_html, to_markdown
from fader.jobs.files import write_whole
from fader.progress import Progress

FORMAT = "fader-paper/1"
CV = "loo"


class Speaker(Protocol):
    """Says what is done."""

    def remark(self, *lines: str) -> None: ...

    def progress(self, title: str) -> AbstractContextManager[Progress]: ...


@dataclass(frozen=True)
class PaperPlan:
    """What a run does: testbeds, each with its effort, by name."""

    testbeds: Sequence[Testbed]
    efforts: Mapping[str, PaperEffort]
    anyway: bool = False  # do not ask for memory


@dataclass(frozen=True)
class _Ready:
    judged: JudgedQueries
    tables: Mapping[str, Sequence[str]]


def prepare(plan: PaperPlan, out: Path, speaker: Speaker) -> list[_Ready]:
    """Everything that can be refused, for all testbeds, before a system runs; indexes are built for it."""
    tables = {name: plan_tables(effort) for name, effort in plan.efforts.items()}
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{out}: cannot be written: {error.strerror or error}; give another folder") from error
    ready = []
    for testbed in plan.testbeds:
        with speaker.progress(f"Preparing {testbed.name}") as reporter:
            judged = testbed.read(out, plan.efforts[testbed.name].sample, reporter)
            check_systems(judged, tables[testbed.name], CV)
            if not plan.anyway:
                check_memory(judged, tables[testbed.name])
        count = len({system for systems in tables[testbed.name].values() for system in systems})
        speaker.remark(*judged.remarks, f"{testbed.name}: {count} systems can run on {len(judged):,} judged queries")
        ready.append(_Ready(judged, tables[testbed.name]))
    return ready


def make_tables(ready: Sequence[_Ready], names: Sequence[str], out: Path, speaker: Speaker) -> list[Path]:
    """All tables of all testbeds, written after each of them; returns the files that hold all."""
    found: dict[str, list[Comparison]] = {}
    written: list[Path] = []
    for each, name in zip(ready, names, strict=True):
        for title, systems in each.tables.items():
            if systems:
                found.setdefault(title, []).append(_compare(each.judged, name, title, systems, out, speaker))
                written = _write_all(out, found)
    return written


def _compare(
    judged: JudgedQueries, name: str, title: str, systems: Sequence[str], out: Path, speaker: Speaker
) -> Comparison:
    """One table, with its report."""
    with speaker.progress(f"{name}: {title}") as reporter:
        judged.progress = reporter
        found = compare_judged(judged, systems, CV, title=f"{title}: {name}", keep=out / KEPT, progress=reporter)
    write_report(found, out / f"{name} - {title.split()[0].lower()}", overwrite=True)
    return found


def _write_all(out: Path, found: Mapping[str, Sequence[Comparison]]) -> list[Path]:
    """All tables as one text, as JSON, and with figures as one page."""
    text, page, plain = ["# Results\n"], [Markup("<header><h1>Results</h1></header>")], []
    for title, comparisons in found.items():
        text.append(f"## {title}\n")
        page.append(Markup("<section><h2>{}</h2>").format(title))
        for comparison in comparisons:
            table = make_table(comparison)
            plain.append({"table": title, **asdict(table)})
            text.append(f"### {comparison.title}\n\n{to_markdown(table)}")
            page.append(Markup("<h3>{}</h3>{}").format(comparison.title, to_html(table)))
            drawings = draw(comparison) if can_draw() else []
            page += [embed_drawing(replace(d, name=f"f{len(page)}-{d.name}")) for d in drawings]
        for other in list_published(title):
            text.append(format_published(other, "markdown"))
            page.append(Markup(format_published(other, "html")))
        page.append(Markup("</section>"))
    contents = {
        "results.md": "\n".join(text),
        "results.json": json.dumps({"format": FORMAT, "tables": plain}, ensure_ascii=False, indent=1),
        "index.html": render_page("Results", Markup("\n").join(page)),
    }
    for name, content in contents.items():
        write_whole(out / name, content.encode("utf-8"))
    return [out / name for name in contents]

"""What `add`, `delete` and `merge` share: their options, and what they say about the commit they made.

Knows nothing of how an index is changed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fader.cli.common import print_json, remark

SHOWN = 5
keep_option = click.option(
    "--keep", type=click.IntRange(min=1), metavar="N", help="Keep the newest N commits from now on; 2 if never given."
)
memory_option = click.option(
    "--memory", type=int, default=2048, show_default=True, metavar="MB", help="Memory that making a segment may take."
)
no_merge_option = click.option("--no-merge", is_flag=True, help="Merge no segments on this occasion.")


def tell(folder: Path, report: Any, seconds: float, as_json: bool, quiet: bool) -> None:
    """Say what a change has done."""
    for line in [*report.faults.lines(), *_missing(report.missing)]:
        remark(line, quiet)
    summary = _summary(folder, report, seconds)
    print_json(summary) if as_json else remark(_sentence(summary), quiet)


def _missing(ids: list[str]) -> list[str]:
    """Ids that are in no document: how many, and the first."""
    from fader.errors import quoted

    if not ids:
        return []
    lines = [f"not found: {_counted(len(ids), 'id')}", *(f"  {quoted(i)}" for i in ids[:SHOWN])]
    return lines + ([f"  and {len(ids) - SHOWN:,} more"] if len(ids) > SHOWN else [])


def _summary(folder: Path, report: Any, seconds: float) -> dict[str, Any]:
    manifest = report.manifest
    return {
        "index": str(folder), "commit": manifest.commit, "added": report.added, "replaced": report.replaced,
        "deleted": report.deleted, "missing": report.missing, "merged": report.merged,
        "documents": manifest.live.documents, "segments": len(manifest.segments),
        "skipped": report.faults.counts, "seconds": seconds,
    }  # fmt: skip


def _sentence(summary: dict[str, Any]) -> str:
    """The summary for people."""
    done = [f"{summary[c]:,} {c}" for c in ("added", "deleted") if summary[c]]
    if summary["replaced"]:
        done[0] += f" ({summary['replaced']:,} in place of older ones)"
    if summary["merged"]:
        done.append(f"{_counted(summary['merged'], 'segment')} merged")
    what = ", ".join(done) or "no document was changed"
    state = f"{_counted(summary['documents'], 'document')} in {_counted(summary['segments'], 'segment')}"
    return f"{summary['index']}: {what}; commit {summary['commit']}: {state}, in {summary['seconds']:.1f} s"


def _counted(count: int, name: str) -> str:
    return f"{count:,} {name if count == 1 else name + 's'}"

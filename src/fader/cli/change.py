"""What `add`, `delete` and `merge` say about the commit they made.

Knows nothing of how an index is changed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fader.cli.common import SHOWN, print_json, remark
from fader.errors import quote
from fader.index.write.change import ChangeReport


def print_change(folder: Path, report: ChangeReport, seconds: float, as_json: bool, quiet: bool) -> None:
    """Say what a change has done."""
    for line in [*report.faults.lines(), *_list_missing(report.missing)]:
        remark(line, quiet)
    summary = _summarize(folder, report, seconds)
    print_json(summary) if as_json else remark(_describe(summary), quiet)


def _list_missing(ids: list[str]) -> list[str]:
    """Ids that are in no document: how many, and the first."""
    if not ids:
        return []
    lines = [f"not found: {_count(len(ids), 'id')}", *(f"  {quote(i)}" for i in ids[:SHOWN])]
    return lines + ([f"  and {len(ids) - SHOWN:,} more"] if len(ids) > SHOWN else [])


def _summarize(folder: Path, report: ChangeReport, seconds: float) -> dict[str, Any]:
    manifest = report.manifest
    return {
        "index": str(folder),
        "commit": manifest.commit,
        "added": report.added,
        "replaced": report.replaced,
        "deleted": report.deleted,
        "missing": report.missing,
        "merged": report.merged,
        "documents": manifest.live.documents,
        "segments": len(manifest.segments),
        "skipped": report.faults.counts,
        "seconds": seconds,
    }


def _describe(summary: dict[str, Any]) -> str:
    """The summary for people."""
    done = [f"{summary[c]:,} {c}" for c in ("added", "deleted") if summary[c]]
    if summary["replaced"]:
        done[0] += f" ({summary['replaced']:,} in place of older ones)"
    if summary["merged"]:
        done.append(f"{_count(summary['merged'], 'segment')} merged")
    what = ", ".join(done) or "no document was changed"
    state = f"{_count(summary['documents'], 'document')} in {_count(summary['segments'], 'segment')}"
    return f"{summary['index']}: {what}; commit {summary['commit']}: {state}, in {summary['seconds']:.1f} s"


def _count(count: int, name: str) -> str:
    return f"{count:,} {name if count == 1 else name + 's'}"

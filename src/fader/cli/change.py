"""What `add`, `delete` and `merge` say about the commit they made.

Knows nothing of how an index is changed.
"""

from __future__ import annotations

from pathlib import Path

from fader.cli.common import SHOWN, Output
from fader.errors import quote
from fader.index.write.change import ChangeReport


def print_change(folder: Path, report: ChangeReport, seconds: float, out: Output) -> None:
    """Say what a change has done."""
    out.remark(*report.faults.lines())
    missing = report.missing
    if missing:
        out.remark(f"not found: {_count(len(missing), 'id')}", *(f"  {quote(i)}" for i in missing[:SHOWN]))
    if len(missing) > SHOWN:
        out.remark(f"  and {len(missing) - SHOWN:,} more")
    manifest = report.manifest
    summary = {
        "index": str(folder),
        "commit": manifest.commit,
        "added": report.added,
        "replaced": report.replaced,
        "deleted": report.deleted,
        "missing": missing,
        "merged": report.merged,
        "documents": manifest.live.documents,
        "segments": len(manifest.segments),
        "skipped": report.faults.counts,
        "seconds": seconds,
    }
    done = [f"{count:,} {name}" for count, name in ((report.added, "added"), (report.deleted, "deleted")) if count]
    if report.replaced:
        done[0] += f" ({report.replaced:,} in place of older ones)"
    if report.merged:
        done.append(f"{_count(report.merged, 'segment')} merged")
    what = ", ".join(done) or "no document was changed"
    state = f"{_count(manifest.live.documents, 'document')} in {_count(len(manifest.segments), 'segment')}"
    out.conclude(summary, f"{folder}: {what}; commit {manifest.commit}: {state}, in {seconds:.1f} s")


def _count(count: int, name: str) -> str:
    return f"{count:,} {name if count == 1 else name + 's'}"

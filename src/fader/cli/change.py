"""What `add`, `delete` and `merge` say about the commit they made.

Knows nothing of how an index is changed.
"""

from __future__ import annotations

from pathlib import Path

from fader.cli.common import SHOWN, Output
from fader.corpus.catalog_change import Counted
from fader.errors import quote
from fader.index.write.change import ChangeReport


def print_change(folder: Path, report: ChangeReport, seconds: float, out: Output) -> None:
    """Say what a change has done."""
    out.remark(*report.tables, *report.catalog_notes[:SHOWN], *report.faults.lines())
    missing = report.missing
    for kind, ids in (("id", missing), ("entity", report.entities.missing), ("type", report.types.missing)):
        if ids:
            out.remark(f"not found: {_count(len(ids), kind)}", *(f"  {quote(i)}" for i in ids[:SHOWN]))
        if len(ids) > SHOWN:
            out.remark(f"  and {len(ids) - SHOWN:,} more")
    if report.dropped:
        out.remark(_tell_dropped(report.dropped))
    manifest = report.manifest
    summary = {
        "index": str(folder),
        "commit": manifest.commit,
        "added": report.added,
        "replaced": report.replaced,
        "deleted": report.deleted,
        "missing": missing,
        "merged": report.merged,
        "entities": _tell(report.entities),
        "types": _tell(report.types),
        "documents": manifest.live.documents,
        "segments": len(manifest.segments),
        "skipped": report.faults.counts,
        "seconds": seconds,
    }
    done = [f"{count:,} {name}" for count, name in ((report.added, "added"), (report.deleted, "deleted")) if count]
    if report.replaced:
        done[0] += f" ({report.replaced:,} in place of older ones)"
    done += _describe(report.entities, "entity") + _describe(report.types, "type")
    if report.merged:
        done.append(f"{_count(report.merged, 'segment')} merged")
    what = ", ".join(done) or "no document was changed"
    state = f"{_count(manifest.live.documents, 'document')} in {_count(len(manifest.segments), 'segment')}"
    out.conclude(summary, f"{folder}: {what}; commit {manifest.commit}: {state}, in {seconds:.1f} s")


def _tell(rows: Counted) -> dict[str, object]:
    return {
        "added": rows.added,
        "changed": rows.changed,
        "removed": rows.removed,
        "joined": rows.joined,
        "missing": rows.missing,
    }


def _tell_dropped(count: int) -> str:
    """Mentions that no longer count, or, where negative, that count again."""
    went = "of removed entities set aside" if count > 0 else "came back with their entities"
    return f"{_count(abs(count), 'mention')} {went}"


def _describe(rows: Counted, kind: str) -> list[str]:
    """What happened to rows of the catalog, in words."""
    counts = (rows.added, "added"), (rows.changed, "changed"), (rows.removed, "removed"), (rows.joined, "joined")
    return [f"{_count(count, kind)} {what}" for count, what in counts if count]


def _count(count: int, name: str) -> str:
    many = f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    return f"{count:,} {name if count == 1 else many}"

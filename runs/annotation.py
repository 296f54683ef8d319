"""How well `fader annotate` finds again what testbeds have annotated: precision, recall and calibration.

    python runs/annotation.py FOLDER...        # folders with corpus.jsonl(.gz, .zst), entities.tsv, types.tsv

The documents of each testbed are dealt to two halves by the parity of a hash of their ids. The second half is annotated
from the catalog alone, then from the catalog and the first half as linked corpus, and compared with its own mentions.
Gold mentions are not exhaustive and catalogs name only some entities by some names, so that precision over all spans
is a lower bound. Told apart are:

    precision   predicted mentions whose span and entity are gold, of all predicted
    recall      gold mentions found with span and entity, of all gold
    annotated   precision among predicted mentions that overlap a gold mention: what gold can judge
    entity      right entity among predicted mentions whose span is gold: choosing alone
    error       calibration: mean over ten equal bins of |mean confidence - precision|, weighted by their sizes
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from fader.corpora.annotate import Annotator
from fader.corpus.readers import read_lines

BATCH = 500
THRESHOLDS = (0.0, 0.25, 0.5)

Span = tuple[int, int]


@dataclass
class Tally:
    """Counts over documents."""

    gold: int = 0
    rows: list[tuple[float, bool, bool, bool]] = field(
        default_factory=list
    )  # confidence, right, span is gold, overlaps

    def add(self, gold: dict[Span, set[str]], found: Sequence[Any]) -> None:
        self.gold += sum(map(len, gold.values()))
        covered = np.zeros(max([end for _start, end in gold] + [m.end for m in found] + [0]) + 1, dtype=np.bool_)
        for start, end in gold:
            covered[start:end] = True
        for m in found:
            entities = gold.get((m.start, m.end), set())
            overlaps = bool(covered[m.start : m.end].any())
            self.rows.append((m.confidence, m.entity in entities, bool(entities), overlaps))

    def figures(self, least: float = 0.0) -> dict[str, float]:
        """The measures over mentions of at least some confidence."""
        table = np.array([r for r in self.rows if r[0] >= least], dtype=np.float64).reshape(-1, 4)
        right = table[:, 1].sum()
        precision, recall = right / max(1, len(table)), right / max(1, self.gold)
        return {
            "predicted": len(table),
            "precision": precision,
            "recall": recall,
            "f1": 2 * precision * recall / max(1e-9, precision + recall),
            "annotated": right / max(1.0, table[:, 3].sum()),
            "entity": right / max(1.0, table[:, 2].sum()),
            "error": calibration_error(table[:, 0], table[:, 1]),
        }


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """The expected calibration error over ten bins."""
    bins = np.minimum(9, (confidence * 10).astype(int))
    gaps = [
        (bins == b).sum() * abs(confidence[bins == b].mean() - right[bins == b].mean())
        for b in range(10)
        if (bins == b).any()
    ]
    return float(sum(gaps) / max(1, confidence.size))


def corpus_of(folder: Path) -> Path:
    """The corpus file of a testbed."""
    return next(p for p in sorted(folder.glob("corpus.jsonl*")) if p.suffix in (".jsonl", ".gz", ".zst"))


def documents(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Half, line and document."""
    for _number, line in read_lines(path):
        row = json.loads(line)
        yield xxhash.xxh3_64_intdigest(row["id"].encode()) & 1, line, row


def gold_spans(row: dict[str, Any]) -> dict[Span, set[str]]:
    spans: dict[Span, set[str]] = {}
    for m in row["mentions"]:
        spans.setdefault((m["start"], m["end"]), set()).add(m["entity"])
    return spans


def measure(folder: Path, limit: int) -> dict[str, Any]:
    """One testbed: both conditions."""
    first, second = [], []
    for half, line, row in documents(corpus_of(folder)):
        (second if half else first).append(row if half else line)
        if limit and len(first) + len(second) >= limit:
            break
    with tempfile.TemporaryDirectory() as work:
        linked = Path(work) / "linked.jsonl"
        linked.write_text("\n".join(first) + "\n", "utf-8")
        out: dict[str, Any] = {"testbed": folder.name, "documents": len(second)}
        for name, links in (("catalog", []), ("links", [linked])):
            began = time.perf_counter()
            annotator = Annotator.from_files(folder / "entities.tsv", folder / "types.tsv", links=links)
            built = time.perf_counter() - began
            tally = tallied(annotator, second)
            out[name] = {str(least): tally.figures(least) for least in THRESHOLDS} | {"built_s": built}
            out["gold"] = tally.gold
    return out


def tallied(annotator: Annotator, rows: list[dict[str, Any]]) -> Tally:
    tally = Tally()
    for i in range(0, len(rows), BATCH):
        batch = rows[i : i + BATCH]
        for row, found in zip(batch, annotator.annotate_all([r["text"] for r in batch]), strict=True):
            tally.add(gold_spans(row), found)
    return tally


def table(results: list[dict[str, Any]]) -> str:
    """A Markdown table."""
    head = "| testbed | from | confidence >= | predicted | precision | recall | F1 | annotated | entity | error |"
    lines = [head, "|---|---|---|---|---|---|---|---|---|---|"]
    for result in results:
        for name in ("catalog", "links"):
            for least in THRESHOLDS:
                f = result[name][str(least)]
                cells = " | ".join(f"{f[k]:.3f}" for k in ("precision", "recall", "f1", "annotated", "entity", "error"))
                lines.append(f"| {result['testbed']} | {name} | {least:g} | {f['predicted']:,} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Annotate testbeds again and compare with their mentions.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="Use only the first documents of each.")
    parser.add_argument("--json", type=Path, help="Write all figures here.")
    args = parser.parse_args()
    results = []
    for folder in args.folders:
        results.append(measure(folder, args.limit))
        print(
            f"{folder.name}: {results[-1]['documents']:,} documents, {results[-1]['gold']:,} gold mentions", flush=True
        )
    print(table(results))
    if args.json:
        args.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()

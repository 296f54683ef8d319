"""TREC runs read from files: `qid Q0 entity rank score tag`, every fault with its file and line number.

As in trec_eval, scores alone order entities; the rank column is not used. Knows nothing of measures.
"""

from __future__ import annotations

import math
from pathlib import Path

from fader.corpus.queries import FaultCollector
from fader.corpus.readers import display_name, read_lines
from fader.errors import quote

COLUMNS = "qid Q0 entity rank score tag"


def read_run(path: str | Path, fault: FaultCollector) -> dict[str, dict[str, float]]:
    """A score by query and entity."""
    run: dict[str, dict[str, float]] = {}
    lines: dict[str, dict[str, int]] = {}
    for number, line in read_lines(path):
        cells = line.split()
        if not cells:
            continue
        place = f"{display_name(path)}:{number}"
        if len(cells) != 6:
            columns = "column" if len(cells) == 1 else "columns"
            fault(f"{place}: {len(cells)} {columns}; expected {COLUMNS}: {quote(line, 60)}")
            continue
        query, _q0, entity, _rank, text, _tag = cells
        try:
            score = math.nan if "_" in text else float(text)
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            fault(f"{place}: score {quote(text)} is not a finite number; write one like 12.5")
            continue
        first = lines.setdefault(query, {}).setdefault(entity, number)
        if first != number:
            again = f"entity {quote(entity)} is ranked twice for query {quote(query)}"
            fault(f"{place}: {again}; the first is at line {first}; keep one of them")
            continue
        run.setdefault(query, {})[entity] = score
    return run

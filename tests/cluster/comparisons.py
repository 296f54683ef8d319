"""Judged queries of the demo, and a comparison without its seconds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fader.corpus.queries import FaultCollector
from fader.experiment.judged import JudgedQueries, judge_queries
from fader.search.batch import parse_all
from fader.search.index import Index
from fader.search.inputs import load_qrels, load_queries


def judged(index: Index, demo: Path, sample: int = 12) -> JudgedQueries:
    queries = parse_all(index, load_queries(demo / "queries.jsonl"), FaultCollector())
    return judge_queries(index, queries, load_qrels(demo / "qrels.txt"), None, sample, 1)


def told(found: Any) -> str:
    """All of a comparison but the seconds."""
    plain = found.to_dict()
    for system in plain["systems"]:
        system.pop("seconds")
    return json.dumps(plain, sort_keys=True)

"""The demo's files and index, for the tests of training and comparing; and a tiny index to judge wrongly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fader
from fader.demo.generate import generate


def demo_in(folder: Path) -> fader.Index:
    """Write the demo into a folder and build its index there."""
    generate(folder)
    return fader.build(
        folder / "index", corpus=[folder / "corpus.jsonl"], entities=folder / "entities.tsv", types=folder / "types.tsv"
    )


def some_queries(folder: Path, step: int) -> tuple[list[dict[str, Any]], dict[str, dict[str, int]]]:
    """Every so many of the demo's queries, with their judgments."""
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()[::step]
    queries = [json.loads(line) for line in lines]
    qrels: dict[str, dict[str, int]] = {q["id"]: {} for q in queries}
    for line in (folder / "qrels.txt").read_text(encoding="utf-8").splitlines():
        query, _zero, entity, grade = line.split()
        if query in qrels:
            qrels[query][entity] = int(grade)
    return queries, qrels


WORDS = ["red", "green", "blue", "black"]
ENTITIES = [{"id": f"E{i}", "name": f"Name {i}", "types": ["T"]} for i in range(6)]
TYPES = [{"id": "T", "name": "Thing"}]


def _document(i: int) -> dict[str, Any]:
    near, far = WORDS[i % 4], WORDS[(i // 4) % 4]
    text = f"{near} name and then a long way off {far}"
    at, entity = len(near) + 1, f"E{i % 5 if i < 20 else i % 4}"
    return {"id": f"d{i}", "text": text, "mentions": [{"start": at, "end": at + 4, "entity": entity}]}


def tiny_in(folder: Path) -> fader.Index:
    """Documents that mention E0 to E4 right behind a colour and far before another; nobody mentions E5.

    Twenty have each entity behind each colour once; behind its own colour each of E0 to E3 is twice more.
    """
    return fader.build(folder / "index", corpus=[_document(i) for i in range(28)], entities=ENTITIES, types=TYPES)


TINY_QUERIES = [{"id": f"q{i}", "query": word, "type": "T"} for i, word in enumerate(WORDS)]
TINY_QRELS: dict[str, dict[str, int]] = {f"q{i}": {f"E{i}": 1, f"E{(i + 1) % 5}": 0} for i in range(4)}

"""How well `fader discover` finds the entities of testbeds whose catalogs it does not see.

    python runs/discovery.py FOLDER...      # with corpus.jsonl(.gz, .zst), entities.tsv, types.tsv, queries and qrels

An entity that was found is right if one of its names is a name of an entity that the testbed's own mentions have, case
and marks aside.

    precision   found entities that are right, of all found
    recall      entities of the testbed that were found, of all that it mentions
    mentions    the same recall, each entity counted as often as it is mentioned
    map_found   mean average precision of the judged queries by the default model, without answer types, the texts
                annotated with the catalog that was found by `fader annotate`
    map_own     the same with the testbed's own catalog
    map_typed   the same with the own catalog and the queries' answer types

Names of the catalog that was found are mapped to the testbed's ids for the judgments; what has none is wrong.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from fader.corpora.annotate.options import Options
from fader.corpora.annotate.run import annotate_files
from fader.corpora.discover.find import Entity, discover, read_texts, write_entities
from fader.corpora.discover.grouping import key_of
from fader.corpus.queries import FaultCollector, read_qrels, read_queries
from fader.corpus.readers import read_lines
from fader.errors import QueryError
from fader.experiment.measures import average_precision
from fader.search.index import Index, build

K = 1000


def corpus_of(folder: Path) -> Path:
    """The corpus file, compressed or not."""
    return next(folder.glob("corpus.jsonl*"))


def read_own(folder: Path) -> tuple[dict[str, set[str]], dict[str, int]]:
    """The entities of each name, and how often each entity is mentioned."""
    names: dict[str, set[str]] = {}
    for _number, line in read_lines(folder / "entities.tsv"):
        cells = line.split("\t")
        for name in (cells[1], *(cells[3].split("|") if len(cells) > 3 else ())):
            if name:
                names.setdefault(key_of(name), set()).add(cells[0])
    counts = Counter[str]()
    for _number, line in read_lines(corpus_of(folder)):
        counts.update(m["entity"] for m in json.loads(line).get("mentions", []))
    return names, dict(counts)


def map_entity(entity: Entity, names: dict[str, set[str]], counts: dict[str, int]) -> str:
    """The testbed's entity of a name, the most mentioned if several; empty where there is none."""
    for name in (entity.name, *entity.aliases):
        found = [each for each in names.get(key_of(name), ()) if each in counts]
        if found:
            return max(found, key=lambda each: (counts[each], each))
    return ""


def index_with(folder: Path, catalog: Path, types: Path | None, work: Path, name: str) -> Index:
    """The testbed's texts, annotated with a catalog and indexed."""
    options = Options(str(catalog), str(types) if types else None, jsonl=True)
    annotate_files([str(corpus_of(folder))], work / f"{name}.jsonl", options, 2)
    return build(work / name, work / f"{name}.jsonl", catalog, types)


def mean_average_precision(index: Index, folder: Path, typed: bool, mapped: dict[str, str] | None) -> float:
    """MAP of the judged queries; a query that the index cannot answer has 0."""
    fault = FaultCollector(True)
    grades = read_qrels(folder / "qrels.txt", fault)
    queries = [
        q for q in read_queries(folder / "queries.jsonl", fault) if any(g > 0 for g in grades.get(q.id, {}).values())
    ]
    total = 0.0
    for query in queries:
        try:
            ranked = index.rank(query.query, query.type if typed else None, K).entities
        except QueryError:
            continue
        if mapped is not None:
            ranked = list(dict.fromkeys(mapped.get(e) or f"?{e}" for e in ranked))
        total += average_precision(ranked, grades[query.id])
    return total / len(queries)


def measure(folder: Path, least: int) -> dict[str, Any]:
    """All figures of a testbed."""
    names, counts = read_own(folder)
    began = time.perf_counter()
    found = discover(read_texts(corpus_of(folder)), least)
    seconds = time.perf_counter() - began
    mapped = {entity.id: map_entity(entity, names, counts) for entity in found}
    right = {own for own in mapped.values() if own}
    result: dict[str, Any] = {
        "testbed": folder.name,
        "least": least,
        "found": len(found),
        "typed": sum(bool(e.types) for e in found),
        "own": len(counts),
        "precision": sum(map(bool, mapped.values())) / max(1, len(found)),
        "recall": len(right) / len(counts),
        "mentions": sum(counts[own] for own in right) / sum(counts.values()),
        "seconds": seconds,
    }
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        write_entities(found, work / "found.tsv")
        ours = index_with(folder, work / "found.tsv", None, work, "found")
        result["map_found"] = mean_average_precision(ours, folder, False, mapped)
        own = index_with(folder, folder / "entities.tsv", folder / "types.tsv", work, "own")
        result["map_own"] = mean_average_precision(own, folder, False, None)
        result["map_typed"] = mean_average_precision(own, folder, True, None)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="Find entities of testbeds whose catalogs are hidden.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--least", type=int, default=2, help="How often a name must be seen.")
    args = parser.parse_args()
    columns = "precision recall mentions map_found map_own map_typed".split()
    print("| testbed | found | own |", " | ".join(columns), "| seconds |")
    print("|---" * (4 + len(columns)) + "|")
    for folder in args.folders:
        r = measure(folder, args.least)
        cells = " | ".join(f"{r[c]:.3f}" for c in columns)
        print(f"| {r['testbed']} | {r['found']:,} | {r['own']:,} | {cells} | {r['seconds']:.0f} |", flush=True)


if __name__ == "__main__":
    main()

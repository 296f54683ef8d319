"""The contract of the fused path: a system with a fused form ranks by it as through the Contexts table, bit for bit.

`check_fused` draws small indexes; `compare_paths` compares the two ways for one query of any index.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from fader.contexts.query import Query
from fader.fused.ranker import FusedRanker
from fader.index.reader import IndexReader
from fader.rank.ranking import explain_entity
from fader.rank.system import System
from fader.search.evidence import by_weight
from fader.search.index import build
from fader.search.local import LocalCollection, rank_contexts
from fader.testing.expect import expect

SHOWN = 2
QUERIES = ("a", "a b", "+a b c", '"a b" c', "a -d", "b e missing", '+"b c" a d e')
K = 4


def check_fused(system: System, seeds: range = range(3)) -> bool:
    """Compare the fused form of a system with the table on drawn indexes; whether it has one."""
    is_fused = False
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            draw = np.random.default_rng(seed)
            corpus = [_draw_document(draw, number) for number in range(40)]
            entities = [{"id": f"e{i}", "name": f"e{i}", "types": ["t" if i % 3 else "u"]} for i in range(9)]
            types = [{"id": "t", "name": "t"}, {"id": "u", "name": "u"}]
            index = build(Path(folder) / "index", corpus, entities, types, segment_tokens=(None, 60, 200)[seed % 3])
            collection = LocalCollection(IndexReader(Path(folder) / "index"))
            for query in QUERIES:
                for answer_type in ("t", None):
                    parsed = index.parse(query, answer_type)
                    is_fused |= compare_paths(collection, parsed, system, K)
    return is_fused


def _draw_document(draw: np.random.Generator, number: int) -> dict[str, Any]:
    words = [str(w) for w in draw.choice(list("aabbcdefghxyz"), int(draw.integers(1, 25)))]
    mentions = []
    for _ in range(int(draw.integers(0, 6))):
        first = int(draw.integers(0, len(words)))
        last = min(len(words), first + int(draw.integers(1, 3)))
        span = {"start": 2 * first, "end": 2 * last - 1, "entity": f"e{draw.integers(0, 9)}"}
        mentions.append(span | {"confidence": float(draw.integers(1, 5)) / 4})
    return {"id": f"d{(number * 17) % 40:02d}", "text": " ".join(words), "mentions": mentions}


def compare_paths(
    collection: LocalCollection, query: Query, system: System, k: int, ranker: FusedRanker | None = None
) -> bool:
    """Expect the same ranking either way, and the same rows to show; False where there is no fused form."""
    view = system.view
    options = view.match_options()
    query = collection.name_entities(query) if view.entities else query
    found = (ranker or FusedRanker(collection.reader)).rank(query, options, system, k, SHOWN)
    if found is None:
        return False
    contexts, ranking, total, _shown = found
    table = rank_contexts(collection.contexts(query, options), system, k)
    what = f"{system} on {query.text!r}, type {query.type}: "
    expect(ranking.entity.tolist() == table.ranking.entity.tolist(), what + "other entities or another order")
    scores = ranking.score.tolist(), table.ranking.score.tolist()
    same = [a.hex() == b.hex() for a, b in zip(*scores, strict=True)]
    expect(all(same), what + f"other scores: fused {scores[0]}, through the table {scores[1]}")
    counts = ranking.support.tolist(), ranking.candidates, total, contexts.matched_documents
    expected = table.ranking.support.tolist(), table.ranking.candidates, table.total, table.contexts.matched_documents
    expect(counts == expected, what + f"other counts: fused {counts}, through the table {expected}")
    messages = contexts.warnings, contexts.empty_because
    expect(messages == (table.contexts.warnings, table.contexts.empty_because), what + "other warnings")
    statistics = contexts.statistics, table.contexts.statistics
    expect(np.array_equal(statistics[0].df, statistics[1].df), what + "other document frequencies")
    expect(np.array_equal(statistics[0].cf, statistics[1].cf), what + "other collection frequencies")
    shown = shown_rows(system, contexts, ranking)
    expect(shown == shown_rows(system, table.contexts, table.ranking), what + "other rows to show")
    return True


def shown_rows(system: System, contexts: Any, ranking: Any) -> list[Any]:
    """Of each ranked entity the contexts that contribute most, with everything that is shown of them."""
    found = []
    for i in range(ranking.entity.size):
        shares = explain_entity(system, contexts, ranking, i)
        for x in by_weight(shares)[:SHOWN].tolist():
            row = int(shares.row[x])
            numbers = (int(contexts.document[row]), int(contexts.start[row]), int(contexts.end[row]))
            matches = contexts.distances[:, row].tolist(), contexts.sides[:, row].tolist()
            found.append((i, *numbers, *matches, float(contexts.confidence[row]), float(shares.share[x]).hex()))
    return found

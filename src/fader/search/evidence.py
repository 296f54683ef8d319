"""Evidence: the contexts that contribute most as snippets, and how a score comes about.

Contributions are split among contexts, among the literals of each, and by feature cell; for each context listed, what
the entity would be without it. Knows the contract of systems, nothing of how scores are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.allowance import claimed
from fader.contexts.table import Contexts
from fader.rank.ranking import Contributions, ShownContexts, WhatIf, choose_contexts, rank_without, sort_shares
from fader.rank.system import Ranking, System
from fader.search.answer import CellShare, ContextShare, Explanation, LiteralShare, OtherContexts, Snippet
from fader.search.collection import Collection
from fader.search.passage import Passage
from fader.search.snippets import cut_snippets

I32 = NDArray[np.int32]
SHOWN_CONTEXTS = 20
SNIPPET_WEIGHT = 1024  # a snippet takes as long as so many elements
RANKED_AGAIN = 5  # contexts to rank without, if each needs a new ranking of all candidates


def show_evidence(
    collection: Collection,
    contexts: Contexts,
    contributions: Sequence[Contributions],
    limit: int,
    passage: Passage = Passage(),  # noqa: B008 - a value that nothing changes
) -> list[list[Snippet]]:
    """Snippets per entity of the contexts that contribute most, all texts read in one batch."""
    share = np.concatenate([np.empty(0), *(each.share for each in contributions)])
    row = np.concatenate([np.empty(0, dtype=np.int32), *(each.row for each in contributions)])
    at = np.cumsum([0, *(each.row.size for each in contributions)])
    place, begin = choose_contexts(share, at, limit)
    return show_contexts(collection, contexts, ShownContexts(begin, row[place], share[place]), passage)


def show_contexts(
    collection: Collection,
    contexts: Contexts,
    shown: ShownContexts,
    passage: Passage = Passage(),  # noqa: B008 - a value that nothing changes
) -> list[list[Snippet]]:
    """Snippets per entity of chosen contexts."""
    cut: list[Snippet] = []
    row, share = shown.row, shown.share.tolist()
    for a, b in budget.chunks(row.size, weight=SNIPPET_WEIGHT):
        cut += cut_snippets(collection, contexts, row[a:b], share[a:b], passage)
    return [cut[a:b] for a, b in pairwise(shown.at.tolist())]


def by_weight(shares: Contributions) -> NDArray[np.int64]:
    """All contexts, from the one that contributes most on."""
    return sort_shares(shares.share)


def explain_entities(
    collection: Collection,
    contexts: Contexts,
    system: System,
    ranking: Ranking | None,
    contributions: Sequence[Contributions],
) -> list[Explanation]:
    """How the scores of the first entities of a ranking come about, all document ids read in one batch."""
    rows = [row for shares in contributions for row in shares.row[by_weight(shares)[:SHOWN_CONTEXTS]].tolist()]
    documents = contexts.document[rows].tolist() if rows else []
    ids = dict(zip(documents, collection.document_ids(documents), strict=True))
    return [_explain(ids, contexts, system, ranking, i, shares) for i, shares in enumerate(contributions)]


def _explain(
    ids: dict[int, str], contexts: Contexts, system: System, ranking: Ranking | None, i: int, shares: Contributions
) -> Explanation:
    """Split a score among contexts, literals and feature cells; `ranking` is None if the entity is not a candidate."""
    budget.check()
    names = [literal.text for literal in contexts.query.literals]
    order = by_weight(shares)
    shown, rest = order[:SHOWN_CONTEXTS], order[SHOWN_CONTEXTS:]
    listed: list[ContextShare] = []
    if ranking is not None:
        with claimed():
            listed = _explain_shown(ids, contexts, system, ranking, i, shares, shown)
    return Explanation(
        score=float(shares.share.sum()),
        literals={n: float(v) for n, v in zip(names, shares.literal.sum(axis=1), strict=True)},
        contexts=listed,
        others=OtherContexts(int(rest.size), float(shares.share[rest].sum())),
    )


def _explain_shown(
    ids: dict[int, str],
    contexts: Contexts,
    system: System,
    ranking: Ranking,
    i: int,
    shares: Contributions,
    shown: NDArray[np.int64],
) -> list[ContextShare]:
    """How the contexts that are shown add up, and what would be without each."""
    names, listed = [literal.text for literal in contexts.query.literals], []
    table, rows = _own_contexts(contexts, system, shares.row[shown])
    ifs = SHOWN_CONTEXTS if system.values_are_independent else RANKED_AGAIN
    for place, (x, row) in enumerate(zip(shown.tolist(), rows.tolist(), strict=True)):
        budget.check()
        cells = [
            CellShare(p.feature, names[p.literal] if p.literal >= 0 else None, p.cell, p.value)
            for p in system.pieces(table, row)
        ]
        without = rank_without(system, table, ranking, i, row) if place < ifs else None
        listed.append(_explain_context(ids, contexts, shares, x, cells, without))
    return listed


def _own_contexts(contexts: Contexts, system: System, rows: I32) -> tuple[Contexts, NDArray[Any]]:
    """The table that explains some contexts of an entity, and their rows in it.

    Features score a context independently of other entities, so the entity's own contexts are enough.
    """
    if system.feature_scoring is None or not rows.size:
        return contexts, rows
    own = np.flatnonzero(contexts.slot == contexts.slot[rows[0]]).astype(np.int32)
    return contexts.take(own, compact=True), np.searchsorted(own, rows)


def _explain_context(
    ids: dict[int, str],
    contexts: Contexts,
    shares: Contributions,
    x: int,
    cells: list[CellShare],
    without: WhatIf | None,
) -> ContextShare:
    row = int(shares.row[x])
    columns = zip(contexts.query.literals, contexts.distances[:, row].tolist(), shares.literal[:, x], strict=True)
    return ContextShare(
        doc=ids[int(contexts.document[row])],
        start=int(contexts.start[row]),
        end=int(contexts.end[row]),
        score=float(shares.score[x]),
        contribution=float(shares.share[x]),
        literals=[LiteralShare(literal.text, d, float(v)) for literal, d, v in columns if d >= 0],
        cells=cells,
        without=without,
    )

"""Evidence: the contexts that contribute most as snippets, and how a score comes about.

Contributions are split among contexts, among the literals of each, and by feature cell; for each context listed, what
the entity would be without it. Knows the contract of systems, nothing of how scores are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.table import Contexts
from fader.features.base import Piece
from fader.rank.ranking import Contributions, rank_without
from fader.rank.system import Ranking, System
from fader.search.answer import Snippet
from fader.search.collection import Collection
from fader.search.snippets import cut_snippets

I32 = NDArray[np.int32]
SHOWN_CONTEXTS = 20
RANKED_AGAIN = 5  # contexts that are thought away where everything must be ranked again for each


def show_evidence(
    collection: Collection, contexts: Contexts, contributions: Sequence[Contributions], limit: int
) -> list[list[Snippet]]:
    """Snippets per entity of the contexts that contribute most, all texts read in one batch."""
    best = [by_weight(shares)[:limit] for shares in contributions]
    rows = [row for shares, some in zip(contributions, best, strict=True) for row in shares.row[some].tolist()]
    share = [value for shares, some in zip(contributions, best, strict=True) for value in shares.share[some].tolist()]
    cut = iter(cut_snippets(collection, contexts, rows, share))
    return [list(islice(cut, some.size)) for some in best]


def by_weight(shares: Contributions) -> NDArray[np.int64]:
    """Contexts from the one that contributes most on; of a logarithm below 0, that with the largest part of it."""
    return np.argsort(-shares.share if shares.share.sum() >= 0 else shares.share, kind="stable")


def explain_entities(
    collection: Collection,
    contexts: Contexts,
    system: System,
    ranking: Ranking | None,
    contributions: Sequence[Contributions],
) -> list[dict[str, Any]]:
    """How the scores of the first entities of a ranking come about, all document ids read in one batch."""
    rows = [row for shares in contributions for row in shares.row[by_weight(shares)[:SHOWN_CONTEXTS]].tolist()]
    documents = contexts.document[rows].tolist() if rows else []
    ids = dict(zip(documents, collection.document_ids(documents), strict=True))
    return [_explain(ids, contexts, system, ranking, i, shares) for i, shares in enumerate(contributions)]


def _explain(
    ids: dict[int, str], contexts: Contexts, system: System, ranking: Ranking | None, i: int, shares: Contributions
) -> dict[str, Any]:
    """How a score comes about: a share per context, split among literals and feature cells; what each is worth.

    Where there are many contexts, those of least share are summed. `without` is what the entity would be without a
    context; None where that is not computed.
    """
    budget.check()
    names = [literal.text for literal in contexts.query.literals]
    order = by_weight(shares)
    listed = [_contribution(ids, contexts, shares, int(x), names) for x in order[:SHOWN_CONTEXTS]]
    if ranking is not None:
        table, rows = _looked_at(contexts, system, shares.row[order[:SHOWN_CONTEXTS]])
        ifs = SHOWN_CONTEXTS if system.values_are_independent else RANKED_AGAIN
        for x, (context, row) in enumerate(zip(listed, rows.tolist(), strict=True)):
            budget.check()
            context["cells"] = [_cell(piece, names) for piece in system.pieces(table, row)]
            context["without"] = asdict(rank_without(system, table, ranking, i, row)) if x < ifs else None
    rest = order[SHOWN_CONTEXTS:]
    return {
        "score": float(shares.share.sum()),
        "literals": {n: float(v) for n, v in zip(names, shares.literal.sum(axis=1), strict=True)},
        "contexts": listed,
        "others": {"contexts": int(rest.size), "contribution": float(shares.share[rest].sum())},
    }


def _looked_at(contexts: Contexts, system: System, rows: I32) -> tuple[Contexts, NDArray[Any]]:
    """The table that must be looked at to explain some contexts of an entity, and these in it.

    Features score a context whatever else is in the table, so that those of the entity are enough.
    """
    if system.feature_scoring is None or not rows.size:
        return contexts, rows
    own = np.flatnonzero(contexts.slot == contexts.slot[rows[0]]).astype(np.int32)
    return contexts.take(own, compact=True), np.searchsorted(own, rows)


def _cell(piece: Piece, names: list[str]) -> dict[str, Any]:
    literal = names[piece.literal] if piece.literal >= 0 else None
    return {"feature": piece.feature, "literal": literal, "cell": piece.cell, "value": piece.value}


def _contribution(
    ids: dict[int, str], contexts: Contexts, shares: Contributions, i: int, names: list[str]
) -> dict[str, Any]:
    row = int(shares.row[i])
    distances = contexts.distances[:, row].tolist()
    literals = [
        {"literal": name, "distance": d, "contribution": float(v)}
        for name, d, v in zip(names, distances, shares.literal[:, i], strict=True)
        if d >= 0
    ]
    return {
        "doc": ids[int(contexts.document[row])],
        "start": int(contexts.start[row]),
        "end": int(contexts.end[row]),
        "score": float(shares.score[i]),
        "contribution": float(shares.share[i]),
        "literals": literals,
    }

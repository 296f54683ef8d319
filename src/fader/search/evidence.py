"""Evidence: the contexts that contribute most as snippets, and how a score comes about.

Contributions are split among contexts, among the literals of each, and by feature cell; for each context listed, what
the entity would be without it. Knows the contract of systems, nothing of how scores are made.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.contexts.table import Contexts, DocumentValues
from fader.features.base import Piece
from fader.index.reader import IndexReader
from fader.rank.ranking import Contributions, rank_without
from fader.rank.system import Ranking, System
from fader.search.answer import Snippet
from fader.search.snippets import snippet_of

I32 = NDArray[np.int32]
SHOWN_CONTEXTS = 20
RANKED_AGAIN = 5  # contexts that are thought away where everything must be ranked again for each


def evidence_of(reader: IndexReader, contexts: Contexts, shares: Contributions, limit: int) -> list[Snippet]:
    """Snippets of the contexts that contribute most."""
    best = by_weight(shares)[:limit]
    reader.prefetch(contexts.document[shares.row[best]].tolist())
    return [snippet_of(reader, contexts, int(shares.row[i]), float(shares.share[i])) for i in best]


def by_weight(shares: Contributions) -> NDArray[np.int64]:
    """Contexts from the one that contributes most on; of a logarithm below 0, that with the largest part of it."""
    return np.argsort(-shares.share if shares.share.sum() >= 0 else shares.share, kind="stable")


def explanation_of(
    reader: IndexReader, contexts: Contexts, system: System, ranking: Ranking | None, i: int, shares: Contributions
) -> dict[str, Any]:
    """How a score comes about: a share per context, split among literals and feature cells; what each is worth.

    Where there are many contexts, those of least share are summed. `without` is what the entity would be without a
    context; None where that is not looked into.
    """
    names = [literal.text for literal in contexts.query.literals]
    order = by_weight(shares)
    reader.prefetch(contexts.document[shares.row[order[:SHOWN_CONTEXTS]]].tolist(), texts=False)
    listed = [_contribution(reader, contexts, shares, int(x), names) for x in order[:SHOWN_CONTEXTS]]
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
    taken = contexts.take(own)

    def late(name: str) -> Any:
        if name == "positions":  # these go by the documents of the whole table, and no feature reads them
            raise ValueError("the table of one entity has no positions")
        return _documents(contexts.documents, own) if name == "documents" else getattr(taken, name)

    return replace(taken, late=late), np.searchsorted(own, rows)


def _documents(values: DocumentValues, rows: I32) -> DocumentValues:
    """The documents of some contexts alone."""
    kept, row = np.unique(values.row[rows], return_inverse=True)
    columns = {name: getattr(values, name)[kept] for name in ("number", "length", "distinct", "square", "prior")}
    counts = np.ascontiguousarray(values.counts[:, kept])
    return DocumentValues(row=row.astype(np.int32), counts=counts, **columns)


def _cell(piece: Piece, names: list[str]) -> dict[str, Any]:
    literal = names[piece.literal] if piece.literal >= 0 else None
    return {"feature": piece.feature, "literal": literal, "cell": piece.cell, "value": piece.value}


def _contribution(
    reader: IndexReader, contexts: Contexts, shares: Contributions, i: int, names: list[str]
) -> dict[str, Any]:
    row = int(shares.row[i])
    distances = contexts.distances[:, row].tolist()
    literals = [
        {"literal": name, "distance": d, "contribution": float(v)}
        for name, d, v in zip(names, distances, shares.literal[:, i], strict=True)
        if d >= 0
    ]
    return {
        "doc": reader.document_id(int(contexts.document[row])),
        "start": int(contexts.start[row]),
        "end": int(contexts.end[row]),
        "score": float(shares.score[i]),
        "contribution": float(shares.share[i]),
        "literals": literals,
    }

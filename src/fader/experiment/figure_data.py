"""What figures show of cross-validated models: mean weight grids, and the context scores of a few entities.

Knows nothing of how figures are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fader.experiment.comparison import ContextScores, Grid
from fader.experiment.judged import JudgedQueries
from fader.features.combined import Combined
from fader.learn.crossvalidate import Outcome, Validation
from fader.search.grids import by_side

SHOWN_ENTITIES = 6


def mean_grids(label: str, found: Validation) -> list[Grid]:
    """The mean cell values of each grid-like map over the folds that chose the same features."""
    models = list({id(o.model): o.model for o in found.outcomes}.values())
    same = [m for m in models if str(m.features) == str(models[0].features)]
    grids = []
    if models and isinstance(models[0].features, Combined):
        for i, part in enumerate(models[0].features.maps):
            if hasattr(part, "weight_grid"):
                weights = [list(m.features.split(m.weights))[i][1] for m in same]  # type: ignore[attr-defined]
                mean = np.mean([part.weight_grid(w) for w in weights], axis=0)
                rows, columns = part.row_labels(), part.column_labels()  # type: ignore[attr-defined]
                for side, values in by_side(mean):
                    name = f"{part.name} {side}".rstrip()
                    grids.append(Grid(label, name, rows, columns, values.tolist()))
    return grids


def context_scores(judged: JudgedQueries, label: str, found: Validation) -> Iterator[ContextScores]:
    """Of queries whose good entities have many contexts: the good and the bad entity that are ranked highest.

    Only where an entity's value adds up its scores: elsewhere they are not comparable.
    """
    if not found.outcomes or not found.outcomes[0].model.aggregator.linear:
        return
    ids = judged.index.collection.catalog.entity_ids
    by_support = sorted(found.outcomes, key=lambda o: -_largest_good(o))
    for outcome in by_support[: SHOWN_ENTITIES // 2]:
        cells = outcome.model.features.expand(outcome.model.weights)
        best = outcome.query.best(cells)
        scores, is_good = best.scores(cells), outcome.query.judgments.grades > 0
        if not is_good.any() or is_good.all():
            continue
        for good in (True, False):
            pool = np.flatnonzero(is_good == good)
            e = int(pool[np.argmax(outcome.values[pool])])
            of_entity = np.sort(scores[best.at[e] : best.at[e + 1]])[::-1]
            yield ContextScores(
                outcome.query.id, ids[int(outcome.query.entity[e])], good, of_entity[:1000].tolist(), label
            )


def _largest_good(outcome: Outcome) -> int:
    size = np.diff(outcome.query.at)[outcome.query.judgments.grades > 0]
    return int(size.max(initial=0))

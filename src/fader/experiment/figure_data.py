"""What figures show of cross-validated models: mean weight grids, and the context scores of a few entities.

Knows nothing of how figures are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fader.experiment.comparison import ContextScores, SystemGrid
from fader.experiment.judged import JudgedQueries
from fader.features.cellmaps.cellmap import CellMap
from fader.features.combined import Combined
from fader.learn.learner import Outcome
from fader.search.grids import by_side

SHOWN_ENTITIES = 6


def mean_grids(label: str, outcomes: Sequence[Outcome]) -> list[SystemGrid]:
    """The mean cell values of each grid-like map over the folds that chose the same features."""
    models = list({id(o.model): o.model for o in outcomes}.values())
    same = [m for m in models if str(m.features) == str(models[0].features)]
    grids = []
    if models and isinstance(models[0].features, Combined):
        for i, part in enumerate(models[0].features.maps):
            if isinstance(part, CellMap):
                weights = [list(m.features.split(m.weights))[i][1] for m in same]
                mean = np.mean([part.weight_grid(w) for w in weights], axis=0)
                rows, columns = part.row_labels(), part.column_labels()
                for side, values in by_side(mean):
                    name = f"{part.name} {side}".rstrip()
                    grids.append(SystemGrid(label, name, rows, columns, values.tolist()))
    return grids


def context_scores(judged: JudgedQueries, label: str, outcomes: Sequence[Outcome]) -> Iterator[ContextScores]:
    """Of queries whose good entities have many contexts: the good and the bad entity that are ranked highest.

    Only where an entity's value adds up its scores: elsewhere they are not comparable.
    """
    if not outcomes or not outcomes[0].model.aggregator.linear:
        return
    ids = judged.index.collection.catalog.entity_ids

    def largest_good(outcome: Outcome) -> int:
        query = outcome.query
        return 0 if query is None else int(np.diff(query.at)[query.judgments.grades > 0].max(initial=0))

    for outcome in sorted(outcomes, key=largest_good, reverse=True)[: SHOWN_ENTITIES // 2]:
        cells = outcome.model.features.expand(outcome.model.weights)
        query, values = outcome.query, outcome.values
        assert query is not None
        assert values is not None
        best = query.best(cells)
        scores, is_good = best.scores(cells), query.judgments.grades > 0
        if not is_good.any() or is_good.all():
            continue
        for good in (True, False):
            pool = np.flatnonzero(is_good == good)
            e = int(pool[np.argmax(values[pool])])
            of_entity = np.sort(scores[best.at[e] : best.at[e + 1]])[::-1]
            yield ContextScores(query.id, ids[int(query.entity[e])], good, of_entity[:1000].tolist(), label)

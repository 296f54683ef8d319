"""Any system trained or tuned on judged queries: `voting`, `fang`, `balog2(beta=100|1000)`; features x aggregator too.

A system that learns is fitted; of several alternatives the best by validation is taken, or, where nothing is fitted,
the best on all queries. Knows nothing of files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fader.errors import UsageError
from fader.experiment.contest import Contest, examples_of, precisions
from fader.experiment.judged import JudgedQueries
from fader.experiment.ranker import feature_model
from fader.experiment.system_specs import Entrant, entrant
from fader.learn.crossvalidate import train
from fader.learn.model import Model
from fader.learn.modelfile import ModelScope
from fader.learn.threads import cores
from fader.learn.tuned import train_learner
from fader.measures import STANDARD
from fader.progress import Progress, Silent
from fader.rank.system import System
from fader.search.models import collection_of


@dataclass(frozen=True)
class Tuned:
    """What ranks, and the mean average precision of everything that was tried.

    `validated` says whether queries were left out when that was measured; where nothing is fitted they were not.
    """

    model: Model
    precision: float
    tried: dict[str, float]
    validated: bool = True


def tune(
    judged: JudgedQueries, system: Any, seed: int = 0, workers: int = 0, progress: Progress | None = None
) -> Tuned:
    """Train or tune a system on all judged queries."""
    named = entrant(system, judged.index.collection)
    if named.family is not None:
        trained, choice = train(judged, named.family.candidates(), seed, workers, progress)
        return Tuned(feature_model(named.family, trained, choice, judged), choice.precision, choice.tried)
    contest = Contest(judged, "loo", STANDARD, seed, workers or cores(), progress or Silent())
    if named.learns:
        learners, examples = examples_of(contest, named)
        learner, choice = train_learner(judged.ids, learners, examples, seed, workers, progress)
        return _saved(learner, judged, seed, choice.precision, choice.tried, True)
    if named.model is not None:
        raise UsageError(f"{named.name} is trained already")
    return _best(contest, named)


def _best(contest: Contest, named: Entrant) -> Tuned:
    rows = contest.each_query(lambda i: precisions(contest, i, [named])[0][0], "choosing")
    means = np.mean(rows, axis=0)
    tried = {str(a): float(mean) for a, mean in zip(named.alternatives, means, strict=True)}
    best = int(means.argmax())
    return _saved(named.alternatives[best], contest.judged, contest.seed, float(means[best]), tried, False)


def _saved(
    system: System, judged: JudgedQueries, seed: int, precision: float, tried: dict[str, float], validated: bool
) -> Tuned:
    collection = judged.index.collection
    provenance = {"queries": len(judged), "seed": seed, "validation": tried}
    scope = ModelScope(collection.analysis.to_dict(), collection_of(collection), False, provenance)
    return Tuned(Model(system, scope), precision, tried, validated)

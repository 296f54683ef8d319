"""Any system trained or tuned on judged queries: `voting`, `fang`, `balog2(beta=100|1000)`; features x aggregator too.

A system that learns is fitted; of several alternatives the best by validation is taken, or, where nothing is fitted,
the best on all queries. Knows nothing of files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fader.errors import UsageError
from fader.experiment.experiment import Experiment, precisions
from fader.experiment.judged import JudgedQueries
from fader.experiment.system_specs import SystemSpec, parse_spec
from fader.jobs.files import whole_file
from fader.jobs.runners import count_cores
from fader.learn.crossvalidate import train
from fader.learn.learner import Choice
from fader.learn.model import Model
from fader.learn.modelfile import ModelScope
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
    choice: Choice | None = None


def tune(
    judged: JudgedQueries, system: Any, seed: int = 0, workers: int = 0, progress: Progress | None = None
) -> Tuned:
    """Train or tune a system on all judged queries."""
    spec = parse_spec(system, judged.index.collection)
    if spec.model is not None:
        raise UsageError(f"{spec.name} is trained already")
    experiment = Experiment(judged, "loo", STANDARD, seed, workers or count_cores(), progress or Silent())
    if not spec.learners:
        return _choose_unfitted(experiment, spec)
    learners = spec.learners
    make = learners[0].prepare(judged, learners, seed, experiment.workers, experiment.progress)
    found, choice = train(make, len(judged), seed, workers, progress)
    fitted, report = learners[0].finish(found)
    model = make_model(fitted, judged, {"seed": seed, **report, "validation": choice.tried})
    return Tuned(model, choice.precision, choice.tried, choice=choice)


def _choose_unfitted(experiment: Experiment, spec: SystemSpec) -> Tuned:
    """The alternative that is best on all queries."""
    rows = experiment.each_query(lambda i: precisions(experiment, i, [spec])[0][0], "choosing")
    means = np.mean(rows, axis=0)
    tried = {str(a): float(mean) for a, mean in zip(spec.alternatives, means, strict=True)}
    best = int(means.argmax())
    model = make_model(spec.alternatives[best], experiment.judged, {"seed": experiment.seed, "validation": tried})
    return Tuned(model, float(means[best]), tried, validated=False)


def make_model(system: System, judged: JudgedQueries, report: dict[str, Any]) -> Model:
    """A model of a system that was trained or tuned on judged queries, with where it comes from."""
    collection = judged.index.collection
    provenance = {"queries": len(judged), **report}
    return Model(system, ModelScope(collection.analysis.to_dict(), collection_of(collection), False, provenance))


def save_model(model: Model, path: str | Path) -> None:
    """Write a model file, whole or not at all."""
    with whole_file(path) as pending:
        pending.write_text(model.to_text(), encoding="utf-8")

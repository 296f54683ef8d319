"""Train the default model: noprox+rectangle x sum on the judged queries of several testbeds together.

    python runs/default_model.py TESTBED... [--sample 80] [--work DIR] [-o src/fader/models/default.json]

A testbed is a folder with corpus.jsonl (or .gz, .zst), entities.tsv, types.tsv, queries.jsonl and qrels.txt. Of each
testbed at most so many queries are drawn, so that none has most of the say. The model file holds weights and how they
were found, nothing of the testbeds' texts; it is portable: `fader search` uses it on any index where no model is given.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import fader
from fader.corpus.queries import FaultCollector, read_qrels, read_queries
from fader.experiment.judged import JudgedQueries, judge_queries
from fader.experiment.tune import save_model
from fader.learn.crossvalidate import train
from fader.learn.dataset import Dataset, View
from fader.learn.feature_trainer import FeatureTrainer
from fader.learn.model import Model
from fader.learn.modelfile import ModelScope
from fader.progress import progress
from fader.search.batch import parse_all
from fader.systems.fader import FeatureModel

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Joined:
    """The judged queries of several indexes as one source."""

    parts: list[JudgedQueries]

    def __post_init__(self) -> None:
        self._made: dict[tuple[str, View], Dataset] = {}

    @property
    def ids(self) -> Sequence[str]:
        return [f"{part.index.collection.folder.name}/{query}" for part in self.parts for query in part.ids]

    def dataset(self, features: Any, view: View, training: Any) -> Dataset:
        """All queries of all indexes, encoded once; the features must have fixed edges."""
        if (str(features), view) not in self._made:
            sets = [part.dataset(features, view, np.arange(len(part))) for part in self.parts]
            queries = tuple(query for one in sets for query in one.queries)
            self._made[str(features), view] = Dataset(features, view, queries)
        return self._made[str(features), view]


def judged(folder: Path, work: Path, sample: int) -> JudgedQueries:
    """A testbed's index, built where it is not there yet, and a sample of its judged queries."""
    place = work / folder.name
    if not place.exists():
        files = {"corpus": sorted(folder.glob("corpus.jsonl*")), "entities": folder / "entities.tsv"}
        fader.build(place, **files, types=folder / "types.tsv")
    index = fader.open(place)
    queries = parse_all(index, read_queries(folder / "queries.jsonl", FaultCollector()), FaultCollector())
    return judge_queries(index, queries, read_qrels(folder / "qrels.txt", FaultCollector()), sample=sample)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("testbeds", nargs="+", type=Path, metavar="TESTBED")
    options.add_argument("--sample", type=int, default=80, help="queries of each testbed at most")
    options.add_argument("--work", type=Path, help="where indexes are, or are built")
    options.add_argument("-o", "--output", type=Path, default=ROOT / "src/fader/models/default.json")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch, progress("Training") as reporter:
        work = given.work or Path(scratch)
        source = Joined([judged(folder, work, given.sample) for folder in given.testbeds])
        system = FeatureModel(features="noprox+rectangle", aggregator="sum")
        make = partial(FeatureTrainer, source, system.candidates())
        found, choice = train(make, len(source.ids), progress=reporter)
    provenance = {
        "testbeds": {part.index.collection.folder.name: len(part) for part in source.parts},
        "lambda": found.settings.lam, "loss": found.settings.loss, "seed": found.settings.seed,
        "objective": found.fit.objective, "validation": choice.tried,
    }  # fmt: skip
    model = Model(system.fill_in(found), ModelScope(portable=True, provenance=provenance))
    save_model(model, given.output)
    found_by = f"lambda {found.settings.lam:g}, validation MAP {choice.precision:.4f}"
    print(f"{given.output}: {model}, {found_by}", file=sys.stderr)


if __name__ == "__main__":
    main()

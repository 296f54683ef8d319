"""Train the model `joint` on the judged queries of several testbeds together, or test it on one that it never saw.

    python runs/default_model.py TESTBED... [--sample 150] [--work DIR] [-o src/fader/models/joint.json]
    python runs/default_model.py TESTBED... --leave-out        the MAP of each testbed by a model of the others

A testbed is a folder with corpus.jsonl (or .gz, .zst), entities.tsv, types.tsv, queries.jsonl and qrels.txt. Of each
testbed at most so many queries are drawn, so that none has most of the say. Columns are counted in units of their
spread over these queries. The model file holds weights and how they were found, nothing of the testbeds' texts; it is
portable: `fader search --model joint` ranks any index with it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import fader
from fader.contexts.table import Contexts
from fader.corpus.queries import FaultCollector, read_qrels, read_queries
from fader.experiment.judged import JudgedQueries, judge_queries
from fader.experiment.tune import save_model
from fader.features.combined import Combined, feature_map
from fader.features.family import ColumnFamily
from fader.learn.crossvalidate import train
from fader.learn.dataset import Dataset, View
from fader.learn.feature_trainer import FeatureTrainer, Trained
from fader.learn.model import Model
from fader.learn.modelfile import ModelScope
from fader.measures import AveragePrecision
from fader.progress import progress
from fader.search.batch import parse_all
from fader.systems.fader import FeatureModel

ROOT = Path(__file__).resolve().parent.parent
FEATURES = (
    "noprox+coverage+shares+windows+positional+adjacency+competition+mention+confidence+entity(use=frequency/votes)"
)
SYSTEM = FeatureModel(
    FEATURES, "logsumexp", loss="listwise", lam="1", policy="mention", top="1000", bad=200, starts=1, label="joint"
)
SCALED_BY = 60  # queries of each testbed


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


def scale_columns(parts: Sequence[JudgedQueries]) -> Combined:
    """The features with the spread of their columns over queries of all testbeds, three digits of it."""

    def tables() -> Iterator[Contexts]:
        for part in parts:
            for i in range(min(SCALED_BY, len(part))):
                yield part.contexts(i, SYSTEM.view)

    kept, maps = list(tables()), []
    for each in feature_map(FEATURES).maps:
        if isinstance(each, ColumnFamily):
            each = each.fit_scale(kept)
            each = replace(each, scale=tuple(float(f"{s:.3g}") for s in each.scale))
        maps.append(each)
    return Combined(tuple(maps))


def find_model(source: Joined, features: Combined, reporter: Any) -> Trained:
    """The model of all queries of a source."""
    make = partial(FeatureTrainer, source, replace(SYSTEM, features=str(features)).candidates())
    found: Trained = train(make, len(source.ids), progress=reporter)[0]
    return found


def leave_out(source: Joined, features: Combined, reporter: Any) -> None:
    """Print the MAP of each testbed's queries by the model of all other testbeds."""
    for part in source.parts:
        others = Joined([other for other in source.parts if other is not part])
        found = find_model(others, features, reporter)
        queries = part.dataset(features, SYSTEM.view, np.arange(len(part))).queries
        precision = np.mean([AveragePrecision().of(found.values(q), q.judgments) for q in queries])
        print(f"{part.index.collection.folder.name}: {precision:.4f} of {len(part)} queries", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("testbeds", nargs="+", type=Path, metavar="TESTBED")
    options.add_argument("--sample", type=int, default=150, help="queries of each testbed at most")
    options.add_argument("--work", type=Path, help="where indexes are, or are built")
    options.add_argument("--leave-out", action="store_true", help="test on each testbed, trained on the others")
    options.add_argument("-o", "--output", type=Path, default=ROOT / "src/fader/models/joint.json")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch, progress("Training") as reporter:
        work = given.work or Path(scratch)
        source = Joined([judged(folder, work, given.sample) for folder in given.testbeds])
        features = scale_columns(source.parts)
        if given.leave_out:
            leave_out(source, features, reporter)
            return
        found = find_model(source, features, reporter)
    provenance = {
        "testbeds": {part.index.collection.folder.name: len(part) for part in source.parts},
        "lambda": found.settings.lam, "loss": found.settings.loss, "seed": found.settings.seed,
        "objective": found.fit.objective,
    }  # fmt: skip
    model = Model(SYSTEM.fill_in(found), ModelScope(portable=True, provenance=provenance))
    save_model(model, given.output)
    print(f"{given.output}: {model}, objective {found.fit.objective:.1f}", file=sys.stderr)


if __name__ == "__main__":
    main()

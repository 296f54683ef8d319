"""Train the default model on the judged queries of several testbeds together, or test it on those that it never saw.

    python runs/default_model.py TESTBED... [--sample 250] [--work DIR] [-o src/fader/models/default.json]
    python runs/default_model.py TESTBED... --leave-out        the MAP of each testbed by a model of the others

A testbed is a folder with corpus.jsonl (or .gz, .zst), entities.tsv, types.tsv, queries.jsonl and qrels.txt. Of each
testbed at most so many queries are drawn, so that none has most of the say. The model is a cascade (`systems.rerank`):
`FIRST` ranks all candidates, `SECOND` the best of them by the best contexts of each. The first is trained on the
candidates that its starting weights rank highest, the second on those of the first. Columns are counted in units of
their spread over these contexts. The file holds weights and how they were found, nothing of the testbeds' texts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

import fader
from fader.contexts.table import Contexts
from fader.corpus.queries import FaultCollector, read_qrels, read_queries
from fader.experiment.judged import JudgedQueries, judge_queries
from fader.experiment.tune import save_model
from fader.features.base import FeatureMap
from fader.features.combined import Combined, feature_map
from fader.features.family import ColumnFamily
from fader.learn.crossvalidate import train
from fader.learn.dataset import Dataset, dataset
from fader.learn.feature_trainer import FeatureTrainer, Trained
from fader.learn.model import Model
from fader.learn.modelfile import ModelScope
from fader.measures import AveragePrecision, judge
from fader.rank.system import I64, View
from fader.search.batch import parse_all
from fader.systems.fader import FeatureModel
from fader.systems.rerank import Rerank

ROOT = Path(__file__).resolve().parent.parent
FIRST = FeatureModel(
    "noprox+coverage", "logsumexp", loss="listwise", lam="1", policy="mention", top="1000", entities=True, starts=1
)
COLUMNS = "shares+windows+positional+adjacency+competition+mention+confidence+entity(use=frequency/votes)"
SECOND = replace(FIRST, features=f"noprox+coverage+{COLUMNS}")
CANDIDATES, CONTEXTS = 100, 10
SHOWN = 1000  # entities that are ranked in a test


@dataclass(frozen=True)
class Encoded:
    """Queries that are encoded already, as a source of datasets."""

    data: Dataset

    @property
    def ids(self) -> Sequence[str]:
        return [query.id for query in self.data.queries]

    def dataset(self, features: FeatureMap, view: View, training: I64) -> Dataset:
        return self.data


def judged(folder: Path, work: Path, sample: int) -> JudgedQueries:
    """A testbed's index, built where it is not there yet, and a sample of its judged queries."""
    place = work / folder.name
    if not place.exists():
        files = {"corpus": sorted(folder.glob("corpus.jsonl*")), "entities": folder / "entities.tsv"}
        fader.build(place, **files, types=folder / "types.tsv")
    index = fader.open(place)
    queries = parse_all(index, read_queries(folder / "queries.jsonl", FaultCollector()), FaultCollector())
    return judge_queries(index, queries, read_qrels(folder / "qrels.txt", FaultCollector()), sample=sample)


def find_tables(part: JudgedQueries, first: FeatureModel) -> list[Contexts]:
    """For each query the contexts that a second stage sees after a first; none where nothing matches."""
    cascade, tables = Rerank(str(first), str(SECOND), CANDIDATES, CONTEXTS), []
    for i, query in enumerate(part.queries):
        found = part.first_stage(i, cascade)
        assert found is not None, query.id
        tables.append(found.table)
    return tables


def scale_columns(features: Combined, tables: Sequence[Contexts]) -> Combined:
    """The features with the spread of their columns, three digits of it."""
    maps = []
    for each in features.maps:
        if isinstance(each, ColumnFamily):
            each = each.fit_scale(tables)
            each = replace(each, scale=tuple(float(f"{s:.3g}") for s in each.scale))
        maps.append(each)
    return Combined(tuple(maps))


def fit(system: FeatureModel, features: Combined, parts: Sequence[JudgedQueries], tables: list[Contexts]) -> Trained:
    """The model of all queries."""
    ids = [f"{part.index.collection.folder.name}/{query}" for part in parts for query in part.ids]
    grades = [each for part in parts for each in part.grades]
    rows = ((i, t, g) for i, t, g in zip(ids, tables, grades, strict=True) if len(t))
    source = Encoded(dataset(rows, features, system.view))
    system = replace(system, features=str(features))
    found: Trained = train(partial(FeatureTrainer, source, system.candidates()), len(source.ids), workers=1)[0]
    return found


def find_model(parts: Sequence[JudgedQueries]) -> tuple[Rerank, Trained]:
    """The cascade of all queries of some testbeds."""
    maps = feature_map(str(FIRST.features))
    start = replace(FIRST, weights=tuple(maps.start().tolist()))
    tables = [table for part in parts for table in find_tables(part, start)]
    first = FIRST.fill_in(fit(FIRST, maps, parts, tables))
    tables = [table for part in parts for table in find_tables(part, first)]
    found = fit(SECOND, scale_columns(feature_map(str(SECOND.features)), tables), parts, tables)
    return Rerank(str(first), str(SECOND.fill_in(found)), CANDIDATES, CONTEXTS, "default"), found


def measure(part: JudgedQueries, system: Rerank) -> float:
    """The MAP of a testbed's queries."""
    find, found = part.index.collection.catalog.entity_ids.find, []
    for query, grades in zip(part.queries, part.grades, strict=True):
        ranked = part.index.rank(query.query, k=SHOWN, model=system)
        entity = np.array([find(e) for e in ranked.entities], dtype=np.int32)
        values = -np.arange(entity.size, dtype=np.float64)
        found.append(AveragePrecision().of(values, judge(entity, entity.tolist(), grades)))
    return float(np.mean(found))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("testbeds", nargs="+", type=Path, metavar="TESTBED")
    options.add_argument("--sample", type=int, default=250, help="queries of each testbed at most")
    options.add_argument("--work", type=Path, help="where indexes are, or are built")
    options.add_argument("--leave-out", action="store_true", help="test on each testbed, trained on the others")
    options.add_argument("--only", help="with --leave-out, the one testbed to test on")
    options.add_argument("-o", "--output", type=Path, default=ROOT / "src/fader/models/default.json")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = given.work or Path(scratch)
        parts = {folder.name: judged(folder, work, given.sample) for folder in given.testbeds}
        for name, part in parts.items() if given.leave_out else ():
            if given.only in (None, name):
                system, _found = find_model([other for other in parts.values() if other is not part])
                print(f"{name}: {measure(part, system):.4f} of {len(part)} queries", flush=True)
        if given.leave_out:
            return
        system, found = find_model(list(parts.values()))
    provenance = {
        "testbeds": {name: len(part) for name, part in parts.items()},
        "lambda": found.settings.lam, "loss": found.settings.loss, "seed": found.settings.seed,
        "objective": found.fit.objective,
    }  # fmt: skip
    model = Model(system, ModelScope(portable=True, provenance=provenance))
    save_model(model, given.output)
    print(f"{given.output}: {model}, objective {found.fit.objective:.1f}", file=sys.stderr)


if __name__ == "__main__":
    main()

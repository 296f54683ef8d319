"""Judged queries of an index: what training and comparing start from.

Checks judgments against queries and catalog, and says what it leaves out. Datasets are encoded from the contexts of
each query, one query after the other, and the last few are kept. Knows nothing of losses, measures or files.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fader.contexts.table import Contexts
from fader.errors import InputError, UsageError, quote
from fader.experiment.measures import describe_unknown
from fader.features.base import FeatureMap
from fader.learn.dataset import Dataset, dataset
from fader.progress import Progress, Silent
from fader.rank.rerank import FirstStage
from fader.rank.system import View
from fader.search.batch import Parsed
from fader.search.firststage import FirstStages
from fader.search.index import Index
from fader.systems.rerank import Rerank

KEPT_DATASETS = 2
I64 = NDArray[np.int64]


class Datasets(Protocol):
    """Datasets that were encoded elsewhere."""

    def find(self, features: FeatureMap, view: View) -> Dataset | None:
        """The dataset of all queries; None where it must be encoded here."""
        ...


@dataclass
class JudgedQueries:
    """The queries of a file that have a judged good entity, with their grades; a source of datasets.

    A copy in another process encodes its own datasets, unless `datasets` finds them.
    """

    index: Index
    queries: list[Parsed]
    grades: list[dict[Hashable, int]]
    remarks: list[str] = field(default_factory=list)
    progress: Progress = field(default_factory=Silent)
    datasets: Datasets | None = None

    def __post_init__(self) -> None:
        self._kept: OrderedDict[tuple[str, View], Dataset] = OrderedDict()
        self._lock = threading.Lock()
        self._stages = FirstStages(self.index)

    def __reduce__(self) -> tuple[Any, ...]:
        return JudgedQueries, (self.index, self.queries, self.grades, self.remarks, Silent(), self.datasets)

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def ids(self) -> Sequence[str]:
        return [q.id for q in self.queries]

    def contexts(self, i: int, view: View) -> Contexts:
        """The Contexts table of the i-th query."""
        return self.index.view_contexts(self.queries[i].query, None, view)

    def first_stage(self, i: int, cascade: Rerank) -> FirstStage | None:
        """What the first stage of a cascade leaves of the i-th query; None where only its table says it."""
        return self._stages.find(self.queries[i].query, cascade)

    def dataset(self, features: FeatureMap, view: View, training: I64) -> Dataset:
        """All queries encoded; edges that are to be learned are learned from the training queries."""
        if self.datasets is not None and not features.learns_edges:
            found = self.datasets.find(features, view)
            if found is not None:
                return found
        with self._lock:
            if features.learns_edges:
                features = features.fit_edges(self.contexts(int(i), view) for i in training)
            key = (str(features), view)
            if key not in self._kept:
                while len(self._kept) >= KEPT_DATASETS:
                    self._kept.popitem(last=False)
                self._kept[key] = dataset(self._tables(view), features, view)
            self._kept.move_to_end(key)
            return self._kept[key]

    def _tables(self, view: View) -> Iterator[tuple[str, Contexts, Mapping[Hashable, int]]]:
        for i, query in enumerate(self.queries):
            yield query.id, self.contexts(i, view), self.grades[i]
            self.progress.update(i + 1, len(self.queries), "encoding contexts")


def judge_queries(
    index: Index,
    queries: Sequence[Parsed],
    qrels: Mapping[str, Mapping[str, int]],
    progress: Progress | None = None,
    sample: int = 0,
    seed: int = 0,
) -> JudgedQueries:
    """Bring queries and judgments together; of many judged queries perhaps only a sample, drawn by the seed."""
    if sample < 0 or seed < 0:
        raise UsageError(f"sample and seed must be 0 or more, not {sample} and {seed}")
    if not qrels:
        raise InputError("there are no judgments, so nothing can be learned or measured; give a file of them")
    remarks = _unknown_queries(queries, qrels)
    kept = [q for q in queries if any(grade > 0 for grade in qrels.get(q.id, {}).values())]
    if not kept:
        raise InputError(
            "no query has a judged good entity (a grade above 0); check that queries and judgments go together"
        )
    if len(kept) < len(queries):
        lost = next(q.id for q in queries if q not in kept)
        remarks.append(
            f"{len(queries) - len(kept)} queries have no judged good entity and are left out, such as {lost}"
        )
    if 0 < sample < len(kept):
        remarks.append(f"{sample} of {len(kept)} judged queries, drawn by seed {seed}")
        kept = [kept[i] for i in sorted(np.random.default_rng(seed).permutation(len(kept))[:sample])]
    find = index.collection.catalog.entity_ids.find
    grades, unknown = [], []
    for query in kept:
        numbered: dict[Hashable, int] = {}
        for entity, grade in qrels[query.id].items():
            number = find(entity)
            numbered[number if number >= 0 else entity] = grade
            if number < 0:
                unknown.append(entity)
        grades.append(numbered)
    if unknown:
        remarks.append(describe_unknown(unknown))
    return JudgedQueries(index, list(kept), grades, remarks, progress or Silent())


def _unknown_queries(queries: Sequence[Parsed], qrels: Mapping[str, Mapping[str, int]]) -> list[str]:
    known = {q.id for q in queries}
    lost = [q for q in qrels if q not in known]
    if len(lost) == len(qrels):
        raise InputError(
            f"no judgment is about a query of the file: the judgments are of {quote(lost[0])} and others, the queries "
            f"are {quote(queries[0].id) if queries else 'none'} and others"
        )
    return (
        [f"judgments of {len(lost)} queries that are not in the file are left out, such as {lost[0]}"] if lost else []
    )

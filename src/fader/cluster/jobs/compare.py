"""A comparison whose work is done on a cluster: queries, folds and systems over all its CPUs.

    pool = Spread(connection, judged)
    compare_judged(pool.judged, systems, workers=pool, progress=Unsent(progress))

fader.experiment.compare decides what is done, as on one machine; only `each`, the parallel map, sends items to the
cluster, in pieces, with a copy of the work. A copy asks the shards for contexts itself. Training datasets are encoded
once, by all nodes, and copied; a task that needs another one reports it, and is run again with it. Where edges are
learned, each fold encodes its own dataset. Knows nothing of folds or systems.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fader.cluster.hosts.runtime import Connection, import_ray
from fader.cluster.jobs.scheduler import OnRay
from fader.cluster.jobs.task import Task, make_worker
from fader.experiment.judged import JudgedQueries
from fader.features.base import FeatureMap
from fader.jobs.runners import InProcess, Runner
from fader.learn.dataset import Dataset, QueryData, query_data
from fader.learn.threads import one_blas_thread, side_by_side
from fader.progress import Progress, Silent
from fader.rank.system import View

T = TypeVar("T")
R = TypeVar("R")
I64 = NDArray[np.int64]
Wanted = tuple[FeatureMap, View]
Reference = Any  # an ObjectRef of Ray, or a `_Here`
SYSTEMS = 4  # trained at the same time: the folds of one are too few for a cluster
PIECES = 4  # per CPU
KEPT_HERE = 2  # datasets, and pieces of work, that a process caches
GET_SECONDS = 600.0


class WantedError(Exception):
    """A task needs a dataset that it has not been given."""

    def __init__(self, features: FeatureMap, view: View) -> None:
        super().__init__(str(features))
        self.wanted = features, view


class DriverDatasets:
    """The datasets of the driver, which encodes them itself. A copy in a task becomes `TaskDatasets`."""

    def find(self, features: FeatureMap, view: View) -> Dataset | None:
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        return TaskDatasets, ()


class TaskDatasets:
    """The datasets of a task: those that it was given."""

    def find(self, features: FeatureMap, view: View) -> Dataset | None:
        given = _given.get(_key(features, view))
        if given is None:
            raise WantedError(features, view)
        found: Dataset = _load(given)
        return found


class Unsent:
    """Progress of this process only: a copy in another process reports nothing."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def update(self, done: float, total: float | None = None, note: str = "") -> None:
        self._progress.update(done, total, note)

    def __reduce__(self) -> tuple[Any, ...]:
        return Silent, ()


class Spread:
    """A pool (fader.learn.crossvalidate) of the cluster's CPUs. May be used by several threads."""

    def __init__(self, connection: Connection | None, judged: JudgedQueries) -> None:
        """Without a connection, copies of the work run in this process."""
        self._connection = connection
        self.judged = replace(judged, progress=Silent(), datasets=DriverDatasets())
        self._datasets: OrderedDict[str, Any] = OrderedDict()
        self._making = threading.Lock()
        self._numbers, self._failure = count(1), list[BaseException]()
        self.systems = SYSTEMS if connection else 1  # at once

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies of objects that refer to this pool work with one worker."""
        return int, (1,)

    def each(self, work: Callable[[T], R], items: Sequence[T], progress: Progress, note: str) -> list[R]:
        """Results in order."""
        try:
            return self._each(work, items, progress, note)
        except BaseException as error:
            self.stop(error)
            raise

    def stop(self, reason: BaseException) -> None:
        """Cancel the work of all threads: each raises the first reason."""
        self._failure.append(reason)

    def _each(self, work: Callable[[T], R], items: Sequence[T], progress: Progress, note: str) -> list[R]:
        number, sent = next(self._numbers), self._put(work)
        cut = _pieces(len(items), PIECES * max(1, self._connection.cpus() if self._connection else 1))
        found: dict[int, list[R]] = {}
        given: dict[str, Reference] = {}
        while len(found) < len(cut):
            wanted: list[Wanted] = []

            def take(task: Task, data: bytes, wanted: list[Wanted] = wanted) -> None:
                assert isinstance(task, ApplyTask)
                result: Applied = _unpack(data)
                if result.wanted is not None:
                    wanted.append(result.wanted)
                    return
                found[task.piece] = result.found
                progress.update(sum(map(len, found.values())), len(items), note)

            tasks = [
                ApplyTask(
                    name=f"{note}, work {number}, piece {p}",
                    piece=p,
                    work=sent,
                    datasets=given,
                    items=_pack([items[i] for i in piece]),
                )
                for p, piece in enumerate(cut)
                if p not in found
            ]
            self._run(tasks, take)
            given |= {_key(*one): self._dataset(*one) for one in wanted if _key(*one) not in given}
        return [result for p in range(len(cut)) for result in found[p]]

    def _run(self, tasks: Sequence[Task], take: Callable[[Task, bytes], None]) -> None:
        def check() -> None:
            if self._failure:
                raise self._failure[0]

        check()
        runner: Runner[Task] = OnRay(self._connection, watch=check) if self._connection else InProcess()
        runner.run(make_worker, tasks, take)

    def _dataset(self, features: FeatureMap, view: View) -> Any:
        """A dataset, encoded by all nodes, as an object that tasks can load; a few are cached."""
        key = _key(features, view)
        with self._making:
            if key not in self._datasets:
                encode: Callable[[int], QueryData] = partial(encode_query, self.judged, features, view)
                queries = self._each(encode, range(len(self.judged)), Silent(), f"encoding {features}")
                while len(self._datasets) >= 2 * SYSTEMS:
                    self._datasets.popitem(last=False)
                self._datasets[key] = self._put(Dataset(features, view, tuple(queries)))
            self._datasets.move_to_end(key)
            return self._datasets[key]

    def _put(self, value: Any) -> Any:
        """Store a value where tasks can load it; returns a reference."""
        return import_ray().put(_pack(value)) if self._connection else _Here(_pack(value))


class _Here:
    """Stands for an object reference of Ray."""

    def __init__(self, data: bytes) -> None:
        self.data, self._name = data, secrets.token_hex(8)

    def hex(self) -> str:
        return self._name


def encode_query(judged: JudgedQueries, features: FeatureMap, view: View, i: int) -> QueryData:
    """One query of a dataset."""
    return query_data(judged.ids[i], judged.contexts(i, view), features, view.policy, judged.grades[i])


def _pieces(items: int, most: int) -> list[range]:
    size = -(-items // max(1, min(items, most)))
    return [range(at, min(items, at + size)) for at in range(0, items, size)]


def _key(features: FeatureMap, view: View) -> str:
    return f"{features} {view}"


_given: dict[str, Any] = {}  # datasets that the task of this process may load
_kept: OrderedDict[str, Any] = OrderedDict()


@dataclass(frozen=True)
class Applied:
    """The results of some items, or the dataset that they need."""

    found: list[Any]
    wanted: Wanted | None = None


@dataclass(frozen=True, kw_only=True)
class ApplyTask(Task):
    """Applies work that was sent before to some items."""

    piece: int
    work: Reference
    datasets: dict[str, Reference]
    items: bytes

    def run(self) -> bytes:
        _given.clear()
        _given.update(self.datasets)
        work = _load(self.work)
        with one_blas_thread(), side_by_side():
            try:
                return _pack(Applied([work(item) for item in _unpack(self.items)]))
            except WantedError as error:
                return _pack(Applied([], error.wanted))


def _load(reference: Any) -> Any:
    """Load an object; the last few are cached, since the next task has the same."""
    key = reference.hex()
    if key not in _kept:
        while len(_kept) >= 2 * KEPT_HERE:
            _kept.popitem(last=False)
        _kept[key] = _unpack(_data(reference))
    _kept.move_to_end(key)
    return _kept[key]


def _data(reference: Any) -> bytes:
    if isinstance(reference, _Here):
        return reference.data
    ray = import_ray()
    try:
        return ray.get(reference, timeout=GET_SECONDS)  # type: ignore[no-any-return]
    except ray.exceptions.RayError as error:
        raise OSError(f"the input of a task cannot be loaded: {type(error).__name__}") from error


def _pack(value: Any) -> bytes:
    """Pickle a value to bytes, so that arrays arrive in writable memory of the process."""
    from ray import cloudpickle

    return cloudpickle.dumps(value)  # type: ignore[no-any-return]


def _unpack(data: bytes) -> Any:
    from ray import cloudpickle

    return cloudpickle.loads(data)

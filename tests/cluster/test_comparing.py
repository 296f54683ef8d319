"""A comparison by copies of its work, which know nothing of each other: the report of one machine but for the seconds.

In this process: what is sent to tasks and back is packed and unpacked as it is on a cluster.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from cluster.comparisons import judged, told
from cluster.conftest import needs_ray
from cluster.here import Here
from dose import some
from fader.cluster.jobs.compare import Spread, Unsent
from fader.cluster.jobs.index_handle import open_index
from fader.errors import InputError
from fader.experiment.compare import compare_judged
from fader.jobs.runners import Threads
from fader.limits import Limits
from fader.progress import Silent
from fader.search.index import Index

pytestmark = needs_ray  # its pickler
# The first few are tried in CI: what is not fitted, with and without a choice; features x aggregator; edges to learn.
SYSTEMS = [
    "count", "voting(cutoff=10|100)", "fader(features=noprox)", "fader(features=rectangle(edges=learned),lam=1)",
    "fader(features=noprox+rectangle)", "fader(features=noprox,aggregator=max)", "fang", "ranksvm", "lambdamart",
    "balog2", "petkova", "plm", "fader(features=noprox,aggregator=softcutoff)",
]  # fmt: skip


@pytest.mark.parametrize("cv", ["3", "loo"])
def test_reports(demo_files: Path, cv: str, tmp_path: Path) -> None:
    """Measures, choices, grids, context scores, counts; measures of other tools too. Kept results are of one form."""
    index = Index.open(demo_files / "index")
    systems = some(SYSTEMS, 4)
    how: dict[str, Any] = {"measures": ["AP", "pairswap", "P@3"], "seed": 2}
    here = compare_judged(judged(index, demo_files), systems, cv, **how, keep=tmp_path)
    spread = open_index(Here(str(demo_files / "index"), index.commit, 1, Limits()))
    pool = Spread(None, judged(spread, demo_files))
    there = compare_judged(pool.judged, systems, cv, **how, workers=pool, progress=Unsent(Silent()))
    assert told(here) == told(there)

    class Idle(Spread):
        def each(self, work: Any, items: Any, progress: Any, note: str) -> Any:
            assert note == "counting", "a kept result was computed again"
            return super().each(work, items, progress, note)

    again = Idle(None, judged(spread, demo_files))
    kept = compare_judged(again.judged, systems, cv, **how, workers=again, keep=tmp_path)
    assert told(kept) == told(here)


def test_errors_are_those_of_one_machine(demo_files: Path) -> None:
    """Too few queries for the folds."""
    index = Index.open(demo_files / "index")
    said = []
    for workers in (1, None):
        pool = Spread(
            None, judged(open_index(Here(str(demo_files / "index"), index.commit, 1, Limits())), demo_files, 2)
        )
        with pytest.raises(InputError) as error:
            compare_judged(pool.judged, ["fader(features=noprox)"], "5", workers=workers or pool)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_the_first_error_ends_all_and_is_told(demo_files: Path) -> None:
    """Not the one that others end by, whatever their order; nobody works on."""
    pool = Spread(None, judged(open_index(Here(str(demo_files / "index"), 1, 1, Limits())), demo_files))
    pool.systems = 2
    failed = threading.Event()

    def work(name: Any) -> Any:
        if name == "second":
            try:
                pool.each(refusing, [0], Silent(), "")
            finally:
                failed.set()
        assert failed.wait(60)
        while True:  # until the other's failure ends this one
            pool.each(abs, [-1], Silent(), "")

    with pytest.raises(InputError, match="no such thing"):
        Threads(2, pool.stop).run(lambda: work, ["first", "second"], lambda _name, _result: None)


def refusing(_item: int) -> int:
    """A piece of work that cannot be done."""
    raise InputError("no such thing")

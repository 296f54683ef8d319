"""Whether every system of the tables can run on a testbed: asked before the first of them starts.

What can be missing is an optional package, queries for the folds, or memory. The memory is that of training: the
judged queries under the richest features, of which the queries drawn here are encoded and measured.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from fader.errors import FaderError, InputError
from fader.experiment.judged import KEPT_DATASETS, JudgedQueries
from fader.experiment.system_specs import SystemSpec, parse_specs
from fader.features.combined import feature_map
from fader.learn.crossvalidate import check_folds, parse_cv
from fader.learn.dataset import dataset

RICHEST = "noprox+coverage"
MEASURED_QUERIES = 8
WORKING_SHARE = 1.5  # of what is encoded, for folds and threads beside it
CGROUP = Path("/sys/fs/cgroup")
GIGABYTE = 1 << 30


def check_systems(judged: JudgedQueries, tables: Mapping[str, Sequence[str]], cv: str) -> None:
    """Refuse systems that cannot run on these queries; says all reasons at once."""
    texts = list(dict.fromkeys(text for systems in tables.values() for text in systems))
    faults: dict[str, str] = {}
    for spec in parse_specs(texts, judged.index.collection):
        try:
            for system in spec.alternatives:
                system.check_packages()
            if spec.learners or len(spec.alternatives) > 1:
                check_folds(len(judged), parse_cv(spec.cv or cv))
        except FaderError as error:
            faults[str(error)] = spec.name
    if faults:
        reasons = "; ".join(f"{name}: {reason.removeprefix(f'{name}: ')}" for reason, name in faults.items())
        raise InputError(
            f"{judged.index.collection.folder.name}: not every system can run: {reasons}; "
            "or leave them out by --only. Nothing was started"
        )


def check_memory(judged: JudgedQueries, tables: Mapping[str, Sequence[str]]) -> None:
    """Refuse queries whose training needs more memory than there is."""
    texts = [text for systems in tables.values() for text in systems]
    specs: list[SystemSpec] = parse_specs(list(dict.fromkeys(texts)), judged.index.collection)
    available = find_available_memory()
    if available is None or not any(spec.learners for spec in specs):
        return
    needed = estimate_memory(judged)
    if needed > available:
        raise InputError(
            f"{judged.index.collection.folder.name}: training on {len(judged):,} queries needs about "
            f"{needed / GIGABYTE:.1f} GB of memory, and {available / GIGABYTE:.1f} GB are free; take a --sample of "
            f"{max(int(len(judged) * available / needed), 2):,} queries, or go on at your own risk by --anyway"
        )


def estimate_memory(judged: JudgedQueries) -> int:
    """Bytes that training takes, from some queries spread over all."""
    features = feature_map(RICHEST)
    drawn = np.unique(np.linspace(0, len(judged) - 1, min(MEASURED_QUERIES, len(judged))).astype(int))
    some = JudgedQueries(judged.index, [judged.queries[i] for i in drawn], [judged.grades[i] for i in drawn])
    view = parse_specs(["fader"], judged.index.collection)[0].alternatives[0].view
    tables = ((query.id, some.contexts(i, view), some.grades[i]) for i, query in enumerate(some.queries))
    size = len(pickle.dumps(dataset(tables, features, view).queries, protocol=5))
    return int(size / drawn.size * len(judged) * KEPT_DATASETS * WORKING_SHARE)


def find_available_memory() -> int | None:
    """Bytes that this process may still take, by the system and by its control group; None where nobody says."""
    found = []
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        found += [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
        limit, used = ((CGROUP / name).read_text("ascii").strip() for name in ("memory.max", "memory.current"))
        found += [int(limit) - int(used)] if limit != "max" else []
    except (OSError, ValueError):
        pass
    if not found and hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(found, default=None)

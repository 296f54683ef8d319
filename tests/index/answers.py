"""All that an index answers, and rankers of every kind to ask it by."""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import fader
from contracts.models import feature_model
from fader.contexts.table import Contexts
from fader.features.combined import feature_map
from fader.learn.learner import Learner, encode_example
from fader.registry import discover
from fader.systems.base import parse_system
from fader.systems.fader import FeatureModel
from fader.testing.collections import expect_equal_contexts
from index.histories import History


def equal_tables(a: Contexts, b: Contexts) -> None:
    """Every column, every statistic, every late column."""
    expect_equal_contexts(a, b, "the table")


def make_rankers(folder: Path) -> list[Any]:
    """The default model, all features by every aggregator, and every prior system, learners fitted to a few queries."""
    history = History(folder, random.Random(0))
    history.begin()
    index = fader.open(history.folder)
    tables = [index.contexts(query) for query in ("a b", "c d e", "b the é")]
    maps = feature_map("noprox+rectangle+coverage+idfupto+confidence")
    weights = np.linspace(0.01, 0.3, maps.size)
    found: list[Any] = ["default"]
    for n, part in enumerate(discover("fader.aggregate").values()):
        found.append(feature_model(maps, weights, part(), ("document", "mention")[n % 2]))
    for name, part in discover("fader.systems").items():
        if issubclass(part, Learner):
            found.append(fitted(parse_system(name), tables))
        elif not issubclass(part, FeatureModel):
            found.append(name)
    return found


def fitted(learner: Any, tables: list[Contexts]) -> Any:
    """A learner that has seen a few queries; every second candidate is good."""
    chance = np.random.default_rng(0)
    grades = [{int(e): 1 for e in t.groups.entity[::2]} for t in tables]
    return learner.fit([encode_example(learner, t, g, chance) for t, g in zip(tables, grades, strict=True)], seed=0)


def answer(index: fader.Index, query: str, kind: str | None, model: Any) -> str:
    """All that a search says but the time it took."""
    found = asdict(index.search(query, kind, k=100, model=model, snippets=3, explain=True))
    found.pop("took_ms")
    return json.dumps(found, sort_keys=True)

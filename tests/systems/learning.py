"""What the tests of learning systems share: judged worlds encoded as examples."""

from __future__ import annotations

from typing import Any

import numpy as np

from contracts.worlds import ENTITIES, Document, Mention, World
from fader.contexts.table import Contexts
from fader.learn.learner import Example, Learner
from fader.measures import judge


def drawn_world(seed: int, documents: int = 40, longest: int = 30) -> World:
    """Documents in which the even entities stand near the query's words, and the others anywhere."""
    random, found = np.random.default_rng(seed), []
    for _ in range(documents):
        tokens = random.integers(0, 9, size=int(random.integers(6, longest))).tolist()
        mentions = []
        for _ in range(int(random.integers(1, 5))):
            start, entity = int(random.integers(0, len(tokens) - 1)), int(random.integers(0, ENTITIES))
            if entity % 2 == 0 and random.random() < 0.8:
                tokens[start + 1] = int(random.integers(0, 2))
            mentions.append(Mention(start, start + 1, entity, float(random.integers(1, 5)) / 4))
        found.append(Document(tuple(tokens), tuple(sorted(mentions, key=lambda m: (m.start, m.end, m.entity)))))
    return World(tuple(found), 2 + seed % 3)


def grades_of(contexts: Contexts) -> dict[Any, int]:
    """Even entities are good, the first of them more; some of the others are not judged."""
    return {e: 2 if e == 0 else int(e % 2 == 0) for e in contexts.entities.tolist() if e != 3}


def example(learner: Learner, contexts: Contexts) -> Example:
    """A query to learn from."""
    query = learner.encode(contexts)
    return Example(query, judge(query.entity, query.entity.tolist(), grades_of(contexts)))


TABLES = [drawn_world(seed).contexts() for seed in range(6)]


def examples(learner: Learner) -> list[Example]:
    """Six queries to learn from."""
    return [example(learner, contexts) for contexts in TABLES]

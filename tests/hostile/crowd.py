"""Documents crowded with mentions, and every system that can rank them."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from fader.learn.learner import Learner
from fader.registry import discover
from fader.systems.base import parse_system
from fader.testing.systems import train_learner

MENTIONS, ENTITIES = 60, 2_000
WORDS = [f"w{i}" for i in range(40)]
EXTRA = ["default", "joint", "balog1(window=25)", "balog2(window=25)", "literals(plm)"]
NAMED = sorted({*discover("fader.systems"), *EXTRA} - {"fader", "literals"})


def document(number: int) -> dict[str, Any]:
    """A text of common words with a mention at every second one."""
    chance = random.Random(number)
    words = chance.choices(WORDS, k=2 * MENTIONS)
    words[4:8] = ["w0", "w1", "w2", "w3"]
    mentions, at = [], 0
    for i, word in enumerate(words):
        if i % 2:
            mentions.append({"start": at, "end": at + len(word), "entity": f"E{int(ENTITIES * chance.random() ** 3)}"})
        at += len(word) + 1
    return {"id": f"d{number}", "title": f"w{number % 40} title", "text": " ".join(words), "mentions": mentions}


@cache
def make_system(name: str) -> Any:
    """A system that can rank: one that learns is trained on small worlds, once for all tests of a process."""
    if name in ("default", "joint"):
        return name
    system = parse_system(name)
    return train_learner(system) if isinstance(system, Learner) else system

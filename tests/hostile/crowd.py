"""Documents crowded with mentions, and every system that can rank them."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import fader
from fader.judging.judge import judge_answer
from fader.judging.propose import propose
from fader.judging.record import JudgedReading
from fader.learn.learner import Learner
from fader.registry import discover
from fader.search.models import resolve_model
from fader.search.suggest import Suggester
from fader.search.typetree import TypeTree
from fader.systems.base import parse_system
from fader.testing.systems import train_learner

MENTIONS, ENTITIES = 60, 2_000
WORDS = [f"w{i}" for i in range(40)]
EXTRA = ["default", "joint", "balog1(window=25)", "balog2(window=25)", "literals(plm)"]
Calls = dict[str, Callable[[], object]]
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


def list_calls(index: fader.Index, query: str, system: Any, entity: str, type: str | None = None) -> Calls:
    """What may be asked of a system."""
    question = query.replace('"', "").replace("+", "")
    judged, chosen = [JudgedReading(question, query, type)], [resolve_model(system, index.collection).system]
    return {
        "rank": lambda: index.rank(query, type or "thing", 1_000, system),
        "search": lambda: index.search(query, type, 100, system, snippets=3),
        "explain": lambda: index.search(query, type, 2, system, snippets=1, explain=True),
        "why": lambda: index.why(query, entity, type, system),
        "evidence": lambda: index.evidence(query, entity, type, system, limit=100),
        "versus": lambda: index.versus(query, system, "proximity", type, 100, snippets=1),
        "ask": lambda: index.ask(question, model=system),
        "propose": lambda: propose(index, judged, set(), chosen),
    }


def list_plain_calls(index: fader.Index, query: str, entity: str, document: str) -> Calls:
    """What may be asked without a system."""
    question = query.replace('"', "").replace("+", "")
    names = Suggester(index.collection)
    return {
        "contexts": lambda: index.contexts(query, stem=True, entities=True, relax=True),
        "read": lambda: index.read(question),
        "judge": lambda: judge_answer(index, "ada", question, entity, 1),
        "document": lambda: index.document(document, query),
        "complete": lambda: [names.entities(text, 100, kind) for text in ("", "w", "na") for kind in (None, "thing")],
        "types": lambda: TypeTree(index.collection).children(None),
    }

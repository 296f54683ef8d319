"""Drawn texts for `model=`, and drawn requests to every route that reads: case i is always the same.

Texts are drawn from the parts that are discovered, their parameters and values at and past every bound, put inside each
other, cut and joined. Knows nothing of who asks.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from typing import Any

from fader.errors import FaderError
from fader.options import options_of
from fader.registry import discover
from fader.serve.api import parameters
from fader.serve.open_index import MODEL_CHARACTERS
from fader.serve.requested import check_requested
from fader.systems.base import parse_system

KINDS = ("fader.systems", "fader.features", "fader.aggregate")
PARTS = {name: part for kind in KINDS for name, part in discover(kind).items()}
SYSTEMS = [*discover("fader.systems"), "default", "joint"]
VALUES = (
    *("", "0", "1", "-1", "2", "0.5", "1e-300", "1e300", "nan", "inf", "1000000", "1000001", "99999999999999999999"),
    *(
        "true",
        "false",
        "auto",
        "none",
        "document",
        "mention",
        "1/2/3",
        "/".join(["1"] * 65),
        "64x64",
        "5x6",
        "9x",
        "é\0",
    ),
)
SIGNS = ("(", ")", ",", "=", "+", "|", " ", "/", "((", "))", "\t", "\u202e")
OPTIONS: dict[str, tuple[str, ...]] = {
    "k": ("1", "10", "1000", "0", "100001", "x"),
    "snippets": ("0", "1", "20", "1001"),
    "passage": ("sentence", "window:50", "document", "window:999999999"),
    "explain": ("true", "false"),
    "type": ("thing", "", "nothing", "t" * 3000),
    "timeout_ms": ("1", "50", "1000", "1e9", "nan"),
    "offset": ("0", "100", "1000000", "-1"),
    "limit": ("1", "100", "1000000"),
    "format": ("json", "csv", "x"),
}
QUERIES = (
    "w0",
    'w0 +w1 "w2 w3" w4',
    " ".join(f"w{i}" for i in range(64)),
    '"' + "w0 " * 64 + '"',
    "-w0",
    "",
    "+",
    "x" * 2001,
)
ROUTES: dict[str, type[Any]] = {
    "/v1/search": parameters.SearchParameters,
    "/v1/explain": parameters.ExplainParameters,
    "/v1/entity/E1": parameters.EntityParameters,
    "/v1/entity": parameters.EntityIdParameters,
    "/v1/compare": parameters.CompareParameters,
    "/v1/ask": parameters.AskParameters,
    "/v1/suggest": parameters.SuggestParameters,
    "/v1/document/d1": parameters.DocumentParameters,
    "/v1/document": parameters.DocumentIdParameters,
    "/v1/types": parameters.TypesParameters,
    "/v1/analyze": parameters.AnalyzeParameters,
    "/v1/examples": parameters.IndexParameters,
    "/v1/propose": parameters.ProposeParameters,
    "/v1/judgments": parameters.JudgmentsParameters,
    "/v1/train": parameters.IndexParameters,
    "/v1/systems": parameters.IndexParameters,
    "/v1/stats": parameters.IndexParameters,
}
RANKING = ("/v1/search", "/v1/explain", "/v1/entity/E1", "/v1/entity", "/v1/compare", "/v1/ask")
SOUND: dict[str, tuple[str, ...]] = {
    "index": ("crowded",),
    "type": ("thing",),
    "k": ("1", "3", "10", "10", "100", "1000"),
    "snippets": ("0", "1", "1", "3", "20", "100"),
    "passage": ("sentence", "window:50", "document", "highlights"),
    "timeout_ms": ("1", "200", "1000"),
    "offset": ("0", "1", "100"),
    "limit": ("1", "10", "100"),
    "format": ("json", "json", "csv"),
    "min_probability": ("0", "0.1", "1"),
    "entity": ("E0", "E1", "E7", "E300"),
    "id": ("E0", "E1", "E300"),
    "kind": ("type", "entity"),
    "prefix": ("w", "w1 n", "name 3", "thi", "zz"),
    "parent": ("thing",),
    "ids": ("thing", "thing|nothing"),
    "text": ("w0 w1", "Ångström's e\u0301tudes", "w1 " * 500),
}
TRUTH = ("true", "false")
ASKED = ("which thing has {}?", "{} and {}", "who met w3 near {}", "what is the {} of {} with {}")
SHARE_SOUND = 0.7


def draw_query(chance: random.Random) -> str:
    """Words of the index with all signs, at least one of them in most documents."""
    words = [f"w{int(40 * chance.random() ** 2)}" for _ in range(chance.choice([1, 1, 2, 3, 5, 12]))]
    signs = chance.choices(["", "", "", "+", "-", '"'], k=len(words) - 1)
    more = [f'"w0 {word}"' if sign == '"' else sign + word for sign, word in zip(signs, words[1:], strict=True)]
    return " ".join([words[0], *more])


def is_sound(text: str) -> bool:
    """Whether a request may ask for a system that can rank."""
    try:
        check_requested(text)
        return len(text) <= MODEL_CHARACTERS and parse_system(text).is_fitted
    except FaderError:
        return False


def draw_sound_model(chance: random.Random, served: Sequence[str]) -> str:
    """A served model, or an untrained system with parameters that it takes."""
    if chance.random() < 0.4:
        return chance.choice(served)
    names = discover("fader.systems")
    drawn = (draw_call(chance, chance.choice([0, 0, 1, 2]), list(names)) for _try in range(40))
    return next(filter(is_sound, drawn), "count")


def draw_sound_request(chance: random.Random, served: Sequence[str]) -> tuple[str, dict[str, str]]:
    """A request that should be answered: parameters of its route alone, with values that they take."""
    route = chance.choice(RANKING if chance.random() < 0.85 else list(ROUTES))
    asked: dict[str, str] = {}
    for name, each in options_of(ROUTES[route]).items():
        if not each.required and chance.random() > (0.9 if name in ("q", "model", "a", "b") else 0.25):
            continue
        if name in ("model", "a", "b"):
            asked[name] = draw_sound_model(chance, served)
        elif name in ("q", "query"):
            query = draw_query(chance)
            is_question = name == "q" and "ask" in route and chance.random() < 0.5
            asked[name] = chance.choice(ASKED).format(*query.split()[:1] * 3) if is_question else query
        elif each.kind is bool:
            asked[name] = chance.choice(TRUTH)
        else:
            asked[name] = chance.choice(SOUND[name])
    return route, asked


def draw_value(chance: random.Random, depth: int, usual: list[str]) -> str:
    """What the parameter is usually, another part, or anything."""
    if usual and chance.random() < 0.5:
        return chance.choice(usual)
    if depth and chance.random() < 0.4:
        return draw_call(chance, depth - 1, [*PARTS, "default", "joint", "nothing"])
    return chance.choice(VALUES)


def list_usual(part: type, key: str) -> list[str]:
    """What is worth trying of a parameter, and its default."""
    tried = [str(value) for value in getattr(part, "tries", {}).get(key, ())]
    default = next((f.default for f in dataclasses.fields(part) if f.name == key), dataclasses.MISSING)
    return tried if default is dataclasses.MISSING or default == "" else [*tried, str(default).lower()]


def draw_call(chance: random.Random, depth: int, names: list[str]) -> str:
    """A part with some of its parameters, or with those of another."""
    name = chance.choice(names)
    part = PARTS.get(name if chance.random() < 0.9 else chance.choice(list(PARTS)))
    known = [f.name for f in dataclasses.fields(part)] if part is not None and dataclasses.is_dataclass(part) else []
    keys = chance.sample(known, min(len(known), chance.choice([0, 1, 1, 2, 4])))
    given = [f"{key}={draw_value(chance, depth, list_usual(part, key))}" for key in keys if part is not None]
    if chance.random() < 0.1:
        given.append(draw_value(chance, depth, []))
    return f"{name}({','.join(given)})" if given or chance.random() < 0.2 else name


def draw_model(chance: random.Random) -> str:
    """A system, sometimes several or none, and sometimes broken."""
    names = SYSTEMS if chance.random() < 0.9 else list(PARTS)
    count = chance.choice([1, 1, 1, 1, 1, 1, 2, 3])
    text = chance.choice(["+", "|"]).join(draw_call(chance, 4, names) for _ in range(count))
    for _ in range(chance.choice([0, 0, 0, 0, 0, 1, 3])):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(SIGNS) + text[at + chance.choice([0, 1]) :]
    return text


def draw_request(seed: int, served: Sequence[str] = ("default", "joint")) -> tuple[str, dict[str, str]]:
    """A route and its parameters: most of them sound, the others anything."""
    chance = random.Random(seed)
    if chance.random() < SHARE_SOUND:
        return draw_sound_request(chance, served)
    route = chance.choice((*ROUTES, *RANKING))
    asked = {key: chance.choice(OPTIONS[key]) for key in chance.sample(list(OPTIONS), chance.choice([0, 1, 2, 3]))}
    asked["text" if "analyze" in route else "q"] = chance.choice(QUERIES)
    asked |= {"model": draw_model(chance)} if chance.random() < 0.7 else {}
    asked |= {"b": draw_model(chance)} if "compare" in route else {}
    asked |= {"entity": "E1"} if "explain" in route else {}
    return route, asked

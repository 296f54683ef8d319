"""Drawn texts for `model=`, and drawn requests to every route that reads: case i is always the same.

Texts are drawn from the parts that are discovered, their parameters and values at and past every bound, put inside each
other, cut and joined. Knows nothing of who asks.
"""

from __future__ import annotations

import dataclasses
import random

from fader.registry import discover

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
READING = ("/v1/search", "/v1/explain", "/v1/entity/E1", "/v1/compare", "/v1/ask", "/v1/suggest", "/v1/document/d1",
           "/v1/types", "/v1/analyze", "/v1/systems", "/v1/stats")  # fmt: skip


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


def draw_request(seed: int) -> tuple[str, dict[str, str]]:
    """A route and its parameters."""
    chance = random.Random(seed)
    route = chance.choice((*READING, *READING[:5], *READING[:2]))
    asked = {key: chance.choice(OPTIONS[key]) for key in chance.sample(list(OPTIONS), chance.choice([0, 1, 2, 3]))}
    asked["text" if "analyze" in route else "q"] = chance.choice(QUERIES)
    asked |= {"model": draw_model(chance)} if chance.random() < 0.7 else {}
    asked |= {"b": draw_model(chance)} if "compare" in route else {}
    asked |= {"entity": "E1"} if "explain" in route else {}
    return route, asked

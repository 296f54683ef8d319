"""Whatever a request says of a system, the service answers: drawn texts for `model=`, by every route that takes one.

Texts are drawn from the parts that are discovered, their parameters and values at and past every bound, put inside each
other, cut and joined. Dose: 100,000 requests with FADER_DOSE=1; a few hundred otherwise.
"""

from __future__ import annotations

import dataclasses
import os
import random
from collections import Counter
from collections.abc import Iterator

import httpx
import pytest

from dose import dose
from fader.registry import discover
from fader.serve.settings import Settings
from serve.live import build, running

FULL, SAMPLE = 100_000, 100
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
ROUTES = ("/v1/search", "/v1/explain", "/v1/entity/E2", "/v1/compare")
BORNE = {200, 400, 404, 413, 414, 422, 431, 503, 504}


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


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = build(tmp_path_factory.mktemp("drawn") / "index")
    with running(Settings(indexes={"small": folder})) as url, httpx.Client(base_url=url, timeout=120) as client:
        yield client


@pytest.mark.timeout(24 * 3600)
def test_every_system_that_a_request_may_name_is_answered(http: httpx.Client) -> None:
    """Answered or refused, never a fault of the server; and afterwards it is as well as before."""
    statuses: Counter[int] = Counter()
    for seed in range(dose(FULL, least=1) if "FADER_DOSE" in os.environ else SAMPLE):
        chance = random.Random(seed)
        model, route = draw_model(chance), chance.choice(ROUTES)
        asked = {
            "q": chance.choice(["violin", "the +violin", '"old town"']),
            "b" if "compare" in route else "model": model,
        }
        asked |= {"entity": "E2"} if "explain" in route else {}
        found = http.get(route, params=asked) if chance.random() < 0.8 else http.post(route, json=asked)
        statuses[found.status_code] += 1
        assert found.status_code in BORNE | {405}, (seed, route, model, found.status_code, found.text[:500])
    print(f"\n{statuses.total():,} requests: {dict(statuses)}")
    assert statuses[200] > statuses.total() // 50
    assert http.get("/healthz").json()["status"] == "ok"

"""Whatever a request says of a system, the service answers: drawn texts for `model=`, by every route that takes one.

Texts are drawn from the parts that are discovered, their parameters and values at and past every bound, put inside each
other, cut and joined. Dose: 100,000 requests with FADER_DOSE=1; a few hundred otherwise.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator

import httpx
import pytest

from dose import dose
from fader.serve.settings import Settings
from serve.drawn import RANKING, ROUTES, draw_model, draw_request, is_sound
from serve.live import build, running

FULL, SAMPLE = 100_000, 100
MODEL_ROUTES = ("/v1/search", "/v1/explain", "/v1/entity/E2", "/v1/compare")
BORNE = {200, 400, 404, 413, 414, 422, 431, 503, 504}


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
        model, route = draw_model(chance), chance.choice(MODEL_ROUTES)
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


def test_requests_are_drawn_for_every_route(http: httpx.Client) -> None:
    """That reads, with all its parameters; one that is new must be added."""
    described = http.get("/openapi.json").json()["paths"]
    routes = {path.split("{")[0].rstrip("/") for path, methods in described.items() if "get" in methods}
    drawn = {route.removesuffix("/E1").removesuffix("/d1") for route in ROUTES}
    assert routes - drawn <= {"", "/healthz", "/metrics", "/v1/reports", "/v1/indexes"}, routes - drawn


def test_most_drawn_requests_are_sound() -> None:
    """Half of them at least can rank."""
    drawn = [draw_request(seed) for seed in range(400)]
    sound = [
        asked
        for route, asked in drawn
        if route in RANKING
        and all(is_sound(asked.get(key, "count")) or asked[key] == "joint" for key in ("model", "a", "b"))
    ]
    assert len(sound) > len(drawn) // 2

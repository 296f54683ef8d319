"""Too much at once, too long, gone away, broken: what becomes of a request, and of the others."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from fader import Index, budget
from fader.errors import DamagedError
from fader.serve.settings import Settings
from serve import live

ASK = {"q": "violin"}
RANKING = ["/v1/search?q=a", "/v1/explain?q=a&entity=E2", "/v1/compare?q=a", "/v1/entity/E2?q=a"]
OTHERS = ["/", "/static/js/main.js", "/healthz", "/metrics", "/v1/stats", "/v1/suggest", "/v1/types", "/v1/entity/E2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return live.build(tmp_path_factory.mktemp("overload") / "index")


@contextmanager
def running(settings: Settings) -> Iterator[str]:
    """A server that searches no more by itself: it has made the examples of its page."""
    with live.running(settings) as url:
        httpx.get(f"{url}/v1/examples", timeout=60)
        yield url


class Held:
    """Searches that go on until they are let go; `begun` counts them."""

    def __init__(self) -> None:
        self.let_go, self.begun = threading.Event(), 0

    def __call__(self, *_: Any, **__: Any) -> Any:
        self.begun += 1
        assert self.let_go.wait(60)
        raise DamagedError("let go")


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    found = Held()
    yield found
    found.let_go.set()


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that must come."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def gauge(url: str, name: str) -> float:
    text = httpx.get(f"{url}/metrics", timeout=60).text
    return float(next(line for line in text.splitlines() if line.startswith(f'{name}{{lane="engine"}}')).split()[1])


def test_a_full_queue_refuses_ranking_and_nothing_else(
    folder: Path, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One works, one waits, the third is refused with 503 and Retry-After; pages and look-ups are answered."""
    settings = Settings(indexes={"small": folder}, workers=1, queue=1, time_ms=60_000)
    with running(settings) as url, ThreadPoolExecutor(2) as others:
        monkeypatch.setattr(Index, "search", held)
        waiting = [others.submit(httpx.get, f"{url}/v1/search", params=ASK, timeout=60) for _ in range(2)]
        until(lambda: held.begun == 1 and gauge(url, "fader_lane_waiting") == 1)
        for path in RANKING:
            reply = httpx.get(url + path, timeout=60)
            assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")
            assert reply.json()["error"]["code"] == "overloaded"
        reply = httpx.post(f"{url}/v1/search", json=ASK, timeout=60)
        assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")
        for path in OTHERS:
            assert httpx.get(url + path, timeout=60).status_code == 200, path
        held.let_go.set()
        assert [each.result().status_code for each in waiting] == [500, 500]
        monkeypatch.undo()
        assert httpx.get(f"{url}/v1/search", params=ASK, timeout=60).status_code == 200


def test_a_client_that_goes_away_leaves_the_queue(folder: Path, held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its place is free at once, and it is never begun."""
    settings = Settings(indexes={"small": folder}, workers=1, queue=1, time_ms=60_000)
    with running(settings) as url, ThreadPoolExecutor(1) as others:
        monkeypatch.setattr(Index, "search", held)
        working = others.submit(httpx.get, f"{url}/v1/search", params=ASK, timeout=60)
        until(lambda: held.begun == 1)
        address = urlsplit(url)
        with socket.create_connection((str(address.hostname), int(address.port or 0))) as leaving:
            leaving.sendall(b"GET /v1/search?q=violin HTTP/1.1\r\nHost: localhost\r\n\r\n")
            until(lambda: gauge(url, "fader_lane_waiting") == 1)
        until(lambda: gauge(url, "fader_lane_waiting") == 0)
        held.let_go.set()
        working.result()
        assert held.begun == 1


def test_time_over_is_504_with_the_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the engine uses it up or the queue; a request may ask for less than the server allows."""

    def spend(*_: Any, **__: Any) -> None:
        while True:
            budget.check()

    with running(Settings(indexes={"small": folder}, workers=1, queue=4, time_ms=400)) as url:
        monkeypatch.setattr(Index, "search", spend)
        for given, said in (({}, "400 ms"), ({"timeout_ms": 50}, "50 ms")):
            reply = httpx.get(f"{url}/v1/search", params=ASK | given, timeout=60)
            error = reply.json()["error"]
            assert (reply.status_code, error["code"]) == (504, "out_of_time")
            assert said in error["message"]


@pytest.mark.parametrize("fault", [ValueError("/secret/path"), DamagedError("/secret/path: is cut"), MemoryError()])
def test_a_fault_of_ours_tells_its_number_and_no_more(
    folder: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    """500 with the number of the request; the server goes on."""

    def fail(*_: Any, **__: Any) -> None:
        raise fault

    with running(Settings(indexes={"small": folder})) as url:
        with monkeypatch.context() as patched:
            patched.setattr(Index, "search", fail)
            reply = httpx.get(f"{url}/v1/search", params=ASK, timeout=60)
        assert (reply.status_code, reply.json()["error"]["code"]) == (500, "internal")
        assert reply.json()["error"]["request_id"] == reply.headers["fader-request-id"]
        assert "secret" not in reply.text
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert httpx.get(f"{url}/v1/search", params=ASK, timeout=60).status_code == 200

"""A new commit is served while requests are in flight: none is dropped, and the old one goes with its last request."""

from __future__ import annotations

import gc
import os
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import fader
from fader import Index
from fader.errors import DamagedError
from fader.serve.app import reload_all
from fader.serve.middleware.keys import Keys
from fader.serve.service import Service
from fader.serve.settings import Settings
from serve.layers import echo
from serve.live import build, documents, running


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that must come."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def more(i: int) -> list[dict[str, Any]]:
    """A document that is not there yet."""
    return [documents()[0] | {"id": f"new{i}"}]


def test_requests_in_flight_are_answered_while_commits_come(tmp_path: Path) -> None:
    """Clients ask all the time while documents are added: every answer is whole, of one commit, and never older."""
    folder = build(tmp_path / "index")
    settings = Settings(indexes={"small": folder}, watch_seconds=0.01, time_ms=60_000, queue=100)
    over = threading.Event()

    def ask(url: str) -> list[tuple[int, int, int]]:
        seen = []
        with httpx.Client(base_url=url, timeout=60) as http:
            while not over.is_set():
                reply = http.get("/v1/search", params={"q": "violin"})
                commit, found = int(reply.headers["fader-commit"]), reply.json()["matched_documents"]
                seen.append((reply.status_code, commit, found))
        return seen

    with running(settings) as url, ThreadPoolExecutor(3) as clients:
        asking = [clients.submit(ask, url) for _ in range(3)]
        for i in range(4):
            commit = fader.add(folder, more(i)).commit
            until(lambda commit=commit: httpx.get(f"{url}/healthz", timeout=60).json()["indexes"]["small"] == commit)  # type: ignore[misc]
        over.set()
        for seen in (each.result() for each in asking):
            assert all(status == 200 for status, _, _ in seen)
            assert all(found == 24 + commit - 1 for _, commit, found in seen)
            assert [commit for _, commit, _ in seen] == sorted(commit for _, commit, _ in seen)


def test_an_old_commit_is_kept_by_its_requests_and_by_nothing_else(tmp_path: Path) -> None:
    """A request that holds it can use it to the end; afterwards its reader, and with it its maps, is gone."""
    folder = build(tmp_path / "index")
    service = Service(Settings(indexes={"small": folder}))
    service.warm()
    service.prepare()
    held = service.index()
    old, first = weakref.ref(held.collection), held.index.search("violin").matched_documents
    fader.add(folder, more(0))
    assert service.reload() == ["small"]
    assert service.index().index.commit == 2
    assert service.index().index.search("violin").matched_documents == first + 1
    assert held.index.search("violin").matched_documents == first
    del held
    gc.collect()
    assert old() is None
    assert service.reload() == []
    service.close()


def test_a_commit_that_cannot_be_opened_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told by healthz and metrics, and served as soon as it can be."""
    folder = build(tmp_path / "index")
    settings = Settings(indexes={"small": folder}, watch_seconds=0.01, time_ms=60_000)
    with running(settings) as url:
        with monkeypatch.context() as patched:
            patched.setattr(Index, "refresh", _fail)
            fader.add(folder, more(0))
            until(lambda: bool(httpx.get(f"{url}/healthz", timeout=60).json()["problems"]))
            assert httpx.get(f"{url}/v1/search", params={"q": "violin"}, timeout=60).headers["fader-commit"] == "1"
            assert 'fader_index_problem{index="small"} 1.0' in httpx.get(f"{url}/metrics", timeout=60).text
        until(lambda: httpx.get(f"{url}/healthz", timeout=60).json()["indexes"]["small"] == 2)
        assert httpx.get(f"{url}/healthz", timeout=60).json()["problems"] == {}


def _fail(self: Index) -> Index:
    raise DamagedError("the file is cut")


def test_keys_and_models_are_read_again_and_stay_where_they_cannot(tmp_path: Path) -> None:
    """As SIGHUP does; what cannot be read stays as it was and is a problem, and hinders nothing else."""
    folder, file, model = build(tmp_path / "index"), tmp_path / "keys", tmp_path / "model.json"
    file.write_text("ada a-key-of-ada\n")
    model.write_bytes(trained(folder, "noprox"))
    service = Service(Settings(indexes={"small": folder}, models={"mine": (model, None)}, keys=file))
    keys, suggester = Keys(echo, file, 0), service.index().suggester
    file.write_text("ada another-key-of-ada\n")
    model.write_bytes(trained(folder, "rectangle"))
    reload_all(service, keys)
    until(lambda: "rectangle" in str(service.index().ranker("mine")))
    assert keys.find_key("another-key-of-ada") is not None
    assert keys.find_key("a-key-of-ada") is None
    assert service.index().suggester is suggester
    file.write_text("nonsense\n")
    model.write_bytes(trained(folder, "noprox"))
    reload_all(service, keys)
    until(lambda: "noprox" in str(service.index().ranker("mine")))
    assert keys.find_key("another-key-of-ada") is not None
    assert list(service.problems) == ["key file"]
    file.write_text("ada another-key-of-ada\n")
    model.write_text("{}")
    reload_all(service, keys)
    until(lambda: list(service.problems) == ["model files"])
    assert "noprox" in str(service.index().ranker("mine"))
    service.close()


def trained(folder: Path, features: str) -> bytes:
    """A model of the index."""
    queries = [{"id": "1", "query": "violin"}, {"id": "2", "query": "physics"}]
    qrels = {"1": {"E2": 1, "E3": 0}, "2": {"E3": 1, "E2": 0}}
    path = folder.parent / "trained.json"
    fader.Ranker(features=features, lam=1.0).fit(folder, queries, qrels).save(path)
    return path.read_bytes()


def test_a_truncated_file_is_noticed_and_not_read(tmp_path: Path) -> None:
    """Health fails and requests are refused; the other index goes on.

    A file that is gone is still mapped, and no damage; one that is whole again is none any more.
    """
    folders = {name: build(tmp_path / name) for name in ("cut", "whole")}
    with running(Settings(indexes=folders, watch_seconds=0, time_ms=60_000)) as url:
        file, other = (max(of.glob("*.mentions"), key=lambda path: path.stat().st_size) for of in folders.values())
        before = file.read_bytes()
        os.truncate(file, len(before) // 2)
        until(lambda: httpx.get(f"{url}/healthz", timeout=60).status_code == 503)
        health = httpx.get(f"{url}/healthz", timeout=60).json()
        assert (health["status"], list(health["problems"])) == ("damaged", ["index cut"])
        reply = httpx.get(f"{url}/v1/search", params={"q": "violin"}, timeout=60)
        assert (reply.status_code, reply.json()["error"]["code"]) == (503, "damaged")
        assert httpx.get(f"{url}/v1/search", params={"q": "violin", "index": "whole"}, timeout=60).status_code == 200
        file.write_bytes(before)
        until(lambda: httpx.get(f"{url}/healthz", timeout=60).status_code == 200)
        file.unlink()
        os.truncate(other, 1)
        until(lambda: httpx.get(f"{url}/healthz", timeout=60).status_code == 503)  # so both were looked at
        assert list(httpx.get(f"{url}/healthz", timeout=60).json()["problems"]) == ["index whole"]

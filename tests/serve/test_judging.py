"""Judging over HTTP: off unless enabled, kept for good, by those who may, and not more often than a person can."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from fader.judging.record import JudgedReading, Judgment
from fader.judging.store import JudgmentStore, path_beside
from fader.serve import judging
from fader.serve.errors import Refusal
from fader.serve.judging import RATE, JudgingDesk
from fader.serve.settings import Settings
from serve.live import build, running

JUDGE, TRAIN, ASK = "key-of-a-judge", "key-of-a-trainer", "key-of-a-reader"
GOOD = {"q": "Who played the violin?", "entity": "E2", "grade": "right", "query": "played +violin", "type": "scientist"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("judging") / "index")


@pytest.fixture(scope="module")
def http(folder: Path) -> Iterator[httpx.Client]:
    keys = folder.parent / "keys.txt"
    keys.write_text(f"judy {JUDGE} judge\ntim {TRAIN} 100 judge train\nada {ASK}\n")
    keys.chmod(0o600)
    settings = Settings(indexes={"small": folder}, judge=True, keys=keys, time_ms=30_000)
    with running(settings) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


def shown(key: str) -> dict[str, str]:
    return {"X-Api-Key": key}


def test_a_judgment_is_on_disk_when_it_is_answered(http: httpx.Client, folder: Path) -> None:
    """With who, question, reading, entity and grade; the type by its id."""
    reply = http.post("/v1/judge", json=GOOD | {"type": "Scientist"}, headers=shown(JUDGE))
    assert reply.status_code == 200, reply.text
    judgment = reply.json()["judgment"]
    assert {name: judgment[name] for name in ("question", "query", "type", "entity", "grade")} == {
        "question": GOOD["q"], "query": GOOD["query"], "type": "scientist", "entity": "E2", "grade": "right",
    }  # fmt: skip
    kept = JudgmentStore(path_beside(folder)).records[-1]
    assert (kept.who, kept.when) == ("judy", judgment["when"])
    mine = http.get("/v1/judgments", params={"q": GOOD["q"]}, headers=shown(JUDGE)).json()
    assert (mine["who"], mine["mine"][-1]) == ("judy", judgment)
    assert http.get("/v1/judgments", headers=shown(TRAIN)).json()["mine"] == []


def test_what_cannot_be_judged_is_refused(http: httpx.Client, folder: Path) -> None:
    """An entity or a type that is not there, a query that cannot be read, another grade, no JSON."""
    before = len(JudgmentStore(path_beside(folder)))
    for wrong, status in (
        ({"entity": "none"}, 404), ({"type": "none"}, 400), ({"query": '"'}, 400), ({"grade": "good"}, 400),
        ({"q": "x" * 30_000}, 400), ({"who": "another"}, 400), ({"entity": 1}, 400),
    ):  # fmt: skip
        reply = http.post("/v1/judge", json=GOOD | wrong, headers=shown(TRAIN))
        assert reply.status_code in (status, 429), (wrong, reply.text)
    assert http.post("/v1/judge", data=GOOD, headers=shown(TRAIN)).status_code == 415  # type: ignore[arg-type]
    assert len(JudgmentStore(path_beside(folder))) == before


def test_judging_needs_its_right(http: httpx.Client) -> None:
    """A key that may ask may not judge; one that may judge may not undo."""
    assert http.post("/v1/judge", json=GOOD, headers=shown(ASK)).json()["error"]["code"] == "forbidden"
    assert http.post("/v1/judge", json=GOOD).status_code == 401
    assert http.get("/v1/judgments", headers=shown(ASK)).status_code == 403
    assert http.post("/v1/judgments/undo", json={"who": "judy"}, headers=shown(JUDGE)).status_code == 403
    undone = http.post("/v1/judgments/undo", json={"who": "judy"}, headers=shown(TRAIN))
    assert undone.json()["who"] == "judy"
    assert http.get("/v1/judgments", headers=shown(JUDGE)).json()["mine"] == []


def test_judging_is_off_unless_it_is_enabled(folder: Path) -> None:
    """Then there are no such routes, and the page is told so."""
    with running(Settings(indexes={"small": folder})) as url, httpx.Client(base_url=url, timeout=60) as client:
        assert client.get("/v1/stats").json()["judging"] is False
        assert client.post("/v1/judge", json=GOOD).status_code == 404
        assert client.get("/v1/judgments").status_code == 404


def test_nobody_judges_more_often_than_a_person_can(folder: Path) -> None:
    """Each for themselves: another may still judge."""
    desk = JudgingDesk({"small": folder}, clock=lambda: 5.0)
    for _time in range(int(2 * RATE)):
        desk.meter("mallory")
    with pytest.raises(Refusal) as refused:
        desk.meter("mallory")
    assert refused.value.status == 429
    desk.meter("ada")


def test_only_so_many_are_remembered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many addresses cannot fill the memory."""
    monkeypatch.setattr(judging, "MOST_BUCKETS", 3)
    desk = JudgingDesk({"small": folder}, clock=lambda: 5.0)
    for i in range(10):
        desk.meter(f"address {i}")
    assert len(desk._buckets) == 3


def test_training_is_compared_adopted_and_rolled_back(folder: Path) -> None:
    """In the background, one at a time; what is adopted ranks by default at once, and after a new start."""
    settings = Settings(indexes={"small": folder}, judge=True, time_ms=30_000)
    path_beside(folder).unlink(missing_ok=True)
    store = JudgmentStore(path_beside(folder))
    for i, word in enumerate(("violin", "physics", "harbour", "chemist")):
        for entity, grade in ((f"E{2 + i % 2}", 2), ("E4", 0)):
            store.add(Judgment("ada", "now", JudgedReading(f"Who {word}?", word, None), entity, grade))
    with running(settings) as url, httpx.Client(base_url=url, timeout=60) as client:
        assert client.get("/v1/train").json()["state"] == "idle"
        started = client.post("/v1/train", json={}).json()
        assert started["state"] in ("running", "done")
        while (state := client.get("/v1/train").json())["state"] == "running":
            pass
        assert (state["state"], state["latest"], state["ranks"]) == ("done", "learned-1", "default"), state
        assert state["report"]["questions"] == 4
        named = client.get("/v1/systems").json()["models"]
        assert [m["name"] for m in named if m["default"]] == ["default"]
        assert "learned-1" in [m["name"] for m in named]  # keep both
        assert client.get("/v1/search", params={"q": "violin", "model": "learned-1"}).status_code == 200
        assert client.post("/v1/train/adopt", json={"name": "learned-7"}).status_code == 400
        assert client.post("/v1/train/adopt", json={"name": "learned-1"}).json()["ranks"] == "learned-1"
        found = client.get("/v1/propose").json()
        assert all(each["entity"] for each in found["proposals"])
    with running(settings) as url, httpx.Client(base_url=url, timeout=60) as client:
        assert client.get("/v1/train").json()["ranks"] == "learned-1"
        assert client.post("/v1/train/rollback", json={}).json()["ranks"] == "default"
        assert client.get("/v1/train").json()["adopted"] is None


def test_training_without_judgments_says_what_is_missing(folder: Path) -> None:
    """It fails in words, and may be tried again."""
    path_beside(folder).unlink(missing_ok=True)
    settings = Settings(indexes={"small": folder}, judge=True, time_ms=30_000)
    with running(settings) as url, httpx.Client(base_url=url, timeout=60) as client:
        client.post("/v1/train", json={})
        while (state := client.get("/v1/train").json())["state"] == "running":
            pass
        assert state["state"] == "failed"
        assert "judge" in state["error"]

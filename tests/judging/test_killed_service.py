"""A service that is killed while it takes judgments, trains on them, adopts and rolls back.

Each life judges and trains over HTTP until it is killed at a random moment; then what is on disk is looked at, and the
next life goes on from there. FADER_DOSE=1 is 50 lives.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from dose import dose
from fader.judging.learned import LearnedModels
from fader.judging.record import JudgedReading, Judgment
from fader.judging.store import JudgmentStore, path_beside
from serve.live import build

RATE = 4.0  # judgments a second, so that no limit is met
LONGEST = 4.0  # seconds that a life has at most


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index with judgments that can be learned from."""
    found = build(tmp_path / "index")
    store = JudgmentStore(path_beside(found))
    for i, word in enumerate(("violin", "physics", "harbour", "chemist")):
        for entity, grade in ((f"E{2 + i % 2}", 2), ("E4", 0)):
            store.add(Judgment("ada", "now", JudgedReading(f"Who {word}?", word, None), entity, grade))
    return found


@contextmanager
def killed(folder: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """A service as a process, which is killed when the block ends at the latest."""
    command = [sys.executable, "-m", "fader", "serve", str(folder), "--judge", "--port", "0", "--timeout-ms", "60000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        said = ""
        while " at http" not in said:
            line = running.stderr.readline()
            assert line, said
            said += line
        drain = threading.Thread(target=running.stderr.read)
        drain.start()
        with httpx.Client(base_url=said.split(" at ")[-1].split()[0].rstrip("/"), timeout=60) as client:
            try:
                yield running, client
            finally:
                running.kill()
        drain.join()


def judge_on(client: httpx.Client, acknowledged: list[str], stop: threading.Event) -> None:
    """Judge until the service is gone; what was acknowledged is noted."""
    try:
        while not stop.wait(1 / RATE):
            question = f"Who played violin number {len(acknowledged)}?"
            asked = {"q": question, "query": "violin", "entity": "E2", "grade": "right"}
            reply = client.post("/v1/judge", json=asked)
            assert reply.status_code == 200, reply.text
            acknowledged.append(question)
    except httpx.TransportError:
        pass


def train_on(client: httpx.Client, draw: random.Random) -> None:
    """Train, adopt, roll back, again and again, until the service is gone."""
    try:
        while True:
            client.post("/v1/train", json={})
            while (state := client.get("/v1/train").json())["state"] == "running":
                time.sleep(0.005)
            assert state["state"] == "done", state
            client.post("/v1/train/adopt", json={"name": state["latest"]})
            if draw.random() < 0.3:
                client.post("/v1/train/rollback", json={})
    except httpx.TransportError:
        pass


def check(folder: Path, acknowledged: list[str]) -> None:
    """Every judgment that was acknowledged is there, and every model that is listed is whole."""
    kept = {judgment.reading.question for judgment in JudgmentStore(path_beside(folder)).current()}
    assert kept >= set(acknowledged)
    models = LearnedModels(folder)
    for name in models.names():
        models.read(name)
        assert models.report(name) is not None
    if models.history():
        assert models.adopted() is not None
    for name in models.names()[:-5]:  # the folder holds so many at most
        if name not in models.history():
            (models.folder / f"{name}.json").unlink()


def test_kill_9_of_a_service_that_learns(folder: Path) -> None:
    draw, acknowledged = random.Random(50), list[str]()
    for _life in range(dose(50, least=1)):
        stop = threading.Event()
        with killed(folder) as (running, client):
            assert client.get("/v1/search", params={"q": "violin"}).status_code == 200
            work = [
                threading.Thread(target=judge_on, args=(client, acknowledged, stop)),
                threading.Thread(target=train_on, args=(client, random.Random(draw.random()))),
            ]
            for thread in work:
                thread.start()
            time.sleep(draw.uniform(0.05, LONGEST))
            running.send_signal(signal.SIGKILL)
            stop.set()
            for thread in work:
                thread.join()
        check(folder, acknowledged)

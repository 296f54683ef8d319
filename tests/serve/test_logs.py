"""The log: a line for every request, of which no client can make two, without what was searched for."""

from __future__ import annotations

import errno
import io
import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from fader.serve import logs
from fader.serve.middleware.trace import Trace
from fader.serve.settings import Settings
from serve.live import build, running

LONG = 60.0  # seconds for lines to be written, on a machine that does much else
LOGGERS = ("fader", "uvicorn", "mcp")


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Where lines go; loggers are as they were afterwards."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [(log, list(log.handlers), log.propagate, log.level) for log in loggers]
    yield io.StringIO()
    for log, handlers, propagate, level in before:
        log.handlers, log.propagate = handlers, propagate
        log.setLevel(level)


@pytest.mark.parametrize("told", [False, True])
def test_a_line_for_every_request(tmp_path: Path, stream: io.StringIO, told: bool) -> None:
    """With its number, route, status, time, index and commit; the query only where that was asked for."""
    folder = build(tmp_path / "index")
    handler = logs.configure("json", stream, LONG)
    with running(Settings(indexes={"small": folder}, log_queries=told, time_ms=30_000)) as url:
        reply = httpx.get(f"{url}/v1/search", params={"q": "violin zanzibar"}, timeout=60)
        httpx.post(f"{url}/v1/search", json={"q": "posted zanzibar"}, timeout=60)
        httpx.get(f"{url}/nothing", timeout=60)
    handler.flush()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    found = [line for line in lines if line["event"] == "request"]
    assert [line["status"] for line in found] == [200, 200, 404]
    first = found[0]
    assert first["id"] == reply.headers["fader-request-id"]
    assert (first["method"], first["route"], first["index"], first["commit"]) == ("GET", "/v1/search", "small", 1)
    assert first["bytes"] == len(reply.content)
    assert first["ms"] > 0
    assert ("zanzibar" in stream.getvalue()) == told
    queries = ["violin zanzibar", "posted zanzibar", None] if told else [None] * 3
    assert [line.get("query") for line in found] == queries


@pytest.mark.parametrize("form", ["json", "text"])
@pytest.mark.parametrize("text", ["a\nb request id=1", "\x1b[2J", "\ud800", "\u2028", 'a" id="2', "", "é"])
def test_no_text_of_a_client_makes_a_line_of_its_own(stream: io.StringIO, form: str, text: str) -> None:
    """Line ends, terminal codes and halves of characters are written out."""
    handler = logs.configure(form, stream, LONG)
    logs.access_log(True)(Trace("1", "GET", "/" + text, "10.0.0.1", query=text, status=200, key=text))
    handler.flush()
    (line,) = stream.getvalue().split("\n")[:-1]
    assert not any(ord(c) < 32 or 0xD800 <= ord(c) < 0xE000 for c in line)
    if form == "json":
        assert json.loads(line)["id"] == "1"
    else:
        assert "\u2028" not in line


def test_a_fault_has_its_trace_in_the_log(stream: io.StringIO) -> None:
    """With the number that the client was told."""
    handler = logs.configure("json", stream, LONG)
    try:
        raise ValueError("why")
    except ValueError:
        logging.getLogger("fader.serve").exception("fault", extra={"fields": {"id": "7"}})
    handler.flush()
    line = json.loads(stream.getvalue())
    assert (line["event"], line["id"], line["level"]) == ("fault", "7", "error")
    assert "ValueError: why" in line["trace"]


class Stuck(io.StringIO):
    """A stream whose reader has stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = threading.Event()

    def write(self, text: str) -> int:
        assert self.let_go.wait(60)
        return super().write(text)


@pytest.mark.usefixtures("stream")
def test_a_log_that_blocks_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """More lines than are kept are lost and counted; the others are written in order once the stream takes them."""
    monkeypatch.setattr(logs, "KEPT_LINES", 10)
    stuck = Stuck()
    handler = logs.configure("json", stuck, LONG)
    for i in range(100):
        logging.getLogger("fader.serve").info("event", extra={"fields": {"i": i}})
    stuck.let_go.set()
    handler.flush()
    lines = [json.loads(line) for line in stuck.getvalue().splitlines()]
    written = [line["i"] for line in lines if line["event"] == "event"]
    assert written[:10] == list(range(10))
    assert written == sorted(written)
    assert len(written) <= 11  # those that wait, and one that is being written
    assert sum(line["count"] for line in lines if line["event"] == "lines lost") == 100 - len(written)


def test_lines_are_written_while_the_log_is_shut_down(stream: io.StringIO) -> None:
    """As `logging.shutdown` does it: with the handler's lock held until all is written."""
    handler = logs.configure("json", stream, LONG)
    with handler.lock:
        logging.getLogger("fader.serve").critical("last words")
        handler.flush()
    assert json.loads(stream.getvalue())["event"] == "last words"


@pytest.mark.usefixtures("stream")
def test_a_full_disk_loses_lines_and_nothing_else() -> None:
    """Nothing is raised, and what is written once there is room says how many were lost."""

    class Full(io.StringIO):
        is_full = True

        def write(self, text: str) -> int:
            if self.is_full:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(text)

    full = Full()
    handler = logs.configure("json", full, LONG)
    for _ in range(3):
        logging.getLogger("fader.serve").info("event")
    handler.flush()
    full.is_full = False
    logging.getLogger("fader.serve").info("event")
    handler.flush()
    assert [json.loads(line).get("count") for line in full.getvalue().splitlines()] == [3, None]

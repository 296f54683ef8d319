"""Lines of the log: one for every request and every event, as JSON for programs or as text for people.

What was searched for is in it only where that was asked for (`log_queries`). Lines are written by a thread of their
own: a stream that blocks or a disk that is full loses lines, which are counted, and holds up nobody.
"""

from __future__ import annotations

import logging
import queue
import re
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec

from fader.errors import quote
from fader.serve.middleware.trace import Trace

log = logging.getLogger("fader.access")
PATH_CHARACTERS = 200
KEPT_LINES = 10_000  # that wait to be written
FLUSH_SECONDS = 2.0
PLAIN = re.compile(r"[A-Za-z0-9_.:/{}-]+")  # needs no quotes in a line


def access_log(log_queries: bool) -> Callable[[Trace], None]:
    """An observer that writes a line for every request."""

    def write(trace: Trace) -> None:
        if log.isEnabledFor(logging.INFO):
            log.info("request", extra={"fields": fields_of(trace, log_queries)})

    return write


def fields_of(trace: Trace, log_queries: bool) -> dict[str, Any]:
    """The logged facts of a request, without its query string."""
    fields: dict[str, Any] = {
        "id": trace.id,
        "client": trace.client,
        "method": trace.method,
        "path": trace.path[:PATH_CHARACTERS],
        "route": trace.route,
        "status": trace.status,
        "ms": round(1000 * trace.seconds, 3),
        "bytes": trace.bytes,
    }
    known = {"index": trace.index, "commit": trace.commit, "key": trace.key}
    fields |= {name: value for name, value in known.items() if value not in ("", None)}
    if log_queries and trace.query is not None:
        fields["query"] = trace.query
    return fields


class JsonLines(logging.Formatter):
    """A record as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"time": _time(record), "level": record.levelname.lower(), "event": record.getMessage()}
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        # Texts of clients may hold halves of characters, which JSON cannot.
        texts = {k: v.encode("utf-8", "backslashreplace").decode() for k, v in line.items() if isinstance(v, str)}
        return msgspec.json.encode(line | texts).decode()


class TextLines(logging.Formatter):
    """A record as one line; texts of clients are quoted, so that none can look like a line of the log."""

    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{name}={_show(value)}" for name, value in getattr(record, "fields", {}).items())
        line = f"{_time(record)} {record.levelname.lower()} {record.getMessage()} {fields}".rstrip()
        if not record.exc_info:
            return line
        lines = self.formatException(record.exc_info).splitlines()
        return "\n".join([line, *(f"    {quote(each, 2_000)[1:-1]}" for each in lines)])  # none looks like a line


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _show(value: object) -> str:
    text = str(value)
    return text if PLAIN.fullmatch(text) else quote(text, 2_000)


class Background(logging.Handler):
    """Writes lines to a stream in a thread; what cannot be kept or written is lost, and a later line says how many."""

    def __init__(self, stream: TextIO, flush_seconds: float = FLUSH_SECONDS) -> None:
        super().__init__()
        self._flush_seconds = flush_seconds
        self._stream, self._lines = stream, queue.Queue[str](KEPT_LINES)
        self._lost, self._counting = 0, threading.Lock()  # not the handler's own, which `logging.shutdown` holds
        threading.Thread(target=self._write, name="fader-log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._lines.put_nowait(self.format(record))
        except queue.Full:
            self._count_lost(1)
        except Exception:
            self.handleError(record)

    def _write(self) -> None:
        while True:
            line = self._lines.get()
            with self._counting:
                lost, self._lost = self._lost, 0
            try:
                if lost:
                    self._stream.write(self.format(_tell_lost(lost)) + "\n")
                self._stream.write(line + "\n")
                self._stream.flush()
            except (OSError, ValueError):  # no room, nobody reads, or it is closed
                self._count_lost(lost + 1)
            finally:
                self._lines.task_done()

    def _count_lost(self, lines: int) -> None:
        with self._counting:
            self._lost += lines

    def flush(self) -> None:
        """Wait until all lines are written, but not for long."""
        until = time.monotonic() + self._flush_seconds
        while self._lines.unfinished_tasks and time.monotonic() < until:
            time.sleep(0.001)


def _tell_lost(count: int) -> logging.LogRecord:
    record = logging.LogRecord(log.name, logging.WARNING, __file__, 0, "lines lost", None, None)
    record.fields = {"count": count}
    return record


def configure(form: str, stream: TextIO | None = None, flush_seconds: float = FLUSH_SECONDS) -> logging.Handler:
    """Send our lines, and what the server below has to say, to standard error; returns what writes them."""
    handler = Background(stream or sys.stderr, flush_seconds)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])  # before the MCP SDK, which would use its own
    for name, level in (("fader", logging.INFO), ("uvicorn", logging.WARNING), ("mcp", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
    return handler

"""A load of HTTP requests over kept-alive connections, from a process of its own, and how long each answer took.

*Closed loop*: every client sends its next request when the last one is answered; a patient one that was refused waits
as long as it was told. *Open loop* (a rate): requests fall due at even intervals whatever the server does, and a time
runs from when a request was due, so that waiting for a free connection counts. Raw sockets and the standard library
only, so that the client is light and installs anywhere. Loopback only. Knows nothing of what is asked.
"""

from __future__ import annotations

import asyncio
import math
import pickle
import random
import subprocess
import sys
import time
from array import array
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

ROOT = Path(__file__).parent.parent
HOST = "127.0.0.1"
LOST = 0  # the status of a request whose connection was closed, or that was never answered
GRACE = 5.0  # seconds that answers may take after the last request was sent
TICK = 0.001  # seconds between two looks at what is due


@dataclass(frozen=True)
class Plan:
    """What to send: whole requests used in turn, by how many clients, until when."""

    port: int
    requests: Sequence[bytes]
    clients: int = 1
    seconds: float = 5.0
    count: int | None = None  # at most so many
    rate: float | None = None  # requests a second: an open loop
    patient: bool = True  # a client that is refused waits as long as it is told (Retry-After), up to twice as long
    ramp: float = 0.0  # seconds over which clients of a closed loop start
    source: str = HOST  # the address that connections come from


@dataclass
class Outcome:
    """Milliseconds of the answers by status, the seconds it all took, and what fell due but was never sent."""

    times: dict[int, array[float]] = field(default_factory=dict)
    seconds: float = 0.0
    unsent: int = 0

    def count(self, *statuses: int) -> int:
        """Answers of these statuses; of all without any."""
        return sum(len(times) for status, times in self.times.items() if not statuses or status in statuses)

    def percentile(self, status: int, percent: float) -> float:
        """The nearest-rank percentile of the milliseconds of a status; NaN without any."""
        times = sorted(self.times.get(status, ()))
        return times[max(0, math.ceil(percent / 100 * len(times)) - 1)] if times else math.nan

    def throughput(self, status: int) -> float:
        return self.count(status) / self.seconds


def get(path: str, port: int) -> bytes:
    """A GET request as it is sent."""
    return f"GET {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\nAccept: */*\r\n\r\n".encode()


def drive(plan: Plan) -> Outcome:
    """Carry out a plan in a new process, which imports nothing but this file."""
    command = [sys.executable, "-c", "from benchmarks import load; load.main()"]
    ended = subprocess.run(command, input=pickle.dumps(plan), stdout=subprocess.PIPE, check=True, cwd=ROOT)
    outcome: Outcome = pickle.loads(ended.stdout)
    return outcome


def main() -> None:
    """The other side of `drive`: a plan on standard input, its outcome on standard output."""
    plan: Plan = pickle.load(sys.stdin.buffer)
    pickle.dump(asyncio.run(_Load(plan).run()), sys.stdout.buffer)


class _Load:
    """The state of one load: connections that are free, requests that wait for one, times so far."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.outcome, self.address = plan, Outcome(), (plan.source, 0)
        self.requests, self.chance = cycle(plan.requests), random.Random(0)
        self.left = plan.count if plan.count is not None else -1
        self.free: deque[_Connection] = deque()
        self.due: deque[float] = deque()
        self.flying = 0
        self.end = math.inf
        self.quiet = asyncio.Event()
        self.tasks: set[asyncio.Task[None]] = set()  # a task that nobody holds may be dropped

    async def run(self) -> Outcome:
        loop = asyncio.get_running_loop()
        for _ in range(self.plan.clients):
            await loop.create_connection(lambda: _Connection(self), HOST, self.plan.port, local_addr=self.address)
        began = time.perf_counter()
        self.end = began + self.plan.seconds
        await (self.pace(began) if self.plan.rate else self.start())
        self.outcome.seconds = time.perf_counter() - began
        self.outcome.times.setdefault(LOST, array("d")).extend([math.inf] * self.flying)
        self.outcome.unsent = len(self.due)
        return self.outcome

    async def start(self) -> None:
        """Closed loop: one request of every client; each answer sends the next."""
        for n, connection in enumerate([self.free.popleft() for _ in range(len(self.free))]):
            asyncio.get_running_loop().call_later(self.plan.ramp * n / self.plan.clients, self.next, connection)
        with suppress(TimeoutError):  # an answer that never comes is counted as lost
            await asyncio.wait_for(self.quiet.wait(), self.plan.seconds + GRACE)

    async def pace(self, began: float) -> None:
        """Open loop: requests fall due at even intervals."""
        assert self.plan.rate
        sent = 0
        while (now := time.perf_counter()) < self.end and self.left:
            while sent < (now - began) * self.plan.rate and self.left:
                self.due.append(began + sent / self.plan.rate)
                sent, self.left = sent + 1, self.left - 1
            while self.due and self.free:
                self.send(self.free.popleft(), self.due.popleft())
            await asyncio.sleep(TICK)
        while self.flying and time.perf_counter() < self.end + GRACE:
            await asyncio.sleep(TICK)

    def next(self, connection: _Connection) -> None:
        """What a free connection does; one that was closed meanwhile has been replaced."""
        now = time.perf_counter()
        if connection.transport.is_closing() and now < self.end:
            return
        if self.plan.rate:
            if self.due and now < self.end:
                self.send(connection, self.due.popleft())
            else:
                self.free.append(connection)
        elif now < self.end and self.left:
            self.left -= 1
            self.send(connection, now)
        elif not self.flying:
            self.quiet.set()

    def send(self, connection: _Connection, due: float) -> None:
        self.flying += 1
        connection.send(next(self.requests), due)

    def refused(self, connection: _Connection, status: int, opened: float) -> None:
        """An answer to no request: the connection is not wanted and will be closed."""
        self.outcome.times.setdefault(status, array("d")).append(1000 * (time.perf_counter() - opened))
        if connection in self.free:
            self.free.remove(connection)

    def answered(self, connection: _Connection, status: int, due: float, pause: float = 0.0) -> None:
        self.flying -= 1
        self.outcome.times.setdefault(status, array("d")).append(1000 * (time.perf_counter() - due))
        if pause and self.plan.patient and not self.plan.rate:
            asyncio.get_running_loop().call_later(pause * (1 + self.chance.random()), self.next, connection)
        elif status != LOST:
            self.next(connection)
        elif not self.flying and time.perf_counter() >= self.end:
            self.quiet.set()

    async def again(self, pause: float) -> None:
        """A new connection for one that the server closed; a patient client waits as long as it was told."""
        if self.plan.patient:
            await asyncio.sleep(pause * (1 + self.chance.random()))
        try:
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: _Connection(self), HOST, self.plan.port, local_addr=self.address
            )
        except OSError:
            return
        if not self.plan.rate and connection in self.free:
            self.free.remove(connection)
            self.next(connection)


class _Connection(asyncio.Protocol):
    """One kept-alive connection with at most one request on its way."""

    def __init__(self, load: _Load) -> None:
        self.load, self.received, self.due, self.pause = load, bytearray(), math.nan, 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.opened = transport, time.perf_counter()
        self.load.free.append(self)

    def send(self, request: bytes, due: float) -> None:
        self.due = due
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.received += data
        answer = _complete(self.received)
        if answer is None:
            return
        self.received.clear()
        self.pause = answer[1]
        if math.isnan(self.due):  # the server refuses the connection before it is asked anything
            self.load.refused(self, answer[0], self.opened)
        else:
            due, self.due = self.due, math.nan
            self.load.answered(self, answer[0], due, answer[1])

    def connection_lost(self, _: Exception | None) -> None:
        if self in self.load.free:
            self.load.free.remove(self)
        if not math.isnan(self.due):
            self.load.answered(self, LOST, self.due)
        if time.perf_counter() < self.load.end:
            task = asyncio.ensure_future(self.load.again(self.pause))
            self.load.tasks.add(task)
            task.add_done_callback(self.load.tasks.discard)


def _complete(received: bytearray) -> tuple[int, float] | None:
    """The status and the seconds of Retry-After of a response that has arrived as a whole."""
    head = received.find(b"\r\n\r\n")
    if head < 0:
        return None
    fields = bytes(received[:head]).lower()
    length = _field(fields, b"content-length")
    if length is None:
        whole = received.endswith(b"\r\n0\r\n\r\n")  # in chunks
    else:
        whole = len(received) >= head + 4 + int(length)
    return (int(fields[9:12]), float(_field(fields, b"retry-after") or 0)) if whole else None


def _field(fields: bytes, name: bytes) -> bytes | None:
    at = fields.find(b"\r\n" + name + b":")
    return fields[at + len(name) + 3 :].split(b"\r\n", 1)[0] if at >= 0 else None

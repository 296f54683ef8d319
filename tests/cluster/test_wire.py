"""Frames: what is sent comes out; what is torn, too large or made to harm is refused; strangers get nothing."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fader.cluster.shards.requests import Question
from fader.cluster.wire import frames as wire
from fader.cluster.wire.frames import MAC, NONCE, Receiver, WireError, frame, greet, receive, send, welcome
from fader.contexts.match import MatchOptions
from fader.contexts.query import Query
from fader.errors import LimitError, UsageError

SECRET = b"0123456789abcdef"
ARRAYS = st.sampled_from([np.int32, np.int64, np.float64, np.int8, np.uint8, np.bool_]).flatmap(
    lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=9))
)
LEAVES = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text() | ARRAYS
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4))


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    one.settimeout(5)
    other.settimeout(5)
    with one, other:
        yield one, other


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return bool(isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and (
            a.tobytes() == b.tobytes()))  # fmt: skip
    if isinstance(a, list):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


@settings(deadline=None)
@given(VALUES)
def test_what_is_sent_comes_out(value: Any) -> None:
    """Bit for bit; arrays lie where processors want them, and may be written to."""
    one, other = socket.socketpair()
    with one, other:
        send(one, {"value": value})
        found = receive(other, 1 << 20)["value"]
    assert equal(value, found)
    if isinstance(found, np.ndarray):
        assert found.flags.aligned
        assert found.flags.writeable


def test_pieces(pair: tuple[socket.socket, socket.socket]) -> None:
    """A frame that comes byte by byte is whole in the end; numbers of numpy are numbers; a cut array is sent whole."""
    value = {"a": np.arange(20, dtype=np.int32)[::3], "n": np.int64(7)}
    data = b"".join(bytes(b) for b in frame(value))
    receiver = Receiver(1 << 20)
    pair[1].setblocking(False)
    for i in range(len(data)):
        assert not receiver.take(pair[1])
        pair[0].sendall(data[i : i + 1])
    assert receiver.take(pair[1])
    assert receiver.value()["a"].tolist() == [0, 3, 6, 9, 12, 15, 18]
    assert receiver.value()["n"] == 7


def test_a_large_array_crosses(pair: tuple[socket.socket, socket.socket]) -> None:
    """Larger than what the system holds for a socket."""
    value = np.arange(3_000_000, dtype=np.float64)
    sender = threading.Thread(target=send, args=(pair[0], value))
    sender.start()
    np.testing.assert_array_equal(receive(pair[1], 1 << 30), value)
    sender.join()


@pytest.mark.parametrize("keep", [0, 3, 12, 20, -1])
def test_a_torn_frame_is_an_error(pair: tuple[socket.socket, socket.socket], keep: int) -> None:
    """Wherever the connection ends."""
    data = b"".join(bytes(b) for b in frame({"a": np.arange(9, dtype=np.int64)}))
    pair[0].sendall(data[:keep])
    pair[0].close()
    with pytest.raises(WireError, match="closed the connection"):
        receive(pair[1], 1 << 20)


def test_a_flipped_bit_is_noticed() -> None:
    """Whichever bit of a frame flips, head, plain data, padding or array, the frame is refused."""
    data = b"".join(bytes(b) for b in frame({"a": np.arange(5, dtype=np.int32), "b": "text"}))
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        one, other = socket.socketpair()
        with one, other:
            one.sendall(flipped)
            one.shutdown(socket.SHUT_WR)
            with pytest.raises(WireError, match="changed on the way"):
                receive(other, 1 << 20)


def sent(
    pair: tuple[socket.socket, socket.socket], plain: bytes, arrays: bytes = b"", claimed: int | None = None
) -> Any:
    padding = bytes(-len(plain) % 8)
    size = len(arrays) if claimed is None else claimed
    lengths = struct.pack("<IQI", len(plain), size, zlib.crc32(plain + padding + arrays))
    pair[0].sendall(lengths + struct.pack("<I", zlib.crc32(lengths)) + plain + padding + arrays)
    return receive(pair[1], 1 << 20)


def array(*described: Any) -> bytes:
    return msgspec.msgpack.encode(msgspec.msgpack.Ext(1, msgspec.msgpack.encode(described)))


@pytest.mark.parametrize("hostile", [
    ("<i4", (100,), 0), ("<i4", (-1,), 0), ("<i4", (2,), -8), ("<i4", (1,), 3), ("|O", (1,), 0), ("<i4", (2**62, 4), 0),
    ("<U4", (1,), 0), ("<i4", 5, 0), ("<i4",), (1, 2, 3),
])  # fmt: skip
def test_arrays_made_to_harm(pair: tuple[socket.socket, socket.socket], hostile: tuple[Any, ...]) -> None:
    """A type, shape or place that does not fit the frame is refused, and no object is ever made."""
    with pytest.raises(WireError, match="invalid frame"):
        sent(pair, array(*hostile), bytes(64))


def test_frames_made_to_harm(pair: tuple[socket.socket, socket.socket]) -> None:
    """A size that asks for all memory, and lists in lists without end."""
    with pytest.raises(WireError, match="invalid frame"):
        sent(pair, b"\x91" * 100_000)
    with pytest.raises(WireError, match="at most 1,048,576"):
        sent(pair, b"\xc0", claimed=1 << 50)


def test_too_much_is_not_sent() -> None:
    """What the other end would refuse is refused before anything of it is sent."""
    assert frame(np.zeros(100), 1000)
    with pytest.raises(LimitError, match=r"cannot be sent between machines at once, 800 at most; ask for less"):
        frame(np.zeros(100), 800)


@settings(deadline=None, max_examples=50)
@given(st.binary(min_size=0, max_size=60))
def test_any_bytes_are_a_value_or_an_error(plain: bytes) -> None:
    """And nothing else."""
    one, other = socket.socketpair()
    with one, other, suppress(WireError):
        sent((one, other), plain, bytes(16))


def test_what_cannot_be_sent() -> None:
    """Objects, arrays of objects, texts that are none."""
    for value in (object(), np.array([object()]), np.array(["a"]), "\ud800"):
        with pytest.raises(UsageError, match="cannot be sent"):
            frame(value)


def greeted(server_secret: bytes, client_secret: bytes) -> tuple[Any, Any]:
    """What each end raises."""
    one, other = socket.socketpair()
    found: dict[str, Any] = {"server": None, "client": None}

    def run(side: str, sock: socket.socket, how: Any, secret: bytes) -> None:
        try:
            how(sock, secret)
        except WireError as error:
            found[side] = str(error)

    with one, other:
        thread = threading.Thread(target=run, args=("server", one, welcome, server_secret))
        thread.start()
        run("client", other, greet, client_secret)
        thread.join()
    return found["server"], found["client"]


def test_both_ends_must_know_the_secret() -> None:
    """Equal secrets pass; others are told apart on both sides."""
    assert greeted(SECRET, SECRET) == (None, None)
    server, client = greeted(SECRET, b"another secret!!")
    assert "does not know the secret" in server
    assert "does not accept the secret" in client
    with pytest.raises(UsageError, match="16 bytes at least"):
        wire.check_secret(b"short")


def test_a_server_that_does_not_know_the_secret_is_left(pair: tuple[socket.socket, socket.socket]) -> None:
    """It may say that all is well, but cannot prove it."""
    pair[0].sendall(wire.MAGIC + bytes([wire.VERSION]) + os.urandom(NONCE) + b"\x00" + bytes(MAC))
    with pytest.raises(WireError, match="does not belong to this cluster"):
        greet(pair[1], SECRET)


@pytest.mark.parametrize("how", [welcome, greet])
def test_who_greets_too_slowly_is_left(how: Any) -> None:
    """The time is that of the whole greeting: a byte now and then does not prolong it."""
    one, other = socket.socketpair()
    is_over = threading.Event()

    def drip() -> None:
        data = wire.MAGIC + bytes([wire.VERSION]) + bytes(NONCE) if how is greet else bytes(1 + NONCE + MAC)
        for at in range(len(data)):
            with suppress(OSError):
                other.sendall(data[at : at + 1])
            if is_over.wait(0.05):
                return

    with one, other:
        thread = threading.Thread(target=drip)
        thread.start()
        with pytest.raises(TimeoutError):
            how(one, SECRET, 0.3)
        is_over.set()
        thread.join()


@pytest.mark.parametrize(("greeting", "why"), [
    (b"HTTP/1.1 400 Bad Request\r\n" + bytes(20), "not a shard server"),
    (wire.MAGIC + b"\x63" + bytes(NONCE), "version 99"), (b"FA", "closed the connection at the greeting"),
])  # fmt: skip
def test_other_servers(pair: tuple[socket.socket, socket.socket], greeting: bytes, why: str) -> None:
    """Another program, another release, one that goes."""
    pair[0].sendall(greeting)
    pair[0].shutdown(socket.SHUT_WR)
    with pytest.raises(WireError, match=why):
        greet(pair[1], SECRET)


def test_an_answer_cannot_be_used_again() -> None:
    """The proof of one connection is of no use on another, as both ends draw a number for each."""
    first, second = os.urandom(NONCE), os.urandom(NONCE)
    proof = wire._mac(SECRET, b"client", first + second)
    assert proof != wire._mac(SECRET, b"client", second + first)
    assert proof != wire._mac(SECRET, b"server", first + second)


@pytest.mark.parametrize("window", [None, 0, 7, 2.5, 10**25, np.int32(3)])
def test_any_window_can_be_sent(window: Any) -> None:
    """One that no integer of the frame can hold is as wide as any document."""
    asked = Question.of(Query("", (), ()), MatchOptions(window=window))
    sent = msgspec.msgpack.decode(msgspec.msgpack.encode(asked), type=Question)
    assert sent.options.window == (window if window is None else min(window, 2**32))


# Threads that decode each type for the first time at once, as those of a server do.
DECODING = """
import sys, threading
from typing import get_args
import msgspec
from fader.cluster.shards.requests import AnyCall, Request

sys.setswitchinterval(1e-6)
barrier = threading.Barrier(8)

def decode():
    barrier.wait()
    for kind in (Request, *(call.reply for call in get_args(AnyCall))):
        try:
            msgspec.msgpack.decode(b"\\x80", type=kind)
        except msgspec.ValidationError:
            pass

threads = [threading.Thread(target=decode) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_threads_decode_types_at_once() -> None:
    """A library that reads a type in one thread while another uses it would end the process."""
    for _time in range(3):
        assert subprocess.run([sys.executable, "-c", DECODING], check=False).returncode == 0

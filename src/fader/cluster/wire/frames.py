"""Frames over a socket: plain data and arrays, after both ends have proved that they know the secret.

    greeting  := "FADR" version nonce                            server to client; 32 random bytes
    proof     := version nonce HMAC(secret, "client" nonces)     client to server
    welcome   := status HMAC(secret, "server" nonces)            server to client; status 0: accepted
    frame     := head, plain as MessagePack, padding, arrays, each padded to 8
    head      := plain length (4), length of all arrays (8), CRC-32 of what follows the head (4), CRC-32 of these (4)
    array     := extension 1 in the plain data: its type, shape and place among the arrays
    plain     := a record, decoded as the type that is expected

HMAC-SHA256. Of a peer that is not known, only the proof is read, which has a fixed length. No pickle: a frame has
numbers, texts and arrays, never code. A bit that flips on the way ends the connection, and the call goes to another
replica. Frames are neither encrypted nor signed without TLS (`tls.py`): use a private network. Knows nothing of shards.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import socket
import ssl
import struct
import time
import zlib
from collections.abc import Iterator
from math import prod
from typing import Any, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from fader.errors import LimitError, UsageError

VERSION = 3
MAGIC = b"FADR"
NONCE, MAC = 32, 32
GREETING_S = 5.0  # for the whole greeting
LEAST_SECRET = 16
MOST_REQUEST = 64 << 20  # bytes of the largest frame that a server accepts
MOST_ANSWER = (4 << 30) - 8  # the same for a client; the length of plain data has four bytes
_LENGTHS, _CHECK = struct.Struct("<IQI"), struct.Struct("<I")
_ALIGNED = 8
_TYPES = frozenset(("<i4", "<i8", "<f8", "|i1", "|u1", "|b1"))
_ARRAY = 1
U8 = NDArray[np.uint8]


class WireError(ConnectionError):
    """The other end breaks the protocol, or does not know the secret."""


def check_secret(secret: bytes) -> bytes:
    """Return the secret; raises where it is too short."""
    if not isinstance(secret, bytes) or len(secret) < LEAST_SECRET:
        raise UsageError(f"the secret of a cluster must be {LEAST_SECRET} bytes at least")
    return secret


def prepare(sock: socket.socket) -> None:
    """Send without delay, and notice within two minutes when the other machine has vanished."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):  # not on every system
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def welcome(sock: socket.socket, secret: bytes, seconds: float = GREETING_S) -> None:
    """The server's side of the greeting; WireError where the client does not know the secret or is too slow."""
    own, until = os.urandom(NONCE), time.monotonic() + seconds
    sock.settimeout(seconds)
    sock.sendall(MAGIC + bytes([VERSION]) + own)
    proof = _exactly(sock, 1 + NONCE + MAC, until)
    nonces = own + proof[1 : 1 + NONCE]
    if proof[0] != VERSION or not hmac.compare_digest(proof[1 + NONCE :], _mac(secret, b"client", nonces)):
        sock.sendall(b"\x01" + bytes(MAC))
        raise WireError("a client does not know the secret, or is of another release")
    sock.sendall(b"\x00" + _mac(secret, b"server", nonces))


def greet(sock: socket.socket, secret: bytes, seconds: float = GREETING_S) -> None:
    """The client's side of the greeting; WireError where the server does not know the secret or is too slow."""
    until = time.monotonic() + seconds
    greeting = _exactly(sock, len(MAGIC) + 1 + NONCE, until)
    if greeting[: len(MAGIC)] != MAGIC:
        raise WireError("is not a shard server")
    if greeting[len(MAGIC)] != VERSION:
        raise WireError(
            f"speaks version {greeting[len(MAGIC)]} of the protocol, not {VERSION}; use one release of Fader"
        )
    own = os.urandom(NONCE)
    nonces = greeting[len(MAGIC) + 1 :] + own
    sock.sendall(bytes([VERSION]) + own + _mac(secret, b"client", nonces))
    answer = _exactly(sock, 1 + MAC, until)
    if answer[0] != 0:
        raise WireError("does not accept the secret; give all processes of a cluster the same one")
    if not hmac.compare_digest(answer[1:], _mac(secret, b"server", nonces)):
        raise WireError("does not know the secret; it does not belong to this cluster")


def _mac(secret: bytes, side: bytes, nonces: bytes) -> bytes:
    return hmac.new(secret, MAGIC + bytes([VERSION]) + side + nonces, hashlib.sha256).digest()


def _exactly(sock: socket.socket, size: int, until: float) -> bytes:
    """Receive exactly `size` bytes; the time limit holds for all of them together."""
    found = b""
    while len(found) < size:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("takes too long to greet")
        sock.settimeout(left)
        some = sock.recv(size - len(found))
        if not some:
            raise WireError("closed the connection at the greeting")
        found += some
    return found


def frame(value: Any, most: int = MOST_ANSWER) -> list[Any]:
    """A value as buffers to send in order; LimitError where the other end would not accept it."""
    arrays: list[NDArray[Any]] = []
    at = 0

    def put(given: Any) -> Any:
        nonlocal at
        if isinstance(given, np.generic):
            return given.item()
        if not isinstance(given, np.ndarray) or given.dtype.str not in _TYPES:
            raise UsageError(f"cannot be sent: {type(given).__name__} {getattr(given, 'dtype', '')}".rstrip())
        described = msgspec.msgpack.encode((given.dtype.str, given.shape, at))
        arrays.append(np.ascontiguousarray(given))
        at += _pad(given.nbytes)
        return msgspec.msgpack.Ext(_ARRAY, described)

    try:
        plain = msgspec.msgpack.encode(value, enc_hook=put)
    except UnicodeEncodeError as error:
        raise UsageError(f"cannot be sent: {error}") from None
    size = _pad(len(plain)) + at
    if size > most:
        raise LimitError(f"{size:,} bytes cannot be sent between machines at once, {most:,} at most; ask for less")
    buffers: list[Any] = [plain + bytes(_pad(len(plain)) - len(plain))]
    for array in arrays:
        if array.nbytes:
            buffers += [array.reshape(-1).view(np.uint8).data, bytes(_pad(array.nbytes) - array.nbytes)]
    checksum = 0
    for buffer in buffers:
        checksum = zlib.crc32(buffer, checksum)
    lengths = _LENGTHS.pack(len(plain), at, checksum)
    return [lengths + _CHECK.pack(zlib.crc32(lengths)), *buffers]


def _pad(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def send(sock: socket.socket, value: Any, most: int = MOST_ANSWER) -> None:
    """Send a value through a blocking socket."""
    send_frame(sock, frame(value, most))


def send_frame(sock: socket.socket, buffers: list[Any]) -> None:
    """Send the buffers of `frame` through a blocking socket."""
    for some in _gather(buffers):
        sock.sendall(some)


def _gather(buffers: list[Any]) -> Iterator[Any]:
    """Join small buffers, to send few packets."""
    held: list[Any] = []
    for buffer in buffers:
        if len(buffer) < 1 << 14:
            held.append(buffer)
            continue
        if held:
            yield b"".join(held)
            held = []
        yield buffer
    if held:
        yield b"".join(held)


class Receiver:
    """Receives a frame from a socket, in parts where the socket does not block."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._head = bytearray(_LENGTHS.size + _CHECK.size)
        self._buffer = self._head_view = memoryview(self._head)
        self._got, self._plain, self._checksum = 0, -1, 0
        self._body: U8 | None = None

    def take(self, sock: socket.socket) -> bool:
        """Read what has arrived; returns whether the frame is complete. ConnectionError where the peer has closed."""
        while True:
            if self._got < len(self._buffer):
                try:
                    count = sock.recv_into(self._buffer[self._got :])
                except (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    return False
                if not count:
                    raise WireError("closed the connection")
                self._got += count
            elif self._body is None:
                self._open()
            elif zlib.crc32(self._body.data) != self._checksum:
                raise WireError("sent a frame that was changed on the way")
            else:
                return True

    def _open(self) -> None:
        if _CHECK.pack(zlib.crc32(self._head[: _LENGTHS.size])) != self._head[_LENGTHS.size :]:
            raise WireError("sent a frame that was changed on the way")
        self._plain, arrays, self._checksum = _LENGTHS.unpack_from(self._head)
        size = _pad(self._plain) + arrays
        if size > self._most:
            raise WireError(f"sent {size:,} bytes at once; at most {self._most:,}")
        self._body, self._got = np.empty(size, dtype=np.uint8), 0
        self._buffer = self._body.data

    def value(self, kind: Any = Any) -> Any:
        """The value that was sent, of a type; its arrays are writable views of the frame."""
        body, start = self._body, _pad(self._plain)
        assert body is not None

        def array(code: int, data: memoryview) -> Any:
            if code != _ARRAY:
                raise WireError("sent an extension that is not an array")
            return _array(body[start:], bytes(data))

        try:
            return msgspec.msgpack.decode(body.data[: self._plain], type=kind, ext_hook=array, dec_hook=_check_array)
        except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
            raise WireError(f"sent an invalid frame ({error})") from None


def _array(data: U8, described: bytes) -> NDArray[Any]:
    kind, shape, at = msgspec.msgpack.decode(described, type=tuple[str, tuple[int, ...], int])
    if kind not in _TYPES or any(n < 0 for n in shape) or at < 0 or at % _ALIGNED:
        raise ValueError("an array of another type or shape")
    size = prod(shape) * np.dtype(kind).itemsize
    if at + size > data.size:
        raise ValueError("an array beyond the frame")
    return data[at : at + size].view(kind).reshape(shape)


def _check_array(kind: Any, value: Any) -> Any:
    """Check an array against its annotation, such as NDArray[np.int32]."""
    wanted = np.dtype(get_args(get_args(kind)[1])[0])
    if not isinstance(value, np.ndarray) or value.dtype != wanted:
        raise ValueError(f"not an array of {wanted}")
    return value


def receive(sock: socket.socket, most: int, kind: Any = Any) -> Any:
    """Receive the next value, of a type, from a blocking socket."""
    receiver = Receiver(most)
    receiver.take(sock)
    return receiver.value(kind)

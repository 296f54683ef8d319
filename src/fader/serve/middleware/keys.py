"""Who may ask, and how often.

A file of keys has a line for each: `name key [rate] [rights]`, or `name sha256:HEX [rate] [rights]` where the file is
not to hold the key itself; rights are `judge` and `train`, and `#` begins a comment. A client shows its key as
`Authorization: Bearer KEY` or `X-Api-Key: KEY`. Only hashes are kept, and the hash of what is shown is compared with
every one of them, in constant time. Each key has a bucket of tokens that fills at its rate and holds twice as many as
it gets in a second; a request takes one. Without keys each address has a bucket. A file that every user of the machine
can read or write is warned of in the log. Knows nothing of what is asked.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import math
import os
import stat
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from fader.errors import InputError, StorageError
from fader.serve.errors import Refusal
from fader.serve.middleware.trace import refuse, trace_of

log = logging.getLogger("fader.serve")
HASHED = "sha256:"
GUARDED = ("/v1/", "/mcp", "/metrics")  # the page, its files, the description and healthz are for everyone
METERED = ("/v1/", "/mcp")
MOST_BUCKETS = 10_000
GUESSES = 10.0  # requests per second of an address without a key that is known
SHORTEST_KEY = 8
RIGHTS = frozenset({"judge", "train"})  # beside asking, which every key may


@dataclass(frozen=True, slots=True)
class Key:
    """A key: whose it is, its hash, and its own rate where it has one."""

    name: str
    digest: bytes
    rate: float | None = None
    rights: frozenset[str] = frozenset()


def read_keys(path: Path) -> list[Key]:
    """The keys of a file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    keys: list[Key] = []
    for number, line in enumerate(lines, 1):
        words, place = line.split(), f"{path}:{number}"
        words = words[: next((i for i, word in enumerate(words) if word.startswith("#")), len(words))]
        if not words:
            continue
        rights = frozenset(words[2:]) & RIGHTS
        words = [word for i, word in enumerate(words) if i < 2 or word not in RIGHTS]
        if len(words) not in (2, 3):
            raise InputError(f"{place}: is not of the form: name key [requests per second] [judge] [train]")
        rate = _parse_rate(place, words[2]) if len(words) == 3 else None
        keys.append(Key(words[0], _parse_digest(place, words[1]), rate, rights))
    if not keys:
        raise InputError(f"{path}: has no key; write lines such as: name key [requests per second]")
    for i, key in enumerate(keys):
        if key.name in {other.name for other in keys[:i]}:
            raise InputError(f"{path}: has two keys of the name {key.name}; names tell keys apart in logs")
    return keys


def warn_if_open(path: Path) -> None:
    """Write to the log that others than the file's owner and group may read or change it; where files have modes."""
    mode = path.stat().st_mode
    if os.name == "posix" and mode & (stat.S_IROTH | stat.S_IWOTH):
        fields = {"file": str(path), "mode": stat.filemode(mode), "remedy": "chmod 600"}
        log.warning("key file open to all users", extra={"fields": fields})


def _parse_digest(place: str, text: str) -> bytes:
    if text.startswith(HASHED):
        try:
            digest = bytes.fromhex(text.removeprefix(HASHED))
        except ValueError:
            digest = b""
        if len(digest) != 32:
            raise InputError(f"{place}: {HASHED} must be followed by 64 hexadecimal digits")
        return digest
    if len(text) < SHORTEST_KEY:
        raise InputError(f"{place}: a key has {SHORTEST_KEY} characters at least; make one with: openssl rand -hex 20")
    return hashlib.sha256(text.encode()).digest()


def _parse_rate(place: str, text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = -1.0
    if not 0 <= rate < math.inf:
        raise InputError(f"{place}: the rate must be a number of requests per second, 0 for no limit, not {text}")
    return rate


class Bucket:
    """Tokens that come at a rate, up to two seconds' worth and one at least; full at first."""

    __slots__ = ("most", "rate", "tokens", "when")

    def __init__(self, rate: float, now: float) -> None:
        self.rate, self.most = rate, max(1.0, 2 * rate)
        self.tokens, self.when = self.most, now

    def take(self, now: float) -> float:
        """Take a token: 0.0, or the seconds until there is one."""
        self.tokens = min(self.most, self.tokens + (now - self.when) * self.rate)
        self.when = now
        if self.tokens >= 1:
            self.tokens -= 1
            return 0.0
        return (1 - self.tokens) / self.rate


class Keys:
    """Refuses requests without a key, and those beyond its rate."""

    def __init__(
        self, app: ASGIApp, path: Path | None, rate: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._app, self._path, self._rate, self._clock = app, path, rate, clock
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()
        self.reload()

    def reload(self) -> None:
        """Read the file again."""
        self._keys = read_keys(self._path) if self._path else []
        if self._path:
            warn_if_open(self._path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is not None:
            await refuse(refusal, send)
            return
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Refusal | None:
        path = scope["path"]
        key = None
        if self._keys and path.startswith(GUARDED):
            key = self.find_key(key_in_headers(scope))
            if key is None:
                # An address that shows many wrong keys must wait: nobody is to try them all.
                return self._meter(f"guesses {trace_of(scope).client}", GUESSES) or refuse_without_key()
            trace_of(scope).key, trace_of(scope).rights = key.name, key.rights
        rate = self._rate if key is None or key.rate is None else key.rate
        if not rate or not path.startswith(METERED):
            return None
        return self._meter(f"key {key.name}" if key else f"address {trace_of(scope).client}", rate)

    def find_key(self, text: str | None) -> Key | None:
        """The key that was shown; every one is compared, so that the time tells nothing."""
        digest = hashlib.sha256((text or "").encode("utf-8", "surrogateescape")).digest()
        found = None
        for key in self._keys:
            if hmac.compare_digest(key.digest, digest):
                found = key
        return found

    def _meter(self, who: str, rate: float) -> Refusal | None:
        """Take a token of a client; the refusal where there is none."""
        bucket = self._buckets.get(who)
        if bucket is None or bucket.rate != rate:
            bucket = self._buckets[who] = Bucket(rate, self._clock())
            if len(self._buckets) > MOST_BUCKETS:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(who)
        seconds = bucket.take(self._clock())
        return refuse_rate(rate, math.ceil(seconds)) if seconds else None


def key_in_headers(scope: Scope) -> str | None:
    """The key that a request shows."""
    for name, value in scope["headers"]:
        if name == b"x-api-key":
            return bytes(value).decode("latin-1").strip()
        if name == b"authorization":
            scheme, _, text = bytes(value).decode("latin-1").partition(" ")
            if scheme.lower() == "bearer":
                return text.strip()
    return None


def refuse_without_key() -> Refusal:
    """No key, or one that is not known."""
    return Refusal(
        401,
        "unauthorized",
        "this server answers only with a key that it knows",
        "send the header: Authorization: Bearer KEY",
        {"WWW-Authenticate": 'Bearer realm="fader"'},
    )


def refuse_rate(rate: float, seconds: int) -> Refusal:
    """More requests than the rate allows."""
    return Refusal(
        429,
        "rate_limited",
        f"more than {rate:g} requests per second",
        f"try again in {seconds} s",
        {"Retry-After": str(seconds)},
    )

"""Keys and rates: who may ask, how often, and what is said to others."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from unittest import mock

import pytest

from fader.errors import InputError, StorageError
from fader.serve.middleware import keys
from fader.serve.middleware.keys import MOST_BUCKETS, Bucket, Keys, read_keys
from serve.layers import ask, echo

ADA, BEN = "a-key-of-ada", "bens-own-key"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "keys.txt"
    digest = hashlib.sha256(BEN.encode()).hexdigest()
    path.write_text(f"# who may ask\nada {ADA}\n\nben sha256:{digest} 2   # two a second\n")
    return path


class Time:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("header", [
    (b"authorization", f"Bearer {ADA}".encode()), (b"authorization", f"bearer  {ADA} ".encode()),
    (b"x-api-key", ADA.encode()), (b"x-api-key", BEN.encode()),
])  # fmt: skip
def test_a_known_key_is_taken(file: Path, header: tuple[bytes, bytes]) -> None:
    """As a bearer token or in X-Api-Key; written plainly in the file or as its hash."""
    assert ask(Keys(echo, file, 0), headers=[header]).status == 200


@pytest.mark.parametrize("header", [
    (b"authorization", b"Bearer nobodys-key"), (b"authorization", b"Bearer "), (b"authorization", b"Basic YTpi"),
    (b"x-api-key", b""), (b"x-api-key", b"\xff\xfe"), (b"cookie", ADA.encode()), (b"authorization", ADA.encode()),
])  # fmt: skip
@pytest.mark.parametrize("path", ["/v1/search", "/v1/nothing", "/mcp", "/metrics"])
def test_without_a_known_key_nothing_is_told(file: Path, header: tuple[bytes, bytes], path: str) -> None:
    """401 with the way to do it; not even whether the path is there."""
    reply = ask(Keys(echo, file, 0), path, [header])
    assert (reply.status, reply.error["code"]) == (401, "unauthorized")
    assert reply.headers["www-authenticate"] == 'Bearer realm="fader"'


@pytest.mark.parametrize("path", ["/", "/static/js/main.js", "/healthz", "/openapi.json", "/compare"])
def test_the_page_asks_for_the_key_itself(file: Path, path: str) -> None:
    """The page, its files, the description and health are for everyone."""
    assert ask(Keys(echo, file, 0), path).status == 200


def test_every_key_is_compared_in_constant_time(file: Path) -> None:
    """Hashes are compared, by hmac.compare_digest, and all of them even where the first fits."""
    layer = Keys(echo, file, 0)
    with mock.patch.object(keys.hmac, "compare_digest", wraps=hmac.compare_digest) as compared:
        for shown in (ADA, BEN, "another", None):
            layer.find_key(shown)
    assert compared.call_count == 4 * 2
    assert all(len(digest) == 32 for call in compared.call_args_list for digest in call.args)
    assert ADA.encode() not in b"".join(key.digest for key in layer._keys)


def test_a_key_has_its_rate(file: Path) -> None:
    """Twice as many as a second allows, then as many as time brings; 429 says when."""
    time = Time()
    layer = Keys(echo, file, 0, time)
    header = [(b"x-api-key", BEN.encode())]
    assert [ask(layer, headers=header).status for _ in range(5)] == [200] * 4 + [429]
    reply = ask(layer, headers=header)
    assert (reply.error["code"], reply.headers["retry-after"]) == ("rate_limited", "1")
    time.now += 1
    assert [ask(layer, headers=header).status for _ in range(3)] == [200, 200, 429]


def test_keys_do_not_share_a_rate(file: Path) -> None:
    """Ada, without a rate of her own, has that of the server."""
    layer = Keys(echo, file, 1, Time())
    by_ben, by_ada = [(b"x-api-key", BEN.encode())], [(b"x-api-key", ADA.encode())]
    assert [ask(layer, headers=by_ben).status for _ in range(5)] == [200] * 4 + [429]
    assert [ask(layer, headers=by_ada).status for _ in range(3)] == [200] * 2 + [429]


def test_without_keys_an_address_has_the_rate() -> None:
    """And what is not asked of the engine is not counted."""
    layer = Keys(echo, None, 0.1, Time())
    assert [ask(layer).status for _ in range(2)] == [200, 429]
    assert ask(layer).headers["retry-after"] == "10"
    assert ask(layer, "/healthz").status == 200
    assert ask(layer, "/static/js/main.js").status == 200


def test_buckets_are_bounded() -> None:
    """However many addresses ask, so many are remembered."""
    layer = Keys(echo, None, 1, Time())
    for i in range(MOST_BUCKETS + 100):
        layer._meter(f"address {i}", 1)
    assert len(layer._buckets) == MOST_BUCKETS


@pytest.mark.parametrize("rate", [0.001, 0.5, 1, 7, 1000])
def test_a_bucket_never_gives_more_than_its_rate(rate: float) -> None:
    """Over any time: what it held at first and what has come since; and after the wait that it names, one more."""
    now = 0.0
    bucket, given = Bucket(rate, now), 0
    for step in range(1000):
        wait = bucket.take(now)
        given += not wait
        assert given <= bucket.most + rate * now + 1e-6
        now += wait if step % 2 else 0.0003
    assert bucket.take(now + bucket.most / rate) == 0.0


@pytest.mark.parametrize(("text", "said"), [
    ("", "has no key"), ("# nothing\n", "has no key"), ("ada\n", "not of the form"), ("ada short\n", "8 characters"),
    ("ada a-key-of-ada fast\n", "requests per second"), ("ada a-key-of-ada -1\n", "requests per second"),
    ("ada sha256:12\n", "64 hexadecimal"), ("ada sha256:" + "g" * 64, "64 hexadecimal"),
    ("ada a-key-of-ada 1 2\n", "not of the form"), ("ada a-key-of-ada\nada another-key\n", "two keys"),
])  # fmt: skip
def test_a_file_that_cannot_be_used_is_refused_by_line(tmp_path: Path, text: str, said: str) -> None:
    """With what it should be, and never with the key in it."""
    path = tmp_path / "keys.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=said) as refused:
        read_keys(path)
    assert "a-key-of-ada" not in str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be read"):
        read_keys(tmp_path / "keys.txt")


@pytest.mark.parametrize(("mode", "warned"), [(0o600, 0), (0o640, 0), (0o644, 1), (0o602, 1)])
def test_a_file_that_is_open_to_all_is_warned_of(
    file: Path, mode: int, warned: int, caplog: pytest.LogCaptureFixture
) -> None:
    """At the start and whenever it is read again, with the remedy and no key."""
    file.chmod(mode)
    layer = Keys(echo, file, 0)
    assert len(caplog.records) == warned
    layer.reload()
    assert len(caplog.records) == 2 * warned
    for record in caplog.records:
        assert record.levelname == "WARNING"
        assert record.__dict__["fields"]["remedy"] == "chmod 600"
        assert ADA not in str(record.__dict__)


def test_an_address_that_guesses_keys_must_wait(file: Path) -> None:
    """Twenty at once, then ten a second; who has a key is not held up by it."""
    time = Time()
    layer = Keys(echo, file, 0, time)
    wrong = [(b"x-api-key", b"not-a-key-at-all")]
    assert [ask(layer, headers=wrong).status for _ in range(21)] == [401] * 20 + [429]
    assert ask(layer, headers=[(b"x-api-key", ADA.encode())]).status == 200
    time.now += 0.1
    assert [ask(layer, headers=wrong).status for _ in range(2)] == [401, 429]

"""Headers of every answer, and other origins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from fader.serve.middleware.headers import POLICY, SECURITY
from fader.serve.settings import Settings
from serve.live import build, running

ORIGIN = "https://pages.example"
REQUESTS = [
    ("GET", "/", 200), ("GET", "/static/js/main.js", 200), ("GET", "/static/nothing.js", 404), ("GET", "/healthz", 200),
    ("GET", "/metrics", 200), ("GET", "/openapi.json", 200), ("GET", "/v1/search?q=violin", 200),
    ("GET", "/v1/search?q=violin&format=csv", 200), ("GET", "/v1/search", 400), ("GET", "/v1/entity/E9", 404),
    ("GET", "/v1/reports", 200), ("GET", "/nothing", 404), ("DELETE", "/v1/search", 405), ("OPTIONS", "/", 405),
    ("POST", "/v1/search", 415), ("HEAD", "/", 200), ("GET", "/mcp", 405), ("POST", "/mcp", 400),
    ("GET", "/v1/reports/../../etc/passwd", 404),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("headers") / "index")


@pytest.fixture(scope="module")
def http(folder: Path) -> Iterator[httpx.Client]:
    settings = Settings(indexes={"small": folder}, time_ms=30_000)
    with running(settings) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


@pytest.mark.parametrize(("method", "path", "status"), REQUESTS)
def test_every_answer_has_them(http: httpx.Client, method: str, path: str, status: int) -> None:
    """Each once, also on errors and files; a number for each request; no word about the server."""
    reply = http.request(method, path)
    if path != "/mcp":
        assert reply.status_code == status
    for name, value in SECURITY.items():
        assert reply.headers.get_list(name) == [value], name
    assert reply.headers["fader-request-id"]
    assert "server" not in reply.headers
    assert not [name for name in reply.headers if name.startswith("access-control")]


def test_bodies_and_hosts_that_are_refused_have_them_too(http: httpx.Client) -> None:
    large = http.post("/v1/search", content=b"x" * 70_000, headers={"Content-Type": "application/json"})
    foreign = http.get("/", headers={"Host": "evil.example"})
    assert (large.status_code, foreign.status_code) == (413, 400)
    for reply in (large, foreign):
        assert all(reply.headers[name] == value for name, value in SECURITY.items())


def test_the_policy_allows_nothing_from_elsewhere() -> None:
    """No inline script or style, no other host, no frame, no markup from text."""
    assert "unsafe" not in POLICY
    assert "http" not in POLICY
    parts = POLICY.split("; ")
    assert {"default-src 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} <= set(parts)


def test_without_cors_no_other_origin_is_told_anything(http: httpx.Client) -> None:
    reply = http.get("/v1/search", params={"q": "violin"}, headers={"Origin": ORIGIN})
    assert not [name for name in reply.headers if name.startswith("access-control")]


def test_with_cors_the_origin_that_was_named_is(folder: Path, tmp_path: Path) -> None:
    """And no other; what it asks beforehand needs no key; errors can be read too."""
    (tmp_path / "keys").write_text("ada a-key-of-ada\n")
    settings = Settings(indexes={"small": folder}, cors=(ORIGIN,), keys=tmp_path / "keys", time_ms=30_000)
    with running(settings) as url, httpx.Client(base_url=url, timeout=60) as http:
        asks = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
        asks["Access-Control-Request-Headers"] = "authorization, content-type"
        before = http.options("/v1/search", headers=asks)
        assert (before.status_code, before.headers["access-control-allow-origin"]) == (200, ORIGIN)
        assert "access-control-allow-credentials" not in before.headers
        for key, status in (("a-key-of-ada", 200), ("another-key", 401)):
            headers = {"Origin": ORIGIN, "X-Api-Key": key}
            reply = http.get("/v1/search", params={"q": "violin"}, headers=headers)
            assert (reply.status_code, reply.headers["access-control-allow-origin"]) == (status, ORIGIN)
            assert "Fader-Commit" in reply.headers["access-control-expose-headers"]
        other = http.get("/v1/stats", headers={"Origin": "https://evil.example", "X-Api-Key": "a-key-of-ada"})
        assert "access-control-allow-origin" not in other.headers

"""Requests that mean harm: all are answered with a 4xx of the one form, and none reaches a file."""

from __future__ import annotations

import builtins
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI, Request, Response
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fader.search.answer import Answer
from fader.serve.api.answers import encode
from fader.serve.api.parameters import SearchParameters
from fader.serve.errors import Refusal
from fader.serve.routes.declare import add_route, create_router
from fader.serve.routes.failures import add_error_handlers
from fader.serve.routes.pages import read
from fader.serve.service import Service
from fader.serve.settings import Settings
from serve.layers import Reply, ask
from serve.live import build, running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("hostile") / "index")


@pytest.fixture(scope="module")
def http(folder: Path) -> Iterator[httpx.Client]:
    with running(Settings(indexes={"small": folder}, time_ms=30_000)) as url:  # noqa: SIM117 - the url is needed
        with httpx.Client(base_url=url, timeout=60) as client:
            yield client


HARM = [
    "\0", "a\0b", "\x1b[31m", "\u202e", "\ufffe", "\U0010ffff", "<script>alert(1)</script>", "' OR 1=1 --", "${jndi:x}",
    "../" * 20 + "etc/passwd", "%00", "a" * 1900, "🙂" * 500, "\r\nSet-Cookie: a=b", '"' * 3, "+" * 200, "-" * 50,
]  # fmt: skip


@pytest.mark.parametrize("text", HARM)
@pytest.mark.parametrize("where", ["q", "type", "model", "index"])
def test_any_text_in_any_parameter(http: httpx.Client, text: str, where: str) -> None:
    """An answer or a 4xx, and never a header of the client's making."""
    reply = http.get("/v1/search", params={"q": "violin", where: text})
    assert reply.status_code in (200, 400, 404), reply.text
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize("text", HARM)
def test_any_text_in_a_path(http: httpx.Client, text: str) -> None:
    for path in ("/v1/entity/", "/static/", "/v1/reports/", "/"):
        reply = http.get(path + quote(text, safe=""))
        assert reply.status_code in (404, 400), (path, reply.status_code)


@pytest.mark.parametrize("raw", [
    b"q=%ff", b"q=%C3", b"q=\xff", b"q=%ED%A0%80", b"%ff=a", b"q", b"&&&", b"=", b"q=a&" * 100, b"q=%zz", b"q=a;k=5",
])  # fmt: skip
def test_query_strings_that_are_none(raw: bytes) -> None:
    """Not UTF-8, halves of characters, no names, too many: refused or taken for what they say."""
    _taken_or_refused(ask(PARAMETERS, "/v1/search", query_string=raw))


async def _say_what_was_asked(request: Request, asked: SearchParameters) -> Response:
    """What is asked, as JSON."""
    return Response(encode(asked))


def _parameters_alone() -> FastAPI:
    app = FastAPI()
    routes = create_router("search")
    for method in ("GET", "POST"):
        add_route(routes, Settings(indexes={}), method, "/v1/search", _say_what_was_asked, "Ask", Answer)
    app.include_router(routes)
    add_error_handlers(app, 1_000)
    return app


PARAMETERS = _parameters_alone()  # the route of search with a handler that searches nothing


def _taken_or_refused(reply: Reply) -> dict[str, Any] | None:
    """What is asked; None where it is refused as 400."""
    if reply.status == 200:
        return dict(json.loads(reply.body))
    assert reply.status == 400
    assert reply.error["message"]
    return None


@pytest.mark.parametrize("where", ["q", "type", "model", "index", "k", "nothing"])
def test_long_parameters_are_refused(http: httpx.Client, where: str) -> None:
    """By the limit of the parameter; what is too long for a request's head is refused on the wire."""
    reply = http.get("/v1/search", params={"q": "violin", where: "9" * 60_000})
    assert reply.status_code in (400, 404)
    assert len(reply.content) < 1000


@pytest.mark.parametrize("name", [
    "../settings.py", "../../../../etc/passwd", "js/../../settings.py", "/etc/passwd", "js", "", ".", "..", "js/",
    "js//main.js", "js/main.js/", "js\\main.js", "js/main.js\0", ".hidden", "js/.hidden.js", "index.html~", "main.py",
    "./index.html", "x" * 300 + ".js", "js/main.js%00.css", "con.js/../../run.py",
])  # fmt: skip
def test_no_name_leads_out_of_the_folder(http: httpx.Client, name: str) -> None:
    """By whatever it is written."""
    with pytest.raises(Refusal) as refused:
        read(name)
    assert refused.value.status == 404
    assert http.get("/static/" + quote(name, safe="").replace(".", "%2e")).status_code == 404


@pytest.mark.parametrize("text", [
    "/etc/passwd", "../../etc/passwd", "model.json", "./model.json", "C:\\model.json", "file:///etc/passwd", "~/x.json",
    "count/../model.json", "model.json(x=1)", "/dev/zero", "fader/models/default.json", "\0model.json",
])  # fmt: skip
def test_a_model_that_looks_like_a_path_opens_no_file(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Even where such a file is there: nothing is opened, nothing is looked for."""
    (tmp_path / "model.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    service = Service(Settings(indexes={"small": folder}))
    service.index().ranker("count")  # what is imported once is imported now

    def refuse(*given: Any, **_: Any) -> Any:
        raise AssertionError(f"opened {given}")

    with (
        mock.patch.object(builtins, "open", refuse), mock.patch.object(os, "open", refuse),
        mock.patch.object(os, "stat", refuse), mock.patch.object(Path, "is_file", refuse),
        mock.patch.object(Path, "read_text", refuse), pytest.raises(Refusal) as refused,
    ):  # fmt: skip
        service.index().ranker(text)
    assert refused.value.status in (400, 404)
    service.close()


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_any_bytes_as_a_body_are_a_request_or_refused(body: bytes) -> None:
    """Nothing else is raised."""
    headers = [(b"content-type", b"application/json")]
    asked = _taken_or_refused(ask(PARAMETERS, "/v1/search", headers, [body], "POST"))
    assert asked is None or asked["q"]


@given(st.dictionaries(st.sampled_from(["q", "k", "type", "explain", "x"]), st.text(max_size=30)))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_texts_as_parameters_are_a_request_or_refused(given: dict[str, str]) -> None:
    """The same, and what is refused can be sent as JSON."""
    raw = "&".join(f"{k}={quote(v.encode('utf-8', 'surrogatepass'), safe='')}" for k, v in given.items())
    asked = _taken_or_refused(ask(PARAMETERS, "/v1/search", query_string=raw.encode()))
    assert asked is None or asked["q"] == given["q"]

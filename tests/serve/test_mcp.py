"""The MCP endpoint, asked by the SDK's own client over a real server."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult

from fader.serve.mcp.texts import line
from fader.serve.settings import Settings
from serve.live import build, running

KEY = "k-3f9a2c71d5e84b06a1c2d3e4f5a6b7c8"
SEARCH = {"query": "played +violin", "type": "scientist"}
NAMES = {"ask", "search", "entity", "explain", "document", "suggest_types"}
MODES = ["auto", "legacy"]  # the protocol since 2026-07-28, and the handshake before it


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("mcp") / "index")


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    with running(Settings(indexes={"small": folder, "again": folder}, time_ms=10_000)) as address:
        yield address


@asynccontextmanager
async def client(url: str, mode: str = "auto", headers: dict[str, str] | None = None) -> AsyncIterator[Client]:
    """A client that is connected inside."""
    async with (
        httpx2.AsyncClient(headers=headers or {}, timeout=30) as sender,
        Client(streamable_http_client(f"{url}/mcp", http_client=sender), mode=mode) as asking,
    ):
        yield asking


def ask(url: str, tool: str, arguments: dict[str, Any], mode: str = "auto", **headers: str) -> CallToolResult:
    """What a tool answers."""

    async def call() -> CallToolResult:
        async with client(url, mode, headers) as asking:
            return await asking.call_tool(tool, arguments)

    return asyncio.run(call())


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert content.type == "text"
    return content.text


def fetch(url: str, path: str, **asked: Any) -> dict[str, Any]:
    """What HTTP answers."""
    with urllib.request.urlopen(f"{url}{path}?{urlencode(asked)}") as answer:
        return dict(json.load(answer))


def post(url: str, body: bytes, **headers: str) -> int:
    """The status of a bare POST."""
    request = urllib.request.Request(f"{url}/mcp", body, {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.read()
        return error.code


def untimed(value: Any) -> Any:
    """Without the milliseconds, which no two calls share."""
    if isinstance(value, dict):
        return {key: untimed(each) for key, each in value.items() if key != "took_ms"}
    return [untimed(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("mode", MODES)
def test_tools_are_listed(url: str, mode: str) -> None:
    """All tools, each with a description, described arguments, a schema of its answer, and as one that only reads."""

    async def listed() -> Any:
        async with client(url, mode) as asking:
            assert asking.server_info.name == "fader"
            assert "suggest_types" in (asking.instructions or "")
            return (await asking.list_tools()).tools

    tools = asyncio.run(listed())
    assert {tool.name for tool in tools} == NAMES
    for tool in tools:
        assert tool.description
        assert tool.annotations.read_only_hint
        assert tool.output_schema["type"] == "object"
        assert all(each["description"] for each in tool.input_schema["properties"].values())


SAME = [
    ("search", SEARCH, "/v1/search", {"q": "played +violin", "type": "scientist"}),
    ("search", {"query": "physics", "k": 2, "snippets": 3, "model": "count", "index": "again"},
     "/v1/search", {"q": "physics", "k": 2, "snippets": 3, "model": "count", "index": "again"}),
    ("search", {"query": "nowheretobefound"}, "/v1/search", {"q": "nowheretobefound"}),
    ("ask", {"question": "Which scientist played the violin?"},
     "/v1/ask", {"q": "Which scientist played the violin?"}),
    ("ask", {"question": "Who played?", "type": "painter", "query": "+violin", "k": 1, "model": "count"},
     "/v1/ask", {"q": "Who played?", "type": "painter", "query": "+violin", "k": 1, "model": "count"}),
    ("entity", {"id": "E/1"}, "/v1/entity/E/1", {}),
    ("entity", {"id": "E2", "query": "violin", "offset": 1, "limit": 2},
     "/v1/entity/E2", {"q": "violin", "offset": 1, "limit": 2}),
    ("explain", {"query": "+violin light", "entity": "E/1"}, "/v1/explain", {"q": "+violin light", "entity": "E/1"}),
    ("search", {"query": "violin", "passage": "sentence"}, "/v1/search", {"q": "violin", "passage": "sentence"}),
    ("document", {"id": "d1", "query": "violin"}, "/v1/document/d1", {"q": "violin"}),
    ("suggest_types", {"text": "pict"}, "/v1/suggest", {"kind": "type", "prefix": "pict"}),
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("tool", "arguments", "path", "asked"), SAME)
def test_a_tool_gives_what_http_gives(
    url: str, tool: str, arguments: dict[str, Any], path: str, asked: dict[str, Any], mode: str
) -> None:
    """Structured content is the JSON of the HTTP route; the client has checked it against the declared schema."""
    result = ask(url, tool, arguments, mode)
    assert not result.is_error
    assert untimed(result.structured_content) == untimed(fetch(url, path, **asked))


def test_texts_are_short_and_hold_the_answer(url: str) -> None:
    """What a model reads: names and ids in order, evidence with its mention in brackets and its source, a line each."""
    text = text_of(ask(url, "search", SEARCH))
    assert len(text.splitlines()) == 5
    assert "1. " in text
    assert "(id E/1)" in text
    assert "[Ada Quist] played the violin" in text
    assert "(Page " in text
    assert "Painter of pictures (id painter), entities: 2" in text_of(ask(url, "suggest_types", {"text": "painter"}))
    assert "Thing > Person > Scientist" in text_of(ask(url, "entity", {"id": "E/1"}))
    assert "rank 1 of " in text_of(
        ask(url, "explain", {"query": "played +violin", "entity": "E/1", "type": "scientist", "model": "paper"})
    )


def test_texts_of_documents_stay_on_their_line() -> None:
    """No line break, control character or change of direction comes from a document into the text."""
    assert line("a\u202eb\r\nc\x00\x1bd\u2066 e\u2029f") == "a b c d e f"


def test_texts_that_name_no_type_say_so(url: str) -> None:
    """An empty list of types is told in words."""
    assert "no type" in text_of(ask(url, "suggest_types", {"text": "zzzz"}))


ERRORS = [
    ("search", {"query": '"unbalanced'}, "bad_query", "quote"),
    ("search", {"query": "violin", "type": "scientits"}, "bad_query", "did you mean"),
    ("search", {"query": "violin", "k": 0}, "bad_request", "1 at least"),
    ("search", {"query": "violin", "k": 100_001}, "bad_request", "1,000"),
    ("search", {"query": "violin", "kk": 3}, "bad_request", "kk"),
    ("search", {}, "bad_request", "query"),
    ("search", {"query": ["violin"]}, "bad_request", "str"),
    ("search", {"query": "violin", "model": "/etc/passwd"}, "not_found", "model"),
    ("search", {"query": "violin", "index": "other"}, "not_found", "index"),
    ("entity", {"id": "E9"}, "not_found", "E9"),
    ("explain", {"query": "violin", "entity": "E9"}, "not_found", "E9"),
    ("suggest_types", {"text": "a", "limit": 0}, "bad_request", "1 at least"),
]


@pytest.mark.parametrize(("tool", "arguments", "code", "part"), ERRORS)
def test_a_fault_is_a_tools_error(url: str, tool: str, arguments: dict[str, Any], code: str, part: str) -> None:
    """What the assistant can mend comes back as a tool's error, with the code of HTTP, and in words with the remedy."""
    result = ask(url, tool, arguments)
    assert result.is_error
    error = result.structured_content["error"]
    assert error["code"] == code
    assert part in text_of(result)
    assert error["message"] in text_of(result)


def test_arguments_are_taken_as_assistants_write_them(url: str) -> None:
    """Numbers in quotes are numbers; null is what was left out."""
    result = ask(url, "search", {"query": "physics", "k": "2", "type": None, "snippets": None})
    assert len(result.structured_content["results"]) == 2


def test_an_unknown_tool_is_a_protocol_error(url: str) -> None:
    """There is nothing that could fail but the call itself."""

    async def call() -> None:
        async with client(url) as asking:
            with pytest.raises(MCPError, match="there is no tool"):
                await asking.call_tool("delete_everything", {})

    asyncio.run(call())


def test_many_at_once(url: str) -> None:
    """Twenty calls on one connection and twenty on their own all get their own answers."""

    async def all_of_them() -> list[CallToolResult]:
        async with client(url) as asking:
            shared = [asking.call_tool("search", {"query": "physics", "k": 1 + n % 4}) for n in range(20)]
            alone = [asyncio.to_thread(ask, url, "search", {"query": "physics", "k": 1 + n % 4}) for n in range(20)]
            return await asyncio.gather(*shared, *alone)

    results = asyncio.run(all_of_them())
    assert [len(r.structured_content["results"]) for r in results] == [1 + n % 4 for n in range(20)] * 2


def test_overload_is_a_tools_error(folder: Path) -> None:
    """With one thread and one place to wait, of many calls some are told to come back later, and none is lost."""
    with running(Settings(indexes={"small": folder}, workers=1, queue=1, time_ms=10_000)) as address:

        async def many() -> list[CallToolResult]:
            async with client(address) as asking:
                return await asyncio.gather(*(asking.call_tool("search", SEARCH) for _ in range(40)))

        results = asyncio.run(many())
    codes = {r.structured_content["error"]["code"] for r in results if r.is_error}
    assert codes <= {"overloaded"}
    assert any(not r.is_error for r in results)


def test_a_key_is_asked_for(folder: Path, tmp_path: Path) -> None:
    """Where the service has keys, a call without one or with another one is refused before it reaches a tool."""
    (tmp_path / "keys.txt").write_text(f"assistant {KEY}\n")
    with running(Settings(indexes={"small": folder}, keys=tmp_path / "keys.txt")) as address:
        assert not ask(address, "search", SEARCH, Authorization=f"Bearer {KEY}").is_error
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
        accept = {"Accept": "application/json, text/event-stream"}
        assert post(address, body, **accept) == 401
        assert post(address, body, **accept, Authorization="Bearer wrong") == 401
        assert post(address, body, **accept, Authorization=f"Bearer {KEY}") == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "evil.example"}, 400),
        ({"Origin": "https://evil.example"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ],
)
def test_pages_of_other_sites_are_kept_out(url: str, headers: dict[str, str], status: int) -> None:
    """A foreign host or origin, or a body that a page can send without being asked for leave, is refused."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    assert post(url, body, Accept="application/json, text/event-stream", **headers) == status


def test_bodies_are_bounded(url: str) -> None:
    """The limit of the service holds here too."""
    assert post(url, b" " * 70_000, Accept="application/json") == 413


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"7", b"\xff\xfe", b'{"jsonrpc": "2.0"}', b'{"jsonrpc": "2.0", "id": {}, "method": 3}',
     b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []}',
     b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": "x"}}',
     b'{"jsonrpc": "2.0", "id": 1, "method": "no/such"}', b"[" * 60_000],
)  # fmt: skip
def test_bodies_that_are_no_calls_are_refused(url: str, body: bytes) -> None:
    """Whatever is sent, it is no fault of the server."""
    for version in ({}, {"Mcp-Protocol-Version": "2026-07-28"}, {"Mcp-Protocol-Version": "1066-10-14"}):
        assert post(url, body, Accept="application/json, text/event-stream", **version) < 500


def test_there_are_no_streams(url: str) -> None:
    """GET would open a stream and hold it: it is not allowed."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(f"{url}/mcp", headers={"Accept": "text/event-stream"}))
    assert refused.value.code == 405
    refused.value.close()


def test_answers_have_the_security_headers(url: str) -> None:
    """As those of every route."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    sent = urllib.request.Request(
        f"{url}/mcp", body, {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    )
    with urllib.request.urlopen(sent) as answer:
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]

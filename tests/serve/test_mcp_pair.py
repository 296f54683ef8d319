"""The pair search and fetch over HTTP, and all tools over standard input and output, asked by the SDK's own client."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from cli.running import passed
from fader.serve.settings import Settings
from serve.live import build, running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("pair") / "index")


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    with running(Settings(indexes={"small": folder}, time_ms=60_000)) as address:
        yield address


def ask(url: str, tool: str, arguments: dict[str, Any]) -> CallToolResult:
    async def call() -> CallToolResult:
        async with (
            httpx2.AsyncClient(timeout=60) as sender,
            Client(streamable_http_client(f"{url}/mcp/pair", http_client=sender)) as asking,
        ):
            listed = await asking.list_tools()
            assert [each.name for each in listed.tools] == ["search", "fetch"]
            return await asking.call_tool(tool, arguments)

    return asyncio.run(call())


@pytest.mark.parametrize("query", ["played +violin", "Which scientist played the violin?"])
def test_search_gives_ids_that_fetch_takes(url: str, query: str) -> None:
    """A passage per entity; the document has the passage in its text, and says for whom it was found."""
    found = ask(url, "search", {"query": query}).structured_content
    assert found is not None
    first = found["results"][0]
    assert set(first) == {"id", "title", "url", "text"}
    fetched = ask(url, "fetch", {"id": first["id"]}).structured_content
    assert fetched is not None
    assert set(fetched) == {"id", "title", "text", "url", "metadata"}
    assert fetched["id"] == first["id"]
    assert first["text"].strip("… ")[:20] in fetched["text"]
    assert first["title"].startswith(fetched["metadata"]["name"])


@pytest.mark.parametrize("wrong", ["", "x", "none/none", "%00/%00"])
def test_an_id_of_no_passage_is_an_error(url: str, wrong: str) -> None:
    """Of the tool, with a hint."""
    result = ask(url, "fetch", {"id": wrong})
    assert result.is_error
    assert result.structured_content is not None
    assert result.structured_content["error"]["message"]


@pytest.mark.parametrize("tools", ["fader", "pair"])
def test_standard_input_and_output_serve_the_same_tools(folder: Path, tools: str) -> None:
    """A client starts the command, lists the tools, calls one, and ends it by closing its input."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "fader", "mcp", str(folder), "--tools", tools, "--timeout-ms", "60000"],
        env=dict(os.environ),
    )

    async def call() -> tuple[list[str], CallToolResult, CallToolResult]:
        async with Client(stdio_client(command)) as asking:
            names = [each.name for each in (await asking.list_tools()).tools]
            good = await asking.call_tool("search", {"query": "played +violin"})
            return names, good, await asking.call_tool("search", {"query": '"'})

    names, good, bad = asyncio.run(call())
    assert ("fetch" in names, "explain" in names) == (tools == "pair", tools == "fader")
    assert good.structured_content is not None
    assert good.structured_content["results"]
    assert bad.is_error


def test_schemas_are_printed_as_json(folder: Path) -> None:
    """Of parameters and answers, each an object."""
    for tools in ("fader", "pair"):
        described = passed("mcp", folder, "--tools", tools, "--schemas").json
        assert all(each["parameters"]["type"] == "object" for each in described)
        assert all(each["answer"]["type"] == "object" for each in described)
    assert [each["name"] for each in described] == ["search", "fetch"]

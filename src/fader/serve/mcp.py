"""The tools of a service over the Model Context Protocol, by its official Python SDK: POST /mcp, streamable HTTP.

No sessions: a request has all that its answer needs, so that any client may ask at any time and nothing is kept. An
answer is one JSON message, never a stream; GET and DELETE, which sessions and streams need, are not allowed. A failure
is a tool's error with the code, message and hint that HTTP would give. In front of it stand the service's own checks of
host, key, rate and size; behind it its lanes.

The SDK takes a second to import. It is imported at the first request, so that a server that nobody asks by MCP starts
without it. Knows nothing of what the tools do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import msgspec
from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from fader.errors import quoted
from fader.serve.errors import Refusal, internal, refusal_of
from fader.serve.middleware.trace import Trace, refuse, trace_of
from fader.serve.parameters import Asked, checked
from fader.serve.service import Service
from fader.serve.settings import Settings
from fader.serve.tools import INSTRUCTIONS, TOOLS, Caller, Tool

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.types import CallToolResult

PATH = "/mcp"
REFS = "#/components/schemas/"
log = logging.getLogger("fader.serve")


def mount(app: FastAPI, service: Service) -> None:
    """Serve the tools at /mcp, for as long as the app lives."""
    endpoint = Endpoint(app, service)
    app.router.routes.append(Route(PATH, endpoint, methods=["POST"], include_in_schema=False))
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(running: FastAPI) -> AsyncIterator[Any]:
        async with inner(running) as state:
            try:
                yield state
            finally:
                await endpoint.close()

    app.router.lifespan_context = lifespan


class Endpoint:
    """The ASGI application of one path; the SDK's manager lives in a task from the first request on."""

    def __init__(self, app: FastAPI, service: Service) -> None:
        self.app, self.service = app, service
        self._task: asyncio.Task[None] | None = None
        self._manager: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._over = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if refusal := foreign(Headers(scope=scope), self.service.settings.cors):
            await refuse(refusal, send)
            return
        if self._manager is None:
            self._manager = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._live(self._manager))
        manager = await asyncio.shield(self._manager)
        await manager.handle_request(scope, receive, send)

    async def _live(self, ready: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        """What the manager starts must be started and ended in one task, which no request is."""
        try:
            await asyncio.to_thread(_import)
            manager = manager_of(self.app, self.service)
            async with manager.run():
                ready.set_result(manager)
                await self._over.wait()
        except Exception as error:
            if not ready.done():
                ready.set_exception(error)
                self._manager = None  # the next request tries again
            raise

    async def close(self) -> None:
        """End the task; a later request would start another."""
        self._over.set()
        if self._task is not None:
            await self._task
        self._task, self._manager, self._over = None, None, asyncio.Event()


def foreign(headers: Headers, allowed: Sequence[str]) -> Refusal | None:
    """The refusal of a request that a page of another site has made; the host it names was checked before."""
    origin = headers.get("origin")
    if origin is None or "*" in allowed or origin in allowed or origin.partition("://")[2] == headers.get("host"):
        return None
    return Refusal(
        403, "forbidden", f"pages of {quoted(origin)} may not use this endpoint",
        "call it without a browser, or let the server's keeper allow the origin by --cors",
    )  # fmt: skip


def _import() -> None:
    import mcp.server.lowlevel
    import mcp.server.streamable_http_manager  # noqa: F401


def manager_of(app: FastAPI, service: Service) -> StreamableHTTPSessionManager:
    """The SDK's handler of requests. Hosts are checked in front of all routes, not here again."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    return StreamableHTTPSessionManager(
        server_of(app, service), json_response=True, stateless=True, max_request_body_size=service.settings.body_bytes
    )


def server_of(app: FastAPI, service: Service) -> Server[Any]:
    """The SDK's server with the tools of a service."""
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError
    from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, CallToolRequestParams, ListToolsResult, PaginatedRequestParams

    tools = {tool.name: tool for tool in TOOLS}
    listed = ListToolsResult(tools=[declared(tool, app.openapi()) for tool in TOOLS])

    async def on_list(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        return listed

    async def on_call(context: ServerRequestContext[Any], asked: CallToolRequestParams) -> CallToolResult:
        if asked.name not in tools:
            raise MCPError(INVALID_PARAMS, f"there is no tool {asked.name!r}; there are {', '.join(tools)}")
        if context.request is None:
            raise MCPError(INTERNAL_ERROR, "a tool is called by a request")
        return await called(service, tools[asked.name], asked.arguments or {}, trace_of(context.request.scope))

    return Server(
        "fader", version=version("fader"), title="Fader entity search", instructions=INSTRUCTIONS,
        on_list_tools=on_list, on_call_tool=on_call,
    )  # fmt: skip


async def called(service: Service, tool: Tool, arguments: dict[str, Any], trace: Trace) -> CallToolResult:
    """A tool's answer: the JSON that HTTP gives, and a short text; or its error."""
    from mcp.types import CallToolResult, TextContent

    try:
        body = await tool.call(Caller(service, trace), converted(tool, arguments, service.settings))
    except Exception as error:
        refusal = refusal_of(error)
        if refusal is None:
            log.exception("tool failed", extra={"fields": {"id": trace.id, "tool": tool.name}})
            refusal = internal(trace.id)
        text = refusal.message + (f"; {refusal.hint}" if refusal.hint else "")
        return CallToolResult(
            content=[TextContent(text=text)], structured_content=msgspec.json.decode(refusal.body()), is_error=True
        )
    value = msgspec.json.decode(body)
    return CallToolResult(content=[TextContent(text=tool.text(value))], structured_content=value)


def converted(tool: Tool, arguments: dict[str, Any], settings: Settings) -> Asked:
    """The arguments, checked. Assistants write numbers as texts too, and null for what they leave out."""
    given = {name: value for name, value in arguments.items() if value is not None}
    with suppress(msgspec.ValidationError):
        given = msgspec.structs.asdict(msgspec.convert(given, tool.arguments, strict=False))
    return checked(tool.arguments, given, settings)


def declared(tool: Tool, openapi: dict[str, Any]) -> Any:
    """A tool as clients see it; all only read."""
    from mcp.types import Tool as Declared
    from mcp.types import ToolAnnotations

    return Declared(
        name=tool.name, title=tool.title, description=tool.description, input_schema=input_schema(tool),
        output_schema=output_schema(tool, openapi),
        annotations=ToolAnnotations(
            title=tool.title, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )  # fmt: skip


def input_schema(tool: Tool) -> dict[str, Any]:
    """The schema of the arguments, without a reference at its root."""
    (schema,), definitions = msgspec.json.schema_components([tool.arguments], ref_template="#/$defs/{name}")
    root = dict(definitions[schema["$ref"].rpartition("/")[2]])
    return {key: value for key, value in root.items() if key not in ("title", "description")}


def output_schema(tool: Tool, openapi: dict[str, Any]) -> dict[str, Any] | None:
    """The schema of the answer of the tool's route, as OpenAPI has it."""
    path: dict[str, Any] = openapi["paths"].get(tool.route, {})
    content = path.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    if not schema.get("$ref", "").startswith(REFS):
        return None
    components = openapi["components"]["schemas"]
    root = schema["$ref"].removeprefix(REFS)
    needed = _reached(root, components)
    definitions = {name: _local(components[name]) for name in sorted(needed)}
    return {**definitions.get(root, _local(components[root])), "$defs": definitions}


def _reached(root: str, components: dict[str, Any]) -> set[str]:
    """The names of all schemas that a schema needs."""
    found, todo = set(), [root]
    while todo:
        for name in _references(components[todo.pop()]):
            if name not in found:
                found.add(name)
                todo.append(name)
    return found


def _references(node: Any) -> list[str]:
    if isinstance(node, dict):
        own = [node["$ref"].removeprefix(REFS)] if isinstance(node.get("$ref"), str) else []
        return own + [name for value in node.values() for name in _references(value)]
    return [name for value in node for name in _references(value)] if isinstance(node, list) else []


def _local(node: Any) -> Any:
    """The schema with references into itself."""
    if isinstance(node, dict):
        return {
            key: f"#/$defs/{value.removeprefix(REFS)}" if key == "$ref" else _local(value)
            for key, value in node.items() if key not in ("example", "examples")
        }  # fmt: skip
    return [_local(value) for value in node] if isinstance(node, list) else node

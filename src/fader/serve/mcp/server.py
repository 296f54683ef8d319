"""The tools of a service as a server of the SDK. Imported at the first request: the SDK takes a second to import."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

import msgspec
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolResult, TextContent, ToolAnnotations
from pydantic import TypeAdapter, ValidationError, model_validator

from fader.serve.api.parameters import build_model, explain_invalid, names_checker
from fader.serve.errors import internal, refusal_of
from fader.serve.gate import Clock
from fader.serve.mcp.endpoint import TOOLSETS
from fader.serve.mcp.tools import INSTRUCTIONS, TOOLS, ServiceTool
from fader.serve.middleware.trace import Trace, trace_of
from fader.serve.service import Service
from fader.serve.settings import Settings

log = logging.getLogger("fader.serve")


class Arguments(ArgModelBase):
    """All arguments as they came. They are checked in the tool, so that an error has the code and hint of HTTP."""

    given: dict[str, Any]

    @model_validator(mode="before")
    @classmethod
    def take(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"given": arguments}


def create_server(
    service: Service, tools: Sequence[ServiceTool[Any]] = TOOLS, instructions: str = INSTRUCTIONS
) -> MCPServer:
    """The SDK's server; its HTTP side keeps no sessions and answers each request with one JSON message."""
    server = MCPServer(
        "fader",
        title="Fader entity search",
        instructions=instructions,
        version=version("fader"),
        tools=[declare(tool, service) for tool in tools],
        subscriptions=False,
        middleware=[partial(refuse_unknown_tools, tuple(tool.name for tool in tools))],
        log_level="WARNING",
    )
    server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=service.settings.body_bytes,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # `middleware.hosts` does
    )
    return server


async def refuse_unknown_tools(
    names: tuple[str, ...], ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    """A call of a tool that does not exist is an error of the protocol, as the specification has it."""
    if ctx.method == "tools/call":
        name = (ctx.params or {}).get("name")
        if isinstance(name, str) and name not in names:
            raise MCPError(INVALID_PARAMS, f"there is no tool {name!r}; there are {', '.join(names)}")
    return await call_next(ctx)


def declare(tool: ServiceTool[Any], service: Service) -> Tool:
    """A tool as the SDK lists and calls it; all only read."""
    model = build_model(tool.parameters, service.settings)

    async def call(given: dict[str, Any], context: Context[Any, Any]) -> CallToolResult:
        request = context.request_context.request
        trace = trace_of(request.scope) if request is not None else Trace("stdio", "CALL", tool.name, "stdio")
        return await call_tool(service, tool, lambda: read_arguments(tool, model, given), trace)

    return Tool(
        fn=call,
        name=tool.name,
        title=tool.title,
        description=tool.description,
        parameters=model.model_json_schema(),
        fn_metadata=FuncMetadata(arg_model=Arguments, output_schema=TypeAdapter(tool.answer).json_schema()),
        is_async=True,
        context_kwarg="context",
        annotations=ToolAnnotations(
            title=tool.title, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


def describe_tools(settings: Settings, toolset: str) -> list[dict[str, Any]]:
    """Name, description and JSON schemas of each tool, for platforms that take them without the protocol."""
    tools, _instructions = TOOLSETS[toolset]()
    return [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "parameters": build_model(tool.parameters, settings).model_json_schema(),
            "answer": TypeAdapter(tool.answer).json_schema(),
        }
        for tool in tools
    ]


def read_arguments(tool: ServiceTool[Any], model: Any, given: dict[str, Any]) -> Any:
    """The parameters of a call. Assistants write numbers as texts too, and null for what they leave out."""
    names_checker(tool.parameters)(given)
    try:
        arguments = {name: value for name, value in given.items() if value is not None}
        return tool.parameters(**model.model_validate(arguments, strict=False).__dict__)
    except ValidationError as error:
        first = error.errors()[0]
        raise explain_invalid(first, first["loc"]) from None


async def call_tool(service: Service, tool: ServiceTool[Any], read: Callable[[], Any], trace: Trace) -> CallToolResult:
    """A tool's answer: the JSON that HTTP gives, and a short text; or its error."""
    try:
        asked = read()
        served = service.index(asked.index)
        trace.index, trace.commit = served.name, served.index.commit
        trace.query = getattr(asked, "query", None)
        clock = Clock(trace.arrived, service.settings.time_ms)
        said = await service.run(tool.lane(asked), tool.work, served, asked, clock=clock, client=trace.asker)
    except Exception as error:
        refusal = refusal_of(error)
        if refusal is None:
            log.exception("tool failed", extra={"fields": {"id": trace.id, "tool": tool.name}})
            refusal = internal(trace.id)
        text = refusal.message + (f"; {refusal.hint}" if refusal.hint else "")
        return CallToolResult(
            content=[TextContent(text=text)], structured_content=msgspec.json.decode(refusal.body()), is_error=True
        )
    return CallToolResult(content=[TextContent(text=said.text)], structured_content=msgspec.json.decode(said.json))

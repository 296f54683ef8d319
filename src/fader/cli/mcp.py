"""`fader mcp`: the tools of a service for an assistant that starts it itself, over standard input and output."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from typing import Any

import click

from fader.cli.common import Output, declare, plugin_option, speaks, takes
from fader.cli.serve import PublishOptions, collect_settings, name_paths
from fader.errors import UsageError
from fader.options import option, options
from fader.serve.backing import Folders
from fader.serve.settings import Settings


@options
class McpOptions:
    """Which tools, and whether they are only described."""

    tools: str = option("fader", help="Fader's own tools, or the pair search and fetch.", choices=("fader", "pair"))
    schemas: bool = option(False, help="Print the tools with their JSON schemas, and end.")


@click.command("mcp", epilog="Example: fader mcp index/ --tools pair")
@click.argument("folders", metavar="[NAME=]DIR...", nargs=-1, required=True)
@takes(McpOptions)
@takes(PublishOptions, "models", "verify", into="published")
@declare(Settings, "time_ms", "workers", "log")
@plugin_option
@speaks(json=False)
def command(
    folders: tuple[str, ...], options: McpOptions, published: PublishOptions, out: Output, **given: Any
) -> None:
    """Serve the tools of indexes to one assistant by the Model Context Protocol, over standard input and output.

    `fader serve` has the same tools at /mcp, and the pair search and fetch at /mcp/pair.
    """
    if not importlib.util.find_spec("mcp"):
        raise UsageError("the Model Context Protocol needs more packages; pip install 'fader[serve]'")
    settings = collect_settings(name_paths(folders, "index"), published, given)
    settings = replace(settings, backing=Folders(published.verify))
    from fader.serve.mcp.stdio import run_stdio  # needs the extra, which was looked for just now

    if options.schemas:
        from fader.serve.mcp.server import describe_tools

        print(json.dumps(describe_tools(settings, options.tools), indent=1))
        return
    run_stdio(settings, options.tools)

"""The tools over standard input and output, for assistants that start the server themselves.

One client, no HTTP, no keys. Standard output belongs to the protocol: the log goes to standard error. Ends when the
input does. Knows nothing of what the tools do.
"""

from __future__ import annotations

import asyncio

from fader.serve import logs
from fader.serve.mcp.endpoint import TOOLSETS
from fader.serve.mcp.server import create_server
from fader.serve.service import Service
from fader.serve.settings import Settings


def run_stdio(settings: Settings, toolset: str) -> None:
    """Serve one client until it closes the input."""
    logs.configure(settings.log)
    service = Service(settings)
    try:
        service.warm()
        service.preparing = False
        asyncio.run(create_server(service, *TOOLSETS[toolset]()).run_stdio_async())
    finally:
        service.close()

"""Only requests that name this server are answered, so that a page of another site cannot reach it by a name of its own
that it points at this machine (DNS rebinding).

Taken are loopback's names, the name that the server was told to listen on, and those allowed. An address is no name
and cannot be pointed elsewhere, so every address is taken. Knows nothing of what is asked.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from starlette.types import ASGIApp, Receive, Scope, Send

from fader.errors import quoted
from fader.serve.errors import BadRequest
from fader.serve.middleware.trace import refuse

ANY = "*"
REMEDY = "ask for it by the name it is served under; its keeper allows a name with --allow-host NAME"


class Hosts:
    """Refuses requests to other names."""

    def __init__(self, app: ASGIApp, host: str, allowed: Iterable[str]) -> None:
        self._app = app
        self._names = {"localhost", host.lower(), *(name.lower().rstrip(".") for name in allowed)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self.takes(_hosts(scope)):
            given = ", ".join(_hosts(scope))
            message = f"this server is not {quoted(given)}" if given else "the request names no host"
            await refuse(BadRequest(message, REMEDY, field="Host"), send)
            return
        await self._app(scope, receive, send)

    def takes(self, hosts: list[str]) -> bool:
        """Whether a request's Host headers, of which there must be one, name this server."""
        if ANY in self._names:
            return True
        if len(hosts) != 1:
            return False
        name = _name(hosts[0])
        return name in self._names or name.endswith(".localhost") or _is_address(name)


def _hosts(scope: Scope) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]


def _name(host: str) -> str:
    """The name of `name:port` and `[address]:port`."""
    if host.startswith("["):
        name, _, rest = host[1:].partition("]")
        bracketed = ":" in name and "%" not in name and (not rest or (rest[0] == ":" and rest[1:].isdecimal()))
        return name if bracketed else ""
    return host.rpartition(":")[0].lower().rstrip(".") if ":" in host else host.lower().rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True

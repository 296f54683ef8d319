"""Only requests that name this server are answered, so that a page of another site cannot reach it by a name of its own
that it points at this machine (DNS rebinding).

Starlette's TrustedHostMiddleware compares names: those of loopback, the one that the server listens on, those allowed.
An address is no name and cannot be pointed elsewhere, so every address is taken. Knows nothing of what is asked.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fader.errors import UsageError, quote
from fader.serve.errors import BadRequest
from fader.serve.middleware.trace import refuse

KEPT_HOSTS = 256  # whose form is known
REMEDY = "ask for it by the name it is served under; its administrator allows a name with --allow-host NAME"


class Hosts:
    """Refuses requests to other names."""

    def __init__(self, app: ASGIApp, host: str, allowed: Iterable[str]) -> None:
        self._app = app
        names = {"localhost", "*.localhost", host.lower(), *(name.lower().rstrip(".") for name in allowed)}
        for name in names:
            if "*" in name[1:] or (name.startswith("*") and name[1:2] not in ("", ".")):
                raise UsageError(f"{quote(name)} is not a host; give a name, *.name for all below it, or * for any")
        self._any = "*" in names
        self._names = sorted(names | {f"{name}." for name in names if name != "*"})  # a name may end with a dot

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._any:
            await self._app(scope, receive, send)
            return
        hosts = Headers(scope=scope).getlist("host")

        async def refuse_in_our_form(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = ", ".join(hosts)
                text = f"this server is not {quote(given)}" if given else "the request names no host"
                await refuse(BadRequest(text, REMEDY, field="Host"), send)

        async def answer(scope: Scope, receive: Receive, _refuse: Send) -> None:
            await self._app(scope, receive, send)

        if len(hosts) == 1 and _is_address(hosts[0]):
            await answer(scope, receive, send)
        elif len(hosts) != 1:
            await refuse_in_our_form({"type": "http.response.start"})
        else:  # what Starlette sends itself is a refusal; what the app sends goes to the client
            await TrustedHostMiddleware(answer, self._names, False)(scope, receive, refuse_in_our_form)


@lru_cache(KEPT_HOSTS)
def _is_address(host: str) -> bool:
    """Whether a host, its port aside, is an address: `192.168.1.7:80`, `[::1]`."""
    name, _, _port = host.rpartition(":") if host.rpartition(":")[2].isdecimal() else (host, "", "")
    bracketed = name.startswith("[") and name.endswith("]")
    try:
        return ipaddress.ip_address(name[1:-1] if bracketed else name).version == (6 if bracketed else 4)
    except ValueError:
        return False

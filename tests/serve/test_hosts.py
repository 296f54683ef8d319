"""Hosts: only by its own names."""

from __future__ import annotations

import pytest

from fader.serve.middleware.hosts import Hosts
from serve.layers import ask, echo


@pytest.mark.parametrize("host", [
    "localhost", "LOCALHOST:8080", "localhost.", "127.0.0.1:80", "[::1]:8080", "[::1]", "192.168.1.7:8080",
    "fader.example", "Fader.Example:443", "demo.localhost:8080", "search.lan",
])  # fmt: skip
def test_own_names_and_addresses_are_taken(host: str) -> None:
    """Loopback's names, the one it listens on, those allowed; an address cannot be pointed elsewhere."""
    layer = Hosts(echo, "search.lan", ["Fader.Example"])
    assert ask(layer, headers=[(b"host", host.encode())]).status == 200


@pytest.mark.parametrize("hosts", [
    ["evil.example"], ["evil.example:8080"], ["localhost.evil.example"], ["127.0.0.1.evil.example"], [""], [],
    ["localhost", "evil.example"], ["evil.example/localhost"], ["localhost@evil.example"], ["0x7f000001"],
])  # fmt: skip
def test_other_names_are_refused(hosts: list[str]) -> None:
    """Also on loopback: a name that an attacker points there is refused on every path."""
    layer = Hosts(echo, "127.0.0.1", [])
    reply = ask(layer, "/", headers=[(b"host", host.encode()) for host in hosts])
    assert (reply.status, reply.error["code"], reply.error["field"]) == (400, "bad_request", "Host")


def test_a_star_allows_all() -> None:
    assert ask(Hosts(echo, "127.0.0.1", ["*"]), headers=[(b"host", b"evil.example")]).status == 200

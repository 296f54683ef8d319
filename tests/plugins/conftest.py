"""Plug-ins must not outlive the test that loads them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from fader import registry


@pytest.fixture(autouse=True)
def apart(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A registry of this test's own."""
    monkeypatch.delenv(registry.VARIABLE, raising=False)
    monkeypatch.setattr(registry, "_state", registry._State())
    yield
    for name in [name for name in sys.modules if name.startswith(registry.PREFIX)]:
        del sys.modules[name]

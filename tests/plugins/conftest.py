"""Plug-ins must not outlive the test that loads them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from fader import registry


@pytest.fixture(autouse=True)
def apart() -> Iterator[None]:
    """A registry of this test's own; ends after `monkeypatch`, which may bring the variable back."""
    kept, registry._state = registry._state, registry._State()
    os.environ.pop(registry.VARIABLE, None)
    yield
    registry._state = kept
    os.environ.pop(registry.VARIABLE, None)
    for name in [name for name in sys.modules if name.startswith(registry.PREFIX)]:
        del sys.modules[name]

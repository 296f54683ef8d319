"""A service lists the systems of plug-ins and ranks by them."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from fader.registry import VARIABLE
from serve.live import build
from serve.processes import serving

PARTS = Path(__file__).parent / "my_parts.py"


@pytest.mark.parametrize("way", ["option", "variable"])
def test_a_service_knows_the_systems_of_a_plugin(way: str, tmp_path: Path) -> None:
    """It lists them with their parameters, and they rank; without the plug-in they are not known."""
    folder = build(tmp_path / "index")
    given = ("--plugin", PARTS) if way == "option" else ()
    with serving("serve", folder, *given, env={VARIABLE: str(PARTS)} if way == "variable" else {}) as url:
        systems = {one["name"]: one for one in httpx.get(f"{url}/v1/systems", timeout=60).json()["systems"]}
        assert [p["name"] for p in systems["crowd"]["parameters"]] == ["policy"]
        found = httpx.get(f"{url}/v1/search", params={"q": "violin", "model": "crowd"}, timeout=60)
        assert found.status_code == 200
        assert found.json()["results"]
    if way == "option":
        with serving("serve", folder) as url:
            names = [one["name"] for one in httpx.get(f"{url}/v1/systems", timeout=60).json()["systems"]]
            assert "crowd" not in names

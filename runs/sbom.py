"""Print what is installed beside Fader as a bill of materials: CycloneDX 1.5, JSON.

    python runs/sbom.py > sbom.json

Lists the distributions of the environment that runs it, with versions, licences and what each needs. Reads installed
metadata alone; the same environment gives the same bytes.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import Distribution, distributions
from typing import Any


def describe(found: Distribution) -> dict[str, Any]:
    """A distribution as a component."""
    name, meta = normalise(found.name), found.metadata
    component: dict[str, Any] = {"type": "library", "bom-ref": name, "name": found.name, "version": found.version}
    component["purl"] = f"pkg:pypi/{name}@{found.version}"
    licence = meta.get("License-Expression") or (meta.get("License") or "").strip().split("\n")[0]
    if licence:
        component["licenses"] = [{"license": {"name": licence}}]
    return component


def normalise(name: str) -> str:
    """A name as registries compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def build_sbom(installed: list[Distribution]) -> dict[str, Any]:
    """The bill of some distributions, sorted by name."""
    by_name = {normalise(each.name): each for each in installed}
    needs = {
        name: {normalise(re.split(r"[^A-Za-z0-9._-]", need, maxsplit=1)[0]) for need in each.requires or ()}
        for name, each in by_name.items()
    }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "components": [describe(by_name[name]) for name in sorted(by_name)],
        "dependencies": [{"ref": name, "dependsOn": sorted(needs[name] & by_name.keys())} for name in sorted(by_name)],
    }


if __name__ == "__main__":
    print(json.dumps(build_sbom(list(distributions())), indent=1))

"""The lock and the bill of materials: whole, with hashes, and without the address of a package index."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


def read_lock() -> dict[str, list[str]]:
    """The locked versions of each package, by its normalised name."""
    found: dict[str, list[str]] = {}
    entries = re.split(r"\n(?=[A-Za-z0-9])", (ROOT / "requirements.lock").read_text())
    for entry in entries:
        head, *hashes = entry.replace("\\\n", "").split("--hash=")
        match = re.match(r"([A-Za-z0-9._-]+)==([^ ;]+)", head)
        assert match, head
        assert hashes, f"{head} has no hash"
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each.strip()) for each in hashes), head
        found.setdefault(re.sub(r"[-_.]+", "-", match[1]).lower(), []).append(match[2])
    return found


def test_the_lock_has_every_package_that_is_declared() -> None:
    """At a version that pyproject.toml allows, with hashes, and with no address."""
    locked = read_lock()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = [Requirement(text) for text in (*project["dependencies"], *project["optional-dependencies"]["test"])]
    for each in declared:
        name = re.sub(r"[-_.]+", "-", each.name).lower()
        if name != "fader":
            assert name in locked, f"{each.name} is not in requirements.lock; run runs/lock.sh"
            assert any(each.specifier.contains(v) for v in locked[name]), f"{each}: locked at {locked[name]}"
    assert "://" not in (ROOT / "requirements.lock").read_text()


def test_the_bill_of_materials_is_cyclonedx_of_what_is_installed() -> None:
    """Every component has a version, dependencies name components alone, and numpy is among what fader needs."""
    said = subprocess.run([sys.executable, ROOT / "runs/sbom.py"], capture_output=True, check=True).stdout
    bill = json.loads(said)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    components = {each["bom-ref"]: each for each in bill["components"]}
    assert components["numpy"]["version"] == version("numpy")
    needs = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}
    assert needs.keys() == components.keys()
    assert all(need in components for some in needs.values() for need in some)
    assert "numpy" in needs["fader"]

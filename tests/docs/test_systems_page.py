"""The table of docs/systems.md is that of the code: every system, its parameters, what is tried, its citation."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest

from docs.markdown import ROOT
from fader.learn.learner import Learner
from fader.registry import discover
from fader.systems.base import parse_system

PACKAGE = "fader.systems"
EVERYWHERE = {"cv", "label"}  # what every system may be given in a comparison
_PARAMETER = re.compile(r"`(\w+)=([^`]*)`(?: \(([^)]*)\))?")


def rows() -> dict[str, list[str]]:
    """The cells of each row, by the system's name."""
    lines = (ROOT / "docs" / "systems.md").read_text("utf-8").splitlines()
    found = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("| `")]
    return {cells[0].strip().strip("`"): [cell.strip() for cell in cells[1:]] for cells in found}


def settable(part: Any) -> list[str]:
    """Its parameters, but for what it learns."""
    return [f.name for f in dataclasses.fields(part) if f.name not in {*EVERYWHERE, *part.learned}]


def test_every_system_has_its_row() -> None:
    """And every row its system."""
    assert set(rows()) == set(discover(PACKAGE))


@pytest.mark.parametrize("part", discover(PACKAGE).values(), ids=lambda part: part.name)
def test_a_row_says_what_the_code_says(part: Any) -> None:
    """All parameters in their order, defaults that parse back to the default, the values tried, the citation."""
    formula, parameters, source = rows()[part.name]
    assert formula
    shown = _PARAMETER.findall(parameters)
    assert [name for name, _default, _tried in shown] == settable(part)
    for name, default, tried in shown:
        assert parse_system(f"{part.name}({name}={default})") == part()
        assert tried == ", ".join(part.tries.get(name, ()))
    assert source == (part.citation or source)


def test_the_page_says_which_systems_need_the_table() -> None:
    """Every system is in the list, and those that rank without training are where they belong."""
    text = (ROOT / "docs" / "systems.md").read_text("utf-8").split("## Ranked in one pass")[1].split("\n## ")[0]
    listed = {name: line.split("|")[1].strip() for line in text.splitlines() for name in re.findall(r"`(\w+)`", line)}
    parts = discover(PACKAGE)
    assert set(parts) <= set(listed)
    for name, part in parts.items():
        if not issubclass(part, Learner) and listed[name] != "as the system inside":
            assert (parse_system(name).prepare_fused() is not None) == (listed[name] == "in one pass"), name

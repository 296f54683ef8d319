"""`fader systems`: what can rank, and how it is set."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest

from cli.running import passed, refused
from fader.learn.learner import Learner
from fader.registry import discover
from fader.search.system_info import format_value
from fader.systems.base import parse_system


def test_every_system_is_listed() -> None:
    """By name, a line each with what it does; below it the citation, parameters and values that are tried."""
    lines = passed("systems").out.splitlines()
    heads = [line for line in lines if not line.startswith(" ")]
    assert [head.split("  ")[0] for head in heads] == list(discover("fader.systems"))
    assert all(len(head.split("  ", 1)[1]) > 10 for head in heads)
    assert "    Macdonald & Ounis, Voting for candidates, CIKM 2006" in lines
    assert "    cutoff=1000   tried: 100, 300, 1000, 0" in lines
    assert "    technique=expcombmnz" in lines


def test_defaults_are_shown_as_they_are_typed() -> None:
    """Truth values in small letters, several numbers with /, whole numbers without a point."""
    lines = passed("systems").out.splitlines()
    for line in (
        "    normalise=true", "    beta=0   tried: 0, 1000", "    window=0   tried: 0, 25, 100",
        "    test=true   tried: true, false", "    cutoffs=10/30/100/300/1000/0", "    ignore_overlap=false",
        "    top=0", "    rate=0.1",
    ):  # fmt: skip
        assert line in lines
    assert not re.search(r"True|False|=\(|\.0\b", "\n".join(line for line in lines if line.startswith("    ")))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"), (False, "false"), (0, "0"), (1.0, "1"), (0.25, "0.25"), (1e-9, "1e-09"), (1 / 3, repr(1 / 3)),
        (1234567.0, "1234567.0"), ((0.0, 25.0, 100.0), "0/25/100"), ((0.5,), "0.5"), ((10, 0), "10/0"), ((), ""),
        ("sum", "sum"), ("", ""), (float("inf"), "inf"),
    ],
)  # fmt: skip
def test_how_a_value_is_typed(value: Any, text: str) -> None:
    """It reads back to the same number."""
    assert format_value(value) == text


def test_what_is_learned_is_no_parameter() -> None:
    """It cannot be typed; everything else can."""
    found = {row["name"]: [p["name"] for p in row["parameters"]] for row in passed("systems", "--json").json}
    for name, part in discover("fader.systems").items():
        learned = set(part.learned)
        assert found[name] == [f.name for f in fields(part) if f.name not in learned]
        assert bool(learned) == issubclass(part, Learner) == (not part().is_fitted)
        assert learned <= {f.name for f in fields(part)}
    assert found["fang"] == ["mean", "lam", "starts", "bad"]


def test_one_system() -> None:
    """Its part of the list, and no other."""
    whole, one = passed("systems").out, passed("systems", "voting").out
    assert one.startswith("voting  ")
    assert one in whole
    assert sum(not line.startswith(" ") for line in one.splitlines()) == 1


def test_as_data() -> None:
    """A list of systems; what must be trained is told; a default, written as a parameter, changes nothing."""
    found = {row["name"]: row for row in passed("systems", "--json").json}
    assert set(found) == set(discover("fader.systems"))
    assert all(row["description"] and set(row) == set(found["count"]) for row in found.values())
    trained = {name for name, row in found.items() if row["trained"]}
    assert trained == {"cummins", "fader", "fang", "lambdamart", "macdonald", "ranksvm", "rerank"}
    for name, row in found.items():
        for parameter in row["parameters"]:
            assert set(parameter) == {"name", "default", "tried"}
            assert isinstance(parameter["default"], str)
            if parameter["default"]:
                assert parse_system(f"{name}({parameter['name']}={parameter['default']})") == parse_system(name)
            for text in parameter["tried"]:
                parse_system(f"{name}({parameter['name']}={text})")
    assert passed("systems", "fang", "--json").json == [found["fang"]]


def test_an_unknown_name() -> None:
    """One line, with the nearest name if there is one near."""
    assert refused(2, "systems", "votin") == 'fader: no system "votin"; did you mean "voting"?\n'
    assert refused(2, "systems", "nosuch").startswith('fader: no system "nosuch"')

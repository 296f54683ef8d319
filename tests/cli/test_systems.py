"""`fader systems`: what can rank, and how it is set."""

from __future__ import annotations

from cli.running import passed, refused
from fader.parts import discover
from fader.systems.base import system


def test_every_system_is_listed() -> None:
    """By name, a line each with what it does; below it the citation, parameters and values that are tried."""
    lines = passed("systems").out.splitlines()
    heads = [line for line in lines if not line.startswith(" ")]
    assert [head.split("  ")[0] for head in heads] == list(discover("fader.systems"))
    assert all(len(head.split("  ", 1)[1]) > 10 for head in heads)
    assert "    Macdonald & Ounis, Voting for candidates, CIKM 2006" in lines
    assert "    cutoff=1000   tried: 100, 300, 1000, 0" in lines
    assert "    technique=expcombmnz" in lines


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
    assert trained == {"cummins", "fader", "fang", "lambdamart", "macdonald", "ranksvm"}
    for name, row in found.items():
        for parameter in row["parameters"]:
            assert set(parameter) == {"name", "default", "tried"}
            if isinstance(parameter["default"], str | float | int) and parameter["default"] != "":
                assert system(f"{name}({parameter['name']}={parameter['default']})") == system(name)
            for text in parameter["tried"]:
                system(f"{name}({parameter['name']}={text})")
    assert passed("systems", "fang", "--json").json == [found["fang"]]


def test_an_unknown_name() -> None:
    """One line, with the nearest name if there is one near."""
    assert refused(2, "systems", "votin") == 'fader: no system "votin"; did you mean "voting"?\n'
    assert refused(2, "systems", "nosuch").startswith('fader: no system "nosuch"')

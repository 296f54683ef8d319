"""Options are declared once: defaults, checks, texts and annotated types follow from one dataclass."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path
from typing import Any

import msgspec
import pydantic
import pytest

from fader.errors import UsageError
from fader.options import REQUIRED, annotate_fields, option, options, options_of, parse_options


def refuse_odd(value: int) -> None:
    if value % 2:
        raise UsageError(f"even must be even, not {value}")


@options
class Everything:
    """An option of each kind."""

    query: str = option(help="The query.", longest=20, example="landed +mars")
    k: int = option(10, help="How many entities.", least=1, limit="k")
    port: int = option(8080, help="The port.", least=0, most=65_535)
    even: int = option(2, help="An even number.", check=refuse_odd)
    rate: float = option(0.5, help="A rate.", least=0)
    form: str = option("json", help="The form.", choices=("json", "csv"))
    quick: bool = option(False, help="Be quick.")
    file: Path | None = option(None, help="A file.")
    names: tuple[str, ...] = option((), help="Names.")


@options
class Range:
    """Options that go together, which only the class can check."""

    low: int = option(0, help="The lower end.", least=0)
    high: int = option(10, help="The upper end.")

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise UsageError(f"low must be at most high, {self.high}, not {self.low}")


def test_a_class_checks_its_options_and_then_itself() -> None:
    """Each option by itself comes first; the value cannot be changed, and is made by names."""
    assert Range(low=3) == Range(low=3, high=10)
    with pytest.raises(UsageError, match='low must be 0 at least, not "-1"'):
        Range(low=-1, high=-2)
    with pytest.raises(UsageError, match="low must be at most high, 10, not 11"):
        Range(low=11)
    with pytest.raises(FrozenInstanceError):
        Range().low = 1  # type: ignore[misc]
    with pytest.raises(TypeError):
        Range(1)  # type: ignore[call-arg]


def test_an_option_knows_its_type_and_default() -> None:
    """Whether it must be given, may be None, or may be repeated follows from the field."""
    known = options_of(Everything)
    assert list(known) == ["query", "k", "port", "even", "rate", "form", "quick", "file", "names"]
    assert known["query"].required
    assert known["query"].default is REQUIRED
    assert (known["file"].kind, known["file"].optional) == (Path, True)
    assert (known["names"].kind, known["names"].repeated) == (str, True)
    assert known["k"].declared.help == "How many entities."


def test_texts_become_values() -> None:
    """As a query string or a form gives them."""
    texts: dict[str, Any] = {"query": "a", "k": "3", "rate": "2", "quick": "true", "file": "x/y", "names": ["a", "b"]}
    expected = Everything(query="a", k=3, rate=2.0, quick=True, file=Path("x/y"), names=("a", "b"))
    assert parse_options(Everything, texts) == expected


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({}, "query is missing; give query"),
        ({"query": "a", "prot": "1"}, 'there is no option "prot"; did you mean "port"?'),
        ({"query": "a", "k": "x"}, 'k must be a whole number, not "x"'),
        ({"query": "a", "rate": "x"}, 'rate must be a number, not "x"'),
        ({"query": "a", "quick": "yes"}, 'quick must be true or false, not "yes"'),
        ({"query": "a", "port": "70000"}, 'port must be 0 at least and 65,535 at most, not "70000"'),
        ({"query": "a", "rate": "-1"}, 'rate must be 0 at least, not "-1.0"'),
        ({"query": "a", "rate": "nan"}, 'rate must be 0 at least, not "nan"'),
        ({"query": "a", "form": "jsn"}, 'form must be json or csv, not "jsn"; did you mean "json"?'),
        ({"query": "a", "even": "3"}, "even must be even, not 3"),
        ({"query": ["a", "b"]}, "query is given 2 times; give it once"),
    ],
)
def test_a_bad_text_is_refused(texts: dict[str, Any], message: str) -> None:
    """Thing, constraint, value and remedy."""
    with pytest.raises(UsageError) as raised:
        parse_options(Everything, texts)
    assert str(raised.value) == message


@pytest.mark.parametrize("given", [{"k": "3"}, {"k": True}, {"k": 1.5}, {"quick": 1}, {"query": None}, {"file": "x"}])
def test_a_value_of_another_type_is_refused(given: dict[str, Any]) -> None:
    """Also where no text is read."""
    with pytest.raises(UsageError, match=f"^{next(iter(given))} must be "):
        Everything(**{"query": "a", **given})


def test_a_limit_leaves_the_bounds_to_where_the_option_is_used() -> None:
    """`fader.limits` knows them, and says how they are raised."""
    assert Everything(query="a", k=0).k == 0


def test_pydantic_and_msgspec_take_the_same_declaration() -> None:
    """Under other names and bounds where an interface has its own."""
    found = annotate_fields(Everything, pydantic.Field, "query", "k", "form", query={"name": "q"}, k={"le": 100})
    fields: dict[str, Any] = {
        name: (kind, ... if default is REQUIRED else default) for name, (kind, default) in found.items()
    }
    schema = pydantic.create_model("Asked", **fields).model_json_schema()
    assert schema["required"] == ["q"]
    assert (schema["properties"]["q"]["minLength"], schema["properties"]["q"]["maxLength"]) == (1, 20)
    assert (schema["properties"]["k"]["minimum"], schema["properties"]["k"]["maximum"]) == (1, 100)
    assert schema["properties"]["form"]["enum"] == ["json", "csv"]
    kind, default = annotate_fields(Everything, msgspec.Meta, "k", k={"default": None})["k"]
    assert default is None
    assert msgspec.convert(3, kind) == 3
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(0, kind)


def test_an_option_of_another_type_is_a_mistake_of_the_program() -> None:
    """It is found when the class is first used."""

    @dataclass(frozen=True)
    class Wrong:
        when: complex = option(1j, help="When.")

    with pytest.raises(TypeError, match=r"Wrong\.when: an option is a str, int, float, bool, Path"):
        options_of(Wrong)

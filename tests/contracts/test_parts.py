"""Named parts: found in their folders, read from text, written back; a wrong text is an error that helps."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from fader.errors import UsageError
from fader.registry import discover, parse, split_arguments, write_part

PACKAGES = ("fader.features", "fader.entityfeatures", "fader.aggregate", "fader.systems")
EVERY = [(package, name) for package in PACKAGES for name in discover(package)]


def message_of(package: str, text: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse(package, text)
    return str(caught.value)


@pytest.mark.parametrize(("package", "name"), EVERY)
def test_a_part_is_a_frozen_value_with_its_name(package: str, name: str) -> None:
    """A part without parameters is its name; parts with equal parameters are equal and cannot be changed."""
    part = parse(package, name)
    assert part.name == name
    assert part == parse(package, f"{name}()") == parse(package, f"  {name} ( ) ")
    assert write_part(part) == name
    assert hash(part) == hash(parse(package, name))
    assert type(part).__dataclass_params__.frozen
    assert type(part).__module__.startswith(package + ".")
    assert type(part).__doc__


@pytest.mark.parametrize(("package", "name"), EVERY)
def test_every_parameter_can_be_written(package: str, name: str) -> None:
    """Each in turn, with its default: the value is the same. Nothing at all is written by leaving it out."""
    part: Any = parse(package, name)
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        text = "/".join(map(str, value)) if isinstance(value, tuple) else str(value)
        if text:
            assert parse(package, f"{name}({field.name}={text})") == part


def test_what_is_known_is_there() -> None:
    """Discovery that found nothing would pass every other test here."""
    known = {"bias", "confidence", "constant", "coverage", "grid", "idfupto", "kernel", "noprox", "rectangle"}
    assert known <= set(discover("fader.features"))
    assert {"count", "sum"} <= set(discover("fader.aggregate"))
    assert {"count", "proximity"} <= set(discover("fader.systems"))


def test_an_unknown_name_comes_with_a_suggestion() -> None:
    """The nearest known one, or all of them where none is near."""
    assert message_of("fader.systems", "proximty") == 'unknown system "proximty"; did you mean "proximity"?'
    message = message_of("fader.features", "zzzzzzzz")
    assert message.startswith('unknown feature "zzzzzzzz"; known: ')
    assert "kernel" in message


def test_an_unknown_parameter_comes_with_a_suggestion() -> None:
    """The nearest known one, or all of them, or that there is none."""
    expected = 'proximity has no parameter "widht"; did you mean "width"?'
    assert message_of("fader.systems", "proximity(widht=3)") == expected
    message = message_of("fader.systems", "proximity(zzzzzz=3)")
    assert message == 'proximity has no parameter "zzzzzz"; it takes width, idf, policy'


def test_a_parameter_that_a_part_without_any_has_not() -> None:
    """It takes none."""
    assert message_of("fader.aggregate", "sum(a=1)") == 'sum has no parameter "a"; it takes none'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernel(width=wide)", 'kernel: width must be a number like 10.0, not "wide"'),
        ("kernel(width=0)", "kernel: width must be a number of tokens above 0, not 0.0"),
        ("kernel(width=nan)", "kernel: width must be a number of tokens above 0, not nan"),
        (
            "kernel(shape=round)",
            'kernel: shape must be gaussian, triangle, cosine, circle, step or inverse, not "round"',
        ),
        ("kernel(idf=natural)", 'kernel: idf must be log or paper, not "natural"'),
        ("kernel(width)", 'parameter "width" is not of the form name=value'),
        ("kernel(width=)", 'parameter "width=" is not of the form name=value'),
        ("kernel(=3)", 'parameter "=3" is not of the form name=value'),
        ("noprox(use=bm52)", 'noprox: use must be names like bm25/constant, not "bm52"; did you mean "bm25"?'),
        ("noprox(use=bm25/bm25)", "noprox: use has bm25 more than once"),
        ("idfupto(0)", 'idfupto: columns must be a whole number from 1 to 2,048, not "0"'),
        ("idfupto(3,distances=0/1)", "idfupto: columns is 3, but there are 2 distances"),
        ("idfupto(edges=learned,distances=0/1)", "idfupto: edges=learned finds distances itself"),
        ("idfupto(edges=free)", 'idfupto: edges must be fixed or learned, not "free"'),
        ("grid(10)", "grid: shape must be rows x columns like 10x12, with 2 columns or more"),
        ("grid(10x1)", "grid: shape must be rows x columns like 10x12, with 2 columns or more"),
        ("grid(0x3)", "grid: shape must be rows x columns like 10x12"),
        ("grid(999999x999999)", "grid: shape must be rows x columns like 10x12"),
        ("grid(64x64,signed=true)", "grid: 8,192 cells; at most 4,096, so give fewer edges"),
        ("grid(distances=1/2)", "grid: distances must be whole numbers of tokens that begin with 0 and ascend"),
        ("grid(distances=0/2/2)", "grid: distances must be whole numbers of tokens that begin with 0 and ascend"),
        ("grid(distances=0/2.5)", "grid: distances must be whole numbers"),
        ("grid(distances=0/nan)", "grid: distances must be whole numbers"),
        ("grid(distances=0/inf)", "grid: distances must be whole numbers"),
        ("grid(distances=near)", 'grid: distances must be numbers like 0/1/3/10, not "near"'),
        ("grid(shares=0.1/0.5)", "grid: shares must be shares of IDF(q) that begin with 0 and ascend to at most 1"),
        ("grid(shares=0/0.5/1.5)", "grid: shares must be shares of IDF(q)"),
        ("grid(shares=0/nan)", "grid: shares must be shares of IDF(q)"),
        ("grid(3x4,distances=0/1)", "grid: shape is 3x4, but the edges make 3x3; leave the shape out"),
        ("grid(edges=learned,shares=0/0.5)", "grid: edges=learned finds distances and shares itself"),
        ("grid(signed=maybe)", 'grid: signed must be true or false, not "maybe"'),
        ("rectangle(overlap=xor)", 'rectangle: overlap must be sum or union, not "xor"'),
        ("rectangle(regulariser=none)", 'rectangle: regulariser must be ridge or smooth, not "none"'),
        ("coverage(idf=natural)", 'coverage: idf must be log or paper, not "natural"'),
    ],
)
def test_a_bad_value_is_named(text: str, message: str) -> None:
    """Part, parameter, constraint and value."""
    assert message_of("fader.features", text).startswith(message)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("noprox", {"use": 3}),
        ("idfupto", {"columns": 2.5}),
        ("idfupto", {"signed": "yes"}),
        ("grid", {"shape": 3}),
        ("grid", {"distances": 5}),
        ("grid", {"shares": ("a", "b")}),
        ("grid", {"signed": 1}),
        ("grid", {"monotone": None}),
    ],
)
def test_a_value_of_another_type_is_refused(name: str, values: dict[str, Any]) -> None:
    """Also where no text is read."""
    with pytest.raises(UsageError, match=f"^{name}: {next(iter(values))} must be "):
        discover("fader.features")[name](**values)


def test_equal_edges_are_equal_values() -> None:
    """However the shape was written, or the numbers: what is derived is not told apart."""
    one, two = (parse("fader.features", f"rectangle({s}distances=0/1/5)") for s in ("", "10x4,"))
    assert one == two == discover("fader.features")["rectangle"](distances=[0, 1, 5])
    assert hash(one) == hash(two)
    assert str(one) == str(two) == "rectangle(10x4,distances=0/1/5)"


@pytest.mark.parametrize(
    "text", ["", " ", "kernel(", "kernel)", "kernel(width=3", "(width=3)", "1", "a b", "kernel()x"]
)
def test_a_text_of_another_form_is_shown(text: str) -> None:
    """With the form that is expected."""
    message = message_of("fader.features", text)
    assert message.endswith("is not of the form name or name(parameter=value,...)")


@pytest.mark.parametrize(
    "text", ["proximity(width=0)", "proximity(idf=natural)", "proximity(policy=x)", "count(policy=x)"]
)
def test_a_bad_value_of_a_system_is_found_when_it_is_read(text: str) -> None:
    """Not after the contexts of the first query, and under the name that the user wrote."""
    assert message_of("fader.systems", text).startswith(text.split("(")[0])


def test_a_parameter_given_twice_is_refused() -> None:
    """Which one was meant cannot be known."""
    assert "policy" in message_of("fader.systems", "count(policy=mention,policy=document)")


def test_commas_inside_brackets_do_not_split() -> None:
    """A value may be a part with parameters of its own."""
    assert split_arguments("a=f(x,y=g(1,2)), b = 2,") == {"a": "f(x,y=g(1,2))", "b": "2"}

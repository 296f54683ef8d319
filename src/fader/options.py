"""Options, declared once: a parameter is a field of a frozen dataclass, with its default, help and bounds.

    @options
    class SearchOptions:
        query: str = option(help="The query.", longest=2_000)
        k: int = option(10, help="How many entities.", least=1, flags=("-k",))

The command line (`fader.cli.common.takes`), the HTTP and MCP parameters (`annotate_fields` with `pydantic.Field` or
`msgspec.Meta`) and texts such as those of a query string (`parse_options`) all follow from the class. A field's type is
str, int, float, bool or Path; `| None` where it may be left out, `str | Part` where an object stands for its text;
`tuple[str, ...]` where it may be repeated. Knows nothing of who asks or of what an option does.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from fader.errors import UsageError, did_you_mean, quote

T = TypeVar("T")
REQUIRED: Any = dataclasses.MISSING
_KEY = "fader.option"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a declaration says beside the field's name, type and default."""

    help: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    longest: int | None = None
    limit: str = ""
    check: Callable[[Any], None] | None = None
    flags: tuple[str, ...] = ()
    argument: bool = False
    metavar: str = ""
    show_default: bool = True
    example: Any = None


@dataclass(frozen=True, slots=True)
class Option:
    """A field as an option: `kind` is the type of one value, `default` is REQUIRED where one must be given.

    Where a factory finds the default, it is None here.
    """

    name: str
    kind: type[Any]
    default: Any
    optional: bool
    repeated: bool
    declared: Declared

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    @property
    def annotation(self) -> Any:
        """The type of one value, with the choices where there are a few."""
        return typing.cast(Any, Literal)[self.declared.choices] if self.declared.choices else self.kind

    def constraints(self, **more: Any) -> dict[str, Any]:
        """Help, bounds and example under the names that `msgspec.Meta` and `pydantic.Field` share; `more` overrides."""
        declared = self.declared
        bounds = {"ge": declared.least, "le": declared.most, "max_length": declared.longest}
        if self.kind is str and self.required and declared.longest and not declared.choices:
            bounds["min_length"] = 1
        found = {name: bound for name, bound in bounds.items() if bound is not None}
        examples = {} if declared.example is None else {"examples": [declared.example]}
        return {"description": declared.help, **examples, **found, **more}

    def parse(self, text: str) -> Any:
        """One value, from a text."""
        if self.kind is bool:
            if text not in ("true", "false"):
                raise UsageError(f"{self.name} must be true or false, not {quote(text)}")
            return text == "true"
        try:
            return self.kind(text)
        except ValueError:
            number = "a whole number" if self.kind is int else "a number"
            raise UsageError(f"{self.name} must be {number}, not {quote(text)}") from None

    def check(self, value: Any) -> None:
        """Refuse a value of another type or beyond the bounds; `limit` leaves bounds to `fader.limits`."""
        if value is None and self.optional:
            return
        for each in value if self.repeated else (value,):
            self._check_one(each)
        if self.declared.check is not None:
            self.declared.check(value)

    def _check_one(self, value: Any) -> None:
        declared = self.declared
        kinds = (float, int) if self.kind is float else (self.kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and self.kind is not bool):
            raise UsageError(f"{self.name} must be {_KINDS[self.kind]}, not {quote(value)}")
        if declared.choices and value not in declared.choices:
            hint = did_you_mean(str(value), declared.choices)
            raise UsageError(f"{self.name} must be {join_names(declared.choices)}, not {quote(value)}{hint}")
        if declared.limit or self.kind not in (int, float):
            return
        least, most = declared.least, declared.most
        if not (least is None or value >= least) or not (most is None or value <= most):
            bounds = [(least, "at least"), (most, "at most")]
            said = " and ".join(f"{bound:,} {word}" for bound, word in bounds if bound is not None)
            raise UsageError(f"{self.name} must be {said}, not {quote(value)}")


_KINDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", Path: "a path"}
_READ: dict[type[Any], dict[str, Option]] = {}  # every request asks


def option(
    default: Any = REQUIRED,
    *,
    help: str,
    factory: Callable[[], Any] | None = None,
    choices: Iterable[str] = (),
    least: float | None = None,
    most: float | None = None,
    longest: int | None = None,
    limit: str = "",
    check: Callable[[Any], None] | None = None,
    flags: tuple[str, ...] = (),
    argument: bool = False,
    metavar: str = "",
    show_default: bool = True,
    example: Any = None,
) -> Any:
    """Declare an option as a field of a dataclass; without a default it must be given.

    `factory` finds the default when it is needed. `least`, `most` and `longest` bound numbers and texts. `limit` names
    the field of `fader.limits.Limits` that bounds it where it is used. `check` raises UsageError for what bounds cannot
    say. `flags` are its names on the command line where they differ from `--its-name`; a bool that is on by default has
    the flag that turns it off. An `argument` has no name there, only a place. `example` is for the HTTP interface's
    description.
    """
    said = {name: value for name, value in locals().items() if name not in ("default", "factory")}
    metadata = {_KEY: Declared(**said | {"choices": tuple(choices)})}
    if factory is not None:
        return dataclasses.field(default_factory=factory, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@typing.dataclass_transform(frozen_default=True, kw_only_default=True)
def options(cls: type[T]) -> type[T]:
    """A frozen dataclass of options, made by name and checked when it is made; its own `__post_init__` comes after."""
    own = cls.__dict__.get("__post_init__", lambda _self: None)

    def check(self: T) -> None:
        check_options(self)
        own(self)

    setattr(cls, "__post_init__", check)  # noqa: B010 - mypy knows no such attribute of every class
    return dataclass(frozen=True, kw_only=True)(cls)


def options_of(cls: type[Any]) -> dict[str, Option]:
    """The options that a class declares, by name, in order."""
    if cls not in _READ:
        hints = typing.get_type_hints(cls)
        _READ[cls] = {
            field.name: Option(field.name, *_read_hint(cls, field, hints[field.name]), field.metadata[_KEY])
            for field in dataclasses.fields(cls)
            if _KEY in field.metadata
        }
    return _READ[cls]


def _read_hint(cls: type[Any], field: dataclasses.Field[Any], hint: Any) -> tuple[type[Any], Any, bool, bool]:
    """Type of one value, default, whether None is one, whether there may be several."""
    inside = typing.get_args(hint)
    repeated, optional = typing.get_origin(hint) is tuple, types.NoneType in inside
    kind = inside[0] if inside else hint
    if kind not in _KINDS:
        raise TypeError(f"{cls.__name__}.{field.name}: an option is a {', '.join(k.__name__ for k in _KINDS)}")
    default = field.default if field.default_factory is REQUIRED else None
    return kind, default, optional, repeated


def check_options(value: Any) -> None:
    """Check every option of an instance; for `__post_init__`."""
    for name, each in options_of(type(value)).items():
        each.check(getattr(value, name))


def parse_options(cls: type[T], texts: Mapping[str, str | Iterable[str]]) -> T:
    """An instance from texts, such as those of a query string; a repeated option takes several."""
    known, values = options_of(cls), {}
    for name, given in texts.items():
        if name not in known:
            hint = did_you_mean(name, known) or f"; it takes {', '.join(known) or 'none'}"
            raise UsageError(f"there is no option {quote(name)}{hint}")
        each, several = known[name], [given] if isinstance(given, str) else list(given)
        if each.repeated:
            values[name] = tuple(each.parse(text) for text in several)
        elif len(several) == 1:
            values[name] = each.parse(several[0])
        else:
            raise UsageError(f"{name} is given {len(several)} times; give it once")
    missing = [name for name, each in known.items() if each.required and name not in values]
    if missing:
        raise UsageError(f"{missing[0]} is missing; give {missing[0]}")
    return cls(**values)


def annotate_fields(
    cls: type[Any], wrap: Callable[..., Any], *names: str, **changed: Mapping[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Annotated type and default (REQUIRED: none) of each option, or of those that are named.

    `wrap` is `pydantic.Field`, `fastapi.Query` or `msgspec.Meta`: it is called with the option's `constraints`.
    `changed` overrides what is said of an option: `k={"le": 1000}`, `model={"default": None}`, `query={"name": "q"}`.
    The result is what `pydantic.create_model` and `msgspec.defstruct` take.
    """
    known, found = options_of(cls), {}
    for name in names or known:
        each, other = known[name], dict(changed.get(name, {}))
        default, called = other.pop("default", each.default), other.pop("name", name)
        kind: Any = typing.cast(Any, Annotated)[each.annotation, wrap(**each.constraints(**other))]
        kind = typing.cast(Any, tuple)[kind, ...] if each.repeated else kind
        found[called] = (kind | None if each.optional or default is None else kind, default)
    return found


def join_names(names: Iterable[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    *head, last = names
    return f"{', '.join(head)} or {last}" if head else last

"""What a request may ask: one value for each route, read from a query string or a JSON body, and checked.

A text that is no number, a number beyond its limit, a name that is not known or is given twice: each is refused, and
said which. The same classes make the parameters of the OpenAPI description. Knows nothing of what is done with them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta, Struct

from fader.errors import did_you_mean, quoted
from fader.serve.errors import BadRequest, Refusal
from fader.serve.settings import Settings

T = TypeVar("T", bound="Asked")
MOST_PARAMETERS = 64
MOST_OFFSET = 10**9
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_PLACE = re.compile(r" - at `\$\.?([^`]*)`$")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_WORDS = tuple((re.compile(pattern, re.DOTALL), words, hint) for pattern, words, hint in (
    (r"Expected `str` of length >= 1", "{0} must not be empty", "give {0}"),
    (r"Expected `str` of length <= (\d+)", "{0} must have {1} characters at most", "shorten it"),
    (r"Expected `int` >= (-?\d+)", "{0} must be {1} at least", "give a larger number"),
    (r"Expected `int` <= (\d+)", "{0} must be {1} at most", "give a smaller number"),
    (r"Invalid enum value '(.*)'", "{0} must not be {1}", "give {1}"),
))  # fmt: skip
_MISSING = re.compile(r"Object missing required field `(\w+)`")


def _text(description: str, most: int, example: str, least: int = 0) -> Meta:
    return Meta(description=description, examples=[example], max_length=most, min_length=least or None)


def _number(description: str, least: int, example: int, most: int | None = None) -> Meta:
    return Meta(description=description, examples=[example], ge=least, le=most)


Query = Annotated[str, _text('The query: words, "phrases", +required, -forbidden.', 2_000, "landed +mars", 1)]
Type = Annotated[str, _text("The answer type, by id or name.", 2_000, "spacecraft")]
Model = Annotated[
    str,
    _text("What ranks: a served model, `default`, or a system such as `proximity(width=20)`.", 1_000, "proximity"),
]
Name = Annotated[str, _text("The index, by name; the first that is served without one.", 200, "")]
Entity = Annotated[str, _text("The entity, by its id.", 2_000, "E1", 1)]
Count = Annotated[int, _number("How many entities.", 1, 10)]
Snippets = Annotated[int, _number("Snippets an entity.", 0, 1)]
Timeout = Annotated[int, _number("Milliseconds that the request may take, waiting included.", 1, 500)]
Offset = Annotated[int, _number("How many to leave out.", 0, 0, MOST_OFFSET)]
Limit = Annotated[int, _number("How many at most.", 1, 20)]
Form = Annotated[Literal["json", "csv"], Meta(description="How the answer is written.", examples=["json"])]


Partial = Annotated[
    bool,
    Meta(
        description="Whether to answer where a part of the index is missing; a warning then says so.", examples=[False]
    ),
]


class Asked(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all."""

    of_contexts: ClassVar[bool] = False  # whether `limit` is of contexts, which are shown as snippets


class Search(Asked, frozen=True, kw_only=True):
    """Ask for entities."""

    q: Query
    type: Type | None = None
    k: Count = 10
    model: Model | None = None
    index: Name | None = None
    snippets: Snippets = 1
    explain: Annotated[bool, Meta(description="Whether to show how each score comes about.", examples=[False])] = False
    timeout_ms: Timeout | None = None
    format: Form = "json"
    partial: Partial = False


class EntityOf(Asked, frozen=True, kw_only=True):
    """Look at an entity, and at its contexts for a query where there is one."""

    of_contexts: ClassVar[bool] = True

    q: Query | None = None
    type: Type | None = None
    model: Model | None = None
    index: Name | None = None
    offset: Offset = 0
    limit: Limit = 20
    timeout_ms: Timeout | None = None
    format: Form = "json"


class EntityNamed(EntityOf, frozen=True, kw_only=True):
    """The same, by an id that no path could hold, such as `..`."""

    id: Entity


class Explain(Asked, frozen=True, kw_only=True):
    """Ask why an entity has its rank."""

    q: Query
    entity: Entity
    type: Type | None = None
    model: Model | None = None
    index: Name | None = None
    timeout_ms: Timeout | None = None


class Compare(Asked, frozen=True, kw_only=True):
    """Ask two systems the same."""

    q: Query
    a: Model | None = None
    b: Model | None = None
    type: Type | None = None
    k: Count = 10
    index: Name | None = None
    snippets: Snippets = 1
    timeout_ms: Timeout | None = None
    format: Form = "json"


class Suggest(Asked, frozen=True, kw_only=True):
    """Complete the name of a type or an entity."""

    kind: Annotated[Literal["type", "entity"], Meta(description="What is looked for.", examples=["type"])] = "type"
    prefix: Annotated[str, _text("How its name, or words of it, begin.", 500, "spa")] = ""
    limit: Annotated[int, _number("How many at most.", 1, 10, 100)] = 10
    type: Type | None = None
    index: Name | None = None


class Types(Asked, frozen=True, kw_only=True):
    """Walk the tree of types."""

    parent: Annotated[str, _text("The type whose subtypes are wanted; the roots without one.", 2_000, "")] | None = None
    ids: Annotated[str, _text("These types instead, with | between ids; others are left out.", 8_000, "")] | None = None
    offset: Offset = 0
    limit: Limit = 100
    index: Name | None = None


class Analyze(Asked, frozen=True, kw_only=True):
    """Take a text apart."""

    text: Annotated[str, _text("The text.", 60_000, "Straße, naïve, COVID-19")]
    index: Name | None = None


class AnalyzeShort(Asked, frozen=True, kw_only=True):
    """The same of a text that an address can hold, escaped."""

    text: Annotated[str, _text("The text.", 5_000, "Straße, naïve, COVID-19")]
    index: Name | None = None


class OfIndex(Asked, frozen=True, kw_only=True):
    """Name an index."""

    index: Name | None = None


class Nothing(Asked, frozen=True, kw_only=True):
    """No parameters."""


def most(settings: Settings, kind: type[Asked]) -> dict[str, int]:
    """The largest value of each number that the settings bound."""
    limit = settings.snippets if kind.of_contexts else settings.k
    return {"k": settings.k, "snippets": settings.snippets, "timeout_ms": settings.time_ms, "limit": limit}


def of_query(kind: type[T], query_string: bytes, settings: Settings) -> T:
    """What a query string asks; an empty parameter that may be left out is left out."""
    plain: dict[str, Any] = {}
    known = _kinds(kind)
    for name, text in _pairs(query_string):
        if name not in known:
            raise _unknown(name, known)
        if name in plain:
            raise BadRequest(f"the parameter {quoted(name)} is given twice", "give it once", name)
        plain[name] = _value(name, text, known[name])
    required = {name for name, info in known.items() if info[1]}
    kept = {name: value for name, value in plain.items() if value != "" or name in required}
    return checked(kind, kept, settings)


def checked(kind: type[T], plain: Mapping[str, Any], settings: Settings) -> T:
    """The value of plain data, within its limits."""
    try:
        return _bounded(msgspec.convert(plain, kind), settings)
    except msgspec.ValidationError as error:
        raise _refusal(error, kind) from None


def of_body(kind: type[T], content_type: str, body: bytes, settings: Settings) -> T:
    """What a JSON body asks."""
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise Refusal(
            415, "unsupported", f"the body must be JSON, not {quoted(content_type or 'something unnamed')}",
            "send Content-Type: application/json", {"Accept": "application/json"},
        )  # fmt: skip
    try:
        return _bounded(msgspec.json.decode(body, type=kind), settings)
    except msgspec.ValidationError as error:
        raise _refusal(error, kind) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"the body is no JSON: {error}", "send one JSON object in UTF-8", "body") from None


def _pairs(query_string: bytes) -> list[tuple[str, str]]:
    try:
        text = query_string.decode("ascii")
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS)
    except UnicodeDecodeError:
        raise BadRequest("the query string is no UTF-8 with % escapes", "escape it as UTF-8") from None
    except ValueError:
        raise BadRequest(f"there are more than {MOST_PARAMETERS} parameters", "give each once") from None


@cache
def _kinds(kind: type[Asked]) -> dict[str, tuple[type, bool]]:
    """For each field: text, number or truth, and whether it must be given."""
    hints = get_type_hints(kind)
    must = {f.name for f in msgspec.structs.fields(kind) if f.required}
    return {name: (_base(hint), name in must) for name, hint in hints.items() if not name.startswith("_")}


def _base(hint: Any) -> type:
    if get_origin(hint) is Literal:
        return str
    inside = [arg for arg in get_args(hint) if arg is not type(None) and not isinstance(arg, Meta)]
    return _base(inside[0]) if inside else hint


def _value(name: str, text: str, info: tuple[type, bool]) -> Any:
    """A text of a query string as what it should be; what it cannot be is refused."""
    base, _required = info
    if base is bool:
        if text in ("true", "false"):
            return text == "true"
        raise BadRequest(f"{name} must be true or false, not {quoted(text)}", "", name)
    if base is int:
        if _WHOLE.fullmatch(text):
            return int(text)
        raise BadRequest(f"{name} must be a whole number, not {quoted(text)}", "", name)
    return text


def _bounded(asked: T, settings: Settings) -> T:
    for name, limit in most(settings, type(asked)).items():
        value = getattr(asked, name, None)
        if value is not None and value > limit:
            raise BadRequest(f"{name} must be {limit:,} at most, not {value:,}", f"give {name} up to {limit:,}", name)
    return asked


def _choices(kind: type[Asked], field: str) -> str:
    """The values of a field that has a few."""
    hint = get_type_hints(kind).get(field)
    return " or ".join(get_args(hint)) if get_origin(hint) is Literal else ""


def _unknown(name: str, known: Mapping[str, Any]) -> BadRequest:
    hint = did_you_mean(name, known).lstrip("; ") or f"it takes {', '.join(known) or 'none'}"
    return BadRequest(f"there is no parameter {quoted(name)}", hint, quoted(name)[1:-1])


def _refusal(error: msgspec.ValidationError, kind: type[Asked]) -> BadRequest:
    """Our words for what is wrong with a value."""
    text = str(error)
    place = _PLACE.search(text)
    text = _PLACE.sub("", text)
    known = [f.name for f in msgspec.structs.fields(kind)]
    if found := _UNKNOWN.fullmatch(text):
        return _unknown(found[1], dict.fromkeys(known))
    if found := _MISSING.fullmatch(text):
        return BadRequest(f"the parameter {found[1]} is missing", f"give {found[1]}", found[1])
    field = place[1].partition(".")[0].partition("[")[0] if place else ""
    for pattern, words, hint in _WORDS:
        if field and (found := pattern.fullmatch(text)):
            groups = [f"{int(g):,}" if g.isdecimal() else g for g in found.groups()]
            return BadRequest(words.format(field, *groups), hint.format(field, _choices(kind, field)), field)
    return BadRequest(f"{field or 'the body'}: {text[:1].lower() + text[1:]}", "", field or "body")

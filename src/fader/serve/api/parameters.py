"""What a request may ask: one frozen dataclass per route, and the pydantic model that reads it.

    model = build_model(SearchParameters, settings)
    FastAPI: Annotated[model, BeforeValidator(read_query), Query()]       MCP: model.model_validate(arguments)

Names, defaults, help and bounds are declared with `fader.options`; what the service and the command line share is taken
from the declaration of the command (`same_as`). The largest values are settings of the service, so that models are
built when it starts. Errors name the parameter, say what is wrong and what to do. Knows nothing of what is done with
parameters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Annotated, Any
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, Field, create_model

from fader.errors import did_you_mean, quote
from fader.judging.options import JudgeOptions
from fader.options import REQUIRED, Declared, annotate_fields, option, options_of
from fader.search.options import (
    AnalyzeOptions,
    AskOptions,
    EntitiesOptions,
    EntityOptions,
    SearchOptions,
    ShowDocumentOptions,
)
from fader.serve.errors import JSON, BadRequest, Refusal
from fader.serve.settings import Settings

MOST_PARAMETERS = 64
_DECIMAL = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?")
_WHOLE = re.compile(r"-?[0-9]{1,18}")


def same_as(command: type[Any], name: str, **changed: Any) -> Any:
    """Declare a parameter as an option of a command; `changed` overrides what is said of it."""
    each = options_of(command)[name]
    said = {field.name: getattr(each.declared, field.name) for field in fields(Declared)}
    return option(changed.pop("default", each.default), **said | changed)


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Every parameter that more than one route has; its `limit` names the setting that bounds it."""

    q: str = same_as(SearchOptions, "query")
    type: str | None = same_as(SearchOptions, "type")
    k: int = same_as(SearchOptions, "k")
    model: str | None = same_as(
        SearchOptions,
        "model",
        default=None,
        help="What ranks: a served model, `default`, or a system such as `proximity(width=20)`.",
    )
    index: str | None = option(
        None, help="The index, by name; the first that is served without one.", longest=200, example=""
    )
    entity: str = same_as(EntityOptions, "entity", help="The entity, by its id.")
    snippets: int = same_as(SearchOptions, "snippets", default=1)
    passage: str = same_as(SearchOptions, "passage")
    timeout_ms: int | None = same_as(
        SearchOptions, "timeout_ms", help="Milliseconds that the request may take, waiting included."
    )
    offset: int = same_as(EntityOptions, "offset", help="How many to leave out.", limit="", example=0)
    limit: int = same_as(EntityOptions, "limit", help="How many at most.", limit="k")
    no_entity_literals: bool = same_as(SearchOptions, "no_entity_literals")
    format: str = option("json", help="How the answer is written.", choices=("json", "csv"), example="json")


shared = partial(same_as, Vocabulary)


@dataclass(frozen=True, kw_only=True)
class NoParameters:
    """No parameters."""


@dataclass(frozen=True, kw_only=True)
class IndexParameters:
    """Name an index."""

    index: str | None = shared("index")


@dataclass(frozen=True, kw_only=True)
class QueryParameters(IndexParameters):
    """Ask a query."""

    q: str = shared("q")
    type: str | None = shared("type")
    timeout_ms: int | None = shared("timeout_ms")
    no_entity_literals: bool = shared("no_entity_literals")


@dataclass(frozen=True, kw_only=True)
class SearchParameters(QueryParameters):
    """Ask for entities."""

    k: int = shared("k")
    model: str | None = shared("model")
    snippets: int = shared("snippets")
    passage: str = shared("passage")
    explain: bool = same_as(SearchOptions, "explain", help="Whether to show how each score comes about.", example=False)
    format: str = shared("format")
    partial: bool = option(
        False, help="Whether to answer where a part of the index is missing; a warning then says so.", example=False
    )


@dataclass(frozen=True, kw_only=True)
class AskParameters(IndexParameters):
    """Ask a question in plain words; one that an address can hold, escaped."""

    q: str = same_as(AskOptions, "question", longest=5_000)
    type: str | None = same_as(AskOptions, "type")
    any_type: bool = same_as(AskOptions, "any_type")
    query: str | None = same_as(AskOptions, "query")
    min_probability: float = same_as(AskOptions, "min_probability")
    correct: bool = same_as(
        AskOptions, "correct", help="Whether words that occur nowhere are taken for the words that they are most like."
    )
    k: int = shared("k")
    model: str | None = shared("model")
    snippets: int = shared("snippets")
    passage: str = shared("passage")
    timeout_ms: int | None = shared("timeout_ms")
    partial: bool = same_as(SearchParameters, "partial")


@dataclass(frozen=True, kw_only=True)
class AskBody(AskParameters):
    """The same in a body, which holds more."""

    q: str = same_as(AskOptions, "question")


@dataclass(frozen=True, kw_only=True)
class ExplainParameters(QueryParameters):
    """Ask why an entity has its rank."""

    entity: str = shared("entity")
    model: str | None = shared("model")


@dataclass(frozen=True, kw_only=True)
class CompareParameters(QueryParameters):
    """Ask two systems the same."""

    a: str | None = shared("model")
    b: str | None = shared("model")
    k: int = shared("k")
    snippets: int = shared("snippets")
    format: str = shared("format")


@dataclass(frozen=True, kw_only=True)
class EntityParameters(IndexParameters):
    """Look at an entity, and at its contexts for a query where there is one."""

    q: str | None = shared("q", default=None)
    type: str | None = shared("type")
    model: str | None = shared("model")
    offset: int = shared("offset")
    limit: int = shared("limit", limit="snippets")  # contexts are shown as snippets
    passage: str = shared("passage")
    timeout_ms: int | None = shared("timeout_ms")
    no_entity_literals: bool = shared("no_entity_literals")
    format: str = shared("format")


@dataclass(frozen=True, kw_only=True)
class EntityIdParameters(EntityParameters):
    """The same, by an id that no path can hold, such as `..`."""

    id: str = shared("entity")


@dataclass(frozen=True, kw_only=True)
class DocumentParameters(IndexParameters):
    """Look at a document."""

    q: str | None = same_as(ShowDocumentOptions, "query")
    timeout_ms: int | None = shared("timeout_ms")


@dataclass(frozen=True, kw_only=True)
class DocumentIdParameters(DocumentParameters):
    """The same, by an id that no path can hold, such as `..`."""

    id: str = same_as(ShowDocumentOptions, "document")


@dataclass(frozen=True, kw_only=True)
class JudgeParameters(IndexParameters):
    """Judge an answer."""

    q: str = same_as(JudgeOptions, "question", default=REQUIRED)
    entity: str = same_as(JudgeOptions, "entity", default=REQUIRED, example="Opportunity_(rover)")
    grade: str = option(
        help="Whether it is a good answer; none takes a judgment back.",
        choices=("right", "partly", "wrong", "none"),
        example="right",
    )
    query: str | None = same_as(JudgeOptions, "query", example="landed +mars")
    type: str | None = same_as(JudgeOptions, "type", example="spacecraft")


@dataclass(frozen=True, kw_only=True)
class JudgmentsParameters(IndexParameters):
    """Ask what was judged."""

    q: str | None = same_as(JudgeOptions, "question", help="Only judgments of this question.", example="landed +mars")


@dataclass(frozen=True, kw_only=True)
class UndoParameters(IndexParameters):
    """Undo a person's judgments."""

    who: str = option(help="Whose judgments: the name of a key, or an address.", longest=200, example="ada")


@dataclass(frozen=True, kw_only=True)
class IndexBody(IndexParameters):
    """Name an index in a body."""


@dataclass(frozen=True, kw_only=True)
class AdoptParameters(IndexParameters):
    """Adopt a learned model."""

    name: str = option(help="The model, as training named it.", longest=50, example="learned-1")


@dataclass(frozen=True, kw_only=True)
class ProposeParameters(IndexParameters):
    """Ask what to judge next."""

    limit: int = shared("limit", default=10, most=100, example=10)
    timeout_ms: int | None = shared("timeout_ms")


@dataclass(frozen=True, kw_only=True)
class SuggestParameters(IndexParameters):
    """Complete the name of a type or an entity."""

    kind: str = option("type", help="What is looked for.", choices=("type", "entity"), example="type")
    prefix: str = same_as(EntitiesOptions, "prefix")
    limit: int = shared("limit", default=10, most=100, example=10)
    type: str | None = shared("type")


@dataclass(frozen=True, kw_only=True)
class TypesParameters(IndexParameters):
    """Walk the tree of types."""

    parent: str | None = option(
        None, help="The type whose subtypes are wanted; the roots without one.", longest=2_000, example=""
    )
    ids: str | None = option(
        None, help="These types instead, with | between ids; others are left out.", longest=8_000, example=""
    )
    offset: int = shared("offset")
    limit: int = shared("limit", default=100)


@dataclass(frozen=True, kw_only=True)
class AnalyzeParameters(IndexParameters):
    """Take a text apart; one that an address can hold, escaped."""

    text: str = same_as(AnalyzeOptions, "text")


@dataclass(frozen=True, kw_only=True)
class AnalyzeBody(AnalyzeParameters):
    """The same in a body, which holds more."""

    text: str = same_as(AnalyzeOptions, "text", longest=60_000)


EMPTY = {"text": {"min_length": 0}}  # a text to be analysed may be empty; others that must be given may not


def build_model(kind: type[Any], settings: Settings) -> type[BaseModel]:
    """The pydantic model of some parameters, with the largest values that the settings allow.

    It is strict, as a JSON body is read: a number is not a text. Unknown names are refused.
    """
    known = options_of(kind)
    changed: dict[str, dict[str, Any]] = {name: EMPTY[name] for name in EMPTY if name in known}
    for name, each in known.items():
        if each.declared.limit:
            bounds = (each.declared.most, getattr(settings, each.declared.limit))
            changed[name] = {"le": min(bound for bound in bounds if bound is not None)}
    annotated: dict[str, Any] = {}
    for name, (hint, default) in annotate_fields(kind, Field, **changed).items():
        told = Field(description=known[name].declared.help, examples=[known[name].declared.example])
        annotated[name] = (Annotated[hint, told], ... if default is REQUIRED else default)
    config = ConfigDict(extra="forbid", strict=True, frozen=True)
    return create_model(kind.__name__, __config__=config, __doc__=kind.__doc__, **annotated)


def names_checker(kind: type[Any]) -> Callable[[Any], Any]:
    """A validator that refuses names which are no parameters."""
    known = options_of(kind)

    def check_names(given: Any) -> Any:
        for name in given if isinstance(given, Mapping) else ():
            if name not in known:
                hint = did_you_mean(name, known).removeprefix("; ") or f"it takes {', '.join(known) or 'none'}"
                raise BadRequest(f"there is no parameter {quote(name)}", hint, quote(name)[1:-1])
        return given

    return check_names


def query_reader(kind: type[Any]) -> Callable[[Any], Any]:
    """A validator that makes numbers and truth values of the texts of a query string, and drops what is left empty.

    Stricter than pydantic's own conversion, which takes `yes` for true and ` 1_0` for ten.
    """
    check_names = names_checker(kind)
    known = options_of(kind)

    def read(given: Mapping[str, str]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, text in check_names(given).items():
            each = known[name]
            if each.kind is bool and text in ("true", "false"):
                values[name] = text == "true"
            elif each.kind is int and _WHOLE.fullmatch(text):
                values[name] = int(text)
            elif each.kind is float and _DECIMAL.fullmatch(text):
                values[name] = float(text)
            elif text or each.required or each.declared.choices or each.kind is not str:
                values[name] = text
        return values

    return read


def parse_query_string(query_string: bytes) -> dict[str, str]:
    """The texts of a query string by name; refuses one that is not UTF-8, has too many names, or a name twice."""
    if not query_string:
        return {}
    try:
        text = query_string.decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_PARAMETERS)
    except UnicodeDecodeError:
        raise BadRequest("the query string is not UTF-8 with % escapes", "escape it as UTF-8") from None
    except ValueError:
        raise BadRequest(f"there are more than {MOST_PARAMETERS} parameters", "give each once") from None
    texts: dict[str, str] = {}
    for name, given in pairs:
        if name in texts:
            raise BadRequest(f"the parameter {quote(name)} is given twice", "give it once", quote(name)[1:-1])
        texts[name] = given
    return texts


def check_media_type(content_type: str) -> None:
    """Refuse a body that does not say that it is JSON."""
    if content_type.partition(";")[0].strip().lower() != JSON:
        raise Refusal(
            415,
            "unsupported",
            f"the body must be JSON, not {quote(content_type or 'something unnamed')}",
            "send Content-Type: application/json",
            {"Accept": JSON},
        )


def explain_invalid(error: Mapping[str, Any], place: Sequence[str | int]) -> BadRequest:
    """An error of pydantic in our words; `place` leads to the parameter, and is empty or a number for a whole body."""
    name = place[0] if place and isinstance(place[0], str) else "body"
    given, bounds = quote(error.get("input")), error.get("ctx", {})
    match error["type"]:
        case "missing" if name != "body":
            return BadRequest(f"the parameter {name} is missing", f"give {name}", name)
        case "string_too_short":
            return BadRequest(f"{name} must not be empty", f"give {name}", name)
        case "string_too_long":
            return BadRequest(f"{name} must have {bounds['max_length']:,} characters at most", "shorten it", name)
        case "greater_than_equal":
            return BadRequest(f"{name} must be {bounds['ge']:,} at least, not {given}", "give a larger number", name)
        case "less_than_equal":
            most = f"{bounds['le']:,}"
            return BadRequest(f"{name} must be {most} at most, not {given}", f"give {name} up to {most}", name)
        case "literal_error":
            choices = bounds["expected"].replace("'", "")
            return BadRequest(f"{name} must not be {str(error['input'])[:80]}", f"give {choices}", name)
        case "int_type" | "int_parsing" | "int_from_float":
            return BadRequest(f"{name} must be a whole number, not {given}", "", name)
        case "float_type" | "float_parsing" | "finite_number":
            return BadRequest(f"{name} must be a number, not {given}", "", name)
        case "bool_type" | "bool_parsing":
            return BadRequest(f"{name} must be true or false, not {given}", "", name)
        case "string_type":
            return BadRequest(f"{name} must be a string, not {given}", "", name)
        case _ if name == "body":
            return BadRequest("the body must be a JSON object", "send one JSON object in UTF-8", "body")
        case _:
            return BadRequest(f"{name}: {error['msg']}", "", name)

"""What the commands share: click options from declared ones, JSON, remarks, and queries with their judgments."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from fader.corpus.queries import FaultCollector, read_qrels, read_queries
from fader.limits import Limits
from fader.options import Option, options_of
from fader.registry import load_plugin

if TYPE_CHECKING:
    from fader.search.batch import Parsed
    from fader.search.index import Index

T = TypeVar("T")
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
SHOWN = 5  # lines that were skipped, and the like


def together(*options: Decorator) -> Decorator:
    """Several options as one, for commands that share them; helps show them in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def declare(cls: type[Any], *names: str, skip: tuple[str, ...] = ()) -> Decorator:
    """The options that a class declares, all or some, as options of a command; `collect` makes an instance of them."""
    known = options_of(cls)
    return together(*(_click_option(known[name]) for name in names or known if name not in skip))


def collect(cls: type[T], given: dict[str, Any], **more: Any) -> T:
    """Take the values of a class's options out of a command's parameters, and make an instance of them."""
    own = {name: given.pop(name) for name in options_of(cls) if name in given}
    return cls(**{name: value for name, value in own.items() if value is not None} | more)


def _click_option(option: Option) -> Decorator:
    declared = option.declared
    flags = declared.flags or ("--" + option.name.replace("_", "-"),)
    if option.kind is bool:
        turned = (lambda _ctx, _param, value: not value) if option.default else None
        return click.option(*flags, option.name, is_flag=True, callback=turned, help=declared.help)
    has_default = not option.required and option.default not in (None, ())
    return click.option(
        *flags,
        option.name,
        type=_click_type(option),
        required=option.required,
        **({"default": option.default, "show_default": declared.show_default} if has_default else {}),
        multiple=option.repeated,
        metavar=declared.metavar or None,
        help=declared.help,
    )


def _click_type(option: Option) -> Any:
    declared = option.declared
    if declared.choices:
        return click.Choice(list(declared.choices))
    if option.kind is Path:
        return click.Path(path_type=Path)
    bounded = not declared.limit and (declared.least is not None or declared.most is not None)
    if bounded and option.kind is int:
        return click.IntRange(_whole(declared.least), _whole(declared.most))
    return click.FloatRange(declared.least, declared.most) if bounded else option.kind


def _whole(bound: float | None) -> int | None:
    return None if bound is None else int(bound)


quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print no progress and no remarks.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
folder_argument = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
at_option = click.option(
    "--at", type=int, metavar="COMMIT", help="Read this commit, not the newest; `fader info` lists them."
)
on_error_option = click.option(
    "--on-error", type=click.Choice(["skip", "fail"]), help="What to do with a line that cannot be used."
)
document_limit_options = together(
    click.option(
        "--max-document-chars", type=int, metavar="N", help="Characters of a text; longer documents are faults."
    ),
    click.option("--max-mentions", type=int, metavar="N", help="Mentions of a document; one with more is a fault."),
)


def document_limits(given: dict[str, Any]) -> Limits:
    """The limits that `document_limit_options` set; takes them out of a command's parameters."""
    characters, mentions = given.pop("max_document_chars"), given.pop("max_mentions")
    return Limits.from_environment(document_characters=characters, document_mentions=mentions)


def _load_plugins(_ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> None:
    for each in given:
        load_plugin(each)


plugin_option = click.option(
    "--plugin",
    multiple=True,
    metavar="FILE",
    expose_value=False,
    is_eager=True,
    callback=_load_plugins,
    help="A Python file with parts of your own; may be repeated. Also FADER_PLUGINS.",
)


class Asked(NamedTuple):
    """The queries of a file, parsed, the judgments (None without a file), and how many lines were skipped."""

    queries: list[Parsed]
    grades: dict[str, dict[str, int]] | None
    skipped: int


def read_asked(index: Index, queries: str, qrels: str | None, on_error: str | None, quiet: bool) -> Asked:
    """Read the queries and judgments of a command; says what was skipped."""
    from fader.search.batch import parse_all  # loads numba, which not every command needs

    fault = FaultCollector(on_error == "skip")
    grades = read_qrels(qrels, fault) if qrels else None
    parsed = parse_all(index, read_queries(queries, fault), fault)
    remark_skipped(fault, quiet)
    return Asked(parsed, grades, len(fault.messages))


def remark_skipped(fault: FaultCollector, quiet: bool) -> None:
    """Say which lines were skipped, the first few one by one."""
    for message in fault.messages[:SHOWN]:
        remark(f"skipped {message}", quiet)
    if len(fault.messages) > SHOWN:
        remark(f"skipped {len(fault.messages) - SHOWN:,} more lines", quiet)


def print_json(value: Any) -> None:
    """One JSON value on standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=1))


def remark(message: str, quiet: bool = False) -> None:
    """A line for people, beside the output."""
    if not quiet:
        print(message, file=sys.stderr, flush=True)


def say_when_compiling(quiet: bool = False) -> None:
    """Say that the first run takes longer, where nothing compiled is cached yet."""
    from fader.kernel import is_compiled  # loads numba, which not every command needs

    if not is_compiled("contexts.nearest"):
        remark("First run: compiling kernels, once, which may take a minute.", quiet)

"""What the commands share: click options from declared ones, how a command speaks, and queries with their judgments.

@click.command("explain", epilog="Example: ...")
@folder_argument
@takes(ExplainOptions)
@plugin_option
@speaks()
def command(folder: Path, options: ExplainOptions, out: Output) -> None: ...
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from fader import compiling
from fader.cli.announcer import Announcer
from fader.corpus.queries import FaultCollector, read_qrels, read_queries
from fader.corpus.readers import display_name
from fader.errors import InputError, UsageError
from fader.lazy import cached_property
from fader.limits import Limits
from fader.options import Option, option, options, options_of
from fader.progress import Progress, progress
from fader.registry import load_plugin
from fader.search.options import on_error_option

if TYPE_CHECKING:
    from fader.search.batch import Parsed
    from fader.search.index import Index

T = TypeVar("T")
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
SHOWN = 5  # lines that were skipped, and the like

plain_folder_argument = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))


def verifies(argument: Decorator) -> Decorator:
    """The folder of an index as an argument, with an option to verify its commit before anything is done with it."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def verified(folder: str | Path, verify: bool, **given: Any) -> Any:
            if verify:
                verify_index(folder, given.get("at"))
            return command(folder=folder, **given)

        help = "Verify checksums and invariants of the index first; for one that somebody else has made."
        return argument(click.option("--verify", is_flag=True, help=help)(verified))

    return decorate


def verify_index(folder: str | Path, at: int | None) -> None:
    """Refuse an index that is not whole."""
    from fader.index.reader import IndexReader  # not for --help

    if "://" in str(folder):
        raise UsageError(f"{folder}: --verify reads a folder of this machine; use `fader check` where its files are")
    IndexReader(folder, verify=True, at=at)


folder_argument = verifies(plain_folder_argument)


def takes(cls: type[Any], *names: str, skip: tuple[str, ...] = (), into: str = "options") -> Decorator:
    """The options that a class declares, all or some, as options of a command, which is given an instance of it."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def collected(**given: Any) -> Any:
            options = collect(cls, given)
            return command(**given, **{into: options})

        return declare(cls, *names, skip=skip)(collected)

    return decorate


def declare(cls: type[Any], *names: str, skip: tuple[str, ...] = ()) -> Decorator:
    """The options that a class declares, all or some, as options of a command; `collect` makes an instance of them."""
    known = options_of(cls)
    return together(*(_click_option(known[name]) for name in names or known if name not in skip))


def collect(cls: type[T], given: dict[str, Any], **more: Any) -> T:
    """Take the values of a class's options out of a command's parameters, and make an instance of them."""
    own = {name: given.pop(name) for name in options_of(cls) if name in given}
    return cls(**{name: value for name, value in own.items() if value is not None} | more)


def together(*options: Decorator) -> Decorator:
    """Several options as one, for commands that share them; helps show them in this order."""
    return lambda command: functools.reduce(lambda decorated, each: each(decorated), reversed(options), command)


def _click_option(option: Option) -> Decorator:
    declared = option.declared
    flags = declared.flags or ("--" + option.name.replace("_", "-"),)
    if option.kind is bool:
        turned = (lambda _ctx, _param, value: not value) if option.default else None
        return click.option(*flags, option.name, is_flag=True, callback=turned, help=declared.help)
    shared: dict[str, Any] = {
        "type": _click_type(option),
        "required": option.required,
        "metavar": declared.metavar or None,
    }
    has_default = not option.required and option.default not in (None, ())
    if has_default:
        shared["default"] = option.default
    if declared.argument:
        return click.argument(option.name, nargs=-1 if option.repeated else 1, **shared)
    shared |= {"multiple": option.repeated, "help": declared.help}
    return click.option(*flags, option.name, show_default=has_default and declared.show_default, **shared)


def _click_type(option: Option) -> Any:
    declared = option.declared
    if declared.choices:
        return click.Choice(list(declared.choices))
    if option.kind is Path:
        return click.Path(path_type=Path)
    if declared.limit or (declared.least is None and declared.most is None):
        return option.kind
    if option.kind is int:
        least, most = (None if bound is None else int(bound) for bound in (declared.least, declared.most))
        return click.IntRange(least, most)
    return click.FloatRange(declared.least, declared.most)


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


@options
class DocumentOptions:
    """Which documents are used: those within the limits, and what to do with others."""

    max_document_chars: int | None = option(
        None, help="Characters per text; a longer document is a fault.", metavar="N"
    )
    max_mentions: int | None = option(None, help="Mentions per document; one with more is a fault.", metavar="N")
    on_error: str | None = on_error_option()

    @property
    def limits(self) -> Limits:
        """Those given, else those of the environment."""
        return Limits.from_environment(document_characters=self.max_document_chars, document_mentions=self.max_mentions)


@dataclass(frozen=True)
class Output:
    """How a command speaks: JSON on standard output where it is asked for, and remarks beside it unless not wanted."""

    as_json: bool = False
    quiet: bool = False

    def remark(self, *lines: str) -> None:
        """Lines for people, on standard error."""
        for line in () if self.quiet else lines:
            print(line, file=sys.stderr, flush=True)

    def remark_skipped(self, fault: FaultCollector) -> None:
        """Say which lines were skipped, the first few one by one."""
        self.remark(*(f"skipped {message}" for message in fault.messages[:SHOWN]))
        if len(fault.messages) > SHOWN:
            self.remark(f"skipped {len(fault.messages) - SHOWN:,} more lines")

    def conclude(self, summary: Any, sentence: str) -> None:
        """What a command came to: as JSON, or as a remark."""
        print_json(summary) if self.as_json else self.remark(sentence)

    def progress(self, title: str) -> AbstractContextManager[Progress]:
        """The progress of long work."""
        return progress(title, self.quiet)

    @cached_property
    def announcer(self) -> Announcer:
        """Says what is compiled, while it is."""
        return Announcer(self.quiet)


def speaks(*, json: bool = True, quiet: bool = True) -> Decorator:
    """`--json` and `--quiet`, or one of them; the command is given an Output."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def speaking(as_json: bool = False, quiet: bool = False, **given: Any) -> Any:
            out = Output(as_json, quiet)
            with compiling.watch(out.announcer):
                return command(**given, out=out)

        options = [click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")] if json else []
        if quiet:
            options.append(click.option("-q", "--quiet", is_flag=True, help="Print no progress and no remarks."))
        return together(*options)(speaking)

    return decorate


def print_json(value: Any) -> None:
    """One JSON value on standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=1))


class Asked(NamedTuple):
    """The queries of a file, parsed, the judgments (None without a file), and how many lines were skipped."""

    queries: list[Parsed]
    grades: dict[str, dict[str, int]] | None
    skipped: int
    questions: dict[str, str]  # by query, "" where a line has none


def read_asked(
    index: Index, queries: str, qrels: str | None, on_error: str | None, out: Output, questions: bool = False
) -> Asked:
    """Read the queries and judgments of a command; says what was skipped."""
    from fader.search.batch import parse_all  # loads numba, which not every command needs

    fault = FaultCollector(on_error == "skip")
    grades = read_qrels(qrels, fault) if qrels else None
    lines = read_queries(queries, fault, questions)
    parsed = parse_all(index, lines, fault, questions)
    out.remark_skipped(fault)
    if not parsed:
        skipped = f", as all {len(fault.messages):,} lines were skipped" if fault.messages else ""
        raise InputError(f"{display_name(queries)}: no query is left to run{skipped}; give a file with one at least")
    return Asked(parsed, grades, len(fault.messages), {line.id: line.question for line in lines})

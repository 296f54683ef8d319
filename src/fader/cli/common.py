"""What the commands share: options, JSON, and the note that kernels are being compiled."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def together(*options: Decorator) -> Decorator:
    """Several options as one, for commands that share them; helps show them in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print no progress and no remarks.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
folder_argument = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
at_option = click.option(
    "--at", type=int, metavar="COMMIT", help="Read this commit, not the newest; `fader info` lists them."
)
on_error_option = click.option(
    "--on-error",
    type=click.Choice(["skip", "fail"]),
    default=None,
    help="What to do with a line that cannot be used.",
)
system_option = click.option(
    "--model", "--system", "model", default="default", show_default=True, metavar="NAME",
    help="What ranks: a model file of `fader train`, default (the model that ships with Fader), or a system such as "
    "proximity(width=20).",
)  # fmt: skip
any_index_option = click.option("--any-index", is_flag=True, help="Use a model that was trained on another index.")


def asked(index: Any, queries: str, qrels: str | None, on_error: str | None, quiet: bool) -> Any:
    """The queries of a file, parsed, the judgments (None without a file), and how many lines were skipped."""
    from fader.corpus.queries import FaultCollector, read_qrels, read_queries
    from fader.search.batch import parse_all

    fault = FaultCollector(on_error == "skip")
    grades = read_qrels(qrels, fault) if qrels else None
    parsed = parse_all(index, read_queries(queries, fault), fault)
    for message in fault.messages[:5]:
        remark(f"skipped {message}", quiet)
    if len(fault.messages) > 5:
        remark(f"skipped {len(fault.messages) - 5:,} more lines", quiet)
    return parsed, grades, len(fault.messages)


def print_json(value: Any) -> None:
    """One JSON value on standard output."""
    print(json.dumps(value, ensure_ascii=False, indent=1))


def remark(message: str, quiet: bool = False) -> None:
    """A line for people, beside the output."""
    if not quiet:
        print(message, file=sys.stderr, flush=True)


def say_when_compiling(quiet: bool = False) -> None:
    """Tell that the first run takes longer, where nothing compiled is cached yet."""
    from fader.kernel import is_compiled

    if not is_compiled("contexts.nearest"):
        remark("First run: compiling kernels, once, which may take a minute.", quiet)

"""The command line: `fader COMMAND`. One command, one file; a command's file is imported when it is called.

Errors become a line on standard error and an exit code here, and nowhere else: 0 done, 1 the input is at fault,
2 wrong usage.
"""

from __future__ import annotations

import importlib
import keyword
import os
import sys
from collections.abc import Mapping
from typing import Any

import click

from fader import __version__
from fader.errors import FaderError, did_you_mean, quote

# Each is a module of this package, with one line of help.
COMMANDS = {
    "add": "Add or replace documents of an index.",
    "analyze": "Show a text's tokens as they are indexed.",
    "annotate": "Mark the entities of a catalog in raw text.",
    "ask": "Ask a question in plain words.",
    "batch": "Run a file of queries and write a TREC run.",
    "check": "Verify every checksum and invariant of an index.",
    "cluster": "Do the same jobs on many machines, with Ray.",
    "compare": "Compare systems by cross-validation and write a report.",
    "contexts": "Write every context of a file of queries as Parquet.",
    "delete": "Delete documents of an index.",
    "demo": "Build the demo index and show what Fader does.",
    "document": "Show a document with its mentions.",
    "discover": "Find the entities of texts and write a catalog.",
    "entities": "Look up entities.",
    "entity": "Show an entity, and its evidence for a query.",
    "evaluate": "Measure TREC runs against judgments and compare them.",
    "explain": "Show why an entity has its rank.",
    "index": "Build an index from an annotated corpus.",
    "import": "Turn foreign formats into a corpus.",
    "info": "Show an index's statistics and commits.",
    "judge": "Say whether an answer is right.",
    "mcp": "Serve tools to one assistant, over standard input and output.",
    "merge": "Merge the segments of an index into one.",
    "paper": "Make the paper's tables, with every system.",
    "search": "Ask for entities and see the evidence.",
    "serve": "Serve indexes over HTTP, with a page.",
    "start": "From files to a page, in one command.",
    "systems": "List the systems that rank, with their parameters.",
    "train": "Train a model on judged queries.",
    "types": "Look up types.",
}


class LazyGroup(click.Group):
    """A group whose commands are imported only when they are needed: `--help` must be quick.

    `lazy` are their names, each with a line of help; each is a module of `package`.
    """

    def __init__(self, *given: Any, lazy: Mapping[str, str], package: str, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.lazy, self.package = lazy, package

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.lazy:
            return None
        module = f"{name}_" if keyword.iskeyword(name) else name
        command: click.Command = importlib.import_module(f"{self.package}.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.lazy.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in self.lazy and not args[0].startswith("-"):
            ctx.fail(f"no command {quote(args[0])}{did_you_mean(args[0], self.lazy)}")
        return super().resolve_command(ctx, args)


@click.command(
    cls=LazyGroup,
    lazy=COMMANDS,
    package="fader.cli",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="fader")
def cli() -> None:
    """Fader: entity search. Ask for things, not pages, and see the evidence.

    \b
    Start with:  fader demo
    """


def main() -> None:
    """Run the command line and end the process with the right exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal of few characters is no reason to fail
    try:
        cli.main(prog_name="fader", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        print("fader: interrupted", file=sys.stderr)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except FaderError as error:
        print(f"fader: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("fader: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of a pipe has gone; keep the interpreter from complaining again while it closes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        print(f"fader: cannot write the output: {error.strerror or error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)

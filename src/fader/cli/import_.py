"""`fader import FORMAT`: foreign formats to corpus.jsonl, entities.tsv, types.tsv, queries.jsonl and qrels.txt.

A format is a command of its own, made from its importer's options; formats are found, never listed here.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import click

from fader.cli.common import (
    json_option,
    on_error_option,
    plugin_option,
    print_json,
    quiet_option,
    remark,
    say_when_compiling,
)
from fader.corpora.frame.run import UNFINISHED, importer, run
from fader.errors import InputError, UsageError, did_you_mean, quote
from fader.progress import progress
from fader.registry import discover


class Formats(click.Group):
    """The importers, as commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(discover("fader.corpora.formats"))

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        part = discover("fader.corpora.formats").get(name)
        return None if part is None else _command(part)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Formats"):
            formatter.write_dl(_titles())

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            known = self.list_commands(ctx)
            hint = did_you_mean(args[0], known) or f"; known: {', '.join(known)}"
            ctx.fail(f"no format {quote(args[0])}{hint}")
        return super().resolve_command(ctx, args)


def _titles() -> list[tuple[str, str]]:
    return [(name, part.title) for name, part in discover("fader.corpora.formats").items()]


@click.command(
    "import",
    cls=Formats,
    invoke_without_command=True,
    epilog="Example: fader import wikipedia enwiki-latest-pages-articles.xml.bz2 -o corpus/",
)
@plugin_option
@click.option("--list", "listed", is_flag=True, help="List the formats, a line each.")
@json_option
@click.pass_context
def command(ctx: click.Context, listed: bool, as_json: bool) -> None:
    """Turn foreign formats into a corpus that `fader index` reads.

    Writes corpus.jsonl, entities.tsv, types.tsv, queries.jsonl and qrels.txt, those that have content, and import.json,
    which says what was found. An import that was interrupted goes on when the same command is given again.
    `fader import FORMAT --help` lists the options of a format.
    """
    if listed:
        if as_json:
            print_json(dict(_titles()))
        else:
            for name, title in _titles():
                click.echo(f"{name:14s}{title}")
        ctx.exit()
    if ctx.invoked_subcommand is None:
        ctx.fail("a format is needed; `fader import --list` lists them")


def _command(part: Any) -> click.Command:
    """The command of an importer: the options of every import, and its own."""
    params: list[click.Parameter] = [click.Argument(["sources"], nargs=-1, required=True, metavar="SRC...")]
    params += _common(lambda: None).__click_params__[::-1]
    params += [_option(field) for field in dataclasses.fields(part)]
    passes = "" if part.passes > 1 or not part.files else " (- for standard input)"
    what = f"Files or folders{passes}, plain or compressed (.gz, .bz2, .zst)." if part.files else "Sources are names."
    return click.Command(
        part.name,
        params=params,
        callback=lambda **given: _run(part, **given),
        help=f"Import {part.title}.\n\n{what} Layout: {part.citation}",
        epilog=f"Example: {part.example}",
    )


def _common(function: Any) -> Any:
    """The options that every import has."""
    for each in (
        quiet_option,
        json_option,
        click.option(
            "--option",
            "written",
            multiple=True,
            metavar="NAME=VALUE",
            help="An option of the format.",
        ),
        click.option("--compress", is_flag=True, help="Write corpus.jsonl.zst."),
        on_error_option,
        click.option("--restart", is_flag=True, help="Forget what an earlier import left in DIR."),
        click.option("--processes", type=int, metavar="N", help="Processes; all cores unless given."),
        click.option(
            "-o", "--output", required=True, metavar="DIR", type=click.Path(path_type=Path), help="The folder."
        ),
    ):
        function = each(function)
    return function


def _option(field: Any) -> click.Option:
    """An option of an importer; its default says what it takes."""
    flag, default = "--" + field.name.replace("_", "-"), field.default
    help_text = field.metadata["help"]
    if isinstance(default, bool):
        name = f"{flag}/--no-{flag[2:]}"
        return click.Option([name, f"own_{field.name}"], default=None, help=f"{help_text} [default: {_yes(default)}]")
    shown = f" [default: {default}]" if default not in ("", ()) else ""
    metavar = "FILE" if field.metadata["path"] else {int: "N", float: "X"}.get(type(default), "TEXT")
    return click.Option([flag, f"own_{field.name}"], default=None, metavar=metavar, help=help_text + shown)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _run(
    part: Any,
    sources: tuple[str, ...],
    output: Path,
    processes: int | None,
    restart: bool,
    on_error: str | None,
    compress: bool,
    written: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    **own: Any,
) -> None:

    options = {name[4:]: value for name, value in own.items() if value is not None}
    for each in written:
        name, equals, value = each.partition("=")
        if not equals:
            raise UsageError(f"--option {quote(each)} is not of the form NAME=VALUE")
        options[name.strip().replace("-", "_")] = value
    made = importer(part.name, **options)
    if made.compiles:
        say_when_compiling(quiet)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        with progress(f"Importing {part.name}", quiet) as reporter:
            many = cores if processes is None else processes
            report = run(made, list(sources), output, many, restart, on_error or "skip", compress, reporter)
    except KeyboardInterrupt:
        if (output / UNFINISHED).exists():
            click.echo(f"{output}: what is done is kept; the same command goes on from there", err=True)
        raise
    for line in report.lines():
        remark(line, quiet)
    if not report.files:
        raise InputError(f"{output}: nothing was found; are the sources {part.title}?")
    if as_json:
        faults = report.faults
        print_json(
            {
                "folder": str(output),
                "format": part.name,
                "files": report.files,
                "counts": report.counts,
                "faults": faults.counts,
                "seconds": report.seconds,
            }
        )
        return
    shown = ", ".join(f"{count:,} {name}" for name, count in report.counts.items())
    remark(f"{output}: {shown}, in {report.seconds:.1f} s", quiet)
    next_step = _next(output, report.files, report.counts["mentions"])
    if next_step:
        remark(f"Next: {next_step}", quiet)


def _next(output: Path, files: list[str], mentions: int) -> str:
    """What to do with what was imported."""
    corpus = next((output / name for name in files if name.startswith("corpus.")), None)
    catalog = f"--entities {output / 'entities.tsv'} --types {output / 'types.tsv'}"
    if corpus is not None and mentions:
        return f"fader index {corpus} {catalog} -o index/"
    if corpus is not None:
        return f"fader annotate {corpus} --entities entities.tsv --types types.tsv -o annotated.jsonl"
    return f"fader index corpus.jsonl {catalog} -o index/" if "entities.tsv" in files else ""

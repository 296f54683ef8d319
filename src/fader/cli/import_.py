"""`fader import FORMAT`: foreign formats to corpus.jsonl, entities.tsv, types.tsv, queries.jsonl and qrels.txt.

A format is a command of its own, made from its importer's options; formats are found, never listed here.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click

from fader.cli.common import Output, collect, declare, plugin_option, print_json, speaks, takes
from fader.corpora.frame.base import Importer
from fader.corpora.frame.run import UNFINISHED, importer, run
from fader.errors import InputError, UsageError, did_you_mean, quote
from fader.jobs.runners import count_cores
from fader.kernel import is_compiled
from fader.options import option, options
from fader.registry import discover
from fader.search.options import on_error_option


@options
class ListOptions:
    """Of all formats."""

    listed: bool = option(False, flags=("--list",), help="List the formats, a line each.")


@options
class ImportOptions:
    """Of every import; a format has its own beside them."""

    sources: tuple[str, ...] = option(help="What to import.", argument=True, metavar="SRC...")
    output: Path = option(help="The folder to write.", flags=("-o", "--output"), metavar="DIR")
    processes: int | None = option(None, help="Processes; all cores by default.", metavar="N")
    restart: bool = option(False, help="Forget what an earlier import left in DIR.")
    on_error: str | None = on_error_option()
    compress: bool = option(False, help="Write corpus.jsonl.zst.")
    written: tuple[str, ...] = option(
        (), help="An option of the format; may be repeated.", flags=("--option",), metavar="NAME=VALUE"
    )


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
@takes(ListOptions)
@speaks(quiet=False)
@click.pass_context
def command(ctx: click.Context, options: ListOptions, out: Output) -> None:
    """Turn foreign formats into a corpus that `fader index` reads.

    Writes corpus.jsonl, entities.tsv, types.tsv, queries.jsonl and qrels.txt, those that have content, and import.json,
    which says what was found. An import that was interrupted goes on when the same command is given again.
    `fader import FORMAT --help` lists the options of a format.
    """
    if options.listed:
        if out.as_json:
            print_json(dict(_titles()))
        else:
            for name, title in _titles():
                click.echo(f"{name:14s}{title}")
        ctx.exit()
    if ctx.invoked_subcommand is None:
        ctx.fail("a format is needed; `fader import --list` lists them")


def _command(part: type[Importer]) -> click.Command:
    """The command of an importer: the options of every import, and its own."""

    @declare(ImportOptions)
    @speaks()
    def command(out: Output, **given: Any) -> None:
        _run(part, collect(ImportOptions, given), given, out)

    passes = "" if part.passes > 1 or not part.files else " (- for standard input)"
    what = f"Files or folders{passes}, plain or compressed (.gz, .bz2, .zst)." if part.files else "Sources are names."
    made = click.command(
        part.name,
        help=f"Import {part.title}.\n\n{what} Layout: {part.citation}",
        epilog=f"Example: {part.example}",
    )(command)
    made.params += [_option(field) for field in dataclasses.fields(part)]  # type: ignore[arg-type]
    return made


def _option(field: Any) -> click.Option:
    """An option of an importer; its default says what it takes."""
    flag, default = "--" + field.name.replace("_", "-"), field.default
    help_text = field.metadata["help"]
    if isinstance(default, bool):
        name, shown = f"{flag}/--no-{flag[2:]}", f" [default: {'yes' if default else 'no'}]"
        return click.Option([name, f"own_{field.name}"], default=None, help=help_text + shown)
    shown = f" [default: {default}]" if default not in ("", ()) else ""
    metavar = "FILE" if field.metadata["path"] else {int: "N", float: "X"}.get(type(default), "TEXT")
    return click.Option([flag, f"own_{field.name}"], default=None, metavar=metavar, help=help_text + shown)


def _run(part: type[Importer], options: ImportOptions, own: dict[str, Any], out: Output) -> None:
    values = {name[4:]: value for name, value in own.items() if value is not None}
    for each in options.written:
        name, equals, value = each.partition("=")
        if not equals:
            raise UsageError(f"--option {quote(each)} is not of the form NAME=VALUE")
        values[name.strip().replace("-", "_")] = value
    made, folder = importer(part.name, **values), options.output
    if made.compiles and not is_compiled("corpora.annotate.scan"):  # maybe in another process
        out.announcer.announce()
    processes = count_cores() if options.processes is None else options.processes
    on_error = options.on_error or "skip"
    try:
        with out.progress(f"Importing {part.name}") as reporter:
            sources = list(options.sources)
            report = run(made, sources, folder, processes, options.restart, on_error, options.compress, reporter)
    except KeyboardInterrupt:
        if (folder / UNFINISHED).exists():
            click.echo(f"{folder}: what is done is kept; the same command goes on from there", err=True)
        raise
    out.remark(*report.lines())
    if not report.files:
        raise InputError(f"{folder}: nothing was found; are the sources {part.title}?")
    summary = {
        "folder": str(folder),
        "format": part.name,
        "files": report.files,
        "counts": report.counts,
        "faults": report.faults.counts,
        "seconds": report.seconds,
    }
    shown = ", ".join(f"{count:,} {name}" for name, count in report.counts.items())
    out.conclude(summary, f"{folder}: {shown}, in {report.seconds:.1f} s")
    next_step = _next(folder, report.files, report.counts["mentions"])
    if next_step and not out.as_json:
        out.remark(f"Next: {next_step}")


def _next(output: Path, files: list[str], mentions: int) -> str:
    """What to do with what was imported."""
    corpus = next((output / name for name in files if name.startswith("corpus.")), None)
    catalog = f"--entities {output / 'entities.tsv'} --types {output / 'types.tsv'}"
    if corpus is not None and mentions:
        return f"fader index {corpus} {catalog} -o index/"
    if corpus is not None:
        return f"fader annotate {corpus} --entities entities.tsv --types types.tsv -o annotated.jsonl"
    return f"fader index corpus.jsonl {catalog} -o index/" if "entities.tsv" in files else ""

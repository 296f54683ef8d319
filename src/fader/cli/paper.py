"""`fader paper`: the paper's tables on testbeds, with every system; the demo by default."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import click
from click.core import ParameterSource

from fader.cli.common import Output, declare, plugin_option, print_json, speaks, takes, verify_index
from fader.errors import UsageError
from fader.experiment.paper.plan import PaperEffort, plan_tables
from fader.experiment.paper.run import PaperPlan, make_tables, prepare
from fader.experiment.paper.testbeds import Testbed, find_testbeds, make_demo
from fader.options import option, options


@options
class PaperOptions:
    """What the tables are about, and where they go."""

    testbeds: tuple[Path, ...] = option(
        (), help="Folders; the demo without one.", argument=True, metavar="[TESTBED]..."
    )
    output: Path = option(help="The folder of indexes, reports and tables.", flags=("-o", "--output"), metavar="DIR")
    index: Path | None = option(None, help="An index in place of a testbed.", metavar="DIR")
    queries: Path | None = option(None, help="With --index: queries.jsonl.", metavar="FILE")
    qrels: Path | None = option(None, help="With --index: judgments in TREC form.", metavar="FILE")
    verify: bool = option(False, help="With --index: verify its checksums and invariants first.")
    own: tuple[str, ...] = option(
        (), help="Options of one testbed: --for wiki='--sample 300 --bad 50'.", flags=("--for",), metavar="NAME=OPTIONS"
    )
    check: bool = option(False, help="Only check that every system can run.")
    anyway: bool = option(False, help="Do not ask whether there is memory enough.")

    def __post_init__(self) -> None:
        given = [self.index is not None, self.queries is not None, self.qrels is not None]
        if any(given) and (not all(given) or self.testbeds):
            raise UsageError("--index, --queries and --qrels go together, without a testbed; give all three")
        if self.verify and self.index is None:
            raise UsageError("--verify goes with --index; a testbed's index is built from its files")


@click.command("paper", epilog="Example: fader paper wiki/ -o tables/ --sample 100")
@takes(PaperOptions)
@takes(PaperEffort, into="effort")
@plugin_option
@speaks()
def command(options: PaperOptions, effort: PaperEffort, out: Output) -> None:
    """Make the paper's tables on each TESTBED, with every system, beside the paper's own numbers.

    A testbed is a folder with corpus.jsonl (or .gz, .zst), entities.tsv, types.tsv, queries.jsonl and qrels.txt.
    Before it starts, it checks that every system can run: packages, folds, memory. What was measured is kept in DIR,
    so that a run that was stopped goes on where it was.
    """
    plan_tables(effort)
    with ExitStack() as stack:
        testbeds = _find(options, stack)
        efforts = read_efforts(options.own, effort, [testbed.name for testbed in testbeds])
        ready = prepare(PaperPlan(testbeds, efforts, options.anyway), options.output, out)
        if options.check:
            return
        files = make_tables(ready, [testbed.name for testbed in testbeds], options.output, out)
    if out.as_json:
        print_json({"folder": str(options.output), "files": [str(file) for file in files]})
    else:
        print("\n".join(map(str, files)))


def _find(options: PaperOptions, stack: ExitStack) -> list[Testbed]:
    if options.index is not None and options.queries is not None and options.qrels is not None:
        if options.verify:
            verify_index(options.index, None)
        return [Testbed(options.index.resolve().name, options.queries, options.qrels, options.index)]
    return find_testbeds(options.testbeds) if options.testbeds else [make_demo(stack)]


@click.command("--for")
@declare(PaperEffort)
def _own_effort(**_given: object) -> None:
    """The options of one testbed."""


def read_efforts(texts: Iterable[str], common: PaperEffort, names: list[str]) -> dict[str, PaperEffort]:
    """What holds for each testbed, by name: the common options, and its own in their place."""
    found = dict.fromkeys(names, common)
    for text in texts:
        name, equals, own = text.partition("=")
        if not equals or name not in found:
            raise UsageError(f"--for {text}: must be NAME=OPTIONS with a testbed's name, one of {', '.join(names)}")
        with _own_effort.make_context("--for", shlex.split(own)) as ctx:
            given = {k: v for k, v in ctx.params.items() if ctx.get_parameter_source(k) is ParameterSource.COMMANDLINE}
        found[name] = dataclasses.replace(found[name], **given)
    return found

"""`fader index`: build an index."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from fader.cli.common import (
    collect,
    declare,
    document_limit_options,
    document_limits,
    json_option,
    on_error_option,
    print_json,
    quiet_option,
    remark,
    say_when_compiling,
    together,
)
from fader.corpus.analysis import Analysis, read_stopwords
from fader.corpus.readers import read_lines
from fader.index.reader import IndexReader
from fader.index.write.writer import BuildOptions, BuildReport, build
from fader.progress import progress

catalog_options = together(
    click.option("--entities", required=True, metavar="FILE", help="entities.tsv: id, name, types, aliases."),
    click.option("--types", required=True, metavar="FILE", help="types.tsv: id, name, supertypes."),
)
analysis_options = together(
    click.option("--stemmer", metavar="LANGUAGE", help="A Snowball stemmer, such as english."),
    click.option("--stopwords", metavar="FILE", help="Words, one per line, that are not indexed."),
)


@click.command(
    "index", epilog="Example: fader index corpus.jsonl.gz --entities entities.tsv --types types.tsv -o index/"
)
@click.argument("corpus", nargs=-1, required=True)
@catalog_options
@click.option("-o", "--output", required=True, metavar="DIR", type=click.Path(path_type=Path), help="The index folder.")
@analysis_options
@declare(BuildOptions, "threads", "memory_mb", "keep_text")
@document_limit_options
@declare(BuildOptions, "overwrite", "keep")
@on_error_option
@json_option
@quiet_option
def command(
    corpus: tuple[str, ...], entities: str, types: str, output: Path, as_json: bool, quiet: bool, **given: Any
) -> None:
    """Build an index from CORPUS files (.jsonl, .gz, .zst, or - for standard input).

    DIR appears whole or not at all. Documents that cannot be used are skipped and counted; a fault in the
    catalog stops the build; --on-error chooses for both.
    """
    options = collect_build(given)
    say_when_compiling(quiet)
    began = time.perf_counter()
    with progress("Indexing", quiet) as reporter:
        report = build(output, list(corpus), entities, types, options, reporter)
    reader = IndexReader(output)
    counts = {"documents": reader.documents, "tokens": reader.tokens, "mentions": reader.mentions}
    remark_faults(report, counts, quiet)
    seconds = time.perf_counter() - began
    if as_json:
        print_json({"index": str(output), **counts, "skipped": count_skipped(report), "seconds": seconds})
    else:
        shown = ", ".join(f"{v:,} {k}" for k, v in counts.items())
        remark(f"{output}: {shown}, in {seconds:.1f} s", quiet)


def collect_build(given: dict[str, Any]) -> BuildOptions:
    """How to build, from the options of `fader index` or `fader cluster build`."""
    on_error, stopwords, limits = given.pop("on_error"), given.pop("stopwords"), document_limits(given)
    words: Sequence[str] = read_stopwords(line for _n, line in read_lines(stopwords)) if stopwords else ()
    return collect(
        BuildOptions,
        given,
        analysis=Analysis(given.pop("stemmer"), tuple(words)),
        on_error=on_error or "skip",
        catalog_on_error=on_error or "fail",
        limits=limits,
    )


def remark_faults(report: BuildReport, counts: dict[str, int], quiet: bool) -> None:
    """Say what could not be used, and whether anything could."""
    for line in [*report.catalog_notes[:5], *report.faults.lines()]:
        remark(line, quiet)
    if not counts["documents"]:
        remark("No usable document was found: the index is empty.", quiet)


def count_skipped(report: BuildReport) -> dict[str, Any]:
    """What was skipped, for JSON."""
    return {"lines": report.faults.counts, "catalog": len(report.catalog_notes)}

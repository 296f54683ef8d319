"""`fader index`: build an index."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from fader.cli.common import DocumentOptions, Output, speaks, takes
from fader.cli.examples import keep_examples
from fader.corpora.files.corpus import annotate_sources, describe_read, split_sources
from fader.corpus.analysis import Analysis, read_stopwords
from fader.corpus.readers import read_lines
from fader.corpus.tables import ENTITIES_HELP, TYPES_HELP
from fader.errors import InputError
from fader.index.reader import IndexReader
from fader.index.write.writer import BuildOptions, BuildReport, build
from fader.options import option, options


@options
class SourceOptions:
    """What an index is built from, where it goes, and how texts become terms."""

    corpus: tuple[str, ...] = option(help="Files of documents, or folders.", argument=True)
    entities: str = option(help=ENTITIES_HELP, flags=("--entities", "--catalog"), metavar="FILE")
    types: str | None = option(None, help=TYPES_HELP, metavar="FILE")
    output: str = option(help="The index folder.", flags=("-o", "--output"), metavar="DIR")
    stemmer: str | None = option(None, help="A Snowball stemmer, such as english.", metavar="LANGUAGE")
    stopwords: str | None = option(None, help="A file of words, one per line, that are not indexed.", metavar="FILE")

    def complete(self, options: BuildOptions, documents: DocumentOptions) -> BuildOptions:
        """How to build, all options taken together; --on-error is for documents and catalog alike."""
        words = read_stopwords(line for _n, line in read_lines(self.stopwords)) if self.stopwords else ()
        return replace(
            options,
            analysis=Analysis(self.stemmer, tuple(words)),
            on_error=documents.on_error or "skip",
            catalog_on_error=documents.on_error or "fail",
            limits=documents.limits,
        )


@click.command(
    "index", epilog="Example: fader index corpus.jsonl.gz --entities entities.tsv --types types.tsv -o index/"
)
@takes(SourceOptions, into="sources")
@takes(BuildOptions)
@takes(DocumentOptions, into="documents")
@speaks()
def command(sources: SourceOptions, options: BuildOptions, documents: DocumentOptions, out: Output) -> None:
    """Build an index from CORPUS files (.jsonl, .gz, .zst, or - for standard input).

    Other files, and folders, are read (docs/files.md) and annotated with the catalog first, as `fader annotate` does.
    DIR appears whole or not at all. Documents that cannot be used are skipped and counted; a fault in the
    catalog stops the build; --on-error chooses for both.
    """
    options, folder = sources.complete(options, documents), Path(sources.output)
    began = time.perf_counter()
    with annotated(sources, options.columns, documents, out) as corpus, out.progress("Indexing") as reporter:
        report = build(folder, corpus, sources.entities, sources.types, options, reporter)
    reader = IndexReader(folder)
    counts = {"documents": reader.documents, "tokens": reader.tokens, "mentions": reader.mentions}
    keep_examples(folder, reader.documents, anew=True)
    remark_faults(report, out)
    seconds = time.perf_counter() - began
    shown = ", ".join(f"{v:,} {k}" for k, v in counts.items())
    out.conclude(
        {"index": str(folder), **counts, "skipped": count_skipped(report), "seconds": seconds},
        f"{folder}: {shown}, in {seconds:.1f} s",
    )
    if not len(reader.catalog.entity_ids):
        out.remark("The catalog has no entity: no query will find one.")
    if not reader.tokens:
        raise InputError(f"{folder}: the index is empty: no document with a word was found; the reasons are above")


@contextmanager
def annotated(
    sources: SourceOptions, columns: str | None, documents: DocumentOptions, out: Output
) -> Iterator[list[str]]:
    """The corpus: what is one already, and what other files become when they are read and annotated."""
    corpora, others = split_sources(sources.corpus, [sources.entities, *filter(None, [sources.types])])
    if not others:
        yield corpora
        return
    from fader.corpora.annotate.options import Options

    with tempfile.TemporaryDirectory(prefix="fader-") as folder, out.progress("Annotating") as reporter:
        made = Path(folder) / "corpus.jsonl"
        how = Options(sources.entities, sources.types, columns)
        on_error = documents.on_error
        report, read = annotate_sources(
            others, made, how, 1, False, on_error or "skip", on_error or "fail", reporter, documents.limits
        )
        out.remark(*(describe_read(read) if read else []), *report.faults.lines())
        out.remark(f"annotated {report.documents:,} documents: {report.mentions:,} mentions")
        yield [*corpora, str(made)]


def remark_faults(report: BuildReport, out: Output) -> None:
    """Say how a catalog was read, and what could not be used."""
    out.remark(*report.tables, *report.catalog_notes[:5], *report.faults.lines())


def count_skipped(report: BuildReport) -> dict[str, object]:
    """What was skipped, for JSON."""
    return {"lines": report.faults.counts, "catalog": len(report.catalog_notes)}

"""`fader annotate`: mark the entities of a catalog in raw text."""

from __future__ import annotations

import time
from pathlib import Path

import click

from fader.cli.change import print_change
from fader.cli.common import DocumentOptions, Output, speaks, takes
from fader.corpora.annotate.options import Options
from fader.corpora.files.corpus import annotate_sources, describe_read, summarise
from fader.errors import InputError
from fader.index.write.change import ChangeOptions
from fader.options import option, options


@options
class JobOptions:
    """From where to where, and how the work is done."""

    text: tuple[str, ...] = option((), help="Files or folders.", argument=True)
    output: str | None = option(
        None, help="The corpus; .gz and .zst compress, - is standard output.", flags=("-o", "--output"), metavar="FILE"
    )
    again: str | None = option(
        None, help="An index whose stored documents are annotated again, with the catalog it has now.", metavar="DIR"
    )
    processes: int = option(1, help="Processes; the output is the same with any number.")
    restart: bool = option(False, help="Forget an unfinished run, replace a finished one.")


@click.command(
    "annotate", epilog="Example: fader annotate notes/*.txt --entities entities.tsv --types types.tsv -o corpus.jsonl"
)
@takes(JobOptions, into="job")
@takes(Options)
@takes(DocumentOptions, into="documents")
@speaks()
def command(job: JobOptions, options: Options, documents: DocumentOptions, out: Output) -> None:
    """Mark the entities of a catalog in TEXT files or folders, and write a corpus that `fader index` takes.

    With --again DIR in place of TEXT, --entities and -o, mark those of an index in its own documents, and replace the
    documents whose mentions change, in one commit.

    Text, Markdown, HTML, PDF, DOCX, mail, tables and archives are read, compressed or not (docs/files.md); - is
    standard input. A plain text file is a document. Names are found as longest matches on words; docs/annotating.md
    has the rules. An interrupted run over text or JSON lines goes on where it was when the same command is given again.
    """
    if job.again is not None:
        _annotate_again(job, options, documents, out)
        return
    if job.output is None:
        raise click.UsageError("Missing option '-o' / '--output'.")
    if out.as_json and job.output == "-":
        raise click.UsageError("--json and the corpus cannot both go to standard output")
    with out.progress("Annotating") as reporter:
        report, read = annotate_sources(
            job.text,
            job.output,
            options,
            job.processes,
            job.restart,
            documents.on_error or "skip",
            documents.on_error or "fail",
            reporter,
            limits=documents.limits,
        )
    out.remark(*(describe_read(read) if read else []), *report.notes, *report.faults.lines())
    summary = {
        "output": job.output,
        "documents": report.documents,
        "mentions": report.mentions,
        "entities": report.entities,
        "names": report.names,
        "skipped": report.faults.counts,
        "seconds": report.seconds,
    } | ({"read": summarise(read)} if read else {})
    shown = f"{report.documents:,} documents, {report.mentions:,} mentions"
    out.conclude(summary, f"{job.output}: {shown} of {report.names:,} names, in {report.seconds:.1f} s")
    if report.documents and report.names and not report.mentions:
        out.remark("no name of the catalog occurs in the texts; fader discover finds names that do")
    if not report.documents:
        raise InputError("no document was annotated: none of the files holds a text that can be used")


def _annotate_again(job: JobOptions, options: Options, documents: DocumentOptions, out: Output) -> None:
    """Annotate the documents of an index again, and say what has changed."""
    from fader.search.again import annotate_again  # an index is opened only for this

    if job.text or job.output is not None or job.restart or job.processes != 1:
        raise click.UsageError("--again takes texts from the index and puts them back; give no TEXT, -o or --restart")
    began = time.perf_counter()
    folder, changing = Path(str(job.again)), ChangeOptions(documents.on_error or "skip", limits=documents.limits)
    with out.progress("Annotating") as reporter:
        report = annotate_again(folder, options, changing, reporter)
    out.remark(*report.notes)
    out.remark(f"{report.mentions:,} mentions of {report.names:,} names in {report.documents:,} documents")
    print_change(folder, report.change, time.perf_counter() - began, out)

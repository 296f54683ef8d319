"""`fader annotate`: mark the entities of a catalog in raw text."""

from __future__ import annotations

import click

from fader.cli.common import DocumentOptions, Output, speaks, takes
from fader.corpora.annotate.options import Options
from fader.corpora.files.corpus import annotate_sources, describe_read, summarise
from fader.errors import InputError
from fader.options import option, options


@options
class JobOptions:
    """From where to where, and how the work is done."""

    text: tuple[str, ...] = option(help="Files or folders.", argument=True)
    output: str = option(
        help="The corpus; .gz and .zst compress, - is standard output.", flags=("-o", "--output"), metavar="FILE"
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

    Text, Markdown, HTML, PDF, DOCX, mail, tables and archives are read, compressed or not (docs/files.md); - is
    standard input. A plain text file is a document. Names are found as longest matches on words; docs/annotating.md
    has the rules. An interrupted run over text or JSON lines goes on where it was when the same command is given again.
    """
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

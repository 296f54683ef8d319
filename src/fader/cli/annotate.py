"""`fader annotate`: mark the entities of a catalog in raw text."""

from __future__ import annotations

import click

from fader.cli.common import DocumentOptions, Output, speaks, takes
from fader.corpora.annotate.options import Options
from fader.corpora.annotate.run import annotate_files
from fader.options import option, options


@options
class JobOptions:
    """From where to where, and how the work is done."""

    text: tuple[str, ...] = option(help="Files of text.", argument=True)
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
    """Mark the entities of a catalog in TEXT files, and write a corpus that `fader index` takes.

    A plain text file is a document. Files may be .gz or .zst; - is standard input. Names are found as longest
    matches on words; docs/annotating.md has the rules. An interrupted run goes on where it was when the same command
    is given again.
    """
    if out.as_json and job.output == "-":
        raise click.UsageError("--json and the corpus cannot both go to standard output")
    with out.progress("Annotating") as reporter:
        report = annotate_files(
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
    out.remark(*report.notes, *report.faults.lines())
    summary = {
        "output": job.output,
        "documents": report.documents,
        "mentions": report.mentions,
        "entities": report.entities,
        "names": report.names,
        "skipped": report.faults.counts,
        "seconds": report.seconds,
    }
    shown = f"{report.documents:,} documents, {report.mentions:,} mentions"
    out.conclude(summary, f"{job.output}: {shown} of {report.names:,} names, in {report.seconds:.1f} s")

"""`fader annotate`: mark the entities of a catalog in raw text."""

from __future__ import annotations

from typing import Any

import click

from fader.cli.common import json_option, on_error_option, print_json, quiet_option, remark, say_when_compiling
from fader.corpora.annotate.options import Options
from fader.corpora.annotate.run import annotate_files
from fader.limits import Limits
from fader.progress import progress


@click.command(
    "annotate", epilog="Example: fader annotate notes/*.txt --entities entities.tsv --types types.tsv -o corpus.jsonl"
)
@click.argument("text", nargs=-1, required=True)
@click.option("--entities", required=True, metavar="FILE", help="entities.tsv: id, name, types, aliases.")
@click.option("--types", metavar="FILE", help="types.tsv: the names of types are context words.")
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The corpus; .gz and .zst compress, - is standard output."
)
@click.option("--lines", "kind", flag_value="lines", help="Every line is a document.")
@click.option(
    "--jsonl", "kind", flag_value="jsonl", help="Lines of JSON with id and text; told by the name .jsonl too."
)
@click.option(
    "--links", multiple=True, metavar="FILE", help="A corpus with mentions, to learn from what names mean. Repeatable."
)
@click.option(
    "--overlaps",
    type=click.Choice(["longest", "nested", "all"]),
    default="longest",
    show_default=True,
    help="Which of overlapping names are mentions.",
)
@click.option("--min-confidence", type=float, default=0.25, show_default=True, help="Leave out less sure mentions.")
@click.option(
    "--common-words",
    metavar="FILE",
    help="Words, one a line, that a name's capital must tell it from; none: no such words. English unless given.",
)
@click.option(
    "--linker",
    type=click.Choice(["dictionary", "spacy"]),
    default="dictionary",
    show_default=True,
    help="What finds the places of mentions.",
)
@click.option("--spacy-model", default="en_core_web_sm", show_default=True, metavar="NAME", help="For --linker spacy.")
@click.option("--processes", type=int, default=1, show_default=True, help="Processes; the output is the same with any.")
@click.option("--max-document-chars", type=int, metavar="N", help="Characters of a text; longer documents are faults.")
@click.option("--max-mentions", type=int, metavar="N", help="Mentions of a document; one with more is a fault.")
@click.option("--restart", is_flag=True, help="Forget an unfinished run, replace a finished one.")
@on_error_option
@json_option
@quiet_option
def command(
    text: tuple[str, ...],
    output: str,
    processes: int,
    restart: bool,
    max_document_chars: int | None,
    max_mentions: int | None,
    on_error: str | None,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Mark the entities of a catalog in TEXT files, and write a corpus that `fader index` takes.

    A plain text file is a document. Files may be .gz or .zst; - is standard input. Names are found as longest
    matches on words; docs/annotating.md has the rules. An interrupted run goes on where it was when the same command
    is given again.
    """

    if as_json and output == "-":
        raise click.UsageError("--json and the corpus cannot both go to standard output")
    limits = Limits.from_environment(document_characters=max_document_chars, document_mentions=max_mentions)
    options = Options(**{**given, "links": tuple(given["links"])})
    say_when_compiling(quiet)
    with progress("Annotating", quiet) as reporter:
        report = annotate_files(
            text, output, options, processes, restart, on_error or "skip", on_error or "fail", reporter, limits=limits
        )
    for line in [*report.notes, *report.faults.lines()]:
        remark(line, quiet)
    counts = {
        "documents": report.documents,
        "mentions": report.mentions,
        "entities": report.entities,
        "names": report.names,
    }
    if as_json:
        print_json({"output": output, **counts, "skipped": report.faults.counts, "seconds": report.seconds})
    else:
        shown = f"{report.documents:,} documents, {report.mentions:,} mentions"
        remark(f"{output}: {shown} of {report.names:,} names, in {report.seconds:.1f} s", quiet)

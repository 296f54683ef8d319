"""`fader discover`: a catalog from texts."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import click

from fader.cli.common import DocumentOptions, Output, speaks, takes
from fader.corpora.discover.find import LEAST, discover, read_texts, write_entities
from fader.corpora.discover.spacy_names import SpacyFinder, find_model
from fader.corpora.files.corpus import describe_read, summarise, write_documents
from fader.corpora.files.walk import find_files
from fader.errors import InputError
from fader.options import option, options


@options
class DiscoverOptions:
    """Where entities are looked for, and how."""

    sources: tuple[str, ...] = option(help="Files or folders.", argument=True, metavar="FILE...")
    output: str = option(help="The catalog.", flags=("-o", "--output"), metavar="FILE")
    least: int = option(LEAST, help="How often a name must be seen.", least=1, metavar="N")
    spacy: bool = option(True, help="Do not use a spaCy model, though one is installed.", flags=("--no-spacy",))
    spacy_model: str | None = option(
        None, help="A spaCy model; by default an English one that is installed.", metavar="NAME"
    )
    overwrite: bool = option(False, help="Replace the catalog that is there.")


@click.command("discover", epilog="Example: fader discover notes/ -o catalog.tsv")
@takes(DiscoverOptions)
@takes(DocumentOptions, into="documents")
@speaks()
def command(options: DiscoverOptions, documents: DocumentOptions, out: Output) -> None:
    """Find the entities of files and folders, and write a catalog that you can edit.

    Names are found by their capitals and typed by patterns; a spaCy model finds more where one is installed.
    docs/discovery.md says how, and how well.
    """
    target = Path(options.output)
    if target.exists() and not options.overwrite:
        raise InputError(f"{target}: is there already; --overwrite replaces it, or choose another output")
    began = time.perf_counter()
    files = find_files(options.sources, [target]).files
    with tempfile.TemporaryDirectory(prefix="fader-") as folder, out.progress("Finding entities") as reporter:
        held = Path(folder) / "documents.jsonl"
        read = write_documents(files, held, documents.on_error or "skip", documents.limits, reporter).report
        finder = None
        if options.spacy and (model := options.spacy_model or find_model()):
            finder = SpacyFinder(model, documents.limits.document_characters)
        entities = discover(read_texts(held, reporter), options.least, finder)
    out.remark(*describe_read(read))
    if not entities:
        raise InputError("no name was found in the texts, so no catalog was written; --least 1 keeps rarer names")
    write_entities(entities, target)
    typed, seconds = sum(bool(each.types) for each in entities), time.perf_counter() - began
    how = {"spacy": finder is not None, "least": options.least}
    counts = {"entities": len(entities), "typed": typed}
    out.conclude(
        {"output": str(target), **counts, "read": summarise(read), **how, "seconds": seconds},
        f"{target}: {len(entities):,} entities, {typed:,} with types, in {seconds:.1f} s",
    )

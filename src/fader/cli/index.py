"""`fader index`: build an index."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from fader.cli.changed import keep_option
from fader.cli.common import (
    json_option,
    on_error_option,
    print_json,
    quiet_option,
    remark,
    say_when_compiling,
)


@click.command(
    "index", epilog="Example: fader index corpus.jsonl.gz --entities entities.tsv --types types.tsv -o index/"
)
@click.argument("corpus", nargs=-1, required=True)
@click.option("--entities", required=True, metavar="FILE", help="entities.tsv: id, name, types, aliases.")
@click.option("--types", required=True, metavar="FILE", help="types.tsv: id, name, supertypes.")
@click.option("-o", "--output", required=True, metavar="DIR", type=click.Path(path_type=Path), help="The index folder.")
@click.option("--stemmer", metavar="LANGUAGE", help="A Snowball stemmer, such as english.")
@click.option("--stopwords", metavar="FILE", help="Words, one a line, that are not indexed.")
@click.option("--threads", type=int, default=1, show_default=True, help="Threads; the index is the same with any.")
@click.option("--memory", type=int, default=2048, show_default=True, metavar="MB", help="Memory a segment may take.")
@click.option("--no-text", is_flag=True, help="Do not store texts: smaller, but without snippets.")
@click.option("--max-document-chars", type=int, metavar="N", help="Characters of a text; longer documents are faults.")
@click.option("--max-mentions", type=int, metavar="N", help="Mentions of a document; one with more is a fault.")
@click.option("--overwrite", is_flag=True, help="Replace the index in DIR once the new one is whole.")
@keep_option
@on_error_option
@json_option
@quiet_option
def command(
    corpus: tuple[str, ...], output: Path, on_error: str | None, as_json: bool, quiet: bool, **given: Any
) -> None:
    """Build an index from CORPUS files (.jsonl, .gz, .zst, or - for standard input).

    DIR appears whole or not at all. Documents that cannot be used are skipped and counted; a fault in the
    catalog stops the build; --on-error chooses for both.
    """
    from fader.corpus.analysis import read_stopwords
    from fader.corpus.readers import read_lines
    from fader.index.manifest import KEEP
    from fader.index.write.writer import BuildReport
    from fader.limits import Limits
    from fader.progress import progress
    from fader.search.index import build

    limits = Limits.from_environment(
        document_characters=given["max_document_chars"], document_mentions=given["max_mentions"]
    )
    say_when_compiling(quiet)
    began = time.perf_counter()
    words = read_stopwords(line for _n, line in read_lines(given["stopwords"])) if given["stopwords"] else ()
    with progress("Indexing", quiet) as reporter:
        index = build(
            output, list(corpus), given["entities"], given["types"], stemmer=given["stemmer"], stopwords=words,
            on_error=on_error or "skip", catalog_on_error=on_error or "fail", memory_mb=given["memory"],
            threads=given["threads"], store_text=not given["no_text"], overwrite=given["overwrite"],
            keep=given["keep"] or KEEP, progress=reporter, limits=limits,
        )  # fmt: skip
    report, reader = index.report, index.reader
    assert isinstance(report, BuildReport)
    for line in [*report.catalog_notes[:5], *report.faults.lines()]:
        remark(line, quiet)
    counts = {"documents": reader.documents, "tokens": reader.tokens, "mentions": reader.mentions}
    seconds = time.perf_counter() - began
    if not reader.documents:
        remark("No usable document was found: the index is empty.", quiet)
    if as_json:
        skipped = {"lines": report.faults.counts, "catalog": len(report.catalog_notes)}
        print_json({"index": str(output), **counts, "skipped": skipped, "seconds": seconds})
    else:
        shown = ", ".join(f"{v:,} {k}" for k, v in counts.items())
        remark(f"{output}: {shown}, in {seconds:.1f} s", quiet)

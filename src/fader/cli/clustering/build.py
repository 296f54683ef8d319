"""`fader cluster build`: an index of shards, by tasks on a Ray cluster."""

from __future__ import annotations

import time
from typing import Any

import click

from fader.cli.changed import keep_option
from fader.cli.clustering import address_option
from fader.cli.common import json_option, on_error_option, print_json, quiet_option, remark, say_when_compiling


@click.command(
    "build",
    epilog="Example: fader cluster build s3://bucket/corpus/*.jsonl.gz --entities s3://bucket/entities.tsv"
    " --types s3://bucket/types.tsv -o /shared/index --shards 64 --address head:6379",
)
@click.argument("corpus", nargs=-1, required=True)
@click.option("--entities", required=True, metavar="FILE", help="entities.tsv: id, name, types, aliases.")
@click.option("--types", required=True, metavar="FILE", help="types.tsv: id, name, supertypes.")
@click.option("-o", "--output", required=True, metavar="DIR", help="The index folder: on shared storage, or a URL.")
@click.option("--shards", type=int, required=True, metavar="N", help="Ranges of document ids, built by a task each.")
@address_option
@click.option("--stemmer", metavar="LANGUAGE", help="A Snowball stemmer, such as english.")
@click.option("--stopwords", metavar="FILE", help="Words, one a line, that are not indexed.")
@click.option("--memory", type=int, default=2048, show_default=True, metavar="MB", help="Memory a segment may take.")
@click.option("--piece", type=int, default=256, show_default=True, metavar="MB", help="Bytes of the corpus for a task.")
@click.option("--no-text", is_flag=True, help="Do not store texts: smaller, but without snippets.")
@click.option("--max-document-chars", type=int, metavar="N", help="Characters of a text; longer documents are faults.")
@click.option("--max-mentions", type=int, metavar="N", help="Mentions of a document; one with more is a fault.")
@click.option("--overwrite", is_flag=True, help="Replace the index in DIR once the new one is whole.")
@click.option("--restart", is_flag=True, help="Begin anew where an unfinished build is in DIR.")
@keep_option
@on_error_option
@json_option
@quiet_option
def command(
    corpus: tuple[str, ...], output: str, shards: int, address: str | None, on_error: str | None, as_json: bool,
    quiet: bool, **given: Any,
) -> None:  # fmt: skip
    """Build an index of N shards from CORPUS files that all nodes see: on shared storage, or fsspec URLs.

    The result is an ordinary index, and opens on one machine too. After a crash of anything the same command goes on
    where it was.
    """
    from fader.cluster.build.driver import ClusterBuildOptions, build, refuse_early
    from fader.cluster.hosts.runtime import connected
    from fader.cluster.jobs.scheduler import OnRay
    from fader.cluster.storage import masked
    from fader.corpus.analysis import Analysis, read_stopwords
    from fader.corpus.readers import read_lines
    from fader.index.manifest import KEEP
    from fader.index.write.writer import BuildOptions
    from fader.limits import Limits
    from fader.progress import progress

    limits = Limits.from_environment(
        document_characters=given["max_document_chars"], document_mentions=given["max_mentions"]
    )
    words = read_stopwords(line for _n, line in read_lines(given["stopwords"])) if given["stopwords"] else ()
    how = BuildOptions(
        Analysis(given["stemmer"], tuple(words)), on_error or "skip", on_error or "fail", given["memory"],
        keep_text=not given["no_text"], overwrite=given["overwrite"], keep=given["keep"] or KEEP, limits=limits,
    )  # fmt: skip
    options = ClusterBuildOptions(shards, how, given["piece"] << 20, restart=given["restart"])
    refuse_early(output, corpus, given["entities"], given["types"], options)
    say_when_compiling(quiet)
    began = time.perf_counter()
    with connected(address) as connection, progress("Building", quiet) as reporter:
        runner = OnRay(connection)
        report = build(output, corpus, given["entities"], given["types"], options, runner, reporter)
    _tell(masked(output), report, runner.lost, time.perf_counter() - began, as_json, quiet)


def _tell(output: str, report: Any, lost: int, seconds: float, as_json: bool, quiet: bool) -> None:
    """What was built, and what could not be used."""
    for line in [*report.catalog_notes[:5], *report.faults.lines()]:
        remark(line, quiet)
    segments, counts = report.manifest.segments, report.manifest.live._asdict()
    tasks = {"done": report.tasks, "done before": report.resumed, "lost and done again": lost}
    if not counts["documents"]:
        remark("No usable document was found: the index is empty.", quiet)
    if as_json:
        skipped = {"lines": report.faults.counts, "catalog": len(report.catalog_notes)}
        shown = {"index": output, **counts, "shards": report.shards, "segments": len(segments), "tasks": tasks}
        print_json({**shown, "skipped": skipped, "seconds": seconds})
    else:
        text = ", ".join(f"{v:,} {k}" for k, v in counts.items())
        work = ", ".join(f"{v:,} {k}" for k, v in tasks.items() if v)
        remark(f"{output}: {text} in {report.shards:,} shards; tasks: {work}; in {seconds:.1f} s", quiet)

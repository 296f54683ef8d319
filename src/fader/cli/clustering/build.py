"""`fader cluster build`: an index of shards, by tasks on a Ray cluster."""

from __future__ import annotations

import time

import click

from fader.cli.clustering import ClusterOptions
from fader.cli.common import DocumentOptions, Output, speaks, takes
from fader.cli.index import SourceOptions, count_skipped, remark_faults
from fader.cluster.build.driver import ClusterBuildOptions, build, refuse_early
from fader.cluster.hosts.runtime import connect
from fader.cluster.jobs.scheduler import OnRay
from fader.cluster.storage import mask_passwords
from fader.errors import InputError
from fader.index.write.writer import BuildOptions
from fader.options import option, options


@options
class ShardOptions:
    """How the work is divided among the nodes."""

    shards: int = option(help="Ranges of document ids, one task each.", metavar="N")
    piece: int = option(256, help="Megabytes of the corpus per task.", metavar="MB")
    restart: bool = option(False, help="Begin anew where an unfinished build is in DIR.")


@click.command(
    "build",
    epilog="Example: fader cluster build s3://bucket/corpus/*.jsonl.gz --entities s3://bucket/entities.tsv"
    " --types s3://bucket/types.tsv -o /shared/index --shards 64 --address head:6379",
)
@takes(SourceOptions, into="sources")
@takes(ShardOptions, into="division")
@takes(ClusterOptions, "address", into="cluster")
@takes(BuildOptions, skip=("threads",))
@takes(DocumentOptions, into="documents")
@speaks()
def command(
    sources: SourceOptions,
    division: ShardOptions,
    cluster: ClusterOptions,
    options: BuildOptions,
    documents: DocumentOptions,
    out: Output,
) -> None:
    """Build an index of N shards from CORPUS files that all nodes see: on shared storage, or fsspec URLs.

    DIR is on shared storage too, or a URL. The result is an ordinary index, and opens on one machine too. After a crash
    of anything the same command goes on where it was.
    """
    whole = ClusterBuildOptions(
        division.shards, sources.complete(options, documents), division.piece << 20, restart=division.restart
    )
    given = (sources.output, sources.corpus, sources.entities, sources.types, whole)
    refuse_early(*given)
    began = time.perf_counter()
    with connect(cluster.address) as connection, out.progress("Building") as reporter:
        runner = OnRay(connection)
        report = build(*given, runner, reporter)
    seconds, folder = time.perf_counter() - began, mask_passwords(sources.output)
    manifest = report.built.manifest
    counts = manifest.live._asdict()
    tasks = {"done": report.tasks, "done before": report.resumed, "lost and done again": runner.lost}
    remark_faults(report.built, out)
    shown = {"index": folder, **counts, "shards": report.shards, "segments": len(manifest.segments), "tasks": tasks}
    text = ", ".join(f"{v:,} {k}" for k, v in counts.items())
    work = ", ".join(f"{v:,} {k}" for k, v in tasks.items() if v)
    out.conclude(
        {**shown, "skipped": count_skipped(report.built), "seconds": seconds},
        f"{folder}: {text} in {report.shards:,} shards; tasks: {work}; in {seconds:.1f} s",
    )
    if not counts["documents"]:
        raise InputError(f"{folder}: the index is empty: no document with a word was found; the reasons are above")

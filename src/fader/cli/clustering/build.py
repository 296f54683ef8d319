"""`fader cluster build`: an index of shards, by tasks on a Ray cluster."""

from __future__ import annotations

import time
from typing import Any

import click

from fader.cli.clustering import address_option
from fader.cli.common import (
    declare,
    document_limit_options,
    json_option,
    on_error_option,
    print_json,
    quiet_option,
    remark,
    say_when_compiling,
)
from fader.cli.index import analysis_options, catalog_options, collect_build, count_skipped, remark_faults
from fader.cluster.build.driver import ClusterBuildOptions, ClusterBuildReport, build, refuse_early
from fader.cluster.hosts.runtime import connect
from fader.cluster.jobs.scheduler import OnRay
from fader.cluster.storage import mask_passwords
from fader.index.write.writer import BuildOptions
from fader.progress import progress


@click.command(
    "build",
    epilog="Example: fader cluster build s3://bucket/corpus/*.jsonl.gz --entities s3://bucket/entities.tsv"
    " --types s3://bucket/types.tsv -o /shared/index --shards 64 --address head:6379",
)
@click.argument("corpus", nargs=-1, required=True)
@catalog_options
@click.option("-o", "--output", required=True, metavar="DIR", help="The index folder: on shared storage, or a URL.")
@click.option("--shards", type=int, required=True, metavar="N", help="Ranges of document ids, built by a task each.")
@address_option
@analysis_options
@declare(BuildOptions, "memory_mb")
@click.option(
    "--piece", type=int, default=256, show_default=True, metavar="MB", help="Megabytes of the corpus per task."
)
@declare(BuildOptions, "keep_text")
@document_limit_options
@declare(BuildOptions, "overwrite")
@click.option("--restart", is_flag=True, help="Begin anew where an unfinished build is in DIR.")
@declare(BuildOptions, "keep")
@on_error_option
@json_option
@quiet_option
def command(
    corpus: tuple[str, ...],
    entities: str,
    types: str,
    output: str,
    shards: int,
    address: str | None,
    piece: int,
    restart: bool,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Build an index of N shards from CORPUS files that all nodes see: on shared storage, or fsspec URLs.

    The result is an ordinary index, and opens on one machine too. After a crash of anything the same command goes on
    where it was.
    """
    options = ClusterBuildOptions(shards, collect_build(given), piece << 20, restart=restart)
    refuse_early(output, corpus, entities, types, options)
    say_when_compiling(quiet)
    began = time.perf_counter()
    with connect(address) as connection, progress("Building", quiet) as reporter:
        runner = OnRay(connection)
        report = build(output, corpus, entities, types, options, runner, reporter)
    _print_report(mask_passwords(output), report, runner.lost, time.perf_counter() - began, as_json, quiet)


def _print_report(
    output: str, report: ClusterBuildReport, lost: int, seconds: float, as_json: bool, quiet: bool
) -> None:
    """What was built, and what could not be used."""
    built = report.built
    segments, counts = built.manifest.segments, built.manifest.live._asdict()
    tasks = {"done": report.tasks, "done before": report.resumed, "lost and done again": lost}
    remark_faults(built, counts, quiet)
    if as_json:
        shown = {"index": output, **counts, "shards": report.shards, "segments": len(segments), "tasks": tasks}
        print_json({**shown, "skipped": count_skipped(built), "seconds": seconds})
    else:
        text = ", ".join(f"{v:,} {k}" for k, v in counts.items())
        work = ", ".join(f"{v:,} {k}" for k, v in tasks.items() if v)
        remark(f"{output}: {text} in {report.shards:,} shards; tasks: {work}; in {seconds:.1f} s", quiet)

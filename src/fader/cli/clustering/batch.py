"""`fader cluster batch`: a file of queries to a TREC run, by tasks on a Ray cluster."""

from __future__ import annotations

import click

from fader.cli.batch import search_all
from fader.cli.clustering import ClusterOptions, check_index, index_argument
from fader.cli.common import Output, plugin_option, speaks, takes
from fader.cluster.hosts.runtime import connect
from fader.cluster.jobs.batch import run
from fader.cluster.jobs.index_handle import open_index
from fader.cluster.jobs.job_shards import holding
from fader.cluster.jobs.scheduler import OnRay
from fader.limits import Limits
from fader.search.batch import refuse_overwriting
from fader.search.options import BatchOptions


@click.command(
    "batch",
    epilog="Example: fader cluster batch /shared/index --queries queries.jsonl --run out.run --address head:6379",
)
@index_argument
@takes(ClusterOptions, into="cluster")
@takes(BatchOptions)
@plugin_option
@speaks()
def command(folder: str, cluster: ClusterOptions, options: BatchOptions, out: Output) -> None:
    """Run every query of a file on an index whose shards are held by the nodes of a cluster, and write a TREC run.

    It has the bytes that `fader batch` writes. After a crash of anything the same command goes on where it was.
    """
    refuse_overwriting(options.output, options.queries, options.qrels)
    check_index(folder, options.at)
    limits = Limits.from_environment(time_ms=options.timeout_ms)
    with (
        connect(cluster.address) as connection,
        holding(connection, folder, options.at, cluster.groups, limits) as held,
    ):
        search_all(open_index(held), lambda *asked: run(OnRay(connection), held, *asked), options, out)

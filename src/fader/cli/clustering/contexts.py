"""`fader cluster contexts`: the evidence of a file of queries as a data set, by tasks on a Ray cluster."""

from __future__ import annotations

import click

from fader.cli.clustering import ClusterOptions, check_index, index_argument
from fader.cli.common import Output, plugin_option, speaks, takes
from fader.cli.contexts import check_output, write_all
from fader.cluster.hosts.runtime import connect
from fader.cluster.jobs import batch
from fader.cluster.jobs.index_handle import open_index
from fader.cluster.jobs.job_shards import holding
from fader.cluster.jobs.scheduler import OnRay
from fader.limits import Limits
from fader.search.options import ContextsOptions


@click.command(
    "contexts",
    epilog="Example: fader cluster contexts /shared/index --queries queries.jsonl -o contexts.parquet"
    " --address head:6379",
)
@index_argument
@takes(ClusterOptions, into="cluster")
@takes(ContextsOptions)
@plugin_option
@speaks()
def command(folder: str, cluster: ClusterOptions, options: ContextsOptions, out: Output) -> None:
    """Write every context of every query of an index whose shards are held by the nodes of a cluster.

    The file has the bytes that `fader contexts` writes. After a crash of anything the same command goes on where it
    was.
    """
    check_output(options)
    check_index(folder, options.at)
    write = batch.letor if options.format == "letor" else batch.contexts
    limits = Limits.from_environment()
    with (
        connect(cluster.address) as connection,
        holding(connection, folder, options.at, cluster.groups, limits) as held,
    ):
        runner = OnRay(connection)
        write_all(open_index(held), lambda *asked, **more: write(runner, held, *asked, **more), options, out)

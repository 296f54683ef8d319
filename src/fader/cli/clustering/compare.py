"""`fader cluster compare`: systems side by side, with queries, folds and systems over the CPUs of a Ray cluster."""

from __future__ import annotations

from typing import Any

import click

from fader.cli.clustering import ClusterOptions, check_index, index_argument
from fader.cli.common import Output, plugin_option, speaks, takes
from fader.cli.compare import compare_all
from fader.cluster.hosts.runtime import connect
from fader.cluster.jobs.compare import Spread, Unsent
from fader.cluster.jobs.index_handle import open_index
from fader.cluster.jobs.job_shards import holding
from fader.experiment.options import CompareOptions
from fader.experiment.reporting.report import check_destination
from fader.limits import Limits

EXAMPLE = (
    "fader cluster compare /shared/index --queries queries.jsonl --qrels qrels.txt --systems 'count,fader' -o report/"
    " --keep kept/ --address head:6379"
)


@click.command("compare", epilog=f"Example: {EXAMPLE}")
@index_argument
@takes(ClusterOptions, into="cluster")
@takes(CompareOptions, skip=("workers",))
@plugin_option
@speaks()
def command(folder: str, cluster: ClusterOptions, options: CompareOptions, out: Output) -> None:
    """Compare systems on the judged queries of an index whose shards are held by the nodes of a cluster.

    The report is that of `fader compare`, but for the seconds. With --keep the same command goes on where it was after
    a crash of anything.
    """
    check_destination(options.output, options.overwrite)
    check_index(folder, options.at)
    limits = Limits.from_environment()
    with (
        connect(cluster.address) as connection,
        holding(connection, folder, options.at, cluster.groups, limits) as held,
    ):

        def spread(judged: Any, reporter: Any) -> tuple[Any, Any, Any]:
            pool = Spread(connection, judged)
            return pool.judged, pool, Unsent(reporter)

        compare_all(open_index(held), spread, options, out)

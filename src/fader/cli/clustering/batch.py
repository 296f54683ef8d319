"""`fader cluster batch`: a file of queries to a TREC run, by tasks on a Ray cluster."""

from __future__ import annotations

from typing import Any

import click

from fader.cli.batch import search_all
from fader.cli.clustering import address_option, check_index, groups_option, index_argument
from fader.cli.common import collect, declare, json_option, plugin_option, quiet_option, say_when_compiling
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
@address_option
@groups_option
@declare(BatchOptions)
@plugin_option
@json_option
@quiet_option
def command(folder: str, address: str | None, groups: int, as_json: bool, quiet: bool, **given: Any) -> None:
    """Run every query of a file on an index whose shards are held by the nodes of a cluster, and write a TREC run.

    It has the bytes that `fader batch` writes. After a crash of anything the same command goes on where it was.
    """
    options = collect(BatchOptions, given)
    say_when_compiling(quiet)
    refuse_overwriting(options.output, options.queries, options.qrels)
    check_index(folder, options.at)
    limits = Limits.from_environment(time_ms=options.timeout_ms)
    with connect(address) as connection, holding(connection, folder, options.at, groups, limits) as held:
        search_all(open_index(held), lambda *asked: run(OnRay(connection), held, *asked), options, as_json, quiet)

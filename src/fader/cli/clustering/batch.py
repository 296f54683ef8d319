"""`fader cluster batch`: a file of queries to a TREC run, by tasks on a Ray cluster."""

from __future__ import annotations

from typing import Any

import click

from fader.cli.batch import batch_options, search_all
from fader.cli.clustering import address_option, check_index, groups_option, index_argument
from fader.cli.common import say_when_compiling


@click.command(
    "batch",
    epilog="Example: fader cluster batch /shared/index --queries queries.jsonl --run out.run --address head:6379",
)
@index_argument
@address_option
@groups_option
@batch_options
def command(
    folder: str, address: str | None, groups: int, at: int | None, timeout_ms: int | None, **given: Any
) -> None:
    """Run every query of a file on an index whose shards are held by the nodes of a cluster, and write a TREC run.

    It has the bytes that `fader batch` writes. After a crash of anything the same command goes on where it was.
    """
    from fader.cluster.hosts.runtime import connected
    from fader.cluster.jobs.batch import run
    from fader.cluster.jobs.index_handle import opened
    from fader.cluster.jobs.job_shards import holding
    from fader.cluster.jobs.scheduler import OnRay
    from fader.limits import Limits
    from fader.search.batch import refuse_overwriting

    say_when_compiling(given["quiet"])
    refuse_overwriting(given["output"], given["queries"], given["qrels"])
    check_index(folder, at)
    limits = Limits.from_environment(time_ms=timeout_ms)
    with connected(address) as connection, holding(connection, folder, at, groups, limits) as held:
        search_all(opened(held), lambda *asked: run(OnRay(connection), held, *asked), **given)

"""`fader cluster contexts`: the evidence of a file of queries as a data set, by tasks on a Ray cluster."""

from __future__ import annotations

from typing import Any

import click

from fader.cli.clustering import address_option, check_index, groups_option, index_argument
from fader.cli.contexts import check_output, contexts_options, write_all


@click.command(
    "contexts",
    epilog="Example: fader cluster contexts /shared/index --queries queries.jsonl -o contexts.parquet"
    " --address head:6379",
)
@index_argument
@address_option
@groups_option
@contexts_options
def command(folder: str, address: str | None, groups: int, at: int | None, **given: Any) -> None:
    """Write every context of every query of an index whose shards are held by the nodes of a cluster.

    The file has the bytes that `fader contexts` writes. After a crash of anything the same command goes on where it
    was.
    """
    from fader.cluster.hosts.runtime import connected
    from fader.cluster.jobs import batch as many
    from fader.cluster.jobs.index_handle import opened
    from fader.cluster.jobs.job_shards import holding
    from fader.cluster.jobs.scheduler import OnRay
    from fader.limits import Limits

    check_output(given)
    check_index(folder, at)
    write = many.letor if given["form"] == "letor" else many.contexts
    with connected(address) as connection, holding(connection, folder, at, groups, Limits.from_environment()) as held:
        runner = OnRay(connection)
        write_all(opened(held), lambda *asked, **options: write(runner, held, *asked, **options), **given)

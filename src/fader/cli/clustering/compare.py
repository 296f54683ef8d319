"""`fader cluster compare`: systems side by side, with queries, folds and systems over the CPUs of a Ray cluster."""

from __future__ import annotations

from typing import Any

import click

from fader.cli.clustering import address_option, check_index, groups_option, index_argument
from fader.cli.common import say_when_compiling
from fader.cli.compare import compare_all, compare_options, reading_options

EXAMPLE = (
    "fader cluster compare /shared/index --queries queries.jsonl --qrels qrels.txt --systems 'count,fader' -o report/"
    " --keep kept/ --address head:6379"
)


@click.command("compare", epilog=f"Example: {EXAMPLE}")
@index_argument
@address_option
@groups_option
@compare_options
@reading_options
def command(folder: str, address: str | None, groups: int, at: int | None, **given: Any) -> None:
    """Compare systems on the judged queries of an index whose shards are held by the nodes of a cluster.

    The report is that of `fader compare`, but for the seconds. With --keep the same command goes on where it was after
    a crash of anything.
    """
    from fader.cluster.hosts.runtime import connected
    from fader.cluster.jobs.compare import Spread, Unsent
    from fader.cluster.jobs.index_handle import opened
    from fader.cluster.jobs.job_shards import holding
    from fader.experiment.reporting.report import check_destination
    from fader.limits import Limits

    say_when_compiling(given["quiet"])
    check_destination(given["output"], given["overwrite"])
    check_index(folder, at)
    with connected(address) as connection, holding(connection, folder, at, groups, Limits.from_environment()) as held:

        def spread(judged: Any, reporter: Any) -> tuple[Any, Any, Any]:
            pool = Spread(connection, judged)
            return pool.judged, pool, Unsent(reporter)

        compare_all(opened(held), spread, **given)

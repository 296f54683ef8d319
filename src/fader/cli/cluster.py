"""`fader cluster`: the commands for many machines, one file each in `clustering/`."""

from __future__ import annotations

import click

from fader.cli import LazyGroup

# Each is a module of fader.cli.clustering, with one line of help.
CLUSTER_COMMANDS = {
    "build": "Build an index of shards from corpus files that all nodes see.",
    "batch": "Run a file of queries and write a TREC run.",
    "contexts": "Write every context of a file of queries as Parquet.",
    "compare": "Compare systems by cross-validation and write a report.",
    "serve": "Serve an index whose shards are held by the nodes of a cluster.",
    "up": "Start a cluster of several nodes on this machine, to try things.",
}


@click.command(
    "cluster",
    cls=LazyGroup,
    lazy=CLUSTER_COMMANDS,
    package="fader.cli.clustering",
    epilog="Example: fader cluster serve /shared/index --address head:6379",
)
def command() -> None:
    """Do the same jobs on many machines, with Ray: the extra `cluster`.

    Results are, bit for bit, those of one machine.
    """

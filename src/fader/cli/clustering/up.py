"""`fader cluster up`: a cluster of several nodes on one machine, until it is interrupted."""

from __future__ import annotations

import signal

import click

from fader.cli.common import quiet_option, remark
from fader.cluster.hosts.local_cluster import LocalCluster
from fader.cluster.hosts.runtime import ensure_token


@click.command("up", epilog="Example: fader cluster up --nodes 3")
@click.option("--nodes", type=click.IntRange(1, 64), default=3, show_default=True, help="Nodes beside the head.")
@click.option("--cpus", type=click.IntRange(1, 1024), default=1, show_default=True, help="CPUs of each node.")
@click.option("--port", type=click.IntRange(0, 65535), default=6379, show_default=True, help="0: any that is free.")
@quiet_option
def command(nodes: int, cpus: int, port: int, quiet: bool) -> None:
    """Start a Ray cluster of several nodes on this machine, to try things; Ctrl-C ends it.

    It listens on 127.0.0.1 alone, under the token of ~/.ray/auth_token, which is made where there is none. Other
    commands of this user find it by --address.
    """
    with LocalCluster(nodes, cpus=cpus, token=ensure_token(), port=port) as cluster:
        remark(f"A cluster of {nodes} nodes: --address {cluster.address}  (Ctrl-C ends)", quiet)
        signal.signal(signal.SIGTERM, _interrupt)
        try:
            while True:  # other signals are no reason to end
                signal.pause()
        except KeyboardInterrupt:
            remark("Ending.", quiet)


def _interrupt(*_given: object) -> None:
    """As Ctrl-C, also where that is ignored, as it is behind the & of a script."""
    raise KeyboardInterrupt

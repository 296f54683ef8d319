"""`fader cluster up`: a cluster of several nodes on one machine, until it is interrupted."""

from __future__ import annotations

import signal

import click

from fader.cli.common import Output, speaks, takes
from fader.cluster.hosts.local_cluster import LocalCluster
from fader.cluster.hosts.runtime import ensure_token
from fader.options import option, options


@options
class LocalClusterOptions:
    """A cluster on this machine."""

    nodes: int = option(3, help="Nodes beside the head.", least=1, most=64)
    cpus: int = option(1, help="CPUs of each node.", least=1, most=1024)
    port: int = option(6379, help="The port; 0: any that is free.", least=0, most=65_535)


@click.command("up", epilog="Example: fader cluster up --nodes 3")
@takes(LocalClusterOptions)
@speaks(json=False)
def command(options: LocalClusterOptions, out: Output) -> None:
    """Start a Ray cluster of several nodes on this machine, to try things; Ctrl-C ends it.

    It listens on 127.0.0.1 alone, under the token of ~/.ray/auth_token, which is made where there is none. Other
    commands of this user find it by --address.
    """
    with LocalCluster(options.nodes, cpus=options.cpus, token=ensure_token(), port=options.port) as cluster:
        out.remark(f"A cluster of {options.nodes} nodes: --address {cluster.address}  (Ctrl-C ends)")
        signal.signal(signal.SIGTERM, _interrupt)
        try:
            while True:  # other signals are no reason to end
                signal.pause()
        except KeyboardInterrupt:
            out.remark("Ending.")


def _interrupt(*_given: object) -> None:
    """As Ctrl-C, also where that is ignored, as it is behind the & of a script."""
    raise KeyboardInterrupt

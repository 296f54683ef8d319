"""`fader cluster serve`: an index on a Ray cluster over HTTP. Puts fader.serve and fader.cluster together."""

from __future__ import annotations

from typing import Any

import click

from fader.cli.clustering import address_option, check_index
from fader.cli.common import remark, say_when_compiling
from fader.cli.serve import check_packages, http_options, named, serve, settings_of


@click.command("serve", epilog="Example: fader cluster serve /shared/index --address head:6379 --groups 16")
@click.argument("folder", metavar="[NAME=]DIR")
@address_option
@click.option(
    "--groups", type=click.IntRange(1, 100_000), metavar="N",
    help="Parts of the index that are asked at once; as many as there are hosts at the start unless given.",
)  # fmt: skip
@click.option(
    "--replicas", type=click.IntRange(1, 16), default=2, show_default=True,
    help="Nodes that hold each group, so that one can be lost.",
)  # fmt: skip
@http_options
def command(
    folder: str, address: str | None, groups: int | None, replicas: int, models: tuple[str, ...],
    reports: tuple[str, ...], workers: int | None, timeout_ms: int, open_page: bool, quiet: bool, **given: Any,
) -> None:  # fmt: skip
    """Serve an index whose shards are held by the nodes of a cluster: on shared storage, or an fsspec URL.

    Each node that offers the resource `shards` holds some groups of shards. New commits are served as they appear. A
    request that some group does not answer is refused (503), never answered in part unless it asks for that.
    """
    check_packages()
    from fader.cluster.hosts.frontend import Front
    from fader.serve import logs
    from fader.serve.run import bound

    say_when_compiling(quiet)
    indexes = named((folder,), "index")
    settings = settings_of(indexes, models, reports, workers, timeout_ms, given)
    (path,) = indexes.values()
    check_index(path, None)
    bound(given["host"], given["port"]).close()  # a port in use is said before hosts are started
    logs.configure(given["log"])
    remark("Starting shard hosts.", quiet)
    with Front(path, address, groups or 0, replicas, time_ms=timeout_ms, watch_seconds=given["watch_seconds"]) as front:
        health = front.health()
        remark(f"Groups of shards: {health['groups']}, on {health['nodes']} nodes.", quiet)
        serve(settings | {"backing": front}, open_page, quiet)

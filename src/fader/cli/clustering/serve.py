"""`fader cluster serve`: an index on a Ray cluster over HTTP. Puts fader.serve and fader.cluster together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from fader.cli.clustering import address_option, check_index
from fader.cli.common import remark, say_when_compiling
from fader.cli.serve import check_packages, collect_settings, http_options, name_paths, serve


@click.command("serve", epilog="Example: fader cluster serve /shared/index --address head:6379 --groups 16")
@click.argument("folder", metavar="[NAME=]DIR")
@address_option
@click.option(
    "--groups",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="Parts of the index that are asked at once; as many as there are hosts at the start unless given.",
)
@click.option(
    "--replicas",
    type=click.IntRange(1, 16),
    default=2,
    show_default=True,
    help="Nodes that hold each group, so that one can be lost.",
)
@http_options
def command(
    folder: str, address: str | None, groups: int | None, replicas: int, open_page: bool, quiet: bool, **given: Any
) -> None:
    """Serve an index whose shards are held by the nodes of a cluster: on shared storage, or an fsspec URL.

    Each node that offers the resource `shards` holds some groups of shards. New commits are served as they appear. A
    request that some group does not answer is refused (503), never answered in part unless it asks for that.
    """
    check_packages()
    from fader.cluster.hosts.frontend import Front  # these need the extra, which was looked for just now
    from fader.serve import logs
    from fader.serve.run import listen

    say_when_compiling(quiet)
    indexes = name_paths((folder,), "index")
    settings = collect_settings(indexes, given)
    (path,) = indexes.values()
    check_index(path, None)
    listen(settings.host, settings.port).close()  # a port in use is reported before hosts are started
    logs.configure(settings.log)
    remark("Starting shard hosts.", quiet)
    watch = settings.watch_seconds
    with Front(path, address, groups or 0, replicas, time_ms=settings.time_ms, watch_seconds=watch) as front:
        health = front.health()
        remark(f"Groups of shards: {health.groups}, on {health.nodes} nodes.", quiet)
        serve(replace(settings, backing=front), open_page, quiet)

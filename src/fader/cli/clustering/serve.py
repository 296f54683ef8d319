"""`fader cluster serve`: an index on a Ray cluster over HTTP. Puts fader.serve and fader.cluster together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from fader.cli.clustering import address_option, check_index
from fader.cli.common import Output, takes, verify_index
from fader.cli.serve import PublishOptions, check_packages, collect_settings, http_options, name_paths, serve
from fader.options import option, options


@options
class HoldOptions:
    """Where the cluster is, and how it holds the index."""

    address: str | None = address_option()
    groups: int | None = option(
        None,
        help="Parts of the index that are asked at once; as many as there are hosts at the start by default.",
        least=1,
        most=100_000,
        metavar="N",
    )
    replicas: int = option(2, help="Nodes that hold each group, so that one can be lost.", least=1, most=16)


@click.command("serve", epilog="Example: fader cluster serve /shared/index --address head:6379 --groups 16")
@click.argument("folder", metavar="[NAME=]DIR")
@takes(HoldOptions)
@http_options
def command(folder: str, options: HoldOptions, published: PublishOptions, out: Output, **given: Any) -> None:
    """Serve an index whose shards are held by the nodes of a cluster: on shared storage, or an fsspec URL.

    Each node that offers the resource `shards` holds some groups of shards. New commits are served as they appear. A
    request that some group does not answer is refused (503), never answered in part unless it asks for that.
    """
    check_packages()
    from fader.cluster.hosts.frontend import Front  # these need the extra, which was looked for just now
    from fader.serve import logs
    from fader.serve.run import listen

    indexes = name_paths((folder,), "index")
    settings = collect_settings(indexes, published, given)
    (path,) = indexes.values()
    check_index(path, None)
    if published.verify:
        verify_index(path, None)
    listen(settings.host, settings.port).close()  # a port in use is reported before hosts are started
    logs.configure(settings.log)
    out.remark("Starting shard hosts.")
    with Front(
        path,
        options.address,
        options.groups or 0,
        options.replicas,
        time_ms=settings.time_ms,
        watch_seconds=settings.watch_seconds,
    ) as front:
        health = front.health()
        out.remark(f"Groups of shards: {health.groups}, on {health.nodes} nodes.")
        serve(replace(settings, backing=front, is_remote=True), published.open_page, out)

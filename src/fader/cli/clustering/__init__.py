"""The commands of `fader cluster`, one file each, and what they share: where the cluster is."""

from __future__ import annotations

from pathlib import Path

import click

from fader.index.commit import read_commit

address_option = click.option(
    "--address",
    metavar="HOST:PORT",
    help="The head of the Ray cluster, or local: a Ray of this machine alone. Unless given RAY_ADDRESS, else local.",
)
groups_option = click.option(
    "--groups",
    type=click.IntRange(0, 100_000),
    default=0,
    metavar="N",
    help="Parts of the index that are asked at once, as many as it has segments at most; 0: one for each node.",
)
index_argument = click.argument("folder", metavar="DIR")


def check_index(folder: str, at: int | None) -> None:
    """Refuse a plain folder that is no index before anything is started."""
    if "://" not in folder:
        read_commit(Path(folder), at)

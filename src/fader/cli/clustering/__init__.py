"""The commands of `fader cluster`, one file each, and what they share: where the cluster is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fader.cli.common import verifies
from fader.index.commit import read_commit
from fader.options import option, options

index_argument = verifies(click.argument("folder", metavar="DIR"))


def address_option() -> Any:
    help = "The head of the Ray cluster, or local: a Ray of this machine alone. RAY_ADDRESS by default, else local."
    return option(None, help=help, metavar="HOST:PORT")


@options
class ClusterOptions:
    """Where the cluster is, and into how many parts an index is divided there."""

    address: str | None = address_option()
    groups: int = option(
        0,
        help="Parts of the index that are asked at once, as many as it has segments at most; 0: one for each node.",
        least=0,
        most=100_000,
        metavar="N",
        show_default=False,
    )


def check_index(folder: str, at: int | None) -> None:
    """Refuse a plain folder that is no index before anything is started."""
    if "://" not in folder:
        read_commit(Path(folder), at)

"""`fader info`: what is in an index, and which of its commits can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fader.cli.common import Output, folder_argument, print_json, speaks, takes
from fader.options import options
from fader.search.index import Index
from fader.search.info import describe_index
from fader.search.options import at_option


@options
class InfoOptions:
    """Describe an index."""

    at: int | None = at_option()


@click.command("info", epilog="Example: fader info index/")
@folder_argument
@takes(InfoOptions)
@speaks(quiet=False)
def command(folder: Path, options: InfoOptions, out: Output) -> None:
    """Show statistics of the index in DIR, and the commits that are kept."""
    described = describe_index(Index.open(folder, at=options.at).collection).to_dict()
    if out.as_json:
        print_json(described)
        return
    commits = described.pop("commits")
    for name, value in described.items():
        print(f"{name.replace('_', ' '):<18} {_show_value(value)}")
    for i, commit in enumerate(commits):
        if "problem" in commit:
            line = f"cannot be read: {commit['problem']}"
        else:
            counts = ("documents", "segments", "bytes")
            shown = ", ".join(f"{commit[c]:,} {c[:-1] if commit[c] == 1 else c}" for c in counts)
            line = f"{commit['time']}  {commit['operation']['name']}: {shown}"
        print(f"{'' if i else 'commits':<18} {commit['commit']}  {line}")


def _show_value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_show_value(v)}" for k, v in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)

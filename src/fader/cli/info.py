"""`fader info`: what is in an index, and which of its commits can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fader.cli.common import at_option, folder_argument, json_option, print_json
from fader.search.index import Index
from fader.search.info import describe_index


@click.command("info", epilog="Example: fader info index/")
@folder_argument
@at_option
@json_option
def command(folder: Path, at: int | None, as_json: bool) -> None:
    """Show statistics of the index in DIR, and the commits that are kept."""

    described = describe_index(Index.open(folder, at=at).collection).to_dict()
    if as_json:
        print_json(described)
        return
    for name, value in described.items():
        if name == "commits":
            for i, commit in enumerate(value):
                print(f"{'commits' if i == 0 else '':<18} {_line(commit)}")
        else:
            print(f"{name.replace('_', ' '):<18} {_show_value(value)}")


def _show_value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_show_value(v)}" for k, v in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)


def _line(commit: dict[str, Any]) -> str:
    """A commit for people."""
    if "problem" in commit:
        return f"{commit['commit']}  cannot be read: {commit['problem']}"
    counts = ("documents", "segments", "bytes")
    shown = ", ".join(f"{commit[c]:,} {c[:-1] if commit[c] == 1 else c}" for c in counts)
    return f"{commit['commit']}  {commit['time']}  {commit['operation']['name']}: {shown}"

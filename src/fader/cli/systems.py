"""`fader systems`: every system that ranks, with its parameters. Knows nothing of indexes."""

from __future__ import annotations

from dataclasses import asdict

import click

from fader.cli.common import Output, plugin_option, print_json, speaks, takes
from fader.errors import UsageError, did_you_mean, quote
from fader.options import option, options
from fader.registry import discover
from fader.search.system_info import describe_system


@options
class SystemsOptions:
    """List systems."""

    name: str = option("", help="The only one to show.", argument=True)


@click.command("systems", epilog="Example: fader systems voting")
@takes(SystemsOptions)
@plugin_option
@speaks(quiet=False)
def command(options: SystemsOptions, out: Output) -> None:
    """List the systems, or one of them: parameters with defaults and what is tried, what it does, where it is from.

    In `compare` and `train --system` a parameter that is not given takes, on the training queries, the best of the
    values that are worth trying.
    """
    name, known = options.name, discover("fader.systems")
    if name and name not in known:
        raise UsageError(f"no system {quote(name)}{did_you_mean(name, known)}")
    rows = [describe_system(part) for key, part in known.items() if not name or key == name]
    if out.as_json:
        print_json([asdict(row) for row in rows])
        return
    for row in rows:
        print(f"{row.name}  {row.description}")
        if row.citation:
            print(f"    {row.citation}")
        for parameter in row.parameters:
            tried = f"   tried: {', '.join(parameter.tried)}" if parameter.tried else ""
            print(f"    {parameter.name}={parameter.default}{tried}")

"""`fader serve`: indexes over HTTP, and the page. Knows nothing of HTTP itself."""

from __future__ import annotations

import gc
import importlib.util
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from fader.cli.common import Output, collect, declare, plugin_option, speaks, takes, together
from fader.errors import InputError, UsageError, quote
from fader.options import option, options
from fader.serve.backing import Folders
from fader.serve.settings import Settings

_WITH_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,63})=(.+)", re.DOTALL)


@options
class PublishOptions:
    """What is served beside indexes, as it is typed."""

    models: tuple[str, ...] = option(
        (),
        help="A model of `fader train`; may be repeated. The first that fits an index ranks it by default.",
        flags=("--model",),
        metavar="[NAME=]FILE[@INDEX]",
    )
    reports: tuple[str, ...] = option(
        (), help="A report of `fader compare`; may be repeated.", flags=("--report",), metavar="[NAME=]DIR"
    )
    open_page: bool = option(False, help="Open the page in a browser.", flags=("--open",))
    verify: bool = option(False, help="Verify every commit before it is served; for an index that somebody else made.")


# How any index is served, wherever it is.
http_options = together(takes(PublishOptions, into="published"), declare(Settings), plugin_option, speaks(json=False))


@click.command("serve", epilog="Example: fader serve index/ --model trained=model.json --open")
@click.argument("folders", metavar="[NAME=]DIR...", nargs=-1, required=True)
@http_options
def command(folders: tuple[str, ...], published: PublishOptions, out: Output, **given: Any) -> None:
    """Serve indexes over HTTP, with a page for people.

    An index has the name of its folder unless one is given; a request that names no index asks the first. New commits
    are served as they appear. Ctrl-C ends the server when all requests that it has are answered.
    """
    settings = collect_settings(name_paths(folders, "index"), published, given)
    serve(replace(settings, backing=Folders(published.verify)), published.open_page, out)


def collect_settings(indexes: dict[str, str], published: PublishOptions, given: dict[str, Any]) -> Settings:
    """The settings of a server, from its options."""
    reports = {name: Path(text) for name, text in name_paths(published.reports, "report").items()}
    for folder in reports.values():
        if not (folder / "report.json").is_file():
            raise InputError(f"{folder}: holds no report; give a folder that `fader compare -o` has written")
    models: dict[str, tuple[Path, str | None]] = {}
    for name, text in name_paths(published.models, "model").items():
        file, at, index = text.rpartition("@")
        models[name] = (Path(file), index) if at and index in indexes else (Path(text), None)
    folders = {name: Path(text) for name, text in indexes.items()}
    return collect(Settings, given, indexes=folders, models=models, reports=reports)


def serve(settings: Settings, open_page: bool, out: Output) -> None:
    """Serve until interrupted; says where."""
    check_packages()
    gc.disable()  # nothing that is imported becomes garbage; `run` turns it on again
    from fader.serve.run import run  # needs the extra, which was looked for just now

    def on_ready(address: str) -> None:
        out.remark(f"Serving {', '.join(settings.indexes)} at {address}  (Ctrl-C ends)")
        if open_page:
            click.launch(address)

    try:
        run(settings, on_ready)
    finally:
        gc.enable()


def check_packages() -> None:
    """Refuse to serve where the extra is not installed."""
    if not all(importlib.util.find_spec(name) for name in ("fastapi", "uvicorn")):
        raise UsageError("serving needs more packages; pip install 'fader[serve]'")


def name_paths(given: tuple[str, ...], what: str) -> dict[str, str]:
    """`NAME=PATH` or `PATH`, which has the name of its last part, for a model without the suffix."""
    found: dict[str, str] = {}
    for text in given:
        match = _WITH_NAME.fullmatch(text)
        path = match[2] if match else text
        if match:
            name = match[1]
        else:
            last = Path(text.partition("@")[0]).resolve().stem if what == "model" else Path(text).resolve().name
            name = re.sub(r"[^A-Za-z0-9_.-]+", "-", last).strip("-.") or what
        if name in found:
            raise UsageError(f"two have the name {quote(name)}; give one of them another: OTHER={path}")
        found[name] = path
    return found

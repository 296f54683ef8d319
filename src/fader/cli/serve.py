"""`fader serve`: indexes over HTTP, and the page. Knows nothing of HTTP itself."""

from __future__ import annotations

import gc
import importlib.util
import re
from pathlib import Path
from typing import Any

import click

from fader.cli.common import collect, declare, plugin_option, quiet_option, remark, say_when_compiling, together
from fader.errors import InputError, UsageError, quote
from fader.serve.settings import Settings

_WITH_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,63})=(.+)", re.DOTALL)

# How any index is served, wherever it is.
http_options = together(
    click.option(
        "--model",
        "models",
        multiple=True,
        metavar="[NAME=]FILE[@INDEX]",
        help="A model of `fader train`; several are allowed. The first that fits an index ranks it by default.",
    ),
    click.option("--report", "reports", multiple=True, metavar="[NAME=]DIR", help="A report of `fader compare`."),
    declare(Settings),
    plugin_option,
    click.option("--open", "open_page", is_flag=True, help="Open the page in a browser."),
    quiet_option,
)


@click.command("serve", epilog="Example: fader serve index/ --model trained=model.json --open")
@click.argument("folders", metavar="[NAME=]DIR...", nargs=-1, required=True)
@http_options
def command(folders: tuple[str, ...], open_page: bool, quiet: bool, **given: Any) -> None:
    """Serve indexes over HTTP, with a page for people.

    An index has the name of its folder unless one is given; the first is asked where none is named. New commits are
    served as they appear. It ends with Ctrl-C, when all requests that it has are answered.
    """
    say_when_compiling(quiet)
    serve(collect_settings(name_paths(folders, "index"), given), open_page, quiet)


def collect_settings(indexes: dict[str, str], given: dict[str, Any], **more: Any) -> Settings:
    """The settings of a server, from its options."""
    models, reports = name_paths(given.pop("models"), "model"), name_paths(given.pop("reports"), "report")
    for folder in map(Path, reports.values()):
        if not (folder / "report.json").is_file():
            raise InputError(f"{folder}: holds no report; give a folder that `fader compare -o` has written")
    return collect(
        Settings,
        given,
        indexes={name: Path(text) for name, text in indexes.items()},
        models={name: _split_model(text, indexes) for name, text in models.items()},
        reports={name: Path(text) for name, text in reports.items()},
        **more,
    )


def serve(settings: Settings, open_page: bool, quiet: bool) -> None:
    """Serve until interrupted; says where."""
    check_packages()
    gc.disable()  # nothing that is imported becomes garbage; `run` turns it on again
    from fader.serve.run import run  # needs the extra, which was looked for just now

    def on_ready(address: str) -> None:
        remark(f"Serving {', '.join(settings.indexes)} at {address}  (Ctrl-C ends)", quiet)
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
    """`NAME=PATH` or `PATH`, which has the name of its last part without a suffix."""
    found: dict[str, str] = {}
    for text in given:
        match = _WITH_NAME.fullmatch(text)
        name, path = (match[1], match[2]) if match else (_default_name(text, what), text)
        if name in found:
            raise UsageError(f"two of the name {quote(name)}; give one another: OTHER={path}")
        found[name] = path
    return found


def _default_name(text: str, what: str) -> str:
    path = Path(text.partition("@")[0] if what == "model" else text)
    stem = path.resolve().stem if what == "model" else path.resolve().name
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", stem).strip("-.") or what


def _split_model(text: str, indexes: dict[str, str]) -> tuple[Path, str | None]:
    """The file of a model, and the index it is for where one is named behind an @."""
    file, at, index = text.rpartition("@")
    return (Path(file), index) if at and index in indexes else (Path(text), None)

"""`fader serve`: indexes over HTTP, and the page. Knows nothing of HTTP itself."""

from __future__ import annotations

import gc
import re
from pathlib import Path
from typing import Any

import click

from fader.cli.common import quiet_option, remark, say_when_compiling, together
from fader.errors import InputError, UsageError, quoted

_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,63})=(.+)", re.DOTALL)


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
    click.option(
        "--host",
        default="127.0.0.1",
        show_default=True,
        help="Where to listen; others than this machine reach only other addresses.",
    ),
    click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="0: any that is free."),
    click.option(
        "--workers",
        type=click.IntRange(1, 1024),
        metavar="N",
        help="Requests that are ranked at a time; as many as there are cores.",
    ),
    click.option(
        "--queue",
        type=click.IntRange(0, 100_000),
        default=32,
        show_default=True,
        help="Requests that may wait; more are refused.",
    ),
    click.option(
        "--timeout-ms",
        type=click.IntRange(1, 3_600_000),
        default=1000,
        show_default=True,
        help="Time of a request, waiting included.",
    ),
    click.option(
        "--keys",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Answer only with a key of this file; its lines: name key [rate].",
    ),
    click.option(
        "--rate",
        type=click.FloatRange(0, 1e6),
        default=0.0,
        metavar="N",
        help="Requests a second of a key, or of an address without keys; 0: no limit.",
    ),
    click.option("--cors", multiple=True, metavar="ORIGIN", help="Pages of this origin may ask; * for all."),
    click.option(
        "--allow-host",
        "allow_hosts",
        multiple=True,
        metavar="NAME",
        help="A name under which the server is asked; * for any.",
    ),
    click.option(
        "--proxy",
        "proxies",
        multiple=True,
        metavar="ADDRESS",
        help="A proxy whose word on a client's address is taken.",
    ),
    click.option(
        "--watch",
        "watch_seconds",
        type=click.FloatRange(0, 86_400),
        default=2.0,
        show_default=True,
        metavar="SECONDS",
        help="How often to look for new commits; 0: only at SIGHUP.",
    ),
    click.option(
        "--log",
        type=click.Choice(["json", "text"]),
        default="text",
        show_default=True,
        help="The form of the log, on standard error.",
    ),
    click.option("--log-queries", is_flag=True, help="Write into the log what was searched for."),
    click.option("--open", "open_page", is_flag=True, help="Open the page in a browser."),
    quiet_option,
)


@click.command("serve", epilog="Example: fader serve index/ --model trained=model.json --open")
@click.argument("folders", metavar="[NAME=]DIR...", nargs=-1, required=True)
@http_options
def command(
    folders: tuple[str, ...], models: tuple[str, ...], reports: tuple[str, ...], workers: int | None,
    timeout_ms: int, open_page: bool, quiet: bool, **given: Any,
) -> None:  # fmt: skip
    """Serve indexes over HTTP, with a page for people.

    An index has the name of its folder unless one is given; the first is asked where none is named. New commits are
    served as they appear. It ends with Ctrl-C, when all requests that it has are answered.
    """
    say_when_compiling(quiet)
    indexes = named(folders, "index")
    serve(settings_of(indexes, models, reports, workers, timeout_ms, given), open_page, quiet)


def settings_of(
    indexes: dict[str, str], models: tuple[str, ...], reports: tuple[str, ...], workers: int | None, timeout_ms: int,
    given: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """The settings of a server, of its options."""
    settings: dict[str, Any] = given | {
        "indexes": {name: Path(text) for name, text in indexes.items()},
        "models": {name: _model(text, indexes) for name, text in named(models, "model").items()},
        "reports": {name: Path(text) for name, text in named(reports, "report").items()},
        "time_ms": timeout_ms,
    }
    if workers is not None:
        settings["workers"] = workers
    for folder in settings["reports"].values():
        if not (folder / "report.json").is_file():
            raise InputError(f"{folder}: holds no report; give a folder that `fader compare -o` has written")
    return settings


def serve(given: dict[str, Any], open_page: bool, quiet: bool) -> None:
    """Serve until told to end; says where."""
    check_packages()
    gc.disable()  # nothing that is imported becomes garbage; `run` turns it on again
    from fader.serve.run import run
    from fader.serve.settings import Settings

    settings = Settings(**given)

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
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise UsageError("serving needs more packages; pip install 'fader[serve]'") from None


def named(given: tuple[str, ...], what: str) -> dict[str, str]:
    """`NAME=PATH` or `PATH`, which has the name of its last part without a suffix."""
    found: dict[str, str] = {}
    for text in given:
        match = _NAMED.fullmatch(text)
        name, path = (match[1], match[2]) if match else (_own_name(text, what), text)
        if name in found:
            raise UsageError(f"two of the name {quoted(name)}; give one another: OTHER={path}")
        found[name] = path
    return found


def _own_name(text: str, what: str) -> str:
    path = Path(text.partition("@")[0] if what == "model" else text)
    stem = path.resolve().stem if what == "model" else path.resolve().name
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", stem).strip("-.") or what


def _model(text: str, indexes: dict[str, str]) -> tuple[Path, str | None]:
    """The file of a model, and the index it is for where one is named behind an @."""
    file, at, index = text.rpartition("@")
    return (Path(file), index) if at and index in indexes else (Path(text), None)

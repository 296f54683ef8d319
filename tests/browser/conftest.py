"""One browser and one service for all tests of the page in a test process, made when the first of them needs them.

They end with the last test of this folder: the event loop of the browser's driver stands in the way of tests elsewhere
that run one of their own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("playwright")
pytest.importorskip("axe_playwright_python")

import httpx
from playwright.sync_api import Browser

from browser import hostile
from browser.chromium import launched
from browser.visits import Site, Visits
from cli.running import passed
from dose import dose
from fader.serve.settings import Settings
from serve.live import running

COMPILED = 400  # seconds
TIME_MS = 60_000  # of a query: tests of the page are no tests of its speed
Serve = Callable[[Settings], Site]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


@pytest.fixture(scope="package")
def client() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=120) as found:
        yield found


@pytest.fixture(scope="package")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `fader demo DIR` writes, with a report beside it."""
    place = tmp_path_factory.mktemp("browser") / "demo"
    passed("demo", place, "--quiet")
    judged = ("--queries", place / "queries.jsonl", "--qrels", place / "qrels.txt")
    passed(
        "compare", place / "index", *judged, "--systems", "count,voting,proximity", "-o", place / "report", "--quiet"
    )
    return place


@pytest.fixture(scope="package")
def settings(demo: Path) -> Settings:
    """What the service of most tests is started with."""
    return Settings(
        indexes={"demo": demo / "index"},
        models={"trained": (demo / "model.json", None)},
        reports={"demo": demo / "report"},
        time_ms=TIME_MS,
    )


def ready(site: Site, query: str) -> Site:
    """The service when all that pages ask for is compiled: no page waits for that."""
    for model in ("default", "count", "proximity", "voting", "voting(technique=combmnz)", "balog2"):
        end = time.monotonic() + COMPILED
        asked = {"q": query, "model": model, "k": 1, "explain": "true"}
        while site.client.get(f"{site.url}/v1/search", params=asked).status_code == 504:
            assert time.monotonic() < end, f"{model} is not ready after {COMPILED} s"
    for path in ("/v1/suggest?prefix=a", "/v1/suggest?prefix=a&kind=entity", "/v1/types", "/v1/systems"):
        site.client.get(site.url + path)
    return site


@pytest.fixture(scope="package")
def site(settings: Settings, client: httpx.Client) -> Iterator[Site]:
    """The demo, served."""
    with running(settings) as url:
        yield ready(Site(url, client), "violin")


@pytest.fixture(scope="package")
def evil(tmp_path_factory: pytest.TempPathFactory, client: httpx.Client) -> Iterator[Site]:
    """The hostile corpus, served."""
    place = tmp_path_factory.mktemp("evil")
    hostile.build(place / "index")
    hostile.report(place / "report")
    settings = Settings(indexes={"evil": place / "index"}, reports={"evil": place / "report"}, time_ms=TIME_MS)
    with running(settings) as url:
        yield ready(Site(url, client), hostile.QUERY)


@pytest.fixture
def serve(client: httpx.Client) -> Iterator[Serve]:
    """Start a service with settings of the test's own."""
    with ExitStack() as stack:
        yield lambda settings: Site(stack.enter_context(running(settings)), client)


@pytest.fixture
def visit(
    browser: Browser, site: Site, request: pytest.FixtureRequest, tmp_path: Path, serve: Serve
) -> Iterator[Visits]:
    """Opens pages; checks them all at the end of a test, and takes pictures where it failed."""
    visits = Visits(browser, site)
    try:
        yield visits
        if request.node.stash.get(FAILED, False):
            print("pictures:", *visits.picture(tmp_path))
        else:
            visits.check()
    finally:
        visits.close()


FAILED = pytest.StashKey[bool]()
HERE = Path(__file__).parent
# FastAPI keeps this warning back by a filter that holds for all threads, and so does pytest: in a thread of its own
# the service may see the one in the place of the other.
KEPT_BACK = pytest.mark.filterwarnings("ignore:The 'alias' attribute")


EACH = 4  # tests of a file that are run by default: a browser takes seconds for one


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of each file the first tests, which show what it is about; all with FADER_DOSE=1, or where a file is named."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(KEPT_BACK)
            files.setdefault(item.path, []).append(item)
    named = any("test_" in argument for argument in config.args)
    rest = [item for each in files.values() for item in each[dose(len(each), EACH) :]] if not named else []
    if rest:
        config.hook.pytest_deselected(items=rest)
        items[:] = [item for item in items if item not in rest]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Remember for the fixtures whether a test failed."""
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report

"""What is shown while something is awaited, where there is nothing, and where something goes wrong.

The service is brought into the state itself wherever that can be: full, out of time, without a key, gone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Serve
from browser.visits import Site, Visits, params_of
from fader import Index, budget
from fader.serve.settings import Settings

ASKED = {"q": "played +violin", "type": "scientist"}
SLOW = "slow +violin"
KEY = "a-key-of-the-tests"


class Held:
    """Searches for one text that go on until they are let go; they look at the clock as others do."""

    def __init__(self, search: Any) -> None:
        self._search, self.let_go, self.begun = search, threading.Event(), threading.Event()
        self.fails = False

    def __call__(self, index: Index, query: Any, *given: Any, **named: Any) -> Any:
        if getattr(query, "text", query) == SLOW:
            self.begun.set()
            while not self.let_go.wait(0.01):
                budget.check()
        if self.fails:
            raise RuntimeError("by the test")
        return self._search(index, query, *given, **named)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    found = Held(Index.search)
    monkeypatch.setattr(Index, "search", lambda *given, **named: found(*given, **named))
    yield found
    found.let_go.set()


def problem(page: Page, title: str) -> Any:
    """The place where the page says what went wrong."""
    found = page.locator(".state.is-error")
    expect(found.locator(".state-title")).to_have_text(title)
    return found


# ------------------------------------------------------------------------------------------ of the query


@pytest.mark.parametrize(
    ("query", "said", "marked", "cursor"),
    [
        ('violin "played', "quote", '"', 7),
        ("violin +", "followed by nothing", "+", 7),
        ('🎻 é "open', "quote", '"', 5),  # the violin is two units of JavaScript's, and one character
    ],
)
def test_a_query_that_cannot_be_read(visit: Visits, query: str, said: str, marked: str, cursor: int) -> None:
    """The fault is told at the field, its place is marked and has the cursor, and the language is explained."""
    page = visit("/", {"q": query}, refused=[400])
    box = page.get_by_label("Question or keywords")
    expect(box).to_have_attribute("aria-invalid", "true")
    fault = page.locator(".field-fault[role=alert]")
    expect(fault).to_contain_text(said)
    expect(fault.locator(".pointed-at")).to_have_text(marked)
    expect(box).to_be_focused()
    assert box.evaluate("e => e.selectionStart") == cursor
    assert str(fault.get_attribute("id")) in str(box.get_attribute("aria-describedby"))
    expect(page.get_by_text("How to write a query")).to_be_visible()
    box.fill("violin")
    expect(fault).to_be_empty()
    assert box.get_attribute("aria-invalid") is None
    page.keyboard.press("Enter")
    expect(page.locator(".result").first).to_be_visible()


def test_no_keywords(visit: Visits) -> None:
    """Nothing is asked; the field says what is missing."""
    page = visit("/")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".field-fault[role=alert]")).to_contain_text("Ask something")
    assert params_of(page) == {}


def test_an_unknown_type(visit: Visits) -> None:
    """The types that may have been meant are links that ask for them."""
    page = visit("/", {"q": "violin", "type": "scientis"}, refused=[400, 404])
    found = problem(page, "There is no such type")
    expect(found).to_contain_text('"scientis"')
    found.get_by_role("link", name="scientist").first.click()
    expect(page.locator(".result").first).to_be_visible()
    assert params_of(page) == {"q": "violin", "type": "scientist"}


@pytest.mark.parametrize("asked", [{"model": "nonsense"}, {"index": "nonsense"}])
def test_unknown_names(visit: Visits, asked: dict[str, str]) -> None:
    """A model or an index that is not there is told, with those that are."""
    page = visit("/", {**ASKED, **asked}, refused=[404])
    expect(problem(page, "There is nothing of that name")).to_contain_text("Known: ")


def test_nothing_found(visit: Visits) -> None:
    """What to try is offered as links, none of which would find nothing again: no other type helps here."""
    page = visit("/", {"q": "violin +zzzzz", "type": "physicist"})
    expect(page.locator(".summary-title")).to_contain_text("Nothing found")
    tries = page.locator(".state-list")
    expect(tries.get_by_role("link")).to_have_text(["violin zzzzz"])
    tries.get_by_role("link", name="violin zzzzz").click()
    expect(page.locator(".result").first).to_be_visible()
    assert params_of(page)["q"] == "violin zzzzz"


def test_nothing_can_help(visit: Visits) -> None:
    """Where nothing finds anything, nothing is offered."""
    page = visit("/", {"q": "zzzz +yyyy", "type": "physicist"})
    page.wait_for_load_state("networkidle")
    expect(page.locator(".state-list")).to_have_count(0)


def test_an_address_that_is_no_page(site: Site) -> None:
    """An unknown path is a 404 in the form of all errors."""
    reply = site.client.get(f"{site.url}/nowhere")
    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")


# ------------------------------------------------------------------------------------------ of the service


def test_slow(visit: Visits, settings: Settings, serve: Serve, held: Held) -> None:
    """What takes long is told, after a while with the time that the service allows; then the answer comes."""
    page = visit("/", {"q": SLOW, "type": "scientist"}, site=serve(settings), wait=False)
    notice = page.locator(".notice-slow")
    expect(page.locator(".skeleton").first).to_be_visible()
    expect(notice).to_contain_text("Still working")
    expect(notice).to_contain_text("gives up after 60 s")
    expect(page.locator("[aria-busy=true]")).to_have_count(1)
    held.let_go.set()
    expect(page.locator(".result").first).to_be_visible()
    expect(page.locator("[aria-busy=true], .notice-slow")).to_have_count(0)


def test_a_query_that_is_left_does_not_come_back(visit: Visits, settings: Settings, serve: Serve, held: Held) -> None:
    """A second query while the first is awaited: only the second is shown."""
    place = serve(replace(settings, workers=4))  # the whole and the brief answer of the first may both be at work
    page = visit("/", {"q": SLOW}, site=place, wait=False)
    assert held.begun.wait(30)
    page.get_by_label("Question or keywords").fill("violin")
    page.keyboard.press("Enter")
    expect(page.locator(".result").first).to_be_visible()
    names = page.locator(".result-name").all_inner_texts()
    held.let_go.set()
    expect(page).to_have_title("violin · Fader")
    assert page.locator(".result-name").all_inner_texts() == names


def test_overload(visit: Visits, settings: Settings, serve: Serve, held: Held) -> None:
    """A full service is told, with a countdown after which it is asked again by itself."""
    place = serve(replace(settings, workers=1, queue=0))
    asking = threading.Thread(target=place.client.get, args=(f"{place.url}/v1/search",), kwargs={"params": {"q": SLOW}})
    asking.start()
    try:
        assert held.begun.wait(30)
        page = visit("/", ASKED, site=place, refused=[503])
        expect(problem(page, "The service is busy")).to_contain_text("Trying again in")
    finally:
        held.let_go.set()
        asking.join()
    expect(page.locator(".result").first).to_be_visible()


def test_overload_that_lasts(visit: Visits, settings: Settings, serve: Serve, held: Held) -> None:
    """A service that is still full is left alone: the page asks again by itself once, then waits for the button."""
    place = serve(replace(settings, workers=1, queue=0))
    asking = threading.Thread(target=place.client.get, args=(f"{place.url}/v1/search",), kwargs={"params": {"q": SLOW}})
    asking.start()
    asked: list[str] = []
    try:
        assert held.begun.wait(30)
        counted = lambda request: asked.append(request.url) if "/v1/search" in request.url else None  # noqa: E731
        page = visit("/", ASKED, site=place, refused=[503], prepare=lambda page: page.on("request", counted))
        expect(problem(page, "The service is busy")).to_contain_text("Trying again in")
        page.wait_for_event("response", lambda reply: "/v1/search" in reply.url)
        found = problem(page, "The service is busy")
        expect(found).not_to_contain_text("Trying again in")
        page.wait_for_timeout(2_500)
        assert len(asked) == 2
    finally:
        held.let_go.set()
        asking.join()
    found.get_by_role("button", name="Try again").click()
    expect(page.locator(".result").first).to_be_visible()


def test_out_of_time(visit: Visits, settings: Settings, serve: Serve, held: Held) -> None:
    """A query that took too long says so, and can be tried again."""
    place = serve(replace(settings, time_ms=700))
    page = visit("/", {"q": SLOW}, site=place, refused=[504], wait=False)
    found = problem(page, "The query took too long")
    held.let_go.set()
    found.get_by_role("button", name="Try again").click()
    expect(page.locator(".result").first).to_be_visible()


def test_a_failure_of_the_service(visit: Visits, settings: Settings, serve: Serve, held: Held) -> None:
    """No details, but the number of the request, which the log has; trying again works."""
    place = serve(settings)
    held.fails = True
    page = visit("/", ASKED, site=place, refused=[500])
    found = problem(page, "The service has failed")
    expect(found).to_contain_text("Request ")
    assert "by the test" not in found.inner_text()
    held.fails = False
    found.get_by_role("button", name="Try again").click()
    expect(page.locator(".result").first).to_be_visible()


def test_too_many_requests(visit: Visits, settings: Settings, serve: Serve) -> None:
    """A client over its rate is told when it may go on, and the page does by itself."""
    slow = serve(replace(settings, rate=0.1))
    slow.get("/v1/search", **ASKED)
    page = visit("/", ASKED, site=slow, refused=[429], wait=False)
    expect(problem(page, "Too many requests")).to_contain_text("Trying again in")


def test_offline(visit: Visits) -> None:
    """Without network the page that is open says so, and goes on when it is back."""
    page = visit("/", ASKED)
    page.context.set_offline(True)
    page.get_by_label("Question or keywords").fill("piano")
    page.keyboard.press("Enter")
    found = problem(page, "No connection to the service")
    page.context.set_offline(False)
    found.get_by_role("button", name="Try again").click()
    expect(page.locator(".result").first).to_be_visible()
    expect(page.locator(".state.is-error")).to_have_count(0)


def test_offline_explanation(visit: Visits) -> None:
    """An explanation that cannot be had says so in its place; the results stay."""
    page = visit("/", ASKED)
    page.context.set_offline(True)
    page.locator(".result").first.get_by_role("button", name="Why this rank").click()
    problem(page, "No connection to the service")
    expect(page.locator(".result")).to_have_count(10)
    page.context.set_offline(False)
    page.locator(".why:visible").get_by_role("button", name="Try again").click()
    expect(page.locator(".why-title")).to_be_visible()


def test_a_view_that_was_not_loaded_yet_offline(visit: Visits) -> None:
    """A view whose files cannot be had shows a state, not an empty page, and comes when the network is back."""
    page = visit("/", ASKED)
    page.context.set_offline(True)
    page.get_by_role("link", name="Types", exact=True).click()
    expect(page.locator(".state.is-error")).to_be_visible()
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("treeitem").first).to_be_visible()


# ------------------------------------------------------------------------------------------ keys


@pytest.fixture
def guarded(settings: Settings, serve: Serve, tmp_path: Path) -> Site:
    """A service that wants a key."""
    file = tmp_path / "keys"
    file.write_text(f"tests {KEY}\n")
    return serve(replace(settings, keys=file))


def test_a_key_is_asked_for(visit: Visits, guarded: Site) -> None:
    """A dialog asks; a wrong key is told; the right one is kept in this tab, and files come with it."""
    page = visit("/", ASKED, site=guarded, refused=[401], wait=False)
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Key")).to_be_focused()
    page.keyboard.type("wrong-key-of-the-tests")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("refused")
    page.keyboard.type(KEY)
    page.keyboard.press("Enter")
    expect(page.locator(".result").first).to_be_visible()
    page.reload()
    expect(page.locator(".result").first).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    assert "Albert Einstein" in Path(saved.value.path()).read_text()
    assert KEY not in page.url
    assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]


def test_without_a_key(visit: Visits, guarded: Site) -> None:
    """Who has none sees why nothing is shown, and can give one later."""
    page = visit("/", ASKED, site=guarded, refused=[401], wait=False)
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    found = problem(page, "An API key is needed")
    found.get_by_role("button", name="Try again").click()
    page.get_by_role("dialog").get_by_label("Key").fill(KEY)
    page.keyboard.press("Enter")
    expect(page.locator(".result").first).to_be_visible()

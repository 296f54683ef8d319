"""axe-core on every view and in its states: nothing of serious or critical impact, in light and in dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from browser.looks import accessible
from browser.views import VIEWS, seen
from browser.visits import PHONE, Visits
from dose import some

FIRST = sorted(VIEWS, key=["why", "compare", "report", "type", "start"].__contains__, reverse=True)


@pytest.mark.parametrize("name", some(FIRST, 5))
def test_views(visit: Visits, name: str) -> None:
    """Each view as it is when it was opened by its address."""
    accessible(seen(visit, name))


@pytest.mark.parametrize("name", some(["compare", "why", "type"], 1))
def test_views_on_a_phone(visit: Visits, name: str) -> None:
    """Where a narrow screen shows something else."""
    accessible(seen(visit, name, viewport=PHONE))


def test_suggestions(visit: Visits) -> None:
    """The list open, an option moved to."""
    page = visit("/")
    page.get_by_label("Answer type").press_sequentially("scien")
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.press("ArrowDown")
    accessible(page)


def test_tables_of_an_explanation(visit: Visits) -> None:
    """The table behind the figure and all contexts shown."""
    page = seen(visit, "why")
    for name in ("Show as a table", "Show all"):
        page.locator(".why:visible").get_by_role("button", name=name).first.click()
    accessible(page)


def test_an_open_tree(visit: Visits) -> None:
    """Several levels open."""
    page = visit("/types", {"type": "physicist"})
    expect(page.locator("[aria-selected=true]")).to_contain_text("physicist")
    accessible(page)


def offline(page: Page) -> None:
    page.context.set_offline(True)
    page.get_by_label("Question or keywords").fill("piano")
    page.keyboard.press("Enter")


def test_a_failure(visit: Visits) -> None:
    """The state of an error, with its button."""
    page = seen(visit, "results")
    offline(page)
    expect(page.locator(".state.is-error")).to_be_visible()
    accessible(page)


def test_the_dialog(visit: Visits) -> None:
    """The dialog that asks for a key."""
    page = visit(
        "/types",
        prepare=lambda page: page.route("**/v1/types*", lambda route: route.fulfill(status=401, json={})),
        refused=[401],
        wait=False,
    )
    expect(page.get_by_role("dialog")).to_be_visible()
    accessible(page, busy="")  # the page behind it waits for the key

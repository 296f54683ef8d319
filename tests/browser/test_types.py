"""The tree of types by keyboard alone, and the card of the type that is chosen."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from browser.visits import Site, Visits, params_of


def focused(page: Page) -> Locator:
    """The row that has the focus."""
    return page.locator("[role=treeitem]:focus")


def tree(visit: Visits) -> Page:
    """The page with the focus on its only root, which is open at first, and closed here."""
    page = visit("/types")
    root = page.get_by_role("treeitem").first
    expect(root).to_have_attribute("aria-expanded", "true")
    root.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("treeitem")).to_have_count(1)
    return page


def test_it_opens_on_something_useful(visit: Visits, site: Site) -> None:
    """The types with most entities, each with some of them; all of it by links, and the only root is open."""
    page = visit("/types")
    popular = site.get("/v1/examples")["types"]
    names = page.locator(".types-start-name")
    expect(names).to_have_text([each["name"] for each in popular])
    assert all(each["known"] for each in popular)
    page.get_by_role("link", name=popular[0]["known"][0]["name"]).first.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(popular[0]["known"][0]["name"])
    page.go_back()
    names.first.click()
    expect(page.locator(".types-title")).to_have_text(popular[0]["name"])


def test_arrows_walk_and_open(visit: Visits, site: Site) -> None:
    """Right opens and goes in, left closes and goes out, up and down walk what is shown; levels are told."""
    page = tree(visit)
    below = site.get("/v1/types", parent="entity")
    root = page.get_by_role("treeitem").first
    expect(root).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("treeitem")).to_have_count(1 + below["total"])
    expect(root).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowRight")
    expect(focused(page)).to_contain_text(below["types"][0]["name"])
    expect(focused(page)).to_have_attribute("aria-level", "2")
    expect(focused(page)).to_have_attribute("aria-setsize", str(below["total"]))
    page.keyboard.press("ArrowDown")
    expect(focused(page)).to_have_attribute("aria-posinset", "2")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(root).to_be_focused()
    page.keyboard.press("End")
    expect(focused(page)).to_have_attribute("aria-posinset", str(below["total"]))
    page.keyboard.press("Home")
    expect(root).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(root).to_have_attribute("aria-expanded", "false")
    expect(page.locator("[role=treeitem]:visible")).to_have_count(1)


def test_left_goes_to_the_parent(visit: Visits) -> None:
    """From a closed type to the one above it."""
    page = tree(visit)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("treeitem").nth(1)).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("treeitem").first).to_be_focused()


def test_one_row_is_in_the_order_of_tab(visit: Visits) -> None:
    """Tab leaves the tree in one step, and comes back to where it was."""
    page = tree(visit)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("treeitem").nth(3)).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[role=treeitem][tabindex='0']")).to_have_count(1)
    name = focused(page).inner_text()
    page.keyboard.press("Shift+Tab")
    expect(focused(page)).to_have_count(0)
    page.keyboard.press("Tab")
    assert focused(page).inner_text() == name


def test_a_letter_goes_to_the_next_of_that_name(visit: Visits, site: Site) -> None:
    """The next row that is shown and begins with it."""
    page = tree(visit)
    page.keyboard.press("ArrowRight")
    names = [each["name"] for each in site.get("/v1/types", parent="entity")["types"]]
    expect(page.get_by_role("treeitem")).to_have_count(1 + len(names))
    page.keyboard.press(names[-1][0])
    first = next(name for name in names if name[0] == names[-1][0])
    expect(focused(page)).to_contain_text(first)


def test_enter_chooses(visit: Visits, site: Site) -> None:
    """The card says the numbers of the type, the address its id, and the tree which one is chosen."""
    page = tree(visit)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("treeitem").nth(1)).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".types-title")).to_be_visible()
    chosen = params_of(page)["type"]
    node = site.get("/v1/types", parent=chosen)["parent"]
    expect(page.locator(".types-title")).to_have_text(node["name"])
    wanted = [f"{node[key]:,}" for key in ("entities", "subtypes", "descendants")]
    assert page.locator(".types-numbers dd").all_inner_texts() == wanted
    expect(page.locator("[role=treeitem][aria-selected=true]")).to_have_count(1)
    expect(page.locator("[role=treeitem][aria-selected=true]")).to_contain_text(node["name"])


def test_an_address_opens_the_way_to_its_type(visit: Visits, site: Site) -> None:
    """The way from a root is open, the type is marked, and can be asked for."""
    page = visit("/types", {"type": "physicist"})
    path = site.get("/v1/types", parent="physicist")["path"]
    mark = page.locator("[role=treeitem][aria-selected=true]")
    expect(mark).to_contain_text("physicist")
    expect(mark).to_have_attribute("aria-level", str(len(path)))
    expect(page.locator(".types-path li")).to_have_text([each["name"] for each in path[:-1]])
    page.get_by_role("link", name="Ask for this type").click()
    expect(page.get_by_label("Answer type")).to_have_value("physicist")
    expect(page.get_by_label("Question or keywords")).to_be_focused()


def test_find_a_type(visit: Visits) -> None:
    """The box completes by name and goes there."""
    page = visit("/types")
    box = page.get_by_label("Find a type")
    with page.expect_response(lambda reply: reply.url.endswith(("prefix=physic", "prefix=physic&limit=10"))):
        box.press_sequentially("physic")
    expect(page.locator("[role=option]")).to_have_count(2)
    page.keyboard.press("ArrowDown")
    expect(box).to_have_attribute("aria-activedescendant", re.compile("."))
    page.keyboard.press("Enter")
    expect(page.locator(".types-title")).to_have_text("physicist")
    expect(page.locator("[role=treeitem][aria-selected=true]")).to_contain_text("physicist")


def test_no_such_type(visit: Visits) -> None:
    """An unknown type is told, and the tree can still be used."""
    page = visit("/types", {"type": "nonsense"}, refused=[400, 404])
    expect(page.locator(".state.is-error")).to_contain_text("nonsense")
    expect(page.get_by_role("treeitem").first).to_be_visible()

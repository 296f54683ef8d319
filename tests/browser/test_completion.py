"""Completion by keyboard alone, by the ARIA 1.2 pattern of a combobox."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from browser.visits import Site, Visits, params_of


def typed(visit: Visits, text: str) -> Page:
    """A page whose type box has suggestions for a text."""
    page = visit("/")
    page.get_by_label("Answer type").press_sequentially(text)
    expect(page.get_by_role("listbox")).to_be_visible()
    return page


def test_suggestions_are_those_of_the_service(visit: Visits, site: Site) -> None:
    """The options are the suggestions for what was typed, with their numbers of entities; the list is named."""
    page = typed(visit, "scien")
    found = site.get("/v1/suggest", kind="type", prefix="scien")["suggestions"]
    options = page.locator("[role=option]")
    expect(options).to_have_count(len(found))
    for hint, option in zip(found, options.all(), strict=True):
        expect(option).to_contain_text(hint["name"])
        expect(option).to_contain_text("1 entity" if hint["entities"] == 1 else f"{hint['entities']} entities")
    assert page.get_by_role("listbox").get_attribute("aria-label")


def test_arrows_move_and_enter_takes(visit: Visits) -> None:
    """Focus stays in the field; aria-activedescendant names the option; the ends meet; Enter takes without asking."""
    page = typed(visit, "scien")
    box = page.get_by_role("combobox", name="Answer type")
    expect(box).to_have_attribute("aria-expanded", "true")
    assert box.get_attribute("aria-activedescendant") is None
    options = page.locator("[role=option]")
    last = options.count() - 1
    for key, at in (
        ("ArrowDown", 0),
        ("ArrowDown", 1),
        ("ArrowUp", 0),
        ("ArrowUp", last),
        ("ArrowDown", 0),
        ("End", last),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        expect(box).to_have_attribute("aria-activedescendant", str(options.nth(at).get_attribute("id")))
        expect(page.locator("[role=option][aria-selected=true]")).to_have_count(1)
        expect(options.nth(at)).to_have_attribute("aria-selected", "true")
        expect(box).to_be_focused()
    page.keyboard.press("Enter")
    expect(box).to_have_value("scientist")
    expect(box).to_have_attribute("aria-expanded", "false")
    assert box.get_attribute("aria-activedescendant") is None
    assert params_of(page) == {}


def test_escape_closes_then_clears(visit: Visits) -> None:
    """The first Escape closes the list and keeps the text, the second clears it."""
    page = typed(visit, "scien")
    box = page.get_by_role("combobox", name="Answer type")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_be_hidden()
    expect(box).to_have_attribute("aria-expanded", "false")
    expect(box).to_have_value("scien")
    page.keyboard.press("Escape")
    expect(box).to_have_value("")
    expect(box).to_be_focused()


def test_tab_leaves_and_takes_nothing(visit: Visits) -> None:
    """Tab closes the list, keeps what was typed, and goes on."""
    page = typed(visit, "scien")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(page.get_by_role("listbox")).to_be_hidden()
    expect(page.get_by_role("combobox", name="Answer type")).to_have_value("scien")
    expect(page.get_by_role("combobox", name="Answer type")).not_to_be_focused()


def test_an_arrow_opens_the_list_of_popular_types(visit: Visits, site: Site) -> None:
    """In an empty field ArrowDown offers the most popular types and is on the first, ArrowUp on the last."""
    page = visit("/")
    box = page.get_by_role("combobox", name="Answer type")
    box.focus()
    page.keyboard.press("ArrowDown")
    popular = site.get("/v1/suggest", kind="type")["suggestions"]
    options = page.locator("[role=option]")
    expect(options).to_have_count(len(popular))
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")


def test_a_whole_query_without_the_mouse(visit: Visits) -> None:
    """Type, complete, Shift+Tab to the box, Enter: the answer is there, and the address has the id of the type."""
    page = visit("/")
    page.get_by_label("Answer type").press_sequentially("computer sc")
    expect(page.locator("[role=option]")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    for _ in range(4):
        if page.evaluate("document.activeElement.name") == "q":
            break
        page.keyboard.press("Shift+Tab")
    page.keyboard.type("computer")
    page.keyboard.press("Enter")
    expect(page.locator(".result").first).to_be_visible()
    assert params_of(page) == {"q": "computer", "type": "computer_scientist"}
    expect(page.get_by_label("Answer type")).to_have_value("computer scientist")


def test_suggestions_are_announced(visit: Visits) -> None:
    """How many there are is told to screen readers, none as well."""
    page = typed(visit, "scientist")
    expect(page.locator("#announcer")).to_have_text("2 suggestions")
    page.get_by_label("Answer type").fill("zzzz")
    expect(page.locator("#announcer")).to_have_text("No suggestions")
    expect(page.get_by_role("listbox")).to_be_hidden()


def test_a_click_takes_an_option(visit: Visits) -> None:
    """With the mouse, focus stays in the field as well."""
    page = typed(visit, "scien")
    page.locator("[role=option]").nth(1).click()
    box = page.get_by_role("combobox", name="Answer type")
    expect(box).to_be_focused()
    expect(page.get_by_role("listbox")).to_be_hidden()
    page.get_by_role("button", name="Clear").first.click()
    expect(box).to_have_value("")

"""The address is all that is needed to see the same: reload, another browser, back and forward."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from browser.visits import Visits, params_of, settled
from dose import some

SEARCH = {"q": "company rotary engine", "type": "manufacturer"}
ADDRESSES = [
    ("/", {**SEARCH, "model": "voting", "k": "20"}),
    ("/", {**SEARCH, "why": "NSU"}),
    ("/", {**SEARCH, "more": "Mazda"}),
    ("/compare", {**SEARCH, "a": "count", "b": "balog2"}),
    ("/types", {"type": "physicist"}),
    ("/entity", {"id": "Mars", "q": "landed mars", "offset": "20"}),
    ("/reports/demo", {"a": "voting", "b": "count", "measure": "AP", "sort": "-a", "show": "better", "by": "-AP"}),
]


def seen(page: Page) -> str:
    """The text of the view, without what takes another time at each visit."""
    settled(page)
    page.evaluate("document.fonts.ready")
    text: str = page.locator("#view").inner_text()
    return "\n".join(line for line in text.splitlines() if not line.endswith("ms") and " ms ·" not in line)


@pytest.mark.parametrize(("path", "params"), some(ADDRESSES, 3))
def test_reload_and_another_browser_show_the_same(visit: Visits, path: str, params: dict[str, str]) -> None:
    """What is shown depends on nothing but the address."""
    page = visit(path, params)
    if "why" in params:
        expect(page.locator(".why-title")).to_be_visible()
    if "more" in params:
        expect(page.locator(".result").first.locator(".snippet").nth(3)).to_be_visible()
    first = seen(page)
    assert len(first) > 100
    assert params.items() <= params_of(page).items()
    page.reload()
    page.wait_for_function(SAME, arg=first)
    other = visit(path, params)
    other.wait_for_function(SAME, arg=first)


SAME = r"""(wanted) => {
  const lines = document.getElementById("view").innerText.split("\n");
  return lines.filter((l) => !l.endsWith("ms") && !l.includes(" ms ·")).join("\n") === wanted;
}"""


def test_back_and_forward(visit: Visits) -> None:
    """Each answer is an entry of the history, with the fields as they were; opening an explanation is none."""
    page = visit("/", SEARCH)
    page.get_by_label("Question or keywords").fill("electric car")
    page.keyboard.press("Enter")
    expect(page).to_have_title("electric car · Fader")
    expect(page.locator(".result").first).to_contain_text("Volvo")  # no longer what was answered before
    page.locator(".result").first.get_by_role("button", name="Why this rank").click()
    expect(page.locator(".why-title")).to_be_visible()
    page.locator(".result-name a").first.click()
    expect(page.locator("h1.page-title")).to_be_visible()
    page.go_back()
    expect(page.locator(".why-title")).to_be_visible()
    expect(page.get_by_label("Question or keywords")).to_have_value("electric car")
    page.go_back()
    expect(page.get_by_label("Question or keywords")).to_have_value(SEARCH["q"])
    expect(page.get_by_label("Answer type")).to_have_value("manufacturer")
    expect(page.locator(".result-name").first).to_have_text("Mazda")
    page.go_forward()
    expect(page.get_by_label("Question or keywords")).to_have_value("electric car")
    expect(page.locator(".why-title")).to_be_visible()


def test_an_explanation_that_is_open_is_in_the_address(visit: Visits) -> None:
    """The address with it open shows it open; closing it takes it out."""
    page = visit("/", SEARCH)
    page.locator(".result").nth(1).get_by_role("button", name="Why this rank").click()
    expect(page.locator(".why-title")).to_be_visible()
    entity = page.locator(".result").nth(1).get_attribute("data-entity")
    assert params_of(page) == {**SEARCH, "why": entity}
    other = visit("/", params_of(page))
    expect(other.locator(".result").nth(1).locator(".why-title")).to_be_visible()
    other.get_by_role("button", name="Close the explanation").click()
    assert params_of(other) == SEARCH


def test_all_evidence_that_is_open_is_in_the_address(visit: Visits) -> None:
    """Of every entity, as far as it was opened, and nothing of those that were not."""
    page = visit("/", SEARCH)
    for i in (0, 1):
        card = page.locator(".result").nth(i)
        card.get_by_role("button", name="More evidence").click()
        expect(card.locator(".snippet").nth(2)).to_be_visible()
    assert len(params_of(page)["more"].split(",")) == 2
    counts = [card.locator(".snippet").count() for card in page.locator(".result").all()]
    assert len([count for count in counts if count > 2]) == 2
    other = visit("/", params_of(page))
    expect(other.locator(".result")).to_have_count(len(counts))
    for card, count in zip(other.locator(".result").all(), counts, strict=True):
        expect(card.locator(".snippet")).to_have_count(count)


def test_links_open_in_another_tab(visit: Visits) -> None:
    """With Ctrl a link of ours is the browser's to follow, and shows the same there."""
    page = visit("/", SEARCH)
    with page.context.expect_page() as opened:
        page.locator(".result-name a").first.click(modifiers=["ControlOrMeta"])
    expect(opened.value.locator("h1.page-title")).to_have_text("Mazda")
    expect(page.locator(".result").first).to_be_visible()


def test_copy_link(visit: Visits) -> None:
    """The button copies the address."""
    page = visit("/", SEARCH)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_a_view_that_was_left_does_not_come_back(visit: Visits) -> None:
    """Going quickly from view to view ends with the last one, whatever answers come late."""
    page = visit("/", SEARCH)
    for path in ("/compare", "/types", "/reports", "/api", "/types"):
        page.locator(f".nav a[href='{path}']").click()
    expect(page.get_by_role("treeitem").first).to_be_visible()
    settled(page)
    assert page.locator("h1").all_inner_texts() == ["Types"]

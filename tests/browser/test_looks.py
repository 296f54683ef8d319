"""Light and dark, narrow and enlarged, without motion, and on paper."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from browser.looks import fits, grave
from browser.views import SEARCH, VIEWS, seen
from browser.visits import PHONE, Visits, settled
from dose import some

NARROW = ("why", "compare", "report", "bad query")  # those with the widest contents


@pytest.mark.parametrize("name", some(sorted(VIEWS, key=NARROW.__contains__, reverse=True), len(NARROW)))
def test_no_view_scrolls_sideways(visit: Visits, name: str) -> None:
    """At 360 pixels, at 320, on a desktop, and there enlarged to 200 % (which makes it half as wide)."""
    page = seen(visit, name, viewport=PHONE, has_touch=True, is_mobile=False)
    for width in (360, 320, 640, 1280):
        page.set_viewport_size({"width": width, "height": 740})
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        fits(page)


@pytest.mark.parametrize("name", some(["why", "report", "results", "compare", "type", "entity", "api", "start"], 2))
def test_a_finger_can_touch_it(visit: Visits, name: str) -> None:
    """On a phone every target is at least 24 pixels wide and high, or stands that far from all others."""
    page = seen(visit, name, viewport=PHONE, has_touch=True)
    found = grave(page, "target-size")
    assert not found, "\n".join(found)


def test_everything_is_there_enlarged(visit: Visits) -> None:
    """At 200 % of a small desktop the form and the first entity can be used."""
    page = seen(visit, "results", viewport={"width": 640, "height": 400}, device_scale_factor=2)
    for part in (page.get_by_label("Question or keywords"), page.get_by_role("button", name="Search")):
        expect(part).to_be_visible()
    page.locator(".result").first.get_by_role("button", name="Why this rank").click()
    expect(page.locator(".why-title")).to_be_in_viewport()


def ground(page: Page) -> float:
    """How light the background is, 0 to 1."""
    found: float = page.evaluate(
        """() => {
          const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
          for (const colour of ["white", getComputedStyle(document.body).backgroundColor]) {
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
          }
          const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
          return (r + g + b) / 765;
        }"""
    )
    return found


def test_dark_as_the_system_has_it(visit: Visits) -> None:
    """Without a choice the system's is followed, also when it changes."""
    page = visit("/", SEARCH, color_scheme="dark")
    assert ground(page) < 0.2
    page.emulate_media(color_scheme="light")
    assert ground(page) > 0.8


def test_the_switch(visit: Visits) -> None:
    """It goes through the three choices, says which one holds, and the choice is there at the next visit."""
    page = visit("/", SEARCH, color_scheme="light")
    switch = page.locator("#theme")
    expect(switch).to_have_attribute("aria-label", "Colours: as the system has it. Change to light.")
    switch.press("Enter")
    expect(switch).to_have_attribute("aria-label", "Colours: light. Change to dark.")
    page.emulate_media(color_scheme="dark")
    assert ground(page) > 0.8
    switch.press("Enter")
    page.emulate_media(color_scheme="light")
    assert ground(page) < 0.2
    page.reload()
    settled(page)
    assert ground(page) < 0.2
    other = visit.another(page)
    other.goto(page.url.split("?")[0] + "types")
    assert ground(other) < 0.2
    switch.press("Enter")
    assert ground(page) > 0.8


MOVING = """() => [...document.querySelectorAll("*")].filter((e) => {
  const style = getComputedStyle(e);
  const long = (text) => text.split(",").some((each) => parseFloat(each) > 0.05);
  const moves = long(style.transitionDuration) || (style.animationName !== "none" && long(style.animationDuration));
  return moves || style.scrollBehavior === "smooth";
}).map((e) => `${e.tagName}.${e.getAttribute("class")}`)"""


@pytest.mark.parametrize("name", some(["why", "compare", "type", "report"], 1))
def test_without_motion_where_none_is_wanted(visit: Visits, name: str) -> None:
    """Nothing moves or fades for those who asked their system for less motion."""
    page = seen(visit, name)
    assert page.evaluate(MOVING) == []


def test_on_paper(visit: Visits) -> None:
    """Printed, the results are there, dark on white also for those who have it dark, and the head is not."""
    page = seen(visit, "results", color_scheme="dark")
    page.emulate_media(media="print")
    expect(page.locator(".result").first).to_be_visible()
    expect(page.locator(".nav")).to_be_hidden()
    assert ground(page) > 0.8
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") != "dark"

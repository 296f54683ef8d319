"""What the eye and a finger need: no scrolling sideways, and what axe-core finds."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

GRAVE = ("serious", "critical")
AXE = Axe()

WIDTH = "() => [document.scrollingElement.scrollWidth, document.documentElement.clientWidth]"

# Elements that begin or end outside of the screen although nothing around them clips or scrolls.
STICKING_OUT = """() => {
  const wide = document.documentElement.clientWidth + 1;
  const clipped = (e) => {
    for (let a = e.parentElement; a; a = a.parentElement)
      if (getComputedStyle(a).overflowX !== "visible") return true;
    return false;
  };
  return [...document.querySelectorAll("#view *, header *")]
    .filter((e) => e.getBoundingClientRect().width > 0 && e.getBoundingClientRect().right > wide && !clipped(e))
    .slice(0, 5)
    .map((e) => `${e.tagName}.${e.getAttribute("class")} to ${Math.round(e.getBoundingClientRect().right)}`);
}"""


# What fades in has no contrast meanwhile. Nothing may have changed for a while, as what is drawn may be drawn again.
STILL = """(busy) => {
  const moves = document.getAnimations().some(
    (each) => each.playState === "running" && each.effect.getComputedTiming().iterations !== Infinity);
  const seen = document.documentElement.innerHTML;
  if (moves || seen !== window.__seen || (busy && document.querySelector(busy))) {
    [window.__seen, window.__since] = [seen, performance.now()];
    return false;
  }
  return performance.now() - window.__since > 150;
}"""
BUSY = "[aria-busy=true], .skeleton, .is-busy"


def fits(page: Page) -> None:
    """Nothing is wider than the screen."""
    content, screen = page.evaluate(WIDTH)
    out = page.evaluate(STICKING_OUT)
    assert content <= screen, f"{content} px on a screen of {screen}: {out}"


def grave(page: Page, *rules: str, context: str | None = None) -> list[str]:
    """What axe-core finds of serious or critical impact, by all rules or by some."""
    options: dict[str, Any] = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
    if rules:
        options = {"resultTypes": ["violations"], "runOnly": list(rules)}
    found = AXE.run(page, context=context, options=options).response["violations"]
    return [
        f"{each['id']}: {node['target']} {node['html'][:160]}: {node.get('failureSummary', '')[:300]}"
        for each in found
        if each["impact"] in GRAVE
        for node in each["nodes"]
    ]


def accessible(page: Page, busy: str = BUSY) -> None:
    """Nothing grave in light, and no want of contrast in dark, once nothing on the page matches `busy`."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.wait_for_function(STILL, arg=busy)
    found = grave(page)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    found += [f"dark: {each}" for each in grave(page, "color-contrast")]
    assert not found, "\n".join(found)

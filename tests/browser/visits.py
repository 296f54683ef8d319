"""Pages that are watched: whatever a test does there, no error, no foreign host, nothing against the policy.

A test opens pages by `visit(path, params)`. At its end every page it opened is checked. Answers of 400 and more are
faults too, unless the test says that it expects them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response

from browser.chromium import PATIENCE

DESKTOP = {"width": 1280, "height": 860}
PHONE = {"width": 360, "height": 740}
UNREACHED = "Failed to load resource"  # its status is looked at instead

# Set before any script of the page: what is against the policy, and what hostile text would do, become errors.
WATCH = """
document.addEventListener("securitypolicyviolation", (e) =>
  console.error(`against the policy: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
Object.defineProperty(window, "__pwned", { set: (by) => console.error(`executed: ${by}`), get: () => undefined });
"""

SETTLED = """() => {
  const view = document.getElementById("view");
  const asked = location.pathname === "/" && new URLSearchParams(location.search).get("q");
  if (asked && !document.querySelector(".result, .state, .field-error:not(:empty)")) return false;
  return view?.childElementCount > 0 && !document.querySelector("[aria-busy=true], .skeleton");
}"""


@dataclass
class Site:
    """A service: its address, and its answers without a browser."""

    url: str
    client: httpx.Client = field(repr=False)

    def get(self, path: str, **params: Any) -> Any:
        """The JSON of an answer."""
        reply = self.client.get(self.url + path, params=params)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def text(self, path: str, **params: Any) -> str:
        """The text of an answer."""
        return self.client.get(self.url + path, params=params).raise_for_status().text


@dataclass
class Watched:
    """What was seen of one page."""

    page: Page
    host: str
    allowed: frozenset[int]
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("request", self._asked)
        self.page.on("response", self._answered)
        self.page.on("dialog", lambda dialog: (self.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(UNREACHED):
            self.faults.append(f"{message.type}: {message.text}")

    def _asked(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.netloc != self.host:
            self.faults.append(f"another host: {request.url}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.allowed:
            self.faults.append(f"{response.status}: {response.url}")


class Visits:
    """Opens pages of a service, and knows all that were opened."""

    def __init__(self, browser: Browser, site: Site) -> None:
        self._browser, self._site = browser, site
        self._contexts: list[BrowserContext] = []
        self.watched: list[Watched] = []

    def __call__(
        self, path: str = "/", params: dict[str, Any] | None = None, *,
        site: Site | None = None, refused: Collection[int] = (), prepare: Callable[[Page], None] | None = None,
        wait: bool = True, **context: Any,
    ) -> Page:  # fmt: skip
        """A page in a context of its own; `refused` are the statuses from 400 on that may come."""
        place = (site or self._site).url
        made = self._browser.new_context(**{"viewport": DESKTOP, "reduced_motion": "reduce", **context})
        self._contexts.append(made)
        made.add_init_script(WATCH)
        made.set_default_timeout(PATIENCE)
        page = made.new_page()
        self.watched.append(Watched(page, urlsplit(place).netloc, frozenset(refused)))
        if prepare:
            prepare(page)
        page.goto(place + path + (f"?{urlencode(params)}" if params else ""))
        if wait:
            settled(page)
        return page

    def another(self, page: Page) -> Page:
        """A second page of the same browser session."""
        before = next(each for each in self.watched if each.page == page)
        other = page.context.new_page()
        self.watched.append(Watched(other, before.host, before.allowed))
        return other

    def check(self) -> None:
        """Whether all that was opened was without fault."""
        faults = [fault for each in self.watched for fault in each.faults]
        assert not faults, "\n".join(faults)

    def picture(self, folder: Path) -> list[Path]:
        """Pictures of all pages that are open."""
        made = []
        for i, each in enumerate(self.watched):
            if not each.page.is_closed():
                made.append(folder / f"page-{i}.png")
                each.page.screenshot(path=made[-1], timeout=PATIENCE)
        return made

    def close(self) -> None:
        for context in self._contexts:
            context.close()


def settled(page: Page) -> None:
    """Wait until the page shows what it was asked for."""
    page.wait_for_function(SETTLED)


def params_of(page: Page) -> dict[str, str]:
    """The parameters of the address."""
    found: dict[str, str] = page.evaluate("Object.fromEntries(new URLSearchParams(location.search))")
    return found

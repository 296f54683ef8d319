"""Any text as a name, and what a browser would read in a table of such names."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import strategies as st

NAMES = st.text(st.characters(exclude_categories=[]), min_size=1, max_size=30)


class Reader(HTMLParser):
    """Tags, attribute names and the texts of cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.texts += [""] if tag in ("th", "td") else []

    def handle_data(self, data: str) -> None:
        if self.texts and data != "\n":
            self.texts[-1] += data

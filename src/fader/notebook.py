"""What results look like in a notebook: HTML in which every text is escaped, and frames of other libraries.

    table(["rank", "name"], [[1, "Ada <b>"]])         <table>...<td>Ada &lt;b&gt;</td>...

Texts of corpora and catalogs come from anywhere, so that no function here takes HTML except `Safe`, which only these
functions make. Knows nothing of what is shown.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

from fader.errors import UsageError

Cell = object
_CELL = "padding:2px 8px;text-align:left;vertical-align:top"


class Safe(str):
    """HTML that was made here."""

    __slots__ = ()


def escape(value: Cell) -> Safe:
    """A value as HTML: numbers in short, `Safe` as it is, everything else escaped."""
    if isinstance(value, Safe):
        return value
    text = f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
    return Safe(html.escape(text).replace("\n", " "))


def join(parts: Iterable[Cell], between: str = "") -> Safe:
    """Parts as one; what is between them is escaped too."""
    return Safe(escape(between).join(map(escape, parts)))


def element(name: str, inner: Cell, style: str = "") -> Safe:
    """An element; name and style are ours."""
    styled = f' style="{html.escape(style)}"' if style else ""
    return Safe(f"<{name}{styled}>{escape(inner)}</{name}>")


def table(header: Sequence[Cell], rows: Iterable[Sequence[Cell]], caption: Cell = "") -> Safe:
    """A table; numbers stand at the right."""

    def cell(name: str, value: Cell) -> Safe:
        right = isinstance(value, int | float) and not isinstance(value, bool)
        return element(name, value, _CELL.replace("left", "right") if right else _CELL)

    head = element("tr", join(cell("th", each) for each in header))
    body = join(element("tr", join(cell("td", each) for each in row)) for row in rows)
    above = element("caption", caption, "text-align:left;caption-side:top") if caption else Safe("")
    return element("table", join([above, element("thead", head), element("tbody", body)]))


def highlight(text: str, spans: Iterable[tuple[int, int, str]]) -> Safe:
    """A text with some characters in elements, such as (0, 3, "b"); where spans overlap the first one counts."""
    parts, at = list[Safe](), 0
    for start, end, name in sorted(spans):
        if at <= start < end <= len(text):
            parts += [escape(text[at:start]), element(name, text[start:end])]
            at = end
    return join([*parts, escape(text[at:])])


def heat(header: Sequence[str], names: Sequence[str], values: Sequence[Sequence[float]], caption: Cell = "") -> Safe:
    """A grid of numbers as a table whose cells are the darker the larger they are; negative ones are red."""
    largest = max((abs(value) for row in values for value in row), default=0.0) or 1.0

    def cell(value: float) -> Safe:
        colour = "70,110,200" if value >= 0 else "200,80,70"
        return element("td", value, f"background:rgba({colour},{abs(value) / largest:.2f});{_CELL}")

    head = element("tr", join(element("th", each, _CELL) for each in ("", *header)))
    rows = (join([element("th", name, _CELL), *map(cell, row)]) for name, row in zip(names, values, strict=True))
    above = element("caption", caption, "text-align:left;caption-side:top") if caption else Safe("")
    return element("table", join([above, head, *(element("tr", row) for row in rows)]))


def to_pandas(arrow: Any) -> Any:
    """An Arrow table as a pandas frame; needs pandas."""
    try:
        import pandas  # noqa: F401 - which Arrow imports; here to say what is missing
    except ImportError:
        raise UsageError("pandas is not installed; pip install pandas, or use to_arrow()") from None
    return arrow.to_pandas()


def to_polars(arrow: Any) -> Any:
    """An Arrow table as a Polars frame; needs Polars."""
    try:
        import polars
    except ImportError:
        raise UsageError("Polars is not installed; pip install polars, or use to_arrow()") from None
    return polars.from_arrow(arrow)

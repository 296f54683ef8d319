"""CSV that every program reads back, in which no spreadsheet finds a formula and no terminal a command.

    file   := line*               lines end with CR LF (RFC 4180) unless another end is given
    cell   := text | number       the standard library's `csv` quotes a text with a comma, a quote or a line end, and
                                  here also one with a semicolon or a tab, at which some spreadsheets split
    guard  := '                   before a text that a spreadsheet could take for a formula: its first visible
                                  character is = + - @ or one of their full-width forms, or it begins with a tab or a
                                  line end
    hidden := U+FFFD              for a control character that could steer a terminal, such as the escape that begins
                                  a sequence of ANSI's; tabs and line ends stay

Several values in one cell are separated by `|`. Golden case: the name `=1+1, x` is `"'=1+1, x"`, the score -1.5 is
`-1.5`. Formulas in CSV: OWASP, "CSV injection"; control characters: ECMA-48. Knows nothing of what the cells mean.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Sequence

Cell = str | bool | int | float | None | Sequence[str]

# The writer quotes every cell that has a character of the line end. It is replaced once the line is written.
_LINE_END = ";\t\r\n"
_FORMULA = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")
_LINE_STARTS = tuple("\t\r\n\v\f\x85\u2028\u2029")
_STEERING = re.compile("[\x01-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")


class _LineBuffer:
    """What `csv.writer` writes to: one call per line."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, line: str) -> None:
        self.lines.append(line.removesuffix(_LINE_END))


def format_csv(lines: Iterable[Sequence[Cell]], line_end: str = "\r\n") -> str:
    """The CSV text of lines of texts, numbers, lists of texts, and None for an empty cell."""
    written = _LineBuffer()
    csv.writer(written, lineterminator=_LINE_END).writerows([_prepare(cell) for cell in line] for line in lines)
    return "".join(line + line_end for line in written.lines)


def guard_text(text: str) -> str:
    """The text without what steers a terminal, after an apostrophe if a spreadsheet could take it for a formula."""
    visible = (c for c in text if not (c.isspace() or unicodedata.category(c) in ("Cc", "Cf")))
    is_risky = next(visible, "") in _FORMULA or text.startswith(_LINE_STARTS)
    return ("'" if is_risky else "") + _STEERING.sub("\ufffd", text)


def _prepare(cell: Cell) -> str | float | None:
    """What the writer turns into one cell. It writes numbers so that they read back exactly."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if cell is None or isinstance(cell, int | float):
        return cell
    return guard_text(cell if isinstance(cell, str) else "|".join(map(str, cell)))

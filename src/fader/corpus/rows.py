"""Rows of a catalog as columns: ids, names, other names and the types above, as spans of one array of bytes.

Lines of a file are cut by a kernel; a line that it leaves (faulty, over a limit or just unusual) is cut in plain
Python, by the caller, and comes as a `Row`, as dictionaries do. Knows nothing of what the ids mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.corpus.json_lines import utf8_width
from fader.corpus.strings import join_strings, mark_new, sort_strings, take_strings
from fader.kernel import kernel
from fader.limits import Limits

U8 = NDArray[np.uint8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
# Columns of `Rows.spans`, each a begin and an end; ABOVE is a span of `Rows.above`.
ID, NAME, ALIASES, ABOVE, SPANS = 0, 2, 4, 6, 8
TAB, NEWLINE, RETURN, BAR, BLANK = 9, 10, 13, 124, 32
MOST_CELLS = 4


@dataclass(slots=True)
class Row:
    """A line of either file: an id, a name, the types above it, other names."""

    id: str
    name: str
    above: list[str]
    aliases: list[str]
    place: str


@dataclass(frozen=True, slots=True)
class Rows(Sequence[Row]):
    """Rows as spans of bytes: other names are joined by tabs, the types above are spans of their own.

    `line` numbers the rows in their source, from 1 on; `places` is what comes before the number, in words. Rows of line
    0 are those that an index has.
    """

    data: U8
    spans: I64
    above: I64
    line: I64
    places: str

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Rows:
        """Rows that are made already, numbered from 1 on; their places are left out."""
        given = list(rows)
        return join_rows([pack_rows(given, range(1, len(given) + 1), "row ")], "row ")

    def __len__(self) -> int:
        return int(self.line.size)

    def __getitem__(self, i: Any) -> Any:
        if not 0 <= i < len(self):
            raise IndexError(i)
        s = self.spans[i].tolist()
        above = [self._text(a, b) for a, b in self.above[s[ABOVE] : s[ABOVE + 1]].tolist()]
        aliases = self._text(s[ALIASES], s[ALIASES + 1])
        name = self._text(s[NAME], s[NAME + 1])
        return Row(self.id_of(i), name, above, aliases.split("\t") if aliases else [], self.place(i))

    def id_of(self, i: int) -> str:
        return self._text(int(self.spans[i, ID]), int(self.spans[i, ID + 1]))

    def place(self, i: int) -> str:
        return f"{self.places}{self.line[i]}" if self.line[i] else "in the index"

    def _text(self, a: int, b: int) -> str:
        return self.data[a:b].tobytes().decode("utf-8", "surrogatepass")

    def column(self, which: int) -> tuple[U8, I64]:
        """The ids, the names or the joined other names of all rows, laid end to end."""
        begin, end = self.spans[:, which], self.spans[:, which + 1]
        return take_strings(  # type: ignore[no-any-return]
            self.data, begin, end, np.arange(len(self), dtype=np.int64)
        )

    def sort(self) -> tuple[Rows, list[tuple[int, int]]]:
        """The rows by id, the first of each, and the places [row, first] of the others among the rows as they are."""
        begin, end = self.spans[:, ID], self.spans[:, ID + 1]
        order = sort_strings(self.data, begin, end)
        new = mark_new(self.data, begin, end, order) > 0
        kept = order[new]
        others = np.flatnonzero(~new)
        first = kept[np.cumsum(new)[others] - 1]
        repeated = list(zip(order[others].tolist(), first.tolist(), strict=True))
        return replace(self, spans=self.spans[kept], line=self.line[kept]), repeated

    def labels(self, others: int) -> tuple[U8, I64, I32, I64]:
        """Names with the strings of another column, cut at tabs: laid end to end, their rows, and where names stand."""
        n = len(self)
        data, at, owner = _cut_labels(self.data, self.spans, others)
        first = np.searchsorted(owner, np.arange(n, dtype=np.int32)).astype(np.int64)
        return data, at, owner, first


@kernel
def _cut_labels(data: U8, spans: I64, others: int) -> Any:
    size, count = 0, 0
    for i in range(spans.shape[0]):
        size += spans[i, NAME + 1] - spans[i, NAME] + spans[i, others + 1] - spans[i, others]
        count += 1 + (spans[i, others + 1] > spans[i, others])
        for j in range(spans[i, others], spans[i, others + 1]):
            count += data[j] == TAB and others == ALIASES
    out, at, owner = np.empty(size, np.uint8), np.zeros(count + 1, np.int64), np.empty(count, np.int32)
    o, n = 0, 0
    for i in range(spans.shape[0]):
        for column in (NAME, others):
            if column == others and spans[i, others + 1] == spans[i, others]:
                continue
            for j in range(spans[i, column], spans[i, column + 1]):
                if column == ALIASES and data[j] == TAB:
                    owner[n] = i
                    n += 1
                    at[n] = o
                else:
                    out[o] = data[j]
                    o += 1
            owner[n] = i
            n += 1
            at[n] = o
    return out[:o], at, owner


def pack_rows(rows: Sequence[Row], lines: Iterable[int], places: str) -> Rows:
    """Rows that were made in Python, as columns."""
    flat = [
        text.encode("utf-8", "surrogatepass")
        for row in rows
        for text in (row.id, row.name, "\t".join(row.aliases), *row.above)
    ]
    data, at = join_strings(flat)
    counts = np.array([len(row.above) for row in rows], dtype=np.int64)
    first = np.cumsum(counts + 3) - (counts + 3)
    spans = np.empty((len(rows), SPANS), dtype=np.int64)
    for k in range(3):
        spans[:, 2 * k], spans[:, 2 * k + 1] = at[first + k], at[first + k + 1]
    spans[:, ABOVE + 1] = np.cumsum(counts)
    spans[:, ABOVE] = spans[:, ABOVE + 1] - counts
    part = np.ones(len(flat), dtype=bool)
    part[(first[:, None] + np.arange(3)).reshape(-1)] = False
    above = np.column_stack((at[:-1][part], at[1:][part]))
    return Rows(data, spans, above, np.fromiter(lines, dtype=np.int64, count=len(rows)), places)


def join_rows(parts: Sequence[Rows], places: str) -> Rows:
    """Several parts of one source as one, by line."""
    if not parts:
        return pack_rows([], [], places)
    at, above_at = 0, 0
    spans, above = [], []
    for p in parts:
        spans.append(p.spans + np.array([at] * ABOVE + [above_at] * 2, dtype=np.int64))
        above.append(p.above + at)
        at, above_at = at + p.data.size, above_at + len(p.above)
    line = np.concatenate([p.line for p in parts])
    order = np.argsort(line, kind="stable") if (line[1:] < line[:-1]).any() else slice(None)
    data = np.concatenate([p.data for p in parts])
    return Rows(data, np.concatenate(spans)[order], np.concatenate(above), line[order], places)


def cut_rows(block: bytes, first: int, places: str, columns: tuple[int, int], limits: Limits) -> tuple[Rows, I64]:
    """The rows of whole lines, numbered from `first` on; the number and the span of each line that is left."""
    lines, size = block.count(b"\n"), len(block)
    buf = np.frombuffer(block + b"\n\n\n\n", dtype=np.uint8)
    out, line = np.empty(size, dtype=np.uint8), np.empty(lines, dtype=np.int64)
    spans, odd = np.empty((lines, SPANS), dtype=np.int64), np.empty((lines, 3), dtype=np.int64)
    above = np.empty((size // 2 + 1, 2), dtype=np.int64)
    bounds = (limits.line_bytes, limits.id_characters, limits.name_characters)
    n, parts, used, left = _cut(buf, size, columns, bounds, out, spans, above, line, odd)
    odd[:left, 0] += first
    return Rows(out[:used].copy(), spans[:n].copy(), above[:parts].copy(), line[:n] + first, places), odd[:left].copy()


@kernel
def _cut(buf: U8, size: int, columns: Any, bounds: Any, out: U8, spans: I64, above: I64, line: I64, odd: I64) -> Any:
    """Cut all lines; returns how many rows, types above, bytes and lines that are left there are."""
    least, most = columns
    line_bytes, id_characters, name_characters = bounds
    n, parts, o, left, i = 0, 0, 0, 0, 0
    cell, characters = np.empty(MOST_CELLS + 1, dtype=np.int64), np.empty(MOST_CELLS, dtype=np.int64)
    for number in range(line.size):
        begin, cells, good, visible = i, 1, True, False
        cell[0], characters[0] = begin, 0
        while buf[i] != NEWLINE:
            c = buf[i]
            width = 1
            if c >= 128:
                width = utf8_width(buf, i)
                if width == 0:
                    good = False
                    width = 1
            elif c == TAB:
                if cells < MOST_CELLS:
                    cell[cells], characters[cells] = i + 1, -1
                cells += 1
            elif c > BLANK:
                visible = True
            if cells <= MOST_CELLS:
                characters[cells - 1] += 1
            i += width
        end = i
        while end > begin and buf[end - 1] == RETURN:
            end -= 1
        mark = buf[begin] == 0xEF and buf[begin + 1] == 0xBB and buf[begin + 2] == 0xBF
        good = good and visible and not mark and least <= cells <= most and i - begin <= line_bytes
        if good:
            for k in range(cells, MOST_CELLS):
                cell[k], characters[k] = end + 1, 0
            cell[MOST_CELLS] = end + 1
            good = cell[1] - 1 > begin and characters[0] <= id_characters
            named = characters[1] if cell[2] - 1 > cell[1] else characters[0]
            good = good and named <= name_characters and characters[3] <= name_characters
        if good:
            line[n] = number
            for k in range(2):
                spans[n, 2 * k] = o
                for j in range(cell[k], min(end, cell[k + 1] - 1)):
                    out[o] = buf[j]
                    o += 1
                spans[n, 2 * k + 1] = o
            if spans[n, NAME] == o:
                spans[n, NAME], spans[n, NAME + 1] = spans[n, ID], spans[n, ID + 1]
            spans[n, ABOVE] = parts
            j = cell[2]
            while j < min(end, cell[3] - 1):
                if buf[j] == BAR:
                    j += 1
                    continue
                above[parts, 0] = o
                while j < min(end, cell[3] - 1) and buf[j] != BAR:
                    out[o] = buf[j]
                    o += 1
                    j += 1
                above[parts, 1] = o
                parts += 1
            spans[n, ABOVE + 1] = parts
            spans[n, ALIASES] = o
            j = cell[3]
            while j < end:
                if buf[j] == BAR:
                    j += 1
                    continue
                if o > spans[n, ALIASES]:
                    out[o] = TAB
                    o += 1
                while j < end and buf[j] != BAR:
                    out[o] = buf[j]
                    o += 1
                    j += 1
            spans[n, ALIASES + 1] = o
            n += 1
        else:
            odd[left, 0], odd[left, 1], odd[left, 2] = number, begin, i
            left += 1
        i += 1
    return n, parts, o, left

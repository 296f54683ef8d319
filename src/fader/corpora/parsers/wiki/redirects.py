"""Redirects as a table that every process maps into memory: 20 bytes and the target's own for each.

A title is found by a 64-bit hash of it (with 10 million redirects and 300 million lookups the odds of a single mistake
are 1 in 6,000). Targets are final: redirects to redirects are followed by pointer jumping over whole arrays, those that
lead in a circle are left out and counted. The titles of all articles are kept the same way, as hashes alone. Knows
nothing of how a title is written in a link.
"""

from __future__ import annotations

import mmap
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from fader.arrays import BOOL, I64, U64

JUMPS = 40  # each doubles the length of chains that are followed


def hash_title(title: str) -> int:
    """The number of a title."""
    return xxhash.xxh3_64_intdigest(title.encode())


class Spool:
    """Takes redirects and articles in any order, in bounded memory, and writes the table."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._targets = (folder / "targets.bin").open("wb")
        self._written = {name: (folder / f"{name}.raw").open("wb") for name in ("from", "to", "length", "articles")}
        self._held: dict[str, list[int]] = {name: [] for name in self._written}

    def redirect(self, title: str, target: str) -> None:
        """A page that leads to another."""
        data = target.encode()
        self._targets.write(data)
        for name, number in (("from", hash_title(title)), ("to", hash_title(target)), ("length", len(data))):
            self._held[name].append(number)
        if len(self._held["from"]) >= 1 << 16:
            self._flush()

    def article(self, title: str) -> None:
        """A page that is none."""
        self._held["articles"].append(hash_title(title))
        if len(self._held["articles"]) >= 1 << 16:
            self._flush()

    def _flush(self) -> None:
        for name, numbers in self._held.items():
            self._written[name].write(np.array(numbers, dtype=np.uint64).tobytes())
            numbers.clear()

    def finish(self) -> dict[str, int]:
        """Write the table; how many redirects there are, and how many lead in a circle."""
        self._flush()
        for file in (self._targets, *self._written.values()):
            file.close()
        raw = {name: np.fromfile(self._folder / f"{name}.raw", dtype=np.uint64) for name in self._written}
        for name in self._written:
            (self._folder / f"{name}.raw").unlink()
        starts = np.zeros(raw["length"].size, dtype=np.int64)
        np.cumsum(raw["length"][:-1].astype(np.int64), out=starts[1:])
        names, first = np.unique(raw["from"], return_index=True)  # of a title given twice the first counts
        last, circular = follow_chains(names, raw["to"][first])
        keep = np.flatnonzero(~circular)
        at = first[last[keep]]
        np.save(self._folder / "names.npy", names[keep])
        np.save(self._folder / "starts.npy", starts[at])
        np.save(self._folder / "lengths.npy", raw["length"][at].astype(np.uint32))
        np.save(self._folder / "articles.npy", np.unique(raw["articles"]))
        return {"redirects": int(names.size), "redirects that lead in a circle": int(np.count_nonzero(circular))}


def follow_chains(names: U64, targets: U64) -> tuple[I64, BOOL]:
    """For each redirect the last of its chain, and whether it never ends; `names` are sorted."""
    if not names.size:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)
    place = np.minimum(np.searchsorted(names, targets), names.size - 1)
    on = names[place] == targets
    last = np.where(on, place, np.arange(names.size))
    for _ in range(JUMPS):
        further = last[last]
        if np.array_equal(further, last):
            break
        last = further
    return last, on[last]


class Redirects:
    """The table, mapped."""

    def __init__(self, folder: Path) -> None:
        self._names, self._starts, self._lengths, self._articles = (
            np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("names", "starts", "lengths", "articles")
        )
        with open(folder / "targets.bin", "rb") as file:
            size = file.seek(0, 2)
            self._targets: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""

    def resolve(self, titles: Collection[str]) -> dict[str, str]:
        """The final targets of those titles that are redirects."""
        given = list(titles)
        found, place = _find_titles(self._names, given)
        hits = np.flatnonzero(found)
        starts, lengths = self._starts[place[hits]].tolist(), self._lengths[place[hits]].tolist()
        return {
            given[i]: self._targets[start : start + length].decode()
            for i, start, length in zip(hits.tolist(), starts, lengths, strict=True)
        }

    def articles(self, titles: Collection[str]) -> set[str]:
        """Those titles that articles have."""
        given = list(titles)
        found, _place = _find_titles(self._articles, given)
        return {given[i] for i in np.flatnonzero(found)}


def _find_titles(names: U64, titles: list[str]) -> tuple[BOOL, I64]:
    number = xxhash.xxh3_64_intdigest
    wanted = np.fromiter(map(number, map(str.encode, titles)), dtype=np.uint64, count=len(titles))
    if not names.size:
        return np.zeros(wanted.size, dtype=bool), np.zeros(wanted.size, dtype=np.int64)
    place = np.minimum(np.searchsorted(names, wanted), names.size - 1)
    return names[place] == wanted, place

"""A program for a process of its own: the longest stretches between two looks at the clock, on an index of your own.

    python -m hostile.clock INDEX [SYSTEM ...]

Every system, trained ones too, is asked for everything with common words, by an index that was just opened, and twice
more, when lists are decoded and kept. Calls that load kernels are not counted. Prints each stretch of more than half of
what is allowed, with the places in the code where it begins and ends, and the longest one.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import fader
from fader.errors import FaderError
from hostile.crowd import NAMED, list_calls, make_system
from hostile.stretches import Stretch, longest_stretch

SECONDS = 0.05

QUERIES = ("the", 'the of "in the" a', '+of "the first" -he was')
TYPES = (None, "person")


def measure(folder: Path, names: list[str]) -> Stretch:
    """The longest stretch of all systems, queries and calls."""
    longest = Stretch()
    for name in names:
        system = make_system(name)
        for query in QUERIES:
            warm = fader.open(folder)
            entity = warm.rank(query, None, 1, system).entities[0]
            for kind in TYPES:
                for call, load in list_calls(warm, query, system, entity, kind).items():
                    with suppress(FaderError), longest_stretch():  # a question may have no word that counts
                        load()
                    index = fader.open(folder)
                    for at in ("first", "second", "third"):
                        ask = list_calls(index, query, system, entity, kind)[call]
                        with suppress(FaderError), longest_stretch() as stretch:
                            ask()
                        if stretch.seconds > SECONDS / 2:
                            print(f"{name}, {query}, {kind}, {call}, {at}: {stretch}", flush=True)
                        longest = max(longest, stretch, key=lambda s: s.seconds)
    return longest


if __name__ == "__main__":
    print(measure(Path(sys.argv[1]), sys.argv[2:] or NAMED))

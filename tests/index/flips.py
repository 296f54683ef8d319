"""A program for a process of its own: flip one bit of a file of an index, and search the index or merge it.

    python -m index.flips FOLDER search|merge SEED COUNT

Each flip is made in a fresh copy, by a child process with compiled kernels, opened without verification. What a child
does is one of

    refused   an error of Fader
    same      the answers of the whole index: the bit is not read, or does not matter
    silent    other answers; after a merge, also an index that `check` calls whole but that answers otherwise
    error     an error of another kind
    crashed   the process died

Prints JSON: how often each happened, and the flips that were silent, an error or a crash.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fader
from fader.errors import FaderError
from fader.index.commit import read_commit
from index.damage import answers, put

OUTCOMES = ("refused", "same", "silent", "error")


def flip(folder: Path, chance: random.Random) -> str:
    """Flip a bit of a file of the newest commit, any bit of them as likely as any other."""
    paths = [folder / name for name in sorted(read_commit(folder).file_names)]
    path = chance.choices(paths, [p.stat().st_size for p in paths])[0]
    data = bytearray(path.read_bytes())
    bit = chance.randrange(8 * len(data))
    data[bit >> 3] ^= 1 << (bit & 7)
    put(path, bytes(data))
    return f"bit {bit} of {path.name}"


def in_child(work: Callable[[], str]) -> str:
    """The outcome of some work in a child process, which may die of it."""
    child = os.fork()
    if child == 0:
        try:
            outcome = work()
        except FaderError:
            outcome = "refused"
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            outcome = "error"
        os._exit(OUTCOMES.index(outcome))
    status = os.waitpid(child, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    return OUTCOMES[code] if 0 <= code < len(OUTCOMES) else "crashed"


def ask(folder: Path) -> str:
    """All answers as one text: not a number is equal to itself so."""
    return repr(answers(fader.open(folder)))


def merge_and_ask(folder: Path) -> str:
    """The same of the merged index."""
    fader.merge(folder)
    return ask(folder)


def run(folder: Path, how: str, seed: int, count: int) -> dict[str, Any]:
    """So many flips, each on its own."""
    work = {"search": ask, "merge": merge_and_ask}[how]
    done: Counter[str] = Counter()
    bad = []
    with tempfile.TemporaryDirectory() as place:
        expected = work(Path(shutil.copytree(folder, Path(place) / "whole")))
        for i in range(seed, seed + count):
            copy = Path(shutil.copytree(folder, Path(place) / "copy"))
            what = flip(copy, random.Random(i))
            outcome = in_child(lambda c=copy: "same" if work(c) == expected else "silent")  # type: ignore[misc]
            done[outcome] += 1
            if outcome not in ("refused", "same"):
                bad.append(f"{i}: {what}: {outcome}")
            shutil.rmtree(copy)
    return {**done, "bad": bad}


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))

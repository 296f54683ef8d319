"""A program for a process of its own: open indexes that were changed under checksums that fit, and ask them.

    python -m index.hostile FOLDER SEED COUNT

Each change is made to a fresh copy of the index in FOLDER. Opened with verification it must be refused by an error of
Fader, and by `check` too, or answer like any index; whatever else happens is told with the change that led to it, and
ends the program with exit code 1. Kernels are bounds-checked by whoever starts it (NUMBA_BOUNDSCHECK, or
NUMBA_DISABLE_JIT). Prints JSON: how many were refused, and how many of those that were not gave the same answers as
before, or other ones.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

import fader
from fader.errors import FaderError
from fader.index.verify.check import check
from index.damage import answers, mutate

MOST_MEMORY = 6 << 30


def run(folder: Path, seed: int, count: int) -> dict[str, int]:
    """Make so many changes, each on its own; stops at the first that is not borne."""
    expected = answers(fader.open(folder, verify=True))
    done = {"refused": 0, "same": 0, "other": 0}
    with tempfile.TemporaryDirectory() as place:
        for i in range(seed, seed + count):
            copy = Path(shutil.copytree(folder, Path(place) / "copy"))
            what = mutate(copy, random.Random(i))
            try:
                done[_outcome(copy, expected)] += 1
            except BaseException:
                print(f"change {i} ({what}) is not borne:\n{traceback.format_exc()}", file=sys.stderr)
                sys.exit(1)
            shutil.rmtree(copy)
    return done


def _outcome(folder: Path, expected: list[object]) -> str:
    try:
        index = fader.open(folder, verify=True)
    except FaderError:
        if not check(folder):
            raise
        return "refused"
    try:
        return "same" if repr(answers(index)) == repr(expected) else "other"
    except FaderError:  # a type of another name, say, which is an answer too
        return "other"


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    print(json.dumps(run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))

"""What it costs that nothing is read unverified: opening, a first query and a merge, with checksums and without.

Without means that the comparison of arrays with their checksums is left out, as no user can do. Both ways alternate;
medians of CPU time. Texts are always verified: their checksums are inside of their compressed frames.

python -m benchmarks.verifying --scale 0.02 --rounds 7
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import fader
from fader.index import format as container

WORDS = [f"word{i}" for i in range(20_000)]
LENGTH, ENTITIES = 250, 2_000
QUERY = "word1 word5 +word10"


class _Fits:
    """A checksum that fits any array."""

    def __ne__(self, _other: object) -> bool:
        return False


def trust() -> AbstractContextManager[object]:
    """Compare no array with its checksum inside."""
    stack = ExitStack()
    known = {**vars(container.xxhash), "xxh3_64_hexdigest": lambda _data: _Fits()}
    stack.enter_context(patch.object(container, "xxhash", SimpleNamespace(**known)))
    stack.enter_context(patch.object(container.Container, "verify", lambda _self: None))
    return stack


def write_document(number: int) -> dict[str, Any]:
    """A text of words of which few are common, with a mention in every twenty."""
    chance = random.Random(number)
    words = [WORDS[int(len(WORDS) * chance.random() ** 4)] for _ in range(LENGTH)]
    mentions, at = [], 0
    for i, word in enumerate(words):
        if i % 20 == 0:
            mentions.append({"start": at, "end": at + len(word), "entity": f"E{chance.randrange(ENTITIES)}"})
        at += len(word) + 1
    return {"id": f"d{number}", "text": " ".join(words), "mentions": mentions}


def measure(rounds: int, prepare: Callable[[], None], call: Callable[[], object]) -> tuple[float, float]:
    """The median CPU seconds of a call with and without checksums."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for own, how in zip(times, (ExitStack, trust), strict=True):
            prepare()
            with how():
                began = time.process_time()
                call()
                own.append(time.process_time() - began)
    return median(times[0]), median(times[1])


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="What the verification of checksums costs.")
    parser.add_argument("--scale", type=float, default=0.02, help="1.0 is 200,000 documents")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args(given)
    with tempfile.TemporaryDirectory() as work:
        whole, copy = Path(work, "whole"), Path(work, "copy")
        documents = round(200_000 * args.scale)
        named = ({"id": f"E{i}", "name": f"name {i}", "types": ["thing"]} for i in range(ENTITIES))
        tokens = documents * LENGTH // 8
        fader.build(whole, map(write_document, range(documents)), named, [{"id": "thing"}], segment_tokens=tokens)
        size = sum(path.stat().st_size for path in whole.iterdir())
        print(f"{documents:,} documents, {size / 1e6:.0f} MB")
        index = fader.open(whole)

        def copy_anew() -> None:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(whole, copy)

        calls: dict[str, tuple[Callable[[], None], Callable[[], object]]] = {
            "open": (lambda: None, lambda: fader.open(whole)),
            "open and search": (lambda: None, lambda: fader.open(whole).search(QUERY)),
            "search once more": (lambda: None, lambda: index.search(QUERY)),
            "merge": (copy_anew, lambda: fader.merge(copy)),
        }
        for _prepare, call in (calls["open and search"], calls["search once more"]):
            call()  # loads kernels
        copy_anew()
        fader.merge(copy)
        for name, (prepare, call) in calls.items():
            verified, trusted = measure(args.rounds, prepare, call)
            ratio = verified / trusted
            print(f"{name}: {1000 * verified:.1f} ms, {1000 * trusted:.1f} ms without: {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()

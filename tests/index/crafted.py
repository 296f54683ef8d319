"""A program for a process of its own: change an index under checksums that fit, and use it without verifying it.

    python -m index.crafted FOLDER SEED COUNT

Each index is crafted in a fresh copy: one to three numbers of its arrays, manifests or tables of contents are changed
(`damage.mutate`), or a column, a list, strings or texts are decoded, changed and encoded again, so that what is wrong
lies behind encodings and frames that are right. A child process with compiled kernels then searches it by every plan
and some systems, reads contexts, explains, completes, reads all documents, checks and merges. This comes of it:

    refused   every use was an error of Fader
    used      some use gave an answer, whichever
    error     an error of another kind
    crashed   the process died of a signal
    hung      it did not end by itself

Prints JSON: how often each happened, and the indexes that were an error, crashed or hung.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

import fader
from fader.errors import FaderError
from fader.index.encoding.list_writer import encode_lists, write_lists
from fader.index.encoding.lists import Lists
from fader.index.encoding.packed import Packed, write_packed
from fader.index.encoding.strings import SortedStrings, write_sorted, write_strings
from fader.index.textframes import FRAME_BYTES, Frames
from fader.index.verify.check import check
from index.damage import QUERIES, Sealed, answers, mutate

OUTCOMES = ("refused", "used", "error")
SECONDS = 60  # of one child; it takes less than one
MORE_MEMORY = 3 << 30
SYSTEMS = ("plm", "balog1", "balog2(window=3)", "petkova", "entityrank", "literals(plm)")
HARMFUL = (0, 1, 127, 128, 1 << 16, (1 << 30) - 1, (1 << 31) - 2)


class Workbench(Sealed):
    """A container whose parts are decoded and encoded again by the readers and writers of the index."""

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.arrays[name]

    def array(self, name: str, values: NDArray[Any]) -> None:
        self.arrays[name] = np.array(values)

    def slice(self, name: str, start: int, end: int) -> bytes:
        return self.arrays[name][start:end].tobytes()

    def names(self, ending: str) -> list[str]:
        """The names of the parts that have an array of this ending."""
        return sorted(name.removesuffix(ending) for name in self.arrays if name.endswith(ending))


def craft(folder: Path, chance: random.Random) -> str:
    """Change one to three things; returns what was changed."""
    what = [_craft_one(folder, chance)]
    with suppress(
        AttributeError, KeyError, OverflowError, TypeError, ValueError
    ):  # what is changed cannot be changed on
        what += [_craft_one(folder, chance) for _ in range(chance.choice([0, 0, 1, 2]))]
    return "; ".join(what)


def _craft_one(folder: Path, chance: random.Random) -> str:
    if chance.random() < 0.5:
        return mutate(folder, chance)
    path = chance.choice(sorted(p for p in folder.iterdir() if p.suffix != ".json"))
    bench = Workbench(path)
    ways = [_change_column, _change_list, _change_sorted, _change_strings, _change_text]
    chance.shuffle(ways)
    what = next(filter(None, (way(bench, chance) for way in ways)), "")
    bench.seal()
    return f"{path.name}: {what}"


def _change_column(bench: Workbench, chance: random.Random) -> str:
    names = [name for name in bench.names("_words") if f"{name}_rows" in bench.meta]
    if not names:
        return ""
    name = chance.choice(names)
    try:
        values = Packed(bench, name).all()
    except FaderError:  # an earlier change
        return ""
    if not values.size:
        return ""
    for _ in range(chance.choice([1, 1, 3])):
        i = chance.choice([0, values.size - 1, chance.randrange(values.size)])
        values[i] = chance.choice([*HARMFUL, int(values[i]) + 1, max(0, int(values[i]) - 1), int(values.max())])
    write_packed(bench, name, values)  # type: ignore[arg-type]
    return f"column {name}"


def _change_list(bench: Workbench, chance: random.Random) -> str:
    """Lists that ascend, but go on behind what there is, or are other lists than they should be."""
    names = bench.names("_entry")
    if not names:
        return ""
    name = chance.choice(names)
    try:
        values, at = Lists(bench, name).all()
    except FaderError:
        return ""
    each = [values[at[i] : at[i + 1]] for i in range(at.size - 1)]
    if not each:
        return ""
    for _ in range(chance.choice([1, 1, 3])):
        i, j = chance.randrange(len(each)), chance.randrange(len(each))
        last = int(each[i][-1]) if each[i].size else 0
        steps = [chance.choice([1, 2, 127, 1 << 12, 1 << 20, 1 << 23]) for _ in range(chance.choice([1, 130]))]
        further = last + np.cumsum(steps)
        each[i] = chance.choice([np.append(each[i], further).astype(np.int32), each[j], each[i][:-1], each[i][1:]])
    extra = np.array([chance.choice([v.size, 0, 1 << 30]) for v in each], dtype=np.int32)
    lengths = np.cumsum([0, *(v.size for v in each)]).astype(np.int64)
    write_lists(bench, name, encode_lists(np.concatenate(each).astype(np.int32), lengths, extra))  # type: ignore[arg-type]
    return f"list {name}"


def _change_sorted(bench: Workbench, chance: random.Random) -> str:
    names = sorted(name.removesuffix("_strings") for name in bench.meta if name.endswith("_strings"))
    if not names:
        return ""
    name = chance.choice(names)
    try:
        found = SortedStrings(bench, name).decode_all()
    except FaderError:
        return ""
    each = [found.data[found.at[i] : found.at[i + 1]].tobytes() for i in range(len(found))]
    write_sorted(bench, name, _change_each(each, chance))
    return f"sorted strings {name}"


def _change_strings(bench: Workbench, chance: random.Random) -> str:
    names = [n for n in bench.names("_at") if n in bench.arrays and bench.arrays[n].dtype == np.uint8]
    names = [n for n in names if f"{n}_strings" not in bench.meta]
    if not names:
        return ""
    name = chance.choice(names)
    at, data = bench.arrays[f"{name}_at"].tolist(), bench.arrays[name].tobytes()
    write_strings(bench, name, _change_each([data[a:b] for a, b in pairwise(at)], chance))
    return f"strings {name}"


def _change_each(each: list[bytes], chance: random.Random) -> list[bytes]:
    """Other strings: out of order, equal, long, not UTF-8, or fewer and more of them."""
    if not each:
        return [b"x"]
    i = chance.randrange(len(each))
    wild = bytes(chance.randrange(256) for _ in range(chance.choice([0, 1, 5, 300])))
    way = chance.randrange(5)
    if way == 0:
        chance.shuffle(each)
    elif way == 1:
        each[i] = wild
    elif way == 2:
        each[i] = each[i][:-1] + wild
    elif way == 3:
        each[i] = each[chance.randrange(len(each))] * chance.choice([1, 1000])
    else:
        each = each[:-1] if chance.random() < 0.5 else [*each, wild]
    return each


def _change_text(bench: Workbench, chance: random.Random) -> str:
    """Texts of as many bytes that are not UTF-8, or have other tokens, in frames that are right."""
    if "frame_at" not in bench.arrays or not bench.arrays["document_at"].size:
        return ""
    size = int(bench.arrays["document_at"][-1])
    try:
        data = bytearray(Frames(bench, size).read(0, size))  # type: ignore[arg-type]
    except FaderError:
        return ""
    for _ in range(chance.choice([1, 3, 30]) if data else 0):
        i, n = chance.randrange(len(data)), chance.choice([1, 1, 8, 400])
        fill = chance.choice([b" ", b"a", b"\xff", b"\xe2", "é".encode(), b"\0", b"a "])
        data[i : i + n] = (fill * n)[: len(data[i : i + n])]
    content = bench.arrays["dictionary"].tobytes()
    trained = zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_FULLDICT) if content else None
    compressor = zstandard.ZstdCompressor(dict_data=trained, write_checksum=True, write_dict_id=False)
    frames = [compressor.compress(bytes(data[i : i + FRAME_BYTES])) for i in range(0, size, FRAME_BYTES)]
    bench.array("text", np.frombuffer(b"".join(frames), dtype=np.uint8))
    bench.array("frame_at", np.cumsum([0, *map(len, frames)]).astype(np.uint32))
    return "texts"


# What is done with an index


def _uses(folder: Path) -> Iterator[Callable[[], object]]:
    """Everything that opens an index, from the quickest on."""
    yield lambda: answers(fader.open(folder))
    for model in SYSTEMS:
        yield partial(_search, folder, model)
    yield lambda: [fader.open(folder).why("engine", e, "person") for e in ("E1", "E2")]
    yield lambda: fader.open(folder).contexts("+engine the", "thing", stem=True, entities=True, relax=True).rows()
    yield lambda: _read_late(fader.open(folder))
    yield lambda: fader.open(folder).ask("which person built the engine of numbers").to_dict()
    yield lambda: fader.merge(folder)
    yield lambda: answers(fader.open(folder))


def _search(folder: Path, model: str) -> object:
    index = fader.open(folder)
    return [index.search(*query, model=model, snippets=2).to_dict() for query in QUERIES[:3]]


def _read_late(index: Any) -> object:
    """Columns that few rankings read."""
    contexts = index.contexts('the +"of numbers"', "thing")
    return contexts.sentences, contexts.titles, contexts.details


def use(folder: Path) -> str:
    """Use an index in every way; the check may find it whole, as a change need not break what is promised."""
    outcome = "refused"
    check(folder)
    for one in _uses(folder):
        try:
            one()
            outcome = "used"
        except FaderError:
            pass
    return outcome


def in_child(work: Callable[[], str]) -> str:
    """The outcome of some work in a child process, which may die of it."""
    child = os.fork()
    if child == 0:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MORE_MEMORY, used + MORE_MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            outcome = work()
        except BaseException:
            traceback.print_exc()
            outcome = "error"
        sys.stderr.flush()
        os._exit(OUTCOMES.index(outcome))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "hung"
    return OUTCOMES[code] if 0 <= code < len(OUTCOMES) else "crashed"


def run(folder: Path, seed: int, count: int) -> dict[str, Any]:
    """So many indexes, each on its own."""
    done: Counter[str] = Counter()
    bad = []
    with tempfile.TemporaryDirectory() as place:
        use(Path(shutil.copytree(folder, Path(place) / "whole")))  # all kernels are loaded before the first fork
        for i in range(seed, seed + count):
            copy = Path(shutil.copytree(folder, Path(place) / "copy"))
            what = craft(copy, random.Random(i))
            outcome = in_child(lambda c=copy: use(c))  # type: ignore[misc]
            done[outcome] += 1
            if outcome not in ("refused", "used"):
                bad.append(f"{i}: {what}: {outcome}")
                print(bad[-1], file=sys.stderr, flush=True)
            shutil.rmtree(copy)
    return {**done, "bad": bad}


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))

"""Small corpora with everything that can be wrong with one, and indexes compared file by file and answer by answer."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import xxhash

WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "kelp", "marsh", "night", "ocean", "pine")
ENTITIES = [f"e{n:02d}" for n in range(20)]


def catalog(folder: Path) -> dict[str, str]:
    """entities.tsv and types.tsv of a few entities."""
    types = "thing\tThing\t\nriver\tRiver\tthing\nhill\tHill\tthing\n"
    rows = [f"{e}\t{e.title()}\t{'river' if n % 2 else 'hill'}\t" for n, e in enumerate(ENTITIES)]
    (folder / "types.tsv").write_text(types, "utf-8")
    (folder / "entities.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    return {"entities": str(folder / "entities.tsv"), "types": str(folder / "types.tsv")}


def document(rng: random.Random, identifier: str) -> dict[str, Any]:
    """A text of some words, with mentions of which some cannot be used."""
    words = [rng.choice(WORDS) for _ in range(rng.randint(3, 30))]
    text, mentions = "", []
    for word in words:
        if rng.random() < 0.3:
            name = rng.choice([*ENTITIES, *ENTITIES, "unknown"])
            mentions.append(
                {"start": len(text), "end": len(text) + len(word), "entity": name, "confidence": rng.random()}
            )
        text += word + " "
    if rng.random() < 0.05:
        mentions.append({"start": 0, "end": 10_000, "entity": "e01"})
    return {"id": identifier, "text": text, "title": f"On {words[0]}", "mentions": mentions}


def lines(rng: random.Random, count: int, ids: int) -> list[bytes]:
    """Lines of a corpus file: ids come several times; some lines are blank, broken, too long or without an id."""
    out = []
    for _ in range(count):
        kind = rng.random()
        if kind < 0.04:
            out.append(
                rng.choice([b"", b"   ", b"{", b"[1]", b'{"id": ', b"\xff\xfe", b'{"id": 7}', b'{"text": "no id"}'])
            )
        elif kind < 0.06:
            out.append(b'{"id": "long", "text": "' + b"x" * 3000 + b'"}')
        elif kind < 0.1:
            out.append(json.dumps(document(rng, "") | {"id": rng.randrange(50)}).encode())
        else:
            identifier = rng.choice(["doc", "é", "z", "😀"]) + str(rng.randrange(ids))
            out.append(json.dumps(document(rng, identifier), ensure_ascii=rng.random() < 0.5).encode())
    return out


def corpus(folder: Path, seed: int = 1, count: int = 300, files: int = 3) -> list[str]:
    """Some files: plain ones with and without a last newline and a byte order mark, and a compressed one."""
    rng = random.Random(seed)
    paths = []
    for n in range(files):
        data = b"\n".join(lines(rng, count, count))
        data += b"\n" if n % 2 else b""
        data = b"\xef\xbb\xbf" + data if n == 0 else data
        path = folder / f"part-{n}.jsonl{'.gz' if n == 1 else ''}"
        path.write_bytes(gzip.compress(data) if n == 1 else data)
        paths.append(str(path))
    return paths


def files_of(folder: Path) -> dict[str, str]:
    """The files of an index by name, with checksums of their bytes."""
    return {
        path.name: xxhash.xxh3_64_hexdigest(path.read_bytes()) for path in sorted(folder.iterdir()) if path.is_file()
    }

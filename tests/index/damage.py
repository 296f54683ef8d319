"""Small living indexes to be damaged, and ways to damage them: bytes on disk, or arrays under checksums that fit.

`Sealed` takes a container apart and puts it together again with every checksum right, in the file and in all manifests
that name it: what an attacker would do, and what no checksum can find. Knows nothing of what must be found.
"""

from __future__ import annotations

import json
import os
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

import fader
from fader.index.write.change import ChangeOptions, add, delete
from fader.search.suggest import Suggester
from fader.search.typetree import TypeTree

TYPES = [
    {"id": "thing", "name": "thing", "supertypes": []},
    {"id": "being", "name": "living being", "supertypes": ["thing"]},
    {"id": "person", "name": "person", "supertypes": ["being"]},
    {"id": "poet", "name": "poet", "supertypes": ["person"]},
    {"id": "place", "name": "place", "supertypes": ["thing"]},
]
ENTITIES = [
    {"id": "E1", "name": "Ada Lovelace", "types": ["person"], "aliases": ["Ada", "Countess of Lovelace"]},
    {"id": "E2", "name": "Babbage", "types": ["person"]},
    {"id": "E3", "name": "Byron", "types": ["poet", "person"], "aliases": ["Ada's father"]},
    {"id": "E4", "name": "London", "types": ["place"]},
    {"id": "E5", "name": "Zürich", "types": ["place", "being"], "aliases": ["Zurich"]},
]
NAMES = {"Ada": "E1", "Babbage": "E2", "Byron": "E3", "London": "E4", "Zürich": "E5"}
WORDS = ["the", "engine", "of", "numbers", "café", "was", "shown", "program", "never", "finished", "poem", "machine"]
QUERIES = [
    ("engine", "person"), ("the engine", None), ('"the engine"', "thing"), ('+the +"of numbers" -poem', "being"),
    ("machine café", "place"), ("nowhere", "thing"), ('the +"engine of numbers" program', "person"),
]  # fmt: skip


def _word(i: int, chance: random.Random) -> str:
    """Every second word is `the`, so that its list has several blocks; every fourth is a name."""
    if i % 4 == 1:
        return chance.choice(list(NAMES))
    return "of" if i % 8 == 6 else "the" if i % 2 == 0 else chance.choice(WORDS)


def document(number: int, tokens: int = 26, edition: int = 0) -> dict[str, Any]:
    """A text of common words and names."""
    chance = random.Random(number * 1000 + edition)
    words = [_word(i, chance) for i in range(tokens + number % 4)]
    text, mentions = "", []
    for word in words:
        if word in NAMES:
            confidence = chance.choice([0.5, 0.75, 1.0])
            mentions.append(
                {"start": len(text), "end": len(text) + len(word), "entity": NAMES[word], "confidence": confidence}
            )
        text += word + chance.choice([" ", " ", ", "])
    extra = {"title": f"Title {number}", "url": f"x:{number}", "prior": 1.0 + number} if number % 3 else {}
    return {
        "id": f"d{number * 37 % 100:02d}é" if number % 5 else f"d{number}",
        "text": text,
        "mentions": mentions,
        **extra,
    }


def build_living(folder: Path, documents: int = 34, tokens: int = 26) -> Path:
    """Three commits: two segments of some documents, one of them long, some more with two replaced, some deleted."""
    made = [document(i, 6 * tokens if i == documents - 3 else tokens) for i in range(documents)]
    fader.build(folder, made, ENTITIES, TYPES, segment_tokens=tokens * (documents - 4))
    kept = ChangeOptions(keep=3, merge=False)
    add(folder, [document(1, tokens, 1), document(documents - 1, 5, 1), document(documents + 1, tokens)], kept)
    delete(folder, [made[i]["id"] for i in (0, 2, 7, documents - 2)], kept)
    return folder


def answers(index: Any) -> list[Any]:
    """All that queries give, whatever plan they take, and all that is stored of entities, types and documents."""
    found: list[Any] = [index.collection.documents, index.collection.tokens, index.collection.mentions]
    for query, answer_type in QUERIES:
        for plan in (None, "type", "document"):
            found.append(_table(index.contexts(query, answer_type, plan=plan)))
        found.append(_table(index.contexts(query, answer_type, window=3, overlap=False)))
        answer = index.search(query, answer_type, k=5, snippets=3, explain=query == "machine café").to_dict()
        answer.pop("took_ms")
        found.append(answer)
    catalog, reader = index.collection.catalog, index.collection.reader
    suggester, tree = Suggester(index.collection), TypeTree(index.collection)
    found += [suggester.entities(p, 10, t) for p in ("", "a", "z", "lov a", "of c") for t in (None, "person", "place")]
    found += [suggester.types(p) for p in ("", "p", "be l")]
    found.append(tree.children(None))
    for t in range(len(catalog.type_ids)):
        found += [catalog.type_names[t], catalog.supertypes_of(t), catalog.entities_of_type(t).tolist()]
        found += [tree.children(catalog.type_ids[t]), tree.path(catalog.type_ids[t])]
    for e in range(len(catalog.entity_ids)):
        found += [catalog.entity_names[e], catalog.aliases_of(e), catalog.types_of(e)]
        found += [catalog.describe_entities([e]), catalog.resolve_entity(catalog.entity_ids[e])]
    for d in range(reader.documents):
        segment, local = reader.locate(d)
        found += [reader.document_id(d), segment.text.titles[local], segment.text.urls[local], segment.text.text(local)]
        found.append(reader.find_document(reader.document_id(d)))
    return found


def _table(contexts: Any) -> list[Any]:
    """Every column of a table of contexts, those that are found late too."""
    c = contexts
    columns = [c.document, c.entities, c.slot, c.distances, c.sides, c.confidence, c.start, c.end, c.entity_documents]
    values = [c.statistics.df, c.statistics.cf]
    for of in (c.documents, c.matching):
        values += [of.row, of.number, of.counts, of.length, of.distinct, of.square, of.prior]
    values += [c.positions.at, c.positions.start, c.positions.length]
    return [column.tolist() for column in columns + values]


def put(path: Path, content: bytes) -> None:
    """Put a file in the place of another. A new one: whoever has the old one mapped must not see it change."""
    beside = path.with_name("beside")
    beside.write_bytes(content)
    os.replace(beside, path)


# Under checksums that fit

_FOOTER = struct.Struct("<8sIIQQQQQQ")


class Sealed:
    """The arrays, values and kind of a container, to be changed and sealed again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        data = path.read_bytes()
        self.version, toc_at, toc_length = (_FOOTER.unpack(data[-64:])[i] for i in (1, 3, 4))
        toc = json.loads(data[toc_at : toc_at + toc_length])
        self.kind, self.meta = toc["kind"], toc["meta"]
        self.arrays: dict[str, NDArray[Any]] = {
            name: np.frombuffer(data, "<" + dtype, length, offset).copy()
            for name, (dtype, length, offset) in toc["arrays"].items()
        }
        self.toc: Any = None  # another table of contents, where one is given

    def seal(self, manifests: bool = True) -> None:
        """Write the file, and its size and checksum into every manifest that names it."""
        data, places, array_sums = b"", {}, {}
        for name, values in self.arrays.items():
            array_sums[name] = xxhash.xxh3_64_hexdigest(values.tobytes())
            places[name] = (values.dtype.str[1:], values.size, len(data))
            data += values.tobytes() + b"\0" * (-values.nbytes % 64)
        own = {"kind": self.kind, "arrays": places, "sums": array_sums, "meta": self.meta}
        toc = self.toc if self.toc is not None else own
        table = toc if isinstance(toc, bytes) else json.dumps(toc).encode()
        sums = xxhash.xxh3_64_intdigest(data), xxhash.xxh3_64_intdigest(table)
        length = len(data) + len(table) + 64
        head = _FOOTER.pack(b"FADERIDX", self.version, 0, len(data), len(table), length, *sums, 0)[:-8]
        footer = head + struct.pack("<Q", xxhash.xxh3_64_intdigest(head))
        put(self.path, data + table + footer)
        described = {"bytes": length, "xxh3": f"{xxhash.xxh3_64_intdigest(footer):016x}"}
        for path in sorted(self.path.parent.glob("commit-*.json")) if manifests else []:
            manifest = unsealed(path)
            for entry in _entries(manifest, self.path.name):
                entry.update(described)
            seal_manifest(path, manifest)


def _entries(manifest: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """What a manifest says of a file."""
    if manifest["catalog"]["name"] == name:
        yield manifest["catalog"]
    for segment in manifest["segments"]:
        for part, described in segment["files"].items():
            if f"{segment['name']}.{part}" == name:
                yield described
        if segment.get("deleted") and segment["deleted"]["name"] == name:
            yield segment["deleted"]


def unsealed(path: Path) -> Any:
    """What a manifest says."""
    return json.loads(path.read_text(encoding="utf-8").split("\n")[0])


def seal_manifest(path: Path, manifest: Any) -> None:
    """Write a manifest of any content, with its checksum."""
    line = manifest if isinstance(manifest, str) else json.dumps(manifest, ensure_ascii=False, sort_keys=True)
    put(path, f"{line}\nxxh3:{xxhash.xxh3_64_hexdigest(line.encode())}\n".encode())


def mutate(folder: Path, chance: random.Random) -> str:
    """Change one thing under checksums that fit; returns what was changed."""
    path = chance.choice(sorted(folder.iterdir()))
    if path.suffix == ".json":
        manifest = unsealed(path)
        what = _mutate_json(manifest, chance)
        seal_manifest(path, manifest)
        return f"{path.name}: {what}"
    sealed = Sealed(path)
    if chance.random() < 0.15:
        what = _mutate_values(sealed, chance)
    else:
        name = chance.choice(sorted(sealed.arrays))
        what = f"{name}: {_mutate_array(sealed, name, chance)}"
    sealed.seal()
    return f"{path.name}: {what}"


def _mutate_json(value: Any, chance: random.Random) -> str:
    """Change something somewhere inside of an object of JSON."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = chance.choice(keys)
    if isinstance(value[key], dict | list) and value[key] and chance.random() < 0.9:
        return f"{key}.{_mutate_json(value[key], chance)}"
    old = value[key]
    near: list[Any] = [old + 1, old - 1, old * 2] if isinstance(old, int) else [f"../{old}", f"{old}x"]
    value[key] = chance.choice([*near, *near, 0, -1, 1 << 31, 1 << 62, 1e300, "", "x", None, True, [], {}, [[]]])
    return f"{key} {old} -> {value[key]}"


def _mutate_values(sealed: Sealed, chance: random.Random) -> str:
    """Change a number beside the arrays, or an array's type, in the table of contents."""
    if sealed.meta and chance.random() < 0.6:
        name = chance.choice(sorted(sealed.meta))
        old = sealed.meta[name]
        sealed.meta[name] = chance.choice([0, 1, old + 1, old - 1, old * 2, 1 << 31, 1 << 62, -1, 1e300, "x", None, []])
        return f"value {name} {old} -> {sealed.meta[name]}"
    name = chance.choice(sorted(sealed.arrays))
    dtype = chance.choice(["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"])
    data = sealed.arrays[name].tobytes()
    itemsize = np.dtype(dtype).itemsize
    sealed.arrays[name] = np.frombuffer(data[: len(data) // itemsize * itemsize], dtype=dtype)
    return f"array {name} as {dtype}"


def _mutate_array(sealed: Sealed, name: str, chance: random.Random) -> str:
    """Change an element or two, or the size."""
    values = sealed.arrays[name]
    way = chance.choice(["element", "element", "element", "element", "swap", "shorter", "longer", "shuffle", "bit"])
    if way == "longer" or values.size == 0:
        sealed.arrays[name] = np.append(values, values[-1:] if values.size else np.ones(1, values.dtype))
    elif way == "shorter":
        sealed.arrays[name] = values[: chance.randrange(values.size)]
    elif way == "shuffle":
        sealed.arrays[name] = values[np.array(chance.sample(range(values.size), values.size))]
    elif way == "swap":
        i, j = chance.randrange(values.size), chance.randrange(values.size)
        values[[i, j]] = values[[j, i]]
    elif way == "bit":
        raw = values.view(np.uint8)
        raw[chance.randrange(raw.size)] ^= 1 << chance.randrange(8)
    else:
        i = chance.choice([0, values.size - 1, chance.randrange(values.size), chance.randrange(values.size)])
        values[i] = chance.choice(_extremes(values, i))
    return way


def _extremes(values: NDArray[Any], i: int) -> list[Any]:
    """Values that are near, far or the last of their type."""
    if values.dtype.kind == "f":
        return [np.nan, np.inf, -np.inf, -1.0, 1e308]
    info = np.iinfo(values.dtype)
    old = int(values[i])
    near = [old + 1, old - 1, 2 * old, old ^ 128, 0, 1, int(values.max()), int(values.size), info.max, info.min, -1]
    return [v for v in near if info.min <= v <= info.max and v != old]

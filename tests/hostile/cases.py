"""Hostile queries and lines, drawn by number: case i of a seed is always the same. Knows nothing of their use."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

WORDS = ("violin", "physics", "river", "old", "town", "the", "of", "Éire", "straße", "漢字", "x1")
TYPES = ("thing", "person", "city", "Stadt", "näher", "two words")
# What a caller may give, and what not.
OPTIONS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "k": ((1, 2, 10, 100_000), (0, -1, 100_001, 10**30, True, 1.5, "10", None)),
    "model": (
        ("default", "proximity", "count", "voting", "balog2"),
        ("nonsense(", "proximity(width=-1)", "", "\0", "x" * 9999),
    ),
    "snippets": ((0, 1, 3, 1000), (1001, -1, "1", None)),
    "explain": ((False, False, True), (False,)),
    "timeout_ms": ((None, None, 0.001, 1, 20, 10_000), (0, -5, float("nan"), float("inf"), "1", True)),
}
SIGNS = ("", "", "", "+", "-", "++", "+-", '"', '+"')
BLANKS = (" ", " ", "  ", "\t", "\n", "\u3000", "\u00a0", "\x1c")
ODD = (
    "\0\x01\x1b\x7f\x80\x9f\ufeff\u200b\u200d\u202e\u2028\ud800\udbff\udc00\udfff\ufffe\uffff\U0001f600\U0010ffff\u0301"
)
HUGE = (
    "9" * 30,
    "-" + "9" * 400,
    "1e999",
    "-1e999",
    "1e-999",
    "NaN",
    "Infinity",
    "-0",
    "0.0",
    "00",
    "9" * 5000,
    "1E+2",
)


def drawn(seed: str, number: int) -> random.Random:
    """The source of chance of one case."""
    return random.Random(f"{seed}-{number}")


# ----------------------------------------------------------------------------------------- queries


@dataclass(frozen=True)
class Asked:
    """A query with everything that may be given with it."""

    text: str
    type: str | None
    options: dict[str, Any] = field(default_factory=dict)


def _word(r: random.Random) -> str:
    return r.choice(WORDS) if r.random() < 0.9 else "".join(r.choices("abcdefgh", k=r.randint(1, 12)))


def _valid(r: random.Random) -> str:
    pieces = []
    for _ in range(r.choice((1, 1, 2, 3, 5, 9))):
        phrase = " ".join(_word(r) for _ in range(r.randint(1, 4)))
        body = f'"{phrase}"' if r.random() < 0.3 else _word(r)
        pieces.append(r.choice(("", "", "+", "-")) + body)
    if r.random() < 0.3:
        pieces.append(f'type:"{r.choice(TYPES)}"')
    return " ".join(pieces)


def _character(r: random.Random) -> str:
    return (
        r.choice(ODD)
        if r.random() < 0.3
        else chr(r.choice((r.randrange(128), r.randrange(0x3000), r.randrange(0x110000))))
    )


def _soup(r: random.Random) -> str:
    parts = ("+", "-", '"', "type:", "TYPE:", "::", "(", ")", "[", "\\", "*", "AND", "%s", "{0}", *WORDS, *BLANKS)
    return "".join(r.choices(parts, k=r.randint(0, 40)))


def _mutated(r: random.Random) -> str:
    text = list(_valid(r))
    for _ in range(r.randint(1, 4)):
        at = r.randrange(len(text) + 1)
        text[at : at + r.randint(0, 2)] = [_character(r)] * r.randint(0, 2)
    return "".join(text)


def _long(r: random.Random) -> str:
    shape = r.randrange(5)
    if shape == 0:
        return " ".join(f"{r.choice(SIGNS[:5])}w{i}" for i in range(r.randint(60, 70)))
    if shape == 1:
        return '"' + " ".join(r.choices(WORDS, k=r.randint(60, 70))) + '"'
    if shape == 2:
        return r.choice(("(", '"', '+"', "a-", "é", "\ud800", "type:")) * r.randint(300, 3000)
    if shape == 3:
        return "a" * r.choice((1999, 2000, 2001, 100_000))
    return r.choice(BLANKS) * r.randint(1990, 2010) + "a" * r.randint(0, 20)


def _text(r: random.Random) -> str:
    """Any text at all."""
    shape = r.randrange(10)
    if shape < 3:
        return _valid(r)
    if shape < 5:
        return _mutated(r)
    if shape == 5:
        return _soup(r)
    if shape == 6:
        return "".join(_character(r) for _ in range(r.randint(0, 30)))
    if shape == 7:
        return r.randbytes(r.randint(0, 40)).decode("utf-8", r.choice(("surrogateescape", "replace", "ignore")))
    if shape == 8:
        return "".join(r.choice(SIGNS) + _word(r) + r.choice(BLANKS) for _ in range(r.randint(1, 12)))
    return _long(r) if r.random() < 0.2 else r.randbytes(r.randint(0, 40)).decode("latin-1")


def _options(r: random.Random) -> dict[str, Any]:
    """One in ten has an option that is no good."""
    bad = r.choice(list(OPTIONS)) if r.random() < 0.1 else ""
    return {name: r.choice(wrong if name == bad else right) for name, (right, wrong) in OPTIONS.items()}


def query(r: random.Random) -> Asked:
    """A query; most are no good."""
    given = r.random()
    answer_type = None if given < 0.6 else r.choice(TYPES) if given < 0.9 else _text(r)
    return Asked(_text(r), answer_type, _options(r))


# ------------------------------------------------------------------------------------------- lines


def _mention(r: random.Random) -> dict[str, Any]:
    offset = (-1, 0, 3, 8, 9, 20, 10**6, 2**31, 2**63, 2**64, -(2**63), 10**300)
    start, end = (0, 6) if r.random() < 0.5 else (r.choice(offset), r.choice(offset))
    mention: dict[str, Any] = {"start": start, "end": end, "entity": r.choice(("E", "F", "", "nobody", 7))}
    if r.random() < 0.3:
        mention["confidence"] = r.choice((0, 0.5, 1, -1, 2, 1e308))
    return mention


def document(r: random.Random, name: str) -> dict[str, Any]:
    """A document that is good but for its mentions."""
    text = r.choice(("Fermi and the old river", "", "a\u0301 é 漢字 \0 \U0001f600", "word " * r.randint(1, 50)))
    found: dict[str, Any] = {"id": name, "text": text, "mentions": [_mention(r) for _ in range(r.randint(0, 4))]}
    if r.random() < 0.3:
        found |= {"title": "T", "url": "u", "prior": r.choice((0, 1, 0.5, 1e300)), "extra": {"a": [1, {}]}}
    return found


def _anything(r: random.Random, depth: int = 3) -> Any:
    if depth and r.random() < 0.3:
        return [_anything(r, depth - 1) for _ in range(r.randint(0, 3))]
    if depth and r.random() < 0.2:
        return {r.choice(("id", "start", "x")): _anything(r, depth - 1)}
    return r.choice((None, True, 0, -1, 1.5, 2**70, "", "E", "\0", "\ud800", "a" * 5000, [], {}))


def _of_another_type(r: random.Random, found: dict[str, Any]) -> str:
    within = r.choice(found["mentions"]) if found["mentions"] and r.random() < 0.5 else found
    within[r.choice((*within, "mentions", "entities", "contents", "id"))] = _anything(r)
    return json.dumps(found, ensure_ascii=r.random() < 0.5)


def _of_another_number(r: random.Random, found: dict[str, Any]) -> str:
    found = {**found, r.choice(("prior", "id", "mentions", "x")): "@number@"}
    return json.dumps(found).replace('"@number@"', r.choice(HUGE))


def _nested(r: random.Random, found: dict[str, Any]) -> str:
    deep = r.choice((5, 100, 20_000))
    opened, closed = r.choice((("[", "]"), ('{"a":', "}")))
    nest = opened * deep + "1" + closed * (deep - r.randint(0, 1))
    return json.dumps({**found, r.choice(("x", "mentions", "text")): "@nest@"}).replace('"@nest@"', nest)


def _twice(r: random.Random, found: dict[str, Any]) -> str:
    text = json.dumps(found)
    return text[:-1] + f', "{r.choice(list(found))}": {json.dumps(_anything(r))}' + "}"


def _escaped(r: random.Random, found: dict[str, Any]) -> str:
    escape = r.choice((r"\ud800", r"\udc00 x", r"\u0000", r"\ud83d\ude00", r"\x", r"\u12", "\\", r"\udfff\ud800"))
    return json.dumps({**found, r.choice(("text", "id", "title")): "@escape@"}).replace("@escape@", escape)


STRUCTURES: tuple[Callable[[random.Random, dict[str, Any]], str], ...] = (
    lambda _r, found: json.dumps(found), _of_another_type, _of_another_type, _of_another_number, _nested, _twice,
    _escaped,
)  # fmt: skip


def damaged(r: random.Random, data: bytes) -> bytes:
    """Some bytes with a few of them altered, left out, doubled or put in."""
    out = bytearray(data)
    for _ in range(r.randint(1, 4)):
        at = r.randrange(len(out) + 1)
        how = r.randrange(6)
        if how == 0 and out:
            out[at % len(out)] ^= 1 << r.randrange(8)
        elif how == 1:
            del out[at:]
        elif how == 2:
            del out[at : at + r.randint(1, 5)]
        elif how == 3:
            out[at:at] = out[max(0, at - r.randint(1, 20)) : at]
        elif how == 4:
            out[at:at] = r.choice(
                (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\0", b"\r", b"\n", b"\xef\xbb\xbf", b"\t", b"|")
            )
        else:
            out[at : at + 1] = r.randbytes(r.randint(1, 3))
    return bytes(out)


def line(r: random.Random, name: str) -> bytes:
    """A line of a corpus, corrupted in its structure, in its bytes, or in both; a few are still good."""
    text = r.choice(STRUCTURES)(r, document(r, name)).encode("utf-8", "surrogatepass")
    return damaged(r, text) if r.random() < 0.6 else text


def catalog_line(r: random.Random, number: int) -> bytes:
    """A line of a catalog, of queries or of judgments, corrupted."""
    good = (
        f"m{number}\tname\tT|U\talias|other".encode(),
        f"m{number}\tname\tT".encode(),
        json.dumps({"id": f"m{number}", "query": _text(r), "type": r.choice((*TYPES, None, 7))}).encode(),
        f"q{number % 7} 0 e{number} {r.choice(('1', '0', '-1', '1.5', 'nan', '9' * 30))}".encode(),
    )
    return damaged(r, r.choice(good))

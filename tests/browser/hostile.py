"""A corpus that means harm: markup, attributes, addresses, direction, width and length, in every text there is.

Whatever of it were executed would set `window.__pwned`. Knows nothing of the page.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fader
from fader.experiment.comparison import Comparison, SystemResult
from fader.experiment.reporting.report import write_report

SCRIPT = "<script>window.__pwned='script'</script>"
SHORT = {
    "script": SCRIPT,
    "image": '"><img src=x onerror="window.__pwned=\'img\'">',
    "attribute": "' onmouseover='window.__pwned=\"attribute\"' autofocus onfocus='window.__pwned=1' x='",
    "closing": "</bdi></mark></p></title></textarea><svg onload=window.__pwned='svg'>",
    "template": "${window.__pwned='t'}{{constructor.constructor('window.__pwned=1')()}}",
    "entity": "&lt;script&gt;window.__pwned=1&#60;/script&#x3e;",
    "comment": "<!-- <style>*{display:none}</style><base href=//evil.example><meta http-equiv=refresh content=0>",
    "address": "javascript:window.__pwned='address'",
    "turned": "\u202egnitirw \u2066detrevni\u2069 \u200fname\u061c",
    "arabic": 'محمد "><b>بن</b> موسى',
    "nothing": "zero\u200bwidth\u2060and\ufeffsoft\u00adhyphen",
    "control": "bell\x07 escape\x1b[31m delete\x7f next\x85 bar",
    "emoji": "👩\u200d👩\u200d👧\u200d👦🏴\u200d☠\ufe0f" * 12,
    "path": "a/../../b//c?d=1&e=2#f%2F%00%0a",
    "quoted": "\"'`\\\"\\'\\n=cmd|' /C calc'!A0",
    "proto": "__proto__",
}
LONG = {
    "letters": "w" * 19_000,
    "marks": "Z" + "\u0301\u0317" * 5_000,
    "wide": "ﷺ𒐫" * 300,
    "blank": "left" + "\u3000" * 500 + "right",
}
ALL = SHORT | LONG
ADDRESSES = [
    "javascript:window.__pwned='javascript:'", " jaVa\tScript:window.__pwned=1", "data:text/html,<script>1</script>",
    "vbscript:x", "//evil.example/x", "https://evil.example/\"onclick=\"window.__pwned=1", "file:///etc/passwd",
    "blob:x",
]  # fmt: skip
WORDS = ("quux", "grault")
QUERY = "quux grault"
ROOT = "root/<b>&\"'"


def _id(text: str) -> str:
    return text[:1_500]


def types() -> list[dict[str, Any]]:
    """A root, and a type of every kind below it."""
    below = [{"id": f"T {_id(text)}", "name": text, "supertypes": [ROOT]} for text in ALL.values()]
    return [{"id": ROOT, "name": f"Root {SCRIPT}"}, *below]


def entities() -> list[dict[str, Any]]:
    """An entity of every kind; `all` has all types, all names, and is everywhere."""
    found = [
        {"id": _id(text), "name": text, "types": [f"T {_id(text)}"], "aliases": [f"alias {text}"[:19_000]]}
        for text in ALL.values()
    ]
    every = {"id": "all", "name": f"All {SCRIPT}", "types": [f"T {_id(text)}" for text in ALL.values()]}
    return [*found, {**every, "aliases": list(ALL.values())}]


def documents() -> list[dict[str, Any]]:
    """Every name between words, with more of the same around it, and one document of very long words."""
    found = []
    for i, text in enumerate(ALL.values()):
        mentions = []
        body = f"{text} quux "
        for entity in (_id(text), "all"):
            mentions.append({"start": len(body), "end": len(body) + len(text), "entity": entity, "confidence": 0.4})
            body += f"{text} grault {text} quux "
        url = ADDRESSES[i % len(ADDRESSES)]
        found.append({"id": _id(f"{i} {text}"), "title": text, "url": url, "text": body, "mentions": mentions})
    return [*found, huge()]


def huge() -> dict[str, Any]:
    """Words of a hundred thousand letters around a mention, and marks without end."""
    before = "quux " + "x" * 100_000 + " "
    body = before + "All " + "y" * 100_000 + " grault e" + "\u0301" * 10_000
    mention = {"start": len(before), "end": len(before) + 3, "entity": "all", "confidence": 1.0}
    return {"id": "huge", "title": "H" * 19_000, "text": body, "mentions": [mention]}


def build(folder: Path) -> None:
    """The index of all this, with nothing left out."""
    index = fader.build(folder, documents(), entities(), types())
    assert index.report is not None
    assert index.collection.documents == len(ALL) + 1


def report(folder: Path) -> None:
    """A comparison whose title, systems and queries mean harm."""
    texts = list(ALL.values())
    values = {"AP": [i / len(texts) for i in range(len(texts))]}
    other = {"AP": list(reversed(values["AP"]))}
    write_report(
        Comparison(
            title=f"{SCRIPT} {ALL['turned']} {'r' * 3_000}", measures=["AP"],
            queries=[f"q{i}" for i in range(len(texts))], texts=[text[:1_900] for text in texts],
            types=[f"T {text[:1_500]}" for text in texts], candidates=list(range(len(texts))),
            systems=[
                SystemResult(f"A {SCRIPT}", values, hyperparameters=[{"model": ALL["image"], "lambda": 1.0}]),
                SystemResult("B " + "b" * 500, other),
            ],
            smaller_is_better=[], provenance={"index": ALL["closing"], ALL["attribute"]: ALL["script"], "documents": 3},
        ),
        folder,
        figures=False,
    )  # fmt: skip

"""Makes the small index of the present format that the tests keep for good, and what it must answer.

    python tests/index/formats/make.py

Writes the folder `vN` and `vN.json` beside it, N the version that this release writes; one that is there is never
written again, because later releases must read what was written then. To be run once, when a release with a new
version is made; until then arrays may be added to the version.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import fader
from fader.index.commit import commit_numbers
from fader.index.format import VERSION
from fader.index.write.change import ChangeOptions, add, delete

HERE = Path(__file__).parent
NAMES = {"Ada": "E3", "Babbage": "E1", "London": "E2"}
TYPES = [
    {"id": "thing", "name": "thing", "supertypes": []},
    {"id": "person", "name": "person", "supertypes": ["thing"]},
    {"id": "place", "name": "place", "supertypes": ["thing"]},
]
ENTITIES = [
    {"id": "E3", "name": "Ada Lovelace", "types": ["person"], "aliases": ["Ada"]},
    {"id": "E1", "name": "Charles Babbage", "types": ["person"]},
    {"id": "E2", "name": "London", "types": ["place"]},
]
TEXTS: dict[str, str] = {
    "d9": "Ada wrote the first program for the analytical engine of Babbage.",
    "d10": "Babbage designed the difference engine in London; the engine was never finished.",
    "a1": "In London the engine was shown, and Ada saw the engine at a party.",
    "é2": "Ada et Babbage à London: café, machine analytique, engine program.",
    "d2": "A program without anybody.",
    "b": "Babbage, Babbage and Ada near the program engine",
    # More tokens than are walked over to find one.
    "long": "Éloge: " + "l'été à Londres, " * 50 + "the first program of Ada " + "— et encore, " * 60 + "engine.",
}
FIELDS: dict[str, dict[str, Any]] = {"d9": {"title": "Engine", "prior": 2.0}, "a1": {"url": "x:a1"}}
QUERIES = [
    ("engine", None), ("engine program", "person"), ('+"the engine" -finished', "thing"), ("café engine", "place"),
    ('"the first program" babbage', "person"), ("nothing", None),
]  # fmt: skip


def document(name: str, text: str) -> dict[str, Any]:
    """A document in which every name is a mention."""
    mentions = []
    for word, entity in NAMES.items():
        at = text.find(word)
        while at >= 0:
            confidence = 0.5 if word == "Ada" else 1.0
            mentions.append({"start": at, "end": at + len(word), "entity": entity, "confidence": confidence})
            at = text.find(word, at + 1)
    return {"id": name, "text": text, "mentions": mentions, **FIELDS.get(name, {})}


def make(folder: Path) -> None:
    """A build of two segments, an addition that replaces a document, a deletion: three commits, all kept."""
    fader.build(folder, [document(*item) for item in TEXTS.items()], ENTITIES, TYPES, segment_tokens=24)
    options = ChangeOptions(keep=3, merge=False)
    new = {"d2": "A program by Ada, at last.", "c7": "London had the first engine, said Babbage; Ada had the program."}
    add(folder, [document(*item) for item in new.items()], options)
    delete(folder, ["b", "é2"], options)


def told(folder: Path) -> dict[str, Any]:
    """All that an index says, by commit."""
    return {str(number): _told(fader.open(folder, at=number)) for number in commit_numbers(folder)}


def _told(index: Any) -> dict[str, Any]:
    reader = index.collection.reader
    counts = {"documents": reader.documents, "tokens": reader.tokens, "mentions": reader.mentions}
    return {**counts, "stored": _stored(reader), "queries": [_asked(index, *query) for query in QUERIES]}


def _stored(reader: Any) -> list[Any]:
    """Documents in the order of their ids: id, title, url, prior, text."""
    rows = []
    for d in range(reader.documents):
        segment, local = reader.locate(d)
        text = segment.text
        rows.append(
            [text.ids[local], text.titles[local], text.urls[local], float(text.priors[local]), text.text(local)]
        )
    return sorted(rows)


def _asked(index: Any, query: str, answer_type: str | None) -> dict[str, Any]:
    """The contexts of a query as rows, and its answers with their evidence."""
    c = index.contexts(query, answer_type)
    names, catalog = index.collection.reader.document_id, index.collection.catalog
    rows = [
        [names(int(c.document[i])), catalog.entity_ids[int(c.entities[c.slot[i]])], int(c.start[i]), int(c.end[i]),
         float(c.confidence[i]), *c.distances[:, i].tolist()]
        for i in range(len(c))
    ]  # fmt: skip
    found = index.search(query, answer_type, model="count", snippets=20).results
    return {
        "query": query, "type": answer_type, "df": c.statistics.df.tolist(), "cf": c.statistics.cf.tolist(),
        "contexts": sorted(rows),
        "results": [[r.entity, r.score, r.support, sorted(e.snippet for e in r.evidence)] for r in found],
    }  # fmt: skip


def main() -> None:
    folder = HERE / f"v{VERSION}"
    if folder.exists():
        sys.exit(f"{folder} is there; what was written is kept as it is")
    make(folder)
    answers = json.dumps(told(folder), ensure_ascii=False)
    folder.with_suffix(".json").write_text(answers + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Writes the demo corpus: documents, catalog, queries and judgments, from the fact tables.

``generate(folder)`` writes ``corpus.jsonl``, ``entities.tsv``, ``types.tsv``,
``queries.jsonl`` and ``qrels.txt``. The same seed gives the same bytes. Judgments follow
from the tables, never from the text, so they are complete with respect to the tables.
Knows file formats and quantities; sentences and document kinds live in ``prose.py`` and
``documents.py``. Runs alone: ``python -m fader.demo.generate OUT``.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from pathlib import Path
from random import Random
from typing import Any

from .documents import KINDS, Draft, DraftWriter
from .tables import Entity, FactQuery, Tables, load_tables

SCENES_PER_QUERY = 11  # enough that counting documents ranks popular entities too high
WRONG_JUDGED = 6  # explicit grade-0 judgments per query
URL_RATE = 0.6


def generate(folder: Path, seed: int = 0) -> None:
    """Write the five files of the demo into ``folder``, which is created if necessary."""
    tables, rng = load_tables(), Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "types.tsv": [f"{type_id}\t{name}\t{'|'.join(above)}" for type_id, name, above in tables.types],
        "entities.tsv": [
            f"{e.id}\t{e.name}\t{'|'.join(e.types)}\t{'|'.join(e.aliases)}" for e in tables.entities.values()
        ],
        "queries.jsonl": [
            _to_json({"id": q.id, "type": q.type, "query": q.text, "question": q.question}) for q in tables.queries
        ],
        "qrels.txt": _list_judgments(tables),
        "corpus.jsonl": _list_documents(tables, rng),
    }
    for name, lines in files.items():
        (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")


def _list_judgments(tables: Tables) -> list[str]:
    """All answers, and the most talked-about wrong candidates with grade 0."""
    lines = []
    for query in tables.queries:
        graded = [(e, tables.grade(e, query)) for e in tables.of_type(query.type)]
        wrong = [e for e, grade in graded if not grade and e.id not in query.unjudged]
        wrong.sort(key=lambda e: -_temptation(e, query))
        lines += [f"{query.id} 0 {e.id} {grade}" for e, grade in graded if grade]
        lines += [f"{query.id} 0 {e.id} 0" for e in wrong[:WRONG_JUDGED]]
    return lines


def _temptation(entity: Entity, query: FactQuery) -> int:
    """How likely a wrong candidate is to be ranked high: near misses first, then popular ones."""
    words = re.findall(r'\+(?:"([^"]+)|(\w+))', query.text)
    required = ["".join(pair) for pair in words]
    told = " ".join(wording for fact in entity.facts for wording in fact.wordings).lower()
    near = bool(required) and all(word in told for word in required)
    return entity.popularity + 1000 * near


def _list_documents(tables: Tables, rng: Random) -> list[str]:
    writer = DraftWriter(tables, rng)
    drafts = [writer.write_entry(entity) for entity in writer.entities]
    pools = {"entity": writer.entities, "place": writer.places, "person": writer.people}
    for kind, count, pool in KINDS:
        drafts += [kind(writer, writer.pick(pools[pool])) for _ in range(count)]
    for query in tables.queries:
        wrong = [e for e in tables.of_type(query.type) if not tables.grade(e, query)]
        drafts += [writer.write_scene(query, wrong) for _ in range(SCENES_PER_QUERY)]
    rng.shuffle(drafts)
    return [_to_json(_make_document(writer, draft, number)) for number, draft in enumerate(drafts)]


def _make_document(writer: DraftWriter, draft: Draft, number: int) -> dict[str, Any]:
    text, mentions = writer.prose.render(draft.sentences, draft.subject)
    document: dict[str, Any] = {
        "id": f"demo-{number:05d}",
        "title": draft.title,
        "text": text,
        "mentions": [vars(mention) for mention in mentions],
    }
    if writer.rng.random() < URL_RATE:
        title = unicodedata.normalize("NFKD", draft.title).encode("ascii", "ignore").decode()
        document["url"] = f"demo:{'-'.join(re.findall(r'[a-z0-9]+', title.lower()))}-{number}"
    return document


def _to_json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m fader.demo.generate OUT")
    generate(Path(sys.argv[1]))

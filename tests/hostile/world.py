"""A small index for hostile queries: several segments, a hierarchy of types, names that are not ASCII."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import fader
from hostile.cases import TYPES, WORDS

ENTITIES = [{"id": f"E{i}", "name": f"Name {i}", "types": [TYPES[i % len(TYPES)]]} for i in range(12)]
KINDS = [{"id": t, "name": t.upper(), "supertypes": [] if t == "thing" else ["thing"]} for t in TYPES]


def document(number: int) -> dict[str, Any]:
    """A text of words that queries use, with mentions of some of them."""
    r = random.Random(number)
    words = r.choices(WORDS, k=r.randint(0, 60))
    at, mentions = 0, []
    for word in words:
        if r.random() < 0.3:
            mentions.append({"start": at, "end": at + len(word), "entity": f"E{r.randrange(12)}"})
        at += len(word) + 1
    return {"id": f"d{number}", "text": " ".join(words), "mentions": mentions, "title": f"Title {number}"}


def index(folder: Path, **options: Any) -> fader.Index:
    """The index; options are those of `fader.build`."""
    corpus = [document(i) for i in range(80)]
    return fader.build(folder, corpus, ENTITIES, KINDS, segment_tokens=800, **options)

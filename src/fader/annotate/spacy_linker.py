"""spaCy says where mentions are, the dictionary says whom they mean: `--linker spacy`.

A span that spaCy's pipeline takes for an entity is a mention if it is a name of the catalog, in any position that the
dictionary finds (see dictionary.py for its rules), or if the pipeline has linked it to an id that the catalog has. The
first gets the dictionary's confidence, the second 1. spaCy is an extra: `pip install 'fader[spacy]'`, then a model:
`python -m spacy download en_core_web_sm`. Thousands of characters a second rather than millions.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from fader.annotate.annotator import Annotator, Columns
from fader.annotate.dictionary import Dictionary
from fader.errors import UsageError, quoted

LINKED = 1.0


def check_spacy(model: str) -> None:
    """Refuse at once where spaCy is not installed."""
    if find_spec("spacy") is None:
        raise UsageError("--linker spacy needs spaCy: pip install 'fader[spacy]'; or use --linker dictionary")
    _load(model)


def _load(model: str) -> Any:
    try:
        return import_module("spacy").load(model)
    except OSError:
        how = f"python -m spacy download {model}"
        raise UsageError(f"spaCy has no model {quoted(model)}: {how}; or give --spacy-model") from None


class SpacyAnnotator:
    """An annotator whose spans are spaCy's."""

    def __init__(self, dictionary: Dictionary, model: str, min_confidence: float = 0.0) -> None:
        self._all = Annotator(dictionary, "all")
        self._nlp = _load(model)
        self._least = min_confidence
        self._numbers = {dictionary.entity_id(i): i for i in range(dictionary.entities)}
        self.dictionary = dictionary

    def columns(self, encoded: list[bytes]) -> Columns:
        """The mentions of UTF-8 texts."""
        found = self._all.columns(encoded)
        bounds = [0, *found.ends.tolist()]
        rows, ends = list[tuple[int, int, int, float]](), list[int]()
        for document, parsed in enumerate(self._nlp.pipe(text.decode() for text in encoded)):
            names = {
                (int(found.start[i]), int(found.end[i])): (int(found.entity[i]), float(found.confidence[i]))
                for i in range(bounds[document], bounds[document + 1])
            }
            for span in parsed.ents:
                linked = self._numbers.get(span.kb_id_)
                known = names.get((span.start_char, span.end_char))
                entity, confidence = (linked, LINKED) if linked is not None else known or (-1, 0.0)
                if entity >= 0 and confidence >= self._least:
                    rows.append((span.start_char, span.end_char, entity, confidence))
            ends.append(len(rows))
        table = np.array(rows, dtype=np.float64).reshape(-1, 4)
        start, end, number = (table[:, i].astype(np.int32) for i in range(3))
        return Columns(start, end, number, table[:, 3].astype(np.float32), np.array(ends, dtype=np.int64))

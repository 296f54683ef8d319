"""spaCy says where mentions are, the dictionary says whom they mean: `--linker spacy`.

A span that spaCy's pipeline takes for an entity, from its first word to its last, is a mention if it is a name of the
catalog, in any position that the dictionary finds (see spelling.py for its rules), or if the pipeline has linked it to
an id that the catalog has: an entity linker by `kb_id`, an entity ruler by `id`. The first gets the dictionary's
confidence, the second 1. spaCy is an extra: `pip install 'fader[spacy]'`; a model is a package (`python -m spacy
download en_core_web_sm`) or the folder of a saved pipeline. Thousands of characters a second rather than millions.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from fader.corpora.annotate.annotator import THOUSANDTHS, AnnotatedColumns, Annotator, thousandths
from fader.corpora.annotate.dictionary import Dictionary
from fader.corpus.analysis import spans
from fader.errors import UsageError, quote

LINKED = 1.0


def check_spacy(model: str) -> None:
    """Refuse at once where spaCy is not installed, or does not have the model."""
    if find_spec("spacy") is None:
        raise UsageError("--linker spacy needs spaCy: pip install 'fader[spacy]'; or use --linker dictionary")
    load_model(model)


def load_model(model: str) -> Any:
    """A spaCy pipeline by the name of its package or its folder."""
    try:
        return import_module("spacy").load(model)
    except (OSError, ValueError, ImportError) as error:
        if "[E050]" in str(error) or not str(error):  # spaCy: there is no such package or folder
            how = f"python -m spacy download {model}"
            raise UsageError(f"spaCy has no model {quote(model)}: {how}; or give --spacy-model") from None
        why = " ".join(str(error).split())
        raise UsageError(f"spaCy cannot load the model {quote(model)}: {why}; give another --spacy-model") from None


class SpacyAnnotator:
    """An annotator whose spans are spaCy's."""

    def __init__(
        self, dictionary: Dictionary, model: str, min_confidence: float = 0.0, most_characters: int = 0
    ) -> None:
        self._all = Annotator(dictionary, "all")
        self._nlp = load_model(model)
        self._nlp.max_length = max(self._nlp.max_length, most_characters + 1)  # beyond, spaCy raises
        self._least = min_confidence
        self._numbers = {dictionary.entity_id(i): i for i in range(dictionary.entities)}
        self.dictionary = dictionary

    def columns(self, encoded: list[bytes]) -> AnnotatedColumns:
        """The mentions of UTF-8 texts."""
        found = self._all.columns(encoded)
        confidences = thousandths(found.confidence) / THOUSANDTHS
        bounds = [0, *found.ends.tolist()]
        rows, ends = list[tuple[int, int, int, float]](), list[int]()
        for document, parsed in enumerate(self._nlp.pipe(text.decode() for text in encoded)):
            names = {
                (int(found.start[i]), int(found.end[i])): (int(found.entity[i]), float(confidences[i]))
                for i in range(bounds[document], bounds[document + 1])
            }
            rows += [row for span in parsed.ents if (row := self._mention(span, names)) and row[3] >= self._least]
            ends.append(len(rows))
        table = np.array(rows, dtype=np.float64).reshape(-1, 4)
        start, end, number = (table[:, i].astype(np.int32) for i in range(3))
        return AnnotatedColumns(start, end, number, table[:, 3].astype(np.float32), np.array(ends, dtype=np.int64))

    def _mention(
        self, span: Any, names: dict[tuple[int, int], tuple[int, float]]
    ) -> tuple[int, int, int, float] | None:
        """Start, end, entity and confidence, where the span is one of the catalog's."""
        words = spans(span.text)
        if not words:
            return None
        start, end = span.start_char + words[0][0], span.start_char + words[-1][1]
        linked = self._numbers.get(span.kb_id_, self._numbers.get(span.ent_id_))
        if linked is not None:
            return start, end, linked, LINKED
        return (start, end, *names[start, end]) if (start, end) in names else None

"""Names that a spaCy model finds, with its labels as types; used where spaCy and the model are installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec

from fader.corpora.discover.names import Name

MODEL = "en_core_web_sm"
LABELS = {
    "PERSON": "person", "PER": "person", "ORG": "organisation", "GPE": "place", "LOC": "place", "FAC": "place",
    "PRODUCT": "product", "EVENT": "event", "WORK_OF_ART": "work", "NORP": "group", "LAW": "law",
}  # fmt: skip


def has_model(model: str = MODEL) -> bool:
    """Whether spaCy and the model are installed."""
    return find_spec("spacy") is not None and find_spec(model) is not None


class SpacyFinder:
    """Finds names in a text."""

    def __init__(self, model: str = MODEL, most_characters: int = 16_000_000) -> None:
        from fader.corpora.annotate.spacy_linker import _load

        self._nlp = _load(model)
        self._nlp.max_length = max(self._nlp.max_length, most_characters + 1)

    def __call__(self, text: str) -> Iterable[tuple[Name, str]]:
        return self._find(text)

    def _find(self, text: str) -> Iterator[tuple[Name, str]]:
        for span in self._nlp(text).ents:
            if span.label_ in LABELS and "\n" not in span.text:
                yield Name(span.start_char, span.end_char, False, False), LABELS[span.label_]

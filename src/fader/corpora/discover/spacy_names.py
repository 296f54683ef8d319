"""Names that a spaCy model finds, with its labels as types; used where spaCy and the model are installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import entry_points
from importlib.util import find_spec

from fader.corpora.discover.names import Name

OWN = ("en_core_web_sm", "en_core_web_md", "en_core_web_lg", "en_core_web_trf")
LABELS = {
    "PERSON": "person", "PER": "person", "ORG": "organisation", "GPE": "place", "LOC": "place", "FAC": "place",
    "PRODUCT": "product", "EVENT": "event", "WORK_OF_ART": "work", "NORP": "group", "LAW": "law",
}  # fmt: skip


def find_model() -> str | None:
    """The English spaCy model that is installed, one of spaCy's own before others; None without any."""
    if find_spec("spacy") is None:
        return None
    found = (each.name for each in entry_points(group="spacy_models") if each.name.startswith("en_"))
    return min(found, key=lambda name: (OWN.index(name) if name in OWN else len(OWN), name), default=None)


class SpacyFinder:
    """Finds names in a text."""

    def __init__(self, model: str, most_characters: int = 16_000_000) -> None:
        from fader.corpora.annotate.spacy_linker import load_model

        self._nlp = load_model(model)
        self._nlp.max_length = max(self._nlp.max_length, most_characters + 1)

    def __call__(self, text: str) -> Iterable[tuple[Name, str]]:
        return self._find(text)

    def _find(self, text: str) -> Iterator[tuple[Name, str]]:
        for span in self._nlp(text).ents:
            if span.label_ in LABELS and "\n" not in span.text:
                yield Name(span.start_char, span.end_char, False, False), LABELS[span.label_]

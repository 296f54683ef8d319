"""How to annotate, as the command line says it: options, and the dictionary and the annotator that they ask for.

Knows nothing of documents.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fader.corpora.annotate.annotator import Annotator, Made, make_dictionary
from fader.corpora.annotate.dictionary import Dictionary
from fader.corpora.annotate.match import policy_number
from fader.corpora.annotate.names import read_names
from fader.corpora.annotate.texts import Annotates
from fader.corpus.readers import read_lines
from fader.errors import UsageError, quote
from fader.limits import Limits

DICTIONARY, SPACY = "dictionary", "spacy"


@dataclass(frozen=True)
class Options:
    """How to annotate. Paths are texts; `common_words` None: English, "none": no word is common, else a file."""

    entities: str
    types: str | None = None
    links: tuple[str, ...] = ()
    overlaps: str = "longest"
    min_confidence: float = 0.25
    common_words: str | None = None
    kind: str | None = None
    linker: str = DICTIONARY
    spacy_model: str = "en_core_web_sm"

    def __post_init__(self) -> None:
        policy_number(self.overlaps)
        if not 0.0 <= self.min_confidence <= 1.0:
            raise UsageError(f"min_confidence must be a number from 0 to 1, not {quote(self.min_confidence)}")
        if self.linker not in (DICTIONARY, SPACY):
            raise UsageError(f"there is no linker {quote(self.linker)}; known: {DICTIONARY}, {SPACY}")

    def files(self) -> list[str]:
        """The files beside the sources."""
        common = [] if self.common_words in (None, "none") else [self.common_words]
        return [f for f in (self.entities, self.types, *self.links, *common) if f is not None]

    def check(self) -> None:
        """Refuse at once what would fail later."""
        if self.linker == SPACY:
            from fader.corpora.annotate.spacy_linker import check_spacy

            check_spacy(self.spacy_model)

    def dictionary(self, on_error: str, limits: Limits) -> tuple[Dictionary, Made]:
        """The dictionary, and what it was made of."""
        names = read_names(self.entities, self.types, on_error, limits)
        common: Iterable[str] | None = None
        if self.common_words is not None:
            lines = () if self.common_words == "none" else read_lines(self.common_words)
            common = [line.split("#", 1)[0].strip() for _number, line in lines]
        dictionary, made = make_dictionary(names, self.links, common, limits)
        if names.skipped:
            made.notes.insert(0, f"skipped {names.skipped:,} rows of the catalog")
        if not made.names:
            made.notes.append("the catalog has no usable name: nothing will be found")
        return dictionary, made

    def annotator(self, dictionary: Dictionary, limits: Limits) -> Annotates:
        """What finds mentions."""
        if self.linker == SPACY:
            from fader.corpora.annotate.spacy_linker import SpacyAnnotator

            return SpacyAnnotator(dictionary, self.spacy_model, self.min_confidence, limits.document_characters)
        return Annotator(dictionary, self.overlaps, self.min_confidence)

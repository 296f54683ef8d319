"""How to annotate, as the command line says it: options, and the dictionary and the annotator that they ask for.

Knows nothing of documents.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fader.corpora.annotate.annotator import Annotator, Made, make_dictionary
from fader.corpora.annotate.dictionary import Dictionary
from fader.corpora.annotate.match import POLICIES
from fader.corpora.annotate.names import Rows, read_names
from fader.corpora.annotate.texts import Annotates
from fader.corpus.readers import read_lines
from fader.corpus.tables import COLUMNS_HELP, ENTITIES_HELP
from fader.errors import UsageError
from fader.limits import Limits
from fader.options import check_options, option

DICTIONARY, SPACY = "dictionary", "spacy"


@dataclass(frozen=True)
class Options:
    """How to annotate. Paths are texts; `common_words` None: English, "none": no word is common, else a file."""

    entities: str = option(
        "", help=ENTITIES_HELP, flags=("--entities", "--catalog"), metavar="FILE", show_default=False
    )
    types: str | None = option(None, help="types.tsv: the names of types are context words.", metavar="FILE")
    columns: str | None = option(None, help=COLUMNS_HELP, metavar="ROLE=COLUMN,...")
    lines: bool = option(False, help="Every line is a document.")
    jsonl: bool = option(False, help="Every line is JSON with id and text; so is a file whose name ends in .jsonl.")
    links: tuple[str, ...] = option(
        (), help="A corpus with mentions, to learn from what names mean; may be repeated.", metavar="FILE"
    )
    overlaps: str = option("longest", help="Which of overlapping names are mentions.", choices=tuple(POLICIES))
    min_confidence: float = option(0.25, help="Leave out mentions less sure than this.", least=0, most=1)
    common_words: str | None = option(
        None,
        help="Common words, one per line: a name made of them needs a capital; none: no such words. Default: English.",
        metavar="FILE",
    )
    linker: str = option(DICTIONARY, help="What finds the places of mentions.", choices=(DICTIONARY, SPACY))
    spacy_model: str = option("en_core_web_sm", help="The model of --linker spacy.", metavar="NAME")

    def __post_init__(self) -> None:
        check_options(self)
        if self.lines and self.jsonl:
            raise UsageError("lines and jsonl are two formats; give one")

    @property
    def kind(self) -> str | None:
        """The format of the sources; None: by their names."""
        return "lines" if self.lines else "jsonl" if self.jsonl else None

    def files(self) -> list[str]:
        """The files beside the sources."""
        common = [] if self.common_words in (None, "none") else [self.common_words]
        return [f for f in (self.entities, self.types, *self.links, *common) if f]

    def check(self) -> None:
        """Refuse at once what would fail later."""
        if self.linker == SPACY:
            from fader.corpora.annotate.spacy_linker import check_spacy

            check_spacy(self.spacy_model)

    def dictionary(
        self, on_error: str, limits: Limits, catalog: tuple[Rows, Rows | None] | None = None
    ) -> tuple[Dictionary, Made]:
        """The dictionary, of a catalog in place of files where one is given, and what it was made of."""
        entities, types = catalog or (self.entities, self.types)
        names = read_names(entities, types, on_error, limits, self.columns)
        common: Iterable[str] | None = None
        if self.common_words is not None:
            lines = () if self.common_words == "none" else read_lines(self.common_words)
            common = [line.split("#", 1)[0].strip() for _number, line in lines]
        dictionary, made = make_dictionary(names, self.links, common, limits)
        made.notes[:0] = names.tables
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

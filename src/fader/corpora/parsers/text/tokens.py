"""Text from tokens, mentions from their labels in any of the schemes IOB1, IOB2, IOBES and BILOU, and rows for labels.

Tokens are joined by blanks, sentences by line ends, since the files of tokens have lost what was between them; a source
that says where no blank was is followed. A label continues the mention before it if it says so (I, E, L, M), has its
type, and names the same entity or none; else it opens one, which is what IOB1 means by a first I. Knows nothing of
files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fader.corpora.frame.base import EntityRow, Records, TypeRow

CONTINUES = frozenset("IELM")
ENDS = frozenset("ELSU")
UNLABELLED = "tokens without a label, taken to be outside of mentions"
NIL = "\0"  # the entity of a label whose source says that it has none


class Label(NamedTuple):
    """What a token's label says: the scheme's letter, the type and the entity's id, each empty if there is none."""

    letter: str
    kind: str = ""
    entity: str = ""


OUTSIDE = Label("O")


class TokenText:
    """A text that grows by tokens; `spans` are their places."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0
        self._glue = ""
        self.spans: list[tuple[int, int]] = []

    def add(self, token: str, blank: bool = True) -> None:
        """Append a token; `blank` says whether one follows it."""
        start = self._size + len(self._glue)
        self._pieces += [self._glue, token]
        self._size = start + len(token)
        self._glue = " " if blank else ""
        self.spans.append((start, self._size))

    def again(self) -> None:
        """One more word of the token before, in the same place."""
        self.spans.append(self.spans[-1])

    def end_sentence(self) -> None:
        if self.spans:
            self._glue = "\n"

    @property
    def text(self) -> str:
        return "".join(self._pieces)


def split_cells(line: str) -> list[str]:
    """The columns of a token's line, between tabs or else between blanks; other white space may be in a token."""
    return line.split("\t") if "\t" in line else [cell for cell in line.split(" ") if cell]


def find_labelled(labels: Sequence[Label]) -> Iterator[tuple[int, int, Label]]:
    """The mentions of a sequence: first token, last token (exclusive), and the first token's label."""
    first = -1
    for i, label in enumerate(labels):
        if first >= 0:
            _letter, kind, entity = labels[first]
            if label.letter not in CONTINUES or label.kind != kind or label.entity not in (entity, NIL, ""):
                yield first, i, labels[first]
                first = -1
        if label.letter != "O" and first < 0:
            first = i
        if label.letter in ENDS:
            yield first, i + 1, labels[first]
            first = -1
    if first >= 0:
        yield first, len(labels), labels[first]


def make_entity_id(kind: str, words: str) -> str:
    """The entity of a mention that has a type but no id: `TYPE:words`, in lower case with underscores."""
    return f"{kind or 'thing'}:{'_'.join(words.lower().split())}"


def add_row(out: Records, entity: str, kind: str, words: str = "") -> None:
    """Add the row of an entity, with its type; `words` is its name, if its mentions shall not name it."""
    out.entities.append(EntityRow(entity, " ".join(words.split()), [kind] if kind else []))
    if kind:
        out.types.append(TypeRow(kind, kind))

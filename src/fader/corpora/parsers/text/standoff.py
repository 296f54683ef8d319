"""What formats with type labels and optional ids share: the entity of a mention that may have no id, and its row.

Without an id the entity is `TYPE:words`, in lower case with underscores. Knows nothing of files.
"""

from __future__ import annotations

from fader.corpora.frame.base import EntityRow, Records, TypeRow


def make_entity_id(kind: str, words: str) -> str:
    """The entity of a mention that has no id."""
    return f"{kind or 'thing'}:{'_'.join(words.lower().split())}"


def add_row(out: Records, entity: str, kind: str, words: str = "") -> None:
    """The row of an entity, with its type; `words` is its name, if its mentions shall not name it."""
    out.entities.append(EntityRow(entity, " ".join(words.split()), [kind] if kind else []))
    if kind:
        out.types.append(TypeRow(kind, kind))

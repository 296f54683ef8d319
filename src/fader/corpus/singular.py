"""English plurals: one rule for the names of types, the words of questions and the types that texts tell.

Regular plurals follow their endings, others are listed. A word of another language stays as it is unless it ends alike;
that does no harm where both sides of a comparison are made singular. Knows nothing of types.
"""

from __future__ import annotations

from functools import lru_cache

IRREGULAR = {
    "people": "person", "persons": "person", "men": "man", "women": "woman", "children": "child", "movies": "movie",
    "species": "species", "series": "series", "wives": "wife", "wolves": "wolf", "leaves": "leaf", "knives": "knife",
    "mice": "mouse", "feet": "foot", "geese": "goose", "phenomena": "phenomenon", "criteria": "criterion",
}  # fmt: skip
_PLURALS = {one: [many for many, single in IRREGULAR.items() if single == one] for one in IRREGULAR.values()}


@lru_cache(maxsize=1 << 16)
def find_singular(word: str) -> str:
    """The singular of a folded word; the word itself where it is none of a plural."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def list_plurals(word: str) -> list[str]:
    """The irregular plurals of a singular word."""
    return [many for many in _PLURALS.get(word, ()) if many != word]


def list_beginnings(word: str) -> list[str]:
    """Texts of which every word with the same singular begins with one."""
    single = find_singular(word)
    return [single[:-1] or single, *list_plurals(single)]

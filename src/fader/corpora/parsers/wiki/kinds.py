"""Types of an article: from its categories, infobox, short description, first sentence, and the brackets of its title.

    physicist                    a head noun, in the singular
    film_director                with the words that qualify it, below `director`
    musical_artist               an infobox, below `artist`
    wikicat_German_physicists    on demand, a category that is a class of things, below `physicist` and its parents

An article of a type has those above it too; of a chain of classes it is given the lowest alone. A category is below a
parent category if both have the same head noun, or if so many other pairs of categories agree that one noun is below
the other (`above`): a single pair may be a slip, as guitarists below guitars. In a wiki that is not English, nouns are
not known: every category is a type, below its parents. Knows nothing of pages and links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from fader.corpora.frame.base import TypeRow
from fader.corpora.parsers.wiki import nouns as phrases

_INFOBOX = re.compile(r"\s*(?:infobox[ _-]+([^|{}<\n]+)|([^|{}<\n]+?)[ _-]infobox\s*(?:[|\n]|$))", re.IGNORECASE)
_BOXES = {
    "taxobox": "taxon", "automatic taxobox": "taxon", "speciesbox": "species", "subspeciesbox": "subspecies",
    "virusbox": "virus", "chembox": "chemical compound", "drugbox": "drug", "protein": "protein",
    "gnf protein box": "protein",
    "starbox begin": "star", "planetbox begin": "planet", "nrhp": "historic place",
}  # fmt: skip
_OF_PERSONS = frozenset(("biography", "officeholder", "academic", "royalty", "nobility"))  # last words of infoboxes
_DESCRIPTION = re.compile(r"\s*short[ _]description\s*\|\s*(?:1\s*=\s*)?([^|{}]+)", re.IGNORECASE)
_GEOBOX = re.compile(r"\s*geobox\s*\|\s*([^|{}\n]+)", re.IGNORECASE)
_DISAMBIGUATION = re.compile(
    r"\s*(?:disambig\w*|dab|hndis|geodis|numberdis|letter-numbercombdisambig|[\w ]+ disambiguation|surname|given name)"
    r"\s*(?:\||\Z)",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r".+ \(([^()]+)\)")
MOST = 12  # nouns of an article beside those of its categories


def make_category_id(category: str) -> str:
    """The id of a category as a type."""
    return "wikicat_" + category.replace(" ", "_")


def make_noun_id(name: str) -> str:
    """The id of a noun or of the name of an infobox as a type."""
    return name.strip().lower().replace(" ", "_")


class Kinds:
    """Names types, and remembers which rows it has given out; a new one for each batch."""

    def __init__(self, above: Mapping[str, Sequence[str]], english: bool, categories: bool) -> None:
        self._above, self._english, self._categories = above, english, categories
        self.rows: list[TypeRow] = []
        self._given: set[str] = set()
        self._chains: dict[str, list[str]] = {}  # what the words of a type name above it

    def of_article(self, title: str, text: str, categories: Iterable[str], templates: Iterable[str]) -> list[str]:
        """The types of an article."""
        found: dict[str, None] = {}
        for category in categories:
            found.update(dict.fromkeys(self.of_category(category)))
        found.update(dict.fromkeys(self.boxes(templates)))
        if self._english:
            nouns = [*self._find_described(templates), *phrases.find_defined_nouns(text), *self.find_bracketed(title)]
            found.update(dict.fromkeys(self._noun(noun) for noun in nouns[:MOST]))
        implied = {above for each in found for above in self._chains.get(each, ())}
        return [each for each in found if each not in implied]

    def includes(self, types: Iterable[str], noun: str) -> bool:
        """Whether one of some types is a noun or below it, as far as nouns are known."""
        seen: set[str] = set()
        pending = list(types)
        while pending:
            each = pending.pop()
            if each == noun:
                return True
            if each not in seen:
                seen.add(each)
                pending.extend((*self._above.get(each, ()), *self._chains.get(each, ())))
        return False

    def of_category(self, category: str) -> list[str]:
        """The types that a category gives its members: itself and its classes, or none."""
        if not self._english:
            return [self._category(category, ())]
        classes = [self._class(chain) for chain in phrases.find_category_classes(category)]
        return [self._category(category, classes), *classes] if classes and self._categories else classes

    def _class(self, chain: Sequence[str]) -> str:
        """The type of the first of a chain of classes, each below the next, the last a noun."""
        name = make_noun_id(chain[0])
        if len(chain) == 1:
            return self._noun(chain[0])
        if name not in self._given:
            self._given.add(name)
            above = self._class(chain[1:])
            self._chains[name] = [above, *self._chains.get(above, ())]
            self.rows.append(TypeRow(name, chain[0], [above]))
        return name

    def below(self, category: str, parents: Iterable[str]) -> None:
        """A category's place below others."""
        if self._english and not self._categories:
            return
        nouns = phrases.find_category_nouns(category) if self._english else ()
        if self._english and not nouns:
            return
        wider = {other for noun in nouns for other in (noun, *self._above.get(noun, ()))}
        over = [
            each for each in parents if not self._english or not wider.isdisjoint(phrases.find_category_nouns(each))
        ]
        own = self.of_category(category)
        for parent in over:
            self.of_category(parent)
        if over:
            self.rows.append(TypeRow(own[0], category, [make_category_id(parent) for parent in over]))

    def _category(self, category: str, nouns: Sequence[str]) -> str:
        name = make_category_id(category)
        if name not in self._given:
            self._given.add(name)
            self.rows.append(TypeRow(name, category, nouns))
        return name

    def _noun(self, noun: str) -> str:
        """The type of a noun, with all above it."""
        name = make_noun_id(noun)
        if name not in self._given:
            self._given.add(name)
            self.rows.append(TypeRow(name, noun, [make_noun_id(other) for other in self._above.get(noun, ())]))
            for other in self._above.get(noun, ()):
                self._noun(other)
        return name

    def boxes(self, templates: Iterable[str]) -> list[str]:
        """The type that the infobox names; further ones are of parts of the subject."""
        for template in templates:
            match = _INFOBOX.match(template) or _GEOBOX.match(template)
            known = _BOXES.get(template.partition("|")[0].strip().lower())
            name = next(filter(None, match.groups())) if match else known
            if name and (words := name.replace("_", " ").replace("/", " ").lower().split()):
                return self._box(words)
        return []

    def _box(self, words: list[str]) -> list[str]:
        """An infobox's type and a person's, or one above it: of `settlement in x` the settlement."""
        whole = " ".join(words)
        if not self._english:
            return [self._noun(whole)]
        person = [self._noun("person")] if words[-1] in _OF_PERSONS else []
        if words[-1] == "biography":
            return person
        head = next((words[:i] for i, word in enumerate(words) if i and word in phrases.STOPS), words)[-1]
        return [*person, self._class([whole, head] if head != whole and head.isalpha() else [whole])]

    def _find_described(self, templates: Iterable[str]) -> list[str]:
        for template in templates:
            match = _DESCRIPTION.match(template)
            if match and match[1].strip().lower() != "none":
                written = match[1].strip()
                return phrases.find_described_nouns(written[:1].lower() + written[1:])
        return []

    def find_bracketed(self, title: str) -> list[str]:
        """The nouns in the brackets of a title, such as `Mercury (planet)`."""
        match = _BRACKETS.fullmatch(title)
        return phrases.find_bracketed_nouns(match[1]) if match else []


def is_disambiguation(title: str, templates: Iterable[str]) -> bool:
    """Whether a page only lists what its title may mean."""
    return title.endswith(" (disambiguation)") or any(_DISAMBIGUATION.match(template) for template in templates)

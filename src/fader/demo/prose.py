"""Turns facts into sentences and marked-up sentences into text with mentions.

Knows English sentence patterns and annotation noise; knows nothing about document kinds,
queries or files. A sentence under construction carries its mentions as ``[id|surface]``.

Annotations imitate those an automatic annotator makes on the Web, errors included. A full
name is annotated with high confidence, a surname or another short form with less, a form
that several entities share with less still. Of the shared forms, about one in four is
deliberately annotated with the WRONG entity, at low confidence (Mercury the planet for
Mercury the element, one Louis for another); a few short forms are not annotated at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from .tables import Entity, Fact, Tables, entity_id

MARK = re.compile(r"\[([^\]|]+)(?:\|([^\]]+))?\]")
GLOSSES = {
    "Beijing": "北京",
    "Tokyo": "東京",
    "Mount_Fuji": "富士山",
    "Moscow": "Москва",
    "Athens": "Αθήνα",
    "Erhu": "二胡",
}
WRONG_RATE = 0.25  # of the mentions whose form several entities share
UNANNOTATED_RATE = 0.03  # of the short forms
GLOSS_RATE = 0.2  # of the full names that have a gloss
USUAL_SHORT_RATE = 0.75  # the rest of the short forms are aliases
FIRST_WORDING_RATE = 0.55  # the rest are drawn, so some tellings lack the words of a question


@dataclass(frozen=True)
class AnnotatedMention:
    """A character span (code points, end exclusive) and the entity an annotator gave it."""

    start: int
    end: int
    entity: str
    confidence: float


class Prose:
    """Sentence patterns over one set of tables, with one source of chance."""

    def __init__(self, tables: Tables, rng: Random) -> None:
        self.entities = tables.entities
        self.type_names = {type_id: name for type_id, name, _ in tables.types}
        self.people = {e.id for e in tables.of_type("person")}
        self.rng = rng
        self.shared = _find_shared_surfaces(tables)

    def mark_full(self, entity: Entity) -> str:
        mark = f"[{entity.id}|{entity.name}]"
        if entity.id in GLOSSES and self.rng.random() < GLOSS_RATE:
            mark += f" ({GLOSSES[entity.id]})"
        return f"the {mark}" if entity.article else mark

    def mark_short(self, entity: Entity) -> str:
        if entity.short.startswith("the "):
            return entity.short
        is_usual = not entity.aliases or self.rng.random() < USUAL_SHORT_RATE
        mark = f"[{entity.id}|{entity.short if is_usual else self.rng.choice(entity.aliases)}]"
        return f"the {mark}" if entity.article else mark

    def choose_wording(self, fact: Fact, plain: bool = False) -> str:
        """One wording of a fact; the first one if ``plain``, mostly the first otherwise."""
        pick = 0 if plain or self.rng.random() < FIRST_WORDING_RATE else self.rng.randrange(len(fact.wordings))
        return MARK.sub(self._expand, fact.wordings[pick])

    def _expand(self, match: re.Match[str]) -> str:
        title, surface = match[1], match[2]
        entity = self.entities.get(entity_id(title))
        if entity is None:
            return surface or re.sub(r" \(.*\)$", "", title)
        return f"[{entity.id}|{surface}]" if surface else self.mark_full(entity)

    def write_opening(self, entity: Entity, phrases: list[str]) -> list[str]:
        """Sentences that introduce an entity by its full name, using up the phrases."""
        name, first, rest = self.mark_full(entity), phrases[0], phrases[1:]
        pronoun, roll = entity.pronoun, self.rng.random()
        if rest and roll < 0.2 and "," not in first:
            lead = f"{name}, {entity.relative} {first}, {rest.pop(0)}"
        elif rest and roll < 0.35 and _is_simple(first) and _is_simple(rest[0]):
            lead = f"{name} {first} and {rest.pop(0)}"
        elif rest and roll < 0.45 and _is_simple(first):
            lead = f"{name} {first}, and {pronoun} {rest.pop(0)}"
        elif roll < 0.65 and entity.id in self.people:
            calling = APPOSITIONS.get(entity.types[0], self.type_names[entity.types[0]])
            lead = f"{name}, the {calling}, {first}"
        elif roll < 0.72:
            lead = self.rng.choice(OPENINGS).format(s=name, p=first)
        else:
            lead = f"{name} {first}"
        return [make_sentence(lead), *self.write_follow_ups(entity, rest, is_told=True)]

    def write_follow_ups(self, entity: Entity, phrases: list[str], is_told: bool = False) -> list[str]:
        """Sentences on an entity already named; ``is_told`` if a fact about it came before."""
        sentences: list[str] = []
        share = 0.6 if entity.id in self.people else 0.8
        for phrase in phrases:
            who = entity.pronoun if self.rng.random() < share else self.mark_short(entity)
            is_linked = (is_told or sentences) and self.rng.random() < 0.4
            pattern = self.rng.choice(FOLLOW_UPS) if is_linked else "{s} {p}"
            sentences.append(make_sentence(pattern.format(s=who, p=phrase)))
        return sentences

    def render(self, sentences: list[str], subject: str = "") -> tuple[str, list[AnnotatedMention]]:
        """The text of marked-up sentences and the mentions an annotator would find in it.

        The subject of an entry is never mistaken for another entity in that entry.
        """
        marked, text, mentions, position = " ".join(sentences), "", [], 0
        for match in MARK.finditer(marked):
            text += marked[position : match.start()]
            start, surface = len(text), match[2]
            text += surface
            position = match.end()
            bearers = [] if match[1] == subject else self.shared.get(surface.lower(), [])
            rivals = [e for e in bearers if e != match[1]]
            mention = self._annotate(match[1], surface, start, rivals)
            if mention:
                mentions.append(mention)
        return text + marked[position:], mentions

    def _annotate(self, target: str, surface: str, start: int, others: list[str]) -> AnnotatedMention | None:
        end = start + len(surface)
        roll, is_full = self.rng.random(), surface.lower() == self.entities[target].name.lower()
        if others and roll < WRONG_RATE:
            wrong = self.rng.choice(others)
            return AnnotatedMention(start, end, wrong, self._draw_confidence(0.2, 0.45))
        if not is_full and roll > 1 - UNANNOTATED_RATE:
            return None
        if others:
            return AnnotatedMention(start, end, target, self._draw_confidence(0.5, 0.75))
        low, high = (0.85, 0.99) if is_full else (0.6, 0.88)
        return AnnotatedMention(start, end, target, self._draw_confidence(low, high))

    def _draw_confidence(self, low: float, high: float) -> float:
        return round(low + (high - low) * self.rng.random(), 2)


APPOSITIONS = {"royal": "queen", "us_president": "president", "sportsperson": "champion", "instrumentalist": "musician"}
OPENINGS = (
    "It is well known that {s} {p}",
    "Some readers will know that {s} {p}",
    "According to the encyclopedia, {s} {p}",
    "The quiz book says that {s} {p}",
    "Visitors are sometimes told that {s} {p}",
    "In an old almanac I read that {s} {p}",
    "Strange but true: {s} {p}",
    "Old school books tell us that {s} {p}",
)
FOLLOW_UPS = (
    "Reference books add that {s} {p}",
    "Besides, {s} {p}",
    "What is more, {s} {p}",
    "One may add that {s} {p}",
    "Let it also be said that {s} {p}",
    "Apart from that, {s} {p}",
    "On top of that, {s} {p}",
)


def make_sentence(words: str) -> str:
    """Words with a capital at the front (inside a mention if need be) and a full stop."""
    at = words.index("|") + 1 if words.startswith("[") else 0
    end = "" if words.endswith(("?", ".", "!", ":", ".]")) else "."
    return words[:at] + words[at].upper() + words[at + 1 :] + end


def _is_simple(phrase: str) -> bool:
    return " and " not in phrase and "," not in phrase and len(phrase) < 90


def _find_shared_surfaces(tables: Tables) -> dict[str, list[str]]:
    bearers: dict[str, list[str]] = {}
    for entity in tables.entities.values():
        for surface in dict.fromkeys((entity.name, entity.short, *entity.aliases)):
            bearers.setdefault(surface.lower(), []).append(entity.id)
    return {surface: ids for surface, ids in bearers.items() if len(ids) > 1}

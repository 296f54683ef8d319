"""Reads the fact tables: types, entities with their facts, and queries.

Knows the notation of the tables and nothing about prose or documents.

A block of ``facts/*.txt``::

    = Albert Einstein; physicist nobel_laureate; m pop=30; alias|alias
    @born Ulm 1879
    #violin played the violin / seldom travelled without his violin
    published the special theory of relativity in 1905

The head line gives title, direct types, flags and aliases. Flags: ``m f n p`` choose the
pronoun, ``the`` an article before the name, ``lc`` a common noun, ``pop=`` how often the
entity is talked about, ``name=`` and ``short=`` a name that differs from the title and a
short form. Each other line is a fact about the entity. ``@`` names a relation to another
entity; ``#`` marks facts that judgments refer to, with ``~`` for a fact that answers a
question only in part; `` / `` separates wordings of one fact. The first wording of a
marked fact holds the words a question would use. ``[Bern]`` mentions an entity, and is
plain text if there is none of that title. A head line with a title alone adds facts to an
entity of an earlier file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files

from .relations import RELATIONS, Relation

FACT_FILES = (
    "scientists naturalists musicians artists writers public places organisations works medicine nature things "
    "more_people more_places more_things"
).split()
PRONOUNS = {"m": "he", "f": "she", "n": "it", "p": "they"}


@dataclass(frozen=True)
class Fact:
    """One thing that is true of an entity, in one or more wordings (verb phrases)."""

    wordings: tuple[str, ...]
    grades: dict[str, int]
    relation: str = ""
    target: str = ""
    year: str = ""


@dataclass
class Entity:
    """An entity, how prose speaks of it, and the facts about it."""

    id: str
    name: str
    short: str
    types: tuple[str, ...]
    aliases: tuple[str, ...]
    gender: str
    article: bool
    popularity: int
    facts: list[Fact] = field(default_factory=list)

    @property
    def pronoun(self) -> str:
        return PRONOUNS[self.gender]

    @property
    def relative(self) -> str:
        return "which" if self.gender == "n" else "who"


@dataclass(frozen=True)
class FactQuery:
    """A query, the facts that make an entity an answer, and scenery with its words.

    ``unjudged`` names candidates that the tables do not call an answer but the world might.
    """

    id: str
    type: str
    text: str
    question: str
    tags: tuple[str, ...]
    relation: tuple[str, ...]
    unjudged: tuple[str, ...]
    scenery: tuple[str, ...]


@dataclass(frozen=True)
class Tables:
    """Everything the generator starts from; ``above`` maps a type to itself and all supertypes."""

    types: tuple[tuple[str, str, tuple[str, ...]], ...]
    above: dict[str, frozenset[str]]
    entities: dict[str, Entity]
    queries: tuple[FactQuery, ...]

    def of_type(self, type_id: str) -> list[Entity]:
        return [e for e in self.entities.values() if self.is_a(e, type_id)]

    def is_a(self, entity: Entity, type_id: str) -> bool:
        return any(type_id in self.above[t] for t in entity.types)

    def grade(self, entity: Entity, query: FactQuery) -> int:
        """2 for an answer, 1 for a partial one, 0 otherwise."""
        if not self.is_a(entity, query.type):
            return 0
        grades = [f.grades.get(t, 0) for f in entity.facts for t in query.tags]
        grades += [2 for f in entity.facts if query.relation == (f.relation, f.target)]
        return max(grades, default=0)


def entity_id(title: str) -> str:
    return title.replace(" ", "_")


def load_tables() -> Tables:
    types = tuple(_read_types())
    entities: dict[str, Entity] = {}
    for name in FACT_FILES:
        for head, lines in _read_blocks(f"facts/{name}.txt"):
            entity = entities.get(entity_id(head)) or _read_entity(head)
            entities[entity.id] = entity
            entity.facts += [_read_fact(line, entity) for line in lines]
    _add_inverse_facts(entities)
    return Tables(types, _close_upwards(types), entities, tuple(_read_queries()))


def _read_lines(name: str) -> list[str]:
    text = files("fader.demo").joinpath(name).read_text(encoding="utf-8")
    return [line for line in text.split("\n") if line]


def _read_blocks(name: str) -> Iterator[tuple[str, list[str]]]:
    head = ""
    body: list[str] = []
    for line in _read_lines(name):
        if line.startswith("= "):
            if head:
                yield head, body
            head, body = line[2:], []
        else:
            body.append(line)
    yield head, body


def _read_types() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for line in _read_lines("types.tsv"):
        type_id, name, supertypes = line.split("\t")
        yield type_id, name, tuple(filter(None, supertypes.split("|")))


def _close_upwards(types: tuple[tuple[str, str, tuple[str, ...]], ...]) -> dict[str, frozenset[str]]:
    parents = {type_id: supertypes for type_id, _, supertypes in types}

    def climb(type_id: str) -> frozenset[str]:
        return frozenset({type_id}).union(*(climb(parent) for parent in parents[type_id]))

    return {type_id: climb(type_id) for type_id in parents}


def _read_entity(head: str) -> Entity:
    title, types, flags, *aliases = (part.strip() for part in head.split(";"))
    options = dict(flag.split("=") for flag in flags.split() if "=" in flag)
    plain = {flag for flag in flags.split() if "=" not in flag}
    gender = next((g for g in "mfp" if g in plain), "n")
    name = options.get("name", re.sub(r" \(.*\)$", "", title)).replace("_", " ")
    if "lc" in plain:
        name = name[0].lower() + name[1:]
    last_word = name.split()[-1] if gender in "mf" else name
    short = options.get("short", last_word).replace("_", " ")
    other = aliases[0].split("|") if aliases else []
    if short != name and not short.startswith("the "):
        other.append(short)
    return Entity(
        id=entity_id(title),
        name=name,
        short=short,
        types=tuple(types.split()),
        aliases=tuple(dict.fromkeys(other)),
        gender=gender,
        article="the" in plain,
        popularity=int(options.get("pop", 1)),
    )


def _read_fact(line: str, entity: Entity) -> Fact:
    if line.startswith("@"):
        name, rest = line[1:].split(" ", 1)
        target, year = _split_year(rest)
        wordings = RELATIONS[name].fill_forward(target, year, entity.gender)
        return Fact(wordings, {}, name, entity_id(target), year)
    grades: dict[str, int] = {}
    if line.startswith("#"):
        tag, line = line[1:].split(" ", 1)
        grades[tag.rstrip("~")] = 1 if tag.endswith("~") else 2
    return Fact(tuple(line.split(" / ")), grades)


def _split_year(rest: str) -> tuple[str, str]:
    match = re.fullmatch(r"(.*) (\d{3,4})", rest)
    if match and not rest.startswith("The Third of May"):
        return match[1], match[2]
    return rest, ""


def _add_inverse_facts(entities: dict[str, Entity]) -> None:
    for entity in list(entities.values()):
        for fact in [f for f in entity.facts if f.relation and f.target in entities]:
            relation: Relation = RELATIONS[fact.relation]
            target = entities[fact.target]
            title = entity.id.replace("_", " ")
            if relation.inverse:
                target.facts.append(Fact(relation.fill_inverse(title, target.gender), {}))


def _read_queries() -> Iterator[FactQuery]:
    for number, (head, lines) in enumerate(_read_blocks("queries.txt"), start=1):
        type_id, text, question = (part.strip() for part in head.split(";"))
        body = dict(line.split(" ", 1) for line in lines)
        relation = body.get("relation", "")
        yield FactQuery(
            id=f"d{number:02d}",
            type=type_id,
            text=text,
            question=question,
            tags=tuple(body.get("tags", "").split()),
            relation=tuple(entity_id(part) for part in relation.split(" ", 1)) if relation else (),
            unjudged=tuple(body.get("unjudged", "").split("|")),
            scenery=tuple(body["stage"].split(" / ")),
        )

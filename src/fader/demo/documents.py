"""The kinds of documents: an entry, a quiz, a comparison, a letter to the editor.

Knows how each kind opens, goes on and ends. What the sentences say about entities comes
from the fact tables; the scenery (a jumble sale, a radio programme) is invented, claims
nothing about any entity, and is there to put words of the queries near wrong entities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from .prose import MARK, Prose, make_sentence
from .relations import RELATIONS
from .tables import Entity, Fact, FactQuery, Tables

WORDS = (42, 70)  # a document is filled up to a length drawn from this range
MIN_PEERS = 7  # a narrower type would bring the same two neighbours again and again
POPULARITY_BIAS = 0.7  # below 1, so that rare entities get their share of documents
SCENE_BIAS = 1.0  # scenery is where popular entities collect irrelevant contexts
JOINED_RATE = 0.5  # how often a wrong entity shares a sentence with the query's words
REPORTED_RATE = 0.7  # how often somebody "reads aloud that" before a fact, which adds distance
NUMBERS = ("one", "two", "three", "four", "five")


@dataclass(frozen=True)
class Draft:
    """A document before its mentions are annotated; ``subject`` if it is one entity's entry."""

    title: str
    sentences: list[str]
    subject: str = ""


class DraftWriter:
    """Writes drafts of every kind from one set of tables and one source of chance."""

    def __init__(self, tables: Tables, rng: Random) -> None:
        self.tables, self.rng = tables, rng
        self.prose = Prose(tables, rng)
        self.entities = list(tables.entities.values())
        self.places = tables.of_type("place")
        self.people = tables.of_type("person")
        self.towns = tables.of_type("city") + tables.of_type("country")
        self.peers = self._find_peers()
        self.dated = [
            (entity, fact)
            for entity in self.entities
            for fact in entity.facts
            if fact.year and RELATIONS[fact.relation].event
        ]

    # -- choosing -----------------------------------------------------------------

    def pick(self, pool: list[Entity], avoid: tuple[str, ...] = (), bias: float = POPULARITY_BIAS) -> Entity:
        """An entity of the pool, popular ones more often; ``bias`` says how much more."""
        pool = [e for e in pool if e.id not in avoid] or pool
        return self.rng.choices(pool, [e.popularity**bias for e in pool])[0]

    def _find_peers(self) -> dict[str, list[Entity]]:
        """For each entity the members of the narrowest type it shares with enough others."""
        members = {type_id: self.tables.of_type(type_id) for type_id, _, _ in self.tables.types}
        peers = {}
        for entity in self.entities:
            shared = {a for type_id in entity.types for a in self.tables.above[type_id]}
            sizes = sorted((len(members[a]), a) for a in shared if len(members[a]) > MIN_PEERS)
            peers[entity.id] = [e for e in members[sizes[0][1]] if e is not entity]
        return peers

    def choose_phrases(self, entity: Entity, count: int, plain: bool = False) -> list[str]:
        """Wordings of some facts, marked ones first in line, births before deaths."""
        facts = list(entity.facts)
        self.rng.shuffle(facts)
        if plain:
            facts.sort(key=lambda fact: not _is_marked(fact))
        chosen = sorted(facts[:count], key=lambda fact: {"born": 0, "died": 2}.get(fact.relation, 1))
        return [self.prose.choose_wording(fact, plain) for fact in chosen]

    def introduce(self, entity: Entity, count: int) -> list[str]:
        return self.prose.write_opening(entity, self.choose_phrases(entity, count))

    def fill_up(self, draft: list[str], entity: Entity, ends: list[str], patterns: tuple[str, ...]) -> list[str]:
        """Add sentences about peers until the document has a decent length."""
        length, links = self.rng.randint(*WORDS), self.rng.sample(patterns, len(patterns))
        while _count_words(draft + ends) < length:
            other = self.pick(self.peers[entity.id], _list_mentioned(draft))
            phrase = self.choose_phrases(other, 1)[0]
            link = links.pop()
            draft.append(make_sentence(link.format(s=self.prose.mark_full(other), r=other.relative, p=phrase)))
        return draft + ends

    # -- kinds about one entity ---------------------------------------------------

    def write_entry(self, entity: Entity) -> Draft:
        """An encyclopedia entry; it tells every marked fact in its first wording."""
        marked = sum(_is_marked(fact) for fact in entity.facts)
        phrases = self.choose_phrases(entity, max(marked, self.rng.randint(3, 5)), plain=True)
        sentences = self.prose.write_opening(entity, phrases)
        return Draft(_capitalise(entity), self.fill_up(sentences, entity, [], BOOK_LINKS), entity.id)

    def write_label(self, entity: Entity) -> Draft:
        start = make_sentence(f"this is case {self.rng.randint(1, 30)}")
        sentences, ends = [start, *self.introduce(entity, 3)], [self.rng.choice(LABEL_ENDS)]
        title = f"Exhibition label, room {self.rng.randint(1, 12)}"
        return Draft(title, self.fill_up(sentences, entity, ends, BOOK_LINKS))

    def write_essay(self, entity: Entity) -> Draft:
        first = self.rng.choice(ESSAY_STARTS).format(s=self.prose.mark_full(entity))
        phrases = self.choose_phrases(entity, 3)
        sentences = [make_sentence(first), *self.prose.write_follow_ups(entity, phrases[:-1])]
        surprise = f"what surprised me most is that {entity.pronoun} {phrases[-1]}"
        ends = [make_sentence(self.rng.choice(ESSAY_ENDS).format(s=self.prose.mark_short(entity)))]
        title = f"School essay: {_capitalise(entity)}"
        return Draft(title, self.fill_up([*sentences, make_sentence(surprise)], entity, ends, TALK_LINKS))

    def write_obituary(self, entity: Entity) -> Draft:
        start = make_sentence(self.rng.choice(MEMORY_STARTS).format(s=self.prose.mark_full(entity)))
        sentences = [start, *self.prose.write_follow_ups(entity, self.choose_phrases(entity, 4))]
        return Draft(f"In memory of {_name_with_article(entity)}", self.fill_up(sentences, entity, [], TALK_LINKS))

    def write_travel(self, place: Entity) -> Draft:
        start = make_sentence(self.rng.choice(TRAVEL_STARTS).format(s=self.prose.mark_full(place)))
        sentences = [start, *self.prose.write_follow_ups(place, self.choose_phrases(place, 3))]
        other = self.pick(self.places, _list_mentioned(sentences))
        told = f"the guide said that {self.prose.mark_full(other)} {self.choose_phrases(other, 1)[0]}"
        ends = [make_sentence(told), self.rng.choice(TRAVEL_ENDS)]
        return Draft(f"Travel notes: {_name_with_article(place)}", self.fill_up(sentences, place, ends, TALK_LINKS))

    # -- kinds about several entities ---------------------------------------------

    def write_comparison(self, entity: Entity) -> Draft:
        other = self.pick(self.peers[entity.id], (entity.id,))
        one, two = self.prose.mark_full(entity), self.prose.mark_full(other)
        bridge = self.rng.choice(BRIDGES)
        first, *more = self.choose_phrases(other, 2)
        sentences = self.introduce(entity, 2)
        sentences.append(make_sentence(bridge.format(a=one, b=two, r=other.relative, p=first)))
        sentences += self.prose.write_follow_ups(other, more)
        title = f"{_capitalise(entity)} and {_name_with_article(other)}"
        return Draft(title, self.fill_up(sentences, other, [], BOOK_LINKS))

    def write_quiz(self, _: Entity) -> Draft:
        sentences = [self.rng.choice(QUIZ_STARTS)]
        for number in NUMBERS[: self.rng.randint(3, 5)]:
            entity = self.pick(self.entities, _list_mentioned(sentences))
            phrase = self.choose_phrases(entity, 1)[0]
            kind = PLAIN_KINDS.get(entity.types[0], self.prose.type_names[entity.types[0]])
            who = "who" if entity in self.people else f"which {kind}"
            sentences.append(make_sentence(f"question {number}: {who} {phrase}?"))
            answer = self.rng.choice(ANSWERS).format(s=self.prose.mark_full(entity))
            sentences.append(make_sentence(answer))
        return Draft(f"Quiz of the week, no. {self.rng.randint(1, 400)}", sentences)

    def write_brief(self, _: Entity) -> Draft:
        sentences: list[str] = []
        length = self.rng.randint(*WORDS) + 15
        while _count_words(sentences) < length:
            entity = self.pick(self.entities, _list_mentioned(sentences))
            sentences += self.introduce(entity, self.rng.choice((1, 1, 2)))
        return Draft(self.rng.choice(BRIEF_TITLES), sentences)

    def write_timeline(self, _: Entity) -> Draft:
        events = self.rng.sample(self.dated, 6)
        events.sort(key=lambda pair: int(pair[1].year))
        sentences = [self.rng.choice(TIMELINE_STARTS)]
        for entity, fact in events:
            target = self.tables.entities.get(fact.target)
            where = self.prose.mark_full(target) if target else fact.target.replace("_", " ")
            what = f"{self.prose.mark_full(entity)} {RELATIONS[fact.relation].event} {where}"
            sentences.append(make_sentence(f"{fact.year}: {what}"))
        last = events[-1][0]
        sentences += self.prose.write_follow_ups(last, self.choose_phrases(last, 1))
        title = f"Timeline, sheet {self.rng.randint(1, 99)}"
        return Draft(title, self.fill_up(sentences, last, [], BOOK_LINKS))

    # -- scenery ------------------------------------------------------------------

    def write_scene(self, query: FactQuery, wrong: list[Entity]) -> Draft:
        """Words of a query around popular entities that do not answer it."""
        title, start = self.rng.choice(SCENES)
        sentences = [make_sentence(start.format(c=self.prose.mark_full(self.pick(self.towns, bias=SCENE_BIAS))))]
        thing = self.rng.choice(query.scenery)
        first = self.pick(wrong, bias=SCENE_BIAS)
        reports = self.rng.sample(REPORTS, len(REPORTS))
        sentences += self._stage(first, thing, reports.pop())
        for _ in range(self.rng.choice((1, 2, 2, 3))):
            other = self.pick(wrong, _list_mentioned(sentences), bias=SCENE_BIAS)
            sentences.append(self._report(other, reports.pop()))
        ends = [self.rng.choice(SCENE_ENDS)]
        numbered = title.format(n=self.rng.randint(1, 99))
        return Draft(numbered, self.fill_up(sentences, first, ends, TALK_LINKS))

    def _stage(self, entity: Entity, thing: str, report: str) -> list[str]:
        if self.rng.random() < JOINED_RATE:
            joined = self.rng.choice(JOINED).format(x=self.prose.mark_full(entity), n=thing)
            who = entity.pronoun if self.rng.random() < 0.5 else self.prose.mark_short(entity)
            learned = self.rng.choice(LEARNED).format(s=who, p=self.choose_phrases(entity, 1)[0])
            return [make_sentence(joined), make_sentence(learned)]
        prop = make_sentence(self.rng.choice(PROPS).format(n=thing))
        told = self._report(entity, report)
        return [prop, told] if self.rng.random() < 0.5 else [told, prop]

    def _report(self, entity: Entity, report: str) -> str:
        phrase = self.choose_phrases(entity, 1)[0]
        if self.rng.random() > REPORTED_RATE:
            report = "{s} {p}"
        return make_sentence(report.format(s=self.prose.mark_full(entity), p=phrase))


KINDS: tuple[tuple[Callable[[DraftWriter, Entity], Draft], int, str], ...] = (
    (DraftWriter.write_comparison, 150, "entity"),
    (DraftWriter.write_quiz, 110, "entity"),
    (DraftWriter.write_brief, 120, "entity"),
    (DraftWriter.write_essay, 60, "entity"),
    (DraftWriter.write_label, 60, "entity"),
    (DraftWriter.write_timeline, 40, "entity"),
    (DraftWriter.write_travel, 60, "place"),
    (DraftWriter.write_obituary, 50, "person"),
)
# A question should not give its answer away: "which flightless bird cannot fly?"
PLAIN_KINDS = {
    "flightless_bird": "bird",
    "venomous_snake": "snake",
    "volcano": "mountain",
    "capital": "city",
    "republic": "country",
    "kingdom": "country",
    "bowed_instrument": "instrument",
    "reed_instrument": "instrument",
    "live_vaccine": "vaccine",
    "organ_body": "part of the body",
    "celestial_body": "object in the sky",
}
BOOK_LINKS = (
    "the next page is about {s}, {r} {p}",
    "see also the page on {s}, {r} {p}",
    "the same shelf has something on {s}, {r} {p}",
    "another card in this box says that {s} {p}",
    "turn the page for {s}, {r} {p}",
    "those who like such things will also like {s}, {r} {p}",
    "a footnote reminds us that {s} {p}",
    "{s} {p}",
)
TALK_LINKS = (
    "by the way, {s} {p}",
    "a friend adds that {s} {p}",
    "this reminds me of {s}, {r} {p}",
    "in the same breath people speak of {s}, {r} {p}",
    "from there it is not far to {s}, {r} {p}",
    "on another page I found {s}, {r} {p}",
    "for a change, {s} {p}",
    "{s} {p}",
)
LABEL_ENDS = (
    "Please do not lean on the glass.",
    "The drawing beside this label was made by a visitor.",
    "A longer text can be had at the desk.",
)
ESSAY_STARTS = (
    "my essay is about {s}",
    "our teacher asked us to write about {s}",
    "this week I read a whole book about {s}",
)
ESSAY_ENDS = (
    "I would like to read more about {s}",
    "that is all I could find out about {s}",
    "my sister drew a picture of {s} for the cover",
)
MEMORY_STARTS = (
    "these lines are written in memory of {s}",
    "a reader asks us to say a few words about {s}",
    "few people are quoted as often in these pages as {s}",
)
TRAVEL_STARTS = (
    "our notes on {s} fill three pages",
    "nobody who has read about {s} will need a long introduction",
    "the chapter on {s} is the best in the guidebook",
)
TRAVEL_ENDS = (
    "After that we had soup.",
    "It rained for the rest of the day.",
    "The bus back was full but cheerful.",
)
BRIDGES = (
    "after a page on {a}, the book turns to {b}, {r} {p}",
    "the name of {a} is often printed close to that of {b}, {r} {p}",
    "from {a} it is a short step to {b}, {r} {p}",
    "on the facing page, opposite {a}, we find {b}, {r} {p}",
)
QUIZ_STARTS = (
    "Here are the questions of this week with their answers.",
    "The quiz at the library had few takers but good questions.",
    "No prizes this time, only the pleasure of knowing.",
)
ANSWERS = ("the answer is {s}", "it is {s}", "the answer we wanted was {s}", "that is {s}")
BRIEF_TITLES = ("In brief", "Did you know?", "Odds and ends", "From our notebook", "Small facts")
TIMELINE_STARTS = (
    "This sheet hangs in the corridor of a school.",
    "A line of years, with one event for each.",
    "Read from top to bottom.",
)
SCENES = (
    ("Newsletter of the reading circle, no. {n}", "our guest had come all the way from {c}"),
    ("Letters to the editor, {n}", "your article on {c} reached me late"),
    ("Diary, page {n}", "a postcard from {c} came in the morning"),
    ("Report from the jumble sale, part {n}", "the hall was decorated with pictures of {c}"),
    ("Local radio, programme {n}", "we begin with greetings to our listeners in {c}"),
    ("Class trip, day {n}", "on the bus we sang a song about {c}"),
    ("Notes from the village museum, {n}", "the caretaker has a cousin in {c}"),
    ("Small advertisements, column {n}", "a family from {c} is looking for a flat"),
)
SCENE_ENDS = (
    "Then it was time for tea.",
    "We shall meet again next week.",
    "The rest was noise and biscuits.",
    "More in the next issue.",
    "The doors closed at six.",
)
JOINED = (
    "next to {n} lay a book about {x}",
    "a talk on {x} had to compete with {n}",
    "the page on {x} was illustrated, for no clear reason, with {n}",
    "I had come to hear about {x}, and what I remember is {n}",
    "somebody asked about {x}, and somebody else about {n}",
    "between {n} and the coffee urn there was a shelf of books about {x}",
)
LEARNED = (
    "it seems that {s} {p}",
    "I did learn that {s} {p}",
    "nobody disputed that {s} {p}",
    "for the record, {s} {p}",
)
REPORTS = (
    "somebody read aloud that {s} {p}",
    "we were told that {s} {p}",
    "a printed sheet says that {s} {p}",
    "my aunt once wrote to me that {s} {p}",
    "a small boy knew that {s} {p}",
    "I was reminded that {s} {p}",
    "as if to change the subject, a voice said that {s} {p}",
)
PROPS = (
    "on the way out there was {n}",
    "people talked for a while about {n}",
    "what the children liked best was {n}",
    "my neighbour still tells the story of {n}",
    "the evening is remembered for {n}",
    "in one corner we noticed {n}",
)


def _is_marked(fact: Fact) -> bool:
    """Whether a judgment may depend on the fact."""
    return bool(fact.grades) or fact.relation == "kept"


def _list_mentioned(sentences: list[str]) -> tuple[str, ...]:
    return tuple(match[1] for text in sentences for match in MARK.finditer(text))


def _count_words(sentences: list[str]) -> int:
    return len(" ".join(sentences).split())


def _name_with_article(entity: Entity) -> str:
    return f"the {entity.name}" if entity.article else entity.name


def _capitalise(entity: Entity) -> str:
    return entity.name[0].upper() + entity.name[1:]

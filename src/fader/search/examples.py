"""Questions to begin with, made from the sentences of an index about its popular types, and tried.

Where the documents are English, a sentence in which a verb and its object follow an entity becomes a question for the
entity's type: "Domenico Scarlatti was born in Naples" asks "Which composers were born in Naples?". It is an example if
it is read as asking for that type and the entity of the sentence is the first of at least three answers. A type has one
example; questions whose object is an entity itself come first.

What is missing is made of words that tell of a type: those that stand near several of its entities, and near entities
of few other types; so no list of stop words is needed, in any language. Such an example is a question if most of its
answers are of the type, else it is type and words. Knows nothing of who asks.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass

from fader.contexts.match import MatchOptions
from fader.corpus.singular import find_singular, list_plurals
from fader.errors import FaderError, QueryError
from fader.search.index import Index
from fader.search.suggest import Suggester, TypeHint

TRIED = 10  # types
NAMED, SEEN, SNIPPETS = 8, 16, 6  # entities of each that are asked for by name, that are looked at, and their snippets
LEAST = 3  # entities that a word must stand near
NEARLY = 0.6  # of the worth of the best word: then the second is taken too
ENGLISH = 0.2  # of the documents have "the"
ANSWERS = 5  # that are looked at, of which most must be of the type
TYPES, TRIES = 24, 8  # types whose sentences are read, and questions of each that are tried
NAMES, FOUND, SENTENCES = 40, 40, 16  # entities of each that are asked for, that are looked at, and their sentences
FEWEST = 3  # answers of a question
KNOWN = 3  # entities that show what a type is
_AUXILIARY = "was|were|had|has|have|later|also|then|first|once"
_PAST = (
    "[a-z]+ed|became|began|bore|born|built|drew|fell|flew|fought|found|gave|held|led|left|lost|made|met|ran|rose|sang|"
    "sold|spoke|taught|took|won|wore|wrote"
)
_LINK = "in|on|at|by|for|to|from|with|against|of|over|around|under|into|through|the|a|an"
# What follows a name: an auxiliary, the verb, prepositions and articles, and an object by its name or by a plain word.
_SAID = re.compile(
    rf"(?:,? who| which)?((?: (?:{_AUXILIARY})){{0,2}}) ({_PAST})((?: (?:{_LINK})){{0,2}})"
    r" (?:([A-Z][\w'’-]{1,40}(?: (?:of |the )?[A-Z][\w'’-]{1,40}){0,2})|([a-z]{4,}(?: [a-z]{4,})?)(?=[.,;]))"
)
_PLAIN = re.compile(r"[^\W\d_]{5,16}")


@dataclass(frozen=True, slots=True)
class ExampleQuery:
    """A text to ask."""

    q: str


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """An entity that is mentioned much."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class PopularType:
    """A type to begin with, and some of its entities that are mentioned most."""

    id: str
    name: str
    label: str
    supertypes: list[str]
    entities: int
    subtypes: int
    known: list[KnownEntity]


def describe_popular_types(suggester: Suggester, most: int) -> list[PopularType]:
    """Types to begin with, each with entities that show what it is."""
    return [
        PopularType(
            **asdict(hint), known=[KnownEntity(one.id, one.name) for one in suggester.entities("", KNOWN, hint.id)]
        )
        for hint in find_popular_types(suggester, most)
    ]


def find_popular_types(suggester: Suggester, most: int) -> list[TypeHint]:
    """Types with many entities and few subtypes, of which none stands above another."""
    hints = sorted(suggester.types("", 100), key=lambda hint: -hint.entities / (hint.subtypes + 1))
    above: set[str] = set()
    found = []
    for hint in hints:
        above |= set(hint.supertypes)
        if hint.id not in above:
            found.append(hint)
    return found[:most]


def make_examples(index: Index, suggester: Suggester, most: int) -> list[ExampleQuery]:
    """At most so many examples, questions from sentences first; none where the texts are too few."""
    is_english = _is_english(index)
    asked = _ask_sentences(index, suggester, most) if is_english else {}
    told = _tell_types(index, suggester, most, is_english) if len(asked) < most else {}
    rest = [text for type_, text in told.items() if type_ not in asked]
    return [ExampleQuery(text) for text in [*asked.values(), *rest][:most]]


def _ask_sentences(index: Index, suggester: Suggester, most: int) -> dict[str, str]:
    """A question of each of some types, which its sentence answers."""
    found: dict[str, tuple[str, str]] = {}
    for hint in find_popular_types(suggester, TYPES):
        if len(found) == most:
            break
        tries = sorted(_turn_sentences(index, suggester, hint), key=lambda one: not one[2])[:TRIES]
        begin = f"Which {name_many(hint.name)} "
        told = {text.removeprefix(its_begin) for its_begin, text in found.values()}
        for entity, text, _named in tries:
            if text.removeprefix(begin) not in told and _is_answered(index, hint, text, entity):
                found[hint.id] = begin, text
                break
    return {type_: text for type_, (_begin, text) in found.items()}


def _turn_sentences(index: Index, suggester: Suggester, hint: TypeHint) -> list[tuple[str, str, bool]]:
    """Questions of the sentences about a type's entities, with the entity, and whether the object is one, too."""
    made: dict[str, tuple[str, str, bool]] = {}
    for entity, snippet, (start, end) in _read_sentences(index, suggester, hint, NAMES, FOUND, SENTENCES):
        said = _SAID.match(snippet, end)
        before = snippet[:start].strip()
        if said is None or not (before in ("", "The") or before.endswith(",")):  # the entity is no object itself
            continue
        auxiliary, verb, link, name, plain = said.groups()
        known = bool(name) and any(one.name.lower() == name.lower() for one in suggester.entities(name, FEWEST))
        if name and not known:
            continue
        is_passive = re.search(r"\bwas|\bwere", auxiliary) or verb == "born" or link.startswith((" by", " with"))
        helping = " were" if is_passive else ""
        question = f"Which {name_many(hint.name)}{helping} {verb}{link} {name or plain}?"
        made.setdefault(question, (entity, question, known))
    return list(made.values())


def _is_answered(index: Index, hint: TypeHint, question: str, entity: str) -> bool:
    """Whether a question is read as asking for a type, and some entity is the first of several answers."""
    with suppress(FaderError):
        answer = index.ask(question, FEWEST, snippets=0)
        known = [result.entity for result in answer.results]
        return answer.readings[0].type == hint.id and len(known) == FEWEST and known[0] == entity
    return False


def _tell_types(index: Index, suggester: Suggester, most: int, is_english: bool) -> dict[str, str]:
    """An example of each of some types by the words that tell of it, the most telling first."""
    types = find_popular_types(suggester, TRIED)
    near = {hint.id: _count_words(index, suggester, hint) for hint in types}
    names = {word for hint in types for word in hint.name.lower().split()}
    found = []
    for hint in types:
        worth, words = _find_telling(hint, near, names)
        if words:
            found.append((worth, words, hint))
    chosen: dict[str, tuple[TypeHint, Sequence[str]]] = {}
    for _worth, words, hint in sorted(found, key=lambda one: -one[0]):
        chosen.setdefault(words[0], (hint, words))
    best = list(chosen.values())[: 2 * most]
    return {hint.id: _write_example(index, hint, words, is_english) for hint, words in best}


def _is_english(index: Index) -> bool:
    """Whether a fair share of the documents has a word that only English texts have often."""
    with suppress(QueryError):  # it may be a stop word here
        counts = index.collection.count(index.parse("the"), MatchOptions())
        return bool(counts.df.size and counts.df[0] > ENGLISH * index.collection.documents)
    return False


def _write_example(index: Index, hint: TypeHint, words: Sequence[str], is_english: bool) -> str:
    """A question that is answered by entities of the type, or the type and the words."""
    if is_english and not any(word.endswith("ed") for word in words):
        question = f"Which {name_many(hint.name)} have to do with {' and '.join(words)}?"
        with suppress(FaderError):
            answer = index.ask(question, ANSWERS, snippets=0)
            good = sum(any(share.type == hint.id for share in result.readings) for result in answer.results)
            if answer.readings[0].type == hint.id and 2 * good > ANSWERS:
                return question
    return f"{hint.name} {' '.join(words)}"


def name_many(name: str) -> str:
    """The plural of a type's name, of several synonyms the first."""
    first = re.split(r",| or ", name)[0].strip()
    first, of, rest = first.partition(" of ")
    head, _space, last = first.rpartition(" ")
    word = last.lower()
    many = min(list_plurals(word), default="")
    if not many and re.search(r"[^aeiou]y$", word):
        many = word[:-1] + "ies"
    elif not many and find_singular(word) != word:
        many = word
    elif not many:
        many = word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")
    return f"{head} {many}{of}{rest}".strip().lower()


def _count_words(index: Index, suggester: Suggester, hint: TypeHint) -> Counter[str]:
    """Near how many entities of a type each word stands."""
    words: dict[str, set[str]] = {}
    for entity, snippet, _place in _read_sentences(index, suggester, hint, NAMED, SEEN, SNIPPETS):
        words.setdefault(entity, set()).update(_words_around(snippet))
    return Counter(word for each in words.values() for word in each)


def _read_sentences(
    index: Index, suggester: Suggester, hint: TypeHint, names: int, entities: int, each: int
) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """Sentences about a type's entities: the entity, the sentence, and the place of its mention."""
    quoted = [re.sub(r'["\s]+', " ", one.name).strip()[:60] for one in suggester.entities("", names, hint.id)]
    query = " ".join(f'"{name}"' for name in quoted if _PLAIN.search(name))
    if not query:
        return
    with suppress(FaderError):  # a type that cannot be asked for has no example; others may
        for result in index.search(query, hint.id, entities, snippets=each, passage="sentence").results:
            for shown in result.evidence:
                yield result.entity, shown.snippet, shown.mention


def _words_around(sentence: str) -> Iterable[str]:
    """Plain words: no names, no numbers, nothing short."""
    return (word for word in re.findall(r"\S+", sentence) if _PLAIN.fullmatch(word) and word == word.lower())


def _find_telling(hint: TypeHint, near: dict[str, Counter[str]], names: set[str]) -> tuple[float, Sequence[str]]:
    """The word that tells most of a type, with the next where it tells nearly as much."""
    asked = sum(1 for counts in near.values() if counts)
    stems = [name[:3] for name in hint.name.lower().split()]  # "composed" is no news of a composer
    worths = []
    for word, count in near[hint.id].items():
        types = sum(1 for counts in near.values() if word in counts)
        is_known = word in names or any(word.startswith(stem) for stem in stems)
        if count >= LEAST and types <= max(1.0, asked / 4) and not is_known:
            worths.append((-count * math.log((asked + 1) / types), word))
    best = sorted(worths)[:2]
    if not best:
        return 0.0, []
    return -best[0][0], [word for worth, word in best if worth <= NEARLY * best[0][0]]

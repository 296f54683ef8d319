"""Questions to begin with, made from an index itself: by words that stand near entities of a popular type.

The most mentioned entities of a type are asked for by name. In the sentences of the answer a word tells of the type if
it stands near several of its entities, and near entities of few other types; so no list of stop words is needed, in any
language. Where the documents are English, and the question is read as asking for the type and has an answer of it, the
example is a question; else it is type and words. Knows nothing of who asks.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from fader.contexts.match import MatchOptions
from fader.corpus.singular import list_plurals
from fader.errors import FaderError, QueryError
from fader.search.index import Index
from fader.search.suggest import Suggester, TypeHint

TRIED = 10  # types
NAMED, SEEN, SNIPPETS = 8, 16, 6  # entities of each that are asked for by name, that are looked at, and their snippets
LEAST = 3  # entities that a word must stand near
NEARLY = 0.6  # of the worth of the best word: then the second is taken too
ENGLISH = 0.2  # of the documents have "the"
ANSWERS = 5  # that are looked at, of which most must be of the type
_PLAIN = re.compile(r"[^\W\d_]{5,16}")


@dataclass(frozen=True, slots=True)
class ExampleQuery:
    """A text to ask."""

    q: str


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
    """At most so many examples, the most telling first; none where the texts are too few."""
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
    is_english = _is_english(index)
    texts = (_write_example(index, hint, words, is_english) for hint, words in list(chosen.values())[:most])
    return [ExampleQuery(text) for text in texts]


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
    head, _space, last = first.rpartition(" ")
    word = last.lower()
    many = min(list_plurals(word), default="")
    if not many and re.search(r"[^aeiou]y$", word):
        many = word[:-1] + "ies"
    elif not many:
        many = word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")
    return f"{head} {many}".strip().lower()


def _count_words(index: Index, suggester: Suggester, hint: TypeHint) -> Counter[str]:
    """Near how many entities of a type each word stands."""
    counts: Counter[str] = Counter()
    names = [re.sub(r'["\s]+', " ", one.name).strip()[:60] for one in suggester.entities("", NAMED, hint.id)]
    query = " ".join(f'"{name}"' for name in names if _PLAIN.search(name))
    if not query:
        return counts
    with suppress(FaderError):  # a type that cannot be asked for has no example; others may
        answer = index.search(query, hint.id, SEEN, snippets=SNIPPETS, passage="sentence")
        for result in answer.results:
            counts.update({word for shown in result.evidence for word in _words_around(shown.snippet)})
    return counts


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

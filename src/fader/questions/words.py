"""The words of a question: the question word, the noun that says what is asked for, what is negated.

The frame is the same for all languages; the words themselves are data (english.json). A question in another language
has no question word and no function words here, so that every word of it is a literal. Knows nothing of types.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from fader.corpus.analysis import spans
from fader.index.names import fold

MOST_WORDS = 64  # of a question; what comes after is left out, and said
LONGEST_RUN = 5
_OPERATOR = re.compile(r'"|(?:^|\s)[+=-]\S|(?:^|\s)(?:type|entity):')


@cache
def language() -> dict[str, Any]:
    """The data of the language, with lists of words as sets."""
    text = resources.files("fader").joinpath("questions/english.json").read_text(encoding="utf-8")
    return {key: frozenset(value) if isinstance(value, list) else value for key, value in json.loads(text).items()}


@lru_cache(maxsize=1 << 16)
def lemma(word: str) -> str:
    """The singular of a folded word, by rules for regular plurals and a list of others."""
    if word in language()["lemmas"]:
        return str(language()["lemmas"][word])
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@dataclass(frozen=True)
class Words:
    """A question taken apart.

    `folded` are its words without case and accents, `lemmas` their singulars, `at` where each stands in the text.
    `asks` is the question word, "" without one. `run` are the places of the words among which is the noun that says
    what is asked for. `quoted` and `negated` are spans of places.
    """

    text: str
    folded: tuple[str, ...]
    lemmas: tuple[str, ...]
    at: tuple[tuple[int, int], ...]
    asks: str
    run: tuple[int, ...]
    quoted: tuple[tuple[int, int], ...]
    negated: tuple[tuple[int, int], ...]
    left_out: int

    def is_function(self, i: int) -> bool:
        """Whether a word carries no content of its own."""
        data, word = language(), self.folded[i]
        return word in data["function_words"] or word in data["question_words"] or word in data["negations"]


def is_question(text: str) -> bool:
    """Whether a text asks in plain words: it ends with a question mark, or begins as a question or a request does.

    Signs of the query language (quotes, `+`, `-`, `=` before a word, `type:`, `entity:`) say that it is a query.
    """
    if _OPERATOR.search(text):
        return False
    data, words = language(), [fold(text[a:b]) for a, b in spans(text)[:2]]
    opens = bool(words) and (words[0] in data["question_words"] or words[0] in data["requests"])
    return len(words) > 1 and (text.rstrip().endswith(("?", "？", "؟")) or opens)


def split_question(text: str) -> Words:
    """Take a question apart; words after the first `MOST_WORDS` are left out."""
    data, every = language(), spans(text)
    at = tuple(every[:MOST_WORDS])
    folded = tuple(fold(text[a:b]) for a, b in at)
    asks = next((word for word in folded if word in data["question_words"]), "")
    empty = data["function_words"] | data["question_words"] | data["negations"]
    content = [word not in empty for word in folded]
    negated = _find_negated([text[a:b] for a, b in at], folded, content)
    return Words(
        text, folded, tuple(map(lemma, folded)), at, asks, tuple(_find_run(folded, content, asks, text, at)),
        _find_quoted(text, at), negated, len(every) - len(at),
    )  # fmt: skip


def _find_run(
    folded: tuple[str, ...], content: list[bool], asks: str, text: str, at: tuple[tuple[int, int], ...]
) -> list[int]:
    """The content words after the first word that a head follows ("which", "name"); of a text that asks nothing, the
    first ones. "Who" and "where" say themselves what is asked for.
    """
    follows = language()["heads_follow"]
    trigger = next((i for i, word in enumerate(folded) if word in follows), None)
    if asks and asks not in follows and (trigger is None or folded.index(asks) < trigger):
        return []
    i = 0 if trigger is None else trigger + 1
    while i < len(folded) and not content[i]:
        i += 1
    run: list[int] = []
    while i < len(folded) and content[i] and len(run) < LONGEST_RUN:
        if run and any(c in ",;:.?!" for c in text[at[i - 1][1] : at[i][0]]):
            break
        run.append(i)
        i += 1
    return run


def _find_quoted(text: str, at: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Spans of words between double quotes."""
    found, opened = [], -1
    for i, (a, b) in enumerate(at):
        before = text[at[i - 1][1] if i else 0 : a]
        after = text[b : at[i + 1][0] if i + 1 < len(at) else len(text)]
        if opened < 0 and any(q in before for q in '"“„'):
            opened = i
        if opened >= 0 and any(q in after for q in '"”“'):
            found.append((opened, i + 1))
            opened = -1
    return tuple(found)


def _find_negated(written: list[str], folded: tuple[str, ...], content: list[bool]) -> tuple[tuple[int, int], ...]:
    """Spans from a negation and a preposition to a word, or to a name: "not by Bach", "except in New York"."""
    data, found, i = language(), [], 0
    while i < len(folded):
        if folded[i] in data["negations"]:
            a = i + 1
            while a < len(folded) and folded[a] in data["after_negation"]:
                a += 1
            b = a
            while b < len(folded) and content[b] and (b == a or (written[a][0].isupper() and written[b][0].isupper())):
                b += 1
            # "not" right before a verb ("did not win") denies a statement, which no forbidden word can say.
            if b > a and (a > i + 1 or folded[i] in ("except", "excluding", "without")):
                found.append((i, b))
                i = b
        i += 1
    return tuple(found)

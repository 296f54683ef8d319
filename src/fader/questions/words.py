"""The words of a question: the question word, the noun that says what is asked for, what is negated.

The frame is the same for all languages; the words themselves are data (english.json). A question in another language
has no question word and no function words here, so that every word of it is a literal. Knows nothing of types.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from fader.corpus.analysis import spans
from fader.corpus.singular import find_singular
from fader.index.names import fold

MOST_WORDS = 64  # of a question; what comes after is left out, and said
LONGEST_RUN = 5
_OPERATOR = re.compile(r'"|(?:^|\s)[+=-]\S|(?:^|\s)(?:type|entity):')


@cache
def language() -> dict[str, Any]:
    """The data of the language, with lists of words as sets."""
    text = resources.files("fader").joinpath("questions/english.json").read_text(encoding="utf-8")
    return {key: frozenset(value) if isinstance(value, list) else value for key, value in json.loads(text).items()}


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
    empty = data["function_words"] | data["question_words"] | data["negations"]
    content = [word not in empty for word in folded]
    gaps = [text[a:b] for a, b in zip([0, *(b for _a, b in at)], [*(a for a, _b in at), len(text)], strict=True)]
    relative = _find_relatives(folded, content, gaps)
    asks = next((word for i, word in enumerate(folded) if word in data["question_words"] and i not in relative), "")
    negated = _find_negated([text[a:b] for a, b in at], folded, content)
    return Words(
        text,
        folded,
        tuple(map(find_singular, folded)),
        at,
        asks,
        tuple(_find_run(folded, content, gaps, relative)),
        _find_quoted(text, at),
        negated,
        len(every) - len(at),
    )


def _find_relatives(folded: tuple[str, ...], content: list[bool], gaps: list[str]) -> list[int]:
    """Places of words that begin a clause about the noun before them and ask nothing: "gods who dwelt on Olympus".

    After a comma they do so only where something was asked for before: "This youth, who was ..."
    """
    data, found, triggered = language(), [], False
    for i, word in enumerate(folded):
        gap = gaps[i]
        joined = not gap.strip() or (triggered and gap.strip() == ",")
        if i and word in data["relatives"] and content[i - 1] and joined:
            found.append(i)
        triggered = triggered or word in data["heads_follow"] or word in data["question_words"]
    return found


def _find_run(folded: tuple[str, ...], content: list[bool], gaps: list[str], relative: list[int]) -> list[int]:
    """The content words after the first word that a head follows ("which", "list"); of a text that asks nothing, those
    before its first relative clause, or the first ones. "Who" and "where" say themselves what is asked for.
    """
    data, n = language(), len(folded)

    def may_trigger(i: int) -> bool:
        asks = folded[i] in data["heads_follow"] or folded[i] in data["question_words"]
        return (asks and i not in relative) or (i == 0 and folded[i] in data["requests"])

    trigger = next((i for i in range(n) if may_trigger(i)), None)
    if trigger is None:
        begin = _go_back(relative[0], content) if relative else 0
    elif folded[trigger] in data["question_words"] and folded[trigger] not in data["heads_follow"]:
        return []
    else:
        begin = trigger + 1
    while begin < n and not content[begin]:
        begin += 1
    run: list[int] = []
    for i in range(begin, n):
        if not content[i] or len(run) == LONGEST_RUN or (run and any(c in ",;:.?!" for c in gaps[i])):
            break
        run.append(i)
    if len(run) == 1 and folded[run[0]] in data["classifiers"] and folded[run[0] + 1 : run[0] + 2] == ("of",):
        return _find_run(folded, [c and i > run[0] for i, c in enumerate(content)], gaps, relative)
    return run


def _go_back(place: int, content: list[bool]) -> int:
    """Where the content words right before a place begin."""
    while place and content[place - 1]:
        place -= 1
    return place


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
                c = b
                while c < len(folded) and folded[c] in data["name_particles"]:
                    c += 1
                if b < c < len(folded) and written[c][0].isupper():  # "Vincent van Gogh"
                    b = c
            # "not" right before a verb ("did not win") denies a statement, which no forbidden word can say.
            if b > a and (a > i + 1 or folded[i] in ("except", "excluding", "without")):
                found.append((i, b))
                i = b
        i += 1
    return tuple(found)

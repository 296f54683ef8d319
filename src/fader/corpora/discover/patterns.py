"""What texts say of a name: types, by patterns after Hearst (1992, "Automatic acquisition of hyponyms"), and acronyms.

    Marie Curie was a Polish physicist              physicist
    Warsaw, the capital of Poland                   capital
    instruments such as the Theremin                instrument
    Berlin, Paris and other cities                  city
    the physicist Lise Meitner                      physicist, where another pattern knows the word as a type
    Ada King <ada@example.org>                      person
    Acme Ltd, Lake Como, University of Oslo         company, lake, university: by a word of the name itself
    World Health Organization (WHO)                 WHO is another name

A type is the last word of a noun phrase, as a singular. Knows nothing of which spellings are one entity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fader.corpora.discover.names import OPENERS, Name
from fader.corpus.singular import find_singular

NEXT, BEFORE = 160, 80  # characters that are looked at on either side
_IS = re.compile(
    r"(?: \([^)]{0,80}\))?,? (?:is|was|are|were|became|remains) (?:a|an|the|one of the) ([^.,;:()\n]{3,100})"
)
_APPOSED = re.compile(r", (?:a|an|the) ([^.,;:()\n]{3,60})[,.;]")
_SUCH = re.compile(
    r"(?<![\w-])([a-z][a-z-]+(?: [a-z][a-z-]+)?)(?:,)? (?:such as|including|especially|e\.g\.,?)(?: the)? $"
)
_OTHER = re.compile(r",? (?:and|or) other ([a-z][a-z-]+(?: [a-z][a-z-]+)?)")
_RIGHT_BEFORE = re.compile(r"[\s(“\"]([a-z][a-z-]{2,}) $")
_BRACKET = re.compile(r" \(([A-Z][A-Za-z&.-]{1,9})\)")
_ADDRESS = re.compile(r" ?[<(][\w.+-]+@[\w-]+\.[\w.-]+[>)]")
_STOPS = frozenset(
    """of in on at for from with who which that whose whom by to and or as where when near located born known used based
    between during under since after before than but while into over about within without""".split()
)
# Words that stand where a type would and are none.
_NO_TYPES = frozenset(
    """member part one kind type sort form number series set group way result example name term word fact thing lot few
    other same first second last best most more year time day date use case piece variety range majority rest end
    beginning start side million city-state heart center centre something anything someone everything it this that these
    those only it's said not very also well all both such new old large small great major""".split()
)
_NAME_WORDS = {
    "company": "inc ltd llc gmbh corp corporation company co plc ag holdings",
    "university": "university college université universität universidad",
    "institute": "institute institut laboratory laboratories",
    "organisation": "association society foundation organization organisation committee council union federation "
    "agency league party ministry department commission",
    "lake": "lake", "river": "river", "mountain": "mount mountain mountains", "island": "island islands",
    "street": "street road avenue boulevard", "airport": "airport", "church": "church cathedral", "school": "school",
    "hospital": "hospital", "museum": "museum", "war": "war", "battle": "battle", "treaty": "treaty",
    "prize": "prize award", "bridge": "bridge", "castle": "castle", "sea": "sea ocean", "empire": "empire",
    "kingdom": "kingdom", "newspaper": "times gazette herald", "bank": "bank",
    "workshop": "workshop conference symposium",
}  # fmt: skip
_BY_WORD = {word: kind for kind, words in _NAME_WORDS.items() for word in words.split()}
_AT_START = frozenset("lake mount university institute battle treaty museum bank church island sea".split())
PERSON = "person"
_ADJECTIVES = (
    "ly",
    "ing",
    "ed",
    "ous",
    "ful",
    "est",
    "less",
    "ern",
    "able",
    "larger",
    "ancient",
    "current",
    "original",
)


def find_types(text: str, name: Name) -> Iterator[tuple[str, bool]]:
    """Types that the words around a name give it; False where only a type that is known elsewhere counts."""
    after, before = text[name.end : name.end + NEXT], text[max(0, name.start - BEFORE) : name.start]
    if name.titled or _ADDRESS.match(after):
        yield PERSON, True
    for pattern in (_IS, _APPOSED):
        if (found := pattern.match(after)) and (kind := _head(found[1])):
            yield kind, True
    if (found := _OTHER.match(after)) and (kind := _head(found[1])):
        yield find_singular(kind), True
    if (found := _SUCH.search(before)) and (kind := _head(found[1])):
        yield find_singular(kind), True
    if (found := _RIGHT_BEFORE.search(before)) and found[1] not in _STOPS and found[1] not in OPENERS:
        yield found[1], False


def find_short_name(text: str, name: Name) -> str:
    """The acronym in brackets behind a name whose letters begin its words; empty where there is none."""
    found = _BRACKET.match(text, name.end)
    if found is None:
        return ""
    letters = [word[0].lower() for word in re.findall(r"\w+", text[name.start : name.end])]
    short = found[1].replace(".", "").lower()
    rest = iter(letters)
    return found[1] if len(short) > 1 and all(letter in rest for letter in short) else ""


def type_by_words(name: str) -> str:
    """The type that a word of the name says, at its end or, for some, at its start; empty where none does."""
    words = name.lower().replace(".", "").split()
    if len(words) > 1:
        if words[-1] in _BY_WORD:
            return _BY_WORD[words[-1]]
        if words[0] in _AT_START:
            return _BY_WORD[words[0]]
    return ""


def _head(phrase: str) -> str:
    """The last word of the noun phrase that a text begins with, as a singular; empty where it is none."""
    last = ""
    for word in phrase.split():
        bare = word.strip("\"'“”’").lower()
        if bare in _STOPS or not bare.replace("-", "").isalpha():
            break
        last = "" if word[0].isupper() else bare  # "a Polish physicist", but no type in "a friend Bob"
    last = find_singular(last)
    return "" if len(last) < 3 or last in _NO_TYPES or last.endswith(_ADJECTIVES) else last

"""English noun phrases without a parser: the head noun of a category, of "X is a ...", of a short description.

    "People from Berlin"            -> person        the last word before the first preposition, in the singular
    "Buildings and structures in X" -> building, structure
    "1879 births"                   -> person
    "American film directors"       -> film director, a director: with the small words before it that qualify it
    "Physics", "The Beatles"        -> nothing       not a plural, so no class of things; a proper name
    "Pigs in literature"            -> nothing       a theme, not what the members are
    "was a German-born theoretical physicist who ..." -> physicist
    "is a type of musical instrument" -> instrument

A category whose head noun is a plural is a class of its members (Suchanek, Kasneci, Weikum: YAGO, WWW 2007, section
4.3; the head noun as the word before the first preposition is after Ponzetto and Strube: WikiTaxonomy, AAAI 2007).
Knows nothing of pages.
"""

from __future__ import annotations

import re
from functools import lru_cache

_IRREGULAR = {
    "people": "person", "births": "person", "deaths": "person", "burials": "person",
    "persons": "person", "men": "man", "women": "woman",
    "children": "child", "feet": "foot", "teeth": "tooth", "geese": "goose", "mice": "mouse", "lice": "louse",
    "oxen": "ox", "alumni": "alumnus", "alumnae": "alumna", "fungi": "fungus", "cacti": "cactus", "nuclei": "nucleus",
    "stimuli": "stimulus", "foci": "focus", "genera": "genus", "corpora": "corpus", "phenomena": "phenomenon",
    "criteria": "criterion", "bacteria": "bacterium", "strata": "stratum", "memoranda": "memorandum",
    "millennia": "millennium", "algae": "alga", "larvae": "larva", "formulae": "formula", "nebulae": "nebula",
    "antennae": "antenna", "supernovae": "supernova", "vertebrae": "vertebra", "species": "species",
    "series": "series", "miniseries": "miniseries", "subspecies": "subspecies",
    "aircraft": "aircraft", "spacecraft": "spacecraft", "watercraft": "watercraft",
    "rotorcraft": "rotorcraft", "fish": "fish", "sheep": "sheep", "deer": "deer", "headquarters": "headquarters",
    "analyses": "analysis", "crises": "crisis", "theses": "thesis", "hypotheses": "hypothesis",
    "parentheses": "parenthesis", "diagnoses": "diagnosis", "synopses": "synopsis", "oases": "oasis",
    "axes": "axis", "matrices": "matrix", "vertices": "vertex", "indices": "index", "appendices": "appendix",
    "wolves": "wolf", "wives": "wife", "knives": "knife", "lives": "life", "halves": "half", "shelves": "shelf",
    "leaves": "leaf", "thieves": "thief", "loaves": "loaf", "elves": "elf", "calves": "calf", "movies": "movie",
    "cookies": "cookie", "zombies": "zombie", "calories": "calorie", "prairies": "prairie", "pies": "pie",
    "ties": "tie", "lies": "lie", "dies": "die", "quizzes": "quiz", "shoes": "shoe", "canoes": "canoe",
    "toes": "toe", "foes": "foe", "oboes": "oboe", "caches": "cache", "niches": "niche", "headaches": "headache",
    "avalanches": "avalanche", "gases": "gas", "lenses": "lens", "aliases": "alias", "atlases": "atlas",
    "canvases": "canvas", "buses": "bus", "viruses": "virus", "campuses": "campus", "choruses": "chorus",
    "statuses": "status", "bonuses": "bonus", "circuses": "circus", "censuses": "census", "octopuses": "octopus",
    "geniuses": "genius", "sinuses": "sinus", "personnel": "person",
}  # fmt: skip
# End in s and are no plurals of anything.
_SINGULAR = frozenset(
    """news athletics texas kansas arkansas illinois massachusetts netherlands philippines bahamas maldives
    seychelles honduras laos wales athens brussels naples mars chess lens bus gas atlas canvas alias christmas
    always ries his its as was has this us is rabies diabetes measles billiards darts checkers draughts
    gymnastics aerobics whereas perhaps sometimes besides towards overseas""".split()
)
_ICS = frozenset(
    """comics topics critics lyrics academics classics tactics medics mystics clinics fabrics republics clerics
    epics mechanics ceramics mosaics heretics fanatics alcoholics characteristics antibiotics narcotics
    cosmetics plastics relics tunics""".split()
)
# What ends the words before a head noun: prepositions, and verbs and pronouns that open a clause behind it.
STOPS = frozenset(
    """of in from by for at with about on to against during between under within without near over into after
    before since until per via versus as who which that where whose whom when while born established founded set
    based killed involving featuring named used written introduced disestablished made created produced directed
    located known called consisting using containing including belonging found situated played released
    published formed built designed developed is was are were has had have can may will among through across
    along around below above but although than because though so if being having such like what whereby
    associated characterized composed given relating related concerning regarding upon toward towards off out up
    down serving covering comprising occurring originating beginning ending lying bordering not also often
    usually generally commonly currently now formerly most both""".split()
)
_NO_CLASS = frozenset(
    """article page template redirect stub category link error infobox date portal wikiproject subpage
    establishment disestablishment disambiguation identifier map statement reference file member head case
    subject part appearance example aspect topic issue""".split()
)
_HIDDEN = re.compile(
    r"(?:All |Use |CS1|Webarchive|Wikipedia|Articles|Pages|Commons|Short desc|Redirects|Good articles|Featured)|"
    r".*(?:Wikipedia|Wikidata| stubs|articles |redirects|templates| errors|infobox| maintenance)"
)
# "Pigs in literature": what the members are about, not what they are.
_THEME = re.compile(
    r".* in (?:\w+ )?(?:literature|fiction|film|films|popular culture|culture|music|art|arts|media|the media|"
    r"television|video games|comics|heraldry|mythology|religion|folklore|human culture|poetry|opera|theatre)"
)
# "Cell (biology)": the field of knowledge that a page belongs to, not what it is.
_FIELD = re.compile(
    r".+(?:ology|onomy|istry|graphy|metry|sophy|ism|ing|culture|ecture|ics)|"
    r"law|music|art|sport|sports|medicine|algebra|military|religion|science|fiction|literature|tennis|football|baseball|"
    r"cricket|golf|chess|rugby|basketball|hockey|business|finance|economy|education|government|grammar|logic|data|"
    r"warfare|anatomy|complexity|calculus|botany|history|electronics|evolution|meteorology|fantasy|horticulture|"
    r"behavior|behaviour|psychoanalysis|genetics|ecology|usage|disambiguation|memory|theory|topology|typography"
)
_ADJECTIVE = re.compile(r".*(?:al|ic|ive|ous|ful|less|able|ible|ary|ish|ese|est|ed|ing|ly)")
_NOUNS = frozenset(
    """animal capital hospital festival journal criminal official professional general musical terminal mineral
    cathedral chemical metal canal individual manual signal medal meal deal material memorial rival cardinal
    mammal admiral critic comic music republic academic mechanic fabric topic clinic epic cleric mystic classic
    detective executive representative olive archive fugitive relative initiative narrative cooperative
    collective library dictionary secretary dignitary missionary documentary notary tributary revolutionary
    visionary table vegetable cable king building painting ring spring wing string forest priest test west pest
    guest dish fish family assembly monopoly butterfly boxing wrestling crossing seed breed weed intellectual
    principal crystal pharmaceutical periodical magic""".split()
)
_LARGE = frozenset(
    """large small major minor old new young great big long short high low main chief first last second third only
    diverse common famous popular rare complex simple modern ancient early late former current certain broad
    wide independent prominent important different ancient male female free open dark multi non semi two three
    four five six one more many several various""".split()
)
_NO_QUALITY = frozenset(("and", "or", "the", "s", "winning", "former", "of", "century", "era")) | STOPS
_OF_WHAT = frozenset("type kind form sort variety class breed style example one subtype any".split())
_OF_ALSO = frozenset(("species", "genus", "family", "group", "series", "order", "member", "set", "pair", "collection"))
_SAYS_NOTHING = frozenset("name term word title part number use result way fact state-of-the-art act lot".split())
_ADVERBS = frozenset(("best", "well", "better", "native", "active", "first", "last", "common", "available", "similar"))
_ARTICLES = frozenset(("a", "an", "the", "one", "any", "each", "every", "some", "this", "these", "its", "their"))
_IS_A = re.compile(
    r"\b(?:is|was|are|were|refers to|denotes)(?: \w+ly| also| considered| often)? (an?|the|one of|any)\b "
)
_PARENTHESES = re.compile(r" ?\([^()]*\)")
_SENTENCE = re.compile(r"[.!?;:](?=\s+[A-Z\d\"“]|\s*$)|\n")
_WORDS = re.compile(r"[^\W_][\w'’-]*|,")


@lru_cache(1 << 14)
def make_singular(noun: str) -> str:
    """A plural noun in lower case in its singular."""
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    if noun.endswith("men") and len(noun) > 4:
        return noun[:-2] + "an"
    if not is_plural(noun):
        return noun
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith(("sses", "shes", "ches", "xes", "zzes")) or (noun.endswith("oes") and len(noun) > 4):
        return noun[:-2]
    return noun[:-1]


@lru_cache(1 << 14)
def is_plural(noun: str) -> bool:
    """Whether a noun in lower case is a plural."""
    men = noun.endswith("men") and len(noun) > 4 and noun not in ("specimen", "abdomen", "regimen")
    if noun in _IRREGULAR or men:
        return True
    if not noun.endswith("s") or len(noun) < 4 or noun in _SINGULAR or noun.endswith(("ss", "us", "is")):
        return False
    return not noun.endswith("ics") or noun in _ICS


@lru_cache(1 << 16)
def find_category_nouns(category: str) -> tuple[str, ...]:
    """The nouns that the members of a category are, in the singular; none where it is no class of things."""
    return tuple(chain[-1] for chain in find_category_classes(category))


@lru_cache(1 << 16)
def find_category_classes(category: str) -> tuple[tuple[str, ...], ...]:
    """The classes of a category's members, each with those above it that its words name, down to the bare noun.

    `American male tennis players` gives `((male tennis player, tennis player, player),)`. A word that begins large may
    be a name or just the first, so it qualifies nothing.
    """
    if _HIDDEN.match(category) or _THEME.fullmatch(category):
        return ()
    words = _PARENTHESES.sub("", category).split()
    for i, word in enumerate(words):
        if i and word in STOPS:
            words = words[:i]
            break
    while len(words) > 1 and words[-1].endswith("ed"):
        words.pop()
    if not words or (len(words) > 1 and words[-1][:1].isupper()):
        return ()
    found: dict[str, tuple[str, ...]] = {}
    for i, word in enumerate(words):
        bare = word.strip(",")
        is_head = i == len(words) - 1 or words[i + 1] in ("and", "or") or word.endswith(",")
        # A capital inside a name is a proper name's.
        if is_head and (i == 0 or bare[:1].islower()) and is_plural(bare.lower()):
            noun = make_singular(bare.lower())
            if noun not in _NO_CLASS and noun.replace("-", "").isalpha():
                found.setdefault(noun, _qualify(words[:i], noun))
    return tuple(found.values())


def _qualify(before: list[str], noun: str) -> tuple[str, ...]:
    """A noun with up to two words before it that qualify it, with one, and alone."""
    chain = [noun]
    for word in reversed(before[-2:]):
        if not (word.islower() and word.replace("-", "").isalpha()) or word in _NO_QUALITY:
            break
        chain.insert(0, f"{_IRREGULAR.get(word, word)} {chain[0]}")  # women writers: a woman writer
    return tuple(chain)


def find_bracketed_nouns(phrase: str) -> list[str]:
    """The nouns of what stands in the brackets of a title; none where it is a field of knowledge or an adjective."""
    heads: list[str] = []
    _take(_WORDS.findall(phrase.partition(",")[0])[:6], heads, False)
    return [noun for noun in heads if noun not in _SAYS_NOTHING and (noun in _NOUNS or not _FIELD.fullmatch(noun))]


def find_described_nouns(phrase: str) -> list[str]:
    """The nouns of a description without verb, such as "English naturalist and geologist (1809-1882)"."""
    return _find_heads(_WORDS.findall(_PARENTHESES.sub("", phrase))[:30])


def find_defined_nouns(text: str) -> list[str]:
    """The nouns that the first sentence says its subject is."""
    start = _PARENTHESES.sub("", _PARENTHESES.sub("", text[:800]))
    sentence = _SENTENCE.split(start.lstrip(), maxsplit=1)[0]
    found = _IS_A.search(sentence, 0, 300)
    return _find_heads(_WORDS.findall(sentence[found.end() :])[:30]) if found else []


def _find_heads(words: list[str]) -> list[str]:
    """The head nouns of a noun phrase and of those coordinated with it."""
    heads, phrase = list[str](), list[str]()
    for i, word in enumerate(words):
        lower = word.lower()
        if word != "," and lower not in ("and", "or") and lower not in STOPS:
            phrase.append(word)
            continue
        ended = lower in STOPS
        _take(phrase, heads, ended)
        if ended and lower == "of" and heads and heads[-1] in _OF_WHAT | _OF_ALSO and i + 1 < len(words):
            kind = heads.pop()
            inner = _find_heads(words[i + 1 :])[:1]
            return [*heads, *([kind] if kind in _OF_ALSO else []), *inner]
        phrase = []
        if ended:
            break
    _take(phrase, heads, True)
    return list(dict.fromkeys(noun for noun in heads if noun not in _SAYS_NOTHING and noun not in _OF_WHAT))


def _take(phrase: list[str], heads: list[str], final: bool) -> None:
    """Add the head of a phrase; before another one, what looks like an adjective is none."""
    while (
        len(phrase) > 1 and phrase[-1] not in _NOUNS and (phrase[-1].endswith(("ed", "ly")) or phrase[-1] in _ADVERBS)
    ):
        phrase.pop()
    if not phrase or (phrase[-1].lower() in _ARTICLES and len(phrase) == 1 and phrase[-1].lower() != "one"):
        return
    last = phrase[-1]
    noun = make_singular(last)
    if not last[:1].islower() or len(last) < 3 or not noun.replace("-", "").isalpha():
        return
    if not final and (noun in _LARGE or (_ADJECTIVE.fullmatch(noun) and noun not in _NOUNS)):
        return
    if noun not in _LARGE:
        heads.append(noun)

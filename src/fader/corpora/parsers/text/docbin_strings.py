"""How spaCy numbers strings: by their place in a fixed table of symbols, else by MurmurHash64A of their UTF-8, seed 1.

The table has names of attributes, parts of speech, labels and dependencies, and so also words of plain English: in a
DocBin the word "number" is 432 and no hash. Versions 2 and 3 agree on all that is still in use; names that were given
up in between are left out. Knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Iterable

_NAMES = {  # the number of the first, and names in the order of their numbers
    1: """IS_ALPHA IS_ASCII IS_DIGIT IS_LOWER IS_PUNCT IS_SPACE IS_TITLE IS_UPPER LIKE_URL LIKE_NUM LIKE_EMAIL IS_STOP
        IS_OOV_DEPRECATED IS_BRACKET IS_QUOTE IS_LEFT_PUNCT IS_RIGHT_PUNCT IS_CURRENCY""",
    19: " ".join(f"FLAG{i}" for i in range(19, 64)),
    64: """ID ORTH LOWER NORM SHAPE PREFIX SUFFIX LENGTH CLUSTER LEMMA POS TAG DEP ENT_IOB ENT_TYPE HEAD SENT_START
        SPACY PROB LANG ADJ ADP ADV AUX CONJ CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X EOL
        SPACE""",
    380: """PERSON NORP FACILITY ORG GPE LOC PRODUCT EVENT WORK_OF_ART LANGUAGE LAW DATE TIME PERCENT MONEY QUANTITY
        ORDINAL CARDINAL acomp advcl advmod agent amod appos attr aux auxpass cc ccomp complm conj cop csubj csubjpass
        dep det dobj expl hmod hyph infmod intj iobj mark meta neg nmod nn npadvmod nsubj nsubjpass num number oprd obj
        obl parataxis partmod pcomp pobj poss possessive preconj prep prt punct quantmod relcl rcmod root xcomp acl
        ENT_KB_ID MORPH ENT_ID IDX _""",
}
SYMBOLS = {first + i: name for first, names in _NAMES.items() for i, name in enumerate(names.split())}


def number_strings(strings: Iterable[str]) -> dict[int, str]:
    """Strings by their numbers, with all symbols and the empty string."""
    return {0: "", **{murmur(text.encode("utf-8", "replace")): text for text in strings}, **SYMBOLS}


def murmur(data: bytes, seed: int = 1) -> int:
    """MurmurHash64A."""
    mask, m = 0xFFFFFFFFFFFFFFFF, 0xC6A4A7935BD1E995
    if not data:
        return 0
    h = (seed ^ (len(data) * m)) & mask
    whole = len(data) & ~7
    for i in range(0, whole, 8):
        k = int.from_bytes(data[i : i + 8], "little") * m & mask
        h = (h ^ ((k ^ (k >> 47)) * m & mask)) * m & mask
    if len(data) > whole:
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & mask
    h = (h ^ (h >> 47)) * m & mask
    return h ^ (h >> 47)

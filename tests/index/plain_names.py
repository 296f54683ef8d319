"""The definition of folded labels and their words, character by character, and labels that are hard."""

from __future__ import annotations

import re
import unicodedata

HOSTILE = [
    "", " ", "\t", "…", "İstanbul", "ISTANBUL", "ıssız", "Straße", "STRASSE", "é", "e\u0301", "\u0301", "Łódź", "Æsir",
    "ﬁn", "№ 5", "日本 語", "ﾊﾟ", "パ", "각", "가", "שָׁלוֹם", "שלום", "\u202eevil\u202c", "a\u200db", "👩‍👩‍👧", "❤\ufe0f",
    "दिल्ली", "دلی", "A. E.", "a-b_c", "O'Neill", "x" * 300, "\0", "a\0b", "Ⅷ", "ǅ", "ͅ", "𝔘𝔫𝔦", "new york new york",
]  # fmt: skip


def plain_fold(text: str) -> str:
    """The definition, character by character."""
    text = unicodedata.normalize("NFKD", text)
    text = unicodedata.normalize("NFKD", text.casefold())
    text = "".join(c for c in text if unicodedata.combining(c) == 0)
    for letter, plain in (("ł", "l"), ("ø", "o"), ("đ", "d"), ("ħ", "h"), ("ŧ", "t"), ("ı", "i"), ("ð", "d")):
        text = text.replace(letter, plain)
    return re.sub(r"\s+", " ", text.replace("þ", "th").replace("æ", "ae").replace("œ", "oe")).strip()


def plain_words(folded: str) -> list[str]:
    """Runs of letters, marks and numbers."""
    found = [""]
    for c in folded:
        if unicodedata.category(c)[0] in "LMN":
            found[-1] += c
        else:
            found.append("")
    return [word for word in found if word]

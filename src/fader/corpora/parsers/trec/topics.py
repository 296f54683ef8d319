"""Topics of any TREC track to queries.

    <top> <num> Number: 301 <title> International Organized Crime <desc> Description: ... <narr> ... </top>
    <topic number="1" type="faceted"><query>obama family tree</query><description>...</description> ... </topic>
    <query><num>1</num><entity_name>...</entity_name><target_entity>organization</target_entity><narrative>...
    <TOPIC><ID>1</ID><TITLE>Ferroportin-1 in humans</TITLE><NEED>...</NEED><CONTEXT>...</CONTEXT></TOPIC>
    101:ritz carlton lake las vegas
    101 TAB ritz carlton lake las vegas
    20001:1:obama family tree                    with a priority in all lines (Million Query 2009)

Tags need not be closed, labels such as "Number:" may be missing. The title is the query, else the description, else the
narrative, else what other elements have; the description is the question. Signs that mean something in Fader's query
language lose it. A topic that names the kind of its answers (the Entity track's `target_entity`) has that as its type.
Knows nothing of judgments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from fader.corpora.frame.faults import at
from fader.corpora.parsers.web import charset
from fader.corpora.parsers.web.html import unescape
from fader.corpus.documents import Faults
from fader.errors import quote
from fader.limits import Limits

NAMELESS = "topics without number or text"

_TOPIC = re.compile(r"<(top|topic|query)(\s[^>]*)?>(.*?)(?=</\1\s*>|<\1[\s>]|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<(/?)([A-Za-z_][\w-]*)[^>]*>")
_NUMBER = re.compile(r"\b(?:number|num|id|qid|number_id)\s*=\s*[\"']?\s*([^\"'\s>]+)", re.IGNORECASE)
_LABEL = re.compile(
    r"\s*(?:(?:topic|title|query|description|narrative|question|domain|summary|concept\(s\)|factor\(s\))\s*:"
    r"|number\b\s*:?)",
    re.IGNORECASE,
)
_LINE = re.compile(r"([\w.-]+)[:\t](.*)")
_WITH_PRIORITY = re.compile(r"(\d+:)\d:")
_OTHER = "other"
_FIELDS = {
    "num": "number", "number": "number", "id": "number", "title": "title", "query": "title", "text": "title",
    "desc": "description", "description": "description", "question": "description",
    "need": "description", "narr": "narrative", "narrative": "narrative", "context": "narrative",
    "target_entity": "type",
    "dom": "", "head": "", "smry": "", "con": "", "fac": "", "def": "", "nat": "", "time": "", "subtopic": "",
    "entity_name": "", "entity_url": "", "querytime": "", "querytweettime": "",
}  # fmt: skip
_QUOTES = re.compile('["“”„«»]')
_TYPE = re.compile(r"\btype:", re.IGNORECASE)


class Topic(NamedTuple):
    """A topic; what it does not have is empty."""

    number: str
    title: str = ""
    description: str = ""
    narrative: str = ""
    type: str = ""

    @property
    def text(self) -> str:
        """What is asked."""
        return self.title or self.description or self.narrative


def read_topics(data: bytes, source: str, faults: Faults) -> Iterator[Topic]:
    """The topics of a file."""
    text = charset.decode(data)[0].lstrip("\ufeff")
    marked = list(_TOPIC.finditer(text))
    found = [(text.count("\n", 0, m.start()) + 1, _read_topic(m[2] or "", m[3])) for m in marked]
    if not found:  # a topic per line
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if all(_WITH_PRIORITY.match(line) for _number, line in lines):
            lines = [(number, _WITH_PRIORITY.sub(r"\1", line, count=1)) for number, line in lines]
        matches = [(number, _LINE.match(line)) for number, line in lines]
        found = [(number, Topic(m[1], " ".join(m[2].split())) if m else Topic("")) for number, m in matches]
    for number, topic in found:
        if topic.number and simplify_query(topic.text):
            yield topic
        else:
            faults.add(NAMELESS, f"{at(source, number)}: topic {quote(topic.number)} needs a number and a title")


def make_query(topic: Topic, type: str | None = None) -> dict[str, Any]:
    """A topic as a line of queries.jsonl, answers of `type` unless it says otherwise."""
    made = {"id": topic.number, "type": topic.type or type, "query": simplify_query(topic.text)}
    made |= {"question": topic.description or topic.narrative, "narrative": topic.narrative}
    return {name: value for name, value in made.items() if value or name in ("id", "query")}


def simplify_query(text: str) -> str:
    """Words alone: without quotation marks, signs before words, and `type:`; at most as many as a query may have."""
    limits = Limits.from_environment()
    words = [word.lstrip("+-") for word in _TYPE.sub("type ", _QUOTES.sub(" ", text)).split()]
    kept = [word for word in words if any(c.isalnum() for c in word)][: limits.literals]
    while len(" ".join(kept)) > limits.query_characters:
        kept.pop()
    return " ".join(kept)


def _read_topic(attributes: str, inside: str) -> Topic:
    """A topic from what is between its tags: a field reaches to the next tag of a field."""
    found: dict[str, str] = {}
    field, start, pieces = _OTHER, 0, list[str]()

    def close(end: int) -> None:
        pieces.append(inside[start:end])
        value = " ".join(unescape(_LABEL.sub("", "".join(pieces), count=1)).split())
        if field == _OTHER:
            found[_OTHER] = f"{found.get(_OTHER, '')} {value}".strip()
        elif field and value:
            found.setdefault(field, value)

    for tag in _TAG.finditer(inside):
        name = tag[2].lower()
        if name not in _FIELDS:
            pieces.append(inside[start : tag.start()] + " ")
            start = tag.end()
            continue
        close(tag.start())
        field, start, pieces = _OTHER if tag[1] else _FIELDS[name], tag.end(), []
    close(len(inside))
    other, given = found.pop(_OTHER), _NUMBER.search(attributes)
    if not found.keys() & {"title", "description", "narrative"}:
        found["title"] = other
    number = given[1] if given else next(iter(found.get("number", "").split()), "")
    return Topic(**{**found, "number": number})

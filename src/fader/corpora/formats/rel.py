"""REL, the Radboud Entity Linker, and MMEAD, its links for MS MARCO: annotations, whose texts must be given too.

    {"d1": [[0, 8, "Belgrade", "Belgrade", 0.91, 0.98, "LOC"]]}      start, length, words, entity, two confidences, tag
    {"d1": [[0, 8, "Belgrade", "LOC", 0.98, 0.91]]}                  older: start, length, entity, tag, confidences
    [[0, 8, "Belgrade", "Belgrade", 0.91, 0.98, "LOC"]]              of one text: what the service answers
    {"docid": "d1", "title": [], "body": [{"entity_id": 3747, "start_pos": 0, "end_pos": 8, "entity": "Belgrade",
      "details": {"tag": "LOC", "md_score": 0.98}}]}                 MMEAD, a document or one passage (`pid`) per line

The order of a tuple is seen from the types of its elements. Texts come from the file of the option `texts`
(`textstore`), from a `text` beside the tuples, or for an answer `x.json` of the service from a source `x.txt`. MMEAD's
offsets count within a field; the fields become lines of one text. An entity is a title of Wikipedia with underscores,
its type the tag, the confidence that of the link.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from fader.corpora.frame.base import Batch, EntityRow, Importer, MentionRow, Records, TypeRow, option
from fader.corpora.frame.faults import UNLINKED, at, tally
from fader.corpora.frame.inputs import head, plain, stem, whole_files
from fader.corpora.frame.store import Store
from fader.corpora.frame.textstore import KEYS, Texts, build
from fader.corpora.parsers.jsoncut import UNREADABLE, cut_json, read_objects
from fader.corpora.parsers.text.spans import Linked, make_mentions
from fader.corpus.documents import Faults
from fader.corpus.readers import display_name, file_size
from fader.errors import quote
from fader.progress import Progress

FIELDS = ("title", "headings", "body", "passage", "text", "contents", "segment")
WRONG = "annotations that cannot be read"
BODIES = ("text", "contents", "body", "passage", "segment", "title")  # what REL's offsets count in: the first there is
TEXTLESS = "documents without a text"
LINKLESS = "texts without links, which are no documents"
_ANSWER = re.compile(rb"\s*\[\s*[\[\]]")  # a list of lists
_LISTS = ("annotations", "spans", "mentions", "entities", "result")


class _Link(NamedTuple):
    start: int
    end: int
    words: str
    entity: str
    tag: str
    confidence: float | None


@dataclass(frozen=True)
class Rel(Importer):
    """Links of REL and MMEAD."""

    name: ClassVar[str] = "rel"
    title: ClassVar[str] = "REL and MMEAD: entity links for given texts"
    example: ClassVar[str] = "fader import rel links.json --texts docs.jsonl -o corpus/"
    citation: ClassVar[str] = "van Hulst et al. 2020, REL, doi:10.1145/3397271.3401416; Kamphuis et al. 2023, MMEAD"
    passes: ClassVar[int] = 2  # the first bytes say what it is

    texts: str = option("", "The texts: JSON lines, or lines of id, tab, text; ids as in the sources.", path=True)
    ids: str = option(
        "title", "Which id an entity has: title, or page (MMEAD's number of the page).", choices=("title", "page")
    )

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        """The payload is `("objects", piece)`, or for an answer of the service `("answer", answer, text or None)`."""
        beside = {plain(source).removesuffix(".txt"): source for source in sources if plain(source).endswith(".txt")}
        for source in sources:
            if plain(source).endswith(".txt"):
                continue
            if not _ANSWER.match(head(source)):
                for batch in cut_json([source], faults, keyed=True):
                    yield batch._replace(payload=("objects", batch.payload))
                continue
            text = beside.pop(plain(source).rpartition(".")[0], None)
            found = next(iter(whole_files([text], faults)), None) if text else None
            for batch in whole_files([source], faults):
                answer = ("answer", batch.payload, found.payload if found else None)
                yield batch._replace(payload=answer, consumed=file_size(source))
        for text in beside.values():
            what = "no answer of the name, in .json, is given; texts of other files are named by --texts"
            faults.add("texts without their annotations", f"{display_name(text)}: {what}")

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> Any:
        if self.texts:
            build(self.texts, folder, faults, progress)

    def open_state(self, state: Any, folder: Path) -> Any:
        return Texts(folder) if self.texts else None

    def convert(self, batch: Batch, state: Texts | None, faults: Faults) -> Records:
        out = Records()
        if batch.payload[0] == "answer":
            self._answer(batch, state, out, faults)
            return out
        for place, value in read_objects(batch._replace(payload=batch.payload[1]), faults):
            name = next((str(value[key]) for key in KEYS if value.get(key) not in (None, "")), "")
            if name and not isinstance(value.get(name), list):
                self._record(name, value, place, state, out, faults)
                continue
            for name, said in value.items():  # one object of all: the document says more than its place
                if isinstance(said, dict | list):
                    said = said if isinstance(said, dict) else {"result": said}
                    self._record(name, said, batch.source, state, out, faults)
                else:
                    what = f"needs a list of links, not {quote(json.dumps(said), 40)}"
                    faults.add(WRONG, f"{batch.source}: document {quote(name)} {what}")
        return out

    def finish(self, state: Texts | None, store: Store) -> None:
        """Count the texts that no source has links for."""
        if state is not None:
            store.count({LINKLESS: state.absent(store.runs("ids.npy"))})

    def _answer(self, batch: Batch, state: Texts | None, out: Records, faults: Faults) -> None:
        _kind, answer, text = batch.payload
        place = at(batch.source, 0, "byte")
        try:
            said = {"result": json.loads(answer)}
            if text is not None:
                said["text"] = text.decode("utf-8-sig").replace("\r\n", "\n").removesuffix("\n")
        except (ValueError, RecursionError) as error:
            faults.add(UNREADABLE, f"{place}: {error}; correct it, or get a whole copy")
            return
        self._record(stem(batch.source), said, batch.source, state, out, faults)

    def _record(
        self, name: str, said: dict[str, Any], place: str, state: Texts | None, out: Records, faults: Faults
    ) -> None:
        """A document: its fields as one text, and the links of each field."""
        fields = (said if isinstance(said.get("text"), str) else state.get(name) if state else None) or {}
        mmead = any(isinstance(said.get(key), list) for key in FIELDS)
        known = {key: fields[key] for key in (FIELDS if mmead else BODIES) if isinstance(fields.get(key), str)}
        if not known:
            remedy = "it is not in the file of texts" if self.texts else "give a file of texts with --texts"
            faults.add(TEXTLESS, f"{place}: document {quote(name)}; {remedy}")
            return
        links = {next(iter(known)): _find_list(said, _LISTS)}
        if mmead:  # a file of texts may call text what MMEAD calls passage or body
            also = {key: ("passage", "body") if key in ("text", "contents", "segment") else () for key in known}
            links = {key: _find_list(said, (key, *also[key])) for key in known}
        text, mentions = "", list[MentionRow]()
        for key, found in links.items():
            base = len(text)
            for mention in self._mentions(found, known[key], f"{place}: document {quote(name)}", out, faults):
                mentions.append({**mention, "start": mention["start"] + base, "end": mention["end"] + base})
            text += known[key] + "\n"
        more = {key: fields[key] for key in ("title", "url") if isinstance(fields.get(key), str)}
        out.documents.append({"id": name, "text": text.removesuffix("\n"), "mentions": mentions, **more})

    def _mentions(self, links: list[Any], words: str, place: str, out: Records, faults: Faults) -> list[MentionRow]:
        found: list[_Link] = []
        for link in links:
            try:
                made = _read_dict(link, self.ids) if isinstance(link, dict) else _read_tuple(link, words)
            except (ValueError, TypeError, KeyError, IndexError):
                faults.add(WRONG, f"{place}: {quote(json.dumps(link))} is no link as REL or MMEAD write it")
                continue
            if made.entity in ("", "-", "NIL", "NIL_ENT"):
                tally(out.counts, UNLINKED)
            else:
                found.append(made)
        linked = [
            Linked((start, end, said), [entity], place, tag, sure) for start, end, said, entity, tag, sure in found
        ]
        mentions, kept = make_mentions(words, linked, faults, out.counts)
        for link in found:
            if link.entity in kept:
                title = "" if link.entity.isdigit() else link.entity.replace("_", " ")
                out.entities.append(EntityRow(link.entity, title, [link.tag] if link.tag else []))
                out.types += [TypeRow(link.tag, link.tag)] if link.tag else []
        return mentions


def _find_list(said: dict[str, Any], keys: Sequence[str]) -> list[Any]:
    return next((said[key] for key in keys if isinstance(said.get(key), list)), [])


def _read_dict(link: dict[str, Any], ids: str) -> _Link:
    details = link.get("details") or {}
    details = json.loads(details) if isinstance(details, str) else details
    entity = str(link.get("entity_id" if ids == "page" else "entity") or "")
    start, end = int(link["start_pos"]), int(link["end_pos"])
    return _Link(
        start, end, "", _make_title(entity), str(details.get("tag") or ""), _read_confidence(details.get("md_score"))
    )


def _read_tuple(link: list[Any], text: str) -> _Link:
    """A tuple in either order, or without its tag or its words."""
    start, length, *rest = link
    start, end = int(start), int(start) + int(length)
    names = [each for i, each in enumerate(rest) if i < 2 or _read_confidence(each) is None]
    strings = [each for each in names if isinstance(each, str)]
    numbers = [number for each in rest[2:] if (number := _read_confidence(each)) is not None]
    if len(strings) == 3:
        words, entity, tag = strings
        return _Link(start, end, words, _make_title(entity), tag, numbers[0] if numbers else None)
    first, second = strings  # words and entity, or entity and tag
    if text[start:end] == first and not (second.isupper() and len(second) <= 5):  # which is a tag
        return _Link(start, end, first, _make_title(second), "", numbers[0] if numbers else None)
    return _Link(start, end, "", _make_title(first), second, numbers[-1] if numbers else None)


def _read_confidence(value: Any) -> float | None:
    with suppress(ValueError, TypeError):
        return float(value)
    return None


def _make_title(entity: str) -> str:
    return "_".join(entity.split())

"""Wikidata: the dump in JSON, one item per line, to entities and types.

    [
    {"type":"item","id":"Q42","labels":{"en":{"language":"en","value":"Douglas Adams"}},"aliases":{...},
     "claims":{"P31":[{"mainsnak":{"snaktype":"value","datavalue":{"value":{"id":"Q5"}}},"rank":"normal"}]},
     "sitelinks":{"enwiki":{"title":"Douglas Adams"}}},
    ]

An item is an entity with the types it is an instance of (P31). An item that is a subclass (P279) is a type below these;
an entity too only if it is also an instance, or with the option `classes`. Of the statements of a property those of the
best rank count, what Wikidata calls truthy: the preferred ones if there are any, else the normal ones. Statements whose
value is unknown or that say there is none give nothing. Types have their own ids, Q5, whatever the entities' ids are.
Those may also be the values of a property, all that are not deprecated: P646 for Freebase, P486 for MeSH.
The hierarchy of Wikidata has cycles: the frame breaks and reports them. Only what is asked for of a line is decoded,
and lines of items that are neither listed nor types are not decoded at all. One pass, so that standard input will do:
`lbzip2 -dc latest-all.json.bz2 | fader import wikidata - -o catalog/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from fader.corpora.frame.base import Batch, EntityRow, Importer, Records, TypeRow, option
from fader.corpora.frame.faults import at, tally
from fader.corpora.frame.inputs import BROKEN, line_batches
from fader.corpora.frame.selection import LISTED, UNLISTED, Numbers, end_types, read_ids, select_listed, write_ids
from fader.corpora.frame.store import Store
from fader.corpus.documents import Faults
from fader.errors import UsageError, quote
from fader.progress import Progress

FORMS = ("wikidata", "wikipedia", "uri")
ADDRESS = "http://www.wikidata.org/entity/"
FAULTY = "lines that are no item"
ABSENT = "items without such an id"
_PROPERTY = re.compile(r"P[0-9]+")
OTHERS = "properties and lexemes"
_ID = re.compile(rb'"type"\s*:\s*"item"\s*,\s*"id"\s*:\s*"(Q[0-9]+)"')
_START = 400  # bytes of a line in which the item's id stands
_AROUND = b" \t\r\n,[]\xef\xbb\xbf"  # what may stand around an item: an array, commas, a byte order mark


@dataclass(frozen=True)
class Wikidata(Importer):
    """A dump of Wikidata's items."""

    name: ClassVar[str] = "wikidata"
    title: ClassVar[str] = "a Wikidata dump, latest-all.json: entities and types, no documents"
    example: ClassVar[str] = "fader import wikidata latest-all.json.gz --only corpus/entities.tsv -o catalog/"
    citation: ClassVar[str] = (
        "https://www.mediawiki.org/wiki/Wikibase/DataModel/JSON; Vrandecic and Krötzsch, CACM 2014"
    )

    ids: str = option("wikidata", "Ids of entities: wikidata (Q42), wikipedia (titles, see site), uri, or a property.")
    prefix: str = option("", "What comes before an id that is the value of a property, such as MESH:.")
    language: str = option("en", "The language of names; several with commas, the first that there is holds.")
    site: str = option("enwiki", "The Wikipedia whose titles are meant.")
    only: str = option("", LISTED, path=True)
    all_ranks: bool = option(False, "All statements count but the deprecated; else those of the best rank (truthy).")
    classes: bool = option(False, "Items that are classes are entities too, with the classes above them as types.")
    unused: bool = option(False, "Types that no entity has are kept too; there are millions.")

    def __post_init__(self) -> None:
        if self.ids not in FORMS and not _PROPERTY.fullmatch(self.ids):
            what = f"ids must be one of {', '.join(FORMS)}, or a property such as P646"
            raise UsageError(f"wikidata: {what}, not {quote(self.ids)}")
        if self.ids in ("P31", "P279"):
            what = "leads to other items; ids must be the texts of a property such as P646"
            raise UsageError(f"wikidata: {self.ids} {what}")
        if not self._languages():
            raise UsageError("wikidata: language must name one, such as en or de,en")

    def _languages(self) -> tuple[str, ...]:
        """Those asked for, and last `mul`, names that hold in any."""
        return tuple(dict.fromkeys(each.strip() for each in (*self.language.split(","), "mul") if each.strip()))

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return line_batches(sources, faults)

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> bool:
        return write_ids(self.only, folder, faults)

    def open_state(self, state: bool, folder: Path) -> Numbers | None:
        return read_ids(folder, state)

    def convert(self, batch: Batch, state: Numbers | None, faults: Faults) -> Records:
        out = Records(counts={"items": 0})
        decode = _make_decoder(self._languages(), self.site, self.ids if self.ids not in FORMS else "")
        lines = [line.strip(_AROUND) for line in batch.payload]
        for number, line in self._that_matter(lines, batch.place, state, out.counts):
            try:
                item = decode(line)
            except msgspec.ValidationError as error:
                faults.add(FAULTY, f"{at(batch.source, number)}: {error}")
            except msgspec.DecodeError as error:
                faults.add(FAULTY, f"{at(batch.source, number)}: not whole JSON: {error}")
            except UnicodeDecodeError as error:
                faults.add(BROKEN, f"{at(batch.source, number)}: not UTF-8: {error.reason}")
            else:
                if item.type == "item" and item.id[:1] == "Q":
                    self._item(item, out)
                else:
                    tally(out.counts, OTHERS)
        out.entities = select_listed(out.entities, state, out.counts)
        kept = dict.fromkeys(each for row in out.entities for each in row.types)
        out.types.extend(TypeRow(each, "") for each in kept)
        return out

    def _that_matter(
        self, lines: list[bytes], first: int, only: Numbers | None, counts: dict[str, int]
    ) -> Iterator[tuple[int, bytes]]:
        """The lines that must be decoded, with their numbers: not if the item is neither listed nor a class."""
        every = [(number, line) for number, line in enumerate(lines, first) if line]
        if only is None or self.ids not in ("wikidata", "uri"):
            yield from every
            return
        found = [None if b'"P279"' in line else _ID.search(line, 0, _START) for _number, line in every]
        names = [self._form_id(match[1].decode()) if match else "" for match in found]
        known = only.find([name for name in names if name])
        for name, line in zip(names, every, strict=True):
            if not name or name in known:
                yield line
            else:
                counts["items"] += 1
                tally(counts, UNLISTED)

    def _form_id(self, number: str) -> str:
        return ADDRESS + number if self.ids == "uri" else number

    def _item(self, item: Any, out: Records) -> None:
        out.counts["items"] += 1
        labels = [text.value for text in _list_present(item.labels) if text.value]  # in the order of languages
        label, others = (labels or [""])[0], (text.value for texts in _list_present(item.aliases) for text in texts)
        aliases = list(dict.fromkeys((*labels[1:], *others)))
        types, above = self._targets(item, "P31"), self._targets(item, "P279")
        if above:
            out.types.append(TypeRow(item.id, label, above))
        if above and not types and not self.classes:
            return
        title = getattr(getattr(item.sitelinks, "site", None), "title", "")
        names = self._ids(item, title)
        tally(out.counts, ABSENT, not names)
        if self.classes:
            types = list(dict.fromkeys((*types, *above)))
        out.entities.extend(EntityRow(name, label or title, types, aliases) for name in names)

    def _ids(self, item: Any, title: str) -> list[str]:
        """The ids of an item in the form that is asked for; a property may have several values, or none."""
        if self.ids == "wikipedia":
            return [title.replace(" ", "_")] if title else []
        if self.ids in FORMS:
            return [self._form_id(item.id)]
        values = (claim.mainsnak.datavalue for claim in _list_valid(item, "own", True) if claim.mainsnak.datavalue)
        return [self.prefix + data.value for data in values if isinstance(data.value, str) and data.value]

    def _targets(self, item: Any, relation: str) -> list[str]:
        """The items that the statements of a relation lead to."""
        found: dict[str, None] = {}
        for claim in _list_valid(item, relation, self.all_ranks):
            if claim.mainsnak.datavalue is not None:
                value = claim.mainsnak.datavalue.value
                name = value.id or (f"Q{value.number}" if value.number else "")
                if name[:1] == "Q":
                    found[name] = None
        return list(found)

    def finish(self, state: Any, store: Store) -> None:
        end_types(store, lambda name: name, self.unused)


def _list_present(texts: Any) -> list[Any]:
    """The fields that are given; empty maps are lists in old dumps."""
    if isinstance(texts, list):
        return []
    return [found for field in texts.__struct_fields__ if (found := getattr(texts, field)) is not None]


def _list_valid(item: Any, relation: str, all_ranks: bool) -> list[Any]:
    """The statements of a relation that have a value, of the best rank or of all but the deprecated."""
    claims = [claim for claim in getattr(item.claims, relation, ()) if claim.rank != "deprecated"]
    if not all_ranks and any(claim.rank == "preferred" for claim in claims):
        claims = [claim for claim in claims if claim.rank == "preferred"]
    return [claim for claim in claims if claim.mainsnak.snaktype == "value"]


class _Text(msgspec.Struct):
    value: str = ""


class _Value(msgspec.Struct, rename={"number": "numeric-id"}):
    id: str = ""
    number: int = 0


_V = TypeVar("_V")


class _Data(msgspec.Struct, Generic[_V]):
    value: _V


class _Snak(msgspec.Struct, Generic[_V]):
    snaktype: str = "value"
    datavalue: _Data[_V] | None = None


class _Claim(msgspec.Struct, Generic[_V]):
    mainsnak: _Snak[_V]
    rank: str = "normal"


class _SiteLink(msgspec.Struct):
    title: str = ""


@cache
def _make_decoder(languages: tuple[str, ...], site: str, relation: str) -> Any:
    """Decodes a line to the fields that matter; all else is passed over."""
    fields = {f"l{i}": language for i, language in enumerate(languages)}
    one = msgspec.defstruct("Labels", [(field, _Text | None, None) for field in fields], rename=fields)
    many = msgspec.defstruct("Aliases", [(field, list[_Text] | None, None) for field in fields], rename=fields)
    pages = msgspec.defstruct("Pages", [("site", _SiteLink | None, None)], rename={"site": site})
    kinds: dict[str, Any] = {"P31": list[_Claim[_Value]], "P279": list[_Claim[_Value]]}
    kinds |= {"own": list[_Claim[Any]]} if relation else {}
    relations: list[Any] = [(each, kind, msgspec.field(default_factory=list)) for each, kind in kinds.items()]
    claims = msgspec.defstruct("Claims", relations, rename={"own": relation} if relation else None)
    maps = {"labels": one, "aliases": many, "claims": claims, "sitelinks": pages}
    more: list[Any] = [(name, kind | list, msgspec.field(default_factory=list)) for name, kind in maps.items()]
    return msgspec.json.Decoder(msgspec.defstruct("Item", [("id", str), ("type", str, "item"), *more])).decode

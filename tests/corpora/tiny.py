"""A tiny format for the tests of the frame: a document a line, `id TAB text with [[entity|surface]] TAB types`.

A line without an id is a fault. It has all that an importer may have: a first pass that finds the longest id, options,
and an end that names the entities that were only mentioned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from fader.corpora.frame.base import Batch, EntityRow, Importer, Records, TypeRow, option
from fader.corpora.frame.faults import at
from fader.corpora.frame.inputs import decode_line, line_batches
from fader.corpora.frame.store import Store
from fader.corpus.documents import Faults
from fader.progress import Progress

_LINK = re.compile(r"\[\[([^|\]]*)\|([^\]]*)\]\]")


@dataclass(frozen=True)
class Tiny(Importer):
    name: ClassVar[str] = "tiny"
    title: ClassVar[str] = "lines with links, for tests"
    example: ClassVar[str] = "fader import tiny docs.txt -o corpus/"
    citation: ClassVar[str] = "this file"

    prefix: str = option("", "what comes before every document's id")
    piece: int = option(100, "bytes of a batch")

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return line_batches(sources, faults, self.piece)

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> Any:
        lines = (line for batch in self.batches(sources, Faults()) for line in batch.payload)
        return max((len(line.split(b"\t")[0]) for line in lines), default=0)

    def convert(self, batch: Batch, state: Any, faults: Faults) -> Records:
        out = Records(counts={"lines": len(batch.payload)})
        for number, raw in enumerate(batch.payload, batch.place):
            line = decode_line(raw, number, batch.source, faults)
            if line is None or not line.strip():
                continue
            name, _tab, rest = line.partition("\t")
            if not name or not rest:
                faults.add("lines without a text", f"{at(batch.source, number)}: needs an id, a tab and a text")
                continue
            marked, _tab, types = rest.partition("\t")
            text, mentions = _plain(marked)
            out.documents.append({"id": f"{self.prefix}{name:>{state}}", "text": text, "mentions": mentions})
            out.entities += [EntityRow(m["entity"], "", types.split()) for m in mentions]
            out.types += [TypeRow(t, "", (t.rsplit("/", 1)[0],) if "/" in t else ()) for t in types.split()]
        return out

    def finish(self, state: Any, store: Store) -> None:
        for name, _surface, count in store.mentioned():
            store.entity(EntityRow(name, "", (), (f"{name} of {count}",)))


def _plain(marked: str) -> tuple[str, list[dict[str, Any]]]:
    pieces: list[str] = []
    mentions: list[dict[str, Any]] = []
    last = size = 0
    for link in _LINK.finditer(marked):
        pieces += [marked[last : link.start()], link[2]]
        start = size + link.start() - last
        size = start + len(link[2])
        mentions.append({"start": start, "end": size, "entity": link[1]})
        last = link.end()
    return "".join([*pieces, marked[last:]]), mentions

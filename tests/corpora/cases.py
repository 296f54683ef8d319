"""The fixtures of importers: tests/corpora/fixtures/<importer>/case*.json, each with its sources beside it.

    {"sources": ["sample.txt"], "options": {"tree": "tree.txt"},
     "expect": {"documents": 2, "mentions": 3, "entities": 3, "types": 2, "queries": 0, "judgments": 0,
                "faults": {"lines that are not UTF-8": 1}},
     "surfaces": {"d1": [["Berlin", "Q64"], ["Germany", "Q183"]]},
     "search": {"query": "capital", "type": "city", "finds": "Q64"},
     "crlf": true, "compressed": true, "broken": true}

Options that are paths are relative to the folder. What is missing in `expect` is not compared, save faults, which are
none then. The last three keys say which variants the format can have; true unless given.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fader.corpora.frame.base import Importer
from fader.corpora.frame.run import importer
from fader.registry import discover

FIXTURES = Path(__file__).parent / "fixtures"


@dataclass(frozen=True)
class Case:
    """A fixture: where it is and what is written in its case file."""

    format: str
    path: Path
    written: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.format}-{self.path.stem}"

    @property
    def sources(self) -> list[str]:
        if not discover("fader.corpora.formats")[self.format].files:
            return list(self.written["sources"])
        return [str(self.path.parent / name) for name in self.written["sources"]]

    def importer(self) -> Importer:
        made = importer(self.format, **self.written.get("options", {}))
        paths = {
            f.name: str(self.path.parent / getattr(made, f.name))
            for f in dataclasses.fields(made)  # type: ignore[arg-type]
            if f.metadata.get("path") and getattr(made, f.name)
        }
        return dataclasses.replace(made, **paths)  # type: ignore[type-var]

    def has(self, variant: str) -> bool:
        """Whether its sources are files that can have a variant."""
        return bool(self.written.get(variant, True)) and discover("fader.corpora.formats")[self.format].files


def all_cases() -> list[Case]:
    """Every case of every importer."""
    files = sorted(FIXTURES.glob("*/case*.json"))
    return [Case(path.parent.name, path, json.loads(path.read_text())) for path in files]


def documents(folder: Path) -> list[dict[str, Any]]:
    """The documents that an import wrote."""
    path = folder / "corpus.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]] if path.exists() else []


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}

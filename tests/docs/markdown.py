"""Just enough Markdown for the tests: fenced blocks, links, headings. Knows nothing of what they say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text and the line of its first line."""

    language: str
    text: str
    line: int


def pages() -> list[Path]:
    """Every Markdown file of the project."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
    return sorted(found)


def blocks(path: Path) -> list[Block]:
    text = path.read_text("utf-8")
    return [Block(m[1], m[2], text.count("\n", 0, m.start()) + 2) for m in _FENCE.finditer(text)]


def links(path: Path) -> list[str]:
    """The targets of links outside fenced blocks and code spans."""
    text = _FENCE.sub("", path.read_text("utf-8"))
    return _LINK.findall(re.sub(r"`[^`\n]*`", "", text))


def anchors(path: Path) -> set[str]:
    """The headings as fragments of an address."""
    names = _HEADING.findall(_FENCE.sub("", path.read_text("utf-8")))
    return {re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in names}

"""Bytes of an index by file and array, and what sentence boundaries add to it.

    python -m benchmarks.sizes INDEX...

Stems and surface forms of entities are found from terms, mentions and the catalog when they are first asked for: they
have no arrays of their own. The target is 15% for all three together.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import fader
from fader.search.local import LocalCollection

SHOWN = 12
TARGET = 0.15


def measure(folder: Path) -> None:
    """Print the largest arrays of an index, and the share of sentence boundaries."""
    index, found = fader.open(folder), Counter[str]()
    assert isinstance(index.collection, LocalCollection)
    for segment in index.collection.reader.segments:
        for container in segment.containers:
            for array, size in container.sizes().items():
                found[f"{container.path.suffix[1:]}: {array}"] += size
    total = sum(each.stat().st_size for each in folder.iterdir())
    print(f"{folder}: {total:,} bytes")
    for name, size in found.most_common(SHOWN):
        print(f"  {name:28} {size:14,} {size / total:7.2%}")
    added = sum(size for name, size in found.items() if "sentence" in name)
    share = added / (total - added)
    verdict = "met" if share <= TARGET else "missed"
    print(f"  {'sentences, over the rest':28} {added:14,} {share:7.2%} (target {TARGET:.0%}: {verdict})")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("indexes", nargs="+", type=Path, metavar="INDEX")
    for folder in options.parse_args().indexes:
        measure(folder)


if __name__ == "__main__":
    main()

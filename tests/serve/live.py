"""A service on a real port of loopback, as `fader serve` runs it but in a thread, over a small index."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fader
from fader.serve.app import create_app
from fader.serve.run import HttpServer, address_of, configure, listen
from fader.serve.settings import Settings

TYPES = [
    {"id": "thing", "name": "Thing"},
    {"id": "person", "name": "Person", "supertypes": ["thing"]},
    {"id": "scientist", "name": "Scientist", "supertypes": ["person"]},
    {"id": "painter", "name": "Painter of pictures", "supertypes": ["person"]},
    {"id": "city", "name": "City", "supertypes": ["thing"]},
]
ENTITIES = [
    {"id": "E/1", "name": "Ada Quist", "types": ["scientist"], "aliases": ["A. Quist"]},
    {"id": "E2", "name": "Björn <b>Åström</b>", "types": ["scientist", "painter"]},
    {"id": "E3", "name": "Cleo Dahl", "types": ["painter"]},
    {"id": "E4", "name": "Dunmore", "types": ["city"]},
]
TEXTS = [
    "{} played the violin in the physics department",
    "a violin that {} had brought from the coast",
    "in the old harbour {} studied physics and light",
    "nobody in the village knew that {} was a chemist",
]


def documents() -> list[dict[str, Any]]:
    """Every text with every entity, a few times."""
    found = []
    for i in range(48):
        entity, text = ENTITIES[i % 4], TEXTS[(i // 4) % 4]
        start = text.index("{}")
        mention = {"start": start, "end": start + len(str(entity["name"])), "entity": entity["id"], "confidence": 0.9}
        words = text.format(entity["name"])
        found.append({"id": f"d{i}", "text": words, "title": f"Page {i}", "mentions": [mention]})
    return found


def build(folder: Path) -> Path:
    """The index of all this."""
    fader.build(folder, documents(), ENTITIES, TYPES)
    return folder


@contextmanager
def running(settings: Settings) -> Iterator[str]:
    """The address of a service that runs inside."""
    with listen(settings.host, 0) as listening:
        server = HttpServer(configure(create_app(settings), settings))
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        try:
            yield address_of(listening).rstrip("/")
        finally:
            server.should_exit = True
            thread.join(30)
    assert not thread.is_alive(), "the service did not end"

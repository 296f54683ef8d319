"""What a request may say of a system: its parameters, within bounds, and nothing that training fills in.

    learned       no field of `System.learned`, at any depth: models come from files that the server was started with
    numbers       at most `MOST` each, or their own bound of `BOUNDS`; at most `NUMBERS` in a list
    features      at most `WEIGHTS` weights in all feature maps together; a dense table has a column for each
    depth         at most `DEPTH` parts inside each other

The command line and Python have none of these bounds: who starts a process may use it. A text that is no system passes,
and is refused where it is parsed. Knows nothing of HTTP.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fader.errors import FaderError, UsageError, quote
from fader.registry import build, find_part, read_call, split_arguments, split_top

KINDS = ("fader.systems", "fader.features", "fader.aggregate", "fader.entityfeatures")
MOST = 1_000_000
BOUNDS = {"width": 100_000, "window": 100_000, "trees": 1_000, "leaves": 1_024}
NUMBERS = 64
WEIGHTS = 1_024
DEPTH = 4


def check_requested(text: str) -> None:
    """Refuse a system that a request may not ask for."""
    weights = 0
    for part, arguments in _calls(text, DEPTH):
        for key, value in arguments.items():
            if key in getattr(part, "learned", ()):
                raise UsageError(
                    f"{part.name}: {key} is what training fills in, and no request may give it; name a model that the "
                    "server was started with, as /v1/systems lists them"
                )
            _check_numbers(f"{part.name}: {key}", value, BOUNDS.get(key, MOST))
        weights += _count_weights(part, arguments)
        if weights > WEIGHTS:
            raise UsageError(
                f"the feature maps of a request have at most {WEIGHTS:,} weights, not {weights:,}; give smaller grids"
            )


def _calls(text: str, depth: int) -> Iterator[tuple[type[Any], dict[str, str]]]:
    """Every part that a text names, with its parameters, those inside of parameters included."""
    pieces = [inner for outer in split_top(text, "|") for inner in split_top(outer, "+")]
    for piece in dict.fromkeys([text, *pieces]):  # the whole too: with odd brackets it may be what is parsed
        name, inside = read_call(piece)
        parts = [part for part in (find_part(kind, name) for kind in KINDS if name) if part is not None]
        if parts and not depth:
            raise UsageError(
                f"a system of a request has at most {DEPTH} parts inside each other; ask for a simpler one"
            )
        for part in parts:
            try:
                arguments = split_arguments(inside, getattr(part, "first", ""))
            except UsageError:  # no parameters of this part; whoever parses it says so
                continue
            yield part, arguments
            for value in arguments.values():
                yield from _calls(value, depth - 1)


def _check_numbers(place: str, value: str, most: int) -> None:
    """Refuse a list of numbers that is too long, or has one that is too large; a word passes."""
    pieces = value.split("/")
    try:
        numbers = [float(piece) for piece in pieces]
    except ValueError:
        return
    if len(pieces) > NUMBERS:
        raise UsageError(f"{place} of a request has at most {NUMBERS} numbers, not {len(pieces):,}; give fewer")
    for piece, number in zip(pieces, numbers, strict=True):
        if not abs(number) <= most:
            raise UsageError(
                f"{place} of a request must be at most {most:,}, not {quote(piece)}; give a smaller number"
            )


def _count_weights(part: type[Any], arguments: dict[str, str]) -> int:
    """How many weights a feature map has; what is none has none."""
    if find_part("fader.features", part.name) is not part:
        return 0
    try:
        return int(build(part, arguments).size)
    except FaderError:  # whoever parses it says what is wrong
        return 0

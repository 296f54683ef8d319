"""Lines of a companion: a file that an option names, such as the texts of annotations.

As with sources, a line over the limit, or an end before its time, is a fault, and the lines that can be had are read.
Knows nothing of what is in them.
"""

from __future__ import annotations

from collections.abc import Iterator

from fader.corpora.frame import inputs
from fader.corpora.frame.faults import at
from fader.corpus.documents import Faults
from fader.corpus.readers import LongLine, display_name, read_batches, too_long
from fader.errors import InputError
from fader.limits import Limits


def companion_lines(path: str, faults: Faults) -> Iterator[tuple[int, bytes, int]]:
    """The lines of a file without their ends, with their numbers and the bytes of the file that were read."""
    limits, number = Limits.from_environment(), 0
    try:
        for first, lines, consumed in read_batches(path, limits):
            for number, line in enumerate(lines, first):
                if isinstance(line, LongLine):
                    faults.add(inputs.OVER, f"{at(display_name(path), number)}: {too_long(line, limits)}")
                else:
                    yield number, line, consumed
    except InputError as error:
        inputs.report_cut(faults, path, error, number > 0)

"""Whether stored arrays have the types, sizes and bounds that their readers rely on.

Everything that opens an array asks here first, and none of it costs more than a pass of NumPy over offsets: so kernels
never follow a stored number out of an array, also in files that were made to harm and that nobody has verified. What is
wrong is a `DamagedError` that names the file. Knows nothing of what arrays mean.
"""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from fader.errors import DamagedError

Array = NDArray[Any]
MOST_COUNT = 1 << 40


class Source(Protocol):
    """Arrays and values by name: a file, or memory."""

    @property
    def path(self) -> Any: ...

    @property
    def meta(self) -> dict[str, Any]: ...

    def __getitem__(self, name: str) -> Array: ...


def damage_error(source: Source, what: str) -> DamagedError:
    """The error that says what is wrong with a file whose checksum fits."""
    return DamagedError(f"{source.path}: {what}; the file is damaged: restore it or rebuild")


def check_array(source: Source, name: str, *dtypes: str, size: int | None = None) -> Array:
    """An array that must have one of some types, and a size where one is given."""
    values = source[name]
    if values.dtype.str[1:] not in dtypes:
        raise damage_error(source, f"array {name!r} is of type {values.dtype.str[1:]}, not {' or '.join(dtypes)}")
    if size is not None and values.size != size:
        raise damage_error(source, f"array {name!r} has {values.size} elements, not {size}")
    return values


def check_count(source: Source, name: str) -> int:
    """A count among the values beside the arrays."""
    value = source.meta.get(name)
    if type(value) is not int or not 0 <= value < MOST_COUNT:
        raise damage_error(source, f"value {name!r} is no count")
    return value


def check_flag(source: Source, name: str) -> bool:
    """A flag among the values beside the arrays."""
    value = source.meta.get(name)
    if type(value) is not bool:
        raise damage_error(source, f"value {name!r} is neither true nor false")
    return value


def check_offsets(source: Source, name: str, rows: int | None, end: int, *dtypes: str) -> Array:
    """Offsets of rows that lie end to end from 0 to `end`; None: of however many rows there are."""
    at = check_array(source, name, *dtypes, size=None if rows is None else rows + 1)
    if not at.size or at[0] != 0 or at[-1] != end or (at[1:] < at[:-1]).any():
        raise damage_error(source, f"array {name!r} does not run from 0 to {end}")
    return at


def check_range(source: Source, name: str, values: Array, end: int) -> None:
    """Numbers from 0 to below `end`."""
    if values.size and (values.min() < 0 or values.max() >= end):
        raise damage_error(source, f"{name!r} names something that is not there: numbers are from 0 to {end - 1}")

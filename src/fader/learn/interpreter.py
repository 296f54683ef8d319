"""What is learned of reading questions: weights of features, a temperature, and which words go with which type names.

    g(z) = weights . phi(q, z)      p(z|q) = softmax g      s(e|q) = ln sum_z p(z|q) [e in t_z] - b ln rank(e)

An association is counted by the *names* of types, so that an interpreter carries over to catalogs with other ids: of
`questions` with a hint (`asks:who`, `head:city`), the sum over questions of the share of good entities below a type of
that name. `dropped` are words that are no literals, because answers are better without them: "tutorial" in "Who could
give a tutorial on". The file is JSON. Knows nothing of catalogs or of how it was trained.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fader.errors import InputError, quote
from fader.jobs.files import whole_file

F64 = NDArray[np.float64]
FORMAT = "fader-interpreter"
FEATURES = (
    "last", "run", "named", "words", "hinted", "above", "expected", "asks", "head", "size", "depth", "sense", "root",
    "none",
)  # fmt: skip
START = (4.0, 1.5, -0.5, 0.5, 0.5, 1.5, 2.0, 0.5, 0.5, 0.3, 0.0, 0.5, -1.0, -1.0)
CALIBRATED = 6  # weights of a calibration


@dataclass(frozen=True)
class Associations:
    """How often good answers were below types of a name, by hint."""

    questions: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Interpreter:
    """How questions are read and how much that weighs against the evidence; see the head of this file.

    `temperature` is b. `calibration` turns answers into probabilities (`questions.calibration`); empty without any.
    """

    weights: tuple[float, ...] = START
    temperature: float = 1.0
    associations: Associations = Associations()
    dropped: tuple[str, ...] = ()
    calibration: tuple[float, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.weights) != len(FEATURES):
            raise InputError(f"an interpreter has {len(FEATURES)} weights, not {len(self.weights)}; train it again")
        if len(self.calibration) not in (0, CALIBRATED):
            raise InputError(f"a calibration has {CALIBRATED} weights, not {len(self.calibration)}; train it again")

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as files have it."""
        own: dict[str, Any] = msgspec.to_builtins(self)
        return {"format": FORMAT, "version": 1, "features": list(FEATURES), **own}

    def to_json(self) -> bytes:
        """The file's bytes."""
        plain = self.to_dict()
        return msgspec.json.format(msgspec.json.encode(plain), indent=1) + b"\n"

    def save(self, path: str | Path) -> None:
        """Write the file."""
        with whole_file(str(path)) as pending:
            Path(pending).write_bytes(self.to_json())


def read_interpreter(path: str | Path) -> Interpreter:
    """The interpreter of a file."""
    try:
        return parse_interpreter(Path(path).read_bytes(), str(path))
    except OSError as error:
        raise InputError(f"{path}: cannot read the interpreter: {error.strerror}") from None


def parse_interpreter(data: bytes, place: str) -> Interpreter:
    """The interpreter of a file's bytes."""
    try:
        return convert_interpreter(msgspec.json.decode(data), place)
    except msgspec.MsgspecError as error:
        raise InputError(f"{place}: not an interpreter: {quote(str(error))}; make one with fader train") from None


def convert_interpreter(given: Any, place: str) -> Interpreter:
    """The interpreter of plain data."""
    try:
        plain = dict(given)
        kind, features, version = plain.pop("format"), plain.pop("features"), plain.pop("version")
        if kind != FORMAT or version != 1 or tuple(features) != FEATURES:
            raise InputError(f"{place}: is no {FORMAT} of version 1 with the features of this Fader; train it again")
        return msgspec.convert(plain, Interpreter)
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{place}: not an interpreter: {quote(str(error))}; make one with fader train") from None


@cache
def default_interpreter() -> Interpreter:
    """The interpreter that ships with Fader, trained on public testbeds: portable to any index."""
    data = resources.files("fader").joinpath("models/interpreter.json").read_bytes()
    return parse_interpreter(data, "default interpreter")

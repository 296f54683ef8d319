"""Measures that Fader does not define, by their names in the optional package ir_measures: P@10, Rprec, ERR@20.

The package gets ranks as scores, so that every tool behind it orders entities as Fader does, and numbers as query ids,
since some of its tools accept nothing else. Knows nothing of how these measures are defined.

MacAvaney, Macdonald and Ounis, Streamlining Evaluation with ir-measures, ECIR 2022.
"""

from __future__ import annotations

import importlib
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fader.errors import UsageError, did_you_mean, quote
from fader.measures import MEASURES

REMEDY = "pip install 'fader[measures]'"


@dataclass(frozen=True)
class Foreign:
    """A measure of ir_measures, by the name under which it parses back."""

    name: str
    larger: ClassVar[bool] = True

    def __str__(self) -> str:
        return self.name

    def per_query(
        self, run: Mapping[str, Mapping[str, float]], grades: Mapping[str, Mapping[str, int]], queries: Sequence[str]
    ) -> NDArray[np.float64]:
        """The measure for each query; a query without an answer gets the measure's own default."""
        package, measure = _import_package(self.name), _parse(self.name)
        number = {query: str(i) for i, query in enumerate(queries, 1)}
        ranked: dict[str, dict[str, float]] = {}
        for query in queries:
            if scores := run.get(query):  # whole numbers that no tool rounds, in our order: by score, then by id
                ascending = sorted((score, entity) for entity, score in scores.items())
                ranked[number[query]] = {entity: float(place) for place, (_, entity) in enumerate(ascending, 1)}
        judged = {number[q]: dict(grades.get(q, {})) for q in queries}
        found: dict[str, float] = {}
        if ranked:
            with _translate_errors(self.name):
                found = {m.query_id: float(m.value) for m in package.iter_calc([measure], judged, ranked)}
        values = [found.get(number[q], float(measure.DEFAULT)) for q in queries]
        if not all(map(math.isfinite, values)):
            raise UsageError(f"measure {quote(self.name)}: it has no value for some queries; choose another")
        return np.array(values, dtype=np.float64)


def parse_foreign_measure(name: str) -> Foreign:
    """The measure of this name, or a UsageError with a remedy."""
    return Foreign(str(_parse(name)))


def _parse(name: str) -> Any:
    package = _import_package(name)
    names = list(package.measures.registry)
    base = re.split(r"[@(]", name, maxsplit=1)[0]
    meant = base if base in names else {n.lower(): n for n in names}.get(base.lower())
    if meant is None:
        known = list(dict.fromkeys([*MEASURES, *names]))
        longer = [other for other in known if len(other) > 1]  # P and R are near to any name that has the letter
        hint = did_you_mean(name, longer) or f"; known: {', '.join(known)}"
        raise UsageError(f"unknown measure {quote(name)}{hint}")
    with _translate_errors(name):
        measure = package.parse_measure(meant + name[len(base) :])
        measure.validate_params()
        return measure


def _import_package(name: str) -> Any:
    try:
        return importlib.import_module("ir_measures")
    except ImportError:
        hint = did_you_mean(name, MEASURES)
        known = "" if hint else f"; known: {', '.join(MEASURES)}"
        message = f"unknown measure {quote(name)}{hint}{known}"
        raise UsageError(f"{message} (the measures of ir_measures need that package: {REMEDY})") from None


@contextmanager
def _translate_errors(name: str) -> Iterator[None]:
    """Raise a UsageError for any error of the package, and hide its deprecation warnings."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    except Exception as error:  # it raises whatever its providers do: AssertionError, KeyError, OSError
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UsageError(f"measure {quote(name)}: ir_measures says: {reason}") from error

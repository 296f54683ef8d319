"""A comparison of systems as plain data: per-query values, chosen hyperparameters, and what the figures show.

Cross-validation fills it; tables, figures and the report read it; `report.json` holds its fields. It knows numbers and
names, and nothing of indexes, models or statistics.

Values are per query and measure, as named by the measure ("AP"); tables show their mean under its usual title
("MAP"). None stands for a measure that is not defined for a query. A mean is over the queries for which every system
has a value, so that systems are always compared on the same queries.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from fader.errors import InputError, did_you_mean, quote
from fader.notebook import table, to_pandas, to_polars

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

F64 = NDArray[np.float64]
Kind = TypeVar("Kind")
FORMAT = "fader-comparison/1"
_TITLES = {"ap": "MAP", "rr": "MRR", "ndcg": "NDCG", "pairswap": "Pairswap"}
_NAME = re.compile(r"\w+")  # without what may follow it: @5, (judged-only)


@dataclass(frozen=True)
class SystemResult:
    """One system's per-query values, `values[measure]` aligned with the comparison's queries.

    `hyperparameters` are those chosen in each fold; `seconds` is the time for all folds.
    """

    name: str
    values: dict[str, list[float | None]]
    label: str = ""
    hyperparameters: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    folds: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """What to call it in tables and figures."""
        return self.label or self.name

    def to_dict(self) -> dict[str, Any]:
        """Its entry in the list of systems of `report.json`; numbers keep their last bit.

        JSON has no NaN and no infinities: they become "nan", "inf" and "-inf".
        """
        return to_plain(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The result that `to_dict` wrote; NaN and infinities come back in values and seconds.

        Hyperparameters come back as in a report that is read: lists for tuples, and such numbers as their names.
        """
        numbers = {key: _restore_numbers(data[key]) for key in ("values", "seconds") if key in data}
        return from_plain(cls, {**data, **numbers}, "system's result")


@dataclass(frozen=True)
class Supports:
    """|S_e| of good and of bad candidate entities, all or a sample."""

    good: list[int] = field(default_factory=list)
    bad: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class ContextScores:
    """The scores of the contexts in one S_e, largest first; `system` is the name or title of what gave them."""

    query: str
    entity: str
    good: bool
    scores: list[float]
    system: str = ""


@dataclass(frozen=True)
class SystemGrid:
    """Learned cell values, the mean over folds: `values[i][j]` for row i of IDF share and column j of distance.

    Rows go from low to high IDF, columns from far to near, as in the paper: row i+1 has more IDF than row i and
    column j+1 is nearer than column j.
    """

    system: str
    feature: str
    rows: list[str]
    columns: list[str]
    values: list[list[float]]


@dataclass(frozen=True)
class Comparison:
    """Systems measured on the same queries. `texts`, `types` and `candidates` are empty or aligned with `queries`.

    A query's text and the id of its answer type, None where it has none, are what it takes to ask it again.
    """

    title: str
    measures: list[str]
    queries: list[str]
    systems: list[SystemResult]
    smaller_is_better: list[str] = field(default_factory=lambda: ["pairswap", "pairswap(judged-only)"])
    texts: list[str] = field(default_factory=list)
    types: list[str | None] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)
    candidates: list[int] = field(default_factory=list)
    supports: Supports = field(default_factory=Supports)
    context_scores: list[ContextScores] = field(default_factory=list)
    grids: list[SystemGrid] = field(default_factory=list)

    def __post_init__(self) -> None:
        for what, names in (
            ("measures", self.measures),
            ("queries", self.queries),
            ("systems", [s.name for s in self.systems]),
        ):
            _check_names(what, names)
        for what, aligned in (("texts", self.texts), ("types", self.types), ("candidates", self.candidates)):
            if aligned and len(aligned) != len(self.queries):
                raise InputError(
                    f"{what} must be empty or one per query: {len(aligned)} for {len(self.queries)} queries"
                )
        for system in self.systems:
            _check_values(system, self.measures, len(self.queries))
        for counts in (self.candidates, self.supports.good, self.supports.bad):
            if any(n < 0 for n in counts):
                raise InputError(f"counts of candidates and contexts must not be negative: {min(counts)}")
        for each in self.context_scores:
            scores = np.array(each.scores, dtype=np.float64)
            if not np.isfinite(scores).all() or (np.diff(scores) > 0).any():
                raise InputError(f"context scores of entity {quote(each.entity)} must be finite, largest first")
        for grid in self.grids:
            rows, columns, where = len(grid.rows), len(grid.columns), f"grid of system {quote(grid.system)}"
            if not rows or not columns or [len(row) for row in grid.values] != [columns] * rows:
                raise InputError(f"{where}: values must be {rows} rows of {columns} numbers")
            if not np.isfinite(np.array(grid.values, dtype=np.float64)).all():
                raise InputError(f"{where}: values must be finite")

    def find_system(self, name: str) -> SystemResult:
        """The system of that name."""
        for system in self.systems:
            if system.name == name:
                return system
        names = [s.name for s in self.systems]
        hint = did_you_mean(name, names) or f"; compared are {', '.join(quote(n) for n in names)}"
        raise InputError(f"no system {quote(name)} in the comparison{hint}")

    def title_of(self, system: str) -> str:
        """The title of the system of that name; a name that is not compared is its own title."""
        return next((s.title for s in self.systems if s.name == system), system)

    def matrix(self, measure: str) -> F64:
        """Values of a measure, (systems, queries); nan where it is not defined."""
        return np.array([s.values[measure] for s in self.systems], dtype=np.float64)

    def matrix_of_shared_queries(self, measure: str) -> F64:
        """Values of a measure, (systems, queries), for the queries for which every system has one."""
        values = self.matrix(measure)
        return np.ascontiguousarray(values[:, ~np.isnan(values).any(axis=0)])

    def text_of(self, query: int) -> str:
        """A query's text, empty where texts are not known."""
        return self.texts[query] if self.texts else ""

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries, lists, strings and numbers that JSON can hold."""
        return {"format": FORMAT, **to_plain(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The comparison that `to_dict` wrote; unknown keys are ignored."""
        if data.get("format") != FORMAT:
            raise InputError(
                f"not a comparison that this release can read: format {data.get('format')!r}, not {FORMAT!r}"
            )
        return from_plain(cls, data, "comparison")

    def to_json(self) -> str:
        """The dictionary as JSON."""
        return json.dumps(self.to_dict(), allow_nan=False) + "\n"

    def __repr__(self) -> str:
        return f"Comparison({self.title!r}, systems={len(self.systems)}, queries={len(self.queries):,})"

    def __len__(self) -> int:
        return len(self.systems)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[SystemResult]:
        return iter(self.systems)

    def __getitem__(self, system: int | str) -> SystemResult:
        return self.find_system(system) if isinstance(system, str) else self.systems[system]

    def _means(self) -> list[list[float]]:
        """The mean of each measure, a list per system, over the queries for which every system has a value."""
        shared = [self.matrix_of_shared_queries(measure) for measure in self.measures]
        return [
            [float(values[i].mean()) if values.shape[1] else math.nan for values in shared]
            for i in range(len(self.systems))
        ]

    def _repr_html_(self) -> str:
        header = ["system", *map(measure_title, self.measures)]
        rows = [[s.title, *means] for s, means in zip(self.systems, self._means(), strict=True)]
        return str(table(header, rows, f"{self.title}: {len(self.queries):,} queries"))

    def to_arrow(self) -> Any:
        """A row per system and query with all measures, as an Arrow table."""
        import pyarrow as pa

        columns: dict[str, Any] = {
            "system": [s.title for s in self.systems for _query in self.queries],
            "query": [query for _system in self.systems for query in self.queries],
        }
        for measure in self.measures:
            values = self.matrix(measure).reshape(-1)
            columns[measure] = pa.array(values, pa.float64(), mask=np.isnan(values))
        return pa.table(columns)

    def to_pandas(self) -> Any:
        """A row per system and query, as a pandas frame."""
        return to_pandas(self.to_arrow())

    def to_polars(self) -> Any:
        """A row per system and query, as a Polars frame."""
        return to_polars(self.to_arrow())


def measure_title(measure: str) -> str:
    """The name of a measure's mean: MAP for AP, MRR for RR, NDCG@5 for nDCG@5; other measures keep their name."""
    return _NAME.sub(lambda name: _TITLES.get(name[0].lower(), name[0]), measure, count=1)


def from_plain(kind: type[Kind], data: Mapping[str, Any], what: str) -> Kind:
    """A dataclass from its dictionary; unknown keys are ignored. `what` names in an error what was expected."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise InputError(f"not a {what}: {error}") from None


def to_plain(record: DataclassInstance) -> dict[str, Any]:
    """The dictionary of a dataclass of this module, with values that JSON can hold."""
    return {f.name: _to_json_value(getattr(record, f.name)) for f in fields(record)}


def _restore_numbers(value: Any) -> Any:
    """Numbers for the names of those that JSON lacks."""
    if isinstance(value, Mapping):
        return {k: _restore_numbers(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_restore_numbers(v) for v in value]
    return float(value) if value in ("nan", "inf", "-inf") else value


def _to_json_value(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return to_plain(value)
    if isinstance(value, Mapping):
        return {str(k): _to_json_value(v) for k, v in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _to_json_value(value.tolist())
    if isinstance(value, list | tuple):
        return [_to_json_value(v) for v in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    return str(value)  # JSON has no infinity, and knows no paths or dates


def _check_names(what: str, names: Sequence[str]) -> None:
    if not names:
        raise InputError(f"a comparison needs {what}, and there are none")
    if len(set(names)) != len(names):
        twice = next(n for i, n in enumerate(names) if n in names[:i])
        raise InputError(f"{what} of a comparison must differ: {quote(twice)} occurs twice")


def _check_values(system: SystemResult, measures: Sequence[str], queries: int) -> None:
    for measure in measures:
        values = system.values.get(measure)
        where = f"system {quote(system.name)}, measure {quote(measure)}"
        if values is None or len(values) != queries:
            raise InputError(f"{where}: needs a value for each of {queries} queries, has {len(values or [])}")
        if any(v is not None and not math.isfinite(v) for v in values):
            raise InputError(f"{where}: values must be finite numbers, or None where the measure is not defined")

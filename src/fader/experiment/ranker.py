"""`Ranker`: training and ranking in scikit-learn's manners, usable as a PyTerrier transformer.

    model = fader.Ranker(features="noprox+rectangle", aggregator="sum").fit(index, queries, qrels)
    run = model.transform(queries)             columns qid, query, docno, score, rank

Knows nothing of files but model files.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any, Self

from fader.corpus.queries import FaultCollector
from fader.errors import UsageError
from fader.experiment.judged import JudgedQueries, judge_queries
from fader.experiment.tune import save_model, tune
from fader.learn.settings import TrainingOptions
from fader.progress import Progress, watch
from fader.search.batch import parse_all
from fader.search.index import Index
from fader.search.inputs import is_frame, load_qrels, load_queries
from fader.systems.fader import FeatureModel


def _parameters() -> dict[str, Any]:
    """Every parameter with its default. `window` and `top`, texts among the options, are numbers in Python."""
    return {f.name: f.default for f in fields(TrainingOptions)} | {"window": 0, "top": 0, "workers": 0}


class Ranker:
    """Features x aggregator to be trained; the parameters are those of `TrainingOptions`, and `workers`.

    Features and aggregator are given by name or as objects; several alternatives are written `sum|logsumexp`.

    After `fit`: `model_` (what ranks), `index_`, `choice_` (what validation found), `remarks_` (what was left out).
    """

    def __init__(
        self, features: Any = TrainingOptions.features, aggregator: Any = TrainingOptions.aggregator, **options: Any
    ) -> None:
        given = {"features": features, "aggregator": aggregator, **options}
        for name, default in _parameters().items():
            setattr(self, name, given.pop(name, default))
        if given:
            known = ", ".join(_parameters())
            raise TypeError(f"Ranker has no parameter {next(iter(given))!r}; it takes {known}")

    def __repr__(self) -> str:
        return f"Ranker({', '.join(f'{k}={v!r}' for k, v in self.get_params().items())})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, as scikit-learn asks for them."""
        return {name: getattr(self, name) for name in _parameters()}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters."""
        for name, value in parameters.items():
            if name not in self.get_params():
                raise UsageError(f"Ranker has no parameter {name!r}; it takes {', '.join(self.get_params())}")
            setattr(self, name, value)
        return self

    def spec(self) -> FeatureModel:
        """The parameters as a system."""
        given = self.get_params()
        del given["workers"]
        return FeatureModel(**given | {name: str(given[name]) for name in ("lam", "window", "top")})

    def fit(self, index: Index | str | Path, queries: Any, qrels: Any, *, progress: Progress | None = None) -> Self:
        """Train on the judged queries of an index, which may be given by its folder."""
        index = index if isinstance(index, Index) else Index.open(index)
        parsed = parse_all(index, load_queries(queries), FaultCollector())
        with watch("Training", progress) as reporter:
            return self.fit_judged(judge_queries(index, parsed, load_qrels(qrels), reporter), reporter)

    def fit_judged(self, judged: JudgedQueries, progress: Progress | None = None) -> Self:
        """Train on queries that are brought together with their judgments already."""
        tuned = tune(judged, self.spec(), self.get_params()["seed"], self.get_params()["workers"], progress)
        self.index_, self.choice_, self.remarks_ = judged.index, tuned.choice, judged.remarks
        self.model_ = tuned.model
        return self

    def transform(self, queries: Any, k: int = 1000) -> Any:
        """Rank queries: a frame where a frame is given, else an Arrow table; columns qid, docno, score, rank."""
        import pyarrow as pa  # `import fader` must be quick

        self._check_fitted()
        columns: dict[str, list[Any]] = {"qid": [], "query": [], "docno": [], "score": [], "rank": []}
        lines = load_queries(queries)
        for line, parsed in zip(lines, parse_all(self.index_, lines, FaultCollector()), strict=True):
            ranked = self.index_.rank(parsed.query, k=k, model=self.model_)
            columns["qid"] += [line.id] * len(ranked.entities)
            columns["query"] += [line.query] * len(ranked.entities)
            columns["docno"] += ranked.entities
            columns["score"] += ranked.scores
            columns["rank"] += range(len(ranked.entities))  # PyTerrier counts ranks from 0
        return type(queries)(columns) if is_frame(queries) else pa.table(columns)

    def to_pyterrier(self, k: int = 1000) -> Any:
        """A PyTerrier transformer; needs PyTerrier."""
        try:
            transformer: Any = importlib.import_module("pyterrier").Transformer
        except ImportError:
            raise UsageError("PyTerrier is not installed; pip install 'fader[pyterrier]'") from None
        self._check_fitted()
        ranker = self

        class FaderTransformer(transformer):  # type: ignore[misc]
            """Ranks entities by a fitted Ranker; `docno` is the id of an entity."""

            name = "fader"

            def __repr__(self) -> str:
                return f"Fader({ranker.model_})"

            def transform_inputs(self) -> list[list[str]]:
                """The columns that queries need; `type` may come beside them."""
                return [["qid", "query"]]

            def transform_outputs(self, input_columns: list[str]) -> list[str]:
                """The columns of what is returned."""
                return ["qid", "query", "docno", "score", "rank"]

            def transform(self, queries: Any) -> Any:
                return ranker.transform(queries, k)

        return FaderTransformer()

    def save(self, path: str | Path) -> None:
        """Write the model file, whole or not at all."""
        self._check_fitted()
        save_model(self.model_, path)

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise UsageError("this Ranker is not fitted yet; call fit(index, queries, qrels) first")


_BY_PLACE, _BY_NAME = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
Ranker.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.Parameter(name, _BY_PLACE if name in ("features", "aggregator") else _BY_NAME, default=default)
        for name, default in _parameters().items()
    ]
)  # for help(), and for scikit-learn

"""`Ranker`: training and ranking in scikit-learn's manners, usable as a PyTerrier transformer.

    model = fader.Ranker(features="noprox+rectangle", aggregator="sum").fit(index, queries, qrels)
    run = model.transform(queries)             columns qid, query, docno, score, rank

Knows nothing of files but model files.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any, Self

from fader.corpus.queries import FaultCollector
from fader.errors import UsageError
from fader.experiment.judged import JudgedQueries, judged_queries
from fader.jobs.files import whole_file
from fader.learn.crossvalidate import Choice, Trained, train
from fader.learn.model import Model
from fader.learn.modelfile import ModelScope
from fader.progress import Progress
from fader.search.batch import parse_all
from fader.search.index import Index
from fader.search.inputs import is_frame, load_qrels, load_queries
from fader.search.models import collection_of
from fader.systems.fader import FeatureModel


class Ranker:
    """Features x aggregator to be trained; several alternatives are written `sum|logsumexp`.

    After `fit`: `model_` (what ranks), `index_`, `choice_` (what validation found), `remarks_` (what was left out).
    """

    def __init__(
        self, features: str = "noprox+rectangle", aggregator: str = "sum", *, loss: str = "pairwise",
        lam: str | float = "auto", policy: str = "document", window: int | str = 0, top: int | str = 0,
        ignore_overlap: bool = False,
        judged_only: bool = False, starts: int = 2, rounds: int = 3, bad: int = 0, seed: int = 0, workers: int = 0,
    ) -> None:  # fmt: skip
        self.features, self.aggregator, self.loss, self.lam = features, aggregator, loss, lam
        self.top = top
        self.policy, self.window, self.ignore_overlap, self.judged_only = policy, window, ignore_overlap, judged_only
        self.starts, self.rounds, self.bad, self.seed, self.workers = starts, rounds, bad, seed, workers

    def __repr__(self) -> str:
        return f"Ranker({', '.join(f'{k}={v!r}' for k, v in self.get_params().items())})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, as scikit-learn asks for them."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters."""
        for name, value in parameters.items():
            if name not in self.get_params():
                raise UsageError(f"Ranker has no parameter {name!r}; it takes {', '.join(self.get_params())}")
            setattr(self, name, value)
        return self

    def spec(self) -> FeatureModel:
        """The parameters as a system."""
        given = {k: v for k, v in self.get_params().items() if k != "workers"}
        return FeatureModel(**{**given, "lam": str(self.lam), "window": str(self.window), "top": str(self.top)})

    def fit(self, index: Index | str | Path, queries: Any, qrels: Any, *, progress: Progress | None = None) -> Self:
        """Train on the judged queries of an index, which may be given by its folder."""
        index = index if isinstance(index, Index) else Index.open(index)
        parsed = parse_all(index, load_queries(queries), FaultCollector())
        return self.fit_judged(judged_queries(index, parsed, load_qrels(qrels), progress), progress)

    def fit_judged(self, judged: JudgedQueries, progress: Progress | None = None) -> Self:
        """Train on queries that are brought together with their judgments already."""
        spec = self.spec()
        trained, choice = train(judged, spec.candidates(), self.seed, self.workers, progress)
        self.index_, self.choice_, self.remarks_ = judged.index, choice, judged.remarks
        self.model_ = feature_model(spec, trained, choice, judged)
        return self

    def transform(self, queries: Any, k: int = 1000) -> Any:
        """Rank queries: a frame where a frame is given, else an Arrow table; columns qid, docno, score, rank."""
        import pyarrow as pa

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
            """Ranks entities by a fitted Ranker."""

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


def save_model(model: Model, path: str | Path) -> None:
    """Write a model file, whole or not at all."""
    with whole_file(path) as pending:
        pending.write_text(model.to_text(), encoding="utf-8")


def feature_model(spec: FeatureModel, trained: Trained, choice: Choice, judged: JudgedQueries) -> Model:
    """The model of what training found, with where it comes from."""
    collection, fit, settings = judged.index.collection, trained.fit, trained.settings
    provenance = {
        "queries": len(judged), "lambda": settings.lam, "loss": settings.loss, "judged_only": settings.judged_only,
        "seed": settings.seed, "objective": fit.objective, "starts": fit.starts, "rounds": fit.rounds,
        "stable": fit.stable, "iterations": fit.iterations, "converged": fit.converged, "validation": choice.tried,
    }  # fmt: skip
    scope = ModelScope(collection.analysis.to_dict(), collection_of(collection), False, provenance)
    return Model(spec.filled_in(trained), scope)

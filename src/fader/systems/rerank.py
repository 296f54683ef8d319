"""A cascade: a quick system finds the best candidates, features x aggregator value these anew by their best contexts.

    rerank(first=proximity,second=fader(features=noprox+coverage+windows,aggregator=logsumexp))

`first` is any system that is ready to rank, `second` features x aggregator; what it values anew, and how all others
stand behind, is in `fader.rank.rerank`. Features that are too dear for a hundred thousand contexts cost little for the
thousand that decide. `second` is learned; the first stays as it is given. Golden case: with one candidate and one
context, `second` being `constant` x `sum` of weight 7, the best candidate of the first has the value 7. Knows nothing
of how contexts are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from fader.allowance import claim
from fader.contexts.around import take_lists
from fader.contexts.policy import Evidence
from fader.contexts.table import Contexts
from fader.errors import InputError, UsageError, quote
from fader.features.base import Piece
from fader.lazy import cached_property
from fader.learn.crossvalidate import train
from fader.learn.dataset import QueryData, query_data
from fader.learn.feature_trainer import Trained
from fader.learn.learner import Example, JudgedSource, Learner, Trainer
from fader.learn.threads import Workers, in_parallel
from fader.measures import Judgments, judge
from fader.progress import Progress
from fader.rank.rerank import VALUED_AGAIN, FirstStage, Reranking, choose_candidates, join_values, keep_best
from fader.rank.system import F64, I32, I64, FeatureScoring, FusedMaker, Ranking, System, View
from fader.registry import parse
from fader.systems.fader import FeatureModel
from fader.systems.shared.warmstart import TakeFrom, Taught, WarmTrainer, alternative, is_telling

JOINED_BYTES = 40  # of a context, while the evidence of both stages is joined
NEAR = "0.1/0.3/1"  # lambdas to choose among when training begins with given weights
SECOND = "fader(features=noprox+coverage+windows+positional,aggregator=logsumexp,loss=listwise,lam=1)"


@dataclass(frozen=True)
class Found:
    """One table ranked: first and joined evidence, values, the rows that were chosen, and the places of candidates."""

    first: Evidence
    first_values: F64
    chosen: I64
    rows: I32
    table: Contexts
    evidence: Evidence
    values: F64


@dataclass(frozen=True)
class Encoded:
    """What training keeps of a query: all candidates with their first values, and contexts of the chosen ones.

    `places` are those of the candidates that are looked at; the values of these depend on all.
    """

    every: I32
    values: F64
    chosen: I64
    data: QueryData
    places: I64

    @property
    def entity(self) -> I32:
        return self.every[self.places]

    def choose(self, judgments: Judgments) -> Example:
        """The chosen candidates among those that are looked at, with their judgments."""
        _both, own, among = np.intersect1d(self.chosen, self.places, assume_unique=True, return_indices=True)
        return Example(self.data.of(own), judgments.of(among))


@dataclass(frozen=True)
class Rerank(Learner):
    """A cascade: a second system values the best candidates of a first anew, by their best contexts.

    At most `candidates` candidates and `contexts` contexts of each; `label` is what reports and answers call it. With
    a `prior`, weights of `second`, training begins there and stays near (`fader.learn.nearby`).
    """

    name: ClassVar[str] = "rerank"
    learned: ClassVar[tuple[str, ...]] = ("second", "prior")
    first: str = "proximity"
    second: str = SECOND
    candidates: int = 100
    contexts: int = 10
    label: str = ""
    prior: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("candidates", "contexts"):
            if getattr(self, name) < 1:
                raise UsageError(f"rerank: {name} must be at least 1, not {getattr(self, name)}")
        first, second = self.first_system, self.second_system
        if not first.is_fitted:
            raise UsageError(f"rerank: the first system must be ready to rank; train {quote(first.name)} by itself")
        if replace(second.view, policy=first.view.policy) != first.view:
            raise UsageError(f"rerank: both systems must see the same contexts, not {first.view} and {second.view}")
        if self.prior and (len(self.prior) != second.feature_map.size or not np.isfinite(self.prior).all()):
            raise UsageError(
                f"rerank: prior must be {second.feature_map.size} numbers, the weights of {second.features}"
            )

    @cached_property
    def first_system(self) -> System:
        """The system that finds candidates."""
        found: System = parse("fader.systems", self.first)
        return found

    @cached_property
    def second_system(self) -> FeatureModel:
        """The system that values them anew."""
        found = parse("fader.systems", self.second)
        if not isinstance(found, FeatureModel):
            raise UsageError(f"rerank: second must be features x aggregator, fader(...), not {quote(self.second)}")
        return found

    @property
    def is_fitted(self) -> bool:
        return self.second_system.is_fitted

    @property
    def short_name(self) -> str:
        return self.label or f"{self.second_system.short_name} after {self.first_system.short_name}"

    @property
    def title(self) -> str:
        return self.label

    @property
    def view(self) -> View:
        return self.first_system.view

    @property
    def policy(self) -> str:
        return self.view.policy

    @cached_property
    def reranking(self) -> Reranking:
        self.check_fitted()
        return Reranking(self.candidates, self.contexts, self.second_system.feature_scoring)

    def prepare_fused(self) -> FusedMaker | None:
        """That of the first system; the ranker asks for `reranking` after it."""
        self.check_fitted()
        return self.first_system.prepare_fused()

    def _focus(self, contexts: Contexts) -> tuple[Evidence, F64, I64, I32, Contexts]:
        """The first evidence and values, the chosen candidates, and their best contexts: rows and table."""
        evidence, values = self.first_system.value_entities(contexts)
        chosen = choose_candidates(evidence.entity, values, self.candidates)
        at, items = take_lists(evidence.at, chosen)
        kept = keep_best(evidence.scores[items], at, self.contexts)[0]
        rows = np.sort(evidence.row[items[kept]])
        return evidence, values, chosen, rows, contexts.focus(rows)

    def _find(self, contexts: Contexts) -> Found:
        found: Found = contexts.compute_once(("rerank", self), lambda: self._rank(contexts))
        return found

    def _rank(self, contexts: Contexts) -> Found:
        claim(JOINED_BYTES * len(contexts))
        first, values, chosen, rows, table = self._focus(contexts)
        own, again = self.reranking.value(table)
        size = np.diff(first.at)
        size[chosen] = np.diff(own.at)
        at = np.append(0, np.cumsum(size))
        row, scores = np.empty(int(at[-1]), dtype=np.int32), np.empty(int(at[-1]))
        rest = np.delete(np.arange(size.size), chosen)
        for places, evidence, items in (
            (chosen, own, np.arange(own.row.size)),
            (rest, first, take_lists(first.at, rest)[1]),
        ):
            put = take_lists(at, places)[1]
            row[put] = rows[own.row] if evidence is own else first.row[items]
            scores[put] = evidence.scores[items]
        joined = join_values(values, chosen, again)
        evidence = Evidence(first.entity, row, at, scores, np.diff(first.at))
        return Found(first, values, chosen, rows, table, evidence, joined)

    def value_entities(self, contexts: Contexts) -> tuple[Evidence, F64]:
        self.check_fitted()
        found = self._find(contexts)
        return found.evidence, found.values

    def scores(self, contexts: Contexts) -> F64:
        """Second scores of the contexts that were chosen, first scores of all others."""
        found, scores = self._find(contexts), self.first_system.scores(contexts).copy()
        scores[found.rows] = self.reranking.scoring.score(found.table)
        return scores

    def _is_chosen(self, found: Found, entity: int) -> bool:
        place = int(np.searchsorted(found.first.entity, entity))
        return bool((found.chosen == place).any())

    def shares(self, contexts: Contexts, ranking: Ranking, i: int) -> F64:
        """Those of the stage that valued the entity; what sets it behind the chosen ones is shared evenly."""
        scores = ranking.scores_of(i)
        at = np.array([0, scores.size], dtype=np.int64)
        if VALUED_AGAIN in contexts.memo:
            return self.reranking.scoring.aggregator.shares(scores, at)
        found, entity = self._find(contexts), int(ranking.entity[i])
        if self._is_chosen(found, entity):
            return self.reranking.scoring.aggregator.shares(scores, at)
        place = int(np.searchsorted(found.first.entity, entity))
        first = replace(ranking, evidence=found.first, place=np.array([place]), values=found.first_values)
        own = self.first_system.shares(contexts, replace(first, entity=ranking.entity[i : i + 1]), 0)
        shift = float(found.values[place] - found.first_values[place])
        return own + shift / own.size

    def scoring_of(self, contexts: Contexts, rows: I32) -> tuple[FeatureScoring, Contexts, I32] | None:
        found = self._find(contexts)
        if not rows.size or not self._is_chosen(found, int(contexts.entity[rows[0]])):
            return self.first_system.scoring_of(contexts, rows)
        return self.reranking.scoring, found.table, np.searchsorted(found.rows, rows).astype(np.int32)

    def literal_weights(self, contexts: Contexts, rows: I32) -> F64:
        found = self.scoring_of(contexts, rows)
        if found is None:
            return self.first_system.literal_weights(contexts, rows)
        scoring, table, own = found
        return scoring.features.by_literal(table, own, scoring.weights)

    def pieces(self, contexts: Contexts, row: int) -> list[Piece]:
        found = self._find(contexts)
        place = int(np.searchsorted(found.rows, row))
        if place == found.rows.size or found.rows[place] != row:
            return self.first_system.pieces(contexts, row)
        scoring = self.reranking.scoring
        return scoring.features.pieces(found.table, place, scoring.weights)

    @property
    def encoding(self) -> Hashable:
        return self.name, self.first, self.candidates, self.contexts, self.second_system.encoding

    def encode(self, contexts: Contexts) -> Encoded:
        evidence, values, chosen, _rows, table = self._focus(contexts)
        return self._encode_table(evidence.entity, values, chosen, table)

    def encode_stage(self, stage: FirstStage) -> Encoded:
        """The same from what another way of ranking has left of a query."""
        chosen = np.searchsorted(stage.entity, stage.table.groups.entity)
        return self._encode_table(stage.entity, stage.values, chosen, stage.table)

    def _encode_table(self, every: I32, values: F64, chosen: I64, table: Contexts) -> Encoded:
        data = query_data("", table, self.second_system.feature_map, "mention", {})
        return Encoded(every, values, chosen, data, np.arange(values.size))

    def take_candidates(self, query: Encoded, places: I64) -> Encoded:
        return replace(query, places=query.places[places])

    def values_of(self, query: Encoded) -> F64:
        return join_values(query.values, query.chosen, self.second_system.values_of(query.data))[query.places]

    def start_near(self) -> Rerank:
        """The same cascade to be trained anew, beginning with its own weights, or with those that it began with."""
        prior = self.prior or self.second_system.weights
        second = replace(self.second_system, weights=(), lam=NEAR)
        return replace(self, second=str(second), label="trained", prior=prior)

    def alternatives_near(self) -> tuple[Rerank, ...]:
        """`start_near`, and the same where required literals are preferred, and where words match by their stems too.

        They are there where the first stage is features x aggregator, too.
        """
        near, first = self.start_near(), self.first_system
        if not isinstance(first, FeatureModel):
            return (near,)
        both = []
        for relax, stem in ((False, False), (True, False), (True, True)):
            own = [replace(one, relax=one.relax or relax, stem=one.stem or stem) for one in (first, near.second_system)]
            both.append((str(own[0]), str(own[1])))
        return tuple(dict.fromkeys(replace(near, first=own, second=second) for own, second in both))

    def prepare(
        self, source: JudgedSource, learners: Sequence[Any], seed: int, workers: Workers, progress: Progress
    ) -> Callable[[Sequence[I64]], Trainer]:
        """With priors a trainer that stays near them; queries are encoded by the quick way if they can be.

        Few queries choose nothing, so that they are encoded for the first alternative alone.
        """
        if not all(learner.prior for learner in learners):
            return super().prepare(source, learners, seed, workers, progress)
        count, alternatives = len(source.ids), []
        for learner in learners:
            encode = partial(encode_some, learner, source, workers, progress)
            alternatives.append(alternative(learner, encode, count))
            if not alternatives[0].few.can_choose:
                break
        if not alternatives[0].few.telling:
            raise InputError("no query to train on has both a good and a bad candidate; check the judgments")
        return partial(WarmTrainer, alternatives)

    def finish(self, found: Any) -> tuple[Self, dict[str, Any]]:
        if not isinstance(found, Taught):
            return super().finish(found)
        trained = found.trained
        lam = trained.settings.lam if trained.fit.iterations else 0.0
        report: dict[str, Any] = {"lambda": lam, "objective": trained.fit.objective}
        report |= {"loss": trained.settings.loss, "iterations": trained.fit.iterations}
        return found.cascade.fill_in(trained), report

    def fill_in(self, found: Trained) -> Self:
        """The same cascade with what its second stage learned."""
        return replace(self, second=str(self.second_system.fill_in(found)))

    def fit(self, examples: Sequence[Example], seed: int) -> Self:
        """The second system trained on the chosen candidates: those that the first ranks highest."""
        if self.prior:
            make = partial(WarmTrainer, [alternative(self, TakeFrom(examples), len(examples))])
            return self.fill_in(train(make, len(examples), seed, workers=1)[0].trained)
        own = [e.query.choose(e.judgments) for e in examples]
        usable = [e for e in own if is_telling(e.judgments)]
        if not usable:
            raise UsageError("rerank: no query has both a good and a bad candidate among those that are ranked again")
        return replace(self, second=str(self.second_system.fit(usable, seed)))


def encode_some(
    cascade: Rerank, source: JudgedSource, workers: Workers, progress: Progress, queries: Sequence[int]
) -> list[Example]:
    """Some judged queries of a source, as training needs them."""

    def encode(i: int) -> Example:
        stage = source.first_stage(i, cascade)
        query = cascade.encode(source.contexts(i, cascade.view)) if stage is None else cascade.encode_stage(stage)
        return Example(query, judge(query.entity, query.entity.tolist(), source.grades[i]))

    found: list[Example] = in_parallel(encode, queries, workers, progress, "encoding contexts")
    return found


def encode_all(cascade: Rerank, source: JudgedSource, workers: Workers, progress: Progress) -> list[Example]:
    """All judged queries of a source."""
    return encode_some(cascade, source, workers, progress, range(len(source.ids)))

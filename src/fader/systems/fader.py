"""Our own family: any features x any aggregator, trained; alternatives are chosen among by inner validation.

    fader(features=noprox+rectangle,aggregator=sum)
    fader(features=noprox+rectangle|noprox+coverage,aggregator=sum|logsumexp)       the better by validation

A description of what to train, not a ranker: training makes a `Model` of it. Knows nothing of queries or judgments.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import ClassVar, NoReturn

from fader.contexts.table import Contexts
from fader.errors import UsageError, quoted
from fader.features.base import FeatureMap, Piece
from fader.features.bias import Bias
from fader.features.combined import Combined, feature_map
from fader.learn.crossvalidate import LAMBDAS, Candidate, parse_cv
from fader.learn.dataset import View
from fader.learn.train import Settings, check_lambda
from fader.rank.base import Contributions, Ranking, WhatIf
from fader.registry import parse, split_top, written


@dataclass(frozen=True)
class Fader:
    """Our own family: features x aggregator, trained through the aggregation.

    `lam` is lambda: auto, or a number, or several as in 0.1/1/10; a window of 0 is none; at most `bad` bad candidates
    of a query train, 0 for all; `top` keeps the contexts in so many documents that BM25 ranks highest, 0 in all.
    Features, aggregator, policy, window and top may be alternatives, written with |.

    `cv` is the cross-validation of this system alone, where it is to differ from that of a comparison; `label` is what
    reports call it.
    """

    name: ClassVar[str] = "fader"
    features: str = "noprox+rectangle"
    aggregator: str = "sum"
    loss: str = "pairwise"
    lam: str = "auto"
    policy: str = "document"
    window: str = "0"
    top: str = "0"
    ignore_overlap: bool = False
    judged_only: bool = False
    starts: int = 2
    rounds: int = 3
    bad: int = 0
    seed: int = 0
    cv: str = ""
    label: str = ""

    def __post_init__(self) -> None:
        self.candidates()
        if self.cv:
            parse_cv(self.cv)

    def __str__(self) -> str:
        return written(self)

    @property
    def title(self) -> str:
        """`noprox+rectangle x sum`, with whatever else is not the default; or the label."""
        if self.label:
            return self.label
        rest = written(Fader(**{**vars(self), "features": Fader.features, "aggregator": Fader.aggregator}))
        return f"{self.features} x {self.aggregator}" + rest.removeprefix(self.name)

    def candidates(self) -> list[Candidate]:
        """Every combination of the alternatives."""
        choices = [_alternatives(text) for text in (self.features, self.aggregator, self.policy, self.window, self.top)]
        return [self._candidate(*choice) for choice in product(*choices)]

    def _candidate(self, features: str, aggregator: str, policy: str, window: str, top: str) -> Candidate:
        combined = parse("fader.aggregate", aggregator)
        maps: FeatureMap = feature_map(features)
        if combined.wants_bias:
            maps = with_bias(maps)
        settings = Settings(
            loss=self.loss,
            judged_only=self.judged_only,
            rounds=self.rounds,
            starts=self.starts,
            seed=self.seed,
            bad=self.bad,
        )
        lambdas = (1.0,) if combined.constant else parse_lambda(self.lam)
        view = View(policy, _number("window", window) or None, not self.ignore_overlap, _number("top", top))
        return Candidate(maps, combined, settings, lambdas, view)

    def rank(self, contexts: Contexts, k: int) -> Ranking:
        self._untrained()

    def explain(self, contexts: Contexts, ranking: Ranking, i: int) -> Contributions:
        self._untrained()

    def pieces(self, contexts: Contexts, row: int) -> list[Piece]:
        self._untrained()

    def without(self, contexts: Contexts, ranking: Ranking, i: int, row: int) -> WhatIf:
        self._untrained()

    def _untrained(self) -> NoReturn:
        raise UsageError(
            f"{self}: must be trained before it can rank; make a model with `fader train` and give its file"
        )


def with_bias(maps: FeatureMap) -> FeatureMap:
    """The maps and a learned bias, once."""
    parts = maps.maps if isinstance(maps, Combined) else (maps,)
    return Combined(parts if any(isinstance(m, Bias) for m in parts) else (*parts, Bias()))


def parse_lambda(text: str) -> tuple[float, ...]:
    """`auto`, a number, or several numbers to choose among."""
    if text == "auto":
        return LAMBDAS
    try:
        found = tuple(float(piece) for piece in text.split("/"))
    except ValueError:
        found = ()
    if not found:
        raise UsageError(f"lambda must be auto or numbers above 0 such as 1 or 0.1/1/10, not {quoted(text)}")
    for value in found:
        check_lambda(value)
    return found


def _number(name: str, text: str) -> int:
    if not text.isdecimal():
        what = {"window": "tokens", "top": "documents"}[name]
        raise UsageError(f"fader: {name} must be 0 (none) or a number of {what}, not {quoted(text)}")
    return int(text)


def _alternatives(text: str) -> list[str]:
    pieces = [piece.strip() for piece in split_top(text, "|")]
    if not pieces:
        raise UsageError("fader: features, aggregator, policy, window and top must name one thing at least")
    return pieces

"""Systems to train or compare, by text: `voting(technique=combmnz,cutoff=10|100)` names systems to choose among.

    balog2                          free parameters take the values that the system says are worth trying
    balog2(beta=100)                this one is set
    voting(cutoff=10|100)           these are tried
    fang(cv=5,label=Fang)           a cross-validation of its own, and a name for tables
    trained                         the default model, trained further

The choice is made on training queries, by whoever compares or trains. Knows nothing of queries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from fader.errors import UsageError, quote
from fader.learn.crossvalidate import parse_cv
from fader.learn.learner import Learner
from fader.learn.model import Model
from fader.rank.system import System
from fader.registry import build, discover, name_and_arguments, split_top
from fader.search.collection import Collection
from fader.search.models import default_model, resolve_model
from fader.systems.rerank import Rerank

MOST_ALTERNATIVES = 200
GIVEN = ""  # the type and the query of a line
ASKED = "asked"  # its question alone, read as it comes
TRAINED = "asked, trained"  # its question alone, read by what other questions taught
TRAINED_DEFAULT = "trained"


@dataclass(frozen=True)
class SystemSpec:
    """A system under a name; of several alternatives one is chosen on training queries."""

    name: str
    alternatives: tuple[System, ...]
    label: str = ""
    cv: str = ""
    model: Model | None = None  # where it was trained before
    reads: str = ""  # how it gets its queries: GIVEN, or from the text of questions, ASKED or TRAINED

    @property
    def key(self) -> str:
        """What distinguishes it from all others: models by their whole texts, as two may have one name."""
        text = "|".join(map(str, self.alternatives)) if self.model is None else self.model.to_text()
        return f"{self.reads} {text}" if self.reads else text

    @property
    def learners(self) -> list[Learner]:
        """The alternatives that must be fitted to each fold: all of them or none."""
        return [a for a in self.alternatives if isinstance(a, Learner) and not a.is_fitted]


def parse_spec(given: Any, collection: Collection) -> SystemSpec:
    """What a text, a model file or a value stands for; a `SystemSpec` is taken as it is."""
    if isinstance(given, SystemSpec):
        return given
    if given == TRAINED_DEFAULT:
        shipped = default_model().system
        assert isinstance(shipped, Rerank)
        return SystemSpec(TRAINED_DEFAULT, shipped.alternatives_near(), TRAINED_DEFAULT)
    if isinstance(given, str):
        name = given.split("(")[0].strip()
        part = discover("fader.systems").get(name)
        if part is not None and not part.reads_alternatives:
            return _parse_text(given.strip())
    model = resolve_model(given, collection)
    system, trained = model.system, None if model.scope is None else model
    if not system.is_fitted:
        return SystemSpec(str(system), (system,), system.title, system.cv)
    if trained is not None and isinstance(given, str | Path):
        return SystemSpec(str(given), (system,), f"{model} ({Path(given).stem})", model=trained)
    return SystemSpec(str(model), (system,), model=trained)


def _parse_text(text: str) -> SystemSpec:
    part, arguments = name_and_arguments("fader.systems", text)
    cv, label = arguments.pop("cv", ""), arguments.pop("label", "")
    if cv:
        parse_cv(cv)
    written = ",".join(f"{key}={value}" for key, value in arguments.items())
    name = f"{part.name}({written})" if written else str(part.name)
    choices = {key: _values(part.name, key, value) for key, value in arguments.items()}
    for key, worth_trying in part.tries.items():
        choices.setdefault(key, list(worth_trying))
    count = math.prod(len(values) for values in choices.values())
    if count > MOST_ALTERNATIVES:
        raise UsageError(f"{part.name}: {count:,} combinations to try, {MOST_ALTERNATIVES} at most; set a parameter")
    made = [build(part, dict(zip(choices, values, strict=True))) for values in product(*choices.values())]
    return SystemSpec(name + (f"[cv={cv}]" if cv else ""), tuple(dict.fromkeys(made)), label or name, cv)


def _values(system: str, key: str, text: str) -> list[str]:
    """The values of a parameter, between bars."""
    values = [value.strip() for value in text.split("|")] if "(" not in text else split_top(text, "|")
    if not values or not all(values):
        raise UsageError(f"{system}: a value of {key} is missing in {quote(text)}; write them as in 10|100")
    return values


def parse_specs(given: Any, collection: Collection) -> list[SystemSpec]:
    """Several, as a sequence or in one text with commas between them, or one; each once."""
    several = [text.strip() for text in split_top(given, ",")] if isinstance(given, str) else given
    found = [parse_spec(g, collection) for g in (several if isinstance(several, Sequence) else [several])]
    if not found:
        raise UsageError("nothing to compare; name one system at least")
    for i, e in enumerate(found):
        if any((f.alternatives, f.cv) == (e.alternatives, e.cv) for f in found[:i]):
            twice = e.alternatives[0] if len(e.alternatives) == 1 else e.name
            raise UsageError(f"{twice} is named twice; name it once")
        alike = sum(f.name.split(" #")[0] == e.name for f in found[:i])
        if alike:  # models of one shape, with other weights
            found[i] = replace(e, name=f"{e.name} #{alike + 1}", label=f"{e.label or e.name} #{alike + 1}")
    return found


def add_asked(given: Sequence[SystemSpec]) -> list[SystemSpec]:
    """Every system, and after it the same system over questions.

    The reading is trained, too, for systems that rank as they are: one that learns would have seen test questions.
    """
    found = []
    for e in given:
        title = e.label or e.name
        ways = (ASKED,) if e.learners or len(e.alternatives) > 1 else (ASKED, TRAINED)
        found.append(replace(e, label=f"{title}, given"))
        found += [replace(e, name=f"{e.name}, {way}", label=f"{title}, {way}", reads=way) for way in ways]
    return found


def find_baseline(given: Any, named: Sequence[SystemSpec], collection: Collection) -> str:
    """The name of the one that the others are to be compared with."""
    names = [e.name for e in named]
    name = given if given in names else parse_spec(given, collection).name
    if name not in names:
        raise UsageError(f"the baseline {quote(name)} is not among the systems: {', '.join(names)}")
    return name

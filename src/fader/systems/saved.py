"""A system that was trained or tuned, as a value that ranks and as a model file.

    file := {"system", "parameters": {name: number, text or list}, and what every model file has}

What a system learned is among its parameters. Knows no particular system.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from typing import Any

from fader.contexts.table import Contexts
from fader.errors import FaderError, InputError, quoted
from fader.features.base import Piece
from fader.learn.modelfile import Collection, ModelScope, file_text, sealed
from fader.rank.base import Contributions, Ranking, System, WhatIf
from fader.registry import discover


@dataclass(frozen=True)
class Saved:
    """A system with where it comes from."""

    system: System
    made_for: ModelScope

    def __str__(self) -> str:
        return str(getattr(self.system, "name", self.system))

    @property
    def provenance(self) -> dict[str, Any]:
        return self.made_for.provenance

    def rank(self, contexts: Contexts, k: int) -> Ranking:
        return self.system.rank(contexts, k)

    def explain(self, contexts: Contexts, ranking: Ranking, i: int) -> Contributions:
        return self.system.explain(contexts, ranking, i)

    def pieces(self, contexts: Contexts, row: int) -> list[Piece]:
        return self.system.pieces(contexts, row)

    def without(self, contexts: Contexts, ranking: Ranking, i: int, row: int) -> WhatIf:
        return self.system.without(contexts, ranking, i, row)

    def check(self, analysis: dict[str, Any], collection: Collection) -> None:
        """Refuse an index that it was not made for."""
        self.made_for.check(analysis, collection)

    def as_portable(self) -> Saved:
        """The same, for any collection."""
        return replace(self, made_for=replace(self.made_for, portable=True))

    def to_text(self) -> str:
        """The text of the model file."""
        fields = dataclasses.fields(self.system)  # type: ignore[arg-type]
        parameters = {f.name: getattr(self.system, f.name) for f in fields}
        plain = {"system": self.system.name, "parameters": parameters}  # type: ignore[attr-defined]
        return file_text(sealed(plain | self.made_for.to_dict()))


def built(plain: dict[str, Any], name: str) -> Saved:
    """The system of a model file's contents."""
    known = discover("fader.systems")
    if not isinstance(plain.get("system"), str) or plain["system"] not in known:
        raise InputError(f"{name}: a model of the system {quoted(plain.get('system'))}, which this release has not")
    part = known[plain["system"]]
    try:
        given = {key: tuple(v) if isinstance(v, list) else v for key, v in plain["parameters"].items()}
        for field in dataclasses.fields(part):
            kind = float if isinstance(field.default, float) else type(field.default)
            if field.name in given and not isinstance(given[field.name], (kind, int) if kind is float else kind):
                raise InputError(f"{name}: {field.name} of {part.name} must be like {field.default!r}")
        return Saved(part(**given), ModelScope.from_dict(plain))
    except FaderError as error:
        raise InputError(f"{name}: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{name}: not a whole model ({type(error).__name__}: {error})") from None

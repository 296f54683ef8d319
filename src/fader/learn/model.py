"""A model: a system that is ready to rank, with where it comes from and where it may be used; and its file.

    file := {"format": "fader-model", "version": 2, "system": name, "parameters": {field: number, text or list},
             "plugins": [{"kind", "name", "class", and "file", "package" or "module"}] where it needs some,
             "interpreter": as `interpreter` has it, where questions were trained,
             "analysis", "portable", "provenance", "collection", "checksum": "xxh3:" of all the rest}

What a system learned is among its parameters. Files of version 1, which 0.1 wrote, are read: those with "system" have
the same keys, all others are features x aggregator (`_VERSION_1`). Knows no particular system and no index.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fader.errors import FaderError, InputError, quote
from fader.learn.interpreter import Interpreter, convert_interpreter
from fader.learn.modelfile import ModelScope, check_numbers, parse_file, read_text, seal_file, write_text
from fader.rank.system import System
from fader.registry import find_part, list_plugins, require_plugins


@dataclass(frozen=True)
class Model:
    """A system that can rank; `scope` is None where it was not trained for any index."""

    system: System
    scope: ModelScope | None = None
    interpreter: Interpreter | None = None  # how questions are read, where that was trained with it

    def __str__(self) -> str:
        """A trained one by its short name: its whole text has everything that was learned."""
        return str(self.system) if self.scope is None else self.system.short_name

    @property
    def provenance(self) -> dict[str, Any]:
        """How it was trained."""
        return {} if self.scope is None else self.scope.provenance

    @property
    def key(self) -> str:
        """What distinguishes it from all others: a trained model by its whole file, as two may have one name."""
        return str(self.system) if self.scope is None else self.to_text()

    def as_portable(self) -> Model:
        """The same model, for any collection."""
        return self if self.scope is None else replace(self, scope=replace(self.scope, portable=True))

    def to_dict(self) -> dict[str, Any]:
        """The contents of the model file, checksum included."""
        fields = dataclasses.fields(self.system)  # type: ignore[arg-type]
        parameters: dict[str, Any] = {f.name: getattr(self.system, f.name) for f in fields}
        for name, value in parameters.items():  # as JSON has them: feature maps and aggregators by their texts
            if not isinstance(value, str | bool | int | float):
                parameters[name] = list(value) if isinstance(value, tuple) else str(value)
        scope, plugins = self.scope or ModelScope(), list_plugins(self.system)
        needed: dict[str, Any] = {"plugins": plugins} if plugins else {}
        if self.interpreter is not None:
            needed["interpreter"] = self.interpreter.to_dict()
        return seal_file({"system": self.system.name, "parameters": parameters, **needed, **scope.to_dict()})

    def to_text(self) -> str:
        """The text of the model file."""
        return write_text(self.to_dict())


def read_model(path: str | Path) -> Model:
    """The model in a file."""
    return parse_model(read_text(path), str(path))


def parse_model(text: str, name: str) -> Model:
    """The model of a file's text; `name` is what errors call the file."""
    plain = parse_file(text, name)
    try:
        require_plugins(plain.get("plugins"), name)
        if plain["version"] == 1 and "system" not in plain:
            plain = plain | {"system": "fader", "parameters": _read_version_1(plain)}
        read = convert_interpreter(plain["interpreter"], name) if "interpreter" in plain else None
        made = Model(_build_system(plain, name), ModelScope.from_dict(plain), read)
        check_numbers(plain["parameters"])
        return made
    except FaderError as error:
        raise InputError(str(error) if str(error).startswith(f"{name}: ") else f"{name}: {error}") from None
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{name}: not a whole model ({type(error).__name__}: {error})") from None


def _build_system(plain: dict[str, Any], name: str) -> System:
    part = find_part("fader.systems", plain["system"]) if isinstance(plain.get("system"), str) else None
    if part is None:
        raise InputError(
            f"{name}: a model of the system {quote(plain.get('system'))}, which this release lacks; update Fader"
        )
    given = {key: tuple(v) if isinstance(v, list) else v for key, v in plain["parameters"].items()}
    for field in dataclasses.fields(part):
        kind = float if isinstance(field.default, float) else type(field.default)
        if field.name in given and not isinstance(given[field.name], (kind, int) if kind is float else kind):
            raise InputError(f"{name}: {field.name} of {part.name} must be like {field.default!r}")
    system: System = part(**given)
    return system


def _read_version_1(plain: dict[str, Any]) -> dict[str, Any]:
    """The parameters of features x aggregator in a file of version 1, which may have no `top`."""
    window, top = plain["window"], plain.get("top", 0)
    if window is not None and (type(window) is not int or window < 1):
        raise InputError(f"model: window must be a number of tokens from 1 on or none, not {quote(window)}")
    if type(top) is not int or top < 0:
        raise InputError(f"model: top must be a number of documents, 0 for all, not {quote(top)}")
    kept = {key: plain[key] for key in ("features", "aggregator", "policy", "weights")}
    return {**kept, "window": str(window or 0), "top": str(top), "ignore_overlap": not plain["overlap"]}

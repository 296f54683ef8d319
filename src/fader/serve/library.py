"""What is served: indexes by name, each at its newest commit, and the models that rank them.

An index that gets a new commit is opened beside the old one, made ready, and then takes its name; requests that hold
the old one keep it until they are done, and with the last of them it goes. Knows nothing of HTTP.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from fader.errors import FaderError, InputError, UsageError, did_you_mean, quote
from fader.learn.model import Model, read_model
from fader.limits import Limits
from fader.search.index import Index
from fader.search.models import DEFAULT, default_model, resolve_model
from fader.serve.errors import NotFound
from fader.serve.open_index import Served
from fader.serve.settings import Settings
from fader.serve.training import read_learned


class Library:
    """The indexes of a service, opened. Safe to share among threads: what is served is replaced, never changed."""

    def __init__(self, settings: Settings) -> None:
        if not settings.indexes:
            raise UsageError("there is no index to serve; give the folder of one")
        self._settings = settings
        self._limits = Limits.from_environment(k=settings.k, snippets=settings.snippets)
        self._models = self._read_models()
        self._backing = settings.backing
        opened = {name: self._backing.open(folder, self._limits) for name, folder in settings.indexes.items()}
        self._served = {name: self._serve_as(name, index) for name, index in opened.items()}
        for key, (file, wanted) in settings.models.items():
            if wanted is not None and wanted not in opened:
                raise UsageError(f"model {quote(key)} is for the index {quote(wanted)}, which is not served")
            if not any(key in served.models for served in self):
                raise InputError(f"{file}: fits none of the indexes {', '.join(opened)}; train a model for one")

    def __iter__(self) -> Iterator[Served]:
        return iter(list(self._served.values()))

    def find(self, name: str | None) -> Served:
        """The index of a name; the first without one."""
        if not name:
            return next(iter(self._served.values()))
        if name not in self._served:
            hint = did_you_mean(name, self._served).removeprefix("; ") or f"known: {', '.join(self._served)}"
            raise NotFound(f"no index {quote(name)}", hint, field="index")
        return self._served[name]

    def open_newer(self, served: Served) -> Served | None:
        """An index at a newer commit, to be made ready before it is served; None where there is none."""
        index = self._backing.newest(served.index)
        return None if index is served.index else self._serve_as(served.name, index)

    def replace(self, served: Served) -> None:
        """Serve it from now on."""
        self._served = self._served | {served.name: served}

    def reread_models(self) -> None:
        """Read the model files again; none is replaced where one cannot be used."""
        before, self._models = self._models, self._read_models()
        try:
            again = {s.name: s.with_models(self._models_for(s.name, s.index)) for s in self}
        except FaderError:
            self._models = before
            raise
        self._served = self._served | again

    def _serve_as(self, name: str, index: Index) -> Served:
        return Served(name, index, self._models_for(name, index), self._backing)

    def _read_models(self) -> dict[str, Model]:
        return {name: read_model(file) for name, (file, _of) in self._settings.models.items()}

    def _models_for(self, name: str, index: Index) -> dict[str, Model]:
        """The models that rank an index: those given for it, and of the others those that fit it.

        Where people judge, one that was learned and adopted comes first, and others that were learned last.
        """
        given = self._given_models(name, index)
        if not self._settings.judge:
            return given
        adopted, learned = read_learned(self._settings.indexes[name])
        fitting: dict[str, Model] = {}
        for key, made in learned.items():
            with suppress(FaderError):  # it was learned on an index that was here before
                fitting[key] = resolve_model(made, index.collection)
        first = {adopted: fitting[adopted]} if adopted in fitting else {} if given else {DEFAULT: default_model()}
        return {**first, **given, **fitting}

    def _given_models(self, name: str, index: Index) -> dict[str, Model]:
        found: dict[str, Model] = {}
        for key, made in self._models.items():
            wanted = self._settings.models[key][1]
            if wanted in (name, None):
                try:
                    found[key] = resolve_model(made, index.collection)
                except FaderError as error:
                    if wanted is not None or len(self._settings.indexes) == 1:
                        raise InputError(f"{self._settings.models[key][0]}: {error}") from None
        return found

"""An index at one commit as it is served: with its models, suggestions, tree and statistics.

What ranks is looked up by name here and nowhere else: no text of a request is ever taken for a file. Knows nothing of
HTTP, or of how an index comes to be served.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import suppress
from copy import copy
from typing import Any

from fader.errors import QueryError, UsageError, did_you_mean, quote
from fader.lazy import cached_property
from fader.learn.model import Model
from fader.registry import discover
from fader.search.collection import Collection
from fader.search.examples import ExampleQuery, PopularType, describe_popular_types
from fader.search.index import Index
from fader.search.info import describe_index
from fader.search.models import DEFAULT, SHIPPED, resolve_model, shipped_model
from fader.search.stored_examples import find_examples
from fader.search.suggest import Suggester
from fader.search.typetree import TypeTree
from fader.serve.backing import Backing
from fader.serve.errors import BadRequest, NotFound, Refusal
from fader.serve.requested import check_requested
from fader.systems.base import parse_system

MODEL_CHARACTERS = 1_000
SAMPLE = "the of a in and"  # words that most collections have
SHAPES = '+the "of the" -a in'  # required, a phrase, forbidden, optional
QUESTION = "Which people are in the news?"
PASSAGE = "window:20"  # as the page asks for
TRIED, FEW = 50, 2_000  # entities whose names are tried, contexts that are few
POPULAR = 24  # types that the page offers
KEPT_SYSTEMS = 256  # texts of systems that are not parsed anew


class Served:
    """An index at one commit, with what is made of it once: suggestions, tree, statistics, rankers that fit it."""

    def __init__(self, name: str, index: Index, models: dict[str, Model], backing: Backing) -> None:
        self.name, self.index, self._backing = name, index, backing
        self.models = models
        self._systems: OrderedDict[str, Model] = OrderedDict()
        self._lock = threading.Lock()

    def with_models(self, models: dict[str, Model]) -> Served:
        """The same with other models; what is made once stays made."""
        again = copy(self)
        again.models, again._systems, again._lock = models, OrderedDict(), threading.Lock()
        return again

    @property
    def collection(self) -> Collection:
        return self.index.collection

    @cached_property
    def partial(self) -> Index:
        """The same index for those who take a partial answer, which says what it lacks."""
        return self._backing.partial(self.index)

    @cached_property
    def suggester(self) -> Suggester:
        """Names that begin with some letters."""
        return Suggester(self.collection)

    @cached_property
    def tree(self) -> TypeTree:
        """The types, each below its supertypes."""
        return TypeTree(self.collection)

    @cached_property
    def examples(self) -> list[ExampleQuery]:
        """Queries to begin with: those that are kept beside the index, or else made now."""
        return find_examples(self.index, self.suggester)

    @cached_property
    def popular_types(self) -> list[PopularType]:
        """Types to begin with."""
        return describe_popular_types(self.suggester, POPULAR)

    @cached_property
    def described(self) -> dict[str, Any]:
        """Its statistics, without the folder."""
        plain = describe_index(self.collection).to_dict()
        del plain["index"]
        return plain

    def warm(self) -> None:
        """Answer queries of every shape and a question, show a document: so kernels are loaded and files mapped.

        What is not loaded here is loaded behind what `prepare` compiles, for numba does one at a time.
        """
        ranker, types = self.ranker(None), self.collection.catalog.type_ids
        self.index.search(SAMPLE, k=1, model=ranker, snippets=1, explain=True)
        for name in (types[0],) if len(types) else ():
            self.index.search(SHAPES, name, k=1, model=ranker, snippets=1, passage=PASSAGE)
            with suppress(QueryError):  # all its words may be stop words here
                self.index.ask(QUESTION, 1, ranker)
                if self.collection.documents:
                    self.index.document(self.collection.document_ids([0])[0], SAMPLE)
        self.examples, self.popular_types  # noqa: B018 - made when they are asked for, which is now

    def prepare(self) -> None:
        """Make what is made once: orders of names, the tree, statistics; import the systems."""
        self.described  # noqa: B018 - made when it is asked for
        self.suggester.warm()
        self.tree.children(None, 0, 1)
        self.ranker("count")

    def load_systems(self) -> None:
        """Load or compile what systems that need no training rank by, through a query of each."""
        query, entity = self._some_query()
        for name in discover("fader.systems") if entity else ():
            with suppress(Refusal):
                self.index.why(query, entity, model=self.ranker(name))

    def _some_query(self) -> tuple[str, str]:
        """A query with few contexts, and an entity that has one: an entity's name, if one is found soon."""
        catalog, size = self.collection.catalog, len(self.collection.catalog.entity_ids)
        for e in range(0, size, max(1, size // TRIED)):
            words = [term for term, _a, _b in self.index.analyze(catalog.entity_names[e])]
            query = " ".join(f"+{word}" for word in words[:2])
            contexts = self.index.contexts(query) if query else None
            if contexts is not None and 0 < len(contexts) <= FEW:
                return query, catalog.entity_ids[int(contexts.entities[contexts.slot[0]])]
        return "", ""

    @property
    def default(self) -> str:
        """The model that ranks where none is named: the first that is served for this index, else Fader's own."""
        return next(iter(self.models), DEFAULT)

    def ranker(self, text: str | None) -> Model:
        """What a text names: a served model, Fader's default, or a system with its parameters."""
        text = (text or self.default).strip()
        if text in self.models:
            return self.models[text]
        if text in SHIPPED:
            return resolve_model(shipped_model(text), self.collection)
        if len(text) > MODEL_CHARACTERS:
            raise BadRequest(f"a model has at most {MODEL_CHARACTERS:,} characters, not {len(text):,}", field="model")
        with self._lock:
            if text in self._systems:
                self._systems.move_to_end(text)
                return self._systems[text]
        found = self._system(text)
        with self._lock:
            self._systems[text] = found
            if len(self._systems) > KEPT_SYSTEMS:
                self._systems.popitem(last=False)
        return found

    def _system(self, text: str) -> Model:
        name = text.split("(")[0].strip()
        systems = discover("fader.systems")
        if name not in systems:
            known = [*self.models, *SHIPPED, *systems]
            raise NotFound(
                f"no model or system {quote(name)}",
                did_you_mean(name, known).lstrip("; ") or f"known: {', '.join(known)}",
                field="model",
            )
        try:
            check_requested(text)
            found = parse_system(text)
        except UsageError as error:
            message, _, hint = str(error).partition("; ")
            raise BadRequest(message, hint, field="model") from None
        if not found.is_fitted:
            raise BadRequest(
                f"{found} must be trained before it can rank",
                "train it with `fader train`, and let the server's administrator serve the model's file",
                field="model",
            )
        return Model(found)

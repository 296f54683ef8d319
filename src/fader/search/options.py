"""What a search, an explanation, a look-up and a file of queries can be asked for: each option once.

The command line, the HTTP interface and MCP take their parameters from here. Knows nothing of how they are given.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fader.options import option, options
from fader.search.passage import HIGHLIGHTS, check_passage

ON_ERROR = ("skip", "fail")
ASK = ("never", "auto", "always")
MOST_OFFSET = 10**9


def query_option() -> Any:
    help = 'The query: words, "phrases", +required, -forbidden, =exact, entity:ID.'
    return option(help=help, longest=2_000, argument=True, example="landed +mars")


def type_option(help: str = "The answer type, by id or name.") -> Any:
    return option(None, help=help, longest=2_000, metavar="TYPE", example="spacecraft")


def model_option() -> Any:
    return option(
        "default",
        help="What ranks: a model file of `fader train`, default, paper or joint (models that ship with Fader), or a "
        "system such as proximity(width=20).",
        longest=1_000,
        flags=("--model", "--system"),
        metavar="NAME",
        example="proximity",
    )


def interpreter_option() -> Any:
    return option(
        "default",
        help="What reads questions: a file of runs/interpreter.py, or default (the model's own where it has one, else "
        "the one that ships with Fader).",
        metavar="FILE",
        longest=1_000,
    )


def any_index_option() -> Any:
    return option(False, help="Use a model that was trained on another index.")


def at_option() -> Any:
    return option(None, help="Read this commit, not the newest; `fader info` lists them.", metavar="COMMIT")


def no_entity_literals_option() -> Any:
    help = "Words match as words alone, not the mentions of the entities that they name."
    return option(False, help=help, example=False)


def timeout_option(help: str = "Time for the query, about a second to start included.") -> Any:
    return option(None, help=help, least=1, limit="time_ms", metavar="MS", example=500)


def passage_option() -> Any:
    return option(
        HIGHLIGHTS,
        help="How much text a snippet shows: highlights (a few words around each), sentence, window:N (tokens on each "
        "side of the mention), or document.",
        longest=50,
        check=check_passage,
        metavar="WIDTH",
        example=HIGHLIGHTS,
    )


def prefix_option() -> Any:
    return option("", help="How its name, or words of it, begin.", longest=500, argument=True, example="spa")


def lookup_limit_option() -> Any:
    return option(50, help="How many at most.", least=1)


def queries_option() -> Any:
    return option(help="queries.jsonl.", metavar="FILE")


def on_error_option() -> Any:
    return option(None, help="What to do with a line that cannot be used.", choices=ON_ERROR)


@options
class SearchOptions:
    """Ask for entities."""

    query: str = query_option()
    type: str | None = type_option()
    k: int = option(10, help="How many entities.", least=1, limit="k", flags=("-k",), example=10)
    snippets: int = option(2, help="Snippets per entity.", least=0, limit="snippets", example=1)
    passage: str = passage_option()
    explain: bool = option(False, help="Show how each score comes about.")
    ask: str = option(
        "never",
        help="Take the query as a question in plain words, as `fader ask` does: auto, where it is one and has neither "
        "a type nor signs of the query language.",
        choices=ASK,
    )
    model: str = model_option()
    any_index: bool = any_index_option()
    no_entity_literals: bool = no_entity_literals_option()
    at: int | None = at_option()
    timeout_ms: int | None = timeout_option()


@options
class AskOptions:
    """Ask a question in plain words."""

    question: str = option(
        help="The question, in plain words.", longest=20_000, argument=True, example="Which spacecraft landed on Mars?"
    )
    type: str | None = type_option("Read it as asking for this type alone, by id or name.")
    any_type: bool = option(False, help="Read it as asking for an entity of any type.", example=False)
    query: str | None = option(
        None,
        help="Look for these literals, in the query language, instead of the question's words.",
        longest=2_000,
        metavar="QUERY",
        example="landed +mars",
    )
    min_probability: float = option(
        0.0, help="Leave out answers that are less sure than this.", least=0, most=1, metavar="P", example=0.1
    )
    k: int = option(10, help="How many entities.", least=1, limit="k", flags=("-k",), example=10)
    snippets: int = option(2, help="Snippets per entity.", least=0, limit="snippets", example=1)
    passage: str = passage_option()
    correct: bool = option(
        True, help="Take words that occur nowhere as they are.", flags=("--no-correct",), example=True
    )
    interpreter: str = interpreter_option()
    model: str = model_option()
    any_index: bool = any_index_option()
    at: int | None = at_option()
    timeout_ms: int | None = timeout_option()


@options
class ExplainOptions:
    """Ask why an entity has its rank."""

    query: str = query_option()
    entity: str = option(help="The entity, by id; `fader entities` looks ids up.", longest=2_000, metavar="ID")
    type: str | None = type_option()
    model: str = model_option()
    any_index: bool = any_index_option()
    no_entity_literals: bool = no_entity_literals_option()
    at: int | None = at_option()
    timeout_ms: int | None = timeout_option()


@options
class EntityOptions:
    """Look at an entity, and at its contexts for a query where there is one."""

    entity: str = option(help="The entity, by id.", longest=2_000, argument=True, metavar="ID", example="E1")
    query: str | None = option(None, help="The query.", longest=2_000, argument=True, example="landed +mars")
    type: str | None = type_option("The answer type of the query, by id or name.")
    offset: int = option(0, help="Contexts to leave out, the best first.", least=0, most=MOST_OFFSET, limit="snippets")
    limit: int = option(20, help="Contexts at most.", least=1, limit="snippets", example=20)
    passage: str = passage_option()
    model: str = model_option()
    any_index: bool = any_index_option()
    no_entity_literals: bool = no_entity_literals_option()
    at: int | None = at_option()
    timeout_ms: int | None = timeout_option("Time for the query.")


@options
class ShowDocumentOptions:
    """Look at a document."""

    document: str = option(
        help="The document, by id.", longest=2_000, argument=True, metavar="ID", example="demo-00433"
    )
    query: str | None = option(
        None, help="A query, whose words are marked.", longest=2_000, argument=True, example="landed +mars"
    )
    at: int | None = at_option()
    timeout_ms: int | None = timeout_option("Time for the document.")


@options
class TypesOptions:
    """Look up types."""

    prefix: str = prefix_option()
    limit: int = lookup_limit_option()
    at: int | None = at_option()


@options
class EntitiesOptions:
    """Look up entities."""

    prefix: str = prefix_option()
    type: str | None = type_option("Only entities of this type.")
    limit: int = lookup_limit_option()
    at: int | None = at_option()


@options
class AnalyzeOptions:
    """Take a text apart."""

    text: str = option(help="The text.", longest=5_000, argument=True, example="Straße, naïve, COVID-19")
    index: Path | None = option(None, help="Analyse as this index does.", metavar="DIR")
    stemmer: str | None = option(None, help="A Snowball stemmer, such as english.", metavar="LANGUAGE")


@options
class BatchOptions:
    """Rank every query of a file."""

    queries: str = queries_option()
    output: str = option(help="The TREC run to write, - for standard output.", flags=("--run",), metavar="FILE")
    qrels: str | None = option(None, help="Judgments: MAP, MRR and nDCG are printed too.", metavar="FILE")
    k: int = option(1000, help="Entities per query.", least=1, limit="k", flags=("-k",))
    questions: bool = option(False, help="Ask each line's question in plain words; its type and query are ignored.")
    interpreter: str = interpreter_option()
    model: str = model_option()
    any_index: bool = any_index_option()
    at: int | None = at_option()
    timeout_ms: int | None = timeout_option("Time for each query; --on-error says what happens when it is over.")
    on_error: str | None = on_error_option()


@options
class ContextsOptions:
    """Write the contexts of every query of a file."""

    queries: str = queries_option()
    qrels: str | None = option(None, help="Judgments: each entity's grade, a column, or letor's label.", metavar="FILE")
    output: str = option(help="The file to write.", flags=("-o", "--output"), metavar="FILE")
    format: str = option(
        "parquet",
        help="parquet: a row per context; letor: a vector per entity, summed over its contexts, for other learners.",
        choices=("parquet", "letor"),
    )
    features: str = option("noprox+rectangle", help="Of letor vectors.", metavar="MAPS")
    policy: str = option("document", help="Of letor: document or mention.", metavar="NAME")
    ignore_overlap: bool = option(False, help="Ignore occurrences inside the mention itself.")
    window: int | None = option(None, help="Only literals within this many tokens.", metavar="TOKENS")
    plan: str | None = option(None, help="Force a plan; the table is the same.", choices=("type", "document"))
    at: int | None = at_option()
    on_error: str | None = on_error_option()

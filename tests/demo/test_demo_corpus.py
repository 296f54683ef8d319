"""The demo corpus keeps its promises: reproducible, well formed, honest, neither empty nor huge."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import unicodedata
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from fader.demo.generate import generate
from fader.demo.tables import load_tables

FILES = ("corpus.jsonl", "entities.tsv", "types.tsv", "queries.jsonl", "qrels.txt")
Document = dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("demo")
    generate(out)
    return out


@pytest.fixture(scope="module")
def documents(folder: Path) -> list[Document]:
    return [json.loads(line) for line in _lines(folder, "corpus.jsonl")]


@pytest.fixture(scope="module")
def supertypes(folder: Path) -> dict[str, list[str]]:
    rows = [line.split("\t") for line in _lines(folder, "types.tsv")]
    return {row[0]: [t for t in row[2].split("|") if t] for row in rows}


@pytest.fixture(scope="module")
def direct_types(folder: Path) -> dict[str, list[str]]:
    rows = [line.split("\t") for line in _lines(folder, "entities.tsv")]
    return {row[0]: row[2].split("|") for row in rows}


@pytest.fixture(scope="module")
def queries(folder: Path) -> list[Document]:
    return [json.loads(line) for line in _lines(folder, "queries.jsonl")]


@pytest.fixture(scope="module")
def judgments(folder: Path) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = defaultdict(dict)
    for line in _lines(folder, "qrels.txt"):
        query, zero, entity, grade = line.split()
        assert zero == "0"
        assert entity not in judged[query], f"{entity} judged twice for {query}"
        judged[query][entity] = int(grade)
    return judged


def _lines(folder: Path, name: str) -> list[str]:
    text = (folder / name).read_text(encoding="utf-8")
    assert text.endswith("\n")
    return text.removesuffix("\n").split("\n")


def _tokens(text: str) -> list[str]:
    """Runs of letters, marks and numbers, casefolded."""
    letters = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in text)
    return letters.casefold().split()


def _literals(query: str) -> list[tuple[str, list[str]]]:
    parts = re.findall(r'([+-]?)(?:"([^"]+)"|(\S+))', query)
    return [(sign, _tokens(phrase or word)) for sign, phrase, word in parts]


def _contains(tokens: list[str], phrase: list[str]) -> bool:
    return f" {' '.join(phrase)} " in f" {' '.join(tokens)} "


def _satisfies(tokens: list[str], literals: list[tuple[str, list[str]]]) -> bool:
    found = [(sign, _contains(tokens, phrase)) for sign, phrase in literals]
    if any((sign == "+" and not hit) or (sign == "-" and hit) for sign, hit in found):
        return False
    return any(hit for sign, hit in found if sign != "-")


def _above(type_id: str, supertypes: dict[str, list[str]]) -> set[str]:
    return {type_id}.union(*(_above(parent, supertypes) for parent in supertypes[type_id]))


def test_same_seed_same_bytes(folder: Path, tmp_path: Path) -> None:
    """Two runs with one seed agree byte for byte, in another process too."""
    command = [sys.executable, "-W", "error", "-m", "fader.demo.generate", str(tmp_path)]
    subprocess.run(command, check=True)
    for name in FILES:
        assert (folder / name).read_bytes() == (tmp_path / name).read_bytes(), name


def test_another_seed_other_documents_same_truth(folder: Path, tmp_path: Path) -> None:
    """The seed changes the prose and nothing else."""
    generate(tmp_path, seed=1)
    same = {n: (folder / n).read_bytes() == (tmp_path / n).read_bytes() for n in FILES}
    assert not same.pop("corpus.jsonl")
    assert all(same.values())


def test_sizes(
    documents: list[Document],
    direct_types: dict[str, list[str]],
    supertypes: dict[str, list[str]],
    queries: list[Document],
) -> None:
    assert 1800 <= len(documents) <= 2300
    assert 550 <= len(direct_types) <= 700
    assert 100 <= len(supertypes) <= 140
    assert [query["id"] for query in queries] == [f"d{n:02d}" for n in range(1, 81)]


def test_types_form_a_deep_dag(supertypes: dict[str, list[str]], direct_types: dict[str, list[str]]) -> None:
    """No cycle, at least four levels, every type used, some types under two others."""

    def depth(type_id: str, path: tuple[str, ...] = ()) -> int:
        assert type_id not in path, f"cycle: {path}"
        levels = [depth(parent, (*path, type_id)) for parent in supertypes[type_id]]
        return 1 + max(levels, default=0)

    assert max(depth(type_id) for type_id in supertypes) >= 5
    used = {a for types in direct_types.values() for t in types for a in _above(t, supertypes)}
    assert used == set(supertypes)
    assert sum(len(parents) > 1 for parents in supertypes.values()) >= 3


def test_a_type_name_is_ambiguous(folder: Path) -> None:
    """The name "organ" belongs to two types, so that the error about it can be shown."""
    rows = [line.split("\t") for line in _lines(folder, "types.tsv")]
    assert {row[0] for row in rows if row[1] == "organ"} == {"organ_instrument", "organ_body"}


def test_references_are_valid(
    documents: list[Document],
    direct_types: dict[str, list[str]],
    supertypes: dict[str, list[str]],
    queries: list[Document],
    judgments: dict[str, dict[str, int]],
) -> None:
    assert {p for parents in supertypes.values() for p in parents} <= set(supertypes)
    assert {t for types in direct_types.values() for t in types} <= set(supertypes)
    assert all(1 <= len(types) <= 3 for types in direct_types.values())
    assert {m["entity"] for d in documents for m in d["mentions"]} <= set(direct_types)
    assert {query["type"] for query in queries} <= set(supertypes)
    assert {query["id"] for query in queries} == set(judgments)
    assert {e for judged in judgments.values() for e in judged} <= set(direct_types)


def test_every_entity_is_mentioned(documents: list[Document], direct_types: dict[str, list[str]]) -> None:
    assert {m["entity"] for d in documents for m in d["mentions"]} == set(direct_types)


def test_documents_are_well_formed(documents: list[Document]) -> None:
    """Ids, titles, addresses, and lengths of a short note."""
    assert len({document["id"] for document in documents}) == len(documents)
    for document in documents:
        assert re.fullmatch(r"demo-\d{5}", document["id"])
        assert document["title"]
        assert document.get("url", "demo:x").startswith("demo:")
        assert 30 <= len(document["text"].split()) <= 140, document["text"]


def test_mentions_are_surface_forms(folder: Path, documents: list[Document]) -> None:
    """A span with a high confidence is a name or alias of its entity; none is out of range."""
    names = {}
    for line in _lines(folder, "entities.tsv"):
        entity, name, _, aliases = line.split("\t")
        names[entity] = {form.casefold() for form in (name, *aliases.split("|")) if form}
    for document in documents:
        for mention in document["mentions"]:
            surface = document["text"][mention["start"] : mention["end"]]
            assert surface
            assert surface == surface.strip()
            assert 0 < mention["confidence"] <= 1
            assert surface.casefold() in names[mention["entity"]], surface


def test_some_annotations_are_wrong_with_low_confidence(documents: list[Document]) -> None:
    """Errors exist, are a small share, and every one of them has a confidence below one half."""
    confidences = [m["confidence"] for d in documents for m in d["mentions"]]
    low = sum(confidence < 0.5 for confidence in confidences)
    assert 20 <= low <= len(confidences) * 0.05


def test_no_template_leftovers(documents: list[Document]) -> None:
    """Prose without braces, marks, doubled words or spaces, or sentences in lower case."""
    bad = re.compile(
        r"[{}\[\]|#~@_]|  | ,| \.|\.\.|\b(a|the) (a|an|the)\b|\ba [aeio]\w|\ban [^aeiouhAEIOUHMX]",
    )
    for document in documents:
        text = document["text"]
        assert not bad.search(text), f"{bad.search(text)} in {text}"
        assert not re.search(r"(?<![A-Z])[.?!] [a-z]", text), text
        assert not text[0].islower(), text
        assert text[-1] in ".?!", text


def test_text_beyond_ascii(documents: list[Document]) -> None:
    text = " ".join(document["text"] for document in documents)
    for word in ("Gödel", "Schrödinger", "Dvořák", "Skłodowska", "São Paulo", "Molière", "北京"):
        assert word in text


def test_judgments_are_usable(judgments: dict[str, dict[str, int]]) -> None:
    """Each query has 1 to 15 answers and some judged wrong candidates."""
    for query, judged in judgments.items():
        answers = [entity for entity, grade in judged.items() if grade > 0]
        assert 1 <= len(answers) <= 15, query
        assert len(answers) < len(judged), query
        assert set(judged.values()) <= {0, 1, 2}


def test_answers_can_be_found(
    documents: list[Document],
    direct_types: dict[str, list[str]],
    supertypes: dict[str, list[str]],
    queries: list[Document],
    judgments: dict[str, dict[str, int]],
) -> None:
    """Each answer has the type asked for and a mention in a document that matches the query."""
    tokens = [(_tokens(d["text"]), {m["entity"] for m in d["mentions"]}) for d in documents]
    for query in queries:
        literals = _literals(query["query"])
        found = set().union(*(ids for words, ids in tokens if _satisfies(words, literals)))
        for entity, grade in judgments[query["id"]].items():
            types = {a for t in direct_types[entity] for a in _above(t, supertypes)}
            assert query["type"] in types, (query, entity)
            assert grade == 0 or entity in found, (query, entity)


def test_judgments_are_complete() -> None:
    """Whoever has a fact that holds every required word is an answer, or a known near miss.

    The near misses were read one by one: they hold the words in another sense.
    """
    tables = load_tables()
    suspects = set()
    for query in tables.queries:
        required = [phrase for sign, phrase in _literals(query.text) if sign == "+"]
        for entity in tables.of_type(query.type):
            told = [_tokens(w) for fact in entity.facts for w in fact.wordings]
            hit = any(required and all(_contains(t, r) for r in required) for t in told)
            if hit and not tables.grade(entity, query):
                suspects.add((query.id, entity.id))
    assert suspects == NEAR_MISSES


NEAR_MISSES = {
    ("d06", "General_Motors"),
    ("d18", "Michael_Collins"),
    ("d18", "Jim_Lovell"),
    ("d31", "Python_(language)"),
    ("d31", "Java_(language)"),
    ("d34", "Rolls-Royce"),
    ("d40", "Boris_Pasternak"),
    ("d49", "Charles_Babbage"),
    ("d50", "Adrian_Rollini"),
    ("d75", "Primo_Levi"),
    ("d76", "Frederick_Sanger"),
}

"""The fused path gives the bits of the Contexts table: every part found by discovery, whatever the cut and history."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fader
from contexts.drawn import SEGMENT_TOKENS, asked, built, examples, oracle_of
from contracts.models import feature_model
from fader.contexts.policy import POLICIES
from fader.features.base import FeatureMap
from fader.features.column import OneColumn
from fader.features.combined import feature_map
from fader.features.family import ColumnFamily
from fader.features.fused import add_constant
from fader.fused.ranker import FusedRanker
from fader.fused.second import write_steps
from fader.learn.learner import Learner
from fader.learn.model import read_model
from fader.registry import discover
from fader.systems.balog2 import ASSOCIATIONS
from fader.systems.base import parse_system
from fader.systems.plm import KERNELS
from fader.systems.rerank import Rerank
from fader.testing.fused import check_fused, compare_paths
from oracles.strategies import World, worlds

PARTS = {name: part for name, part in discover("fader.features").items() if issubclass(part, FeatureMap)}
MAPS = [name for name, part in PARTS.items() if not issubclass(part, ColumnFamily)]  # those read columns of the table
MAPS += [
    "rectangle(overlap=union)",
    "grid(signed=true)",
    "rectangle(4x5,signed=true)",
    "rectangle(4x5,signed=true,overlap=union)",
    "coverage(4x5,signed=true)",
    "coverage(idf=paper)",
    "idfupto(signed=true)",
    *(f"kernel(shape={shape},width=3)" for shape in ("gaussian", "triangle", "cosine", "circle", "step")),
    "noprox(use=dirichlet/constant/bm25)",
    "noprox+coverage+popularity+confidence",
    "noprox+rectangle+bias+kernel",
]
AGGREGATORS = [*discover("fader.aggregate"), "softcount(form=power,p=0.3)", "softcutoff(decay=1/0.5/0.1)"]
VIEWS = (
    {},
    {},
    {"window": "2"},
    {"top": "2"},
    {"ignore_overlap": True},
    {"policy": "mention"},
    {"window": "0", "top": "1"},
    {"stem": True, "entities": True, "relax": True},
    {"entities": True, "ignore_overlap": True},
)
FUSED = {"balog2", "count", "entityengine", "literals", "plm", "proximity", "voting"}
PARTS_OF_SYSTEMS = discover("fader.systems")
# Every value that is worth trying of every system that needs no training, then some that meet.
PRIOR = [
    f"{name}({key}={value})"
    for name, part in PARTS_OF_SYSTEMS.items()
    for key, values in part.tries.items()
    for value in values
    if not issubclass(part, Learner) and name in FUSED
]
PRIOR += ["count", "proximity", "count(policy=mention)", "proximity(width=2,idf=paper,policy=mention)", "balog2"]
VOTES = ("votes", "rr", "borda", "combmax", "combmin", "combmed", "combsum", "combanz", "combmnz")
PRIOR += [*(f"voting(technique={v},cutoff=2)" for v in VOTES), "voting", "voting(model=pl2,normalise=z)"]
PRIOR += [f"balog2(association={a},beta=3,window={w})" for a in ASSOCIATIONS for w in ("0", "2", "0/1/4")]
PRIOR += [f"plm(kernel={k},width=3,mu=1,policy={p})" for k in KERNELS for p in POLICIES]
PRIOR += ["entityengine(order=1,policy=mention)", "literals(plm,stem=true)", "literals(entityengine,relax=true)"]
DECILES = "1/0.9/0.8/0.7/0.6/0.5/0.4/0.3/0.2/0.1"
PRIOR += ["cummins(decay=0.7)", f"cummins(decay={DECILES},family=deciles,score=proximity)"]
PRIOR += ["cummins(decay=1.5,family=exponential,score=dirichlet,policy=mention)"]


def draw_model(seed: int) -> Any:
    """Features, aggregator and view, each in turn, with drawn weights, some of them 0."""
    draw = np.random.default_rng(seed)
    features = MAPS[seed % len(MAPS)]
    size = feature_map(features).size
    weights = draw.random(size) * (draw.random(size) < 0.7)
    lowest, _highest = feature_map(features).bounds()
    weights[lowest < 0] *= -1
    view = dict(VIEWS[seed % len(VIEWS)])
    return feature_model(features, weights, AGGREGATORS[(seed // 2) % len(AGGREGATORS)], **view)


@pytest.mark.parametrize("name", MAPS)
def test_every_shipped_map_is_fused(name: str) -> None:
    """Each feature map of the package declares its terms, but families of columns."""
    maps = feature_map(name)
    assert maps.prepare_terms(np.ones(maps.size)) is not None


@examples(0.7)
@given(worlds(), st.sampled_from((None, *SEGMENT_TOKENS)), st.integers(0, 2**20))
def test_models(world: World, segment_tokens: int | None, seed: int) -> None:
    """Any features x aggregator x view ranks as through the table, bit for bit, with the same rows to show."""
    with built(world, segment_tokens=segment_tokens) as index:
        ranker = FusedRanker(index.collection.reader)
        for i, (query, answer_type) in enumerate(asked(world, oracle_of(world))):
            for system in (draw_model(seed + 2 * i), draw_model(seed + 2 * i + 1)):
                assert compare_paths(index.collection, index.parse(query, answer_type), system, 3, ranker)


@examples(0.5)
@given(worlds(), st.sampled_from(SEGMENT_TOKENS), st.integers(0, 2**20))
def test_prior_systems(world: World, segment_tokens: int, seed: int) -> None:
    """Prior systems with a fused form rank as through the table."""
    with built(world, segment_tokens=segment_tokens) as index:
        ranker = FusedRanker(index.collection.reader)
        for i, (query, answer_type) in enumerate(asked(world, oracle_of(world))):
            for text in (PRIOR[(seed + 2 * i) % len(PRIOR)], PRIOR[(seed + 2 * i + 1) % len(PRIOR)]):
                system = parse_system(text)
                assert compare_paths(index.collection, index.parse(query, answer_type), system, 100, ranker)


@examples(0.5)
@given(worlds(), st.integers(0, 2**20))
def test_histories(world: World, seed: int) -> None:
    """After additions and deletions in several commits, too."""
    draw = random.Random(seed)
    with built(World(world.corpus[:2], world.entities, world.types, world.queries, world.answer_types)) as index:
        folder = index.collection.folder
        for document in world.corpus[2:]:
            fader.add(folder, [document])
        ids = sorted({d["id"] for d in world.corpus})
        fader.delete(folder, draw.sample(ids, len(ids) // 2))
        index = fader.open(folder)
        for i, (query, answer_type) in enumerate(asked(world, oracle_of(world))):
            for system in (draw_model(seed + i), parse_system(PRIOR[(seed + i) % len(PRIOR)])):
                assert compare_paths(index.collection, index.parse(query, answer_type), system, 5)


@pytest.mark.parametrize("name", [n for n, part in PARTS_OF_SYSTEMS.items() if not issubclass(part, Learner)])
def test_the_contract_of_every_system(name: str) -> None:
    """Every system that needs no training keeps the contract for plug-ins; those without a fused form are known."""
    assert check_fused(parse_system(name)) == (name in FUSED)


@dataclass(frozen=True)
class Wrong(OneColumn):
    """Says 1 in the table and 2 in the fused form."""

    name: ClassVar[str] = "wrong"
    label: ClassVar[str] = "1"

    def column(self, contexts: Any) -> Any:
        return np.ones(len(contexts))

    def prepare_terms(self, w: Any) -> Any:
        return add_constant(2.0)


def test_the_contract_finds_another_score() -> None:
    """A map whose terms are not its score is found out."""
    with pytest.raises(AssertionError, match="other scores"):
        check_fused(feature_model(Wrong(), [1.0]))


COMPILED_MAPS = (
    "noprox", "coverage(3x4)", "shares", "windows(scale=0.5/2)", "positional", "adjacency", "competition",
    "mention(scale=0.5/2/0.1/1/3/1)", "confidence", "entity(use=votes/frequency)", "noprox(use=constant/jaccard)",
    "coverage(4x5,signed=true,idf=paper)", "entity", "entity(use=votes)",
)  # fmt: skip
TABLE_MAPS = ("sentence", "title", "entity(use=label/kind/article)")


def draw_maps(draw: np.random.Generator, seed: int) -> str:
    """Some feature maps of a second stage in any order, each kind once; in every third case some that need a table."""
    offered = [*COMPILED_MAPS, *TABLE_MAPS] if seed % 3 == 0 else [*COMPILED_MAPS]
    taken = {name.split("(")[0]: name for name in draw.permutation(offered).tolist()[: 1 + seed % len(offered)]}
    return "+".join(taken.values())


def draw_cascade(seed: int) -> Rerank:
    """Two models with drawn weights; few candidates and contexts, so that both are cut."""
    draw = np.random.default_rng(seed)
    view: dict[str, Any] = {"policy": "mention", "top": str(1 + seed % 7), "entities": bool(seed % 2)}
    first, second = (
        feature_model(maps, draw.normal(size=feature_map(maps).size) ** 2, "logsumexp", **view)
        for maps in ("noprox+coverage(3x4)", draw_maps(draw, seed))
    )
    return Rerank(str(first), str(second), 1 + seed % 4, 1 + seed % 3)


@examples(0.5)
@given(worlds(), st.sampled_from((None, *SEGMENT_TOKENS)), st.integers(0, 2**20))
def test_cascades(world: World, segment_tokens: int | None, seed: int) -> None:
    """A cascade ranks as through the table, bit for bit, with the same rows; fused where all are ranked again."""
    with built(world, segment_tokens=segment_tokens) as index:
        ranker = FusedRanker(index.collection.reader)
        for i, (query, answer_type) in enumerate(asked(world, oracle_of(world))):
            system = draw_cascade(seed + i)
            parsed = index.parse(query, answer_type)
            compare_paths(index.collection, parsed, system, 3, ranker)
            assert compare_paths(index.collection, parsed, replace(system, candidates=100), 3, ranker)


@pytest.mark.parametrize("mentions", [1, 64, 65, 300])
def test_cascades_over_long_documents(tmp_path: Path, mentions: int) -> None:
    """Documents with few and with many mentions have the same columns either way."""
    draw = np.random.default_rng(mentions)
    corpus = []
    for d in range(3):
        words = draw.choice(["a", "b", "c", "x", "y"], 4 * mentions + 5).tolist()
        starts = draw.choice(len(words), mentions, replace=False).tolist()
        spans = [{"start": 2 * s, "end": 2 * s + 1, "entity": f"e{draw.integers(0, 7)}"} for s in starts]
        corpus.append({"id": f"d{d}", "text": " ".join(words), "mentions": spans})
    entities = [{"id": f"e{i}", "name": f"e{i}", "types": ["t"]} for i in range(7)]
    index = fader.build(tmp_path / "index", corpus, entities, [{"id": "t", "name": "t"}])
    ranker = FusedRanker(index.collection.reader)
    for seed in range(3):
        system = replace(draw_cascade(seed), candidates=5, contexts=1 + 40 * seed)
        for query in ("a b", "+a b c", '"a b" c'):
            assert compare_paths(index.collection, index.parse(query, "t"), system, 3, ranker)


def test_the_shipped_model_needs_no_table() -> None:
    """Every feature map of the default model's second stage has a compiled form."""
    system = read_model(Path(str(resources.files("fader").joinpath("models/default.json")))).system
    assert write_steps(system.reranking) is not None

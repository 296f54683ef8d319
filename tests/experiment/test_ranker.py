"""`Ranker` in the manners of scikit-learn and PyTerrier: the same model from files, dictionaries and frames."""

from __future__ import annotations

import inspect
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import fader
from experiment.judged_demo import TINY_QRELS, TINY_QUERIES, demo_in, some_queries, tiny_in
from fader.errors import FaderError, InputError, StorageError, UsageError
from fader.experiment.ranker import Ranker
from fader.learn.model import Model, read_model
from fader.rank.ranking import rank_entities
from fader.rank.system import View
from fader.search.models import resolve_model
from fader.systems.fader import FeatureModel
from fader.systems.shared.weighting import document_ranking, in_best_documents

Queries = list[dict[str, Any]]
Qrels = dict[str, dict[str, int]]
FEATURES = "noprox+rectangle(4x5)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ranker")


@pytest.fixture(scope="module")
def index(folder: Path) -> fader.Index:
    return demo_in(folder)


@pytest.fixture(scope="module")
def given(index: fader.Index, folder: Path) -> tuple[Queries, Qrels]:
    return some_queries(folder, 4)


@pytest.fixture(scope="module")
def ranker(index: fader.Index, given: tuple[Queries, Qrels]) -> Ranker:
    return Ranker(features=FEATURES, lam=1).fit(index, *given)


def test_files_dictionaries_and_frames_make_the_same_model(
    index: fader.Index, ranker: Ranker, given: tuple[Queries, Qrels], tmp_path: Path
) -> None:
    """Bit for bit."""
    pandas = pytest.importorskip("pandas")
    queries, qrels = given
    rows = [{"qid": q, "docno": e, "label": g} for q, of in qrels.items() for e, g in of.items()]
    one, two = tmp_path / "queries.jsonl", tmp_path / "qrels.txt"
    one.write_text("".join(json.dumps(q) + "\n" for q in queries), encoding="utf-8")
    two.write_text("".join(f"{r['qid']} 0 {r['docno']} {r['label']}\n" for r in rows), encoding="utf-8")
    frame = pandas.DataFrame(queries).rename(columns={"id": "qid"})
    for asked, judged in ((one, two), (frame, pandas.DataFrame(rows)), (pa.table(frame), pa.Table.from_pylist(rows))):
        again = Ranker(features=FEATURES, lam="1", workers=1).fit(index, asked, judged)
        assert again.model_.system == ranker.model_.system
        assert again.model_.to_dict() == ranker.model_.to_dict()


def test_a_fit_says_where_it_comes_from(index: fader.Index, ranker: Ranker, given: tuple[Queries, Qrels]) -> None:
    """The model, the index, the choice, the remarks, and plain provenance; fit returns the ranker itself."""
    assert isinstance(ranker.model_, Model)
    assert ranker.index_ is index
    assert ranker.remarks_ == []
    assert ranker.choice_.lam == 1.0
    provenance = ranker.model_.provenance
    assert (provenance["queries"], provenance["lambda"], provenance["loss"]) == (len(given[0]), 1.0, "pairwise")
    assert json.loads(json.dumps(provenance, allow_nan=False)) == provenance
    scope = ranker.model_.scope
    assert scope is not None
    assert scope.collection is not None
    assert scope.collection.documents == index.collection.documents


def test_validation_is_reported(index: fader.Index, given: tuple[Queries, Qrels]) -> None:
    """Every alternative with its mean AP; the best of them is the model."""
    found = Ranker(features="noprox|rectangle(4x5)", lam="0.3/1").fit(index, *given)
    assert len(found.choice_.tried) == 4
    assert found.choice_.precision == max(found.choice_.tried.values())
    assert str(found.model_) == "rectangle(4x5) x sum"
    assert found.model_.provenance["validation"] == found.choice_.tried


def test_a_run_is_what_the_index_ranks(index: fader.Index, ranker: Ranker, given: tuple[Queries, Qrels]) -> None:
    """A frame where a frame is given, else an Arrow table; ranks from 0, best first; k at most."""
    pandas = pytest.importorskip("pandas")
    queries = given[0][:5]
    frame = pandas.DataFrame(queries).rename(columns={"id": "qid"})
    run, table = ranker.transform(frame, k=7), ranker.transform(queries, k=7)
    assert isinstance(run, pandas.DataFrame)
    assert isinstance(table, pa.Table)
    assert table.to_pylist() == run.to_dict("records")
    assert list(run.columns) == ["qid", "query", "docno", "score", "rank"]
    for query in queries:
        mine = run[run["qid"] == query["id"]]
        ranked = index.rank(query["query"], query["type"], k=7, model=ranker.model_)
        assert mine["docno"].tolist() == ranked.entities
        assert mine["score"].tolist() == ranked.scores
        assert mine["rank"].tolist() == list(range(len(ranked.entities)))
        assert len(mine) <= 7
    assert run["qid"].nunique() == 5


def test_frames_of_polars_come_back_as_such(ranker: Ranker, given: tuple[Queries, Qrels]) -> None:
    polars = pytest.importorskip("polars")
    run = ranker.transform(polars.DataFrame(given[0][:2]), k=3)
    assert isinstance(run, polars.DataFrame)
    assert run.columns == ["qid", "query", "docno", "score", "rank"]
    assert run.height == 6


def test_nothing_found_is_an_empty_run(ranker: Ranker) -> None:
    """With all its columns."""
    pandas = pytest.importorskip("pandas")
    run = ranker.transform(pandas.DataFrame({"qid": ["1"], "query": ["zzzz"]}))
    assert list(run.columns) == ["qid", "query", "docno", "score", "rank"]
    assert len(run) == 0


def test_a_saved_model_ranks_alike(
    index: fader.Index, ranker: Ranker, given: tuple[Queries, Qrels], tmp_path: Path
) -> None:
    """Through its file, as a path or as text, through the fitted ranker, and through the value."""
    file = tmp_path / "model.json"
    ranker.save(file)
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]
    query = given[0][0]
    expected = index.rank(query["query"], query["type"], k=50, model=ranker.model_)
    for model in (file, str(file), ranker, read_model(file)):
        assert index.rank(query["query"], query["type"], k=50, model=model) == expected
    answer = index.search(query["query"], query["type"], k=3, model=file, explain=True)
    assert answer.model == f"{FEATURES} x sum"
    assert [r.entity for r in answer.results] == expected.entities[:3]


def test_saving_is_whole_or_not_at_all(ranker: Ranker, tmp_path: Path) -> None:
    """A folder is no file; where there is no folder nothing can be written."""
    for place in (tmp_path, tmp_path / "absent" / "model.json"):
        with pytest.raises(StorageError):
            ranker.save(place)
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_fitted_cannot_rank(index: fader.Index, tmp_path: Path) -> None:
    """It says what to call first; nothing is written."""
    fresh = Ranker()
    for call in (lambda: fresh.transform([{"id": "1", "query": "red"}]), lambda: fresh.save(tmp_path / "m.json")):
        with pytest.raises(UsageError, match=r"not fitted yet; call fit\(index, queries, qrels\) first"):
            call()
    with pytest.raises(UsageError, match=r"is no model and no system.*fitted Ranker"):
        index.rank("violin", model=fresh)
    with pytest.raises(UsageError, match="must be trained before it can rank"):
        index.rank("violin", model="fader")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_fit_leaves_the_ranker_as_it_was(index: fader.Index, given: tuple[Queries, Qrels]) -> None:
    """The model of the last fit stays, or none."""
    fresh = Ranker(features="noprox", lam=1)
    with pytest.raises(InputError):
        fresh.fit(index, given[0], {"lost": {"E": 1}})
    assert not hasattr(fresh, "model_")
    model = fresh.fit(index, *given).model_
    with pytest.raises(InputError):
        fresh.fit(index, given[0], {"lost": {"E": 1}})
    assert fresh.model_ is model


def test_scikit_learn_can_clone_it(ranker: Ranker) -> None:
    """Parameters go along, what was fitted does not."""
    base = pytest.importorskip("sklearn.base")
    made = Ranker("noprox|rectangle", "sum|logsumexp", lam=0.5, window=9, seed=4, judged_only=True)
    copy = base.clone(made)
    assert copy.get_params() == made.get_params()
    assert repr(copy) == repr(made)
    assert not hasattr(base.clone(ranker), "model_")
    assert base.clone(ranker).get_params() == ranker.get_params()


def test_defaults_are_those_of_the_signature() -> None:
    """Windows and cutoffs are numbers; features and aggregator may be given by place."""
    parameters = inspect.signature(Ranker).parameters
    assert Ranker().get_params() == {name: p.default for name, p in parameters.items()}
    assert repr(Ranker()) == (
        "Ranker(features='noprox+rectangle', aggregator='sum', loss='pairwise', lam='auto', policy='document', "
        "window=0, top=0, ignore_overlap=False, stem=False, entities=False, relax=False, judged_only=False, starts=2, "
        "rounds=3, bad=0, seed=0, workers=0)"
    )
    by_place = [name for name, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert by_place == ["features", "aggregator"]


def test_parameters_can_be_read_and_set() -> None:
    """All of the constructor, no others; its repr makes the same again."""
    made = Ranker(lam=3, policy="mention").set_params(features="noprox", starts=5)
    assert (made.features, made.starts, made.get_params()["policy"]) == ("noprox", 5, "mention")
    assert eval(repr(made)).get_params() == made.get_params()
    with pytest.raises(UsageError, match="Ranker has no parameter 'lambda'; it takes features"):
        made.set_params(**{"lambda": 1})
    assert made.spec() == FeatureModel(features="noprox", lam="3", policy="mention", starts=5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"features": "noprox+tangle"}, 'unknown feature "tangle"'),
        ({"features": ""}, "must name one thing at least"),
        ({"features": "noprox+noprox"}, "more than once"),
        ({"aggregator": "summ"}, 'unknown aggregator "summ"'),
        ({"loss": "hinge"}, 'unknown loss "hinge"'),
        ({"lam": 0}, "lambda must be a number from 0.000001 to 1,000,000, not 0"),
        ({"lam": "many"}, "lambda must be auto or numbers above 0"),
        ({"lam": float("nan")}, "lambda must be a number from 0.000001 to 1,000,000, not nan"),
        ({"policy": "all"}, "policy must be one of document, mention"),
        ({"window": -1}, "window must be 0"),
        ({"starts": 0}, "rounds, starts and iterations must be 1 or more"),
    ],
)
def test_wrong_parameters_are_refused_when_fitted(
    index: fader.Index, given: tuple[Queries, Qrels], wrong: dict[str, Any], message: str
) -> None:
    """As scikit-learn has it: the constructor takes anything."""
    with pytest.raises(UsageError, match=message):
        Ranker(**wrong).fit(index, *given)


def test_a_transformer_of_pyterrier(ranker: Ranker, given: tuple[Queries, Qrels]) -> None:
    """A frame of queries goes in, a frame with qid, docno, score and rank comes out; needs no Java."""
    pandas = pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it imports is its own affair
        pt = pytest.importorskip("pyterrier")
        transformer = ranker.to_pyterrier(k=4)
        assert isinstance(transformer, pt.Transformer)
        asked = pandas.DataFrame(given[0][:3]).rename(columns={"id": "qid"})
        run = transformer(asked)
        cut = (transformer % 2)(asked)
        inputs = transformer.transform_inputs()
    assert set(inputs[0]) <= set(asked.columns)
    assert transformer.transform_outputs(list(asked.columns)) == list(run.columns)
    assert "fader" in repr(transformer).lower()
    assert {"qid", "docno", "score", "rank"} <= set(run.columns)
    assert run.equals(ranker.transform(asked, k=4))
    assert cut.groupby("qid").size().tolist() == [2, 2, 2]
    with pytest.raises(UsageError, match="not fitted yet"):
        Ranker().to_pyterrier()


def test_a_model_knows_its_window_and_overlaps(
    index: fader.Index, given: tuple[Queries, Qrels], tmp_path: Path
) -> None:
    """What it was trained on is what it ranks, also from its file."""
    made = Ranker(features="rectangle(3x4)", lam=1, window=6, ignore_overlap=True, policy="mention").fit(index, *given)
    assert made.model_.system.view == View("mention", 6, False)
    made.save(tmp_path / "m.json")
    query = given[0][1]
    parsed = index.parse(query["query"], query["type"])
    ranking = rank_entities(made.model_.system, index.contexts(parsed, window=6, overlap=False), 20)
    ranked = index.rank(parsed, k=20, model=tmp_path / "m.json")
    assert ranked.scores == ranking.score.tolist()
    assert ranked.support == ranking.support.tolist()
    assert sum(ranked.support) < sum(index.rank(parsed, k=20, model="count(policy=mention)").support)


def test_a_model_of_another_index_is_refused(index: fader.Index, ranker: Ranker, tmp_path: Path) -> None:
    """With the remedy, which works."""
    other = tiny_in(tmp_path)
    with pytest.raises(InputError, match=r"trained on another index.*model\.as_portable\(\)"):
        other.rank("red", model=ranker)
    assert other.rank("red", model=ranker.model_.as_portable()).entities
    system = resolve_model(ranker, other.collection, any_index=True).system
    assert rank_entities(system, other.contexts("red"), 3).entity.size == 3
    stemmed = fader.build(
        tmp_path / "stemmed", corpus=[{"id": "d", "text": "red"}], entities=[], types=[{"id": "T", "name": "t"}],
        stemmer="english",
    )  # fmt: skip
    with pytest.raises(InputError, match=r"analysed with no stemmer .* this index has the stemmer english"):
        stemmed.rank("red", model=ranker.model_.as_portable())


@pytest.mark.parametrize("name", ["absent.json", "no/such/model", "coumt", "proximity(width=0)", ""])
def test_a_name_that_is_nothing_is_refused(index: fader.Index, name: str) -> None:
    with pytest.raises(FaderError):
        index.rank("violin", model=name)


def test_learned_edges_and_decays_are_part_of_the_model(
    index: fader.Index, given: tuple[Queries, Qrels], tmp_path: Path
) -> None:
    """Nothing is left to learn in what is saved."""
    made = Ranker(features="idfupto(4,edges=learned)", aggregator="softcutoff", lam=1).fit(index, *given)
    assert "learned" not in str(made.model_.system)
    made.save(tmp_path / "m.json")
    again = read_model(tmp_path / "m.json")
    assert again == made.model_
    assert "aggregator=softcutoff(decay=" in str(again.system)


def test_better_than_counting(index: fader.Index, ranker: Ranker, given: tuple[Queries, Qrels]) -> None:
    """On the queries that it was trained on, a trained model finds good entities above others more often."""
    from fader.measures import Pairswap, judge

    wrong: dict[str, list[float]] = {"count": [], "trained": []}
    find = index.collection.catalog.entity_ids.find
    for query in given[0]:
        grades = {find(e): g for e, g in given[1][query["id"]].items()}
        contexts = index.contexts(query["query"], query["type"])
        for name, model in (("count", resolve_model("count", index.collection)), ("trained", ranker.model_)):
            ranking = rank_entities(model.system, contexts, 1)
            entity = ranking.evidence.entity
            wrong[name].append(Pairswap().of(ranking.values, judge(entity, entity.tolist(), grades)))
    assert np.mean(wrong["trained"]) < 0.7 * np.mean(wrong["count"])


def test_tiny_judgments_are_learned_from(tmp_path: Path) -> None:
    """Four queries, their colour right before the good entity: it is first for each of them."""
    index = tiny_in(tmp_path)
    made = Ranker(features="rectangle(1x3,distances=0/2)", lam=1).fit(index, TINY_QUERIES, TINY_QRELS)
    for i, query in enumerate(TINY_QUERIES):
        assert index.rank(query["query"], k=1, model=made).entities == [f"E{i}"]


@pytest.mark.parametrize("top", [1, 5, 10_000])
def test_only_the_best_documents_count(
    index: fader.Index, given: tuple[Queries, Qrels], top: int, tmp_path: Path
) -> None:
    """The index gives a model with `top` the contexts of so many documents, in ranking and in evidence; a file too."""
    made = Ranker(features="noprox", lam=1, top=top).fit(index, *given)
    made.save(tmp_path / "m.json")
    assert read_model(tmp_path / "m.json").system.view == made.model_.system.view == View(top=top)
    for query in given[0][:5]:
        whole = index.contexts(query["query"], query["type"])
        kept = in_best_documents(whole, top)
        documents = set(whole.matching.number[document_ranking(whole, "bm25")[:top]].tolist())
        assert set(kept.document.tolist()) == set(whole.document.tolist()) & documents
        expected = rank_entities(made.model_.system, kept, 1000)
        for model in (made, str(tmp_path / "m.json")):
            ranked = index.rank(query["query"], query["type"], k=1000, model=model)
            assert ranked.scores == expected.score.tolist()
            assert ranked.support == expected.support.tolist()
        answer = index.search(query["query"], query["type"], k=3, model=made, explain=True)
        assert answer.contexts == len(kept)
        assert answer.matched_documents == whole.matched_documents
        for result in answer.results:
            explained = result.explain
            assert explained is not None
            total = sum(c.contribution for c in explained.contexts) + explained.others.contribution
            assert total == pytest.approx(result.score)


def test_how_many_documents_may_be_alternatives(index: fader.Index, given: tuple[Queries, Qrels]) -> None:
    """Written with |, each validated; a number or a text."""
    found = Ranker(features="noprox", lam=1, top="0|3").fit(index, *given)
    assert set(found.choice_.tried) == {"noprox x sum, lambda 1", "noprox x sum, top 3, lambda 1"}
    assert found.model_.system.view.top == (0, 3)[found.choice_.candidate]
    assert Ranker(top=3).spec() == FeatureModel(top="3")
    assert str(FeatureModel(top="0|1000")) == "fader(top=0|1000)"
    assert FeatureModel(top="1000").title == "noprox+rectangle x sum(top=1000)"
    assert [c.view.top for c in FeatureModel(top="0|1000", window="0|5").candidates()] == [0, 1000, 0, 1000]
    for wrong in ("-1", "all", "1.5", ""):
        with pytest.raises(UsageError, match="top must"):
            FeatureModel(top=wrong)

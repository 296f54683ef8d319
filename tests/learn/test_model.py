"""A model is a value that ranks and a file of plain JSON, which is read back bit for bit or refused with a reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.models import feature_model
from fader.errors import FaderError, InputError, StorageError
from fader.features.combined import feature_map
from fader.learn import modelfile as module
from fader.learn.model import Model, parse_model, read_model
from fader.learn.modelfile import CollectionFacts, ModelScope
from fader.rank.ranking import rank_entities
from fader.rank.system import View
from fader.registry import discover
from learn.cases import QUERIES_OF_MODELS as QUERIES

ANALYSIS = {"stemmer": None, "stopwords": [], "unicode": "15.0.0"}
COLLECTION = CollectionFacts(120, 3456, 789, 10)
Plain = dict[str, Any]


def made(features: str = "noprox+rectangle(3x4)", aggregator: str = "sum", **more: Any) -> Model:
    maps = feature_map(features)
    w = np.random.default_rng(3).exponential(size=maps.size) ** 5
    w[::3] = 0.0
    w = np.where(maps.bounds()[0] < 0, -w, w)
    given: Plain = {"analysis": ANALYSIS, "collection": COLLECTION, "provenance": {"seed": 3, "nested": [1.5, None]}}
    scope = {key: more.pop(key) for key in ("analysis", "collection", "portable", "provenance") if key in more}
    return Model(feature_model(features, w, aggregator, **more), ModelScope(**{**given, **scope}))


def scope_of(model: Model) -> ModelScope:
    assert model.scope is not None
    return model.scope


def equal(one: Model, two: Model) -> None:
    assert one.to_dict() == two.to_dict()
    assert one == two
    weights = [np.array(m.system.weights).tobytes() for m in (one, two)]  # type: ignore[attr-defined]
    assert weights[0] == weights[1]


MODELS = [
    made(),
    made("rectangle(distances=0/1/7,shares=0/0.12345/0.5,signed=true)+coverage(2x3)", "logsumexp", policy="mention"),
    made(
        "noprox(use=bm25)+bias", "softor(bias=true)", window="20", ignore_overlap=True, portable=True, collection=None
    ),
    made("popularity+coverage(2x3)", "logmean(-1)", top="1000"),
    made("idfupto(3)", "softcutoff(decay=0.1/0.07/1e-09)", provenance={"who": "Łukasz 鐵"}),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_file_is_read_back_bit_for_bit(model: Model, tmp_path: Path) -> None:
    """Features with edges, weights, aggregator with its decay, view, provenance; it ranks and is written alike."""
    file = tmp_path / "model.json"
    file.write_text(model.to_text(), encoding="utf-8")
    again = read_model(file)
    equal(again, model)
    assert again.to_text() == model.to_text()
    for query in QUERIES:
        one, two = (rank_entities(m.system, query.contexts, 5) for m in (model, again))
        assert one.entity.tolist() == two.entity.tolist()
        assert one.values.tolist() == two.values.tolist()


@pytest.mark.parametrize("name", discover("fader.aggregate"))
def test_any_aggregator_can_be_kept(name: str) -> None:
    equal(parse_model(made(aggregator=name).to_text(), "m"), made(aggregator=name))


@settings(deadline=None)
@given(st.lists(st.floats(-module.LARGEST, module.LARGEST), min_size=5, max_size=5))
def test_any_weight_survives(weights: list[float]) -> None:
    """The largest that a model may have, the smallest and -0 too."""
    model = Model(feature_model("noprox", weights), ModelScope())
    equal(parse_model(model.to_text(), "m"), model)


def version_1(model: Model) -> Plain:
    """The file that 0.1 wrote of features x aggregator."""
    system: Any = model.system
    view = system.view
    plain = {
        "format": "fader-model", "version": 1, "features": str(system.features), "weights": list(system.weights),
        "aggregator": str(system.aggregator), "policy": view.policy, "window": view.window, "overlap": view.overlap,
        "top": view.top, **scope_of(model).to_dict(),
    }  # fmt: skip
    return {**plain, "checksum": module._checksum(plain)}


def old(change: Callable[[Plain], object]) -> str:
    return changed(change, version=1)


def parameters(**more: object) -> Callable[[Plain], object]:
    """Other parameters."""
    return lambda plain: plain["parameters"].update(more)


def changed(change: Callable[[Plain], object], sign: bool = True, version: int = 2) -> str:
    """The text of a model file with something changed; signed anew, so that the checksum fits, or not."""
    plain = made().to_dict() if version == 2 else version_1(made())
    plain.pop("checksum") if sign else None
    change(plain)
    if sign:
        plain["checksum"] = module._checksum(plain)
    return json.dumps(plain)


def no_key(name: str) -> Callable[[Plain], object]:
    return lambda plain: plain.pop(name)


TEXT = made().to_text()
DAMAGED = {
    "empty": ("", "no JSON"),
    "cut": (TEXT[: len(TEXT) // 2], "no JSON"),
    "not JSON": ("\x00\x01 model", "no JSON"),
    "endless": ("[" * 100_000, "no JSON"),
    "a list": ("[1, 2]", "not a model file; make one with `fader train`"),
    "a number": ("7", "not a model file"),
    "another format": (changed(lambda p: p.update(format="other")), "not a model file"),
    "no format": (changed(no_key("format")), "not a model file"),
    "a later version": (changed(lambda p: p.update(version=3)), 'version "3", this release reads 1 and 2'),
    "no version": (changed(no_key("version")), 'version "None", this release reads 1 and 2'),
    "a weight altered": (
        changed(lambda p: p["parameters"]["weights"].__setitem__(1, 0.5), sign=False),
        "cut or altered; train the model again",
    ),
    "a weight more": (changed(lambda p: p["parameters"]["weights"].append(0.5), sign=False), "cut or altered"),
    "the policy altered": (changed(parameters(policy="mention"), sign=False), "cut or altered"),
    "a key more": (changed(lambda p: p.update(more=1), sign=False), "cut or altered"),
    "no checksum": (changed(no_key("checksum"), sign=False), "cut or altered"),
    "half a character": (TEXT.replace('"seed"', '"\\ud800"'), "cut or altered"),
    "nan": (
        changed(lambda p: p["parameters"]["weights"].__setitem__(1, float("nan"))),
        "weights must be finite, but weight 2 is nan",
    ),
    "infinite": (changed(lambda p: p["parameters"]["weights"].__setitem__(0, float("inf"))), "weight 1 is inf"),
    "huge": (
        changed(lambda p: p["parameters"]["weights"].__setitem__(0, -1e308)),
        r"weights must be numbers up to 1e\+100, not -1e\+308; train the model again",
    ),
    "400 digits as a weight": (
        changed(lambda p: p["parameters"]["weights"].__setitem__(0, int("9" * 400))),
        "numbers may have 100 digits at most, not 400; train the model again",
    ),
    "400 digits as a count": (
        changed(lambda p: p["collection"].update(documents=int("9" * 400))),
        "100 digits at most",
    ),
    "10,000 digits": (TEXT.replace('"seed": 3', f'"seed": {"9" * 10_000}'), "100 digits at most, not 10,000"),
    "nested": (TEXT.replace('"seed": 3', '"seed": ' + "[" * 990 + "]" * 990), "model.json: "),
    "stop words as a number": (
        changed(lambda p: p.update(analysis={"stopwords": 7})),
        "analysis must have a stemmer's",
    ),
    "stemmer as a list": (
        changed(lambda p: p.update(analysis={"stemmer": [1]})),
        "analysis must have a stemmer's name",
    ),
    "analysis as a list": (changed(lambda p: p.update(analysis=[["stemmer", 1]])), "not a whole model"),
    "null": (changed(lambda p: p["parameters"]["weights"].__setitem__(0, None)), "weight 1 is nan"),
    "too few weights": (changed(lambda p: p["parameters"]["weights"].pop()), r"needs 17 weights, not 16"),
    "weights of text": (changed(parameters(weights=["a"] * 17)), "not a whole model"),
    "nested weights": (changed(parameters(weights=[[0.5] * 17])), "needs 17 weights"),
    "unknown feature": (changed(parameters(features="noprox+tangle")), 'unknown feature "tangle"'),
    "wrong feature": (changed(parameters(features="rectangle(0x0)")), "shape must be"),
    "no feature": (changed(parameters(features="")), "must name one thing at least"),
    "features as a list": (changed(parameters(features=["noprox"])), "features of fader must be like"),
    "unknown aggregator": (changed(parameters(aggregator="summ")), 'unknown aggregator "summ"'),
    "aggregator as a number": (changed(parameters(aggregator=3)), "aggregator of fader must be like"),
    "unknown policy": (changed(parameters(policy="all")), "policy must be one of document, mention"),
    "window as a text": (changed(parameters(window="wide")), "window must be"),
    "top as a text": (
        changed(parameters(top=100)),
        "top of fader must be like '0'",
    ),
    "a fraction as top": (changed(parameters(top="0.5")), "top must be 0 .none. or a number of documents"),
    "a negative top": (changed(parameters(top="-1")), "top must be 0 .none. or a number of documents"),
    "no system": (changed(no_key("system")), "a model of the system"),
    "no parameters": (changed(no_key("parameters")), "not a whole model"),
    "another parameter": (changed(parameters(depth=3)), "not a whole model"),
    "no analysis": (changed(no_key("analysis")), "not a whole model"),
    "analysis as a number": (changed(lambda p: p.update(analysis=3)), "not a whole model"),
    "collection of something": (changed(lambda p: p.update(collection={"files": 3})), "not a whole model"),
    "a count as a text": (changed(lambda p: p["collection"].update(documents="120")), "not a whole model"),
    "0.1: no features": (old(no_key("features")), "not a whole model"),
    "0.1: no weights": (old(no_key("weights")), "not a whole model"),
    "0.1: too few weights": (old(lambda p: p["weights"].pop()), r"needs 17 weights, not 16"),
    "0.1: weights of text": (old(lambda p: p.update(weights=["a"] * 17)), "not a whole model"),
    "0.1: window as a text": (old(lambda p: p.update(window="wide")), "window must be"),
    "0.1: top as a text": (old(lambda p: p.update(top="100")), 'top must be a number of documents, .*not "100"'),
    "0.1: a fraction as top": (old(lambda p: p.update(top=0.5)), "top must be a number of documents"),
    "0.1: a negative top": (old(lambda p: p.update(top=-1)), "top must be a number of documents"),
    "an origin as a number": (changed(lambda p: p["collection"].update(origin=7)), "not a whole model"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_refused(name: str, tmp_path: Path) -> None:
    """With the file's name and what is wrong; never another error than ours."""
    text, message = DAMAGED[name]
    file = tmp_path / "model.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as found:
        read_model(file)
    assert str(found.value).startswith(f"{file}: ")


@settings(deadline=None, max_examples=200)
@given(st.integers(0, len(TEXT.encode()) - 1), st.integers(0, 255))
def test_any_other_byte_is_refused_or_changes_nothing(at: int, byte: int) -> None:
    """Wherever it is; white space, or another way to write the same number, may do no harm."""
    data = bytearray(TEXT.encode())
    data[at] = byte
    try:
        found = parse_model(data.decode("utf-8", "replace"), "m")
    except FaderError:
        return
    equal(found, made())


def test_a_file_from_before_there_was_a_top_takes_all_documents() -> None:
    """The key is absent there; a model that has one keeps it, and says so in its view."""
    found = parse_model(old(no_key("top")), "m")
    assert found.system.view == View()
    equal(found, made())
    kept = parse_model(json.dumps(version_1(made(top="7"))), "m")
    assert kept.system.view == View(top=7)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_file_of_version_1_is_the_same_model(model: Model) -> None:
    """Everything that 0.1 wrote of features x aggregator."""
    equal(parse_model(json.dumps(version_1(model)), "m"), model)


def test_what_is_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder, nothing, no text, far too much."""
    with pytest.raises(StorageError, match="cannot be read as a model file"):
        read_model(tmp_path)
    with pytest.raises(StorageError, match="no such model file; make one with `fader train`"):
        read_model(tmp_path / "absent.json")
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StorageError, match="cannot be read as a model file"):
        read_model(binary)
    monkeypatch.setattr(module, "LARGEST_BYTES", 2)
    with pytest.raises(InputError, match="that is no model file"):
        read_model(binary)


def test_a_model_fits_its_own_index_only() -> None:
    """The reason is in the error, and what to do."""
    model = scope_of(made())
    model.check(dict(ANALYSIS), COLLECTION)
    stemmed = {**ANALYSIS, "stemmer": "english"}
    with pytest.raises(
        InputError, match=r"analysed with no stemmer.*this index has the stemmer english.*train a model"
    ):
        model.check(stemmed, COLLECTION)
    with pytest.raises(InputError, match="0 stop words, this index has no stemmer and 2 stop words"):
        model.check({**ANALYSIS, "stopwords": ["a", "the"]}, COLLECTION)
    for name in ("documents", "tokens", "mentions", "entities"):
        other = replace(COLLECTION, **{name: 7})
        with pytest.raises(InputError, match=r"another index \(120 documents.*--any-index.*model\.as_portable\(\)"):
            model.check(ANALYSIS, other)


GROWN = CollectionFacts(200, 9999, 1234, 10)


def test_a_model_fits_all_commits_of_its_index() -> None:
    """Later and earlier ones, whatever was added and deleted; not an index of another origin or other words."""
    model = scope_of(parse_model(made(collection=replace(COLLECTION, origin="ab12")).to_text(), "m"))
    assert model.collection == replace(COLLECTION, origin="ab12")
    model.check(ANALYSIS, replace(GROWN, origin="ab12"))
    model.check(ANALYSIS, replace(COLLECTION, origin="cd34"))
    model.check(ANALYSIS, COLLECTION)
    for origin in ("cd34", ""):
        with pytest.raises(InputError, match=r"another index \(120 documents.*this one has 200 documents"):
            model.check(ANALYSIS, replace(GROWN, origin=origin))
    with pytest.raises(InputError, match="analysed with"):
        model.check({**ANALYSIS, "stemmer": "english"}, replace(GROWN, origin="ab12"))


def test_an_unknown_origin_is_nobodys() -> None:
    """Two indexes of which no origin is known are not one."""
    with pytest.raises(InputError, match="another index"):
        scope_of(made()).check(ANALYSIS, GROWN)


def test_a_file_from_before_there_were_origins_opens() -> None:
    """It fits by its counts, as before."""
    found = scope_of(parse_model(changed(lambda p: p["collection"].pop("origin")), "m"))
    assert found.collection == COLLECTION
    found.check(ANALYSIS, replace(COLLECTION, origin="ab12"))
    with pytest.raises(InputError, match="another index"):
        found.check(ANALYSIS, replace(GROWN, origin="ab12"))


@pytest.mark.parametrize(
    ("documents", "warned"), [(120, False), (144, False), (145, True), (96, False), (95, True), (0, True)]
)
def test_a_model_says_that_its_index_has_changed_much(documents: int, warned: bool) -> None:
    """By more than a fifth of the documents it was trained on, more or less."""
    found = scope_of(made(collection=replace(COLLECTION, origin="ab12"))).warnings(
        CollectionFacts(documents, 1, 1, 10, "ab12")
    )
    said = f"the model was trained when the index had 120 documents; it has {documents} now; train it again"
    assert found == ([said] if warned else [])


def test_a_model_from_elsewhere_says_nothing_of_growth() -> None:
    """A portable model, or one of an unknown origin, was never told of this index."""
    assert scope_of(made()).warnings(GROWN) == []
    assert scope_of(made(collection=None)).warnings(GROWN) == []
    assert scope_of(made(collection=replace(COLLECTION, origin="ab12"))).warnings(replace(GROWN, origin="cd34")) == []


def test_anywhere_lifts_the_collection_but_not_the_analysis() -> None:
    """Also after a trip through a file; the model itself stays as it was. A model of no analysis fits any."""
    model = made()
    portable = parse_model(model.as_portable().to_text(), "m")
    scope_of(portable).check(ANALYSIS, CollectionFacts(1, 2, 3, 4))
    with pytest.raises(InputError, match="analysed with"):
        scope_of(portable).check({**ANALYSIS, "stemmer": "english"}, COLLECTION)
    assert not scope_of(model).portable
    equal(replace(portable, scope=replace(scope_of(portable), portable=False)), model)
    scope_of(made(collection=None)).check(ANALYSIS, COLLECTION)
    scope_of(made(analysis={})).check({**ANALYSIS, "stemmer": "english"}, COLLECTION)


def test_a_name_is_short() -> None:
    """Lists of numbers are left out where they are long; a sign inside of a number splits nothing."""
    assert str(made()) == "noprox+rectangle(3x4) x sum"
    long = made("noprox+rectangle(distances=0/1/2/3/4/5/6/7/8/9/10/11/12/13/14,shares=0/0.1/0.2/0.5)")
    assert str(long) == "noprox+rectangle x sum"
    decay = "/".join(f"{10 - i}e+06" for i in range(10))
    assert str(made(aggregator=f"softcutoff(decay={decay})")) == "noprox+rectangle(3x4) x softcutoff"

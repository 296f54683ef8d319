"""Parts of one's own train, search, are saved, and are asked for by name when a model file needs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import fader
from cli.running import passed, refused
from fader.aggregate.sum import Sum
from fader.demo.generate import generate
from fader.errors import InputError, UsageError
from fader.features.combined import feature_map
from fader.features.noprox import NoProx
from fader.features.rectangle import Rectangle
from fader.learn.model import Model, read_model
from fader.learn.modelfile import ModelScope
from fader.registry import _State, discover, load_plugin, require_plugins

PARTS = Path(__file__).parent / "my_parts.py"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("demo")
    generate(place)
    fader.build(place / "index", place / "corpus.jsonl", place / "entities.tsv", place / "types.tsv")
    return place


def test_objects_stand_for_names(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`Ranker(features=MyMap())`; the model file says which plug-in it needs, and how it is given."""
    load_plugin(PARTS)
    near, top = discover("fader.features")["nearby"](width=4), discover("fader.aggregate")["topsum"](2)
    ranker = fader.Ranker(features=near, aggregator=top, lam=1)
    ranker.fit(demo / "index", demo / "queries.jsonl", demo / "qrels.txt").save(tmp_path / "model.json")
    needed = json.loads((tmp_path / "model.json").read_text())["plugins"]
    assert [(p["kind"], p["name"], p["file"], p["class"]) for p in needed] == [
        ("feature", "nearby", "my_parts.py", "my_parts:Nearby"),
        ("aggregator", "topsum", "my_parts.py", "my_parts:TopSum"),
    ]
    index = fader.open(demo / "index")
    one = index.search("landed +mars", model=str(tmp_path / "model.json"))
    assert one.results == index.search("landed +mars", model=ranker).results
    monkeypatch.setattr("fader.registry._state", _State())
    monkeypatch.delenv("FADER_PLUGINS")
    with pytest.raises(InputError) as raised:
        read_model(tmp_path / "model.json")
    assert str(raised.value) == (
        f'{tmp_path / "model.json"}: needs the feature "nearby" of a plug-in (my_parts:Nearby), which is not there; '
        "give --plugin my_parts.py (in Python: fader.load_plugin)"
    )


@pytest.mark.parametrize("system", ["fader", "ranksvm", "lambdamart"])
def test_features_are_texts_maps_and_lists_of_both(system: str) -> None:
    """Wherever features are named; the same parts make the same system, with the same text."""
    load_plugin(PARTS)
    make, near = discover("fader.systems")[system], discover("fader.features")["nearby"]
    for given, text in [
        (near(width=4), "nearby(width=4)"),
        (["noprox", near()], "noprox+nearby"),
        ((feature_map("noprox"), "coverage+nearby"), "noprox+coverage+nearby"),
    ]:
        made = make(features=given)
        assert made == make(features=text)
        assert str(made) == str(make(features=text))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": 3}, 'features must be a text, a feature map such as .* not "3"'),
        ({"features": Rectangle}, "features must be .* not .*Rectangle"),
        ({"features": [Sum()]}, 'features must be .* not "sum"'),
        ({"features": []}, "names no features"),
        ({"features": ["noprox", NoProx()]}, "noprox is there more than once"),
        ({"aggregator": None}, 'aggregator must be a text or an aggregator .* not "None"'),
        ({"aggregator": NoProx()}, 'aggregator must be .* not "noprox"'),
    ],
)
def test_objects_of_another_kind_are_refused(options: dict[str, Any], message: str) -> None:
    """With what is wanted and what was given."""
    with pytest.raises(UsageError, match=message):
        fader.Ranker(**options).spec()


def test_systems_are_one_or_several_or_texts_with_commas(demo: Path) -> None:
    """What a comparison is given."""
    load_plugin(PARTS)
    judged, crowd = (demo / "queries.jsonl", demo / "qrels.txt"), discover("fader.systems")["crowd"]
    names = [
        [system.name for system in fader.compare(demo / "index", *judged, given).systems]
        for given in ("count, crowd(policy=mention)", ["count", crowd(policy="mention")], crowd(policy="mention"))
    ]
    assert names == [["count", "crowd(policy=mention)"], ["count", "crowd(policy=mention)"], ["crowd(policy=mention)"]]


def test_a_class_of_a_script_is_not_asked_for_as_a_plugin() -> None:
    """A model file that needs one says where the class was, and what to do."""
    needed = [{"kind": "system", "name": "throng", "module": "__main__", "class": "__main__:Throng"}]
    with pytest.raises(InputError, match=r"defined in a script or notebook.*register it again \(fader.register\)"):
        require_plugins(needed, "model.json")


def test_the_command_line_trains_compares_and_searches(demo: Path, tmp_path: Path) -> None:
    """With the plug-in named once on each command."""
    judged = ("--queries", demo / "queries.jsonl", "--qrels", demo / "qrels.txt")
    plugin, model = ("--plugin", PARTS), tmp_path / "model.json"
    features = ("--features", "noprox+nearby(width=8)", "--aggregator", "sum", "--lambda", "1")
    passed("train", demo / "index", *judged, "-o", model, *features, *plugin)
    assert "nearby" in passed("search", demo / "index", "landed +mars", "--model", model, *plugin).out
    assert "crowd" in passed("search", demo / "index", "landed +mars", "--model", "crowd", *plugin).out
    assert "crowd" in passed("systems", *plugin).out
    systems = ("--systems", "count,crowd", "--sample", "8", "-o", tmp_path / "report")
    assert "crowd" in passed("compare", demo / "index", *judged, *systems, *plugin).out


def test_a_missing_plugin_is_named(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the command line, with what to give."""
    load_plugin(PARTS)
    system = discover("fader.systems")["crowd"]()
    model = tmp_path / "crowd.json"
    model.write_text(Model(system, ModelScope(portable=True)).to_text(), encoding="utf-8")
    monkeypatch.setattr("fader.registry._state", _State())
    monkeypatch.delenv("FADER_PLUGINS")
    shown = refused(1, "search", demo / "index", "mars", "--model", model)
    assert 'needs the system "crowd" of a plug-in (my_parts:Crowd), which is not there; give --plugin' in shown

"""Questions on a small world: how they are read, ranked over all readings, trained, and asked on the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import fader
from fader.cli import cli
from fader.cli.train import draw_reliability
from fader.corpus.queries import QueryLine
from fader.corpus.singular import find_singular
from fader.errors import FaderError, InputError, QueryError, UsageError
from fader.experiment.questions import QuestionJudge, ask_judged, choose_dropped, measure_drops
from fader.learn.interpreter import (
    CALIBRATED,
    START,
    Interpreter,
    default_interpreter,
    parse_interpreter,
    read_interpreter,
)
from fader.learn.model import parse_model, read_model
from fader.questions.calibration import apply_calibration, fit_calibration, measure_calibration, suggest_cut
from fader.questions.mixture import find_members, score_mixture, share_readings
from fader.questions.reader import softmax
from fader.questions.train import QuestionData, count_associations, keep_telling, measure_loss
from fader.questions.words import MOST_WORDS, is_question, split_question
from fader.search.models import resolve_model

TYPES = [
    {"id": "thing", "name": "thing", "supertypes": []},
    {"id": "person", "name": "person, individual", "supertypes": ["thing"]},
    {"id": "painter", "name": "painter", "supertypes": ["person"]},
    {"id": "place", "name": "location", "supertypes": ["thing"]},
    {"id": "city", "name": "municipality", "supertypes": ["place"]},
    {"id": "actor.1", "name": "actor", "supertypes": ["person"]},
    {"id": "actor.2", "name": "actor", "supertypes": ["thing"]},
]
ENTITIES = [
    {"id": "gogh", "name": "Vincent van Gogh", "types": ["painter"]},
    {"id": "monet", "name": "Claude Monet", "types": ["painter"]},
    {"id": "arles", "name": "Arles", "types": ["city"]},
    {"id": "berlin", "name": "Berlin", "types": ["city"]},
    {"id": "owens", "name": "Jesse Owens", "types": ["person"]},
    {"id": "kate", "name": "Kate", "types": ["actor.1"]},
    {"id": "leo", "name": "Leo", "types": ["actor.1"]},
    {"id": "agent", "name": "Agent", "types": ["actor.2"]},
]
TEXTS = {
    "d1": ("Vincent van Gogh painted Sunflowers in Arles", [("gogh", 0, 16), ("arles", 39, 44)]),
    "d2": ("Arles sells sunflowers and bread", [("arles", 0, 5)]),
    "d3": ("Claude Monet painted haystacks", [("monet", 0, 12)]),
    "d4": ("Berlin hosted the games of 1936 where Jesse Owens won", [("berlin", 0, 6), ("owens", 38, 49)]),
    "d5": ("Kate and Leo played in Titanic with an Agent", [("kate", 0, 4), ("leo", 9, 12), ("agent", 39, 44)]),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    corpus = [
        {"id": doc, "text": text, "mentions": [{"entity": e, "start": a, "end": b} for e, a, b in mentions]}
        for doc, (text, mentions) in TEXTS.items()
    ]
    return fader.build(tmp_path_factory.mktemp("questions") / "index", corpus, ENTITIES, TYPES)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Who painted Sunflowers?", "gogh"),
        ("What city hosted the 1936 games?", "berlin"),
        ("Which painters painted haystacks?", "monet"),
        ("Where are sunflowers sold?", "arles"),
        ("Who won in 1936?", "owens"),
    ],
)
def test_first_answer(index: fader.Index, question: str, first: str) -> None:
    """A plain question has the entity of the right type first, though another one stands nearer to its words."""
    assert index.ask(question).results[0].entity == first


def test_contributions_of_readings_add_up(index: fader.Index) -> None:
    """Probabilities of readings add up to 1, and their contributions to the score of each entity."""
    answer = index.ask("Who painted Sunflowers?")
    assert sum(reading.probability for reading in answer.readings) == pytest.approx(1)
    for result in answer.results:
        assert sum(share.contribution for share in result.readings) == pytest.approx(result.score)


def test_scores_are_those_of_brute_force(index: fader.Index) -> None:
    """s(e|q) = ln sum_z p(z) [e in t_z] - b ln rank(e), with members found by walking the hierarchy."""
    above = {t["id"]: t["supertypes"] for t in TYPES}

    def covers(type_id: str | None, direct: list[str]) -> bool:
        return type_id is None or any(t == type_id or covers(type_id, above[t]) for t in direct)

    answer, b = index.ask("Who painted Sunflowers?"), default_interpreter().temperature
    order = index.rank(answer.readings[0].query, k=100).entities
    types = {e["id"]: e["types"] for e in ENTITIES}
    expected = {}
    for rank, entity in enumerate(order, 1):
        prior = sum(r.probability for r in answer.readings if covers(r.type, types[entity]))
        expected[entity] = np.log(prior) - b * np.log(rank)
    assert {r.entity: r.score for r in answer.results} == pytest.approx(expected)


def test_a_reading_can_be_asked_alone(index: fader.Index) -> None:
    """The query and the type of a reading are those of a typed search."""
    reading = next(r for r in index.read("Who painted Sunflowers?").readings if r.type == "person")
    assert index.search(reading.query, reading.type).results[0].entity == "gogh"


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Who painted Sunflowers?", "painted Sunflowers"),  # no name of the catalog
        ("Who painted Sunflowers in Arles?", "painted Sunflowers +Arles"),
        ("Where did Jesse Owens win in Berlin?", '"Jesse Owens" win +Berlin'),  # of as many documents the last
        ("Arles sells bread", "Arles sells bread"),  # the capital is that of the sentence
        ("Who sells many fine sunflowers and bread and games and haystacks in Arles?",
         "sells fine sunflowers bread games haystacks +Arles"),
        ("Who sells many fine sunflowers and bread and games and haystacks, painted in Arles?",
         "sells fine sunflowers bread games haystacks painted Arles"),
    ],
)  # fmt: skip
def test_the_rarest_name_is_required(index: fader.Index, question: str, query: str) -> None:
    """Of at most seven literals the name that fewest documents have, and no other word."""
    assert index.read(question).readings[0].query == query


def test_dropped_words_are_no_literals(index: fader.Index) -> None:
    """They are left out, whatever their case, but not out of phrases, and not where no other literal is left."""
    how = replace(default_interpreter(), dropped=("painted", "owens"))
    read = lambda question: index.read(question, interpreter=how).readings[0].query  # noqa: E731
    assert read("Who Painted sunflowers?") == "sunflowers"
    assert read("What did Jesse Owens win?") == '+"Jesse Owens" win'
    assert read("Who painted?") == "painted"
    assert read("Who painted, but not in Arles?") == "painted -Arles"


def test_a_forbidden_name_has_its_particles(index: fader.Index) -> None:
    """A particle between capitals belongs to the name, and other words after a name do not."""
    read = lambda question: index.read(question).readings[0].query  # noqa: E731
    assert read("Which haystacks are not by Vincent van Gogh?") == 'haystacks -"Vincent van Gogh"'
    assert read("Which haystacks are not by Vincent in Arles?") == "haystacks +Arles -Vincent"


def test_words_are_dropped_that_cost_precision() -> None:
    """Of five questions or more, where the mean of the gains and of two zeros is above .005."""
    gains = [{"tutorial": 0.008, "rare": 1.0, "either": 0.1 * (-1.0) ** (i + 1), "less": 0.006} for i in range(5)]
    del gains[0]["rare"]
    assert choose_dropped(gains) == ("tutorial",)


def test_gains_are_those_of_leaving_a_word_out(index: fader.Index) -> None:
    """By hand: each question is asked with the word and without it, by the same interpreter."""
    model = resolve_model("default", index.collection, any_index=True)
    questions = ["Who painted Sunflowers?", "Who painted haystacks?", "Who played, painted in Titanic?"]
    lines = [QueryLine(str(i), "", None, question, "") for i, question in enumerate(2 * questions)]
    grades = {line.id: {["gogh", "monet", "kate"][i % 3]: 1} for i, line in enumerate(lines)}
    judge, how = QuestionJudge(index, grades, model), default_interpreter()
    gains = measure_drops(judge, lines, how)
    for line in lines:
        assert gains[line.id].keys() == {"painted"}
        (kept,), (left_out,) = judge.judge([line], how.dropped), judge.judge([line], ("painted",))
        gain = ask_judged(left_out, how).precision - ask_judged(kept, how).precision
        assert gains[line.id]["painted"] == pytest.approx(gain)


def test_senses_are_told_apart(index: fader.Index) -> None:
    """The sense with the most entities comes first, and the note offers the other."""
    answer = index.ask("Which actors played in Titanic?")
    assert answer.readings[0].type == "actor.1"
    assert any("actor.2" in warning for warning in answer.warnings)


def test_a_catalog_without_types_is_asked_for_anything(tmp_path: Path) -> None:
    """As one is that was found in texts which say of nobody what he is."""
    mention = {"start": 0, "end": 5, "entity": "monet"}
    corpus = [{"id": "d", "text": "Monet painted haystacks", "mentions": [mention]}]
    index = fader.build(
        tmp_path / "index", corpus=corpus, entities=[{"id": "monet", "name": "Monet", "types": []}], types=[]
    )
    answer = index.ask("Who painted haystacks?")
    assert [reading.type for reading in answer.readings] == [None]
    assert [result.entity for result in answer.results] == ["monet"]


def test_misspelt_words_are_corrected_and_said(index: fader.Index) -> None:
    """A word that occurs nowhere becomes the catalog's word most like it, unless corrections are off."""
    answer = index.ask("What did Vinzent paint in Arles? sunflowers")
    assert answer.corrected == {"Vinzent": "vincent"}
    assert any("Vinzent" in warning for warning in answer.warnings)
    assert index.ask("What did Vinzent paint in Arles? sunflowers", correct=False).corrected == {}


def test_negation_number_and_extremes(index: fader.Index) -> None:
    """What is negated is forbidden, numbers stay, and what a ranking cannot answer is said."""
    answer = index.ask("Which people not in Arles painted haystacks or sunflowers?")
    assert [one.text for one in answer.query.literals if one.mode == "forbidden"] == ["Arles"]
    assert [r.entity for r in answer.results] == ["monet"]
    assert "1936" in index.ask("Who won in 1936?").readings[0].query
    assert any("not counted" in w for w in index.ask("How many painters painted haystacks?").warnings)
    assert any("largest" in w for w in index.ask("Which is the largest city with sunflowers?").warnings)


@pytest.mark.parametrize("question", ["", "   ", "?!", "Who is?", "what which who"])
def test_questions_without_content_are_refused(index: fader.Index, question: str) -> None:
    """A question without words to look for is an error that says what to do."""
    with pytest.raises(QueryError, match=r"ask for something|say what"):
        index.ask(question)


@given(st.text(max_size=300))
def test_any_text_is_answered_or_refused(index: fader.Index, text: str) -> None:
    """Whatever is asked, there is an answer or an error of ours, and asking again gives the same."""
    try:
        first = index.rank_question(text)
    except FaderError:
        return
    assert first == index.rank_question(text)


def test_long_questions_are_cut(index: fader.Index) -> None:
    """Of 2,000 words the first count, and this is said; more characters than are read is an error."""
    answer = index.ask("Who painted sunflowers " + "and bread " * 1000)
    assert any(f"more than {MOST_WORDS} words" in warning for warning in answer.warnings)
    with pytest.raises(QueryError, match="shorten"):
        index.ask("x " * 20_000)


def test_words_of_a_question() -> None:
    """Question word, head noun, quoted words and negated ones are found by their places."""
    words = split_question('Which operas not by Verdi have "La donna" in them?')
    assert (words.asks, [words.folded[i] for i in words.run]) == ("which", ["operas"])
    assert [words.folded[a:b] for a, b in words.quoted] == [("la", "donna")]
    assert [words.folded[a:b] for a, b in words.negated] == [("not", "by", "verdi")]
    assert split_question("Who did not win?").negated == ()


@pytest.mark.parametrize(
    ("plural", "singular"), [("cities", "city"), ("people", "person"), ("boxes", "box"), ("gas", "gas")]
)
def test_lemma(plural: str, singular: str) -> None:
    """Regular plurals by rule, others by list."""
    assert find_singular(plural) == singular


def test_members_are_those_below(index: fader.Index) -> None:
    """An entity is a member of its types and all above them, and of no type."""
    catalog = index.collection.catalog
    every, numbers = np.arange(len(ENTITIES), dtype=np.int32), [*range(len(TYPES)), -1]
    member = find_members(catalog, numbers, every)
    for e, place in product(every.tolist(), range(len(TYPES))):
        assert member[e, place] == (e in catalog.entities_of_type(place))
    assert member[:, -1].all()


def _make_questions(rng: np.random.Generator) -> list[QuestionData]:
    def make() -> QuestionData:
        member = rng.random((9, 4)) < 0.5
        member[:, -1] = True
        good = np.arange(9) < 3
        return QuestionData(rng.normal(size=(4, len(START))), member, rng.normal(size=9), rng.permutation(good))

    return [make() for _i in range(4)]


def test_gradient_of_the_loss() -> None:
    """The gradient is that of finite differences, in the weights and in the temperature."""
    rng = np.random.default_rng(3)
    questions, at = _make_questions(rng), rng.normal(size=len(START) + 1)
    _loss, gradient = measure_loss(at, questions)
    for i in range(at.size):
        step = np.zeros(at.size)
        step[i] = 1e-6
        slope = (measure_loss(at + step, questions)[0] - measure_loss(at - step, questions)[0]) / 2e-6
        assert gradient[i] == pytest.approx(slope, abs=1e-6)


def test_slope_of_a_score_along_a_reading() -> None:
    """d s(e) / d g(z) = r(z|e) - p(z)."""
    rng = np.random.default_rng(5)
    g, member, values = rng.normal(size=4), np.array([[True, False, True, True]]), np.array([-1.0])
    expected = share_readings(member, softmax(g))[0] - softmax(g)
    for z in range(4):
        step = np.eye(4)[z] * 1e-6
        high, low = (score_mixture(values, member, softmax(g + s), 0.7)[0] for s in (step, -step))
        assert expected[z] == pytest.approx((high - low) / 2e-6, abs=1e-6)


def test_interpreter_file(tmp_path: Path) -> None:
    """An interpreter comes back from its file as it was; another file is refused."""
    given_ = default_interpreter()
    given_.save(tmp_path / "one.json")
    assert read_interpreter(tmp_path / "one.json") == given_
    assert Interpreter() != given_
    for bad in (b"{}", b"[]", b"x", b'{"format": "fader-model", "version": 1, "features": []}'):
        with pytest.raises(InputError):
            parse_interpreter(bad, "bad")


def test_ask_command(index: fader.Index) -> None:
    """`fader ask` shows how it read the question; --json has all readings."""
    run = lambda *words: CliRunner().invoke(cli, ["ask", str(index.collection.folder), *words])  # noqa: E731
    shown = run("Who painted Sunflowers?")
    assert shown.exit_code == 0
    assert "read as:" in shown.output
    assert "Vincent van Gogh" in shown.output
    plain = json.loads(run("Who painted Sunflowers?", "--json").output)
    assert plain["results"][0]["entity"] == "gogh"
    assert len(plain["readings"]) > 1


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Who painted Sunflowers?", True), ("which painters", True), ("List all cities", True), ("sunflowers?", False),
        ("painted sunflowers", False), ("who +painted", False), ('who "van Gogh"', False), ("who type:person", False),
        ("", False), ("well-known painters in Arles?", True),
    ],
)  # fmt: skip
def test_is_question(text: str, asks: bool) -> None:
    """A text is a question by its first word or its last sign, unless it has signs of the query language."""
    assert is_question(text) == asks


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["Who painted Sunflowers?"], False),
        (["Who painted Sunflowers?", "--ask", "auto"], True),
        (["Who painted Sunflowers?", "--ask", "auto", "--type", "person"], False),
        (["painted +sunflowers", "--ask", "auto"], False),
        (["painted sunflowers", "--ask", "always", "--type", "painter"], True),
    ],
)
def test_search_falls_back_to_asking(index: fader.Index, words: list[str], asked: bool) -> None:
    """`fader search --ask auto` asks where the text is a question without type and signs; by default it never does."""
    done = CliRunner().invoke(cli, ["search", str(index.collection.folder), *words, "--json"])
    assert done.exit_code == 0, done.output
    assert ("readings" in json.loads(done.output)) == asked


def test_batch_of_questions(index: fader.Index, tmp_path: Path) -> None:
    """`fader batch --questions` reads the question alone, and its run is what `rank_question` gives."""
    line = {"id": "q1", "question": "Who painted Sunflowers?", "type": "no such type", "query": "-"}
    (tmp_path / "q.jsonl").write_text(
        json.dumps(line) + "\n" + json.dumps({"id": "q2", "question": "Who won in 1936?"})
    )
    words = ["batch", str(index.collection.folder), "--questions", "--queries", str(tmp_path / "q.jsonl")]
    done = CliRunner().invoke(cli, [*words, "--run", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    rows = [row.split() for row in (tmp_path / "run").read_text().splitlines()]
    found = index.rank_question("Who painted Sunflowers?", 1000)
    assert [(row[2], float(row[4])) for row in rows if row[0] == "q1"] == list(
        zip(found.entities, found.scores, strict=True)
    )
    assert next(row[2] for row in rows if row[0] == "q2") == "owens"


@pytest.mark.parametrize(
    ("question", "asks", "run"),
    [
        ("gods who dwelt on Mount Olympus", "", ["gods"]),
        ("Formula 1 drivers that won in Monaco", "", ["Formula", "1", "drivers"]),
        ("Give me the capitals of all countries in Africa", "", ["capitals"]),
        ("In which military conflicts did he fight?", "which", ["military", "conflicts"]),
        ("What kind of money do they use?", "what", ["money"]),
        ("This youth, who was a shepherd, wrote what?", "what", ["youth"]),
        ("Who painted these?", "who", []),
    ],
)
def test_head_of_a_question(question: str, asks: str, run: list[str]) -> None:
    """Relative clauses ask nothing; requests and "kind of" lead to the noun behind them."""
    words = split_question(question)
    assert words.asks == asks
    assert [question[a:b] for a, b in (words.at[i] for i in words.run)] == run


def test_calibration_is_fitted_and_measured() -> None:
    """Probabilities that were fitted fit: their error is small, and that of a constant is not; a cut takes the sure."""
    rng = np.random.default_rng(2)
    known = rng.normal(size=(4000, CALIBRATED))
    known[:, 0] = 1.0
    truth = np.array([-1.0, 2.0, -1.0, 0.5, 0.0, 1.0])
    good = rng.random(4000) < apply_calibration(known, tuple(truth))
    weights = fit_calibration(known[:2000], good[:2000], np.ones(2000))
    assert weights == pytest.approx(truth, abs=0.3)
    error, bins = measure_calibration(apply_calibration(known[2000:], weights), good[2000:])
    assert error < 0.03
    assert sum(count for _mean, _share, count in bins) == 2000
    assert measure_calibration(np.full(10, 0.95), np.zeros(10, dtype=bool))[0] == pytest.approx(0.95)
    assert suggest_cut(np.array([0.9, 0.8, 0.05, 0.01])) == 2


@pytest.fixture(scope="module")
def trained(index: fader.Index, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with an interpreter, trained on questions by the command."""
    folder = tmp_path_factory.mktemp("trained")
    asked = [
        ("Who painted Sunflowers?", "gogh"), ("What city hosted the games?", "berlin"),
        ("Which painters painted haystacks?", "monet"), ("Where are sunflowers sold?", "arles"),
        ("Who won in 1936?", "owens"), ("Which actors played in Titanic?", "kate"),
    ]  # fmt: skip
    lines = [{"id": str(i), "question": asked[i % 6][0]} for i in range(18)]
    (folder / "q.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (folder / "qrels.txt").write_text("".join(f"{i} 0 {asked[i % 6][1]} 1\n" for i in range(18)))
    words = ["train", str(index.collection.folder), "--questions", "--queries", str(folder / "q.jsonl")]
    words += ["--qrels", str(folder / "qrels.txt"), "-o", str(folder / "model.json"), "--json"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary["questions"] == 18
    assert 0 <= summary["calibration_error"] <= 1
    assert 0.5 < summary["validation_ap"] <= 1
    return folder / "model.json"


def test_a_trained_interpreter_is_part_of_the_model(index: fader.Index, trained: Path) -> None:
    """`--model` brings it along; another interpreter can still be given."""
    model = read_model(trained)
    assert model.interpreter is not None
    assert model.interpreter != default_interpreter()
    assert parse_model(model.to_text(), "again") == model
    answer = index.ask("Who painted Sunflowers?", model=str(trained))
    assert answer.results[0].entity == "gogh"
    assert answer.results[0].probability is not None
    assert answer.expected is not None
    own = index.ask("Who painted Sunflowers?", model="default", interpreter=model.interpreter)
    assert [r.score for r in own.results] == [r.score for r in answer.results]


def test_answers_that_are_not_sure_can_be_left_out(index: fader.Index, trained: Path) -> None:
    """`min_probability` keeps the sure ones; an interpreter without calibration cannot."""
    every = index.ask("Who painted Sunflowers?", model=str(trained))
    least = sorted(r.probability or 0 for r in every.results)[-1]
    kept = index.ask("Who painted Sunflowers?", model=str(trained), min_probability=least)
    assert [r.entity for r in kept.results] == [r.entity for r in every.results if (r.probability or 0) >= least]
    with pytest.raises(UsageError, match="calibrated"):
        index.ask("Who painted Sunflowers?", interpreter=Interpreter(), min_probability=0.5)


def test_training_needs_questions(index: fader.Index, tmp_path: Path) -> None:
    """Too few judged questions, or none at all, is an error that says so."""
    (tmp_path / "q.jsonl").write_text(json.dumps({"id": "1", "question": "Who painted Sunflowers?"}))
    (tmp_path / "none.jsonl").write_text(json.dumps({"id": "1", "question": ""}))
    (tmp_path / "qrels.txt").write_text("1 0 gogh 1\n")
    for file, message in (("q.jsonl", "training needs"), ("none.jsonl", "no line has a question")):
        words = ["train", str(index.collection.folder), "--questions", "--queries", str(tmp_path / file)]
        done = CliRunner().invoke(cli, [*words, "--qrels", str(tmp_path / "qrels.txt"), "-o", str(tmp_path / "m.json")])
        assert message in str(done.exception)


def test_snippets_are_the_same_however_they_are_found(index: fader.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evidence that comes with the ranking is that of the contexts of the shown entities alone."""
    quick = [r.evidence for r in index.ask("Who painted Sunflowers?", snippets=3).results]
    monkeypatch.setattr("fader.search.ask.MOST_DEEP", 0)
    assert [r.evidence for r in index.ask("Who painted Sunflowers?", snippets=3).results] == quick
    assert any(quick)


def test_which_adds_no_type_to_an_unknown_noun(index: fader.Index) -> None:
    """A noun that names no type leaves the type open, whatever other questions with "which" asked for."""
    assert index.read("Which telescopes orbit Arles?").readings[0].type is None


def test_question_words_keep_what_they_say_beyond_all_questions() -> None:
    """(s - c) / (1 - c) by hand: all four questions have drugs, half of those with "who", none other, have persons."""
    shares = [{"drug": 1.0, "person": 1.0}, {"drug": 1.0}, {"drug": 1.0}, {"drug": 1.0}]
    hints = [["asks:who", "head:x"], ["asks:who"], ["asks:which"], ["asks:which", "head:x"]]
    found = keep_telling(count_associations(hints, shares), shares)
    assert found.names["asks:which"] == {}
    assert found.names["asks:who"] == pytest.approx({"person": 2 * (0.5 - 0.25) / 0.75})
    assert found.names["head:x"] == {"drug": 2.0, "person": 1.0}


def test_reliability_is_drawn() -> None:
    """A line per bin, with a bar as long as the share of right answers."""
    lines = draw_reliability([(0.05, 0.0, 1_200), (0.52, 0.5, 8)])
    assert lines == [
        "probability  right  answers",
        "       0.05   0.00    1,200  ",
        "       0.52   0.50        8  " + 20 * "=",
    ]
    assert draw_reliability([]) == []

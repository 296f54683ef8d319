"""A model learned from judgments is better on what was judged, is adopted whole, and can be rolled back."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import fader
from dose import dose
from fader.errors import InputError, UsageError
from fader.judging.learn import LearnReport, learn
from fader.judging.learned import LearnedModels
from fader.judging.propose import propose
from fader.judging.record import JudgedReading, Judgment
from fader.learn.model import Model
from fader.search.models import default_model, shipped_model
from fader.systems.base import parse_system

TYPES = [{"id": "person", "name": "person"}]
WORDS = ["violin", "piano", "harp", "flute", "drum", "organ", "viola", "cello"]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    """For each instrument one person plays it, in the words right before the name; many others are named further on."""
    entities = [{"id": f"E{i}", "name": f"Name{i}x", "types": ["person"]} for i in range(16)]
    documents = []
    for i, word in enumerate(WORDS):
        for copy in range(3):
            near, far = f"Name{i}x", f"Name{8 + (i + copy) % 8}x"
            text = (
                f"{word} player {near} came. Long after the {word} had been sold, and much else, there was {far} {far}."
            )
            mentions = []
            for name, entity in ((near, f"E{i}"), (far, f"E{8 + (i + copy) % 8}")):
                start = text.index(name)
                mentions.append({"start": start, "end": start + len(name), "entity": entity})
            documents.append({"id": f"d{i}-{copy}", "text": text, "mentions": mentions})
    return fader.build(tmp_path_factory.mktemp("learn") / "index", documents, entities, TYPES)


def judgments(count: int, who: str = "ada") -> list[Judgment]:
    """The person next to the word is right, those further on are wrong."""
    found = []
    for i, word in enumerate(WORDS[:count]):
        reading = JudgedReading(f"Who plays the {word}?", word, "person")
        found.append(Judgment(who, "now", reading, f"E{i}", 2))
        found.append(Judgment(who, "now", reading, f"E{8 + i % 8}", 0))
    return found


def test_what_is_learned_is_compared_without_leaks(index: fader.Index) -> None:
    """Old and new on every judged question, by folds; the new model ranks all of them right here."""
    told: list[float] = []

    class Told:
        def update(self, done: float, total: float | None = None, note: str = "") -> None:
            told.append(done / (total or 1))

    found = learn(index, judgments(8), default_model(), Told())
    report = found.report
    assert (report.questions, report.judgments, report.folds) == (8, 16, 5)
    assert report.new_map == pytest.approx(sum(each.new for each in report.per_question) / 8)
    assert report.old_map == pytest.approx(sum(each.old for each in report.per_question) / 8)
    assert report.better == sum(each.new > each.old for each in report.per_question)
    assert report.worse == sum(each.new < each.old for each in report.per_question)
    assert report.new_map == 1.0
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(found.ensemble) == 5
    assert index.rank("violin", "person", 1, found.model).entities == ["E0"]


def test_few_judgments_move_a_model_a_little(index: fader.Index) -> None:
    """The more questions are judged, the further the weights are from those that ship."""

    def distance(count: int) -> float:
        learned, old = learn(index, judgments(count), default_model()).model.system, default_model().system
        pairs = zip(learned.second_system.weights, old.second_system.weights, strict=True)  # type: ignore[attr-defined]
        return sum((a - b) ** 2 for a, b in pairs)

    assert 0 < distance(2) < distance(8) < 1


def test_learning_again_begins_where_it_began(index: fader.Index) -> None:
    """With the weights that ship, not with those of the judgments before."""
    once = learn(index, judgments(8), default_model()).model
    again = learn(index, judgments(8), once).model
    assert again.system == once.system
    assert once.system.prior == default_model().system.second_system.weights  # type: ignore[attr-defined]


def test_a_better_model_of_another_kind_stays(index: fader.Index) -> None:
    """The default one takes its place only where the judged questions prefer it."""
    wrong = [replace(j, grade=2 - j.grade) for j in judgments(8)]
    far = parse_system("fader(features=windows,aggregator=max,weights=-1/0)")
    kept = learn(index, wrong, Model(far))
    assert kept.model.system == far
    assert kept.report.new_map == kept.report.old_map
    assert learn(index, judgments(8), shipped_model("paper")).report.base == "default"


def test_judgments_that_teach_nothing_are_refused(index: fader.Index) -> None:
    """None, none that is right, or one question alone."""
    for few in ([], [replace(j, grade=0) for j in judgments(3)], judgments(1)):
        with pytest.raises(InputError):
            learn(index, few, default_model())


def test_proposals_are_unjudged_answers_that_models_disagree_on(index: fader.Index) -> None:
    """The most telling first, at most so many, and the gain is what they are worth per question."""
    known = judgments(4)
    readings = [JudgedReading("Who came?", "came", "person"), *(j.reading for j in known)]
    models = [default_model().system, *learn(index, known, default_model()).ensemble]
    found = propose(index, readings, {(j.reading, j.entity) for j in known}, models, most=5)
    assert 0 < len(found.proposals) <= 5
    worths = [each.worth for each in found.proposals]
    assert worths == sorted(worths, reverse=True)
    assert found.gain == pytest.approx(sum(worths) / 5)
    judged = {(j.reading.query, j.entity) for j in known}
    assert not judged & {(each.query, each.entity) for each in found.proposals}
    assert propose(index, [JudgedReading("", "no type", "gone")], set(), models).proposals == []


def test_models_are_adopted_and_rolled_back(index: fader.Index, tmp_path: Path) -> None:
    """By name; the one before ranks again, at last the one that the service had."""
    kept = LearnedModels(tmp_path / "index")
    assert (kept.names(), kept.adopted()) == ([], None)
    found = learn(index, judgments(4), default_model())
    assert [kept.save(found.model, found.report) for _time in range(3)] == ["learned-1", "learned-2", "learned-3"]
    assert kept.adopted() is None
    assert kept.report("learned-2") == found.report
    kept.adopt("learned-1")
    kept.adopt("learned-3")
    adopted = LearnedModels(tmp_path / "index").adopted()
    assert adopted is not None
    assert (adopted[0], adopted[1].to_text()) == ("learned-3", found.model.to_text())
    assert kept.roll_back() == "learned-1"
    assert kept.roll_back() is None
    assert kept.roll_back() is None
    assert kept.adopted() is None
    for wrong in ("learned-9", "../learned-1", ""):
        with pytest.raises(UsageError):
            kept.adopt(wrong)


CHILD = """
import sys
from fader.judging.learn import LearnReport
from fader.judging.learned import LearnedModels
from fader.search.models import default_model
kept = LearnedModels(sys.argv[1])
report = LearnReport(1, 1, 2, "", 0.0, 1.0, 1, 0, 1.0, False, [], [], [])
print("ready", flush=True)
for i in range(30):
    kept.adopt(kept.save(default_model(), report))
    if i % 3 == 2:
        kept.roll_back()
"""


def test_kill_9_leaves_a_whole_model(tmp_path: Path) -> None:
    """Whenever the process dies, the model that ranks is whole, and so is every model that is listed."""
    draw, folder = random.Random(4), tmp_path / "index"
    LearnedModels(folder).save(default_model(), LearnReport(1, 1, 2, "", 0.0, 1.0, 1, 0, 1.0, False, [], [], []))
    LearnedModels(folder).adopt("learned-1")
    for _life in range(dose(50, least=2)):
        with subprocess.Popen([sys.executable, "-c", CHILD, str(folder)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            assert child.stdout.readline().strip() == b"ready"
            wanted = len(LearnedModels(folder).names()) + draw.randrange(1, 4)
            while len(LearnedModels(folder).names()) < wanted and child.poll() is None:
                pass
            child.send_signal(signal.SIGKILL)
        kept = LearnedModels(folder)
        adopted = kept.adopted()
        assert adopted is not None
        assert adopted[1].to_text() == default_model().to_text()
        for name in kept.names():
            assert kept.read(name).to_text() == default_model().to_text()
            assert kept.report(name) is not None
        for path in kept.folder.glob("learned-[2-9]*"):
            if path.stem.removesuffix(".report") != adopted[0]:
                path.unlink()
        kept.adopt(adopted[0])

"""Nothing done is not success: each wrong input is said in words, with the right exit code, and nothing is lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli.running import fader, passed

DOCUMENT = '{"id": "d1", "text": "Ada wrote it.", "mentions": [{"start": 0, "end": 3, "entity": "ada"%s}]}\n'
FILES = {
    "corpus.jsonl": DOCUMENT % "",
    "entities.tsv": "ada\tAda Lovelace\tperson\n",
    "types.tsv": "person\tperson\t\n",
    "queries.jsonl": "".join(f'{{"id": "q{n}", "query": "+wrote", "type": "person"}}\n' for n in (1, 2)),
    "qrels.txt": "q1 0 ada 1\nq2 0 ada 1\n",
    "run.txt": "q1 Q0 ada 1 1.0 x\n",
    "empty": "",
    "blank": "\n\n",
    "garbage.jsonl": "no json\n{}\n[1]\n",
    "above.jsonl": DOCUMENT % ', "confidence": 95',
    "below.jsonl": DOCUMENT % ', "confidence": -0.5',
    "nan.jsonl": DOCUMENT % ', "confidence": 1e999',
    "strange.txt": "q1 0 nobody 1\nq1 0 ada 1\nq2 0 ada 1\n",
    "others.txt": "z9 0 ada 1\n",
    "bad-grades.txt": "q1 0 ada good\n",
    "zeros.txt": "q1 0 ada 0\nq2 0 ada 0\n",
    "no-type.tsv": "ada\tAda Lovelace\tghost\n",
    "header.csv": "id,name,type\n",
    "one-field.jsonl": '{"id": "q1"}\n',
    "hopper.txt": "Grace Hopper wrote it.\n",
}
CATALOG = "--entities entities.tsv --types types.tsv"
JUDGED = "--queries queries.jsonl --qrels"
# What is typed, the exit code, what is said.
CASES = [
    (f"index empty {CATALOG} -o new", 1, "the index is empty: no document with a word was found"),
    (f"index blank {CATALOG} -o new", 1, "the index is empty: no document with a word was found"),
    (f"index garbage.jsonl {CATALOG} -o new", 1, "the index is empty: no document with a word was found"),
    (f"index garbage.jsonl {CATALOG} -o new", 1, "garbage.jsonl:1: not JSON"),
    (f"index garbage.jsonl {CATALOG} -o new --on-error fail", 1, "garbage.jsonl:1: not JSON"),
    (f"index above.jsonl {CATALOG} -o new", 0, "1 mentions with a confidence outside 0 to 1"),
    (f"index above.jsonl {CATALOG} -o new", 0, "above.jsonl:1: mention 0-3 of document \"d1\" has 95.0"),
    (f"index below.jsonl {CATALOG} -o new", 0, "1 mentions with a confidence outside 0 to 1"),
    (f"index nan.jsonl {CATALOG} -o new", 1, ""),
    ("index corpus.jsonl --entities empty --types types.tsv -o new", 0, "The catalog has no entity"),
    ("index corpus.jsonl --entities header.csv -o new", 0, "The catalog has no entity"),
    ("index corpus.jsonl --entities no-type.tsv --types types.tsv -o new", 1, 'unknown type "ghost"'),
    ("index corpus.jsonl --entities entities.tsv --types empty -o new", 1, 'unknown type "person"'),
    ("add index empty", 1, "no document was added"),
    ("add index garbage.jsonl", 1, "no document was added"),
    ("add index above.jsonl", 0, "1 mentions with a confidence outside 0 to 1"),
    ("delete index --id nobody", 0, "no document was changed"),
    ("delete index --ids empty", 1, "no id is in it, so nothing was deleted"),
    (f"annotate garbage.jsonl {CATALOG} -o new.jsonl", 1, "no document was annotated"),
    (f"annotate blank {CATALOG} -o new.jsonl", 0, "no name of the catalog occurs"),
    ("annotate hopper.txt --entities empty --types types.tsv -o new.jsonl", 0, "the catalog has no usable name"),
    (f"annotate hopper.txt {CATALOG} -o new.jsonl", 0, "no name of the catalog occurs"),
    ("batch index --queries empty --run new.run", 1, "no query"),
    ("batch index --queries garbage.jsonl --run new.run --on-error skip", 1, "no query"),
    ("batch index --queries one-field.jsonl --run new.run", 1, "one-field.jsonl:1"),
    ("batch index --queries queries.jsonl --qrels strange.txt --run new.run", 0, "1 judged entity is not in"),
    ("batch index --queries queries.jsonl --qrels others.txt --run new.run", 0, "nothing to average"),
    ("contexts index --queries empty -o new.parquet", 1, "no query"),
    (f"compare index {JUDGED} strange.txt --systems count -o new", 0, "1 judged entity is not in"),
    (f"compare index {JUDGED} qrels.txt --systems fader --cv 3 -o new", 1, "2 judged queries: 3 folds need 3"),
    (f"compare index {JUDGED} qrels.txt --systems count --cv 3 -o new", 0, "--cv 3: there are only 2 judged queries"),
    (f"compare index {JUDGED} others.txt --systems count -o new", 1, "no judgment is about a query of the file"),
    (f"compare index {JUDGED} zeros.txt --systems count -o new", 1, "no query has a judged good entity"),
    (f"compare index {JUDGED} empty --systems count -o new", 1, "there are no judgments"),
    (f"train index {JUDGED} qrels.txt --lambda 1 -o new.json", 1, "no query to train on has both"),
    (f"train index {JUDGED} strange.txt --lambda 1 -o new.json", 1, "1 judged entity is not in"),
    (f"train index {JUDGED} bad-grades.txt -o new.json", 1, "bad-grades.txt:1"),
    ("evaluate --qrels empty run.txt", 1, "empty"),
    ("evaluate --qrels qrels.txt empty", 0, "2 of 2 queries not answered"),
    ("start empty -o new --no-serve", 1, "no document"),
]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files, and an index of the good ones."""
    folder = tmp_path_factory.mktemp("nothing")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    catalog = ("--entities", folder / "entities.tsv", "--types", folder / "types.tsv")
    passed("index", folder / "corpus.jsonl", *catalog, "-o", folder / "index", "--quiet")
    return folder


@pytest.mark.parametrize(("typed", "code", "said"), CASES)
def test_it_is_said_with_the_right_exit_code(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, code: int, said: str
) -> None:
    """And what was there before is as it was."""
    (tmp_path / "index").symlink_to(made / "index")
    if typed.startswith("add index above"):  # the one that changes it
        (tmp_path / "index").unlink()
        shutil.copytree(made / "index", tmp_path / "index")
    for name in FILES:
        (tmp_path / name).symlink_to(made / name)
    before = sorted(path.name for path in (made / "index").iterdir())
    monkeypatch.chdir(tmp_path)
    outcome = fader(*typed.split())
    assert outcome.code == code, outcome.err
    assert said in outcome.err
    assert sorted(path.name for path in (made / "index").iterdir()) == before

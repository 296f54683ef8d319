"""Sources that are none, judgments in several files, and what to do next: what the frame does for every format."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from cli.running import passed, refused
from fader.corpora.frame.run import import_corpus
from fader.errors import InputError

ARTICLE = "1|t|Aspirin and fever.\n1|a|\n1\t0\t7\tAspirin\tChemical\tD001241\n"
DOCUMENT = "<DOC>\n<DOCNO> d1 </DOCNO>\n<TEXT>\nA text.\n</TEXT>\n</DOC>\n"


def tar(path: Path) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("a.txt")
        info.size = len(ARTICLE)
        archive.addfile(info, io.BytesIO(ARTICLE.encode()))
    return path


def zipped(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", ARTICLE)
    return path


@pytest.mark.parametrize("made", [tar, zipped])
def test_an_archive_is_refused_where_it_would_be_read_as_text(made: object, tmp_path: Path) -> None:
    """Its headers would be taken for lines, and the first article lost."""
    assert callable(made)
    with pytest.raises(InputError, match="archive; unpack it"):
        import_corpus("pubtator", made(tmp_path / "a.archive"), tmp_path / "out")
    assert not (tmp_path / "out" / "import.json").exists()


def test_a_judgment_in_two_files_is_written_once(tmp_path: Path) -> None:
    """Grades of one digit are shared objects in Python: which is the first must not hang on that."""
    for name, lines in {"a.qrels": "1 0 d1 1\n1 0 d2 0\n", "b.qrels": "1 0 d1 1\n1 0 d2 2\n"}.items():
        (tmp_path / name).write_text(lines)
    (tmp_path / "docs").write_text(DOCUMENT)
    report = import_corpus("trec", [tmp_path / "docs", tmp_path / "a.qrels", tmp_path / "b.qrels"], tmp_path / "out")
    assert (tmp_path / "out" / "qrels.txt").read_text() == "1 0 d1 1\n1 0 d2 0\n"
    assert report.faults.counts == {"judgments that contradict another": 1}


def test_the_next_command_is_told(tmp_path: Path) -> None:
    """Annotated: index it. Not annotated: annotate it. A catalog: index a corpus with it."""
    (tmp_path / "articles").write_text(ARTICLE)
    (tmp_path / "docs").write_text(DOCUMENT)
    (tmp_path / "terms.obo").write_text("[Term]\nid: A:1\nname: a thing\n")
    told = passed("import", "pubtator", tmp_path / "articles", "-o", tmp_path / "p").err
    assert f"Next: fader index {tmp_path / 'p' / 'corpus.jsonl'} " in told
    assert f"Next: fader annotate {tmp_path / 't' / 'corpus.jsonl'} " in passed(
        "import", "trec", tmp_path / "docs", "-o", tmp_path / "t"
    ).err  # fmt: skip
    told = passed("import", "obo", tmp_path / "terms.obo", "--entities", "-o", tmp_path / "o").err
    assert "Next: fader index corpus.jsonl --entities " in told


def test_what_finds_nothing_fails_and_is_not_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    (tmp_path / "articles").write_text(ARTICLE)
    assert "nothing was found" in refused(1, "import", "pubtator", tmp_path / "empty", "-o", tmp_path / "p")
    passed("import", "pubtator", tmp_path / "articles", "-o", tmp_path / "p")

"""Damage is found, whatever byte, file or array it is in; opened with verification it is never answered from.

Doses: every byte of two small indexes is flipped, and thousands of arrays are changed under checksums that fit, with
FADER_DOSE=1; a sample of each otherwise.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

import fader
from dose import dose
from fader.errors import DamagedError, FaderError
from fader.index.commit import read_commit
from fader.index.verify.check import check, examine
from index.damage import ENTITIES, TYPES, Sealed, answers, build_living, document, put, seal_manifest, unsealed

FORMATS = Path(__file__).parent / "formats"
SAMPLES = ("living", "v1")
LONG = pytest.mark.timeout(4 * 3600)  # for the full dose


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of three commits, with several segments, lists of several blocks, and deleted documents."""
    return build_living(tmp_path_factory.mktemp("living") / "index")


@pytest.fixture
def copy(living: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy to be damaged: of the living index, or of the format that a test asks for."""
    source = FORMATS / request.param if getattr(request, "param", "living") != "living" else living
    return Path(shutil.copytree(source, tmp_path / "index"))


def is_needed(folder: Path, name: str) -> bool:
    """Whether the newest commit rests on a file."""
    manifest = read_commit(folder)
    return name in [*manifest.file_names, f"commit-{manifest.commit:08d}.json"]


def is_found(folder: Path, needed: bool, *names: str) -> bool:
    """Whether `check` names one of the damaged files, and whether opening with verification refuses what is needed by
    the newest commit, and nothing else."""
    if not any(name in problem for problem in check(folder) for name in names):
        return False
    try:
        fader.open(folder, verify=True)
    except FaderError:
        return needed
    return not needed


def test_a_whole_index_passes(living: Path) -> None:
    """The other tests here would pass if everything were refused."""
    found = examine(living)
    assert found.problems == []
    assert found.debris == ()
    assert [commit.number for commit in found.commits] == [1, 2, 3]
    assert found.files == len(list(living.iterdir())) - 3
    index = fader.open(living, verify=True)
    assert repr(answers(index)) == repr(answers(fader.open(living)))


UNUSUAL: dict[str, dict[str, Any]] = {
    "nothing": {"corpus": [], "entities": [], "types": []},
    "no document": {"corpus": []},
    "no mention": {"corpus": [{"id": "a", "text": "the engine"}]},
    "no token": {"corpus": [{"id": "a", "text": "…"}, {"id": "b", "text": ""}, document(3), {"id": "z", "text": ""}]},
    "no type": {"entities": [{"id": "E1"}], "types": []},
    "no text": {"store_text": False},
    "stop words": {"stopwords": ["the", "of"]},
    "stemmed": {"stemmer": "english", "stopwords": ["the"]},
    "a segment a document": {"segment_tokens": 1},
    "one long document": {"corpus": [document(1, 3000)]},
    "many texts": {"corpus": [{**document(1, 3000), "id": str(i)} for i in range(9)]},
    "mentions alike": {"corpus": [{"id": "a", "text": "Ada", "mentions": 5 * document(1)["mentions"][:1]}]},
}


@pytest.mark.parametrize("case", UNUSUAL)
def test_unusual_indexes_are_whole(tmp_path: Path, case: str) -> None:
    """What is built passes, added to, deleted from and merged, however little or much is in it."""
    folder = tmp_path / "index"
    usual = {"corpus": [document(i) for i in range(8)], "entities": ENTITIES, "types": TYPES}
    fader.build(folder, **{**usual, **UNUSUAL[case]})
    assert check(folder) == []
    fader.add(folder, [document(2, 9, 1), document(11)], keep=4)
    fader.delete(folder, ["a", "d0", document(11)["id"]])
    fader.merge(folder)
    found = examine(folder)
    assert (found.problems, found.debris) == ([], ())
    fader.open(folder, verify=True)


@LONG
@pytest.mark.parametrize("copy", SAMPLES, indirect=True)
def test_no_flipped_byte_passes(copy: Path) -> None:
    """Any byte of any file, in any way: `check` names the file, and no query is answered from it."""
    places = [(p, i) for p in sorted(copy.iterdir()) for i in range(p.stat().st_size)]
    chance = random.Random(1)
    chosen = sorted(chance.sample(places, dose(len(places), least=150)))
    for path, several in itertools.groupby(chosen, key=lambda place: place[0]):
        whole, needed = path.read_bytes(), is_needed(copy, path.name)
        for _path, i in several:
            put(path, whole[:i] + bytes([whole[i] ^ chance.randrange(1, 256)]) + whole[i + 1 :])
            assert is_found(copy, needed, path.name), f"byte {i} of {path.name}"
        put(path, whole)
    assert check(copy) == []
    print(f"\n{len(chosen):,} of {len(places):,} bytes flipped, all found")


@LONG
@pytest.mark.parametrize("copy", SAMPLES, indirect=True)
def test_no_cut_or_extended_file_passes(copy: Path) -> None:
    """Down to nothing, by a byte or by pages; by zeros or by itself."""
    chance = random.Random(3)
    for path in sorted(copy.iterdir()):
        whole, needed = path.read_bytes(), is_needed(copy, path.name)
        n = len(whole)
        sizes = {s for s in (0, 1, 63, 64, 65, n // 2, n - 65, n - 64, n - 63, n - 8, n - 1) if 0 <= s < n}
        changed = [*(whole[:s] for s in sizes), *(whole + more for more in (b"\0", b"\n", bytes(4096), whole))]
        for content in chance.sample(changed, dose(len(changed), least=4)):
            put(path, content)
            assert is_found(copy, needed, path.name), f"{len(content)} bytes of {path.name}"
        put(path, whole)
    assert check(copy) == []


def test_a_lost_file_is_named(copy: Path) -> None:
    """Any but the newest manifest, without which the commit before is the newest, or all manifests."""
    for path in sorted(p for p in copy.iterdir() if p.suffix != ".json"):
        whole, needed = path.read_bytes(), is_needed(copy, path.name)
        path.unlink()
        assert is_found(copy, needed, path.name)
        put(path, whole)
    for path in copy.glob("commit-*.json"):
        path.unlink()
    (problem,) = check(copy)
    assert "not a Fader index" in problem


@LONG
@pytest.mark.parametrize("copy", SAMPLES, indirect=True)
def test_no_file_passes_for_another(copy: Path) -> None:
    """Two files that change places, and one in the place of another, older or newer, each with its checksum right."""
    names = sorted(p.name for p in copy.iterdir())
    content = {name: (copy / name).read_bytes() for name in names}
    needed = {name: is_needed(copy, name) for name in names}
    pairs = [(a, b) for a, b in itertools.combinations(names, 2) if content[a] != content[b]]
    for a, b in random.Random(2).sample(pairs, dose(len(pairs), least=20)):
        put(copy / a, content[b])
        assert is_found(copy, needed[a], a), f"{b} in the place of {a}"
        put(copy / b, content[a])
        assert is_found(copy, needed[a] or needed[b], a, b), f"{a} and {b} swapped"
        put(copy / a, content[a])
        assert is_found(copy, needed[b], b), f"{a} in the place of {b}"
        put(copy / b, content[b])
    assert check(copy) == []


def test_files_that_no_commit_names_are_debris(copy: Path) -> None:
    """They are told, and are no damage; of another's file nothing is known either."""
    for name in ("00000009-0.terms", "pending-00000004", "notes.txt"):
        (copy / name).write_bytes(b"half")
    found = examine(copy)
    assert found.problems == []
    assert found.debris == ("00000009-0.terms", "notes.txt", "pending-00000004")


def test_a_commit_that_goes_while_it_is_read_is_no_damage(copy: Path) -> None:
    """A writer removes old commits, manifest first, whenever it likes."""

    def remove(_name: str) -> None:
        for name in ("commit-00000001.json", "commit-00000002.json", "00000002-0.deleted", "00000002-1.deleted"):
            (copy / name).unlink(missing_ok=True)

    found = examine(copy, remove)
    assert found.problems == []
    assert [commit.number for commit in found.commits] == [3]


def test_all_damaged_files_are_named_once(copy: Path) -> None:
    """Not only the first; one that several commits share is one problem."""
    damaged = ["00000001.catalog", "00000001-0.text", "00000002-0.terms", "00000003-0.deleted"]
    for name in damaged:
        whole = (copy / name).read_bytes()
        put(copy / name, whole[:-1])
    found = examine(copy)
    assert sorted(Path(p.split(": ")[0]).name for p in found.problems) == sorted(damaged)
    assert [len(commit.problems) for commit in found.commits] == [2, 3, 4]


# Arrays under checksums that fit


def element(name: str, i: int, value: Any) -> Callable[[Sealed], None]:
    def change(sealed: Sealed) -> None:
        sealed.arrays[name][i] = value(sealed.arrays[name][i]) if callable(value) else value

    return change


def replaced(name: str, new: Callable[[Any], Any]) -> Callable[[Sealed], None]:
    def change(sealed: Sealed) -> None:
        sealed.arrays[name] = np.ascontiguousarray(new(sealed.arrays[name])).astype(sealed.arrays[name].dtype)

    return change


def meta(name: str, value: Any) -> Callable[[Sealed], None]:
    return lambda sealed: sealed.meta.update({name: value})


def retyped(name: str, dtype: str) -> Callable[[Sealed], None]:
    def change(sealed: Sealed) -> None:
        sealed.arrays[name] = sealed.arrays[name].astype(dtype)

    return change


def more(value: Any) -> Any:
    return value + 1


BROKEN: dict[str, tuple[str, Callable[[Sealed], None], str]] = {
    "documents overlap": ("1-0.documents", element("base", 1, 0), "documents do not lie end to end"),
    "documents begin late": ("1-0.documents", element("base", 0, 1), "documents do not lie end to end"),
    "a cell": ("1-0.documents", element("cell", 1, 0), "'cell' does not say"),
    "too few cells": ("1-0.documents", replaced("cell", lambda a: a[:-1]), "'cell' has 4 elements, not 5"),
    "distinct": ("1-0.documents", element("distinct", 3, more), "'distinct' is not what the postings hold"),
    "square": ("1-0.documents", element("square", 3, more), "'square' is not what the postings hold"),
    "square of floats": ("1-0.documents", retyped("square", "f8"), "'square' is of type f8"),
    "where mentions begin": ("1-0.documents", element("mentions_at_base", 0, 1), "'mentions_at' does not run from 0"),
    "rows of a column": ("1-0.documents", meta("mentions_at_rows", 3), "'mentions_at' has 3 rows, not"),
    "blocks of a column": ("1-0.mentions", replaced("start_base", lambda a: a[:1]), "'start_base' has 1 elements"),
    "a width of a column": ("1-0.mentions", element("start_at", 1, more), "a block of a width that does not exist"),
    "the end of a column": ("1-0.mentions", element("start_at", -1, more), "'start_at' does not run from 0"),
    "words of a column": ("1-0.mentions", replaced("length_words", lambda a: a[:-1]), "'length_at' does not run"),
    "a mention's start": ("1-0.mentions", element("start_base", 1, 0), "mention 128 is not sorted"),
    "a mention's length": ("1-0.mentions", element("length_base", 0, 0), "mention 0 is not sorted"),
    "a mention's document": ("1-0.mentions", element("document_base", 1, more), r"mention 1\d\d is not sorted"),
    "a mention's entity": ("1-0.mentions", element("entity_base", 1, 1000), "mention 128 is not sorted"),
    "another entity": ("1-1.mentions", replaced("entity_words", lambda a: a[::-1]), "the list of type|is not sorted"),
    "a confidence's code": ("1-0.mentions", element("confidence_base", 1, 3), r"mention 1\d\d is not sorted"),
    "a confidence": ("1-0.mentions", element("confidences", 0, np.nan), "a confidence is not finite"),
    "type lists": ("1-0.mentions", meta("type_lists", 4), "4 lists are not those of 5 types"),
    "huge type lists": ("1-0.mentions", meta("type_lists", 1 << 62), "value 'type_lists' is no count"),
    "a type list's count": ("1-1.mentions", element("type_entry", 0, more), "the list of type|between 0 and 4"),
    "a type list's extra": ("1-1.mentions", element("type_entry", 1, 1), "the list of type 0 is not that"),
    "a type list's gaps": ("1-1.mentions", element("type_entry", 4, lambda v: v ^ 1), "'type'|the list of type"),
    "a posting's documents": ("1-0.terms", element("postings_entry", 1, more), "positions of term 0 are not"),
    "where entries begin": ("1-0.terms", element("postings_entry_at", 0, 1), "does not begin where it should"),
    "entries cut": ("1-0.terms", replaced("postings_entry", lambda a: a[:-1]), "does not fit its bytes"),
    "entries over": ("1-0.terms", replaced("postings_entry", lambda a: np.append(a, 0)), "does not end with its last"),
    "a block's base": ("1-0.terms", element("postings_base", 0, 5), "has a block that does not follow"),
    "a block's width": ("1-0.terms", element("postings_width", 0, 32), "a width that does not fit its words"),
    "a block's words": ("1-0.terms", element("postings_words", 0, lambda v: v ^ 1), "does not follow|is not sorted"),
    "a block's place": ("1-0.terms", element("postings_block_at", 0, 1), "'postings_block_at' does not run"),
    "too few spare words": ("1-0.terms", replaced("postings_words", lambda a: a[:-1]), "does not run from 0"),
    "terms not sorted": ("1-0.terms", element("term", 2, 255), "'term' is not sorted|not UTF-8"),
    "terms of other bytes": ("1-0.terms", meta("term_strings", 1), "'term_at'|'term' does not end"),
    "more terms than bytes": ("1-0.terms", meta("term_strings", 1 << 39), "'term_at' has 3 elements"),
    "a shared prefix": ("1-0.terms", element("term", 3 + 2, 9), "shares something else"),
    "ids not sorted": ("1-0.text", element("id", 1, 255 - 63), "'id' holds bytes that are not UTF-8|not sorted"),
    "ids in another order": ("1-0.text", replaced("id", lambda a: a[::-1]), "UTF-8|is not sorted"),
    "an id's place": ("1-0.text", element("id_at", 1, 200), "'id_at' does not run"),
    "a title cut": ("1-0.text", element("title_at", -1, 0), "'title_at' does not run"),
    "texts of others": ("1-0.text", element("row", 0, 1), "'row' does not name every document once"),
    "a text's end": ("1-0.text", element("document_at", 1, more), "does not have the tokens|cut inside"),
    "texts of no frame": ("1-0.text", element("document_at", -1, 1 << 20), "'frame_at' has 3 elements, not 257"),
    "a frame's place": ("1-0.text", element("frame_at", -1, more), "'frame_at' does not run"),
    "a frame's bytes": ("1-0.text", element("text", 30, lambda v: v ^ 255), "text frame 0 cannot be read"),
    "a frame's size": ("1-0.text", element("document_at", -1, more), "text frame 1 is not of the size"),
    "a dictionary of no kind": ("1-0.text", replaced("dictionary", lambda a: np.ones(9)), "text frame 0 cannot"),
    "a sample's place": ("1-1.text", element("sample_at_base", 0, 1), "'sample_at' does not run from 0"),
    "a sample's character": ("1-1.text", element("sample_character_base", 0, more), "samples of the texts 0 to . are"),
    "a sample's byte": ("1-1.text", element("sample_extra_base", 0, more), "samples of the texts 0 to . are not"),
    "a sample's text": ("1-1.text", element("sample_at_words", 0, lambda v: v ^ 2), "'sample_at'|samples of the texts"),
    "rows of samples": ("1-1.text", meta("sample_extra_rows", 1), "column 'sample_extra' has 1 rows, not 2"),
    "samples of no text": ("1-1.text", lambda s: s.arrays.pop("sample_extra_at"), "'sample_extra_at' is missing"),
    "perhaps samples": ("1-0.text", meta("has_samples", 1), "'has_samples' is neither true nor false"),
    "no text": ("1-0.text", meta("keeps_text", False), "said not to be kept"),
    "perhaps texts": ("1-0.text", meta("keeps_text", 1), "neither true nor false"),
    "a prior": ("1-0.text", element("prior", 0, np.inf), "a prior is not finite"),
    "missing array": ("1-0.text", lambda s: s.arrays.pop("url"), "array 'url' is missing"),
    "entity types": ("1.catalog", element("entity_types", 0, 5), "'entity_types' names something that is not there"),
    "negative types": ("1.catalog", element("entity_types", 0, -1), "'entity_types' names something"),
    "offsets of types": ("1.catalog", element("entity_types_at", 1, 100), "'entity_types_at' does not run"),
    "supertypes": ("1.catalog", element("supertypes", 0, 1), "the closure of 'supertypes'"),
    "descendants": ("1.catalog", element("descendants", 0, 2), "does not ascend|the closure of 'supertypes'"),
    "entity ids": ("1.catalog", element("entity_id", 3, 57), "'entity_id'"),
    "entities": ("1.catalog", meta("entity_id_strings", 4), "'entity_id' has 4 strings in .*, where there are 5"),
    "labels not sorted": ("1.catalog", element("entity_folded", 2, 122), "'entity_folded'"),
    "a label's entity": ("1.catalog", element("entity_folded_of", 0, 5), "'entity_folded_of' names something that is"),
    "an entity without label": ("1.catalog", element("entity_folded_of", 6, 0), "something has no 'entity_folded'"),
    "another's name": ("1.catalog", element("entity_folded_name", 0, 2), "name of something is no label of it"),
    "a name of no row": ("1.catalog", element("entity_folded_name", 0, 8), "name of something is no label of it"),
    "a name below": ("1.catalog", element("type_folded_name", 0, -1), "name of something is no label of it"),
    "names of others": ("1.catalog", replaced("type_folded_name", lambda a: a[1:]), "'type_folded_name' has 4 elem"),
    "words not sorted": ("1.catalog", element("entity_word", 2, 122), "'entity_word'"),
    "rows of no label": ("1.catalog", element("entity_rows", 0, 8), "a row of 'entity_rows' does not ascend below 8"),
    "rows of a word": ("1.catalog", replaced("type_rows_at", lambda a: a[:-1]), "'type_rows_at' has"),
    "a word of no row": ("1.catalog", element("type_rows_at", 1, 0), "a word of 'type_word' is in no label|ascend"),
    "entities of types": ("1.catalog", element("type_entities", 0, more), "'type_entities' does not count"),
    "a type without label": ("1.catalog", element("type_label_type", 2, 0), "something has no 'type_label'"),
    "names": ("1.catalog", replaced("entity_name_at", lambda a: a[:-1]), "'entity_name_at' has 5 elements"),
    "deleted twice": ("3-0.deleted", replaced("document", lambda a: a[[0, *range(len(a) - 1)]]), "of segment"),
    "deleted outside": ("3-0.deleted", element("document", -1, 1000), "not those of segment"),
    "deleted of others": ("3-0.deleted", element("document", 0, 1), "as many as the commit says|not those of segment"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_what_must_hold_is_checked(copy: Path, case: str) -> None:
    """A broken invariant is told with the file, by `check` and by opening with verification; checksums do not help."""
    name, change, message = BROKEN[case]
    (path,) = copy.glob(f"0*{name}")
    sealed = Sealed(path)
    change(sealed)
    sealed.seal()
    problems = check(copy)
    assert problems
    with pytest.raises(DamagedError, match=message) as caught:
        fader.open(copy, verify=True)
    assert path.name in str(caught.value)
    assert all(path.name in problem for problem in problems)


def test_an_id_of_two_documents_is_damage(copy: Path) -> None:
    """What add replaced but no tombstone hides: each file is sound, their sum is not."""
    path = copy / "commit-00000003.json"
    manifest = unsealed(path)
    assert manifest["segments"][0].pop("deleted")
    seal_manifest(path, manifest)
    assert any('commit 3 has two documents with the id "d37é"' in problem for problem in check(copy))
    with pytest.raises(DamagedError, match="two documents with the id"):
        fader.open(copy, verify=True)


def test_texts_may_have_other_tokens_in_another_unicode(copy: Path) -> None:
    """Where Unicode has changed since, texts need not have the tokens of then, and no snippet may fail for it; in the
    Unicode of today such texts are damage."""
    for path in copy.glob("*.text"):
        sealed = Sealed(path)
        texts = b"".join(b"x".ljust(int(n)) for n in np.diff(sealed.arrays["document_at"]))
        frames = [zstandard.ZstdCompressor().compress(texts[i : i + 4096]) for i in range(0, len(texts), 4096)]
        sealed.arrays["text"] = np.frombuffer(b"".join(frames), dtype=np.uint8)
        sealed.arrays["frame_at"] = np.cumsum([0, *map(len, frames)]).astype(np.uint32)
        sealed.seal()
    assert any("does not have the tokens" in problem for problem in check(copy))
    for path in copy.glob("commit-*.json"):
        manifest = unsealed(path)
        manifest["analysis"]["unicode"] = "1.0.0"
        seal_manifest(path, manifest)
    assert check(copy) == []
    found = fader.open(copy, verify=True).search("the engine", "person", snippets=3)
    shown = [snippet.snippet.strip() for result in found.results for snippet in result.evidence]
    assert len(shown) == 9
    assert set(shown) == {"", "x"}


HOSTILE: dict[str, tuple[list[Any], Any]] = {
    "a name above": (["catalog", "name"], "../00000001.catalog"),
    "a name elsewhere": (["segments", 0, "name"], "/tmp/00000001-0"),
    "a name below": (["segments", 0, "name"], "x/00000001-0"),
    "no name": (["segments", 0, "name"], ["00000001-0"]),
    "a tombstone elsewhere": (["segments", 0, "deleted", "name"], "../00000001-0.deleted"),
    "a tombstone of no kind": (["segments", 0, "deleted", "name"], "00000001-0.terms"),
    "more deleted than there": (["segments", 0, "deleted", "tokens"], 1 << 30),
    "no tombstone": (["segments", 0, "deleted"], 7),
    "another file": (["segments", 0, "files"], {"terms": {}, "evil": {}}),
    "files of no kind": (["segments", 0, "files", "text"], []),
    "a checksum of no kind": (["segments", 0, "files", "text", "xxh3"], None),
    "all memory": (["segments", 0, "documents"], 1 << 62),
    "fewer than none": (["segments", 0, "mentions"], -1),
    "true": (["segments", 0, "tokens"], True),
    "a fraction": (["segments", 0, "terms"], 12.0),
    "no segments": (["segments"], {"name": 1}),
    "a segment of no kind": (["segments", 1], "00000001-1"),
    "a segment twice": (["segments", 1, "name"], "00000001-0"),
    "entities": (["catalog", "entities"], "5"),
    "another commit": (["commit"], 2),
    "no commit": (["commit"], "3"),
    "a format of no kind": (["format"], "2"),
    "an operation of no kind": (["operation", "name"], "rm -rf"),
    "counts of an operation": (["operation", "deleted"], None),
    "kept": (["keep"], 0),
    "an origin of no kind": (["origin"], "x"),
    "an analysis of no kind": (["analysis"], None),
    "an unknown stemmer": (["analysis", "stemmer"], "klingon"),
    "stop words of no kind": (["analysis", "stopwords"], [1]),
    "skipped": (["skipped"], {"x": "y"}),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_manifest_made_to_harm_is_refused(copy: Path, case: str) -> None:
    """Names that leave the folder, counts of no sense, types that nobody expects: an error that names the manifest."""
    path = copy / "commit-00000003.json"
    manifest = unsealed(path)
    keys, value = HOSTILE[case]
    inside = manifest
    for key in keys[:-1]:
        inside = inside[key]
    inside[keys[-1]] = value
    seal_manifest(path, manifest)
    assert any(path.name in problem for problem in check(copy))
    for verify in (False, True):
        with pytest.raises(FaderError) as caught:
            fader.open(copy, verify=verify)
        assert path.name in str(caught.value)


@LONG
def test_changed_arrays_never_crash_the_process(living: Path, tmp_path: Path) -> None:
    """Whatever array, value or manifest is changed under checksums that fit: opened with verification the index is
    refused by an error of Fader or answers. Never an error of another kind from a kernel that looks at its bounds,
    never a dead process, and never one that takes all time or memory.

    In a process of its own. Kernels are compiled with bounds-checks at the full dose; compiling takes a minute, so that
    a small dose runs them uncompiled, where numpy looks at the bounds.
    """
    count = dose(2_000, least=10)
    bounds = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    environment = {**os.environ, **(bounds if count >= 500 else {"NUMBA_DISABLE_JIT": "1"})}
    command = [sys.executable, "-W", "ignore", "-m", "index.hostile", str(living), "0", str(count)]
    done = subprocess.run(
        command, cwd=Path(__file__).parent.parent, env=environment, capture_output=True, timeout=600 + 3 * count
    )
    assert done.returncode == 0, done.stderr.decode()
    outcome = json.loads(done.stdout)
    print(f"\n{count:,} changes: {outcome}")
    assert sum(outcome.values()) == count
    assert outcome["refused"] > count // 2

"""The page's modules as one script: all of them, in the order of their imports, kept by browsers until they change."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fader.serve import bundle


def write(folder: Path, files: dict[str, str]) -> None:
    (folder / "js").mkdir()
    for name, text in {bundle.FIRST: "first();\n", **files}.items():
        (folder / "js" / name).write_text(text)


def test_every_module_is_there_once() -> None:
    """All files of static/js but the one that runs first, each before those that need it."""
    script = bundle.bundle_script()
    files = sorted(path.name for path in (bundle.FOLDER / "js").glob("*.js"))
    at = {
        name: script.index(f"const {bundle._name_constant(name)} = (() => {{") for name in files if name != bundle.FIRST
    }
    assert len(re.findall(r"^const of_\w+ = \(\(\) => \{$", script, re.M)) == len(at)
    for name, place in at.items():
        text = (bundle.FOLDER / "js" / name).read_text(encoding="utf-8")
        assert all(at[needed] < place for needed in bundle._find_imports(text))


def test_imports_and_exports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, names by other names, whole modules; lines stay where they were."""
    monkeypatch.setattr(bundle, "FOLDER", tmp_path)
    write(
        tmp_path,
        {
            "main.js": 'import {\n  one,\n  two as deux,\n} from "./a-b.js";\nimport * as all from "./a-b.js";\n',
            "a-b.js": "export const one = 1;\nexport async function two() {}\nexport class Three {}\nconst own = 4;\n",
        },
    )
    script = bundle.bundle_script()
    assert "return { one, two, Three };" in script
    assert "const {\n  one,\n  two: deux,\n} = of_a_b;".replace("\n", "") in script.replace("\n", "")
    assert "const all = of_a_b;" in script
    assert script.startswith("first();")


@pytest.mark.parametrize(
    "text", ["export default 1;\n", 'import one from "./a.js";\n', "export let one = 1;\n", "export { one };\n"]
)
def test_what_it_cannot_take_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(bundle, "FOLDER", tmp_path)
    write(tmp_path, {"main.js": text})
    with pytest.raises(ValueError, match=r"main\.js: the bundle cannot take"):
        bundle.bundle_script()

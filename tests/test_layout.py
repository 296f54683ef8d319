"""How tests are laid out: what several need stands in a module of its own. And what folders say of their files."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import fader

HERE = Path(__file__).parent
PACKAGE = Path(fader.__file__).parent


def test_no_test_module_imports_another() -> None:
    """A test module can be read, run and moved by itself."""
    found = [
        f"{path.relative_to(HERE)}: {node.module}"
        for path in HERE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2].startswith("test_")
    ]
    assert found == []


def test_a_folder_has_the_files_that_it_speaks_of() -> None:
    """The docstring of a folder is where its map is found."""
    lost = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in PACKAGE.rglob("__init__.py")
        for name in re.findall(r"(?<![\w/])\w+\.py\b", ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "")
        if not (path.parent / name).is_file()
    ]
    assert lost == []

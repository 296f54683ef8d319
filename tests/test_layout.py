"""How tests are laid out: what several of them need stands in a module of its own."""

from __future__ import annotations

import ast
from pathlib import Path

HERE = Path(__file__).parent


def test_no_test_module_imports_another() -> None:
    """A test module can be read, run and moved by itself."""
    found = [
        f"{path.relative_to(HERE)}: {node.module}"
        for path in HERE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2].startswith("test_")
    ]
    assert found == []

"""Nothing that is read from disk or from the network can run code: no pickle, marshal, shelve, eval, exec or the like.

The source is read as a syntax tree, so that comments and texts do not count. What is allowed has its reason beside it.
"""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "fader"
MODULES = {
    "pickle",
    "cPickle",
    "_pickle",
    "dill",
    "cloudpickle",
    "joblib",
    "marshal",
    "shelve",
    "dbm",
    "copyreg",
    "yaml",
}
FUNCTIONS = {"eval", "exec", "compile", "__import__"}
METHODS = {"read_pickle", "to_pickle", "unsafe_load", "full_load"}
OBJECTS = {("load", "allow_pickle"), ("save", "allow_pickle"), ("savez", "allow_pickle")}  # of numpy
ALLOWED: dict[str, set[str]] = {
    # Only the error: numba reads its machine code back, from a folder of the user's own that is no data of Fader's.
    "kernel.py": {"pickle"},
    # Only writes, to count the bytes that a worker would be sent.
    "experiment/paper/checks.py": {"pickle"},
}


def find_executed(tree: ast.AST) -> set[str]:
    """What in a module could run what it reads."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names if a.name.split(".")[0] in MODULES}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in MODULES:
            found.add(node.module)
        elif isinstance(node, ast.Call):
            found |= _find_in_call(node)
    return found


def _find_in_call(node: ast.Call) -> set[str]:
    of = node.func
    if isinstance(of, ast.Name):
        is_named = of.id == "import_module" and node.args and isinstance(node.args[0], ast.Constant)
        if is_named and str(node.args[0].value).split(".")[0] in MODULES:  # type: ignore[attr-defined]
            return {str(node.args[0].value)}  # type: ignore[attr-defined]
        return {of.id} & FUNCTIONS
    if isinstance(of, ast.Attribute):
        allows = any((of.attr, k.arg) in OBJECTS and getattr(k.value, "value", True) for k in node.keywords)
        return ({of.attr} & METHODS) | ({"allow_pickle"} if allows else set())
    return set()


def test_nothing_read_is_executed() -> None:
    """Every module of the package."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        executed = find_executed(ast.parse(path.read_text(encoding="utf-8"))) - ALLOWED.get(name, set())
        if executed:
            found[name] = executed
    assert found == {}


def test_the_scan_finds_what_it_looks_for() -> None:
    """Imports of any form, calls, numpy's objects; not texts, methods of the same name or patterns."""
    bad = (
        "import pickle", "from pickle import loads", "import marshal as m", "import yaml", "eval('1')", "exec(x)",
        "np.load(f, allow_pickle=True)", "pd.read_pickle(f)", "import_module('shelve')", "def f():\n    import dill",
    )  # fmt: skip
    assert all(find_executed(ast.parse(text)) for text in bad)
    good = "import json\nx = 'pickle'\nre.compile('a')\nmodel.eval()\nnp.load(f, allow_pickle=False)  # exec(x)"
    assert find_executed(ast.parse(good)) == set()

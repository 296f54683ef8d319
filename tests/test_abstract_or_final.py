"""A class that runs is not subclassed: what is extended is abstract, a record without methods, or somebody else's."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

import fader

SOURCE = Path(fader.__file__).parent
ABSTRACT = {"ABC", "Protocol", "Generic", "Exception"}
RECORDS = {"NamedTuple", "Struct", "StrEnum", "IntEnum", "Enum"}


class Name(NamedTuple):
    """A class by the module that defines it."""

    module: str
    name: str


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(tree: ast.Module) -> dict[str, Name]:
    """Names that a module imports from ours."""
    found = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module)
    return {
        alias.asname or alias.name: Name(node.module or "", alias.name)
        for node in found
        for alias in node.names
        if (node.module or "").startswith("fader")
    }


def bases_of(node: ast.ClassDef) -> list[str]:
    """The names of the bases: `Generic` of `Generic[T]`, and `abc.ABC` as it stands."""
    return [ast.unparse(base.value if isinstance(base, ast.Subscript) else base) for base in node.bases]


def is_abstract(node: ast.ClassDef) -> bool:
    decorators = (d for item in node.body if isinstance(item, ast.FunctionDef) for d in item.decorator_list)
    return any(isinstance(d, ast.Name) and d.id == "abstractmethod" for d in decorators)


def has_methods(node: ast.ClassDef) -> bool:
    """Whether it does more than hold values: checks, properties and class methods that make one are no matter."""
    for item in node.body:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and not item.name.startswith("__"):
            named = {d.id for d in item.decorator_list if isinstance(d, ast.Name)}
            if not named & {"property", "cached_property", "classmethod", "staticmethod"}:
                return True
    return False


def subclassed() -> list[str]:
    """Running classes of ours that another class of ours extends."""
    trees = {module_of(path): ast.parse(path.read_text("utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
    classes = {
        Name(module, node.name): node
        for module, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    imported = {module: imports_of(tree) for module, tree in trees.items()}

    def parents(name: Name) -> list[Name]:
        found = []
        for base in bases_of(classes[name]):
            own = Name(name.module, base)
            found.append(own if own in classes else imported[name.module].get(base, Name("", base)))
        return found

    def is_error(name: Name) -> bool:
        if name not in classes:
            return name.name.endswith(("Error", "Exception"))
        return any(is_error(parent) for parent in parents(name))

    def runs(name: Name) -> bool:
        node, above = classes[name], {parent.name for parent in parents(name)}
        is_record = bool(above & RECORDS) or any("dataclass" in ast.unparse(d) for d in node.decorator_list)
        if above & ABSTRACT or is_abstract(node) or is_error(name):
            return False
        return has_methods(node) or not is_record

    return [
        f"{name.module}.{name.name} extends {parent.module}.{parent.name}, which runs"
        for name in classes
        for parent in parents(name)
        if parent in classes and runs(parent)
    ]


def test_no_running_class_is_subclassed() -> None:
    """Wrap it, or give it a value to work with."""
    assert subclassed() == []

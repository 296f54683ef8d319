"""The page's modules as one script and its styles as one file: a browser asks for two files and not for forty.

The files of static/js are plain ES modules, written by hand. In the script each is a function that is called once, in
the order of their imports, and gives what the module exports; an import becomes a constant. Nothing is minified, so
that the script can be read. Knows nothing of HTTP, or of what the modules do.
"""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

FOLDER = Path(__file__).parent / "static"
FIRST, ENTRY = "theme.js", "main.js"  # what runs before anything is drawn, and what runs when the document is there
STYLES = ("base", "search", "why", "compare", "types", "entity", "report")
_IMPORT = re.compile(r'^import (?:\* as (\w+)|\{([^}]*)\}) from "\./([\w-]+\.js)";$', re.M)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.M)
_MODULE = re.compile(r"^(?:import|export)\b.*", re.M)


def bundle_style() -> str:
    """All styles, in their order."""
    return "\n".join((FOLDER / "css" / f"{name}.css").read_text(encoding="utf-8") for name in STYLES)


def bundle_script() -> str:
    """All modules that the entry needs, each after those that it needs."""
    texts = _read_modules(FOLDER / "js")
    order = TopologicalSorter({name: _find_imports(text) for name, text in texts.items()}).static_order()
    modules = "\n".join(_wrap(name, texts[name]) for name in order)
    first = (FOLDER / "js" / FIRST).read_text(encoding="utf-8")
    return f'{first}\ndocument.addEventListener("DOMContentLoaded", () => {{\n{modules}}});\n'


def _read_modules(folder: Path) -> dict[str, str]:
    """The entry and all modules that it needs, by name."""
    texts: dict[str, str] = {}
    wanted = [ENTRY]
    while wanted:
        name = wanted.pop()
        if name not in texts:
            texts[name] = (folder / name).read_text(encoding="utf-8")
            wanted += _find_imports(texts[name])
    return texts


def _find_imports(text: str) -> list[str]:
    return [file for _all, _names, file in _IMPORT.findall(text)]


def _wrap(name: str, text: str) -> str:
    """A module as a constant that holds what it exports."""
    body = _IMPORT.sub(_import_constant, text)
    exported = _EXPORT.findall(body)
    body = _EXPORT.sub("", body)
    if odd := _MODULE.search(body):
        raise ValueError(f"{name}: the bundle cannot take {odd[0]!r}; write it as the other modules do")
    return f"const {_name_constant(name)} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();\n"


def _import_constant(found: re.Match[str]) -> str:
    everything, names, file = found.groups()
    lines = "\n" * found[0].count("\n")
    return f"const {everything or '{' + names.replace(' as ', ': ') + '}'} = {_name_constant(file)};{lines}"


def _name_constant(file: str) -> str:
    return "of_" + file.removesuffix(".js").replace("-", "_")

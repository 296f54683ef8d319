"""Named parts, found wherever they live and written as `name(a=1,b=x)`: features, aggregators, systems, importers.

A part is a frozen dataclass with a class attribute `name`; its parameters are its fields, and its string parses
back to an equal part. A class attribute `first` names the field that may be written without its name, as in
`rectangle(10x12)`; several numbers are written `distances=0/1/3/10`. Parts are found in

    the package's own folders            a new part is one new file
    installed packages                   entry points `fader.features`, `fader.entity_features`,
                                         `fader.aggregators`, `fader.systems`, `fader.importers`
    files and modules                    `--plugin my_parts.py`, `load_plugin`, the variable FADER_PLUGINS
    classes                              `register(MyPart)`, also as a decorator

Worker processes inherit FADER_PLUGINS, to which `load_plugin` adds, so that they know the same parts. Knows nothing of
what parts compute.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
import sys
import threading
import traceback
from collections.abc import Mapping
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from fader.errors import FaderError, InputError, UsageError, did_you_mean, quote

VARIABLE = "FADER_PLUGINS"
PREFIX = "fader_plugin_"  # of the module that a plug-in file becomes
_CALL = re.compile(r"\s*([A-Za-z_][\w-]*)\s*(?:\((.*)\))?\s*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w-]*")
Part = TypeVar("Part", bound=type[Any])


class Kind(NamedTuple):
    """A kind of part: the package of Fader's own, its noun in messages, the entry points, and what it derives from."""

    package: str
    noun: str
    group: str
    contract: str


KINDS = (
    Kind("fader.features", "feature", "fader.features", "fader.features.base.FeatureMap"),
    Kind("fader.entityfeatures", "entity feature", "fader.entity_features", "fader.entityfeatures.base.EntityMap"),
    Kind("fader.aggregate", "aggregator", "fader.aggregators", "fader.aggregate.base.Aggregator"),
    Kind("fader.systems", "system", "fader.systems", "fader.rank.system.System"),
    Kind("fader.corpora.formats", "format", "fader.importers", "fader.corpora.frame.base.Importer"),
)
_KIND_OF = {kind.package: kind for kind in KINDS}


class Plugin(NamedTuple):
    """A part from outside of the package. `origin` is file, package or module; `source` its path or name."""

    kind: Kind
    part: type[Any]
    origin: str
    source: str

    def describe(self) -> dict[str, str]:
        """What a model file says about a part that it needs."""
        source = Path(self.source).name if self.origin == "file" else self.source
        where = f"{self.part.__module__.removeprefix(PREFIX)}:{self.part.__qualname__}"
        return {"kind": self.kind.noun, "name": self.part.name, self.origin: source, "class": where}


class _State:
    """The plug-ins of this process."""

    def __init__(self) -> None:
        self.plugins: dict[tuple[str, str], Plugin] = {}  # by package and name
        self.loaded: dict[str, ModuleType] = {}  # by path or module name, as given to `load_plugin`
        self.loading: tuple[str, str] | None = None  # origin and source of what is being loaded
        self.installed: set[str] = set()  # groups of entry points that were read
        self.read_variable = False
        self.registered = 0
        self.lock = threading.RLock()  # a thread waits for the plug-ins that another one is loading


_state = _State()


def discover(package: str) -> dict[str, type[Any]]:
    """All parts of a kind, given by the package that has Fader's own, by name."""
    found = dict(_find_built_in(package))
    if package in _KIND_OF:
        with _state.lock:
            _load_variable()
            _load_installed(_KIND_OF[package])
        found |= {name: plugin.part for (kind, name), plugin in _state.plugins.items() if kind == package}
    return dict(sorted(found.items()))


def find_part(package: str, name: str) -> type[Any] | None:
    """The part of a name, None where there is none.

    A part that stands in the file of its name is found by importing that file alone: others may load heavy packages.
    """
    if name.isidentifier() and importlib.util.find_spec(f"{package}.{name}") is not None:
        for part in _parts_of(importlib.import_module(f"{package}.{name}")):
            if part.name == name:
                return part
    return discover(package).get(name)


@cache
def _find_built_in(package: str) -> Mapping[str, type[Any]]:
    """The concrete parts defined in the modules of a package, by name."""
    folder = importlib.import_module(package)
    modules = [importlib.import_module(f"{package}.{info.name}") for info in pkgutil.iter_modules(folder.__path__)]
    return {part.name: part for module in modules for part in _parts_of(module)}


def _parts_of(module: ModuleType) -> list[type[Any]]:
    """The parts that a module defines; scanned, as `__subclasses__` lists a slotted dataclass twice."""
    own = [m for m in vars(module).values() if isinstance(m, type) and m.__module__ == module.__name__]
    return [m for m in own if dataclasses.is_dataclass(m) and isinstance(getattr(m, "name", None), str)]


def register(part: Part) -> Part:
    """Make a part known by its name; also as a decorator, above `@dataclass(frozen=True)`."""
    if not isinstance(part, type):
        raise UsageError(f"{quote(part)} is no class; register the class of a part, not a value of it")
    kind = _check_part(part)
    origin, source = _state.loading or ("module", part.__module__)
    old = _state.plugins.get((kind.package, part.name))
    # A cell of a notebook may define its class again.
    is_other = old is not None and (old.part.__module__, old.part.__qualname__) != (part.__module__, part.__qualname__)
    if part.name in _find_built_in(kind.package) or is_other:
        owner = "Fader" if old is None else old.source
        raise UsageError(
            f"the {kind.noun} {quote(part.name)} of {source} has the name of a {kind.noun} of {owner}; "
            "give it another name"
        )
    _state.plugins[kind.package, part.name] = Plugin(kind, part, origin, source)
    _state.registered += 1
    return part


def count_registered() -> int:
    """How often a part was registered: where the number is the same, a text names the same parts."""
    return _state.registered


def kind_of(part: type[Any]) -> Kind | None:
    """The kind of a class by what it derives from."""
    bases = {f"{base.__module__}.{base.__qualname__}" for base in part.__mro__}
    return next((kind for kind in KINDS if kind.contract in bases), None)


def _check_part(part: type[Any]) -> Kind:
    """Refuse a class that cannot be named, written or made."""
    kind, shown = kind_of(part), f"{part.__module__.removeprefix(PREFIX)}:{part.__qualname__}"
    if kind is None:
        bases = ", ".join(k.contract.rsplit(".", 1)[1] for k in KINDS)
        raise UsageError(f"{shown} is no part; derive it from one of {bases}")
    if not isinstance(getattr(part, "name", None), str) or not _NAME.fullmatch(part.name):
        raise UsageError(f'{shown} has no name; give it a class attribute such as `name: ClassVar[str] = "mine"`')
    if not dataclasses.is_dataclass(part) or not part.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise UsageError(f"{shown} must be a frozen dataclass; decorate it with @dataclass(frozen=True)")
    if inspect.isabstract(part):
        missing = ", ".join(sorted(part.__abstractmethods__))
        raise UsageError(f"{shown} is not complete; it has no {missing}")
    without = [f.name for f in dataclasses.fields(part) if f.init and f.default is dataclasses.MISSING]
    if without:
        raise UsageError(f"{shown}: the field {without[0]} has no default; every parameter of a part needs one")
    return kind


def load_plugin(given: str | os.PathLike[str]) -> list[type[Any]]:
    """Register the parts of a file (`my_parts.py`) or of a module (`my_package.parts`); returns them."""
    text = os.fspath(given)
    is_file = text.endswith(".py") or os.sep in text
    source = str(Path(text).expanduser().resolve()) if is_file else text
    if source not in _state.loaded:
        _state.loaded[source] = _load("file" if is_file else "module", source)
        os.environ[VARIABLE] = os.pathsep.join(_state.loaded)
    return [p.part for p in _state.plugins.values() if p.source == source]


def _load(origin: str, source: str) -> ModuleType:
    """Import a plug-in and register its parts; errors name the plug-in."""
    before, _state.loading = _state.loading, (origin, source)
    try:
        module = _import_file(source) if origin == "file" else importlib.import_module(source)
        parts = [part for part in _parts_of(module) if kind_of(part) is not None and not inspect.isabstract(part)]
        for part in parts:
            register(part)
    except FaderError as error:
        raise UsageError(f"plug-in {source}: {error}") from None
    except (Exception, SystemExit) as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == source]
        line = error.lineno if isinstance(error, SyntaxError) else frames[-1].lineno if frames else None
        place = f", line {line}" if line else ""
        raise UsageError(f"plug-in {source}{place}: cannot be loaded: {type(error).__name__}: {error}") from None
    finally:
        _state.loading = before
    if not any(plugin.source == source for plugin in _state.plugins.values()):
        bases = ", ".join(kind.contract.rsplit(".", 1)[1] for kind in KINDS)
        raise UsageError(f"plug-in {source}: has no part; a part is a frozen dataclass that derives from {bases}")
    return module


def _import_file(path: str) -> ModuleType:
    if not Path(path).is_file():
        raise UsageError("there is no such file; worker processes and nodes of a cluster need it at the same path")
    name = _module_name(path)
    known = sys.modules.get(name)
    if known is not None and known.__file__ != path:
        raise UsageError(f"{known.__file__} is a plug-in with the same file name; rename one of them")
    if known is not None:
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _module_name(path: str) -> str:
    return PREFIX + re.sub(r"\W", "_", Path(path).stem)


def _load_variable() -> None:
    """Load what FADER_PLUGINS names: how worker processes get the plug-ins of their parent."""
    if _state.read_variable:
        return
    _state.read_variable = True
    try:
        for text in os.environ.get(VARIABLE, "").split(os.pathsep):
            if text.strip():
                load_plugin(text.strip())
    except UsageError:
        _state.read_variable = False  # the next use of a part says the same again
        raise


def _load_installed(kind: Kind) -> None:
    """Load the entry points of a kind; each is a class, or a module with several."""
    if kind.group in _state.installed:
        return
    from importlib import metadata  # loads the parser of e-mails, and `fader --help` must be quick

    _state.installed.add(kind.group)
    for point in metadata.entry_points(group=kind.group):
        package = point.dist.name if point.dist is not None else point.value
        before, _state.loading = _state.loading, ("package", package)
        try:
            loaded = point.load()
            parts = _parts_of(loaded) if isinstance(loaded, ModuleType) else [loaded]
            for part in parts:
                register(part)
        except Exception as error:
            what = str(error) if isinstance(error, FaderError) else f"{type(error).__name__}: {error}"
            raise UsageError(
                f"plug-in {point.name} ({point.value}) of the package {package} cannot be loaded: {what}; "
                f"update the package, or remove it with `pip uninstall {package}`"
            ) from None
        finally:
            _state.loading = before


class _PluginFinder:
    """Finds the modules of plug-in files by FADER_PLUGINS, for values that another process has sent."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if not name.startswith(PREFIX):
            return None
        files = [text for text in os.environ.get(VARIABLE, "").split(os.pathsep) if text.endswith(".py")]
        file = next((text for text in files if _module_name(text) == name), None)
        return None if file is None else importlib.util.spec_from_file_location(name, file)


if _PluginFinder not in sys.meta_path:
    sys.meta_path.append(_PluginFinder)


def worker_environment() -> dict[str, str]:
    """Variables that make other processes know the plug-ins of this one; empty where there are none."""
    _load_variable()
    for plugin in _state.plugins.values():
        check_importable(plugin.part)
    modules = [plugin.source for plugin in _state.plugins.values() if plugin.origin == "module"]
    names = list(dict.fromkeys([*_state.loaded, *modules]))
    return {VARIABLE: os.pathsep.join(names)} if names else {}


def check_importable(part: type[Any]) -> None:
    """Refuse a class that another process cannot import."""
    if part.__module__ == "__main__":
        raise UsageError(
            f"{part.__qualname__} is defined in __main__, which worker processes cannot import; put it into a file of "
            "its own and load that with --plugin or fader.load_plugin, or work in one process"
        )


def list_plugins(system: Any) -> list[dict[str, str]]:
    """The plug-ins that a system is or names in its parameters, for its model file."""
    values = [system, *(getattr(system, field.name) for field in dataclasses.fields(system))]
    words = {word for value in values if isinstance(value, str) for word in _NAME.findall(value)}
    combined = [value for value in values if type(value).__name__ == "Combined"]  # `a+b`, which has no kind of its own
    parts = [*values, *(part for value in combined for part in value.maps)]
    found = {plugin.part: plugin for (_package, name), plugin in _state.plugins.items() if name in words}
    for part in map(type, parts):
        kind = kind_of(part)
        if kind is not None and part not in _find_built_in(kind.package).values() and hasattr(part, "name"):
            known = _state.plugins.get((kind.package, part.name))
            found[part] = known or Plugin(kind, part, "module", part.__module__)
    return [found[part].describe() for part in sorted(found, key=lambda part: str(part.name))]


def require_plugins(needed: Any, file: str) -> None:
    """Refuse a model file whose plug-ins are not there, and say how to give them."""
    for record in needed if isinstance(needed, list) else []:
        known = {name for kind in KINDS if kind.noun == record.get("kind") for name in discover(kind.package)}
        if record.get("name") in known:
            continue
        if "package" in record:
            remedy = f"install the package {record['package']}"
        elif record.get("module") == "__main__":
            remedy = (
                "it was defined in a script or notebook, which define and register it again (fader.register); "
                "put it into a file of its own for --plugin, and train again"
            )
        else:
            remedy = f"give --plugin {record.get('file') or record.get('module')} (in Python: fader.load_plugin)"
        what = f"the {record.get('kind')} {quote(record.get('name'))} of a plug-in ({record.get('class')})"
        raise InputError(f"{file}: needs {what}, which is not there; {remedy}")


def parse(package: str, text: str) -> Any:
    """The part that a text such as `kernel(shape=inverse,width=10)` names."""
    return build(*name_and_arguments(package, text))


def name_and_arguments(package: str, text: str) -> tuple[type[Any], dict[str, str]]:
    """The class that a text names, and its parameters as they are written."""
    name, inside = read_call(text)
    if not name:
        raise UsageError(f"{quote(text)} is not of the form name or name(parameter=value,...)")
    part = find_part(package, name)
    if part is None:
        known = discover(package)
        hint = did_you_mean(name, known) or f"; known: {', '.join(known)}"
        raise UsageError(f"unknown {_KIND_OF[package].noun} {quote(name)}{hint}")
    return part, split_arguments(inside, getattr(part, "first", ""))


def read_call(text: str) -> tuple[str, str]:
    """The name of `name(inside)` or `name`, and what is inside; two empty texts where it has another form."""
    match = _CALL.fullmatch(text)
    return ("", "") if match is None else (match[1], match[2] or "")


def split_arguments(inside: str, first: str = "") -> dict[str, str]:
    """`a=1,b=f(x,y)` to a dictionary; commas inside brackets do not split; `first` names a piece without a name."""
    arguments: dict[str, str] = {}
    for i, piece in enumerate(split_top(inside, ",")):
        key, equals, value = piece.partition("=")
        if i == 0 and first and ("(" in key or not equals):
            key, equals, value = first, "=", piece
        if not equals or not key.strip() or not value.strip():
            raise UsageError(f"parameter {quote(piece)} is not of the form name=value")
        if key.strip() in arguments:
            raise UsageError(f"parameter {quote(key.strip())} is given twice")
        arguments[key.strip()] = value.strip()
    return arguments


def split_top(text: str, separator: str) -> list[str]:
    """The pieces of a text between separators that stand outside of brackets; empty ones are left out."""
    pieces, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == separator and depth == 0:
            pieces.append(text[start:i])
            start = i + 1
    pieces.append(text[start:])
    return [p for p in pieces if p.strip()]


def build(part: type[Any], arguments: dict[str, str]) -> Any:
    """Make a part from written parameters, each converted to the type of its field's default."""
    fields = {f.name: f for f in dataclasses.fields(part)}
    values = {}
    for key, text in arguments.items():
        if key not in fields:
            hint = did_you_mean(key, fields) or f"; it takes {', '.join(fields) or 'none'}"
            raise UsageError(f"{part.name} has no parameter {quote(key)}{hint}")
        values[key] = _convert(part.name, key, text, fields[key].default)
    return part(**values)


def _convert(part: str, key: str, text: str, default: Any) -> Any:
    try:
        if isinstance(default, bool):
            return {"true": True, "false": False}[text.lower()]
        if isinstance(default, tuple):
            return tuple(float(piece) for piece in text.split("/"))
        return type(default)(text)
    except (ValueError, KeyError):
        wanted = "true or false" if isinstance(default, bool) else f"a number like {default}"
        wanted = "numbers like 0/1/3/10" if isinstance(default, tuple) else wanted
        raise UsageError(f"{part}: {key} must be {wanted}, not {quote(text)}") from None


def write_part(part: Any) -> str:
    """The text that parses back to the part: only parameters that differ from their defaults."""
    first = getattr(part, "first", "")
    changed = [
        _value(getattr(part, f.name)) if f.name == first else f"{f.name}={_value(getattr(part, f.name))}"
        for f in dataclasses.fields(part)
        if getattr(part, f.name) != f.default
    ]
    return f"{part.name}({','.join(changed)})" if changed else str(part.name)


def _value(value: Any) -> str:
    return (
        "/".join(f"{v:g}" if float(f"{v:g}") == v else repr(v) for v in value)
        if isinstance(value, tuple)
        else str(value)
    )

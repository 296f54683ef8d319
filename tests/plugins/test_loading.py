"""Parts are found in files, modules, installed packages and by registration; faults name the plug-in."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import fader
from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.features.base import F64
from fader.features.column import OneColumn
from fader.registry import VARIABLE, check_importable, discover, load_plugin, parse, register, worker_environment

PARTS = Path(__file__).parent / "my_parts.py"
BROKEN = "from fader.features.column import OneColumn\n\nraise ValueError('no luck')\n"


def message_of(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as raised:
        load_plugin(path)
    return str(raised.value)


def part_text(name: str, base: str = "OneColumn", decorator: str = "@dataclass(frozen=True)") -> str:
    return f"""
from dataclasses import dataclass
from typing import ClassVar
from fader.features.column import OneColumn

{decorator}
class Mine({base}):
    name: ClassVar[str] = {name!r}
    label: ClassVar[str] = "mine"
    def column(self, contexts):
        return contexts.confidence
"""


def test_a_file_gives_its_parts() -> None:
    """By their names, with parameters, wherever a part is named; loading it twice changes nothing."""
    found = load_plugin(PARTS)
    assert {part.__name__ for part in found} == {"Nearby", "TopSum", "Bracketed", "Crowd"}
    assert load_plugin(str(PARTS)) == found
    assert str(parse("fader.features", "nearby(width=9)")) == "nearby(width=9)"
    assert "topsum" in discover("fader.aggregate")
    assert "bracketed" in discover("fader.corpora.formats")
    assert os.environ[VARIABLE] == str(PARTS)


def test_the_variable_gives_plugins_to_every_process() -> None:
    """As worker processes get them."""
    program = "from fader.registry import discover; print('topsum' in discover('fader.aggregate'))"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, VARIABLE: str(PARTS)}, capture_output=True, text=True
    )
    assert done.stdout == "True\n", done.stderr


def test_the_variable_is_passed_on_with_whole_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also before any part has been looked up; other processes may work in another folder."""
    monkeypatch.chdir(PARTS.parent)
    monkeypatch.setenv(VARIABLE, PARTS.name)
    assert worker_environment() == {VARIABLE: str(PARTS)}


def test_a_variable_that_names_nothing_is_said_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second use of a part has the same reason as the first."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none.py"))
    for _time in range(2):
        with pytest.raises(UsageError, match=r"none\.py: there is no such file"):
            discover("fader.features")


def test_a_thread_waits_for_what_another_one_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service loads systems in the background and lists them at the same time."""
    signals_text = "import threading\nbegun, go_on = threading.Event(), threading.Event()\n"
    slow = f"import slow_signals\nslow_signals.begun.set()\nslow_signals.go_on.wait(60)\n{part_text('late')}"
    (tmp_path / "slow_signals.py").write_text(signals_text, encoding="utf-8")
    (tmp_path / "slow.py").write_text(slow, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "slow.py"))
    signals = importlib.import_module("slow_signals")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(discover, "fader.features")
        assert signals.begun.wait(60)
        second = pool.submit(discover, "fader.features")
        with pytest.raises(TimeoutError):
            second.result(0.1)
        signals.go_on.set()
        assert "late" in first.result(60)
        assert "late" in second.result(60)


def test_a_class_is_registered_by_call_and_by_decorator() -> None:
    """A notebook may run its cell again."""
    for _time in range(2):

        @fader.register
        @dataclass(frozen=True)
        class Sure(OneColumn):
            name: ClassVar[str] = "sure"
            label: ClassVar[str] = "sure"

            def column(self, contexts: Contexts) -> F64:
                return contexts.confidence

    assert parse("fader.features", "sure") == Sure()


def test_a_module_is_a_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name, where it can be imported."""
    (tmp_path / "parts_of_a_module.py").write_text(part_text("modular"), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    load_plugin("parts_of_a_module")
    assert "modular" in discover("fader.features")
    assert worker_environment() == {VARIABLE: "parts_of_a_module"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BROKEN, "mine.py, line 3: cannot be loaded: ValueError: no luck"),
        ("def f(:\n", "mine.py, line 1: cannot be loaded: SyntaxError: "),
        ("import no_such_module_of_anybody\n", "line 1: cannot be loaded: ModuleNotFoundError: "),
        ("import sys; sys.exit(3)\n", "cannot be loaded: SystemExit: 3"),
        (
            "a = 1\n",
            "has no part; a part is a frozen dataclass that derives from FeatureMap, EntityMap, ",
        ),
        (part_text("kernel"), 'the feature "kernel" of '),
        (part_text("no name"), "mine:Mine has no name; give it a class attribute"),
        (part_text("mine", decorator="@dataclass"), "mine:Mine must be a frozen dataclass"),
        (part_text("mine").replace("label", "width: int\n    label"), "the field width has no default"),
    ],
)
def test_a_broken_plugin_is_named(text: str, message: str, tmp_path: Path) -> None:
    """With what is wrong and where."""
    shown = message_of(tmp_path / "mine.py", text)
    assert shown.startswith(f"plug-in {tmp_path / 'mine.py'}")
    assert message in shown


def test_a_broken_plugin_is_no_traceback(tmp_path: Path) -> None:
    """On the command line."""
    (tmp_path / "mine.py").write_text(BROKEN, encoding="utf-8")
    command = [sys.executable, "-m", "fader", "systems", "--plugin", str(tmp_path / "mine.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == f"fader: plug-in {tmp_path / 'mine.py'}, line 3: cannot be loaded: ValueError: no luck\n"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """Also one that is there on another machine alone."""
    with pytest.raises(UsageError, match=r"none\.py: there is no such file; worker processes"):
        load_plugin(tmp_path / "none.py")


def test_two_plugins_cannot_share_a_name(tmp_path: Path) -> None:
    """Which one was meant cannot be known; two files of one name cannot be told apart either."""
    (tmp_path / "one.py").write_text(part_text("mine"), encoding="utf-8")
    load_plugin(tmp_path / "one.py")
    assert f"has the name of a feature of {tmp_path / 'one.py'}" in message_of(tmp_path / "two.py", part_text("mine"))
    (tmp_path / "other").mkdir()
    assert "is a plug-in with the same file name" in message_of(tmp_path / "other" / "one.py", part_text("others"))


@pytest.mark.parametrize("given", [3, int, OneColumn])
def test_what_is_no_part_is_refused(given: Any) -> None:
    """A value, another class, an abstract one."""
    with pytest.raises(UsageError):
        register(given)


def test_a_class_of_main_does_not_travel() -> None:
    """Other processes cannot import it."""
    part = dataclass(frozen=True)(
        type(
            "Here",
            (OneColumn,),
            {"name": "here", "label": "x", "__module__": "__main__", "column": lambda self, c: c.confidence},
        )
    )
    register(part)
    assert "here" in discover("fader.features")
    with pytest.raises(UsageError, match="Here is defined in __main__, which worker processes cannot import"):
        worker_environment()
    with pytest.raises(UsageError, match="load that with --plugin"):
        check_importable(part)


PACKAGE_PARTS = part_text("packaged")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with an installed package that has an entry point."""
    (tmp_path / "my_package.py").write_text(PACKAGE_PARTS, encoding="utf-8")
    info = tmp_path / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[fader.features]\npackaged = my_package:Mine\n", encoding="utf-8")
    return tmp_path


def test_an_installed_package_gives_its_parts(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By entry points, without any option; a module stands for all its parts."""
    monkeypatch.syspath_prepend(package)
    assert str(parse("fader.features", "packaged")) == "packaged"
    monkeypatch.setattr("fader.registry._state", fader.registry._State())
    (package / "my_package-1.0.dist-info" / "entry_points.txt").write_text(
        "[fader.features]\nall = my_package\n", encoding="utf-8"
    )
    assert "packaged" in discover("fader.features")


@pytest.mark.parametrize("value", ["my_package:Nobody", "no_such_package:Mine", "my_package:dataclass"])
def test_a_broken_package_is_named(value: str, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the entry point, what is wrong, and the remedy."""
    monkeypatch.syspath_prepend(package)
    points = package / "my_package-1.0.dist-info" / "entry_points.txt"
    points.write_text(f"[fader.features]\npackaged = {value}\n", encoding="utf-8")
    with pytest.raises(UsageError) as raised:
        discover("fader.features")
    assert str(raised.value).startswith(f"plug-in packaged ({value}) of the package my-package cannot be loaded: ")
    assert "pip uninstall my-package" in str(raised.value)

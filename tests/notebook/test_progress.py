"""Long work of the library has a bar in a notebook, and nothing anywhere else."""

from __future__ import annotations

from typing import Any

import pytest

from fader import progress
from fader.progress import NotebookBar, Silent, in_notebook, watch


class Shown:
    """What a notebook would show."""

    def __init__(self) -> None:
        self.pages: list[str] = []

    def display(self, page: Any, display_id: bool = False) -> Shown:
        self.update(page)
        return self

    def update(self, page: Any) -> None:
        self.pages.append(page.data)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    import IPython.display

    made = Shown()
    monkeypatch.setattr(IPython.display, "display", made.display)
    monkeypatch.setattr(progress, "QUICK_SECONDS", 0.0)
    monkeypatch.setattr(progress, "DRAW_EVERY_SECONDS", 0.0)
    return made


def test_a_bar_follows_the_work_and_goes(shown: Shown) -> None:
    """Texts are escaped; a share is known where a total is."""
    bar = NotebookBar("<Indexing>")
    bar.update(1, 4, "a & b")
    bar.update(3)
    bar.close()
    assert shown.pages == [
        '&lt;Indexing&gt; <progress value="0.250"></progress> <small>a &amp; b</small>',
        "&lt;Indexing&gt; <progress></progress> <small></small>",
        "",
    ]


def test_quick_work_has_none(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "QUICK_SECONDS", 1e9)
    bar = NotebookBar("x")
    bar.update(1, 2)
    bar.close()
    assert shown.pages == []


def test_only_a_notebook_shows_it(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the caller gives is used as it is; the bar goes when the work ends or fails."""
    assert not in_notebook()
    given = Silent()
    with watch("x", None) as nothing, watch("x", given) as same:
        assert nothing is None
        assert same is given
    monkeypatch.setattr(progress, "in_notebook", lambda: True)
    with pytest.raises(ZeroDivisionError), watch("x", None) as bar:
        bar.update(1, 1 // 0)  # type: ignore[union-attr]
    with watch("x", None) as bar:
        bar.update(1, 2)  # type: ignore[union-attr]
        assert "progress" in shown.pages[-1]
    assert shown.pages[-1] == ""

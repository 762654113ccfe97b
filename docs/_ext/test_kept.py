"""Property: a block that is kept does not run; an edit of it, of one before it or of a source runs them."""

from types import SimpleNamespace

import kept
import pytest
from shell import BlockError, Page


@pytest.fixture
def show(tmp_path, monkeypatch):
    """Return a function that reads a page of blocks and returns what they show, and which of them ran."""
    (tmp_path / "capsmodel").mkdir()
    (tmp_path / "capsmodel/a.py").write_text("1")
    (tmp_path / "out/doctrees").mkdir(parents=True)
    monkeypatch.setattr(kept, "ROOT", tmp_path)
    app = SimpleNamespace(doctreedir=str(tmp_path / "out/doctrees"))

    def show(*texts):
        kept.everything_else.cache_clear()
        page, ran = Page(app), []

        def run(text):
            ran.append(text)
            return text.upper()

        page.later("file", lambda: ran.append("file"))
        shown = [page.shown(text, lambda text=text: run(text)) for text in texts]
        page.end()
        return shown, ran

    yield show
    kept.everything_else.cache_clear()


def test_what_is_kept_does_not_run(show):
    """The second build shows the same and runs nothing."""
    assert show("a", "b") == (["A", "B"], ["file", "a", "b"])
    assert show("a", "b") == (["A", "B"], [])


def test_an_edit_runs_what_stands_before_it(show):
    """A block may read what those before it wrote; one after it is another one too, since its folder is."""
    show("a", "b", "c")
    assert show("a", "x", "c") == (["A", "X", "C"], ["file", "a", "x", "c"])
    assert show("a", "b", "d") == (["A", "B", "D"], ["file", "a", "b", "d"])


def test_an_edit_of_a_source_runs_all(show, tmp_path):
    """Compiled code is no source."""
    show("a")
    (tmp_path / "capsmodel/__pycache__").mkdir()
    (tmp_path / "capsmodel/__pycache__/a.nbi").write_text("machine code")
    assert show("a")[1] == []
    (tmp_path / "capsmodel/a.py").write_text("2")
    assert show("a")[1] == ["file", "a"]


def test_a_block_that_fails_is_not_kept(show, tmp_path):
    """It fails in the next build too."""
    page = Page(SimpleNamespace(doctreedir=str(tmp_path / "out/doctrees")))

    def fail():
        raise BlockError("no")

    for _ in range(2):
        with pytest.raises(BlockError):
            page.shown("a", fail)
    assert not (tmp_path / "out/kept").exists()

"""What tests of commands share."""

import pytest


@pytest.fixture
def blank(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write empty files in place of pictures, which take most of a command's time: for tests that look at none."""
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda figure, file, **_: None)

"""Commands run in this process: how they end and what they print."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from capsmodel.cli import main

Line = str | Sequence[object]
Capture = pytest.CaptureFixture[str]


class Ended(NamedTuple):
    """Exit status of a command, and what it wrote to standard output and error."""

    status: int
    out: str
    err: str


def ended(line: Line, capsys: Capture) -> Ended:
    """Run a command, given as words or as one line of words without spaces in them."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(line.split() if isinstance(line, str) else [str(word) for word in line])
    found = capsys.readouterr()
    return Ended(int(stop.value.code or 0), found.out, found.err)


def succeed(*words: object) -> None:
    """Run a command that succeeds, given as words."""
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    assert stop.value.code in (0, None)


def succeeded(line: Line, capsys: Capture) -> Ended:
    """Return how a command ends that succeeds."""
    found = ended(line, capsys)
    assert found.status == 0, found.err
    return found


def printed(line: Line, capsys: Capture) -> str:
    """Return the standard output of a command that succeeds."""
    return succeeded(line, capsys).out


def refused(line: Line, capsys: Capture) -> str:
    """Return the one line on standard error of a command that fails with exit status 2."""
    found = ended(line, capsys)
    assert (found.status, found.err.count("\n")) == (2, 1)
    assert found.err.startswith("capsmodel: ")
    return found.err

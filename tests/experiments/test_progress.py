"""Contract: where nobody watches, what takes long says so once a minute, and what is short says nothing."""

import sys
import threading
import time
from io import StringIO
from types import SimpleNamespace

import pytest
from rich.console import Console

from capsim import Batch, Dumbbell, Scenario, simulate
from capsmodel.experiments.progress import Minutes, counted, is_watched, simulated_time, track, waiting


class Heard(StringIO):
    """Standard error that tells when a line has come."""

    def __init__(self):
        super().__init__()
        self.line = threading.Event()

    def write(self, text):
        written = super().write(text)
        if text.endswith("\n"):
            self.line.set()
        return written

    def waits_for(self, text):
        """Wait until the text has been written."""
        while text not in self.getvalue():
            self.line.clear()
            assert text in self.getvalue() or self.line.wait(60)


@pytest.fixture
def hears(monkeypatch):
    """Return what puts a listener in the place of standard error, which pytest sets anew before each test."""

    def listener():
        found = Heard()
        monkeypatch.setattr(sys, "stderr", found)
        return found

    return listener


def test_a_line_tells_how_many_have_ended_and_which_was_the_last(hears):
    """Catches a log that has a line only when a run ends, and a count that stands still."""
    heard = hears()
    soon = Minutes(period_s=1e-3)
    with counted(total=3, label="runs", first="it compiles", minutes=soon) as ended:
        assert heard.line.wait(60)
        assert heard.getvalue().startswith("runs: 0 of 3 ended (it compiles); 0 min so far\n")
        ended(2, "caps, seed 1")
        heard.waits_for("\nruns: 2 of 3 ended, the last one: caps, seed 1; 0 min so far\n")


def test_what_has_no_name_is_counted_only(hears):
    """Catches a comma with nothing behind it."""
    heard = hears()
    with counted(total=2, label="windows", minutes=Minutes(period_s=1e-3)) as ended:
        ended(1, "")
        heard.waits_for("windows: 1 of 2 ended; 0 min so far\n")
    assert "the last one" not in heard.getvalue()


def test_nothing_is_said_of_what_takes_less_than_a_minute(hears):
    """Catches a line at the beginning, at the end, or for each item."""
    heard = hears()
    with counted(total=2, label="runs") as ended:
        ended(1, "a")
    assert list(track("ab", total=2, label="letters")) == ["a", "b"]
    with simulated_time(1.0) as show, waiting("loading"):
        show(0.25)
    assert heard.getvalue() == ""


def test_several_pieces_of_work_share_the_minutes(hears):
    """Catches a minute that begins anew with each of many short sweeps, so that hours pass without a line."""
    heard = hears()
    shared = Minutes(period_s=1e-3)
    while not heard.line.is_set():
        with counted(total=1, label="look", minutes=shared):
            pass
    assert heard.getvalue().startswith("look: 0 of 1 ended; ")


def test_a_terminal_has_a_bar_and_no_lines(monkeypatch):
    """Catches lines of a log between the frames of a bar."""
    monkeypatch.setattr(Console, "is_terminal", property(lambda self: True))
    threads = threading.active_count()
    with Minutes(period_s=0.0).saying(lambda: "never"):
        assert threading.active_count() == threads


def test_the_line_ends_with_the_work(hears):
    """Catches a thread that goes on talking."""
    heard = hears()
    with Minutes(period_s=1e-3).saying(lambda: "work"):
        assert heard.line.wait(60)
    said = heard.getvalue()
    assert "progress" not in {thread.name for thread in threading.enumerate()}
    assert heard.getvalue() == said


@pytest.mark.parametrize("asks", [True, False])
def test_a_notebook_of_a_person_has_a_bar_and_one_that_a_program_runs_has_none(asks, monkeypatch):
    """Catches bars in the outputs of notebooks that are run for a page, and a person who sees nothing for a minute."""
    request = {"content": {"allow_stdin": asks}}
    shell = SimpleNamespace(kernel=SimpleNamespace(get_parent={"shell": request}.get))
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    assert is_watched(Console(force_jupyter=True)) == asks
    monkeypatch.setattr("IPython.get_ipython", lambda: None)
    assert not is_watched(Console(force_jupyter=True))


def test_a_worker_leaves_the_terminal_to_the_process_that_started_it(monkeypatch):
    """Catches a bar of each worker in the bar of a study."""
    monkeypatch.setattr(Console, "is_terminal", property(lambda self: True))
    assert is_watched(Console())
    monkeypatch.setattr("capsmodel.experiments.progress.parent_process", lambda: object())
    assert not is_watched(Console())


@pytest.fixture
def terminal(monkeypatch, hears):
    """Return what puts a listener that is taken for a terminal in the place of standard error."""
    monkeypatch.setattr(Console, "is_terminal", property(lambda self: True))
    monkeypatch.setenv("TERM", "xterm")
    return hears


def test_a_run_shows_its_simulated_time_once_it_has_lasted_two_seconds(terminal, monkeypatch):
    """Catches a bar that flickers in each of a hundred short runs, and one that never comes."""
    heard, passed_s = terminal(), 0.0
    monkeypatch.setattr("capsmodel.experiments.progress.time.monotonic", lambda: passed_s)
    with simulated_time(1.0) as show:
        passed_s = 1.9
        show(0.125)
        assert heard.getvalue() == ""
        passed_s = 2.1
        show(0.25)
    assert "250.0 ms simulated" in heard.getvalue()


def test_what_has_no_measure_shows_itself_after_two_seconds(terminal, monkeypatch):
    """Catches half a minute of compiling without a word."""
    heard = terminal()
    with waiting("compiling"):
        pass
    assert heard.getvalue() == ""
    monkeypatch.setattr("capsmodel.experiments.progress.PATIENCE_S", 0.0)
    with waiting("compiling"):
        time.sleep(0.3)
    assert "compiling" in heard.getvalue()


def test_a_single_simulation_in_python_has_the_bar(terminal, monkeypatch):
    """Catches the bar of the command only, and one in the parts of a study."""
    heard = terminal()
    monkeypatch.setattr("capsmodel.experiments.progress.PATIENCE_S", 0.0)
    monkeypatch.setattr("capsim.engines.reference.PROGRESS_TRAVERSALS", 100)
    run = Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=(Batch(flow_bytes=10**6, pairs="sides"),))
    simulate(run, engine="reference", progress=None)
    assert heard.getvalue() == ""
    simulate(run, engine="reference")
    assert "simulating" in heard.getvalue()

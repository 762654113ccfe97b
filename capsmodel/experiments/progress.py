"""Progress: a bar on a terminal or in a notebook; where nobody watches, as in a job's log, a line once a minute."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import parent_process
from threading import Event, Thread, Timer
from typing import TypeVar

from rich import progress
from rich.console import Console

from capsmodel.experiments.task import Task

ItemT = TypeVar("ItemT")
_MINUTE_S = 60.0
PATIENCE_S = 2.0
"""How long a single piece of work lasts before it shows itself."""


def is_watched(console: Console) -> bool:
    """Return whether somebody sees a bar: a terminal is there, or a notebook in which a person runs cells.

    Programs that run notebooks, such as those that make pages of them, ask for no input; a person's notebook does. A
    worker shares the terminal of the process that started it, which has the bar.
    """
    if not console.is_jupyter:
        return console.is_terminal and parent_process() is None
    from IPython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    request = kernel.get_parent("shell") if kernel is not None else {}
    return bool(request.get("content", {}).get("allow_stdin", False))


class Minutes:
    """Says once a minute on standard error what goes on, unless somebody sees a bar.

    Parameters
    ----------
    period_s : float
        Time from one line to the next, in seconds. It runs on from one piece of work to the next.
    """

    def __init__(self, period_s: float = _MINUTE_S) -> None:
        self._period_s = period_s
        self._begin_s = time.monotonic()
        self._next_s = self._begin_s + period_s

    @contextmanager
    def saying(self, text: Callable[[], str]) -> Iterator[None]:
        """Print what `text` returns, and for how long it has gone on, as long as the block runs."""
        if is_watched(Console(stderr=True)):
            yield
            return
        stop = Event()
        thread = Thread(target=self._speak, args=(text, stop), name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _speak(self, text: Callable[[], str], stop: Event) -> None:
        while not stop.wait(max(0.0, self._next_s - time.monotonic())):
            self._next_s = time.monotonic() + self._period_s
            passed_min = (time.monotonic() - self._begin_s) / _MINUTE_S
            print(f"{text()}; {passed_min:.0f} min so far", file=sys.stderr, flush=True)


@contextmanager
def counted(
    *, total: int, label: str, first: str = "", minutes: Minutes | None = None
) -> Iterator[Callable[[int, str], None]]:
    """Give a function to call with the number of items that have just ended, of `total`, and what the last one was.

    Until then `first` stands there, such as why the first one takes long.
    """
    console = Console(stderr=True)
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(bar_width=20),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.fields[last]}", markup=False),
    )
    with progress.Progress(*columns, console=console, disable=not is_watched(console)) as bar:
        task = bar.add_task(label, total=total, last=first)

        def line() -> str:
            now = bar.tasks[0]
            last = now.fields["last"]
            named = f", the last one: {last}" if now.completed and last else f" ({first})" if first else ""
            return f"{label}: {now.completed:.0f} of {total} ended{named}"

        with (minutes or Minutes()).saying(line):
            yield lambda ended, last: bar.update(task, advance=ended, last=last)


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show `text` while something without a measure of progress goes on, once it has lasted `PATIENCE_S`."""
    console = Console(stderr=True)
    if not is_watched(console):
        with Minutes().saying(lambda: text):
            yield
        return
    status = console.status(text)
    soon = Timer(PATIENCE_S, status.start)
    soon.start()
    try:
        yield
    finally:
        soon.cancel()
        soon.join()
        status.stop()


@contextmanager
def simulated_time(last_start_s: float) -> Iterator[Callable[[float], None]]:
    """Give a function to call with the simulated time of a run, whose last flow starts at `last_start_s`, in seconds.

    The bar shows itself when the run has lasted `PATIENCE_S`, and is full when the last flow has started.
    """
    console = Console(stderr=True)
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TextColumn("{task.fields[now]}"),
        progress.TimeElapsedColumn(),
    )
    bar = progress.Progress(*columns, console=console, transient=True, disable=not is_watched(console))
    task = bar.add_task("simulating", total=last_start_s or None, now="0.0 ms simulated")
    begin_s = time.monotonic()

    def show(now_s: float) -> None:
        total = last_start_s if now_s <= last_start_s else None  # the bar pulses then
        bar.update(task, completed=now_s, total=total, now=f"{now_s * 1e3:.1f} ms simulated")
        if not bar.live.is_started and time.monotonic() - begin_s >= PATIENCE_S:
            bar.start()

    with Minutes().saying(lambda: f"simulating: {bar.tasks[0].fields['now']}"):
        try:
            yield show
        finally:
            bar.stop()


def track(items: Iterable[ItemT], *, total: int, label: str) -> Iterator[ItemT]:
    """Yield `items` and show how many of `total` are done.

    Examples
    --------
    >>> list(track("ab", total=2, label="letters"))
    ['a', 'b']
    """
    with counted(total=total, label=label) as ended:
        for item in items:
            yield item
            ended(1, "")


Done = Callable[[Sequence[Task]], None]
"""Called with the tasks that have just ended, here or in another process that shares the folder."""


def plain_arguments(task: Task) -> str:
    """Return the arguments of a task that are one word or number, for people.

    Examples
    --------
    >>> from capsmodel.experiments.measurement import measurement
    >>> double = measurement("double", revision=1)(lambda *, number, sizes: {"double": 2 * number})
    >>> plain_arguments(Task(double, number=3, sizes=[1, 2]))
    'number 3'
    """
    return ", ".join(f"{name} {value}" for name, value in task.payload.items() if isinstance(value, int | float | str))


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What a person sees of a sweep.

    Parameters
    ----------
    label, first : str
        Beside the bar, and what stands behind it until the first task has ended.
    named : callable
        What a person calls a task; the last one that ended stands behind the bar.
    minutes : Minutes, optional
        Of several sweeps one after another; each has its own when left out.
    """

    label: str = "sweep"
    first: str = ""
    named: Callable[[Task], str] = plain_arguments
    minutes: Minutes | None = None

    @contextmanager
    def shown(self, total: int) -> Iterator[Done]:
        """Give the function `done` that draws the progress of `total` tasks."""
        with counted(total=total, label=self.label, first=self.first, minutes=self.minutes) as ended:
            yield lambda tasks: ended(len(tasks), self.named(tasks[-1]))


BAR = Progress()

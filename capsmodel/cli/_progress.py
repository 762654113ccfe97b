"""What a waiting person sees: only on a terminal, and gone at the end."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

PATIENCE_S = 2.0


class _Bar:
    """Shows itself when the run has lasted `PATIENCE_S`."""

    def __init__(self, console: Console, last_start_s: float) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[now]}"), TimeElapsedColumn())
        self.progress = Progress(*columns, console=console, transient=True)
        self.total_s = last_start_s
        self.task = self.progress.add_task("simulating", total=last_start_s or None, now="")
        self.begin_s = time.monotonic()

    def show(self, now_s: float) -> None:
        """Draw the simulated time; the bar is full when the last flow has started, and pulses afterwards."""
        if not self.progress.live.is_started:
            if time.monotonic() - self.begin_s < PATIENCE_S:
                return
            self.progress.start()
        total = self.total_s if now_s <= self.total_s else None
        self.progress.update(self.task, completed=now_s, total=total, now=f"{now_s * 1e3:.1f} ms simulated")


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show `text` while something without a measure of progress goes on."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(text):
        yield


@contextmanager
def simulated_time(last_start_s: float) -> Iterator[Callable[[float], None] | None]:
    """Give a function to call with the simulated time in seconds, or None when nobody is watching."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _Bar(Console(stderr=True), last_start_s)
    try:
        yield bar.show
    finally:
        bar.progress.stop()

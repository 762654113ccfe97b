"""Progress of a sweep: a bar on standard error; without a terminal nothing, or lines for the log of a batch job."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from rich import progress
from rich.console import Console

from capsmodel.experiments.task import Task

ItemT = TypeVar("ItemT")


@contextmanager
def counted(*, total: int, label: str, first: str = "", log: bool = False) -> Iterator[Callable[[int, str], None]]:
    """Give a function to call with the number of items that have just ended, of `total`, and what the last one was.

    Until then `first` stands there, such as why the first one takes long. With `log` each call is a line where there is
    no terminal.
    """
    console = Console(stderr=True)
    if log and not console.is_terminal:
        yield _lines(total, label)
        return
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(bar_width=20),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.fields[last]}", markup=False),
    )
    with progress.Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(label, total=total, last=first)
        yield lambda ended, last: bar.update(task, advance=ended, last=last)


def _lines(total: int, label: str) -> Callable[[int, str], None]:
    done = 0

    def show(ended: int, last: str) -> None:
        nonlocal done
        done += ended
        print(f"{label}: {done} of {total} ended, the last one: {last}", file=sys.stderr, flush=True)

    return show


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
    """What a person sees of a sweep: a bar on a terminal.

    Parameters
    ----------
    label, first : str
        Beside the bar, and what stands behind it until the first task has ended.
    named : callable
        What a person calls a task; the last one that ended stands behind the bar.
    log : bool
        Without a terminal, print a line for each task, as for the log of a batch job; nothing is printed otherwise.
    """

    label: str = "sweep"
    first: str = ""
    named: Callable[[Task], str] = plain_arguments
    log: bool = False

    @contextmanager
    def shown(self, total: int) -> Iterator[Done]:
        """Give the function `done` that draws the progress of `total` tasks."""
        with counted(total=total, label=self.label, first=self.first, log=self.log) as ended:
            yield lambda tasks: ended(len(tasks), self.named(tasks[-1]))


BAR = Progress()

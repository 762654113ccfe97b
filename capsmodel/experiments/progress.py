"""A progress bar on standard error; nothing at all when that is not a terminal."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

ItemT = TypeVar("ItemT")


@contextmanager
def counted(*, total: int, label: str) -> Iterator[Callable[[int], None]]:
    """Give a function to call with the number of items that have just ended, of `total`."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=total)
        yield lambda ended: progress.advance(task, ended)


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
            ended(1)

"""A progress bar on standard error; nothing at all when that is not a terminal."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

ItemT = TypeVar("ItemT")


def track(items: Iterable[ItemT], *, total: int, label: str) -> Iterator[ItemT]:
    """Yield `items` and show how many of `total` are done.

    Examples
    --------
    >>> list(track("ab", total=2, label="letters"))
    ['a', 'b']
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield from progress.track(items, total=total, description=label)

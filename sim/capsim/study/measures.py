"""What a run of a study measures: measurements by their names, and the tasks that runs are.

A study names a measurement in its table ``[measure]``, whose other keys are arguments::

    [measure]
    name = "decoding-work"
    originals = "{originals}"

Only those that are registered here can be named, so that the file of a stranger runs no code but this package's.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from capsim.study.file import check_known
from capsmodel.checks import ParameterError
from capsmodel.experiments.measurement import measurement_of
from capsmodel.experiments.task import Task

__all__ = ["Measuring", "TaskList", "measure", "register"]

Measuring = Callable[..., Any]
_KNOWN: dict[str, Measuring] = {}
KeyT = TypeVar("KeyT")


def register(*functions: Measuring) -> None:
    """Make measurements known under their names (:func:`capsmodel.experiments.measurement.measurement`).

    Raises
    ------
    ParameterError
        If a function is no measurement, or another one has its name.
    """
    for function in functions:
        name = measurement_of(function).name
        if _KNOWN.setdefault(name, function) is not function:
            raise ParameterError(f"two measurements are called {name!r}: rename one")


def measure(name: str) -> Measuring:
    """Return the measurement of a name.

    Raises
    ------
    ParameterError
        If there is none.
    """
    check_known(name, _KNOWN, f"measure.name: there is no measurement {name!r}")
    return _KNOWN[name]


class TaskList(Mapping[tuple[KeyT, int], Task]):
    """A task for each point and seed; those of a point share the work of making the first.

    Parameters
    ----------
    points : iterable
        What is run.
    seeds : iterable of int
        With which seeds.
    made : callable
        ``made(point, seed)`` returns a task; it is called once for each point that is asked for.
    """

    def __init__(self, points: Iterable[KeyT], seeds: Iterable[int], made: Callable[[KeyT, int], Task]) -> None:
        self._seeds = dict.fromkeys(seeds)
        self._known: dict[KeyT, dict[int, Task]] = {point: {} for point in points}
        self._made = made

    def __getitem__(self, key: tuple[KeyT, int]) -> Task:
        """Return the task of a point and a seed."""
        point, seed = key
        known = self._known[point]
        if seed not in known:
            if seed not in self._seeds:
                raise KeyError(key)
            known[seed] = next(iter(known.values())).with_seed(seed) if known else self._made(point, seed)
        return known[seed]

    def __iter__(self) -> Iterator[tuple[KeyT, int]]:
        """Yield all points with all seeds."""
        return ((point, seed) for point in self._known for seed in self._seeds)

    def __len__(self) -> int:
        """Return the number of tasks."""
        return len(self._known) * len(self._seeds)

    def of_seeds(self, seeds: Container[int]) -> Iterator[tuple[tuple[KeyT, int], Task]]:
        """Yield the tasks that have one of some seeds, with point and seed."""
        return ((key, self[key]) for key in self if key[1] in seeds)

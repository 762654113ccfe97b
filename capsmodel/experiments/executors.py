"""What runs the batches of a sweep: this process, the cores of this machine, or a cluster."""

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

import joblib

from capsmodel.checks import require

Batch = Sequence[Any]
Outcomes = list[Any]
Executor = Callable[[Callable[[Batch], Outcomes], Iterable[Batch]], Iterable[Outcomes]]
"""Applies a function to every batch and yields what it returns in any order, as it comes. A cluster is one of these.

A batch that is asked for is claimed: an executor that asks for a few at a time shares a folder with other sweeps."""


def all_cores(jobs: int = -1) -> Executor:
    """Return an executor over `jobs` processes of this machine; -1 means as many as it has cores.

    Raises
    ------
    ParameterError
        If `jobs` is neither -1 nor from 1 to twice the cores (or 8): more are slower and fill the memory.
    """
    most = max(8, 2 * joblib.cpu_count())
    require(jobs == -1 or 1 <= jobs <= most, f"jobs = {jobs}, but it must be 1 to {most} here, or -1 for all cores")

    def execute(function: Callable[[Batch], Outcomes], batches: Iterable[Batch]) -> Iterable[Outcomes]:
        pool = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
        try:
            yield from pool(joblib.delayed(function)(batch) for batch in batches)
        except BrokenProcessPool:
            raise ChildProcessError(
                "a worker process was killed, by a person or for want of memory: run again, with fewer processes if"
                " memory is short; what had ended is kept where a folder was named"
            ) from None

    return execute


def one_by_one(function: Callable[[Batch], Outcomes], batches: Iterable[Batch]) -> Iterable[Outcomes]:
    """Execute in this process, in order: for a debugger and for functions that are not importable elsewhere."""
    return map(function, batches)


@contextmanager
def closed_at_end(results: Iterable[Outcomes]) -> Iterator[Iterable[Outcomes]]:
    """Give `results`; whatever ends the loop over them, the processes behind them are told to stop at once."""
    try:
        yield results
    finally:
        if isinstance(results, Generator):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # joblib's, that results are left unused
                results.close()

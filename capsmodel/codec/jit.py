"""Compilation on first use: nothing is compiled by an import, and the next process finds the result on disk."""

import functools
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numba.core.event

LOG = logging.getLogger(__name__)


@functools.cache
def compiled(function: Callable[..., Any], signature: Any) -> Any:
    """Return `function` compiled by Numba for one signature, from Numba's on-disk cache when it is there.

    The function must stand at the top level of a module and use no globals but constants; otherwise the cache misses.
    A compilation is reported by one line, to the log and, when a person is watching, to the terminal.

    Parameters
    ----------
    function : callable
        Plain Python function.
    signature : numba signature
        Types of the result and the arguments.

    Returns
    -------
    numba dispatcher
        The compiled function; its ``stats`` tell whether the cache was hit.
    """
    started = time.perf_counter()
    dispatcher = numba.njit(signature, cache=True, nogil=True, error_model="numpy")(function)
    if dispatcher.stats.cache_misses:
        _notice(f"compiled {function.__name__} in {time.perf_counter() - started:.1f} s; kept for the next process")
    return dispatcher


class _FirstUse(numba.core.event.Listener):
    """Reports the first compilation it hears of; a hit in the on-disk cache is not one."""

    def __init__(self) -> None:
        self._told = False

    def on_start(self, event: Any) -> None:
        if not self._told:
            _notice("compiling for this processor, once; the result is kept for the next process")
        self._told = True

    def on_end(self, event: Any) -> None:
        """Nothing is left to report."""


@contextmanager
def first_use_reported() -> Iterator[None]:
    """Report, once, that functions are being compiled while the block runs."""
    with numba.core.event.install_listener("numba:compile", _FirstUse()):
        yield


def _notice(text: str) -> None:
    LOG.info(text)
    if sys.stderr.isatty():
        print(f"capsmodel: {text}", file=sys.stderr)

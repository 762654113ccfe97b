"""Compilation on first use: nothing is compiled by an import, and the next process finds the result on disk."""

import functools
import logging
import sys
import time
from collections.abc import Callable
from typing import Any

import numba

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


def _notice(text: str) -> None:
    LOG.info(text)
    if sys.stderr.isatty():
        print(f"capsmodel: {text}", file=sys.stderr)

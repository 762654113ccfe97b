"""Compilation on first use: nothing is compiled by an import, and the next process finds the result on disk.

Where no folder for the result can be written, each process compiles anew. With ``NUMBA_DISABLE_JIT=1`` the functions
stay plain Python, to be stepped through or measured by a coverage tool. Python hears of Ctrl-C while Numba compiles.
"""

import functools
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numba.core.event
from numba.core.caching import FunctionCache
from numba.core.compiler_lock import global_compiler_lock

from capsmodel._interrupts import interruptible
from capsmodel.code_identity import files_digest

LOG = logging.getLogger(__name__)
Function = TypeVar("Function", bound=Callable[..., Any])


@functools.cache
def _digest(folder: Path) -> str:
    """Return a hash of the sources in a folder: what a function there may call, or emit instructions with."""
    return files_digest(*sorted(folder.glob("*.py")))


class SourceCache(FunctionCache):
    """Numba's on-disk cache, except that it notices a change of any file beside the function's own.

    It drops what was kept by a version whose modules had other names.
    """

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the machine code that is kept, None if there is none."""
        try:
            return super().load_overload(signature, target_context)
        except (ImportError, AttributeError):
            self._cache_file.flush()
            return None

    def _index_key(self, signature: Any, codegen: Any) -> Any:
        key = super()._index_key(signature, codegen)
        return (*key, _digest(Path(self._py_func.__code__.co_filename).parent))


def is_disabled() -> bool:
    """Return whether ``NUMBA_DISABLE_JIT=1`` asks Numba to leave functions as they are."""
    return bool(numba.core.config.DISABLE_JIT)  # type: ignore[attr-defined]  # set from the environment


def jit(function: Function) -> Function:
    """Mark a function to be compiled on first use, for the types of each call."""
    return cast(Function, _prepared(numba.njit(function), function))


def inlined(function: Function) -> Function:
    """Mark a function to be compiled into those that call it."""
    return cast(Function, numba.njit(inline="always")(function))


def _prepared(dispatcher: Any, function: Callable[..., Any]) -> Any:
    if not is_disabled():
        with suppress(RuntimeError):  # no folder can be written: the result is not kept
            dispatcher._cache = SourceCache(function)
        compile_now = dispatcher.compile
        dispatcher.compile = lambda signature: _interruptible(lambda: compile_now(signature))
    return dispatcher


def _interruptible(work: Callable[[], Any]) -> Any:
    """Let another thread compile, unless one compilation needs another: it would wait for Numba's lock for ever."""
    return work() if global_compiler_lock.is_locked() else interruptible(work)


@functools.cache
def compiled(function: Callable[..., Any], signature: Any) -> Any:
    """Return `function` compiled by Numba for one signature, from the on-disk cache when it is there.

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
        The compiled function; its ``stats`` show whether the cache was hit. `function` itself when Numba is disabled.
    """
    if is_disabled():
        return function
    started = time.perf_counter()
    dispatcher = _prepared(numba.njit(nogil=True, error_model="numpy")(function), function)
    dispatcher.compile(signature)
    dispatcher.disable_compile()
    if not dispatcher.stats.cache_hits:
        _notice(f"compiled {function.__name__} in {time.perf_counter() - started:.1f} s")
    return dispatcher


def entry_point(function: Any) -> Any:
    """Return the machine code of a `compiled` function as Python calls it: types of arguments are not looked at.

    A caller of one microsecond that has checked its arrays saves a fifth of it.
    """
    overloads = getattr(function, "overloads", None)
    return next(iter(overloads.values())).entry_point if overloads else function


class _FirstUse(numba.core.event.Listener):
    """Reports the first compilation it hears of; a hit in the on-disk cache is not one."""

    def __init__(self) -> None:
        self._reported = False

    def on_start(self, event: Any) -> None:
        if not self._reported:
            _notice("compiling for this processor, once where a folder can be written for the result")
        self._reported = True

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

"""Compilation on first use: nothing is compiled by an import, and the next process finds the result on disk.

Where no folder for the result can be written, each process compiles anew. With ``NUMBA_DISABLE_JIT=1`` the functions
stay plain Python, to be stepped through or measured by a coverage tool. Python hears of Ctrl-C while Numba compiles.
"""

import functools
import logging
import pickle
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numba.core.event
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.extending import register_jitable

from capsmodel._interrupts import interruptible
from capsmodel._machine_code import kept
from capsmodel.checks import require
from capsmodel.code_identity import files_digest

LOG = logging.getLogger(__name__)
Function = TypeVar("Function", bound=Callable[..., Any])


@functools.cache
def _digest(folder: Path) -> str:
    """Return a hash of the sources in a folder: what a function there may call, or emit instructions with."""
    return files_digest(*sorted(folder.glob("*.py")))


class KeptDispatcher(CPUDispatcher):
    """A function compiled by Numba for the types of each call, whose machine code is kept for the next process.

    What Python calls is a function of Numba, which takes arrays of NumPy and makes new ones; to call an address by
    ctypes, as the simulator calls its loop, costs a third of the time that it takes to encode a coding unit of 10
    packets, and each function would need a signature of addresses. So what is kept here is Numba's result, with the
    machine code in it. The key is all sources in the folder of the function, which must stand at the top level of a
    module.

    Attributes
    ----------
    from_disk : list of bool
        For each compilation whether it was found on disk.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        name = f"{function.__module__}.{function.__qualname__}"
        require("<locals>" not in name, f"{name} must stand at the top level of a module: its code is kept by its name")
        self.from_disk: list[bool] = []
        super().__init__(py_func=function, targetoptions={"nopython": True, "boundscheck": None, **options})

    def compile(self, sig: Any) -> Any:
        """Return what Python calls for a signature; another thread compiles, so that Ctrl-C is heard."""
        arguments, _ = normalize_signature(sig)
        if arguments not in self.overloads:
            function, options = self.py_func, sorted(self.targetoptions.items())
            types = repr([options, *((type(each).__name__, each) for each in arguments)])
            key = _digest(Path(function.__code__.co_filename).parent)
            compiled = functools.partial(_interruptible, functools.partial(self._compiled, sig))
            content, from_disk = kept(f"{function.__module__}.{function.__qualname__}", types, key, compiled)
            self.from_disk.append(from_disk)
            if from_disk:
                self._rebuild_from(content)
        result: Any = self.overloads[arguments]
        return result.entry_point

    def _compiled(self, signature: Any) -> bytes:
        """Compile for a signature, and return all of it as bytes."""
        arguments, _ = normalize_signature(signature)
        super().compile(signature)
        return cast(bytes, dumps(self.overloads[arguments]._reduce()))

    def _rebuild_from(self, content: bytes) -> None:
        """Let Python, and other functions of Numba, call what was kept."""
        with global_compiler_lock:
            self.targetctx.refresh()  # makes Numba's own functions known to LLVM
            result: Any = CompileResult._rebuild(self.targetctx, *pickle.loads(content))
            self.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
            self.add_overload(result)


def is_disabled() -> bool:
    """Return whether ``NUMBA_DISABLE_JIT=1`` asks Numba to leave functions as they are."""
    return bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]  # set from the environment


def jit(function: Function) -> Function:
    """Mark a function to be compiled on first use, for the types of each call."""
    return function if is_disabled() else cast(Function, KeptDispatcher(function))


def inlined(function: Function) -> Function:
    """Mark a function to be compiled into those that call it."""
    return cast(Function, numba.njit(inline="always")(function))


def _interruptible(work: Callable[[], Any]) -> Any:
    """Let another thread compile, unless one compilation needs another: it would wait for Numba's lock for ever."""
    return work() if global_compiler_lock.is_locked() else interruptible(work)


_once_jitable, _once_jit = functools.cache(register_jitable), functools.cache(jit)


def run_compiled(function: Callable[..., Any], *arguments: Any, parts: Iterable[Callable[..., Any]] = ()) -> Any:
    """Call a function of Python compiled; the first compilation is reported to somebody who watches.

    Parameters
    ----------
    function : callable
        At the top level of a module. It stays what Python runs when it is called by its name.
    *arguments
        What it is called with.
    parts : iterable of callable
        The functions that it and they call, likewise.
    """
    for part in parts:
        _once_jitable(part)
    with first_use_reported():
        return _once_jit(function)(*arguments)


@functools.cache
def compiled(function: Callable[..., Any], signature: Any) -> Any:
    """Return `function` compiled by Numba for one signature, from the on-disk cache when it is there.

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
        The compiled function. `function` itself when Numba is disabled.
    """
    if is_disabled():
        return function
    started = time.perf_counter()
    dispatcher = KeptDispatcher(function, nogil=True, error_model="numpy")
    dispatcher.compile(signature)
    dispatcher.disable_compile()
    if not all(dispatcher.from_disk):
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

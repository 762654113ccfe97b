"""Work in another thread, while the main one hears of Ctrl-C."""

import ctypes
import os
import signal
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import cache
from threading import Thread, current_thread, main_thread
from typing import Any, NamedTuple, TypeVar

_T = TypeVar("_T")

WAIT_S = 0.1  # between looks at whether Ctrl-C was pressed


def interruptible(work: Callable[[], _T]) -> _T:
    """Let another thread do some work outside of Python, wait for it and return what it returns.

    LLVM generates the machine code of a loop in one call of many seconds, and machine code may run as long. Python lets
    its main thread know of Ctrl-C, but only between two instructions: a main thread in that call would hear of it
    afterwards, or, if LLVM calls back, inside a function of ctypes, which prints the exception and forgets it. Machine
    code must leave Python to other threads: by ``nogil`` of Numba, or called by ctypes. After Ctrl-C the other thread
    goes on until its work or the process ends.

    A second Ctrl-C within `WAIT_S` of the first, or at any time after it if the work keeps Python from the main thread,
    ends the process, where the C library lets a signal be handled once (Linux).

    Other threads hear of no signal: they do the work themselves.
    """
    if current_thread() is not main_thread():
        return work()
    try:
        _handle_one_interrupt()  # before the work begins, which may keep Python from this thread at once
        result = in_background(work, name="machine code")
        while not result.done():
            wait([result], WAIT_S)
            _handle_one_interrupt()
    finally:
        _handle_all_interrupts()
    return result.result()


def in_background(work: Callable[[], _T], *, name: str) -> Future[_T]:
    """Let a thread of that name do some work, and return where its result will be.

    It does not keep a process that was interrupted. Worth it for work that compiles, since the other threads go on
    while LLVM does, and beside a main thread that waits for other processes.
    """
    result: Future[_T] = Future()

    def do() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    Thread(target=do, name=name, daemon=True).start()
    return result


def _handle_one_interrupt() -> None:
    """Let Python hear of the next Ctrl-C, and let the one after it end the process, whatever Python does then."""
    if callable(signal.getsignal(signal.SIGINT)) and (signals := _signals()):
        signals.library.sysv_signal(signal.SIGINT, signals.handler)


def _handle_all_interrupts() -> None:
    """Let Python hear of every Ctrl-C again."""
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        signal.signal(signal.SIGINT, handler)


class _Signals(NamedTuple):
    """The C library, and the address of Python's handler, the same for all functions of Python that handle signals."""

    library: Any
    handler: int


@cache
def _signals() -> _Signals | None:
    """Return what lets Python's handler be called once; None where the C library has no such function."""
    library: Any = ctypes.CDLL(None) if os.name == "posix" else None
    if not hasattr(library, "sysv_signal"):
        return None
    for function in (library.signal, library.sysv_signal):
        function.restype, function.argtypes = ctypes.c_void_p, (ctypes.c_int, ctypes.c_void_p)
    return _Signals(library, library.signal(signal.SIGINT, signal.SIG_IGN))

"""Let Numba compile without making Python deaf to Ctrl-C."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread, current_thread, main_thread
from typing import TypeVar

from numba.core.compiler_lock import global_compiler_lock

_T = TypeVar("_T")

WAIT_S = 0.1  # between looks at whether Ctrl-C was pressed


def interruptible(compilation: Callable[[], _T]) -> _T:
    """Let another thread do a compilation, wait for it and return what it returns.

    LLVM generates the machine code of a loop in one call of many seconds. Python lets its main thread know of Ctrl-C,
    but only between two instructions: a main thread in that call would hear of it afterwards, or, if LLVM calls back,
    inside a function of ctypes, which prints the exception and forgets it.

    Other threads hear of no signal: they compile themselves. So does a thread that owns Numba's lock, which means that
    one compilation needs another: a second thread would wait for the lock for ever.
    """
    if current_thread() is not main_thread() or global_compiler_lock.is_locked():
        return compilation()
    result: Future[_T] = Future()

    def work() -> None:
        try:
            result.set_result(compilation())
        except BaseException as error:
            result.set_exception(error)

    worker = Thread(target=work, name="compilation", daemon=True)  # it does not keep a process that was interrupted
    worker.start()
    while worker.is_alive():
        worker.join(WAIT_S)
    return result.result()

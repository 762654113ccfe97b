"""Work in another thread, while the main one hears of Ctrl-C."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread, current_thread, main_thread
from typing import TypeVar

_T = TypeVar("_T")

WAIT_S = 0.1  # between looks at whether Ctrl-C was pressed


def interruptible(work: Callable[[], _T]) -> _T:
    """Let another thread do some work outside of Python, wait for it and return what it returns.

    LLVM generates the machine code of a loop in one call of many seconds, and machine code may run as long. Python lets
    its main thread know of Ctrl-C, but only between two instructions: a main thread in that call would hear of it
    afterwards, or, if LLVM calls back, inside a function of ctypes, which prints the exception and forgets it. Machine
    code must leave Python to other threads: by ``nogil`` of Numba, or called by ctypes. After Ctrl-C the other thread
    goes on until its work or the process ends.

    Other threads hear of no signal: they do the work themselves.
    """
    if current_thread() is not main_thread():
        return work()
    result = in_background(work, name="machine code")
    while not result.done():
        wait([result], WAIT_S)
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

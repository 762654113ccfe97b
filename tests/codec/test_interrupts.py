"""Contract: Ctrl-C is heard while Numba compiles, whatever starts the compilation."""

import os
import signal
from threading import Event, Thread, current_thread, enumerate, main_thread

import numba
import pytest
from numba.core.caching import NullCache
from numba.core.compiler_lock import global_compiler_lock

from capsmodel._compilation import interruptible
from capsmodel.codec import jit


@pytest.fixture
def interrupts_are_heard():
    """Let SIGINT raise KeyboardInterrupt; a shell lets what it starts in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts_are_heard")
def test_the_main_thread_hears_of_an_interrupt_while_a_compilation_goes_on():
    end = Event()

    def compilation():
        os.kill(os.getpid(), signal.SIGINT)
        end.wait()

    with pytest.raises(KeyboardInterrupt):
        interruptible(compilation)
    (worker,) = (thread for thread in enumerate() if thread.name == "compilation")
    assert worker.daemon
    end.set()
    worker.join()


def test_what_a_compilation_returns_or_raises_arrives():
    assert interruptible(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0)


def test_a_thread_of_its_own_compiles_for_the_main_thread_only():
    threads = []

    def nested():
        threads.append(current_thread())
        interruptible(lambda: threads.append(current_thread()))

    interruptible(nested)
    assert threads[0] is threads[1] is not main_thread()
    threads.clear()
    other = Thread(target=nested)
    other.start()
    other.join()
    assert threads == [other, other]


def test_a_compilation_that_needs_another_one_does_it_in_its_own_thread():
    """It owns Numba's lock, for which a second thread would wait for ever."""
    with global_compiler_lock:
        assert interruptible(current_thread) is main_thread()


def test_functions_of_the_codec_are_compiled_interruptibly(monkeypatch):
    begun_with_lock = []

    def watched(compilation):
        begun_with_lock.append(global_compiler_lock.is_locked())
        return interruptible(compilation)

    monkeypatch.setattr(jit, "interruptible", watched)
    monkeypatch.setattr(jit, "SourceCache", lambda function: NullCache())

    @jit.jit
    def thrice(number):
        return 3 * number

    @numba.njit
    def of_another(number):
        return thrice(number) + 1

    assert thrice(2.5) == 7.5
    assert jit.compiled.__wrapped__(thrice.py_func, numba.int64(numba.int64))(2) == 6
    assert begun_with_lock == [False, False]
    assert of_another(2) == 7
    assert len(begun_with_lock) > 2
    assert all(begun_with_lock[2:])

"""Contract: Ctrl-C is heard while Numba compiles, whatever starts the compilation."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from threading import Event, Thread, current_thread, enumerate, main_thread

import numba
import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock

from capsmodel import _compilation
from capsmodel._interrupts import interruptible
from capsmodel.codec import linalg
from capsmodel.codec.kernels import combiner


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
    (worker,) = (thread for thread in enumerate() if thread.name == "machine code")
    assert worker.daemon
    end.set()
    worker.join()


HOLDS_THE_LOCK = """
import ctypes, sys
from capsmodel._interrupts import interruptible
def hold():
    library = ctypes.PyDLL(None)  # its functions are called with the lock of Python
    sys.setswitchinterval(600)  # which is given to no other thread between two of them
    library.write(1, b"begun\\n", 6)
    library.sleep(600)
interruptible(hold)
"""
LISTENS = """
import sys, time
from capsmodel._interrupts import interruptible
def work():
    print("begun", flush=True)
    time.sleep(600)
for _ in range(2):
    try:
        interruptible(work)
    except KeyboardInterrupt:
        print("heard", flush=True)
"""


@contextmanager
def started(code):
    """Give a process that has begun its work; a shell lets what runs in the background ignore SIGINT."""

    def listen():
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    command = [sys.executable, "-c", code]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, preexec_fn=listen) as process:
        try:
            assert process.stdout.readline() == "begun\n"
            yield process
        finally:
            process.kill()


@pytest.mark.linux
def test_a_second_interrupt_ends_a_process_that_cannot_hear_of_the_first():
    """Wrong line: Python's handler notes each signal, for a main thread that waits for the lock."""
    with started(HOLDS_THE_LOCK) as process:
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == -signal.SIGINT


@pytest.mark.linux
def test_a_process_that_hears_of_interrupts_hears_of_each():
    """Wrong line: the signal keeps its default after the first one, and the next one ends a notebook."""
    with started(LISTENS) as process:
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "heard\n"
            process.stdout.readline()  # of the work that begins again
        assert process.wait(timeout=60) == 0


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
        assert _compilation._interruptible(current_thread) is main_thread()


def thrice(number):
    return 3 * number


def test_functions_of_the_codec_are_compiled_interruptibly(monkeypatch, tmp_path):
    begun_with_lock, compile_now = [], _compilation._interruptible

    def watched(compilation):
        begun_with_lock.append(global_compiler_lock.is_locked())
        return compile_now(compilation)

    monkeypatch.setattr(_compilation, "_interruptible", watched)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    compiled_thrice = _compilation.jit(thrice)

    @numba.njit
    def of_another(number):
        return compiled_thrice(number) + 1

    assert compiled_thrice(2.5) == 7.5
    assert _compilation.compiled.__wrapped__(thrice, numba.int64(numba.int64))(2) == 6
    assert begun_with_lock == [False, False]
    assert of_another(2) == 7
    assert len(begun_with_lock) > 2
    assert all(begun_with_lock[2:])


@pytest.mark.parametrize("products", [1, 5000, 100_000])
def test_large_combinations_are_made_in_parts(products, monkeypatch):
    """Machine code hears of no Ctrl-C; here the parts are a packet, some bytes of one, and some packets."""
    rng = np.random.default_rng(products)
    coefficients, units = (rng.integers(0, 256, shape, dtype=np.uint8) for shape in ((4, 6), (5, 6, 1000)))
    whole = combiner.Combiner(coefficients)
    monkeypatch.setattr(combiner, "_PRODUCTS", products)
    cut, calls = combiner.Combiner(coefficients), []
    run = cut._run
    cut._run = lambda *given: calls.append(given) or run(*given)
    assert np.array_equal(cut(units), whole(units))
    assert np.array_equal(cut(units[0]), whole(units[0]))
    assert len(calls) > 2
    assert cut(units[:0]).shape == (0, 4, 1000)


@pytest.mark.parametrize("products", [1, 300])
def test_large_matrices_are_reduced_in_parts(products, monkeypatch):
    matrix = np.random.default_rng(1).integers(0, 256, (12, 12), dtype=np.uint8)
    short = np.vstack([matrix[:7], matrix[2:9]])
    whole = [linalg.inverse(matrix), linalg.rank(short), innovative(short)]
    assert (whole[1], whole[2].tolist()) == (9, 7 * [True] + 5 * [False] + 2 * [True])
    monkeypatch.setattr(linalg, "_PRODUCTS", products)
    monkeypatch.setattr(linalg, "_PRODUCTS", products)
    cut = [linalg.inverse(matrix), linalg.rank(short), innovative(short)]
    assert all(np.array_equal(*pair) for pair in zip(whole, cut, strict=True))


def innovative(rows):
    """Return which rows are independent of those before them."""
    size = rows.shape[1]
    return linalg.absorb(np.empty((size, size), np.uint8), np.zeros(size, np.bool_), rows.copy())

"""What the compiled engine relies on: flags of Numba, machine code that the next process finds, one initial state."""

import os
import subprocess
import sys
from contextlib import ExitStack

from numba import njit

from capsim import Batch, Dumbbell, Scenario, scheme, simulate
from capsim.engines import compiled, signatures
from capsim.engines.jit import FLAGS, inlined_kernel, kernel
from capsim.initial_state import initial_state
from capsim.run import compile_if_needed

PROCESS = """
from capsim import scheme
from capsim.engines import compiled
print(compiled.is_compiled(scheme("caps")))
"""


def test_reference_counting_is_off():
    assert FLAGS["_nrt"] is False


def test_a_part_has_machine_code_only_within_what_it_is_part_of():
    @kernel
    def twice(x):
        return 2 * x

    @inlined_kernel
    def third(x):
        return twice(x) / 3

    whole = njit(**FLAGS)(lambda x: third(x) + twice(x))
    assert whole(6) == 16
    compiled_parts = [result for part in (twice, third) for result in part.overloads.values()]
    assert len(compiled_parts) == 2
    for result in compiled_parts:
        assert result.library.get_pointer_to_function(result.fndesc.mangled_name) == 0


def test_next_process_compiles_nothing():
    for _ in range(2):
        result = subprocess.run([sys.executable, "-c", PROCESS], check=True, capture_output=True, text=True)
    assert result.stdout.split() == ["True"]


def test_a_run_builds_its_initial_state_once_and_compiles_nothing_after_the_question(monkeypatch):
    built = []
    monkeypatch.setattr(compiled, "initial_state", lambda setup: built.append(setup) or initial_state(setup))
    scenario = Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=(Batch(flow_bytes=5000, pairs="sides"),))
    compile_if_needed(scheme("caps"), engine="compiled")
    compiled_hooks = signatures._compiled.cache_info().misses
    simulate(scenario, scheme="caps")
    assert (len(built), signatures._compiled.cache_info().misses) == (1, compiled_hooks)


OWN_HOOK = """
from numba import types
from capsim.engines.jit import compiled_hook
from own_hook import choose
print(compiled_hook(choose, types.int64(types.int64)).ctypes(0))
"""


def with_modules_of(folder):
    """Return the environment in which a process finds the modules of a folder, and else those of this process."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}


def test_an_own_hook_is_compiled_anew_when_a_constant_of_another_file_changes(tmp_path):
    (tmp_path / "own_hook.py").write_text("import limits\n\n\ndef choose(u):\n    return u + limits.PATH\n")
    for path in (1, 2, 2, 1):
        (tmp_path / "limits.py").write_text(f"PATH = {path}\n")
        result = subprocess.run(
            [sys.executable, "-c", OWN_HOOK],
            check=True,
            capture_output=True,
            text=True,
            env=with_modules_of(tmp_path) | {"PYTHONDONTWRITEBYTECODE": "1"},
        )
        assert result.stdout.split() == [str(path)]


COMPILE_WHEN_TOLD = """
from numba import types
from capsim.engines.jit import compiled_hook
from own_hook import choose
print("ready", flush=True)
input()
print(compiled_hook(choose, types.int64(types.int64)).cache_hits)
"""


def test_of_processes_that_need_a_hook_at_the_same_time_one_compiles_it(tmp_path):
    (tmp_path / "own_hook.py").write_text("def choose(u):\n    return u + 1\n")
    command = [sys.executable, "-c", COMPILE_WHEN_TOLD]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with ExitStack() as stack:
        started = [
            stack.enter_context(subprocess.Popen(command, env=with_modules_of(tmp_path), **pipes)) for _ in range(3)
        ]
        assert [process.stdout.readline() for process in started] == 3 * ["ready\n"]
        for process in started:
            process.stdin.write("\n")
            process.stdin.flush()
        assert sorted(process.stdout.readline().strip() for process in started) == ["0", "1", "1"]


def test_without_compiler_the_compiled_engine_refuses():
    command = [sys.executable, "-m", "capsmodel", "simulate", "--fabric", "leaf-spine:2x2x2", "--flows", "2"]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    result = subprocess.run([*command, "--load", "0.5"], check=False, capture_output=True, text=True, env=environment)
    assert result.returncode == 2
    assert result.stderr == (
        "capsmodel: the compiled engine needs Numba's compiler, which NUMBA_DISABLE_JIT=1 switches off: unset it, or "
        "take the reference engine\n"
    )

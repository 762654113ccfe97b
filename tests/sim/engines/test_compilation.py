"""What the compiled engine relies on: flags of Numba, machine code that the next process finds, one initial state."""

import math
import os
import random
import subprocess
import sys
from importlib import import_module

import pytest
from numba import njit

from capsim import Batch, Dumbbell, Probes, Scenario, scheme, simulate
from capsim.engines.compiled import engine, functions, jit, machine_code
from capsim.engines.compiled.jit import FLAGS, inlined_kernel, kernel
from capsim.engines.initial_state import initial_state
from capsim.run import simulation
from capsim.run.simulation import compile_if_needed
from capsmodel import _machine_code

PROCESS = """
import sys
from capsim import scheme
from capsim.engines.compiled import engine
print(engine.is_compiled(scheme("caps")), "numba" in sys.modules)
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


@pytest.mark.agreement
def test_next_process_compiles_nothing_and_does_without_numba():
    compile_if_needed(scheme("caps"), engine="compiled")
    result = subprocess.run([sys.executable, "-c", PROCESS], check=True, capture_output=True, text=True)
    assert result.stdout.split() == ["True", "False"]


def draws(x, y):
    return int(random.random() * 0) + x + y


def takes_logarithms(x, y):
    return int(math.log1p(x) + y % 2.5)


def adds(x, y):
    return x + y


def test_what_calls_functions_of_numba_is_known():
    """Wrong line: machine code that calls what is not loaded ends the next process."""
    found = [jit.hook_code(hook, jit.TWO_NUMBERS).calls_numba for hook in (draws, takes_logarithms)]
    assert found == [True, False]


def test_a_run_builds_its_initial_state_once_and_compiles_nothing_after_the_question(monkeypatch):
    built = []
    monkeypatch.setattr(engine, "initial_state", lambda setup: built.append(setup) or initial_state(setup))
    scenario = Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=(Batch(flow_bytes=5000, pairs="sides"),))
    compile_if_needed(scheme("caps"), engine="compiled")
    in_memory = dict(functions._in_memory)
    simulate(scenario, scheme="caps")
    assert (len(built), functions._in_memory) == (1, in_memory)


@pytest.mark.parametrize(
    ("flow_bytes", "asked", "probed", "runs"),
    [
        (14_600 * 1460, None, False, "reference"),
        (15_001 * 1460, None, False, "compiled"),
        (1, "compiled", False, "compiled"),
        (1, None, True, "compiled"),  # of a flow that never ends there would be ever more samples
    ],
)
def test_a_small_run_does_not_wait_for_the_compiler(monkeypatch, tmp_path, flow_bytes, asked, probed, runs):
    """Wrong line: the first small run of a machine compiles for half a minute, or a large one runs in Python."""
    monkeypatch.setattr(simulation, "PACKETS_SOONER_THAN_COMPILED", 30_000)
    traffic = (Batch(flow_bytes=flow_bytes, pairs="sides"),)
    probes = Probes(period_s=1e-6, ports=("left>*",)) if probed else None
    setup = simulation.prepare(Scenario(fabric=Dumbbell(hosts_per_side=2), traffic=traffic, probes=probes))
    assert simulation.chosen_engine(setup, asked) == ("compiled" if functions.loop_is_kept() else runs)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert simulation.chosen_engine(setup, asked) == runs


def loaded(hook):
    """Return a hook of two numbers in machine code."""
    return machine_code.loaded(
        f"{hook.__module__}.{hook.__qualname__}",
        "two numbers",
        functions.hook_key(hook),
        lambda: jit.hook_code(hook, jit.TWO_NUMBERS),
    )


def hook_anew(monkeypatch):
    """Load the hook of the module `own_hook`, read anew with the one that it imports, as a new process would."""
    for name in ("own_hook", "limits"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return loaded(import_module("own_hook").choose)


@pytest.mark.parametrize(("line", "name"), [("import limits", "limits.PATH"), ("from limits import PATH", "PATH")])
def test_an_own_hook_is_compiled_anew_when_a_constant_of_another_file_changes(line, name, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "own_hook.py").write_text(f"{line}\n\n\ndef choose(u, v):\n    return u + {name}\n")
    found = []
    for path in (1, 2, 2, 1):
        (tmp_path / "limits.py").write_text(f"PATH = {path}\n")
        hook = hook_anew(monkeypatch)
        found.append((machine_code.call(hook, 0, 0), hook.from_disk))
    assert found == [(1, False), (2, False), (2, True), (1, True)]


def object_files(folder):
    return sorted(path.name.partition("-")[0] for path in folder.glob("*.o"))


def test_of_each_function_the_latest_files_are_kept(tmp_path, monkeypatch):
    """Wrong line: those of other functions go, or none does, and the folder grows with each edit."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    code = jit.hook_code(takes_logarithms, jit.TWO_NUMBERS)
    for name, edits in (("one", 1), ("other", _machine_code.KEPT + 2)):
        for edit in range(edits):
            assert not machine_code.loaded(name, "", str(edit), lambda: code).from_disk
    assert object_files(tmp_path) == ["one", *_machine_code.KEPT * ["other"]]
    assert machine_code.loaded("other", "", str(_machine_code.KEPT + 1), lambda: code).from_disk


@pytest.fixture
def target_read_anew():
    """Let versions, settings and processor be looked at again, before the test and behind it."""
    _machine_code._target.cache_clear()
    yield _machine_code._target.cache_clear
    _machine_code._target.cache_clear()


@pytest.mark.parametrize("changed", ["types", "key", "setting", "library", "processor"])
def test_a_file_is_used_for_what_it_was_made_for_alone(changed, target_read_anew, tmp_path, monkeypatch):
    """Wrong line: machine code for other records, of another version or for another processor is run."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    code = jit.hook_code(adds, jit.TWO_NUMBERS)
    assert [machine_code.loaded("adds", "", "", lambda: code).from_disk for _ in range(2)] == [False, True]
    types, key = "other" * (changed == "types"), "other" * (changed == "key")
    if changed == "setting":
        monkeypatch.setenv("NUMBA_OPT", "2")
    if changed == "library":
        monkeypatch.setattr(_machine_code, "environment_of", lambda _: {"numba": "0.0"})
    if changed == "processor":
        monkeypatch.setenv("NUMBA_CPU_NAME", "haswell")
    target_read_anew()
    assert not machine_code.loaded("adds", types, key, lambda: code).from_disk


def test_where_nothing_can_be_written_what_is_there_is_used_and_else_compiled_each_time(tmp_path, monkeypatch):
    """Wrong line: in a container whose packages are read-only each process compiles for half a minute."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert not loaded(takes_logarithms).from_disk
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setattr(_machine_code, "_folders", lambda: [tmp_path, tmp_path / "users"])
    monkeypatch.setattr(_machine_code.os, "access", lambda *_: False)
    assert loaded(takes_logarithms).from_disk
    assert [loaded(adds).from_disk for _ in range(2)] == [False, False]
    assert object_files(tmp_path) == [f"{__name__}.takes_logarithms"]


COMPILE_AT_THE_SAME_TIME = """
import multiprocessing
from capsim.engines.compiled import functions, jit, machine_code
from own_hook import HOOKS
fork = multiprocessing.get_context("fork")
all_are_ready = fork.Barrier(3)
def compile_when_all_are_ready(hook):
    all_are_ready.wait()
    found = machine_code.loaded(
        hook.__name__, "", functions.hook_key(hook), lambda: jit.hook_code(hook, jit.TWO_NUMBERS)
    )
    return machine_code.call(found, 1, 1), found.from_disk
def hits(_):
    return [compile_when_all_are_ready(hook) for hook in HOOKS]
with fork.Pool(3) as pool:
    print(*map(sorted, zip(*pool.map(hits, range(3), chunksize=1))), sep="\\n")
"""


@pytest.mark.agreement
def test_of_processes_that_need_a_hook_at_the_same_time_one_compiles_it(tmp_path):
    """Five hooks, one after the other: without the lock it might be well with one by chance."""
    hooks = [f"def choose_{i}(u, v):\n    return u + v + {i}\n\n\n" for i in range(5)]
    listed = ", ".join(f"choose_{i}" for i in range(5))
    (tmp_path / "own_hook.py").write_text("".join(hooks) + f"HOOKS = [{listed}]\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    environment |= {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    command = [sys.executable, "-c", COMPILE_AT_THE_SAME_TIME]
    result = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert result.stdout.splitlines() == [f"[({2 + i}, False), ({2 + i}, True), ({2 + i}, True)]" for i in range(5)]


@pytest.mark.agreement
def test_without_compiler_the_compiled_engine_refuses():
    command = [sys.executable, "-m", "capsmodel", "simulate", "--fabric", "leaf-spine:2x2x2", "--flows", "2"]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    result = subprocess.run([*command, "--load", "0.5"], check=False, capture_output=True, text=True, env=environment)
    assert result.returncode == 2
    assert result.stderr == (
        "capsmodel: the compiled engine needs Numba's compiler, which NUMBA_DISABLE_JIT=1 switches off: unset it, or "
        "take the reference engine\n"
    )

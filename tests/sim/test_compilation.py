"""What the compiled engine relies on: flags of Numba, machine code that the next process finds, one initial state."""

import os
import pickle
import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numba
import pytest
from numba import njit, types

from capsim import Batch, Dumbbell, Scenario, scheme, simulate
from capsim.engines.compiled import engine, signatures
from capsim.engines.compiled.jit import FLAGS, SourceCache, compiled_hook, inlined_kernel, kernel
from capsim.engines.initial_state import initial_state
from capsim.protocols.balancers import spray
from capsim.run.simulation import compile_if_needed
from capsmodel._compilation import KeptCode

PROCESS = """
import sys
from capsim import scheme
from capsim.engines.compiled import engine
print(engine.is_compiled(scheme("caps")), "scipy.linalg" in sys.modules)
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


def test_next_process_compiles_nothing_and_loads_no_more_of_numba_than_it_runs():
    compile_if_needed(scheme("caps"), engine="compiled")
    result = subprocess.run([sys.executable, "-c", PROCESS], check=True, capture_output=True, text=True)
    assert result.stdout.split() == ["True", "False"]


def test_kept_code_of_an_own_hook_may_call_numba_and_that_of_this_package_does_not():
    """Wrong line: the hook that calls what is not loaded ends the next process."""

    def own(x):
        return x

    assert [SourceCache(function, "").calls_numba for function in (own, spray.choose)] == [True, False]


def test_a_run_builds_its_initial_state_once_and_compiles_nothing_after_the_question(monkeypatch):
    built = []
    monkeypatch.setattr(engine, "initial_state", lambda setup: built.append(setup) or initial_state(setup))
    scenario = Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=(Batch(flow_bytes=5000, pairs="sides"),))
    compile_if_needed(scheme("caps"), engine="compiled")
    compiled_hooks = signatures._compiled.cache_info().misses
    simulate(scenario, scheme="caps")
    assert (len(built), signatures._compiled.cache_info().misses) == (1, compiled_hooks)


def hook_anew(monkeypatch):
    """Compile the hook of the module `own_hook`, read anew with the one that it imports, as a new process would."""
    for name in ("own_hook", "limits"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return compiled_hook(import_module("own_hook").choose, types.int64(types.int64))


@pytest.mark.parametrize(("line", "name"), [("import limits", "limits.PATH"), ("from limits import PATH", "PATH")])
def test_an_own_hook_is_compiled_anew_when_a_constant_of_another_file_changes(line, name, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "own_hook.py").write_text(f"{line}\n\n\ndef choose(u):\n    return u + {name}\n")
    found = []
    for path in (1, 2, 2, 1):
        (tmp_path / "limits.py").write_text(f"PATH = {path}\n")
        hook = hook_anew(monkeypatch)
        found.append((hook.ctypes(0), hook.cache_hits))
    assert found == [(1, 0), (2, 0), (2, 1), (1, 1)]


def test_a_file_that_is_imported_under_two_names_is_compiled_for_each(tmp_path, monkeypatch):
    """As a scheme of one's own by Python and by the command: machine code on disk imports its module by the name."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "own_hook.py"
    file.write_text("def choose(u):\n    return u + 1\n")
    hits = []
    for name in ("own_hook", "scheme_of_a_file", "own_hook"):
        spec = spec_from_file_location(name, file)
        module = module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        hits.append(compiled_hook(module.choose, types.int64(types.int64)).cache_hits)
    assert hits == [0, 0, 1]


COMPILE_AT_THE_SAME_TIME = """
import multiprocessing
from numba import types
from capsim.engines.compiled.jit import compiled_hook
from own_hook import HOOKS
fork = multiprocessing.get_context("fork")
all_are_ready = fork.Barrier(3)
def compile_when_all_are_ready(hook):
    all_are_ready.wait()
    return compiled_hook(hook, types.int64(types.int64)).cache_hits
def hits(_):
    return [compile_when_all_are_ready(hook) for hook in HOOKS]
with fork.Pool(3) as pool:
    print(*map(sorted, zip(*pool.map(hits, range(3), chunksize=1))), sep="\\n")
"""


def test_of_processes_that_need_a_hook_at_the_same_time_one_compiles_it(tmp_path):
    """Five hooks, one after the other: without the lock it might be well with one by chance."""
    hooks = [f"def choose_{i}(u):\n    return u + {i}\n\n\n" for i in range(5)]
    listed = ", ".join(f"choose_{i}" for i in range(5))
    (tmp_path / "own_hook.py").write_text("".join(hooks) + f"HOOKS = [{listed}]\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-c", COMPILE_AT_THE_SAME_TIME]
    result = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert result.stdout.splitlines() == 5 * ["[0, 1, 1]"]


def test_without_compiler_the_compiled_engine_refuses():
    command = [sys.executable, "-m", "capsmodel", "simulate", "--fabric", "leaf-spine:2x2x2", "--flows", "2"]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    result = subprocess.run([*command, "--load", "0.5"], check=False, capture_output=True, text=True, env=environment)
    assert result.returncode == 2
    assert result.stderr == (
        "capsmodel: the compiled engine needs Numba's compiler, which NUMBA_DISABLE_JIT=1 switches off: unset it, or "
        "take the reference engine\n"
    )


def twice(number):
    return 2 * number


def test_code_that_another_version_kept_is_compiled_anew(tmp_path, monkeypatch):
    """Its index names a module that is gone, as those of every move of a module do."""
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", str(tmp_path))
    first, second = njit(twice), njit(twice)
    first._cache, second._cache = KeptCode(twice), KeptCode(twice)
    index = Path(first._cache._cache_file._index_path)
    index.parent.mkdir(parents=True, exist_ok=True)
    index.write_bytes(pickle.dumps(numba.__version__) + b"cmodule_that_is_gone\nName\n.")
    assert (first(2), second(2)) == (4, 4)
    assert [sum(each.stats.cache_hits.values()) for each in (first, second)] == [0, 1]

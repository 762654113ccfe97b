"""What the compiled engine relies on in Numba: the flag is accepted, and the next process finds the machine code."""

import os
import subprocess
import sys

from capsim.engines.jit import FLAGS

PROCESS = """
from capsim.engines import compiled
from engine_setups import DUMBBELL, flow_list, setup_of
print(compiled.is_compiled(setup_of(DUMBBELL, flow_list([(0, 3, 1000, 0.0)]), "caps")))
"""


def test_reference_counting_is_off():
    assert FLAGS["_nrt"] is False


def test_next_process_compiles_nothing(request):
    tests = str(request.config.rootpath / "tests")
    for _ in range(2):
        command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {tests!r}){PROCESS}"]
        result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert result.stdout.split() == ["True"]


OWN_HOOK = """
from numba import types
from capsim.engines.jit import compiled_hook
from own_hook import choose
print(compiled_hook(choose, types.int64(types.int64)).ctypes(0))
"""


def test_an_own_hook_is_compiled_anew_when_a_constant_of_another_file_changes(tmp_path):
    (tmp_path / "own_hook.py").write_text("import limits\n\n\ndef choose(u):\n    return u + limits.PATH\n")
    for path in (1, 2, 2, 1):
        (tmp_path / "limits.py").write_text(f"PATH = {path}\n")
        result = subprocess.run(
            [sys.executable, "-c", OWN_HOOK],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        )
        assert result.stdout.split() == [str(path)]

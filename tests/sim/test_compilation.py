"""What the compiled engine relies on in Numba: the flag is accepted, and the next process finds the machine code."""

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

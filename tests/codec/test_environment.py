"""Places where Numba cannot do its usual work: no folder to write, compilation switched off, helper sources edited."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from capsmodel import ParameterError
from capsmodel._compilation import jit
from capsmodel.codec import kernels

ROUND_TRIP = """
import numpy as np
from capsmodel.codec import StreamDecoder, StreamEncoder, get_code
from capsmodel.codec.dc2 import Dc2Mixer
from capsmodel.codec.files import decodes

data = bytes(range(256)) * 3
for code, variant in (("rs", 0), ("rs", 1), ("ldpc", 4), ("rlnc", 0), ("rlnc", 1)):
    encoder = StreamEncoder(k=6, r=8, packet_bytes=40, code=code, variant=variant)
    decoder = StreamDecoder(stream=encoder.stream)
    packets = encoder.feed(data) + encoder.finish()
    kept = [packet for at, packet in enumerate(packets) if at % 14 not in (0, 3, 9)]
    assert b"".join(decoder.add(packet) for packet in kept) == data, code
    decoder.finish()
    made = get_code(code)(4, r=4, packet_bytes=300)
    packets = made.coded(np.arange(1200, dtype=np.uint8).reshape(4, 300))
    assert made.verify(packets, range(8)) == 4
    decodes(made, np.ones((2, 8), bool))
mixer = Dc2Mixer(packet_bytes=4, rng=1)
mixer.mix(0, np.ones(4, np.uint8))
print("all right", mixer.finish()[0])
"""


def run_python(code, folder=None, **environment):
    command, environment = [sys.executable, "-c", code], {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=folder)


VECTORS = """
import numpy as np
from capsmodel.codec import LdpcStaircase, RandomLinear, ReedSolomon
from capsmodel.codec.packets import crc32c
i, j = np.ogrid[:16, :24]
source = (7 * i + 13 * j).astype(np.uint8)
codes = [ReedSolomon(16, r=3, packet_bytes=24), LdpcStaircase(16, r=3, packet_bytes=24),
         RandomLinear(16, r=3, packet_bytes=24, density=7)]
print([crc32c(code.encode(source)) for code in codes])
"""


@pytest.mark.agreement
def test_without_compilation_everything_works_and_gives_the_same_vectors(capsys):
    """Also as a test of the compiled code: the same lines, run by Python."""
    code = "import numpy as np; np.seterr(all='raise')\n" + VECTORS + ROUND_TRIP
    exec(VECTORS, {})  # compiled, in this process
    assert run_python(code, NUMBA_DISABLE_JIT="1").stdout == capsys.readouterr().out + "all right 0\n"


@pytest.mark.agreement
def test_without_a_writable_folder_import_use_and_help_work():
    code = """
from capsmodel import _machine_code
_machine_code._writable_folder = lambda: None  # where neither the package nor a home can be written
from capsmodel.codec import ReedSolomon, split
code = ReedSolomon(2, r=1, packet_bytes=300)
packets = code.coded(split(bytes(600), k=2))
print(code.verify(packets, range(3)))
from capsmodel.cli import main
main(["codec", "encode", "--help"])
"""
    assert run_python(code).stdout.startswith("1\nUsage: capsmodel codec encode")


COMPILE = """
from numba import int64
from capsmodel._compilation import compiled
from kernel import two
made = compiled(two, int64(int64))
print(made(0), made.from_disk.count(True))
"""


@pytest.mark.agreement
def test_edit_of_a_helper_compiles_a_kernel_anew(tmp_path):
    """Numba's own cache looks at the file of a function only; the instructions are emitted by functions of another."""
    (tmp_path / "kernel.py").write_text("from helper import TWO\n\n\ndef two(x):\n    return x + TWO\n")
    paths = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    found = []
    for two in (2, 2, 3):
        (tmp_path / "helper.py").write_text(f"TWO = {two}\n")
        found.append(run_python(COMPILE, tmp_path, PYTHONDONTWRITEBYTECODE="1", **paths).stdout)
    assert found == ["2 0\n", "2 1\n", "3 0\n"]


def test_helpers_of_the_kernels_are_in_their_folder():
    folders = {Path(kernel.driver.__code__.co_filename).parent for kernel in kernels.KERNELS}
    assert folders == {Path(kernels.emit.__file__).parent}


def twice(number):
    return 2 * number


def test_each_type_of_a_call_is_kept_and_what_is_damaged_is_compiled_anew(tmp_path, monkeypatch):
    """Wrong line: a file is used for another type or as it is; Numba's own cache has no digest."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    found = []
    for damage in (b"", b"", b"\0"):
        for path in tmp_path.glob("*.o") if damage else ():
            path.write_bytes(path.read_bytes()[:-9] + damage)
        made = jit(twice)
        found.append((made(2), made(2.5), made(3), made.from_disk))
    assert found == [(4, 5.0, 6, [False] * 2), (4, 5.0, 6, [True] * 2), (4, 5.0, 6, [False] * 2)]


def test_a_function_within_another_is_refused():
    """Wrong line: two functions of one name share their machine code, whatever they read."""

    def inner(number):
        return number

    with pytest.raises(ParameterError, match=r"inner must stand at the top level of a module"):
        jit(inner)

"""Places where Numba cannot do its usual work: no folder to write, compilation switched off, helper sources edited."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from capsmodel.codec import jit

ROUND_TRIP = """
import numpy as np
from capsmodel.codec import StreamDecoder, StreamEncoder, get_code
from capsmodel.codec.dc2 import Dc2Mixer
from capsmodel.codec.reception import decodes

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


def run(code, folder=None, **environment):
    command, environment = [sys.executable, "-c", code], {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=folder)


def test_everything_works_without_compilation():
    """Also as a test of the compiled code: the same lines, run by Python."""
    code = "import numpy as np; np.seterr(all='raise')\n" + ROUND_TRIP
    assert run(code, NUMBA_DISABLE_JIT="1").stdout == "all right 0\n"


def test_without_compilation_the_vectors_are_the_same():
    code = """
import numpy as np
from capsmodel.codec import LdpcStaircase, RandomLinear, ReedSolomon
from capsmodel.codec.crc32c import crc32c
i, j = np.ogrid[:16, :24]
source = (7 * i + 13 * j).astype(np.uint8)
codes = [ReedSolomon(16, r=3, packet_bytes=24), LdpcStaircase(16, r=3, packet_bytes=24),
         RandomLinear(16, r=3, packet_bytes=24, density=7)]
print([crc32c(code.encode(source)) for code in codes])
"""
    assert run(code, NUMBA_DISABLE_JIT="1").stdout == run(code).stdout


NO_LOCATOR = """
from numba.core import caching
caching.CacheImpl._locator_classes = []  # what Numba finds where neither the package nor a home can be written
"""


@pytest.mark.parametrize("command", ["", "from capsmodel.cli import main; main(['codec', 'encode', '--help'])"])
def test_import_without_a_writable_folder(command):
    run(NO_LOCATOR + "import capsmodel.codec\n" + command)


def test_use_without_a_writable_folder():
    code = """
from capsmodel.codec import ReedSolomon, split
code = ReedSolomon(2, r=1, packet_bytes=300)
packets = code.coded(split(bytes(600), k=2))
print(code.verify(packets, range(3)))
"""
    assert run(NO_LOCATOR + code).stdout == "1\n"


KERNEL = """
import logging
logging.basicConfig(level=logging.INFO, format="%(message)s")
from capsmodel.codec import kernels
kernels.fastest().run
"""


def test_edit_of_a_helper_compiles_the_kernels_anew(tmp_path):
    """Numba's own cache looks at the file of a function only; the instructions are emitted by functions of another."""
    package = Path(jit.__file__).parents[1]
    copy = tmp_path / "capsmodel"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__", "papers"))
    environment = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert "compiled" in run(KERNEL, tmp_path, **environment).stderr
    assert "compiled" not in run(KERNEL, tmp_path, **environment).stderr
    helper = copy / "codec" / "kernels" / "emit.py"
    helper.write_text(helper.read_text() + "\n# edited\n")
    assert "compiled" in run(KERNEL, tmp_path, **environment).stderr

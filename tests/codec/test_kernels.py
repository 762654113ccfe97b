"""Every kernel the processor supports gives the bytes of the table algebra; the choice among them is safe; caching."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsmodel.codec import kernels
from capsmodel.codec.gf256 import MUL
from capsmodel.codec.kernels import sums
from capsmodel.codec.kernels.combiner import Combiner

GUARD = 0xA5


def by_tables(coefficients: np.ndarray, packets: np.ndarray) -> np.ndarray:
    products = MUL[coefficients[:, :, None], packets[None]]
    return np.bitwise_xor.reduce(products, axis=1)


def python(code: str, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    return done.stdout.split()


@pytest.mark.parametrize("kernel", kernels.supported(), ids=lambda kernel: kernel.name)
@settings(max_examples=60)
@given(
    rows=st.integers(1, 11),
    m=st.integers(1, 23),
    packet_bytes=st.integers(1, 700) | st.sampled_from([63, 64, 127, 128, 129, 255, 256, 257, 512, 1500, 4099]),
    offsets=st.tuples(st.integers(0, 65), st.integers(0, 65)),
    seed=st.integers(0, 2**32),
)
def test_kernel_gives_the_bytes_of_the_tables_and_writes_nowhere_else(kernel, rows, m, packet_bytes, offsets, seed):
    rng = np.random.default_rng(seed)
    coefficients = rng.integers(0, 256, (rows, m), dtype=np.uint8)
    first, target = offsets
    packets = rng.integers(0, 256, (m, packet_bytes + first + 3), dtype=np.uint8)[:, first : first + packet_bytes]
    space = np.full((rows, packet_bytes + target + 3), GUARD, np.uint8)
    out = space[:, target : target + packet_bytes]
    Combiner(coefficients, kernel=kernel)(packets, out)
    np.testing.assert_array_equal(out, by_tables(coefficients, packets))
    assert (space[:, :target] == GUARD).all()
    assert (space[:, target + packet_bytes :] == GUARD).all()


@pytest.mark.parametrize("kernel", kernels.supported(), ids=lambda kernel: kernel.name)
@pytest.mark.parametrize(("rows", "m", "packet_bytes"), [(4, 10, 65536), (20, 64, 9000), (1, 255, 1500), (255, 1, 300)])
def test_large_shapes_give_the_bytes_of_the_tables(kernel, rows, m, packet_bytes):
    rng = np.random.default_rng(rows)
    coefficients = rng.integers(0, 256, (rows, m), dtype=np.uint8)
    packets = rng.integers(0, 256, (m, packet_bytes), dtype=np.uint8)
    combined = Combiner(coefficients, kernel=kernel)(packets)
    for row, got in zip(coefficients, combined, strict=True):
        np.testing.assert_array_equal(got, np.bitwise_xor.reduce(MUL[row[:, None], packets], axis=0))


@pytest.mark.parametrize("kernel", kernels.supported(), ids=lambda kernel: kernel.name)
def test_views_of_any_layout_give_the_same_bytes(kernel):
    rng = np.random.default_rng(2)
    coefficients = rng.integers(0, 256, (3, 5), dtype=np.uint8)
    base = rng.integers(0, 256, (10, 1200), dtype=np.uint8)
    read_only = np.frombuffer(base.tobytes(), np.uint8).reshape(base.shape)
    views = [base[::2], base[9:4:-1], base[:5, ::2], base[:5, ::-1], np.asfortranarray(base[:5]), read_only[5:]]
    views.append(np.broadcast_to(base[0], (5, 1200)))
    for view in views:
        np.testing.assert_array_equal(Combiner(coefficients, kernel=kernel)(view), by_tables(coefficients, view))


LENGTHS = [*range(1, 300), 511, 512, 513, *range(4090, 4100), 4351, 4352, 4353, 8192 + 31]


def test_sums_of_packets_of_all_lengths_are_those_of_numpy_and_nothing_else_is_written():
    """Sums of no, one and many packets, rows of both arrays and earlier sums; units with gaps, rows backwards."""
    rng = np.random.default_rng(3)
    targets, start, operands = (
        np.array(numbers, np.int32)
        for numbers in ([7, 5, 2, 6], [0, 0, 1, 5, 12], [7, 0, 1, 5, 4, 0, 1, 2, 3, 4, 5, 7])
    )
    for length in LENGTHS:
        first = rng.integers(0, 256, (2, 2, 5, length + 3), dtype=np.uint8)
        second = first.copy()
        for space, add_up in ((first, sums.carry_out), (second, sums.xor_by_numpy)):
            source, work = space[0, :, ::-1, 1 : length + 1], space[1, ::-1, 1:4, 2 : length + 2]
            add_up(targets, start, operands, source, work)
            add_up(targets, start, operands, source[1], work[1])
        assert np.array_equal(first, second), length


def test_portable_kernel_is_always_there_and_last():
    assert kernels.supported()[-1].name == "portable"
    assert kernels.fastest() == kernels.supported()[0]
    assert len({kernel.name for kernel in kernels.KERNELS}) == len(kernels.KERNELS) == 4


COMBINE = """
import numpy as np
from capsmodel.codec import kernels
from capsmodel.codec.kernels.combiner import Combiner
packets = np.random.default_rng(1).integers(0, 256, (5, 1000), dtype=np.uint8)
combined = Combiner(np.arange(250, 255, dtype=np.uint8)[None])(packets)
print(*(kernel.name for kernel in kernels.supported()), int(combined.astype(np.int64).sum()))
print("nosuchfeature" in kernels.cpu_features())
"""


def expected_sum() -> int:
    packets = np.random.default_rng(1).integers(0, 256, (5, 1000), dtype=np.uint8)
    return int(by_tables(np.arange(250, 255, dtype=np.uint8)[None], packets).astype(np.int64).sum())


@pytest.mark.agreement
def test_generic_target_selects_the_portable_kernel_and_does_not_abort():
    assert python(COMBINE, NUMBA_CPU_NAME="generic") == ["portable", str(expected_sum()), "False"]


@pytest.mark.agreement
def test_kernels_follow_the_features_numba_is_told_to_use_as_far_as_the_processor_has_them():
    allowed = kernels.cpu_features() & {"sse4.2", "avx", "avx2"}
    expected = [kernel.name for kernel in kernels.KERNELS if kernel.features <= allowed]
    flags = ",".join([*(f"+{feature}" for feature in sorted(allowed)), "-gfni", "+nosuchfeature"])
    assert python(COMBINE, NUMBA_CPU_FEATURES=flags) == [*expected, str(expected_sum()), "False"]


IMPORT_AND_COMPILE = """
import logging, os
from pathlib import Path
logging.basicConfig(level=logging.INFO, format="%(message)s")
import capsmodel.codec, capsmodel.codec.reed_solomon
from capsmodel.codec import kernels
after_import = len([*Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbi")])
on_disk = [found for kernel in kernels.supported() for found in kernel.run.from_disk]
print(after_import, on_disk.count(True), on_disk.count(False))
"""


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory):
    """Run two processes, one after the other, that use all kernels; the first finds nothing in the cache."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}
    command = [sys.executable, "-c", IMPORT_AND_COMPILE]
    return [subprocess.run(command, capture_output=True, text=True, check=True, env=environment) for _ in range(2)]


@pytest.mark.agreement
def test_import_compiles_nothing_and_next_process_finds_every_kernel_in_the_cache(two_processes):
    count = str(len(kernels.supported()))
    first, second = (process.stdout.split() for process in two_processes)
    assert first == ["0", "0", count]
    assert second[1:] == [count, "0"]


@pytest.mark.agreement
def test_compilation_is_reported_once_and_a_cache_hit_is_silent(two_processes):
    first, second = (process.stderr for process in two_processes)
    assert first.count("compiled portable in") == 1
    assert "compiled" not in second

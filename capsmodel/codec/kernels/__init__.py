"""Kernels that compute linear combinations of packets over GF(2^8), and the choice among them.

===========  ===============================  ==========================  ======================
Kernel       Processor features               Multiplication              Method
===========  ===============================  ==========================  ======================
affine_512   GFNI, AVX-512F, AVX-512BW        GF2P8AFFINEQB               :mod:`.vector`
shuffle_512  AVX-512F, AVX-512BW              two byte shuffles           :mod:`.vector`
shuffle_256  AVX2                             two byte shuffles           :mod:`.vector`
portable     none                             XOR and shift               :mod:`.portable`
tables       none, and no compiler            table of products           :mod:`.portable`
===========  ===============================  ==========================  ======================

All give the same bytes. The features are those that Numba compiles for: what the processor has, less what the
environment variables NUMBA_CPU_NAME and NUMBA_CPU_FEATURES leave out. This matters because LLVM ends the process,
with no exception, when it is asked for an instruction that its target lacks. With NUMBA_DISABLE_JIT=1 only *tables* is
there.

*Speed.* A unit of 10 + 4 packets of 1500 bytes with *shuffle_256*, beside ISA-L through pyeclib in turn in one process,
on two cores of an AMD EPYC (512 KB of second-level cache each) shared with other work: Reed-Solomon encodes 2.6 times
as fast (10 to 90 % of the turns: 2.2 to 2.8), and decodes 2.8 times (2.3 to 3.1). The script is
``benchmarks/bench_beside_isal.py``.

In instructions (Valgrind's callgrind) encoding the unit takes 24,900 here and 59,300 there, of which the kernels are
14,000 and 16,200. For 32 bytes of each packet the kernel has 80 shuffles, 80 XORs, 30 instructions that take bytes
apart, 40 reads of tables and 10 of packets. The first three alone occupy four vector units for 48 cycles, and it takes
55 to 58, or 0.9 us of 2.4. The rest is Python's: 2,000 for the new array, 2,200 to look up types, shapes and strides,
1,100 to call the kernel, half of it to let go of Python's lock and take it again, and 5,500 of byte code. Encoding with
LDPC takes 16,700, of which the XORs of :mod:`.sums` are 4,800.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import llvmlite.binding
import numpy as np
import numpy.typing as npt
from numba.core.registry import cpu_target

from capsmodel._compilation import compiled, is_disabled
from capsmodel.codec.inputs import Packets
from capsmodel.codec.kernels import emit, portable, vector


@dataclass(frozen=True)
class Kernel:
    """One way to combine packets.

    Attributes
    ----------
    driver : callable
        Function ``(factors, packets, out, targets)`` to be compiled; its name is the name of the kernel. It writes
        combination i of ``packets[u]`` to ``out[u, targets[i]]`` for each coding unit u.
    prepare : callable
        Returns the factors, shape (rows, ., .), of a matrix of coefficients, shape (rows, m).
    features : frozenset of str
        What the processor must have, in LLVM's words.
    least_bytes : int
        Shortest packet the driver can work on, in bytes.
    """

    driver: Callable[[npt.NDArray[np.uint64], Packets, Packets, npt.NDArray[np.int64]], None]
    prepare: Callable[[Packets], npt.NDArray[np.uint64]]
    features: frozenset[str]
    least_bytes: int

    @property
    def name(self) -> str:
        """Name of the kernel."""
        return self.driver.__name__

    @functools.cached_property
    def run(self) -> Any:
        """The driver, compiled on first use."""
        return compiled(self.driver, emit.SIGNATURE)


KERNELS = (
    Kernel(vector.affine_512, vector.prepare_affine, frozenset({"gfni", "avx512f", "avx512bw"}), 256),
    Kernel(vector.shuffle_512, vector.prepare_shuffle, frozenset({"avx512f", "avx512bw"}), 256),
    Kernel(vector.shuffle_256, vector.prepare_shuffle, frozenset({"avx2"}), 64),
    Kernel(portable.portable, portable.prepare, frozenset(), portable.WIDTH),
)
TABLES = Kernel(portable.tables, portable.prepare_tables, frozenset(), 0)


def cpu_features() -> frozenset[str]:
    """Return the processor features, in LLVM's words, that Numba compiles for and the processor has."""
    _, _, flags = cpu_target.target_context.codegen().magic_tuple()
    named = {flag[1:] for flag in flags.split(",") if flag.startswith("+")}
    present = llvmlite.binding.get_host_cpu_features()
    return frozenset(feature for feature in named if present.get(feature, False))


def supported() -> tuple[Kernel, ...]:
    """Return the kernels that this processor can run, the fastest first."""
    if is_disabled():
        return (TABLES,)
    features = cpu_features()
    return tuple(kernel for kernel in KERNELS if kernel.features <= features)


@functools.cache
def fastest() -> Kernel:
    """Return the fastest kernel that this processor can run."""
    return supported()[0]

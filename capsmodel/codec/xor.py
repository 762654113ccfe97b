"""XOR of packets, compiled: what LDPC codes spend their time on.

==========================  ======  ================  ======  ===============================================
Quantity                    Symbol  Name              Unit    Meaning
==========================  ======  ================  ======  ===============================================
repair packets                      `staircase`       packet  running sums of a few source packets
scheduled sums                      `carry_out`       packet  each target the sum of other packets
==========================  ======  ================  ======  ===============================================
"""

import numpy as np
import numpy.typing as npt

from capsmodel._compilation import inlined, jit
from capsmodel.codec.errors import Packets

Ints = npt.NDArray[np.int32]

# Columns of the packets handled at a time: the running sum stays in the first-level cache, the sources of a
# 64-packet unit in the second.
_TILE_BYTES = 4096


@inlined
def _add_four(target: Packets, p: Packets, q: Packets, s: Packets, t: Packets) -> None:
    """XOR four packets into `target` in one pass, to save loads of the sum."""
    for x in range(target.size):
        target[x] ^= p[x] ^ q[x] ^ s[x] ^ t[x]


@inlined
def _add(target: Packets, p: Packets) -> None:
    for x in range(target.size):
        target[x] ^= p[x]


@jit
def staircase(row_start: Ints, sources: Ints, source: Packets, repair: Packets) -> None:
    """Fill repair[i] = repair[i-1] + XOR of row i's sources, one tile of columns after the other."""
    r, packet_bytes = repair.shape
    for a in range(0, packet_bytes, _TILE_BYTES):
        b = min(a + _TILE_BYTES, packet_bytes)
        for i in range(r):
            target = repair[i, a:b]
            if i:
                target[:] = repair[i - 1, a:b]
            else:
                target[:] = 0
            j, last = row_start[i], row_start[i + 1]
            while j + 4 <= last:
                p, q = source[sources[j], a:b], source[sources[j + 1], a:b]
                _add_four(target, p, q, source[sources[j + 2], a:b], source[sources[j + 3], a:b])
                j += 4
            while j < last:
                _add(target, source[sources[j], a:b])
                j += 1


@inlined
def _row(source: Packets, work: Packets, number: int, a: int, b: int) -> Packets:
    """Return columns a to b of a packet: of a source packet, or of one in the work array."""
    k = source.shape[0]
    return source[number, a:b] if number < k else work[number - k, a:b]


@jit
def carry_out(targets: Ints, start: Ints, operands: Ints, source: Packets, work: Packets) -> None:
    """Set packet ``targets[t]`` to the XOR of ``operands[start[t]:start[t + 1]]``, for t = 0, 1, ... in each unit.

    Numbers below k are rows of `source`, shape (units, k, bytes), those from k on rows of `work`.
    """
    packet_bytes = source.shape[2]
    for unit in range(source.shape[0]):
        sources, others = source[unit], work[unit]
        for a in range(0, packet_bytes, _TILE_BYTES):
            b = min(a + _TILE_BYTES, packet_bytes)
            for t in range(targets.size):
                target = _row(sources, others, targets[t], a, b)
                target[:] = 0
                j, last = start[t], start[t + 1]
                while j + 4 <= last:
                    p, q = _row(sources, others, operands[j], a, b), _row(sources, others, operands[j + 1], a, b)
                    s, u = _row(sources, others, operands[j + 2], a, b), _row(sources, others, operands[j + 3], a, b)
                    _add_four(target, p, q, s, u)
                    j += 4
                while j < last:
                    _add(target, _row(sources, others, operands[j], a, b))
                    j += 1

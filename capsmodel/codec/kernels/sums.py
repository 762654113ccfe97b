"""Sums of packets over GF(2): lists of XORs, carried out in turn for one coding unit or for several.

Each sum is computed in vector registers, a tile of columns at a time: its packets are read once, the result is written
once. The last tile of a packet is moved back to end with the packet, where the same bytes are computed twice. The
columns are walked in blocks, so that what earlier sums of a block have read or written is still in a cache.
"""

import functools
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils

from capsmodel._compilation import compiled, entry_point, is_disabled
from capsmodel.codec.inputs import Packets
from capsmodel.codec.kernels.emit import BYTE, INT32, WORD, Lent, Matrix, intrinsic, load, store

Numbers = npt.NDArray[np.int32]
BLOCK_BYTES = 4096  # of each packet; those of 64 packets stay in the second-level cache
# The widest tile that a packet fills is taken. 256 bytes are eight registers. With half of them, packets of 64 KiB take
# up to twice as long: their rows share sets of the cache, and more of the lines belong to two tiles.
TILE_BYTES = (256, 32, 1)
SIGNATURE = types.void(
    *3 * [Lent(types.int32, 1, "C", readonly=True)], Lent(types.uint8, 3, "A"), Lent(types.uint8, 3, "A")
)


def carry_out(targets: Numbers, start: Numbers, operands: Numbers, source: Packets, work: Packets) -> None:
    """Set packet ``targets[t]`` to the XOR of packets ``operands[start[t]:start[t + 1]]``, for t = 0, 1, ... in turn.

    Nothing is checked.

    Parameters
    ----------
    targets, start, operands : array of int32
        Numbers below k are rows of `source`, those from k on rows of `work`.
    source : array of uint8, shape (k, bytes) or (units, k, bytes)
        Packets of one unit or of several, the bytes of each contiguous.
    work : array of uint8, shape (., bytes) or (units, ., bytes)
        Further packets, likewise.
    """
    _machine_code()(targets, start, operands, source, work)


@functools.cache
def _machine_code() -> Any:
    return xor_by_numpy if is_disabled() else entry_point(compiled(xor, SIGNATURE))


def xor_by_numpy(targets: Numbers, start: Numbers, operands: Numbers, source: Packets, work: Packets) -> None:
    """Do as :func:`carry_out`, where nothing is compiled."""
    rows = [*np.moveaxis(source, -2, 0), *np.moveaxis(work, -2, 0)]
    for target, first, last in zip(targets, start, start[1:], strict=False):
        rows[target][:] = 0
        for operand in operands[first:last]:
            rows[target][:] ^= rows[operand]


def _emit_tiles(builder: Any, arrays: list[Matrix], span: tuple[Any, ...], target: Any, width: int) -> None:
    """Emit the sum of one target's operands for a block of columns, `width` bytes at a time."""
    source, work, operands = arrays
    vector = ir.VectorType(BYTE, width)
    total = cgutils.alloca_once(builder, vector)
    rows = source.shape[0]
    behind = builder.sub(work.address, builder.mul(rows, work.strides[0]))  # where row 0 would be, were it there

    def row(number: Any, column: Any) -> Any:
        is_source = builder.icmp_signed("<", number, rows)
        stride = builder.select(is_source, source.strides[0], work.strides[0])
        first = builder.select(is_source, source.address, behind)
        return builder.add(builder.add(first, column), builder.mul(number, stride))

    begin, end = span
    last = builder.sub(source.shape[1], WORD(width))
    with cgutils.for_range_slice(builder, begin, end, WORD(width), WORD) as (column, _):
        column = builder.select(builder.icmp_signed("<", column, last), column, last)
        builder.store(ir.Constant(vector, [0] * width), total)
        with cgutils.for_range(builder, operands.shape[0]) as loop:
            number = builder.sext(load(builder, operands.at(builder, loop.index), INT32), WORD)
            packet = load(builder, row(number, column), vector)
            builder.store(builder.xor(builder.load(total), packet), total)
        store(builder, builder.load(total), row(target, column))


@intrinsic
def _add_up(typing: Any, source: Any, work: Any, operands: Any, target: Any, begin: Any, end: Any) -> Any:
    """Write the sum of a target's operands, columns begin to end."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays = [Matrix.of(context, builder, kind, arg) for kind, arg in zip(signature.args[:3], args, strict=False)]
        packet_bytes = arrays[0].shape[1]
        for width, wider in zip(TILE_BYTES, (sys.maxsize, *TILE_BYTES), strict=False):
            fills = builder.icmp_signed(">=", packet_bytes, WORD(width))
            with builder.if_then(builder.and_(fills, builder.icmp_signed("<", packet_bytes, WORD(wider)))):
                _emit_tiles(builder, arrays, args[4:], args[3], width)
        return context.get_dummy_value()

    return types.void(source, work, operands, types.intp, types.intp, types.intp), generate


def xor(targets: Numbers, start: Numbers, operands: Numbers, source: Packets, work: Packets) -> None:
    """Do as :func:`carry_out`, compiled."""
    for unit in range(source.shape[0]):
        for begin in range(0, source.shape[2], BLOCK_BYTES):
            end = min(begin + BLOCK_BYTES, source.shape[2])
            for t in range(targets.size):
                _add_up(source[unit], work[unit], operands[start[t] : start[t + 1]], targets[t], begin, end)

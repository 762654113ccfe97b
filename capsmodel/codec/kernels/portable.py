"""Kernel in plain NumPy, by the table of products: for debuggers and coverage tools, where nothing is compiled."""

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils

from capsmodel.codec.gf256 import MUL
from capsmodel.codec.inputs import Packets
from capsmodel.codec.kernels.emit import BYTE, WORD, Matrix, intrinsic, load, store


def prepare_tables(coefficients: Packets) -> npt.NDArray[np.uint64]:
    """Return the coefficients themselves, shape (rows, m, 1)."""
    return coefficients[:, :, None].astype(np.uint64)


def tables(factors: npt.NDArray[np.uint64], packets: Packets, out: Packets, targets: npt.NDArray[np.int64]) -> None:
    """Write combination i of the packets of a unit to row ``targets[i]`` of `out`: one look-up for each product."""
    for target, row in zip(targets, factors[:, :, 0], strict=True):
        out[..., target, :] = np.bitwise_xor.reduce(MUL[row[:, None], packets], axis=-2)


GROUP = 4  # packets of a group; its sums are numbered by the subset of them that is added, 0 .. 15
SUMS = 1 << GROUP
WIDTH = 128
BLOCK = ir.VectorType(BYTE, WIDTH)
BITS = np.arange(7, -1, -1, dtype=np.uint32)[:, None]
ALIGN = 64  # bytes; lets x86 read a sum as an operand of the XOR


def prepare(coefficients: Packets) -> npt.NDArray[np.uint64]:
    """Return where each sum lies that a combination adds, in bytes: shape (rows, 8, groups), bit 7 first."""
    rows, m = coefficients.shape
    groups = -(-m // GROUP)
    padded = np.zeros((rows, groups * GROUP), np.uint8)
    padded[:, :m] = coefficients
    # The four coefficients of a group are the bytes of a word; a product moves bit 8 i of the mask to bit 24 + i.
    bits = padded.view("<u4")[:, None, :] >> BITS & 0x01010101
    subsets = bits * np.uint32(0x01020408) >> 24 & 0x0F
    sums = subsets.astype(np.uint64) + np.arange(0, SUMS * groups, SUMS, dtype=np.uint64)
    return sums * np.uint64(WIDTH)


def _aligned(builder: Any, address: Any) -> Any:
    return builder.and_(builder.add(address, WORD(ALIGN - 1)), WORD(-ALIGN))


@intrinsic
def _make_sums(typing: Any, packets: Any, scratch: Any, column: Any) -> Any:
    """Write the 16 sums of each group of packets, for the block at `column`, to the scratch array."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        packed, space = (Matrix.of(context, builder, signature.args[i], args[i]) for i in (0, 1))
        last = builder.sub(packed.shape[0], WORD(1))
        with cgutils.for_range_slice(builder, WORD(0), packed.shape[0], WORD(GROUP), WORD) as (first, _):
            target = builder.add(_aligned(builder, space.address), builder.mul(first, WORD(SUMS // GROUP * WIDTH)))
            rows = []
            for i in range(GROUP):
                # Beyond the last packet any bytes will do: no coefficient picks a sum that contains them.
                row = builder.add(first, WORD(i))
                row = builder.select(builder.icmp_signed("<", row, last), row, last)
                rows.append(packed.at(builder, row, args[2]))
            for offset in range(0, WIDTH, PIECE.count):
                _emit_sums(builder, rows, target, offset)
        return context.get_dummy_value()

    return types.void(packets, scratch, types.intp), generate


PIECE = ir.VectorType(BYTE, 32)


def _emit_sums(builder: Any, rows: list[Any], target: Any, offset: int) -> None:
    """Emit the 16 sums of one group for a piece of the block; each is an earlier sum and one packet."""
    sums = [ir.Constant(PIECE, [0] * PIECE.count)]
    for row in rows:
        packet = load(builder, builder.add(row, WORD(offset)), PIECE)
        sums += [builder.xor(earlier, packet) for earlier in sums]
    for i, total in enumerate(sums):
        store(builder, total, builder.add(target, WORD(i * WIDTH + offset)), align=32)


@intrinsic
def _horner(typing: Any, tables: Any, scratch: Any, out: Any, row: Any, target: Any, column: Any) -> Any:
    """Write the block at `column` of combination `row` to row `target`: eight Horner steps over the sums."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        picks, space, result = (Matrix.of(context, builder, signature.args[i], args[i]) for i in range(3))
        sums = _aligned(builder, space.address)
        total = cgutils.alloca_once(builder, BLOCK)
        builder.store(ir.Constant(BLOCK, [0] * WIDTH), total)
        for step in range(8):
            builder.store(_doubled(builder, builder.load(total)), total)
            pick = picks.at(builder, args[3], WORD(step))
            with cgutils.for_range(builder, picks.shape[2]) as loop:
                offset = load(builder, builder.add(pick, builder.mul(loop.index, WORD(8))), WORD)
                chosen = load(builder, builder.add(sums, offset), BLOCK, align=ALIGN)
                builder.store(builder.xor(builder.load(total), chosen), total)
        store(builder, builder.load(total), result.at(builder, args[4], args[5]))
        return context.get_dummy_value()

    return types.void(tables, scratch, out, types.intp, types.intp, types.intp), generate


def _doubled(builder: Any, value: Any) -> Any:
    """Emit 2 x in GF(2^8) for every byte: shift, and subtract the field polynomial where bit 7 fell out."""
    one, seven, polynomial = (ir.Constant(value.type, [c] * value.type.count) for c in (1, 7, 0x1D))
    carry = builder.and_(builder.ashr(value, seven), polynomial)
    return builder.xor(builder.shl(value, one), carry)


def portable(tables: npt.NDArray[np.uint64], packets: Packets, out: Packets, targets: npt.NDArray[np.int64]) -> None:
    """Write combination i of ``packets[u]`` to ``out[u, targets[i]]`` with XOR and shift; 128 bytes or more.

    `tables` comes from :func:`prepare`; `packets` has shape (units, m, bytes), `out` (units, ., bytes), `targets`
    (rows,); the bytes of a packet are contiguous.
    """
    scratch = np.empty((tables.shape[2] * SUMS * WIDTH + ALIGN, 1), np.uint8)
    for unit in range(packets.shape[0]):
        for start in range(0, packets.shape[2], WIDTH):
            column = min(start, packets.shape[2] - WIDTH)
            _make_sums(packets[unit], scratch, column)
            for row in range(tables.shape[0]):
                _horner(tables, scratch, out[unit], row, targets[row], column)

"""Vector kernels: linear combinations of packets over GF(2^8), a tile of vector registers at a time.

Algebra
-------
Multiplication by a constant c is linear over GF(2), so one instruction, or two table look-ups, multiplies a whole
vector of bytes:

* *affine*: c acts on the 8 bits of a byte as an 8 x 8 bit matrix; GF2P8AFFINEQB (the GFNI extension) applies it to
  64 bytes. Byte 7 - i of the matrix word is the mask of those bits of x whose parity is bit i of c x.
* *shuffle*: c x = c (x & 0x0f) + c (x & 0xf0): two tables of 16 products, looked up by byte shuffles (PSHUFB on
  AVX-512BW or AVX2 registers). The method is that of K. Greenan, E. Miller and J. Plank, "Screaming fast Galois
  field arithmetic using Intel SIMD instructions", FAST 2013.

Tiles
-----
A tile is up to four combinations times a few vectors of columns, all held in registers: each source vector is loaded
once for four products, the sums never touch memory, and the result is stored once. The columns are walked in blocks
so that the source bytes of a block stay in the first-level cache while all combinations pass over them. The last tile
of a packet is moved back to end with the packet; the bytes it shares with its neighbour get the same values twice.

The vector code is LLVM IR, emitted by Numba intrinsics; Numba compiles it, no C compiler is involved. An instruction
that the processor lacks aborts the process, so these kernels run only where :mod:`capsmodel.codec.kernels` finds the
features. The three drivers at the end have one body each because Numba finds only functions with a name of their own
in its cache.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils

from capsmodel.codec.gf256 import MUL
from capsmodel.codec.inputs import Packets
from capsmodel.codec.kernels.emit import BYTE, INT32, WORD, Matrix, intrinsic, load, store

Words = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]
ROWS = 4  # combinations of one tile: 4 x 4 sums leave room for sources and factors in 32 registers
BLOCK_BYTES = 32 * 1024  # source bytes of a block of columns; the first-level data cache holds 32 to 48 KiB


def _bit_matrices() -> Words:
    """Return the GF2P8AFFINEQB operand of each constant, shape (256, 1)."""
    bits = MUL[:, 1 << np.arange(8), None] >> np.arange(8) & 1  # constant, bit j of x, bit i of c x
    masks = np.packbits(bits.astype(np.uint8), axis=1, bitorder="little")[:, 0, ::-1]
    return np.ascontiguousarray(masks).view("<u8").astype(np.uint64)


def _nibble_products() -> Words:
    """Return the products of each constant with 0x00 .. 0x0f, then with 0x00 .. 0xf0, shape (256, 4) words."""
    return np.concatenate([MUL[:, :16], MUL[:, ::16]], axis=1).view(np.uint64)


BIT_MATRICES = _bit_matrices()
NIBBLE_PRODUCTS = _nibble_products()


def prepare_affine(coefficients: Packets) -> Words:
    """Return the bit matrices of the coefficients, shape (rows, m, 1) words."""
    return BIT_MATRICES[coefficients]


def prepare_shuffle(coefficients: Packets) -> Words:
    """Return the nibble tables of the coefficients, shape (rows, m, 4) words."""
    return NIBBLE_PRODUCTS[coefficients]


def _repeated(builder: Any, vector: Any, times: int) -> Any:
    """Return a vector that repeats `vector`."""
    lanes = ir.Constant(ir.VectorType(INT32, vector.type.count * times), list(range(vector.type.count)) * times)
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), lanes)


def _call(builder: Any, instruction: str, result: Any, *operands: Any) -> Any:
    kind = ir.FunctionType(result, [operand.type for operand in operands])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, instruction), operands)


@dataclass(frozen=True)
class Affine:
    """Multiplication of `width` bytes by a bit matrix."""

    width: int
    vectors: int
    instruction: str

    def factor(self, builder: Any, address: Any) -> Any:
        """Load a coefficient's matrix into every 8-byte lane."""
        one = ir.VectorType(WORD, 1)
        lanes = _repeated(builder, load(builder, address, one), self.width // 8)
        return builder.bitcast(lanes, ir.VectorType(BYTE, self.width))

    def parts(self, builder: Any, source: Any) -> Any:
        """Prepare a source vector: nothing to do."""
        return source

    def product(self, builder: Any, factor: Any, parts: Any) -> Any:
        """Multiply."""
        return _call(builder, self.instruction, parts.type, parts, factor, BYTE(0))


@dataclass(frozen=True)
class Shuffle:
    """Multiplication of `width` bytes by two look-ups in tables of 16 products."""

    width: int
    vectors: int
    instruction: str

    def factor(self, builder: Any, address: Any) -> Any:
        """Load a coefficient's two tables into every 16-byte lane."""
        table = ir.VectorType(BYTE, 16)
        halves = (load(builder, address, table), load(builder, builder.add(address, WORD(16)), table))
        return [_repeated(builder, half, self.width // 16) for half in halves]

    def parts(self, builder: Any, source: Any) -> Any:
        """Split a source vector into low and high nibbles, shared by all combinations of the tile."""
        low = ir.Constant(source.type, [0x0F] * self.width)
        four = ir.Constant(source.type, [4] * self.width)
        return [builder.and_(source, low), builder.lshr(source, four)]

    def product(self, builder: Any, factor: Any, parts: Any) -> Any:
        """Multiply: one look-up for each nibble."""
        looked_up = [
            _call(builder, self.instruction, part.type, table, part) for table, part in zip(factor, parts, strict=True)
        ]
        return builder.xor(*looked_up)


AFFINE_512 = Affine(64, 4, "llvm.x86.vgf2p8affineqb.512")
SHUFFLE_512 = Shuffle(64, 4, "llvm.x86.avx512.pshuf.b.512")
SHUFFLE_256 = Shuffle(32, 2, "llvm.x86.avx2.pshuf.b")


def _emit_tile(
    builder: Any, isa: Affine | Shuffle, arrays: tuple[Matrix, ...], row: Any, column: Any, rows: int
) -> None:
    """Emit one tile: `rows` combinations from `row` on, ``isa.vectors`` vectors of columns from `column` on."""
    tables, packets, out, targets = arrays
    vector = ir.VectorType(BYTE, isa.width)
    spans = [WORD(isa.width * i) for i in range(isa.vectors)]
    zero = ir.Constant(vector, [0] * isa.width)
    sums = [[cgutils.alloca_once(builder, vector) for _ in spans] for _ in range(rows)]
    for one in sums:
        for total in one:
            builder.store(zero, total)
    with cgutils.for_range(builder, packets.shape[0]) as loop:
        address = packets.at(builder, loop.index, column)
        parts = [isa.parts(builder, load(builder, builder.add(address, span), vector)) for span in spans]
        for i, one in enumerate(sums):
            factor = isa.factor(builder, tables.at(builder, builder.add(row, WORD(i)), loop.index))
            for total, part in zip(one, parts, strict=True):
                builder.store(builder.xor(builder.load(total), isa.product(builder, factor, part)), total)
    for i, one in enumerate(sums):
        target = load(builder, targets.at(builder, builder.add(row, WORD(i))), WORD)
        address = out.at(builder, target, column)
        for total, span in zip(one, spans, strict=True):
            store(builder, builder.load(total), builder.add(address, span))


def _emit_columns(builder: Any, isa: Affine | Shuffle, args: tuple[Any, ...], rows: int) -> None:
    """Emit the loop over the tiles of a block of columns; the last tile is moved back to end with the packet."""
    *arrays, row, start, stop = args
    step = WORD(isa.width * isa.vectors)
    last = builder.sub(arrays[2].shape[1], step)
    with cgutils.for_range_slice(builder, start, stop, step, WORD) as (column, _):
        inside = builder.icmp_signed("<", column, last)
        _emit_tile(builder, isa, tuple(arrays), row, builder.select(inside, column, last), rows)


def _block(isa: Affine | Shuffle) -> Any:
    """Return the intrinsic that computes up to ROWS combinations of one block of columns with `isa`."""

    def block(typing: Any, tables: Any, packets: Any, out: Any, targets: Any, row: Any, start: Any, stop: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            arrays = [
                Matrix.of(context, builder, kind, arg) for kind, arg in zip(signature.args[:4], args[:4], strict=True)
            ]
            left = builder.sub(arrays[0].shape[0], args[4])
            for rows in range(1, ROWS + 1):
                wanted = builder.icmp_signed(">=" if rows == ROWS else "==", left, WORD(rows))
                with builder.if_then(wanted):
                    _emit_columns(builder, isa, (*arrays, *args[4:]), rows)
            return context.get_dummy_value()

        return types.void(tables, packets, out, targets, types.intp, types.intp, types.intp), generate

    return intrinsic(block)


_affine_512 = _block(AFFINE_512)
_shuffle_512 = _block(SHUFFLE_512)
_shuffle_256 = _block(SHUFFLE_256)


def affine_512(tables: Words, packets: Packets, out: Packets, targets: Rows) -> None:
    """Write combination i of ``packets[u]`` to ``out[u, targets[i]]`` by GF2P8AFFINEQB on 512-bit registers.

    `tables` has shape (rows, m, 1), `packets` (units, m, bytes), `out` (units, ., bytes), `targets` (rows,). Packets
    have 256 bytes or more; the bytes of a packet are contiguous.
    """
    width = max(256, BLOCK_BYTES // max(1, packets.shape[1]) // 256 * 256)
    for unit in range(packets.shape[0]):
        for start in range(0, packets.shape[2], width):
            for row in range(0, tables.shape[0], ROWS):
                stop = min(start + width, packets.shape[2])
                _affine_512(tables, packets[unit], out[unit], targets, row, start, stop)


def shuffle_512(tables: Words, packets: Packets, out: Packets, targets: Rows) -> None:
    """Do as :func:`affine_512` by byte shuffles on 512-bit registers; `tables` has shape (rows, m, 4)."""
    width = max(256, BLOCK_BYTES // max(1, packets.shape[1]) // 256 * 256)
    for unit in range(packets.shape[0]):
        for start in range(0, packets.shape[2], width):
            for row in range(0, tables.shape[0], ROWS):
                stop = min(start + width, packets.shape[2])
                _shuffle_512(tables, packets[unit], out[unit], targets, row, start, stop)


def shuffle_256(tables: Words, packets: Packets, out: Packets, targets: Rows) -> None:
    """Do as :func:`shuffle_512` on 256-bit registers; 64 bytes or more."""
    width = max(64, BLOCK_BYTES // max(1, packets.shape[1]) // 64 * 64)
    for unit in range(packets.shape[0]):
        for start in range(0, packets.shape[2], width):
            for row in range(0, tables.shape[0], ROWS):
                stop = min(start + width, packets.shape[2])
                _shuffle_256(tables, packets[unit], out[unit], targets, row, start, stop)

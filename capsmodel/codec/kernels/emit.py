"""Helpers to emit LLVM IR for kernels that read and write arrays of bytes through vector registers."""

import functools
from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import NativeValue, models, register_model, unbox
from numba.extending import intrinsic as numba_intrinsic

BYTE, INT32, WORD = ir.IntType(8), ir.IntType(32), ir.IntType(64)


class Lent(types.Array):
    """An array argument that machine code reads where it lies, for the time of a call: nothing about it is checked.

    Numba's own arguments take some 1,000 instructions an array, for the most part to count references. An array of one
    dimension fewer than the type has is read as if its first dimension, of length 1, were left out.
    """


# The first fields of NumPy's PyArrayObject, which its binary interface fixes: data, dimensions, shape, strides.
_ARRAY = ir.LiteralStructType(
    [ir.ArrayType(BYTE, object.__basicsize__), BYTE.as_pointer(), INT32, WORD.as_pointer(), WORD.as_pointer()]
)


def _read(kind: Any, value: Any, compilation: Any) -> Any:
    """Emit the reading of an array object, into Numba's own structure for an array that no one counts."""
    context, builder = compilation.context, compilation.builder
    fields = builder.bitcast(value, _ARRAY.as_pointer())
    data, dimensions, shape, strides = (builder.load(builder.gep(fields, [INT32(0), INT32(i)])) for i in range(1, 5))
    is_short = builder.icmp_signed("<", dimensions, INT32(kind.ndim))
    axes = [builder.select(is_short, INT32(max(0, i - 1)), INT32(i)) for i in range(kind.ndim)]
    lengths, steps = ([builder.load(builder.gep(field, [axis])) for axis in axes] for field in (shape, strides))
    lengths[0] = builder.select(is_short, WORD(1), lengths[0])
    array = context.make_array(kind)(context, builder)
    array.data = builder.bitcast(data, array.data.type)
    array.shape, array.strides = cgutils.pack_array(builder, lengths), cgutils.pack_array(builder, steps)
    array.itemsize, array.nitems = WORD(kind.dtype.bitwidth // 8), functools.reduce(builder.mul, lengths)
    return NativeValue(array._getvalue())


register_model(Lent)(models.ArrayModel)
unbox(Lent)(_read)

SIGNATURE = types.void(
    Lent(types.uint64, 3, "C", readonly=True),
    Lent(types.uint8, 3, "A", readonly=True),
    Lent(types.uint8, 3, "A"),
    Lent(types.int64, 1, "C", readonly=True),
)
"""Every kernel: (factors prepared from the coefficients, packets of a unit or of several, at any stride but contiguous
bytes, array for the results, row of that array for each combination)."""


def intrinsic(function: Any) -> Any:
    """Return Numba's intrinsic of `function`: compiled code calls it without the first parameter."""
    return numba_intrinsic(function)


def load(builder: Any, address: Any, kind: Any, *, align: int = 1) -> Any:
    """Load a value of type `kind` from an address; packets begin anywhere, hence no alignment by default."""
    value = builder.load(builder.inttoptr(address, kind.as_pointer()))
    value.align = align
    return value


def store(builder: Any, value: Any, address: Any, *, align: int = 1) -> None:
    """Store a value at an address."""
    builder.store(value, builder.inttoptr(address, value.type.as_pointer())).align = align


@dataclass(frozen=True)
class Matrix:
    """Address, strides and shape of an array argument, as LLVM values."""

    address: Any
    strides: list[Any]
    shape: list[Any]

    @classmethod
    def of(cls, context: Any, builder: Any, kind: Any, value: Any) -> "Matrix":
        """Unpack an array argument of Numba type `kind`."""
        array = context.make_array(kind)(context, builder, value)
        strides, shape = (cgutils.unpack_tuple(builder, field, kind.ndim) for field in (array.strides, array.shape))
        return cls(builder.ptrtoint(array.data, WORD), strides, shape)

    def at(self, builder: Any, *indices: Any) -> Any:
        """Return the address of an element, or of a row."""
        address = self.address
        for index, stride in zip(indices, self.strides, strict=False):
            address = builder.add(address, builder.mul(index, stride))
        return address

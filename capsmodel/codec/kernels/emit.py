"""Helpers to emit LLVM IR for kernels that read and write arrays of bytes through vector registers."""

from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic as numba_intrinsic

BYTE, INT32, WORD = ir.IntType(8), ir.IntType(32), ir.IntType(64)

SIGNATURE = types.void(
    types.Array(types.uint64, 3, "C", readonly=True),
    types.Array(types.uint8, 3, "A", readonly=True),
    types.Array(types.uint8, 3, "A"),
    types.Array(types.int64, 1, "C", readonly=True),
)
"""Every kernel: (factors prepared from the coefficients, packets of each unit, at any stride but contiguous bytes,
array for the results, row of that array for each combination)."""


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

"""What the compiler is told of the records: that no two fields share memory, and which fields keep their value.

LLVM sees addresses only. After a write to a port it would read a packet's fields again, since the two might lie at the
same address; and it would read anew from the record of addresses where each table lies. So each read and write of a
field is marked with the field's name (metadata `tbaa`: what differs in it does not share memory), and each read of a
field that keeps its value during a run as such (`invariant.load`). What is read and written by address alone, as own
memory is, has no mark: it may be anything.

A write to a field that is said to keep its value might not be seen by what reads it. It is refused when it is compiled:
in a hook with its line (:mod:`~capsim.engines.compiled.refusals`), in the engine by an error of the compiler.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.core.errors import NumbaError
from numba.extending import lower_getattr_generic, lower_setattr_generic, models, register_model
from numba.np.arrayobj import record_getattr, record_setattr

from capsim import records


class KnownRecord(types.Record):
    """The type of one record whose fields LLVM is told of.

    Parameters
    ----------
    dtype : dtype
        Of the record.
    table : str
        Name of the record, which no other has.
    constant : iterable of str
        Fields that keep their value during a run. They are part of the type's name, and so of the keys of code on disk.
    """

    def __init__(self, dtype: np.dtype[Any], table: str, constant: Iterable[str] = ()):
        plain = from_dtype(dtype)
        fields = [(name, each._asdict()) for name, each in plain.fields.items()]
        self.table, self.constant = table, frozenset(constant)
        super().__init__(fields, plain.size, plain.aligned)
        self.name = f"{table} with constant {sorted(self.constant)}: {self.name}"


_KNOWN = {
    dtype: KnownRecord(dtype, table, records.CONSTANT.get(table, ()))
    for table, dtype in vars(records).items()
    if isinstance(dtype, np.dtype)
}


def record_type(dtype: np.dtype[Any]) -> Any:
    """Return the Numba type of one record; those of :mod:`capsim.records` are known."""
    return _KNOWN.get(dtype) or from_dtype(dtype)


def _read(context: Any, builder: Any, kind: KnownRecord, record: Any, field: str) -> Any:
    value = record_getattr(context, builder, kind, record, field)
    if getattr(value, "opname", "") == "load":  # of a field that is an array the address is taken, nothing is read
        _mark(builder, value, kind, field)
        if field in kind.constant:
            value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


def _write(context: Any, builder: Any, signature: Any, arguments: Any, field: str) -> None:
    kind = signature.args[0]
    if field in kind.constant:
        raise NumbaError(f"{field} of {kind.table} keeps its value during a run (capsim.records.CONSTANT)")
    record_setattr(context, builder, signature, arguments, field)
    written = builder.block.instructions[-1]
    if written.opname == "store":
        _mark(builder, written, kind, field)


def _mark(builder: Any, instruction: Any, kind: KnownRecord, field: str) -> None:
    """Say of a read or write which field it touches."""
    module, zero = builder.module, ir.Constant(ir.IntType(64), 0)
    root = module.add_metadata([ir.MetaDataString(module, "capsim")])
    name = module.add_metadata([ir.MetaDataString(module, f"{kind.table}.{field}"), root, zero])
    instruction.set_metadata("tbaa", module.add_metadata([name, name, zero]))


register_model(KnownRecord)(models.RecordModel)
lower_getattr_generic(KnownRecord)(_read)
lower_setattr_generic(KnownRecord)(_write)

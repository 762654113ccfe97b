"""Numba's types of records and of hooks, and what LLVM is told of records: what shares no memory, what never changes.

LLVM sees addresses only. After a write to a port it would read a packet's fields again, since the two might lie at the
same address; and it would read anew from the record of addresses where each table lies. So each read and write of a
field is marked with the field's name (metadata `tbaa`: what differs in it does not share memory), and each read of a
field that keeps its value during a run as such (`invariant.load`). What is read and written by address alone, as own
state is, has no mark: it may be anything.

A write to a field that is said to keep its value might not be seen by what reads it. It is refused when it is compiled:
in a hook with its line (:mod:`~capsim.engines.compiled.refusals`), in the engine by an error of the compiler.

A hook is compiled for the records of its own component, and called by a loop that knows only their addresses.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.core.errors import NumbaError
from numba.extending import lower_getattr_generic, lower_setattr_generic, models, register_model
from numba.np.arrayobj import record_getattr, record_setattr

from capsim import records
from capsim.roles.hooks import HOOKS
from capsim.roles.own import HEADER, OWN, TABLES, scopes_of


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


GENERIC = np.dtype(HEADER)  # a record of which only the address is known
_INTEGER, _REAL = types.int64, types.float64

# Types of the arguments that are the same for all components
_TYPES = {
    "flow": record_type(records.FLOW),
    "sub": record_type(records.SUBFLOW),
    "subs": types.Array(record_type(records.SUBFLOW), 1, "C"),
    "ring": types.uint8[::1],
    "maps": types.int32[::1],
    "data": types.int32[::1],
    "packet": record_type(records.PACKET),
    "packets": types.Array(record_type(records.PACKET), 1, "C"),
    "counters": record_type(records.COUNTERS),
    "switch": record_type(records.SWITCH),
    "port": record_type(records.PORT),
    "ports": types.Array(record_type(records.PORT), 1, "C"),
    "candidates": types.int64[::1],
    "signals": _INTEGER,
    "queue_packets": _INTEGER,
    "queue_bytes": _INTEGER,
    "now_ps": _INTEGER,
    "u0": _REAL,
}


def signature(name: str, params: Any, memory: Callable[[str], Any]) -> Any:
    """Return the signature of the hook `name`.

    Parameters
    ----------
    name : str
        Key of HOOKS.
    params : numba type
        Of the parameter record.
    memory : callable
        From a scope to the Numba type of one record of own state.
    """
    parts = [
        types.Array(memory(scope), 1, "A")
        if scope in ("units", "segments", "paths", "ports", "back_paths")
        else memory(scope)
        for scope in scopes_of(name)
    ]
    known = _TYPES | {"params": params, "own": types.BaseTuple.from_types(parts, OWN[name])}
    return _INTEGER(*(known[argument] for argument in HOOKS[name].arguments))


# What the loop sees. A record is passed by its address, so a hook that was compiled for the records of its own
# component can be called as if it took these: one compiled loop fits all schemes.
_ANY_RECORD = record_type(GENERIC)
HOOK_TYPES = {name: signature(name, _ANY_RECORD, lambda _: _ANY_RECORD) for name in HOOKS}


def types_of(name: str, params: np.dtype[Any], memory: dict[str, np.dtype[Any]]) -> Any:
    """Return the signature of the hook `name` for a component's records of parameters and of own state, by scope."""
    return signature(name, record_type(params), lambda scope: record_type(memory[TABLES.get(scope, scope)]))

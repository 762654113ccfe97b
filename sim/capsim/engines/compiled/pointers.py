"""Records of the compiled engine by address: one record of addresses, and functions that read a record at one.

The whole state is one argument, ``w``: a record WORLD that holds where each table lies. Passing thirty arrays
instead, 56 bytes each, from function to function costs more than all they do (measured: 4 against 12 million
traversals a second).
"""

from typing import Any, Literal

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model
from numba.np.arrayobj import make_array, populate_array

from capsim import records
from capsim.engines.compiled.layout import CACHE_LINE_BYTES, CHANGING, ENTRY, NODE, ROUTE, SCHEDULED, STACK, WORLD
from capsim.engines.compiled.numba_types import GENERIC, HOOK_TYPES, KnownRecord, record_type
from capsim.roles.hooks import HOOKS

world_type = KnownRecord(WORLD, "WORLD", constant=set(WORLD.names or ()) - CHANGING)
stack_type = KnownRecord(STACK, "STACK", constant=STACK.names or ())
route_type = KnownRecord(ROUTE, "ROUTE", constant=ROUTE.names or ())
node_type, entry_type = KnownRecord(NODE, "NODE"), KnownRecord(ENTRY, "ENTRY")


def _reader(kind: Any) -> Any:
    """Return what gives the record number `index` of the table at `address`."""

    def read(typing_context: Any, address: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            offset = builder.mul(args[1], ir.Constant(args[1].type, kind.size))
            return builder.inttoptr(builder.add(args[0], offset), context.get_value_type(kind))

        return kind(types.int64, types.int64), generate

    return intrinsic(read)


def _number_reader(kind: Any, width: int) -> Any:
    """Return what gives the number `index` of the table at `address`, as int64."""

    def read(typing_context: Any, address: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            offset = builder.mul(args[1], ir.Constant(args[1].type, width))
            pointer = builder.inttoptr(builder.add(args[0], offset), ir.IntType(8 * width).as_pointer())
            value = builder.load(pointer)
            return value if width == 8 else builder.sext(value, ir.IntType(64))

        return types.int64(types.int64, types.int64), generate

    return intrinsic(read)


def _float(typing_context: Any, address: Any, index: Any) -> Any:
    """Give the number `index` of a table of floats."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        offset = builder.mul(args[1], ir.Constant(args[1].type, 8))
        return builder.load(builder.inttoptr(builder.add(args[0], offset), ir.DoubleType().as_pointer()))

    return types.float64(types.int64, types.int64), generate


def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Give the number of zeros below the lowest one of a word that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


def _count_below(typing_context: Any, keys: Any, blocks: Any, four: Any, counts: Any) -> Any:
    """Write to `counts` how many keys, `blocks` times four, are below each of `four`, four comparisons at a time."""
    vector, index = ir.VectorType(ir.IntType(64), 4), ir.VectorType(ir.IntType(32), 4)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        all_keys, mine, counts = (builder.inttoptr(args[each], vector.as_pointer()) for each in (0, 2, 3))
        mine, zeros = builder.load(mine), ir.Constant(vector, [0] * 4)
        total = cgutils.alloca_once_value(builder, zeros)
        with cgutils.for_range(builder, args[1]) as loop:
            block = builder.load(builder.gep(all_keys, [loop.index]))
            for lane in range(4):
                key = builder.shuffle_vector(block, zeros, ir.Constant(index, [lane] * 4))
                below = builder.sext(builder.icmp_signed("<", key, mine), vector)  # -1 where it is
                builder.store(builder.sub(builder.load(total), below), total)
        builder.store(builder.load(total), counts)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), generate


def _array(kind: Any, width: int, layout: Literal["C", "A"] = "C") -> Any:
    """Return what makes an array of `length` elements, `stride` bytes apart, out of the memory at `address`."""
    array_type = types.Array(kind, 1, layout)

    def view(typing_context: Any, address: Any, length: Any, stride: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = make_array(array_type)(context, builder)
            data = builder.inttoptr(args[0], context.get_data_type(kind).as_pointer())
            size = ir.Constant(args[1].type, width)
            populate_array(array, data=data, shape=[args[1]], strides=[args[2]], itemsize=size, meminfo=None)
            return array._getvalue()

        return array_type(types.int64, types.int64, types.int64), generate

    return intrinsic(view)


class HookAddress(types.Callable):
    """The type of the address of a compiled hook, which is called as Numba's functions call each other.

    So an exception that the hook raises leaves the loop. Numba's own type of functions that are values calls by way of
    a wrapper for C, and makes machine code for functions that have no address.
    """

    def __init__(self, hook: str):
        self.signature = HOOK_TYPES[hook]
        super().__init__(f"address of {hook}")

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call, whose first argument is the address itself."""
        return self.signature.replace(recvr=self)

    def get_call_signatures(self) -> Any:
        """Return all signatures, and that none is generic."""
        return (self.signature,), False

    def get_impl_key(self, signature: Any) -> Any:
        """Return under what the call is registered."""
        return HookAddress


class _AddressModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, ir.IntType(64))


def _call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    convention, kinds = context.call_conv, signature.args[1:]
    function = builder.inttoptr(args[0], convention.get_function_type(signature.return_type, kinds).as_pointer())
    status, result = convention.call_function(builder, function, signature.return_type, kinds, args[1:])
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return result


register_model(HookAddress)(_AddressModel)
lower_builtin(HookAddress, HookAddress, types.VarArg(types.Any))(_call)


def _hook(name: str) -> Any:
    """Return what takes a number for the address of a hook."""

    def hook(typing_context: Any, address: Any) -> Any:
        return HookAddress(name)(types.int64), lambda context, builder, signature, args: args[0]

    return intrinsic(hook)


def _prefetcher(dtype: np.dtype[Any], first: int, end: int) -> Any:
    """Return what prefetches cache lines `first` to `end - 1` of record number `index` of the table at `address`."""

    def prefetch(typing_context: Any, address: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            flag, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
            fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
            record = builder.add(args[0], builder.mul(args[1], ir.Constant(args[1].type, dtype.itemsize)))
            for line in range(first, end):
                place = builder.add(record, ir.Constant(record.type, line * CACHE_LINE_BYTES))
                # to write, keep in all caches, data
                builder.call(fetch, [builder.inttoptr(place, pointer), flag(1), flag(3), flag(1)])
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), generate

    return intrinsic(prefetch)


# Of a port: what a packet touches that is offered to it, or that has crossed its link. Of a packet: what switches
# touch, or what hosts touch besides (see the records).
prefetch_offered, prefetch_crossed = _prefetcher(records.PORT, 0, 2), _prefetcher(records.PORT, 0, 3)
prefetch_packet, prefetch_delivered = _prefetcher(records.PACKET, 0, 1), _prefetcher(records.PACKET, 1, 2)
prefetch_sub = _prefetcher(records.SUBFLOW, 0, 4)
packet_at, port_at, switch_at, processor_at, sub_at, flow_at, trace_at, probe_at, watch_at, counters_at, generic_at = (
    _reader(record_type(dtype))
    for dtype in (
        *(records.PACKET, records.PORT, records.SWITCH, records.PROCESSOR, records.SUBFLOW, records.FLOW),
        *(records.TRACE, records.PROBE, records.WATCH, records.COUNTERS, GENERIC),
    )
)
world_at, stack_at, route_at = map(_reader, (world_type, stack_type, route_type))
wait_at, loss_at = _reader(record_type(records.WAIT)), _reader(record_type(records.LOSS))
node_at, entry_at, scheduled_at = map(_reader, (node_type, entry_type, record_type(SCHEDULED)))
int16_at, int32_at, int64_at, byte_at = (
    _number_reader(types.int16, 2),
    _number_reader(types.int32, 4),
    _number_reader(types.int64, 8),
    _number_reader(types.int8, 1),
)

float_at: Any = intrinsic(_float)
trailing_zeros: Any = intrinsic(_trailing_zeros)
count_below: Any = intrinsic(_count_below)

bytes_array, int32_array, int64_array = _array(types.uint8, 1), _array(types.int32, 4), _array(types.int64, 8)
port_array, packet_array, sub_array = (
    _array(record_type(dtype), dtype.itemsize) for dtype in (records.PORT, records.PACKET, records.SUBFLOW)
)
generic_array = _array(record_type(GENERIC), GENERIC.itemsize, "A")

hook_at = {f"{name}_hook": _hook(name) for name in HOOKS}

"""How the compiled engine reaches its records: one record of addresses, and functions that read a record at an address.

The whole state is one argument, ``w``: a record WORLD that holds where each table lies. Passing thirty arrays
instead, 56 bytes each, from function to function costs more than all they do (measured: 4 against 12 million
traversals a second).
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from capsim import records
from capsim.engines.jit import GENERIC, record_type
from capsim.engines.signatures import HOOK_NAMES, HOOK_TYPES

NUMBERS = (
    "n_hosts",
    "n_switches",
    "n_ports",
    "n_conns",
    "n_packets",
    "n_units",
    "n_trace",
    "n_probes",
    "n_epochs",
    "n_probe_ports",
    "n_probe_conns",
    "segment_bytes",
    "end_ps",
    "link_bytes",
    "count_in_service",
    "classes",
    "draws",
    "reads_queues",
    "trace_level",
    "margin",
    "probe_ps",
    "abort_losers",
    "fault",
    "tie_seed",
    "host_jitter_ps",
    "jitter_seed",
    "arrive_leaves",
    "depart_leaves",
    "timer_leaves",
)
ARRAYS = (
    "packets",
    "ports",
    "switches",
    "balancer_state",
    "conns",
    "flows",
    "estimators",
    "units",
    "segments",
    "trace",
    "probes",
    "counters",
    "route_first",
    "route_count",
    "candidates",
    "epoch_ps",
    "port_up",
    "probe_ports",
    "probe_conns",
    "host_port",
    "transport",
    "balancer",
    "queue",
    "coding",
    "arrive_tree",
    "depart_tree",
    "timer_tree",
)

WORLD = np.dtype([(name, "i8") for name in (*NUMBERS, *ARRAYS, *HOOK_NAMES)])

# A node of a tournament tree (links.py)
NODE = np.dtype([("stamp", "i8"), ("entity", "i8")], align=True)
CACHE_LINE_BYTES = 64


def _reader(dtype: np.dtype[Any]) -> Any:
    """Return what gives the record number `index` of the table at `address`."""
    kind = record_type(dtype)

    def read(typing_context: Any, address: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            offset = builder.mul(args[1], ir.Constant(args[1].type, dtype.itemsize))
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


def _array(kind: Any, width: int) -> Any:
    """Return what makes an array of `length` elements out of the memory at `address`."""
    array_type = types.Array(kind, 1, "C")

    def view(typing_context: Any, address: Any, length: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = make_array(array_type)(context, builder)
            data = builder.inttoptr(args[0], context.get_data_type(kind).as_pointer())
            size = ir.Constant(args[1].type, width)
            populate_array(array, data=data, shape=[args[1]], strides=[size], itemsize=size, meminfo=None)
            return array._getvalue()

        return array_type(types.int64, types.int64), generate

    return intrinsic(view)


def _caller(name: str) -> Any:
    """Return what makes a function of the address of a compiled hook."""
    function_type = types.FunctionType(HOOK_TYPES[name])

    def hook(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            function = cgutils.create_struct_proxy(function_type)(context, builder)
            function.c_addr = builder.inttoptr(args[0], cgutils.voidptr_t)
            function.py_addr = cgutils.get_null_value(cgutils.voidptr_t)
            function.jit_addr = cgutils.get_null_value(cgutils.voidptr_t)
            return function._getvalue()

        return function_type(types.int64), generate

    return intrinsic(hook)


def _prefetcher(dtype: np.dtype[Any]) -> Any:
    """Return what prefetches the cache lines of record number `index` of the table at `address`, without waiting."""

    def prefetch(typing_context: Any, address: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            flag, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
            fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
            record = builder.add(args[0], builder.mul(args[1], ir.Constant(args[1].type, dtype.itemsize)))
            for offset in range(0, dtype.itemsize, CACHE_LINE_BYTES):
                line = builder.inttoptr(builder.add(record, ir.Constant(record.type, offset)), pointer)
                builder.call(fetch, [line, flag(1), flag(3), flag(1)])  # to write, keep in all caches, data
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), generate

    return intrinsic(prefetch)


prefetch_packet, prefetch_port = _prefetcher(records.PACKET), _prefetcher(records.PORT)
packet_at, port_at, switch_at = _reader(records.PACKET), _reader(records.PORT), _reader(records.SWITCH)
conn_at, flow_at, estimator_at = _reader(records.CONNECTION), _reader(records.FLOW), _reader(records.ESTIMATOR)
trace_at, probe_at, counters_at = _reader(records.TRACE), _reader(records.PROBE), _reader(records.COUNTERS)
node_at, generic_at = _reader(NODE), _reader(GENERIC)
int32_at, int64_at, byte_at = (
    _number_reader(types.int32, 4),
    _number_reader(types.int64, 8),
    _number_reader(types.int8, 1),
)

bytes_array, int32_array = _array(types.uint8, 1), _array(types.int32, 4)
port_array = _array(record_type(records.PORT), records.PORT.itemsize)
unit_array = _array(record_type(records.UNIT), records.UNIT.itemsize)

choose_hook, admit_hook = _caller("choose"), _caller("admit")
open_hook, send_hook, receive_hook = _caller("open"), _caller("send"), _caller("receive")
hear_hook, expire_hook = _caller("hear"), _caller("expire")
accept_hook, emit_hook, collect_hook = _caller("accept"), _caller("emit"), _caller("collect")
release_hook, observe_hook = _caller("release"), _caller("observe")

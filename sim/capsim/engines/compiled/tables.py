"""Tables, own state and hooks of the compiled engine, under the names of :mod:`~capsim.engines.hosts.primitives`."""

from typing import Any

import numpy as np

from capsim.engines.compiled import pointers
from capsim.engines.compiled.jit import expanded, inlined_kernel, kernel
from capsim.engines.compiled.pointers import (
    bytes_array,
    counters_at,
    generic_array,
    generic_at,
    int32_array,
    int64_array,
    int64_at,
    packet_array,
    port_array,
    route_at,
    sub_array,
)
from capsim.engines.hosts.callers import caller_source, callers
from capsim.records import NONE, PACKET, PORT, SUBFLOW
from capsim.roles.hooks import HOOKS

PACKET_BYTES, PORT_BYTES, SUBFLOW_BYTES = PACKET.itemsize, PORT.itemsize, SUBFLOW.itemsize


@inlined_kernel
def whole(number: int) -> Any:
    """Return a number that a record holds in 32 bits with 64."""
    return np.int64(number)


@inlined_kernel
def params_at(address: int) -> Any:
    """Return the parameter record at an address."""
    return generic_at(address, 0)


@inlined_kernel
def memory_at(table: int, index: int, row_bytes: int, part: int) -> Any:
    """Return the own state that begins at `part` of row `index`."""
    return generic_at(table + index * row_bytes + part, 0)


@expanded
def paths_of(w: Any, leaf: int) -> Any:
    """Return the own state of a balancer for the candidates of (switch, leaf)."""
    start = w.balancer_path + leaf * w.most_paths * w.balancer_path_bytes
    return generic_array(start, w.most_paths, w.balancer_path_bytes)


@expanded
def port_memory_of(w: Any) -> Any:
    """Return the own state of a balancer for all ports."""
    return generic_array(w.balancer_port, w.n_ports, w.balancer_port_bytes)


@expanded
def units_of(w: Any) -> Any:
    """Return the coding units."""
    return generic_array(w.unit, w.n_units, w.unit_bytes)


@expanded
def segments_of(w: Any, sub: Any, part: int) -> Any:
    """Return the own state of a transport for the segments in flight of a subflow."""
    return generic_array(w.segment + sub.ring * w.segment_bytes + part, sub.ring_mask + 1, w.segment_bytes)


@expanded
def subs_of(w: Any) -> Any:
    """Return all subflows."""
    return sub_array(w.subs, w.n_subs, SUBFLOW_BYTES)


@expanded
def packets_of(w: Any) -> Any:
    """Return all packets."""
    return packet_array(w.packets, w.n_packets, PACKET_BYTES)


@expanded
def ports_of(w: Any) -> Any:
    """Return all ports."""
    return port_array(w.ports, w.n_ports, PORT_BYTES)


@expanded
def maps_of(w: Any) -> Any:
    """Return the data segments of segments in flight."""
    return int32_array(w.maps, w.n_maps, 4)


@expanded
def data_of(w: Any) -> Any:
    """Return the flags of data segments."""
    return int32_array(w.data, w.n_data, 4)


@expanded
def arrivals_of(w: Any) -> Any:
    """Return the numbers of packets at the receiver, as extents of reordering need them."""
    return int64_array(w.arrivals, w.n_arrivals, 8)


@expanded
def extents_of(w: Any) -> Any:
    """Return the histogram of extents of reordering."""
    return int64_array(w.extents, w.n_extents, 8)


@expanded
def ring_of(w: Any, sub: Any) -> Any:
    """Return the flags of the segments of a subflow."""
    return bytes_array(w.rings + sub.ring, sub.ring_mask + 1, 1)


@expanded
def candidates_of(w: Any, first: int, count: int) -> Any:
    """Return the numbers of the ports of a route."""
    return int64_array(w.candidates + 8 * first, count, 8)


@inlined_kernel
def route(w: Any, epoch: int, row: int, target: int) -> Any:
    """Return the route of switch `row` to host `target` in an epoch."""
    routed = route_at(w.leaf_routes, (epoch * w.n_switches + row) * w.n_leaves + int64_at(w.host_leaf, target))
    if routed.count == NONE:
        return route_at(w.host_routes, epoch * w.n_hosts + target)
    return routed


@inlined_kernel
def present_epoch(w: Any) -> Any:
    """Return the number of the present epoch."""
    return counters_at(w.counters, 0).next_epoch - 1


@inlined_kernel
def route_first(w: Any, row: int, target: int) -> Any:
    """Return where the candidates of switch `row` for host `target` begin."""
    return np.int64(route(w, present_epoch(w), row, target).first)


@inlined_kernel
def route_count(w: Any, row: int, target: int) -> Any:
    """Return how many candidates there are."""
    return np.int64(route(w, present_epoch(w), row, target).count)


@inlined_kernel
def route_first_at(w: Any, epoch: int, row: int, target: int) -> Any:
    """Return where they begin in the routes of an epoch."""
    return np.int64(route(w, epoch, row, target).first)


@inlined_kernel
def route_count_at(w: Any, epoch: int, row: int, target: int) -> Any:
    """Return how many there are in the routes of an epoch."""
    return np.int64(route(w, epoch, row, target).count)


def _named(scope: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in scope.items() if not name.startswith("_")}


_names = _named(vars(pointers)) | _named(globals()) | pointers.hook_at | {"int_at": pointers.int64_at}
EVERY_PACKET = ("send", "on_data", "on_ack", "react", "choose", "admit")  # of most schemes
_callers = callers(_names, {name: caller_source(name) for name in HOOKS})
hooks = {name: (inlined_kernel if name in EVERY_PACKET else kernel)(caller) for name, caller in _callers.items()}
admit, take, leave, evict, rank, on_sent = (
    hooks[name] for name in ("admit", "take", "leave", "evict", "rank", "on_sent")
)

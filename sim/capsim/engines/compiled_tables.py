"""The compiled engine: tables and own memory, under the names of :mod:`~capsim.engines.primitives`."""

from typing import Any

import numpy as np

from capsim.engines.jit import expanded, kernel
from capsim.engines.pointers import (
    bytes_array,
    counters_at,
    generic_array,
    generic_at,
    int32_array,
    int32_at,
    int64_array,
    packet_array,
    port_array,
    sub_array,
)
from capsim.records import PACKET, PORT, SUBFLOW

PACKET_BYTES, PORT_BYTES, SUBFLOW_BYTES = PACKET.itemsize, PORT.itemsize, SUBFLOW.itemsize


@kernel
def whole(number: int) -> Any:
    """Return a number that a record holds in 32 bits with 64."""
    return np.int64(number)


@kernel
def params_at(address: int) -> Any:
    """Return the parameter record at an address."""
    return generic_at(address, 0)


@kernel
def memory_at(table: int, index: int, row_bytes: int, part: int) -> Any:
    """Return the own memory that begins at `part` of row `index`."""
    return generic_at(table + index * row_bytes + part, 0)


@expanded
def paths_of(w: Any, leaf: int) -> Any:
    """Return the own memory of a balancer for the candidates of (switch, leaf)."""
    start = w.balancer_path + leaf * w.most_paths * w.balancer_path_bytes
    return generic_array(start, w.most_paths, w.balancer_path_bytes)


@expanded
def units_of(w: Any) -> Any:
    """Return the coding units."""
    return generic_array(w.unit, w.n_units, w.unit_bytes)


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
def ring_of(w: Any, sub: Any) -> Any:
    """Return the flags of the segments of a subflow."""
    return bytes_array(w.rings + sub.ring, sub.ring_mask + 1, 1)


@expanded
def candidates_of(w: Any, first: int, count: int) -> Any:
    """Return the numbers of the ports of a route."""
    return int64_array(w.candidates + 8 * first, count, 8)


@kernel
def route(w: Any, row: int, target: int) -> int:
    """Return the place of a route in the tables of the present epoch."""
    return ((counters_at(w.counters, 0).next_epoch - 1) * w.n_switches + row) * w.n_hosts + target


@kernel
def route_first(w: Any, row: int, target: int) -> int:
    """Return where the candidates of switch `row` for host `target` begin."""
    return int32_at(w.route_first, route(w, row, target))


@kernel
def route_count(w: Any, row: int, target: int) -> int:
    """Return how many candidates there are."""
    return int32_at(w.route_count, route(w, row, target))

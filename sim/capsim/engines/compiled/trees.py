"""The compiled engine, part 1: event trees.

Every entity (port, connection) has at most one pending event of each kind, so the pending events of a kind are a
tournament tree over entities: node 1 holds the smallest :func:`capsim.engines.events.stamp` and its entity, of equal
stamps the left one, which has the smaller number.
"""

from typing import Any

from capsim.base.bounds import MAX_TIME_PS
from capsim.engines.compiled.jit import inline_into_hooks, inlined_kernel, kernel
from capsim.engines.compiled.pointers import (
    int64_at,
    node_at,
    packet_at,
    port_at,
    prefetch_delivered,
    prefetch_port,
    prefetch_sub,
)
from capsim.engines.compiled.tables import present_epoch, route
from capsim.engines.events import TIE_BITS, stamp
from capsim.records import NONE

inline_into_hooks(stamp)

NEVER = MAX_TIME_PS
NO_STAMP = NEVER << TIE_BITS
LARGE = 1024  # ports: their records no longer fit into the second-level cache
# Levels of the tree, by their first node: what wins there is prefetched, the packet after its port, then where it goes
PORTS_FROM, PACKETS_FROM, NEXT_FROM = 32, 8, 2


@inlined_kernel
def set_stamp(tree: int, index: int, winner: int) -> None:
    """Set the stamp of leaf node `index` of a tree and replay its matches up to the root."""
    changed = node_at(tree, index)
    entity = changed.entity
    changed.stamp = winner
    while index > 1:
        other = node_at(tree, index ^ 1)
        lost = (other.stamp - winner - (index & 1)) >> 63  # all ones if `other` wins, also when equal at the left
        winner ^= (winner ^ other.stamp) & lost
        entity ^= (entity ^ other.entity) & lost
        index >>= 1
        node = node_at(tree, index)
        node.stamp, node.entity = winner, entity


@kernel
def set_time(w: Any, tree: int, leaves: int, leaf: int, time_ps: int) -> None:
    """Set the time of the pending event at `leaf` of a tree and replay its matches up to the root."""
    entity = node_at(tree, leaves + leaf).entity
    set_stamp(tree, leaves + leaf, NO_STAMP if time_ps == NEVER else stamp(w.tie_seed, time_ps, entity))


@kernel
def set_wake(w: Any, leaf: int, deadline_ps: int) -> None:
    """Set a timer, unless it is off or armed for an earlier time: then it is set anew when it fires."""
    if deadline_ps != NONE and deadline_ps < node_at(w.wake_tree, w.wake_leaves + leaf).stamp >> TIE_BITS:
        set_time(w, w.wake_tree, w.wake_leaves, leaf, deadline_ps)


@kernel
def bring_forward(w: Any, tree: int, leaves: int, leaf: int, time_ps: int) -> None:
    """Set the time of an event that had none or a later one: replay its matches until it loses one."""
    index = leaves + leaf
    node = node_at(tree, index)
    entity = node.entity
    earlier = stamp(w.tie_seed, time_ps, entity)
    node.stamp = earlier
    while index > 1:
        index >>= 1
        node = node_at(tree, index)
        if node.stamp < earlier or (node.stamp == earlier and node.entity < entity):
            return
        node.stamp = earlier
        node.entity = entity


@inlined_kernel
def next_arrival(w: Any, p: int, time_ps: int) -> None:
    """Set the time of the next arrival from port `p`."""
    set_time(w, w.arrive_tree, w.arrive_leaves, p, time_ps)
    if w.arrive_leaves >= LARGE:
        prefetch_soon(w, w.arrive_leaves + p)


@inlined_kernel
def prefetch_soon(w: Any, index: int) -> None:
    """Prefetch what the arrivals need that have won most of the matches above leaf `index`."""
    while index >= 2 * PORTS_FROM:
        index >>= 1
    prefetch_port(w.ports, node_at(w.arrive_tree, index).entity)
    while index >= 2 * PACKETS_FROM:
        index >>= 1
    port = port_at(w.ports, node_at(w.arrive_tree, index).entity)
    if port.head != NONE:
        prefetch_delivered(w.packets, port.head)
    while index >= 2 * NEXT_FROM:
        index >>= 1
    port = port_at(w.ports, node_at(w.arrive_tree, index).entity)
    if port.head == NONE:
        return
    packet = packet_at(w.packets, port.head)
    if port.to_node < w.n_hosts:
        prefetch_sub(w.subs, packet.sub)
        prefetch_port(w.ports, int64_at(w.host_port, port.to_node))
        return
    found = route(w, present_epoch(w), port.to_node - w.n_hosts, packet.target)
    if found.count == 1:
        prefetch_port(w.ports, int64_at(w.candidates, found.first))

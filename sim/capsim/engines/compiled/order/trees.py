"""The compiled engine: event trees.

Every entity (port, connection) has at most one pending event of each kind, so the pending events of a kind are a
tournament over entities, a tree: each node holds the smallest :func:`capsim.engines.events.stamp` of its four children
and its entity, of equal stamps the leftmost one, which has the smallest number. Node 1 is the root, the children of
node `n` are `4n` to `4n + 3`, one cache line. So the leaves of a tree of `N`, a power of four, are nodes `N` to
`2N - 1`, and the numbers between the levels are unused. With two children a tree has twice as many levels, each of
which takes as many instructions as one of these (25): the earliest of four is found without a branch.
"""

from typing import Any

from capsim.engines.compiled.jit import inlined_kernel, kernel, part
from capsim.engines.compiled.layout import NODE
from capsim.engines.compiled.pointers import node_at
from capsim.engines.events import NEVER, NO_STAMP, TIE_BITS, stamp
from capsim.records import NONE

stamp = part(stamp)

NODE_BYTES = NODE.itemsize


@inlined_kernel
def set_stamp(tree: int, index: int, winner: int) -> None:
    """Set the stamp of leaf node `index` of a tree and replay its matches up to the root."""
    node_at(tree, index).stamp = winner
    offset = index * NODE_BYTES  # from here on in bytes: of a number LLVM would compute the place anew at each read
    while offset > NODE_BYTES:
        children, place = tree + (offset & -4 * NODE_BYTES), 0
        earliest = node_at(children, 0).stamp
        for other in range(1, 4):
            stamp_of_other = node_at(children, other).stamp
            if stamp_of_other < earliest:
                earliest, place = stamp_of_other, other * NODE_BYTES
        offset = (offset >> 2) & -NODE_BYTES
        node = node_at(tree + offset, 0)
        node.stamp, node.entity = earliest, node_at(children + place, 0).entity


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
        index >>= 2
        node = node_at(tree, index)
        if node.stamp < earlier or (node.stamp == earlier and node.entity < entity):
            return
        node.stamp = earlier
        node.entity = entity

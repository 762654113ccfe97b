"""Shared by balancers that measure from leaf to leaf: which switch a packet is at (trees of two tiers)."""

from typing import Any

from capsim.base.inlined import inlined

WITHIN_LEAF, FIRST_LEAF, BETWEEN, LAST_LEAF = range(4)
LEAF_FIELDS = (("asked", "i8"),)


@inlined
def at_last_switch(packet: Any, port: Any) -> bool:
    """Return whether the next node is the host that the packet is for."""
    return bool(port.to_node == packet.target)


@inlined
def within_leaf(own: Any) -> bool:
    """Return whether a packet comes from the leaf that it goes to: the memory of both is one record then."""
    own.towards.asked = 1
    same = own.back.asked == 1
    own.towards.asked = 0
    return bool(same)


@inlined
def stage(own: Any, switch: Any, packet: Any, port: Any) -> int:
    """Return where a packet is on its way: at its first leaf, at its last one, between, or never beyond its leaf."""
    if switch.tier > 0:
        return BETWEEN
    if not at_last_switch(packet, port):
        return FIRST_LEAF
    return WITHIN_LEAF if within_leaf(own) else LAST_LEAF

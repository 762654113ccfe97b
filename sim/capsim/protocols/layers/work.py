"""Which packets of CAPS take an end host work, where a scenario says how long that takes (``[hosts]``).

Whoever sends a packet computes it from the k source packets of its unit, unless it is one of these: the packets of a
systematic code at positions below k. The decoder computes with the same packets, until it has the whole unit; those
that come later are dropped without work. A packet is judged when it arrives, also if it then waits.
"""

from typing import Any

from capsim.hooks import inlined
from capsim.protocols.layers.decoder import sources_here
from capsim.protocols.layers.params import Acknowledged
from capsim.records import CODED, NONE


@inlined
def is_computed(params: Any, own: Any, packet: Any) -> bool:
    """Return whether a packet is not sent as the transport gave it to the layer."""
    if packet.kind != CODED:
        return False
    return not params.systematic or packet.position >= own.units[packet.unit].k


@inlined
def has_whole_unit(params: Any, sub: Any, ring: Any, unit: Any) -> bool:
    """Return whether the decoder needs no further packet of a unit."""
    if params.ack == Acknowledged.PACKET:
        return unit.arrived_packets == unit.k
    if unit.decoded_ps != NONE or unit.released:
        return True
    return params.systematic and unit.arrived_packets == 0 and sources_here(sub, ring, unit) == unit.k


def encodes(params: Any, own: Any, flow: Any, sub: Any, packet: Any) -> int:
    """Return 1 for a packet that the sender computes."""
    return 1 if is_computed(params, own, packet) else 0


def decodes(params: Any, own: Any, flow: Any, sub: Any, ring: Any, packet: Any) -> int:
    """Return 1 for a packet that the decoder computes with."""
    if not is_computed(params, own, packet) or has_whole_unit(params, sub, ring, own.units[packet.unit]):
        return 0
    return 1

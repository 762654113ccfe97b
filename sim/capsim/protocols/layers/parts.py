"""Which packet of a coding unit an arriving packet of CAPS is, for runs in which packets carry bytes.

A systematic code sends the source packets as they are, and position i of a unit is its packet i. Otherwise no source
packet is sent: position i is repair packet i, number k + i of the unit, and the retransmissions of TCP, which are not
coded, are source packets.
"""

from typing import Any

from capsim.protocols.layers.params import Acknowledged
from capsim.records import CODED, DATA, NONE
from capsim.roles import Part


def part(params: Any, coder: Any, units: Any, packet: Any) -> Part | None:
    """Return which packet of which unit `packet` is, None if it is in none."""
    if packet.kind == CODED:
        unit = units[packet.unit]
        shift = 0 if params.systematic else unit.k
        return _of_unit(packet.unit, unit, packet.position + shift)
    if packet.kind != DATA or params.ack != Acknowledged.DECODED:
        return None
    number = coder.first_unit
    while number != NONE:
        unit = units[number]
        if unit.first_segment <= packet.segment < unit.first_segment + unit.k:
            return _of_unit(number, unit, packet.segment - unit.first_segment)
        number = unit.next
    early = params.systematic
    return Part(unit=NONE, first_segment=packet.segment, k=0, n=0, packet_id=0) if early else None


def _of_unit(number: int, unit: Any, packet_id: int) -> Part:
    return Part(unit=number, first_segment=unit.first_segment, k=unit.k if unit.n else 0, n=unit.n, packet_id=packet_id)

"""Blocks of a stream that several subflows share, at both ends: which there are, and what one lacks."""

from typing import Any

from capsim.base.inlined import inlined
from capsim.protocols.layers.stream import has
from capsim.records import DATA, NONE
from capsim.roles.components import UnitPacket

BLOCK = (
    *(("sub", "i4"), ("k", "i4"), ("n", "i4"), ("packet_bytes", "i4")),
    *(("arrived_packets", "i4"), ("dependent_packets", "i4"), ("missing_packets", "i4"), ("next", "i4")),
    *(("first_segment", "i8"), ("sent_ps", "i8"), ("decoded_ps", "i8")),
)
BLOCK_COLUMNS = {
    "first_segment": "first of its data segments",
    "k": "data segments",
    "n": "data segments and coded packets sent for it",
    "arrived_packets": "coded packets at the receiver, without those that told it nothing new",
    "dependent_packets": "packets that told it nothing new; 0 where packets carry no payload",
    "sent_s": "when its first data segment was sent, in seconds",
    "decoded_s": "when coded packets supplied what was missing, in seconds; NaN = never",
}
BLOCKS = (
    *(("sending_unit", "i4", NONE), ("receiving_unit", "i4", NONE), ("last_unit", "i4", NONE)),
    ("doubtful_unit", "i4", NONE),  # of a data segment that has come and told the decoder nothing new
)


@inlined
def new_block(own: Any, sub: Any, counters: Any, first: int, k: int, now_ps: int) -> int:
    """Begin the block of k data segments from `first` on; return its number."""
    number, memory = counters.units, own.flow
    counters.units += 1
    unit = own.units[number]
    unit.sub = sub.id
    unit.k = k
    unit.n = k
    unit.packet_bytes = 0
    unit.arrived_packets = 0
    unit.dependent_packets = 0
    unit.missing_packets = 0
    unit.next = NONE
    unit.first_segment = first
    unit.sent_ps = now_ps
    unit.decoded_ps = NONE
    if memory.last_unit != NONE:
        own.units[memory.last_unit].next = number
    memory.last_unit = number
    if memory.sending_unit == NONE:
        memory.sending_unit = number
    if memory.receiving_unit == NONE:
        memory.receiving_unit = number
    return number


@inlined
def first_behind(own: Any, number: int, segment: int) -> int:
    """Return the first block from `number` on that ends behind a data segment, or NONE."""
    while number != NONE and own.units[number].first_segment + own.units[number].k <= segment:
        number = own.units[number].next
    return number


@inlined
def block_of(own: Any, flow: Any, segment: int) -> int:
    """Return the block of a data segment, NONE if it has none yet or is acknowledged with all of its block."""
    memory = own.flow
    memory.sending_unit = first_behind(own, memory.sending_unit, flow.data_acked)
    number = first_behind(own, memory.sending_unit, segment)
    return NONE if number == NONE or segment < own.units[number].first_segment else number


@inlined
def note_missing(memory: Any, unit: Any, number: int, missing: int) -> None:
    """Note how many data segments of a block are missing.

    If one that was missing came and told the decoder nothing new, the coded packets had said as much: one of them less
    counts for the others.
    """
    if number == memory.doubtful_unit and missing < unit.missing_packets:
        unit.arrived_packets -= 1
        unit.dependent_packets += 1
    unit.missing_packets = missing


@inlined
def supplied(own: Any, flow: Any, data: Any, now_ps: int) -> int:
    """Return the first data segment that coded packets of its block supply and the buffer has room for, or NONE."""
    memory = own.flow
    memory.receiving_unit = first_behind(own, memory.receiving_unit, flow.data_next)
    number = memory.receiving_unit
    while number != NONE:
        unit = own.units[number]
        missing, first = 0, NONE
        if unit.arrived_packets:
            for segment in range(unit.first_segment, unit.first_segment + unit.k):
                if not has(flow, data, segment):
                    missing += 1
                    first = segment if first == NONE else first
            note_missing(memory, unit, number, missing)
        if 0 < missing <= unit.arrived_packets and first < flow.data_next + flow.buffer_segments:
            unit.decoded_ps = now_ps
            return first
        number = unit.next
    return NONE


def unit_packet(params: Any, coder: Any, units: Any, packet: Any) -> UnitPacket | None:
    """Return which packet of which block `packet` is, None if it is in none."""
    if packet.unit == NONE:
        return None
    unit = units[packet.unit]
    packet_id = packet.data - unit.first_segment if packet.kind == DATA else unit.k + packet.position
    return UnitPacket(unit=packet.unit, first_segment=unit.first_segment, k=unit.k, n=unit.n, packet_id=packet_id)

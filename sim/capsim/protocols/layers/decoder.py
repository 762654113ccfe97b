"""The receiver with an ACK at decoding: what is held, when a unit decodes, what is delivered to TCP and when.

Coded packets are held until k of their unit have come. Then the k source packets are delivered to TCP together, units
in order, so that TCP sees no reordering. Later packets of the unit are dropped. A retransmission is delivered at once
and counts as one more packet of its unit. A unit that is still short of k packets then is *stalled*: TCP had to
retransmit.

Source packets of a systematic code need no decoding. With ``release = "in_order"`` one is delivered at once if it is
the next that TCP expects; one behind a gap is held until a source packet, the decoding of the unit or a retransmission
has filled the gap. With ``release = "decoded"`` each is delivered as it comes, also when it is reordered.
"""

from enum import IntEnum
from typing import Any

from capsim.base.inlined import inlined
from capsim.protocols.layers.marks import echo_mark
from capsim.records import CODED, DATA, HELD, NONE, RECEIVED, RETRANSMITTED


class Release(IntEnum):
    """When a decoded unit or a systematic source packet is delivered to TCP: after all that is earlier, or at once."""

    IN_ORDER = 0
    DECODED = 1


@inlined
def collect_and_hold(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Count a packet for its unit; keep it if it is coded or behind a gap, drop it if it is late, else let it pass."""
    coder = own.subflow
    if packet.kind == CODED:
        count_arrival(params, coder, sub, ring, own.units[packet.unit], packet.stale, now_ps)
        return 0
    if packet.kind != DATA:
        return 1
    is_source = params.systematic and is_coded_source(params, packet)
    if not is_missing(sub, ring, packet.segment):
        coder.late_packets += is_source
        return 0 if is_source else 1
    index = packet.segment & sub.ring_mask
    if not ring[index] & HELD:
        count_uncoded(params, own, sub, ring, packet, now_ps)
    if is_source and params.release == Release.IN_ORDER and packet.segment > sub.receive_next:
        ring[index] |= HELD
        return 0
    ring[index] &= ~HELD
    coder.release_sent_ps = packet.sent_ps
    coder.release_flags = packet.flags & RETRANSMITTED
    return 1


@inlined
def is_coded_source(params: Any, packet: Any) -> bool:
    """Return whether a packet of data is the first copy of one that belongs, or will belong, to a unit."""
    in_units = params.coded_packets == 0 or packet.segment < params.coded_packets
    return in_units and not packet.flags & RETRANSMITTED


@inlined
def is_missing(sub: Any, ring: Any, segment: int) -> bool:
    """Return whether TCP has not had this segment yet."""
    return segment >= sub.receive_next and not ring[segment & sub.ring_mask] & RECEIVED


@inlined
def count_uncoded(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> None:
    """Count an uncoded packet for the unit that its segment is in, if there is one yet."""
    resent = packet.flags & RETRANSMITTED
    coder = own.subflow
    number = coder.first_unit
    while number != NONE:
        unit = own.units[number]
        if unit.first_segment <= packet.segment < unit.first_segment + unit.k:
            undecoded = unit.decoded_ps == NONE and not unit.released
            if resent and undecoded and not unit.stalled:
                unit.stalled = 1
                coder.units_stalled += 1
            if undecoded or not resent:
                count_arrival(params, coder, sub, ring, unit, packet.stale, now_ps)
        number = unit.next


@inlined
def count_arrival(params: Any, coder: Any, sub: Any, ring: Any, unit: Any, stale: int, now_ps: int) -> None:
    """Count one packet of a unit; the k-th independent one decodes it."""
    if unit.decoded_ps != NONE or unit.released:
        coder.late_packets += 1
        return
    if params.systematic and unit.arrived_packets == 0:
        unit.arrived_packets = sources_here(sub, ring, unit)
    if stale:
        unit.dependent_packets += 1
        return
    unit.arrived_packets = min(unit.arrived_packets + 1, unit.k)
    if unit.arrived_packets == unit.k:
        unit.decoded_ps = now_ps
        coder.units_decoded += 1


@inlined
def sources_here(sub: Any, ring: Any, unit: Any) -> int:
    """Return how many source packets of a unit came before the sender closed it."""
    count = 0
    for segment in range(unit.first_segment, unit.first_segment + unit.k):
        held = ring[segment & sub.ring_mask] & HELD
        if held or not is_missing(sub, ring, segment):
            count += 1
    return count


@inlined
def remove_delivered(params: Any, coder: Any, unit: Any, now_ps: int) -> None:
    """Remove a unit whose source packets TCP has; if it had them before the unit was closed, it counts as decoded."""
    unit.released = 1
    if params.systematic and unit.arrived_packets == 0:
        unit.arrived_packets = unit.k
        unit.decoded_ps = now_ps
        coder.units_decoded += 1


@inlined
def next_unit(params: Any, own: Any, sub: Any, now_ps: int) -> int:
    """Return a decoded unit that may be delivered now, or NONE; remove units that TCP has without their decoding."""
    coder = own.subflow
    while coder.first_unit != NONE:
        unit = own.units[coder.first_unit]
        repaired = unit.decoded_ps == NONE and sub.receive_next >= unit.first_segment + unit.k
        if not unit.released and not repaired:
            break
        if repaired:
            remove_delivered(params, coder, unit, now_ps)
        coder.first_unit = unit.next
    number = coder.first_unit
    while number != NONE:
        unit = own.units[number]
        if unit.decoded_ps != NONE and not unit.released:
            return number
        number = unit.next if params.release == Release.DECODED else NONE
    return NONE


@inlined
def fill_source(coder: Any, sub: Any, ring: Any, packet: Any, segment: int) -> int:
    """Make `packet` a source packet that the decoder delivers."""
    ring[segment & sub.ring_mask] &= ~HELD
    packet.kind = DATA
    packet.flags = coder.release_flags
    packet.bytes = sub.mss_bytes
    packet.priority = sub.priority
    packet.segment = segment
    packet.ack = 0
    packet.unit = coder.release_unit
    packet.sent_ps = coder.release_sent_ps
    echo_mark(coder, packet)
    return 1


@inlined
def flags_of_release(params: Any, coder: Any, unit: Any, now_ps: int) -> int:
    """Return the flag that a unit is delivered with: that of a retransmission if it needed one or waited for one.

    Its acknowledgements then are no RTT samples (Karn). A unit that was decoded before waited for what is delivered
    just before it. As decoded, nothing waits, and what comes late is reordered, which a retransmission is not.
    """
    if params.release == Release.DECODED:
        return 0
    if unit.stalled:
        return RETRANSMITTED
    return 0 if unit.decoded_ps == now_ps else coder.release_flags


@inlined
def next_is_held(sub: Any, ring: Any) -> bool:
    """Return whether the decoder has the segment that TCP expects next, as it was sent."""
    more = sub.receive_next < sub.end
    return more and ring[sub.receive_next & sub.ring_mask] & HELD != 0


@inlined
def release_held(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Deliver the next source packet, of those held or of the decoded units, leaving out what TCP had uncoded."""
    coder = own.subflow
    while True:
        while coder.release_next < coder.release_end:
            segment = coder.release_next
            coder.release_next += 1
            if is_missing(sub, ring, segment):
                return fill_source(coder, sub, ring, packet, segment)
        if next_is_held(sub, ring):
            return fill_source(coder, sub, ring, packet, sub.receive_next)
        number = next_unit(params, own, sub, now_ps)
        if number == NONE:
            return 0
        unit = own.units[number]
        unit.released = 1
        coder.release_unit = number
        coder.release_sent_ps = unit.sent_ps
        coder.release_flags = flags_of_release(params, coder, unit, now_ps)
        coder.release_next = unit.first_segment
        coder.release_end = unit.first_segment + unit.k

"""The receiver with an ACK at decoding: what is held, when a unit decodes, what is delivered to TCP and when.

Coded packets are held until k of their unit have come. Then the k source packets are delivered to TCP together, units
in order, so that TCP sees no reordering. Later packets of the unit are dropped. A retransmission is delivered at once
and counts as one more packet of its unit. A unit that is still short of k packets then is *stalled*: TCP had to
retransmit.

Source packets of a systematic code need no decoding. With ``release = "in_order"`` one is delivered at once if it is
the next that TCP expects; one behind a gap is held until a source packet, the decoding of the unit or a retransmission
has filled the gap. With ``release = "decoded"`` each is delivered as it comes, also when it is reordered.

With ``request_s`` the first unit with a gap is waited for no longer than that after its last packet or one of a later
unit; one that its sender still fills, no longer than that after each packet. Then what is held of it is delivered, so
that the acknowledgements tell the sender what is missing; later packets go on as if the unit had no gap. What the
sender repeats of it counts for it as ever. A retransmission comes last: all that is held is delivered before it, since
a sender that judges by time (RACK) takes for lost what was sent before a packet that is acknowledged and is not itself.
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
    if params.request_ps and packet.flags & RETRANSMITTED and coder.held_packets:
        coder.repeated = packet.segment
        leave_to_transport(coder, sub, ring, coder.held_end)
        return 0
    if is_source and params.release == Release.IN_ORDER and packet.segment > first_gap(coder, sub, ring):
        hold_source(coder, ring, index, packet.segment)
        return 0
    let_source_go(coder, ring, index)
    coder.release_sent_ps = packet.sent_ps
    coder.release_flags = packet.flags & RETRANSMITTED
    return 1


@inlined
def first_gap(coder: Any, sub: Any, ring: Any) -> int:
    """Return the first segment that TCP has not had and that is still waited for."""
    coder.asked_end = max(coder.asked_end, sub.receive_next)
    while coder.asked_end < sub.end and ring[coder.asked_end & sub.ring_mask] & RECEIVED:
        coder.asked_end += 1
    return int(coder.asked_end)


@inlined
def hold_source(coder: Any, ring: Any, index: int, segment: int) -> None:
    """Keep a source packet that is behind a gap."""
    coder.held_packets += not ring[index] & HELD
    coder.held_end = max(coder.held_end, segment + 1)
    ring[index] |= HELD


@inlined
def let_source_go(coder: Any, ring: Any, index: int) -> None:
    """Note that TCP gets a segment."""
    coder.held_packets -= ring[index] & HELD != 0
    ring[index] &= ~HELD


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
        given_up = unit.first_segment + unit.k <= coder.asked_end
        number = unit.next if given_up or params.release == Release.DECODED else NONE
    return NONE


@inlined
def fill_source(coder: Any, sub: Any, ring: Any, packet: Any, segment: int) -> int:
    """Make `packet` a source packet that the decoder delivers."""
    let_source_go(coder, ring, segment & sub.ring_mask)
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
def next_is_held(coder: Any, sub: Any, ring: Any) -> bool:
    """Return whether the decoder has the segment that is waited for, as it was sent."""
    first = first_gap(coder, sub, ring)
    return first < sub.end and ring[first & sub.ring_mask] & HELD != 0


@inlined
def awaited_unit(own: Any, sub: Any, ring: Any) -> int:
    """Return the unit of the first gap, or NONE while the sender fills it."""
    coder = own.subflow
    first, number = first_gap(coder, sub, ring), coder.first_unit
    while number != NONE and own.units[number].first_segment + own.units[number].k <= first:
        number = own.units[number].next
    return int(number)


@inlined
def note_last(own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> None:
    """Note that the last packet of a unit has come, or one of a unit that its sender still fills."""
    if packet.kind == CODED:
        unit = own.units[packet.unit]
        unit.over |= packet.position == unit.n - 1
    elif packet.kind == DATA:
        awaited = awaited_unit(own, sub, ring)
        if awaited != NONE:
            unit = own.units[awaited]
            unit.over |= unit.n == unit.k and packet.segment == unit.first_segment + unit.k - 1
        else:
            own.subflow.awaited_unit, own.subflow.over_ps = NONE, now_ps


@inlined
def give_up(params: Any, own: Any, sub: Any, ring: Any, now_ps: int) -> bool:
    """Wait no longer for the first unit with a gap, if its time is over; else set the timer, if packets are held."""
    coder, awaited = own.subflow, awaited_unit(own, sub, ring)
    if awaited != coder.awaited_unit:
        coder.awaited_unit, coder.over_ps = awaited, NONE
    if awaited != NONE and coder.over_ps == NONE:
        unit = own.units[awaited]
        if unit.over or coder.held_end > unit.first_segment + unit.k:
            coder.over_ps = now_ps
    waits = coder.held_packets > 0 and coder.over_ps != NONE
    sub.receive_wake_ps = coder.over_ps + params.request_ps if waits else NONE
    if not waits or now_ps < sub.receive_wake_ps:
        return False
    coder.units_asked += awaited != NONE
    end = coder.held_end if awaited == NONE else own.units[awaited].first_segment + own.units[awaited].k
    leave_to_transport(coder, sub, ring, end)
    return True


@inlined
def leave_to_transport(coder: Any, sub: Any, ring: Any, end: int) -> None:
    """Deliver what is held below `end`, and wait for nothing else there."""
    coder.release_unit = NONE
    coder.release_flags = RETRANSMITTED
    coder.release_next = first_gap(coder, sub, ring)
    coder.release_end = end
    coder.asked_end = end
    coder.over_ps = NONE


@inlined
def release_held(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Deliver the next source packet, of those held or of the decoded units, leaving out what TCP had uncoded."""
    coder = own.subflow
    while True:
        while coder.release_next < coder.release_end:
            segment = coder.release_next
            coder.release_next += 1
            known = coder.release_unit != NONE or (ring[segment & sub.ring_mask] & HELD and segment != coder.repeated)
            if known and is_missing(sub, ring, segment):
                return fill_source(coder, sub, ring, packet, segment)
        if coder.repeated != NONE:
            segment = coder.repeated
            coder.repeated = NONE
            return fill_source(coder, sub, ring, packet, segment)
        if next_is_held(coder, sub, ring):
            return fill_source(coder, sub, ring, packet, first_gap(coder, sub, ring))
        number = next_unit(params, own, sub, now_ps)
        if number == NONE and params.request_ps and give_up(params, own, sub, ring, now_ps):
            continue
        if number == NONE:
            return 0
        unit = own.units[number]
        unit.released = 1
        coder.release_unit = number
        coder.release_sent_ps = unit.sent_ps
        coder.release_flags = flags_of_release(params, coder, unit, now_ps)
        coder.release_next = unit.first_segment
        coder.release_end = unit.first_segment + unit.k

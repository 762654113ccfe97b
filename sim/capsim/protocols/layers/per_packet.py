"""CAPS with an ACK for each packet that is new to its unit (``ack = "packet"``): sender and receiver.

**Receiver.** Each of the first k packets of a unit that arrive, whichever they are, is one more degree of freedom. It
is delivered to TCP as the unit's next source packet in order, and TCP acknowledges it at once: what is acknowledged is
*seen*, not decoded (Sundararajan et al. 2009). So within a unit TCP sees no reordering, and a unit that lacks m packets
lacks its last m segments. What comes after the k-th is dropped without an ACK (caps VI-A), unless TCP has retransmitted
it: then the sender does not know that the unit is complete, and a duplicate of the unit's first segment is delivered to
TCP so that it sends an ACK.

**Sender.** A systematic code sends each source packet at once and the r repair packets behind the last of the unit. The
segment that TCP retransmits is not the packet that was lost, since any new packet of the unit serves: so a
retransmission is a packet of the unit like every other, at a position of its own, and the sender keeps the source
packets of a unit until all of it is acknowledged. In the middle of a flow the next unit's packets cause the duplicate
ACKs that start the retransmission; when more than r packets of the last unit are lost, nothing comes behind them and
TCP waits for its timer.

Any k of a unit's packets decode it, as with an MDS code; :mod:`capsim.engines.payload` has packets with the bytes of a
code.
"""

from typing import Any

from capsim.base.inlined import inlined
from capsim.protocols.layers.blocking import repair_packets
from capsim.protocols.layers.units import close_unit, full_unit_packets, measured, name_packet, new_unit
from capsim.records import DATA, NONE, RETRANSMITTED
from capsim.roles.hooks import FOLLOW, PASS


@inlined
def join_unit(params: Any, own: Any, estimator: Any, sub: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Make a new source packet the next one of the unit that is being filled; the last one takes the repair packets."""
    coder = own.subflow
    blocked, acks = measured(params, estimator, now_ps)
    if coder.fill_unit == NONE:
        coder.fill_unit = new_unit(own, sub, counters, packet.segment, now_ps)
        coder.fill_packets = full_unit_packets(params, sub, estimator, blocked, acks)
    number = coder.fill_unit
    unit = own.units[number]
    unit.k += 1
    unit.packet_bytes = max(unit.packet_bytes, packet.bytes)
    coder.coded_packets += 1
    ends_here = packet.segment + 1 == params.coded_packets or (sub.final and packet.segment + 1 == sub.end)
    name_packet(unit, number, packet)
    if unit.k < coder.fill_packets and not ends_here:
        return PASS
    close_unit(params, coder, unit, coder.fill_packets, blocked, acks)
    coder.fill_unit = NONE
    return send_more(coder, unit, number, unit.n - unit.k)


@inlined
def send_more(coder: Any, unit: Any, number: int, packets: int) -> int:
    """Have `packets` packets of a unit sent right behind the one at hand."""
    if packets == 0:
        return PASS
    unit.left = packets
    coder.open_unit = number
    return FOLLOW


@inlined
def unit_of(own: Any, sub: Any, segment: int) -> int:
    """Return the unit of a segment that is not acknowledged, or NONE; remove the units that are."""
    coder = own.subflow
    while coder.first_unit != NONE:
        unit = own.units[coder.first_unit]
        if unit.n == 0 or sub.una < unit.first_segment + unit.k:
            break
        coder.first_unit = unit.next
    number = coder.first_unit
    while number != NONE:
        unit = own.units[number]
        if unit.first_segment <= segment < unit.first_segment + unit.k:
            return number
        number = unit.next
    return NONE


@inlined
def renew(params: Any, own: Any, estimator: Any, sub: Any, packet: Any, now_ps: int) -> int:
    """Make a retransmission a fresh packet of its unit; one that is in no unit goes as it is."""
    number = unit_of(own, sub, packet.segment)
    if number == NONE:
        return PASS
    unit = own.units[number]
    name_packet(unit, number, packet)
    packet.bytes = unit.packet_bytes
    if params.resend_copies == 0:
        return PASS
    blocked, acks = measured(params, estimator, now_ps)
    share = params.resend_copies * repair_packets(params, unit.k, blocked, acks)
    copies = int(share) + (share > int(share))
    own.subflow.repair_packets += copies
    return send_more(own.subflow, unit, number, copies)


@inlined
def collect_packet(own: Any, packet: Any, now_ps: int) -> int:
    """Make what is new to its unit the unit's next source packet; drop the rest, but for retransmissions."""
    coder, unit = own.subflow, own.units[packet.unit]
    resent = packet.flags & RETRANSMITTED
    packet.kind = DATA  # its segment is the first of the unit
    if unit.arrived_packets == unit.k:
        coder.late_packets += 1
        return 1 if resent else 0
    if resent and not unit.stalled:
        unit.stalled = 1
        coder.units_stalled += 1
    if packet.stale:
        unit.dependent_packets += 1
        return 1 if resent else 0
    packet.segment += unit.arrived_packets
    unit.arrived_packets += 1
    if unit.arrived_packets == unit.k and unit.n:
        unit.decoded_ps = now_ps
        coder.units_decoded += 1
    return 1

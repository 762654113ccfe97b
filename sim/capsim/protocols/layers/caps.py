"""CAPS at an end host, and which packets take it work, where a scenario says how long that takes (``[hosts]``).

Whoever sends a packet computes it from the k source packets of its unit, unless it is one of these: the packets of a
systematic code at positions below k. The decoder computes with the same packets, until it has the whole unit; those
that come later are dropped without work. A packet is judged when it arrives, also if it then waits.
"""

from typing import Any

from capsim.base.inlined import inlined
from capsim.protocols.layers.blocking import ESTIMATOR, note_rtt
from capsim.protocols.layers.decoder import collect_and_hold, note_last, release_held, sources_here
from capsim.protocols.layers.marks import capable, echo_mark, keep_mark
from capsim.protocols.layers.params import Acknowledged, CodingParams
from capsim.protocols.layers.per_packet import collect_packet, join_unit, renew
from capsim.protocols.layers.units import (
    CODER,
    COUNTS,
    UNIT,
    UNIT_COLUMNS,
    close_unit,
    full_unit_packets,
    measured,
    new_unit,
    next_packet,
)
from capsim.records import CODED, DATA, NONE, RETRANSMITTED
from capsim.roles.components import Layer, UnitPacket
from capsim.roles.hooks import DELIVER, DELIVER_ALONE, FOLLOW, KEEP, PASS, TAKE


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


def unit_packet(params: Any, coder: Any, units: Any, packet: Any) -> UnitPacket | None:
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
    return UnitPacket(unit=NONE, first_segment=packet.segment, k=0, n=0, packet_id=0) if early else None


def _of_unit(number: int, unit: Any, packet_id: int) -> UnitPacket:
    k = unit.k if unit.n else 0
    return UnitPacket(unit=number, first_segment=unit.first_segment, k=k, n=unit.n, packet_id=packet_id)


@inlined
def buffer_source(params: Any, coder: Any, sub: Any, packet: Any, now_ps: int) -> None:
    """Enter a new source packet into the encoding buffer."""
    if coder.unit_first >= coder.unit_next:
        coder.unit_first = packet.segment
        coder.unit_bytes = 0
        sub.send_wake_ps = now_ps + params.flush_ps if params.flush_ps else NONE
    coder.unit_next = packet.segment + 1
    coder.unit_bytes = max(coder.unit_bytes, packet.bytes)


@inlined
def nothing_to_wait_for(params: Any, coder: Any, sub: Any, now_ps: int) -> bool:
    """Return whether the unit is sent although it is not full."""
    no_more_data = coder.unit_next == params.coded_packets or (sub.final and coder.unit_next == sub.end)
    nothing_else_in_flight = sub.next_segment - sub.una <= coder.unit_next - coder.unit_first and not params.request_ps
    return no_more_data or nothing_else_in_flight or (sub.send_wake_ps != NONE and sub.send_wake_ps <= now_ps)


@inlined
def close_buffer(params: Any, own: Any, estimator: Any, sub: Any, counters: Any, now_ps: int) -> int:
    """Make a unit of what waits, if it is time; return 1 if so."""
    coder = own.subflow
    coder.unit_first = max(coder.unit_first, sub.una)  # what is acknowledged leaves the buffer
    waiting = coder.unit_next - coder.unit_first
    if waiting <= 0:
        sub.send_wake_ps = NONE
        return 0
    blocked, acks = measured(params, estimator, now_ps)
    full = full_unit_packets(params, sub, estimator, blocked, acks)
    if waiting < full and not nothing_to_wait_for(params, coder, sub, now_ps):
        return 0
    number = new_unit(own, sub, counters, coder.unit_first, now_ps)
    unit = own.units[number]
    unit.k = min(waiting, full)
    unit.packet_bytes = coder.unit_bytes
    close_unit(params, coder, unit, full, blocked, acks)
    if params.systematic and params.ack == Acknowledged.DECODED:
        unit.sent = unit.k
        coder.coded_packets += unit.k
    unit.left = unit.n - unit.sent
    coder.open_unit = number if unit.left else NONE
    coder.unit_first += unit.k
    if coder.unit_first >= coder.unit_next:
        sub.send_wake_ps = NONE
    return 1


def accept(params: Any, own: Any, flow: Any, sub: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Take a new source packet into its unit or into the buffer; with an ACK per packet, renew a retransmission."""
    return accept_source(params, own, own.subflow, sub, counters, packet, now_ps)


@inlined
def accept_source(params: Any, own: Any, estimator: Any, sub: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Do what `accept` does; `estimator` is of the subflow or of its host."""
    if packet.kind != DATA:
        return PASS
    if packet.flags & RETRANSMITTED:
        if params.ack == Acknowledged.DECODED:
            return PASS  # which packet is missing is known, and one packet makes no unit
        return renew(params, own, estimator, sub, packet, now_ps)
    if params.coded_packets and packet.segment >= params.coded_packets:
        return PASS
    own.subflow.unit_flags = capable(packet)
    if leaves_coded(params):
        return join_unit(params, own, estimator, sub, counters, packet, now_ps)
    buffer_source(params, own.subflow, sub, packet, now_ps)
    if not params.systematic:
        return KEEP
    return FOLLOW if params.request_ps and is_full(params, own.subflow, estimator, sub, now_ps) else PASS


@inlined
def is_full(params: Any, coder: Any, estimator: Any, sub: Any, now_ps: int) -> bool:
    """Return whether what has left makes a unit, whose repair packets follow before the next source packet."""
    blocked, acks = measured(params, estimator, now_ps)
    return coder.unit_next - coder.unit_first >= full_unit_packets(params, sub, estimator, blocked, acks)


@inlined
def leaves_coded(params: Any) -> bool:
    """Return whether source packets leave at once as packets of a unit, so that nothing waits in the buffer."""
    return params.systematic and params.ack == Acknowledged.PACKET


def emit(params: Any, own: Any, flow: Any, sub: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Fill in the next packet of the unit that is being sent, or of the one that the buffer makes."""
    return emit_next(params, own, own.subflow, sub, counters, packet, now_ps)


@inlined
def emit_next(params: Any, own: Any, estimator: Any, sub: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Do what `emit` does; `estimator` is of the subflow or of its host."""
    while own.subflow.open_unit == NONE:
        if leaves_coded(params) or not close_buffer(params, own, estimator, sub, counters, now_ps):
            return 0
    next_packet(own, sub, packet, now_ps)
    return 1


def collect(params: Any, own: Any, flow: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Take a packet at the receiver; with an ACK per packet, none that the layer holds is delivered behind it."""
    most = own.units[packet.unit].k if packet.kind == CODED else sub.ring_mask + 1
    if params.ack == Acknowledged.DECODED:
        if params.request_ps:
            note_last(own, sub, ring, packet, now_ps)
        delivered = collect_and_hold(params, own, sub, ring, packet, now_ps)
    else:
        delivered = packet.kind != CODED or collect_packet(own, packet, now_ps)
    if not delivered:
        keep_mark(own.subflow, packet, most)
        return TAKE
    echo_mark(own.subflow, packet)
    return DELIVER if params.ack == Acknowledged.DECODED else DELIVER_ALONE


def release(params: Any, own: Any, flow: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Deliver the next source packet of decoded units; with an ACK per packet none is held."""
    if params.ack == Acknowledged.PACKET:
        return 0
    return release_held(params, own, sub, ring, packet, now_ps)


def observe(params: Any, own: Any, flow: Any, sub: Any, packet: Any, now_ps: int) -> int:
    """Enter the RTT of an acknowledgement."""
    note_rtt(params, own.subflow, packet, now_ps)
    return 0


CAPS_LAYER = Layer(
    name="caps",
    accept=accept,
    emit=emit,
    collect=collect,
    release=release,
    observe=observe,
    encodes=encodes,
    decodes=decodes,
    params=CodingParams(),
    memory={"subflow": (*CODER, *ESTIMATOR), "unit": UNIT},
    columns={"subflow": COUNTS, "unit": UNIT_COLUMNS},
    send_timer=True,
    unit_packet=unit_packet,
)

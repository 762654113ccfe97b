"""Shared by transports whose receiver answers each packet by itself: an ACK, or a NACK to the header of a trimmed one.

============================ =========================================== ==========================================
Event                        What the sender notes                       Names
============================ =========================================== ==========================================
ACK                          its packet, and all below `packet.ack`,     ``sub.newly_acked_bytes``, signal ACKED
                             have come
NACK of the last copy        its packet is to be retransmitted           MISSING; ``sub.lost_flight_bytes``, what
                                                                         is lost by it, signals HEADER, LOST
no answer for an RTO         the same                                    MISSING; signal EXPIRED
============================ =========================================== ==========================================

The order in which packets come says nothing, so there are no duplicate ACKs. Each answer has the time at which its
packet left: so a NACK says of which copy it is, and every ACK is a measure of a round trip, ``sub.rtt_ps``. When a
packet leaves says the transport: when it hands the packet over, or, with the hook `on_sent`, when the NIC of its host
takes it, up to which the packet waits (`let_wait`) and has no timer.
"""

from typing import Any

from capsim.base.bounds import MAX_TIME_PS
from capsim.base.inlined import inlined
from capsim.protocols.transports.receiver import note_arrival
from capsim.protocols.transports.tcp import advance, echoed_mark, holds, payload_bytes, send_segment
from capsim.records import ACK, CONGESTION_EXPERIENCED, DATA, ECN_ECHO, MISSING, NONE, RETRANSMITTED, SACKED, TRIMMED
from capsim.roles.hooks import ACKED, CERTAIN, HEADER, LOST

SUBFLOW = (
    ("missing", "i8"),  # segments that are to be retransmitted
    ("missing_from", "i8"),  # none of them is below
)
SEGMENT = (("sent_ps", "i8"),)
PACKET = (("trimmed", "i8"),)

WAITS_PS = MAX_TIME_PS  # when a packet leaves that its NIC has not taken: after all times of a run


@inlined
def take_arrival(own: Any, sub: Any, ring: Any, packet: Any) -> None:
    """Enter a packet, or the header of one, at the receiver; its flags become those of the answer."""
    own.packet.trimmed = 1 if packet.flags & TRIMMED else 0
    if not own.packet.trimmed and packet.kind == DATA:
        note_arrival(sub, ring, packet)
    again = RETRANSMITTED if own.packet.trimmed else packet.flags & RETRANSMITTED  # a NACK is no duplicate
    packet.flags = again | (ECN_ECHO if packet.flags & CONGESTION_EXPERIENCED else 0)


@inlined
def turn_round(params: Any, sub: Any, packet: Any) -> int:
    """Turn a packet into its answer."""
    packet.kind = ACK
    packet.bytes = params.ack_bytes
    packet.ack = sub.receive_next
    return 1


@inlined
def has_place(params: Any, sub: Any, segment: int) -> bool:
    """Return whether the ring and the receive window have room for a new segment."""
    held = segment - sub.una
    needed_bytes = held * params.mss_bytes + payload_bytes(params, sub, segment)
    return held <= sub.ring_mask and needed_bytes <= sub.max_window_bytes


@inlined
def first_missing(memory: Any, sub: Any, ring: Any) -> int:
    """Return the first segment that is to be retransmitted."""
    segment = max(memory.missing_from, sub.una)
    while not holds(sub, ring, segment, MISSING):
        segment += 1
    return int(segment)


@inlined
def send_one(params: Any, own: Any, sub: Any, ring: Any, packet: Any, segment: int, now_ps: int) -> int:
    """Send a segment: a new one, or one that is missing, which it then is no more."""
    memory, place = own.subflow, segment & sub.ring_mask
    if segment < sub.high:
        ring[place] &= ~MISSING
        memory.missing -= 1
        memory.missing_from = segment + 1
    else:
        sub.next_segment = segment + 1
    sub.flight_bytes += payload_bytes(params, sub, segment)
    own.segments[place].sent_ps = now_ps
    return send_segment(params, sub, packet, segment, now_ps)


@inlined
def let_wait(own: Any, sub: Any, segment: int) -> None:
    """Note that a segment that was handed over waits for the NIC of its host."""
    own.segments[segment & sub.ring_mask].sent_ps = WAITS_PS


def on_sent(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Note when the NIC takes a packet: then its round trip and its timer begin."""
    packet.sent_ps = now_ps
    if packet.kind == DATA and sub.una <= packet.segment < sub.high:
        own.segments[packet.segment & sub.ring_mask].sent_ps = now_ps
    return 0


@inlined
def lose(params: Any, memory: Any, sub: Any, ring: Any, segment: int) -> None:
    """Note that a segment is to be retransmitted."""
    ring[segment & sub.ring_mask] |= MISSING
    memory.missing_from = min(memory.missing_from, segment) if memory.missing else segment
    memory.missing += 1
    lost_bytes = payload_bytes(params, sub, segment)
    sub.flight_bytes -= lost_bytes
    sub.lost_flight_bytes += lost_bytes


@inlined
def find(params: Any, memory: Any, sub: Any, ring: Any, segment: int) -> None:
    """Note that a segment has come, unless that is known."""
    place = segment & sub.ring_mask
    if ring[place] & SACKED:
        return
    payload = payload_bytes(params, sub, segment)
    if ring[place] & MISSING:
        memory.missing -= 1
    else:
        sub.flight_bytes -= payload
    ring[place] = (ring[place] & ~MISSING) | SACKED
    sub.newly_acked_bytes += payload


@inlined
def last_copy(own: Any, sub: Any, packet: Any) -> bool:
    """Return whether an answer is to the copy of its segment that was sent last."""
    return bool(own.segments[packet.segment & sub.ring_mask].sent_ps == packet.sent_ps)


@inlined
def take_answer(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Take an ACK or a NACK; return the signals."""
    memory, segment = own.subflow, packet.segment
    signals = echoed_mark(packet) | (HEADER if own.packet.trimmed else 0)
    sub.newly_acked_bytes, sub.lost_flight_bytes = 0, 0
    if segment != NONE:
        sub.rtt_ps = now_ps - packet.sent_ps
    if packet.ack > sub.una:
        for passed in range(sub.una, packet.ack):
            find(params, memory, sub, ring, passed)
        newly_bytes = sub.newly_acked_bytes
        advance(params, sub, ring, packet.ack)
        sub.newly_acked_bytes = newly_bytes
    if sub.una <= segment < sub.high:
        if not own.packet.trimmed:
            find(params, memory, sub, ring, segment)
        elif not holds(sub, ring, segment, SACKED | MISSING) and last_copy(own, sub, packet):
            lose(params, memory, sub, ring, segment)
            signals |= LOST | CERTAIN
    return signals | (ACKED if sub.newly_acked_bytes else 0)


@inlined
def lose_late(params: Any, own: Any, sub: Any, ring: Any, now_ps: int) -> int:
    """Lose what has had no answer for an RTO, and set the timer for the next; return how many packets that is.

    What has not left by now has its answer an RTO from now at the earliest.
    """
    late = 0
    sub.timer_ps, sub.lost_flight_bytes = NONE, 0
    for segment in range(sub.una, sub.high):
        if not holds(sub, ring, segment, SACKED | MISSING):
            due_ps = min(own.segments[segment & sub.ring_mask].sent_ps, now_ps) + sub.rto_ps
            if due_ps <= now_ps:
                lose(params, own.subflow, sub, ring, segment)
                late += 1
            else:
                set_earlier(sub, due_ps)
    return late


@inlined
def set_earlier(sub: Any, due_ps: int) -> None:
    """Let the timer fire at a time, if it does not before."""
    sub.timer_ps = due_ps if sub.timer_ps == NONE else min(sub.timer_ps, due_ps)

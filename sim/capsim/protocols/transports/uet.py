"""A transport like that of Ultra Ethernet (UET 1.0, 2025), as its public simulator has it: ACK and NACK by packet.

============================ =========================================================== ==========================
Event                        What follows                                                Source
============================ =========================================================== ==========================
start                        a window at once, no handshake                              htsim, ``uec.cpp``
window has room              one packet: the first that is missing, else a new one       ``sendIfPermitted``
a packet comes               an ACK at once, in whatever order it comes; it is final     ``processData``
only its header comes        a NACK: the packet is missing, and room in the window       ``processNack``
no answer for an RTO         the same; the RTO is constant and does not double           ``rtxTimerExpired``
many come behind one that    with `late_windows`: what is missing of the window that     ``runSleek``
has not                      was sent by then is lost, once
============================ =========================================================== ==========================

How large the window is says the congestion control, NSCC (:mod:`~capsim.protocols.congestion.nscc`); windows are bytes
of payload. It is told of delays, marks and NACKs, and each packet of its own; losses that follow from the order of
arrivals it is not told of.

With `ack_every` an ACK answers several packets. It has the numbers of those that came out of order, up to 62 below the
packet that caused it, and that packet's mark, entropy and time. At once are answered the first packet, one with a mark,
one that has come before, and one that asks for it: the last, a retransmission, and one behind which the window is
full. After such a packet there is one more ACK at once when nothing is missing any more (``processData``).

A packet counts as sent when the NIC of its host takes it: its round trip and its timer begin then, as in that
simulator, which makes a packet when its NIC grants a turn (``UecNIC``, ``UecSrc::timeToSend``). UET is a protocol that
the NIC itself runs, so that nothing of it waits above the NIC.

Not covered, of what that simulator has: the entropy, and which packet it is, are chosen when the window has room and
not when the NIC is free; credits of receivers; and the probes of SLEEK.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.protocols.transports.answered import (
    PACKET,
    SEGMENT,
    SUBFLOW,
    find,
    first_missing,
    has_place,
    let_wait,
    lose,
    lose_late,
    on_sent,
    send_one,
    take_answer,
    take_arrival,
    turn_round,
)
from capsim.protocols.transports.tcp import holds, payload_bytes
from capsim.records import CONGESTION_EXPERIENCED, ESTABLISHED, MISSING, RECEIVED, SACKED
from capsim.roles.components import SegmentParams, Transport
from capsim.roles.hooks import ACKED, EXPIRED

REPORTED = 63  # packets of which one ACK tells
LEAST_LATE = 5  # packets


@dataclass(frozen=True, kw_only=True)
class UetParams(SegmentParams):
    """Parameters of the transport.

    Parameters
    ----------
    ack_bytes : int
        Size of an ACK and of a NACK, in bytes (htsim: 64).
    initial_window_packets : int
        The window at first, where the congestion control does not set it: the bandwidth-delay product of a leaf-spine
        with links of 1 Gbit/s and 12.5 us.
    min_rto_s : float
        The timer, constant, in seconds. htsim: 15 us and the time of six full queues; by default those of 12 packets at
        1 Gbit/s.
    ecn : bool
        Whether data packets are ECN-capable.
    ack_every : int
        Packets for which one ACK is sent: 1 for each; htsim: 16 KB, four packets of 4150 bytes.
    late_windows : float
        A packet is lost when so many windows of packets, 5 packets at least and the largest window at most, have come
        out of order behind it (htsim's ``-sleek``: 1.5); 0: NACKs and the timer alone say so.
    mss_bytes, header_bytes, max_window_bytes : int
        As in :class:`~capsim.roles.components.SegmentParams`.
    """

    ack_bytes: Annotated[int, bounds.PACKET_BYTES] = 64
    initial_window_packets: Annotated[int, bounds.WINDOW_PACKETS] = 12
    min_rto_s: Annotated[float, bounds.RTO_S] = 879e-6
    ecn: bool = True
    ack_every: Annotated[int, bounds.WINDOW_PACKETS] = 1
    late_windows: Annotated[float, bounds.FACTOR] = 0.0


def open_(params: Any, own: Any, flow: Any, sub: Any, now_ps: int) -> int:
    """Open a subflow, which may send a window."""
    sub.state = ESTABLISHED
    sub.max_window_bytes = max(params.max_window_bytes, params.mss_bytes)
    sub.cwnd_bytes = params.initial_window_packets * params.mss_bytes
    sub.ssthresh_bytes = sub.max_window_bytes
    sub.rto_ps = params.min_rto_ps
    return 0


def send(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Send what is missing, then what is new, while the window has room."""
    memory, segment = own.subflow, sub.high
    if sub.state != ESTABLISHED:
        return 0
    if memory.missing:
        segment = first_missing(memory, sub, ring)
    elif not has_place(params, sub, segment):
        return 0
    if sub.flight_bytes + payload_bytes(params, sub, segment) > max(sub.cwnd_bytes, params.mss_bytes):
        return 0
    if segment >= sub.end:
        sub.ready = not sub.final
        return 0
    again, payload = segment < sub.high, payload_bytes(params, sub, segment)
    full = sub.flight_bytes + 2 * payload > sub.cwnd_bytes
    own.packet.asks = 1 if again or full or segment + 1 == sub.end else 0
    sent = send_one(params, own, sub, ring, packet, segment, now_ps)
    let_wait(own, sub, segment)
    return sent


@inlined
def puts_off(params: Any, memory: Any, sub: Any, packet: Any, marked: int, is_new: bool, asks: int) -> bool:
    """Count a packet as not answered; return whether that stays so."""
    memory.asked = 1 if asks or memory.asked else 0
    memory.unanswered += 1
    at_once = marked or asks or not is_new or not memory.heard or memory.unanswered >= params.ack_every
    memory.heard = 1
    if memory.asked and sub.receive_next > sub.highest_received:
        memory.asked = 0
        return False
    return not at_once


@inlined
def report(own: Any, sub: Any, ring: Any, packet: Any) -> None:
    """Write into an ACK which packets have come out of order, up to the one that it answers."""
    first = max(packet.segment - REPORTED + 1, sub.receive_next)
    own.packet.first, own.packet.come = first, 0
    for segment in range(first, packet.segment + 1):
        if holds(sub, ring, segment, RECEIVED):
            own.packet.come |= 1 << (segment - first)


def on_data(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Answer a packet, or the header of one, now or with a later one."""
    marked, duplicates, asks = packet.flags & CONGESTION_EXPERIENCED, sub.duplicate_packets, own.packet.asks
    take_arrival(own, sub, ring, packet)
    if params.ack_every > 1 and not own.packet.trimmed:
        is_new = sub.duplicate_packets == duplicates
        if puts_off(params, own.subflow, sub, packet, marked, is_new, asks):
            return 0
        own.subflow.unanswered = 0
        report(own, sub, ring, packet)
    return turn_round(params, sub, packet)


@inlined
def find_reported(params: Any, own: Any, sub: Any, ring: Any) -> None:
    """Note what an ACK for several packets says has come."""
    first, come = own.packet.first, own.packet.come
    for segment in range(max(first, sub.una), min(first + REPORTED, sub.high)):
        if come >> (segment - first) & 1:
            find(params, own.subflow, sub, ring, segment)


@inlined
def ahead_packets(params: Any, memory: Any, sub: Any) -> int:
    """Return how many packets are known to have come out of order: neither missing nor in flight."""
    return int(sub.high - sub.una - memory.missing - -(-sub.flight_bytes // params.mss_bytes))


@inlined
def lose_overtaken(params: Any, own: Any, sub: Any, ring: Any, now_ps: int) -> None:
    """Lose, of the window from the first missing packet on, what had been sent when so many were ahead of that.

    What is retransmitted and waits for its NIC is not lost again.
    """
    memory, window = own.subflow, sub.cwnd_bytes // params.mss_bytes
    memory.most_packets = max(memory.most_packets, window)
    if sub.una >= memory.recover:
        late = min(int(params.late_windows * float(sub.cwnd_bytes)) // params.mss_bytes, memory.most_packets)
        if memory.missing or ahead_packets(params, memory, sub) < max(late, LEAST_LATE):
            return
        memory.recover = sub.high
    end = min(memory.recover, sub.una + max(window, 1))
    for segment in range(max(memory.looked, sub.una), end):
        has_left = own.segments[segment & sub.ring_mask].sent_ps <= now_ps
        if has_left and not holds(sub, ring, segment, SACKED | MISSING):
            lose(params, memory, sub, ring, segment)
    memory.looked = max(memory.looked, end)


def on_ack(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Take an ACK or a NACK."""
    signals = take_answer(params, own, sub, ring, packet, now_ps)
    if own.packet.trimmed:
        return signals
    if params.ack_every > 1:
        find_reported(params, own, sub, ring)
        signals |= ACKED if sub.newly_acked_bytes else 0
    if params.late_windows > 0.0:
        lose_overtaken(params, own, sub, ring, now_ps)
    return signals


def on_timeout(params: Any, own: Any, sub: Any, ring: Any, now_ps: int) -> int:
    """Take what got no answer for lost."""
    late = lose_late(params, own, sub, ring, now_ps)
    sub.timeouts += 1 if late else 0
    return EXPIRED if late else 0


UET = Transport(
    name="uet",
    open=open_,
    send=send,
    on_data=on_data,
    on_ack=on_ack,
    on_timeout=on_timeout,
    on_sent=on_sent,
    params=UetParams(),
    memory={
        "subflow": (
            *SUBFLOW,
            ("unanswered", "i8"),  # packets that have come since the last ACK
            ("asked", "i8"),  # 1: an answer is asked for when no packet is missing
            ("heard", "i8"),  # 1: a packet has come
            ("most_packets", "i8"),  # the largest window so far
            ("recover", "i8"),  # what is below may be lost by the order of arrivals
            ("looked", "i8"),  # what is below has been looked at for that
        ),
        "segment": SEGMENT,
        "packet": (*PACKET, ("asks", "i8"), ("first", "i8"), ("come", "i8")),
    },
    reads_headers=True,
)

"""A transport like that of Ultra Ethernet (UET 1.0, 2025), as its public simulator has it: ACK and NACK by packet.

============================ =========================================================== ==========================
Event                        What follows                                                Source
============================ =========================================================== ==========================
start                        a window at once, no handshake                              htsim, ``uec.cpp``
window has room              one packet: the first that is missing, else a new one       ``sendIfPermitted``
a packet comes               an ACK at once, in whatever order it comes; it is final     ``processData``
only its header comes        a NACK: the packet is missing, and room in the window       ``processNack``
no answer for an RTO         the same; the RTO is constant and does not double           ``rtxTimerExpired``
============================ =========================================================== ==========================

How large the window is says the congestion control, NSCC (:mod:`~capsim.protocols.congestion.nscc`); windows are bytes
of payload. It is told of delays, marks and NACKs, and each packet of its own.

Not covered, of what that simulator has: ACKs for several packets (its default is one for 16 KB), packets that wait for
the NIC of their host in turn and count as sent when they leave it, credits of receivers, and losses found without
trimming and timer (SLEEK).
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.protocols.transports.answered import (
    PACKET,
    SEGMENT,
    SUBFLOW,
    first_missing,
    has_place,
    lose_late,
    send_one,
    take_answer,
    take_arrival,
    turn_round,
)
from capsim.protocols.transports.tcp import payload_bytes
from capsim.records import ESTABLISHED
from capsim.roles.components import SegmentParams, Transport
from capsim.roles.hooks import EXPIRED


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
    mss_bytes, header_bytes, max_window_bytes : int
        As in :class:`~capsim.roles.components.SegmentParams`.
    """

    ack_bytes: Annotated[int, bounds.PACKET_BYTES] = 64
    initial_window_packets: Annotated[int, bounds.WINDOW_PACKETS] = 12
    min_rto_s: Annotated[float, bounds.RTO_S] = 879e-6
    ecn: bool = True


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
    return send_one(params, own, sub, ring, packet, segment, now_ps)


def on_data(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Answer a packet, or the header of one."""
    take_arrival(own, sub, ring, packet)
    return turn_round(params, sub, packet)


def on_ack(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Take an ACK or a NACK."""
    return take_answer(params, own, sub, ring, packet, now_ps)


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
    params=UetParams(),
    memory={"subflow": SUBFLOW, "segment": SEGMENT, "packet": PACKET},
    reads_headers=True,
)

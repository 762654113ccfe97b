"""pFabric's minimal transport (Alizadeh et al. 2013, section 4.2): full rate at once, a constant timer, nothing else.

============================ ============================================== ============================================
Event                        What follows                                   Source
============================ ============================================== ============================================
start                        a window of a bandwidth-delay product          section 4.2
each data packet             its priority is what remains of the flow       section 4.1, ns-2 (SACKed bytes left out)
duplicate ACK                nothing but its SACK blocks: no retransmission section 4.2; ns-2: threshold 1,000,000
timeout                      go back, but not to what is SACKed             section 4.2
timeouts in a row            probes of 1 byte until an ACK comes            section 4.2, 5 timeouts
============================ ============================================== ============================================

Acknowledgements have the highest priority. The window answers as Tahoe's: half of it is the new threshold, and slow
start begins at one segment (section 4.2; ns-2, ``slowdown``). The receiver is that of
:mod:`~capsim.protocols.transports.sack`. A probe carries one byte of the first unacknowledged segment, of which the
receiver makes no use; it says by its acknowledgement that the path is open.

The timer begins when a segment is handed to the NIC, as in ns-2, whose agent sets it when it gives a packet to the
node (``TcpAgent::output``). The paper speaks of no other time. The NIC sends what has least left first and drops the
rest, as each port does, so that a long wait there is meant to end by a timeout.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.protocols.transports.sack import SACK, SackParams, take_blocks
from capsim.protocols.transports.sack_blocks import on_data as note_and_reply
from capsim.protocols.transports.sack_blocks import reply_with_blocks
from capsim.protocols.transports.tcp import (
    advance,
    expire_syn,
    holds,
    open_by_reply,
    open_subflow,
    payload_bytes,
    send_opening,
    send_segment,
    start_timer,
)
from capsim.records import ACK, DATA, ESTABLISHED, NONE, RETRANSMITTED, SACKED, SYN_SENT
from capsim.roles.hooks import ACKED, DUPLICATE, EXPIRED, GROW

WORST = 2**31 - 1  # PACKET.priority has 32 bits; flows of more than 2 GB are equal until they have less


@dataclass(frozen=True, kw_only=True)
class PfabricParams(SackParams):
    """Parameters of pFabric's hosts.

    Those of TCP that are not named here mean nothing to it: it has no estimate of the round trip and no recovery but by
    the timer.

    Parameters
    ----------
    rto_s : float
        The retransmission timer, constant, in seconds: about three round trips of the idle fabric (the paper: 45 us at
        10 Gbit/s). The default is that of a leaf-spine with links of 1 Gbit/s and 12.5 us.
    initial_window_packets : int
        The bandwidth-delay product in segments (the paper: 12; as many at 1 Gbit/s and 150 us).
    most_window_packets : int
        The window grows to no more segments (ns-2: the initial window).
    probe_after_timeouts : int
        Timeouts in a row after which only probes are sent (the paper: 5); 0 for never.
    count_all_sacked : bool
        Whether SACKed segments above the next one to be sent widen the window too. After a timeout, a window of one
        segment then lets several go at once, as in the simulator YAPS. The paper does not say; without it what has been
        sent since and not SACKed is what is in the network, as Pipe of RFC 6675.
    """

    unread: ClassVar = frozenset(  # all that follows round trips, or answers to duplicates
        {"min_rto_s", "granularity_s", "keep_backoff", "initial_rto_s", "initial_rtt_s"}
        | {"dup_ack_threshold", "limited_transmit", "full_ack_option", "grow_at_full_ack", "ssthresh_from"}
        | {"rescue", "resend_at_partial_ack", "reduction"}
    )

    rto_s: Annotated[float, bounds.RTO_S] = 450e-6
    initial_window_packets: Annotated[int, bounds.WINDOW_PACKETS] = 12
    most_window_packets: Annotated[int, bounds.WINDOW_PACKETS] = 12
    probe_after_timeouts: Annotated[int, bounds.QUEUE_PACKETS] = 5
    count_all_sacked: bool = False


def open_(params: Any, own: Any, flow: Any, sub: Any, now_ps: int) -> int:
    """Open a subflow at full rate."""
    open_subflow(params, sub, now_ps)
    sub.max_window_bytes = params.most_window_packets * params.mss_bytes
    sub.rto_ps = params.rto_ps
    return 0


@inlined
def sacked_below(own: Any, sub: Any, ring: Any, end: int) -> int:
    """Return how many segments from the first unacknowledged one to `end` are SACKed."""
    count = 0
    for segment in range(sub.una, min(end, own.subflow.high_sacked + 1)):
        count += holds(sub, ring, segment, SACKED)
    return count


@inlined
def remaining_bytes(params: Any, own: Any, sub: Any, ring: Any) -> int:
    """Return what the receiver has not acknowledged, sent or not."""
    left = (sub.end - sub.una - sacked_below(own, sub, ring, sub.high)) * params.mss_bytes
    short = sub.short_segment
    if short >= sub.una and not (short < sub.high and holds(sub, ring, short, SACKED)):
        left += sub.short_bytes - params.mss_bytes
    return left


def send(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Send the next segment that the receiver does not hold, if the window allows it, or a probe if one is due."""
    if sub.state != ESTABLISHED:
        return send_opening(params, sub, packet, now_ps)
    segment = sub.una
    if not own.subflow.probing:
        segment = next_in_window(params, own, sub, ring)
        if segment == NONE:
            return 0
        sub.next_segment = segment + 1
    elif not sub.resend:
        return 0
    sub.resend = 0
    send_segment(params, sub, packet, segment, now_ps)
    if own.subflow.probing:
        packet.bytes = params.header_bytes + 1
    own.packet.probe = own.subflow.probing
    packet.priority = min(remaining_bytes(params, own, sub, ring), WORST)
    return 1


@inlined
def next_in_window(params: Any, own: Any, sub: Any, ring: Any) -> int:
    """Return the next segment that may be sent, or NONE; what is SACKed is not in the network."""
    while sub.next_segment < sub.high and holds(sub, ring, sub.next_segment, SACKED):
        sub.next_segment += 1
    segment = sub.next_segment
    held = segment - sub.una
    payload = payload_bytes(params, sub, segment)
    if held > sub.ring_mask or held * params.mss_bytes + payload > params.max_window_bytes:
        return NONE
    sacked = sacked_below(own, sub, ring, sub.high if params.count_all_sacked else segment)
    if (held - sacked) * params.mss_bytes + payload > sub.cwnd_bytes:
        return NONE
    if segment >= sub.end:
        sub.ready = not sub.final
        return NONE
    return segment


def on_data(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Acknowledge each packet at once, with the highest priority; a probe brings nothing."""
    packet.priority = 0
    if packet.kind == DATA and own.packet.probe:
        return reply_with_blocks(params, own, sub, packet)
    return note_and_reply(params, own, sub, ring, packet, now_ps)


def on_ack(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Take new data and SACK blocks; leave probing."""
    if sub.state != ESTABLISHED or packet.kind != ACK:
        signals = open_by_reply(params, sub, packet, now_ps)
        sub.rto_ps = params.rto_ps
        return signals
    own.subflow.timeouts_in_row = 0
    if own.subflow.probing:
        own.subflow.probing = 0
        sub.timer_ps = NONE  # it begins with the next segment
    take_blocks(params, own, sub, ring)
    if packet.ack > sub.una:
        if not packet.flags & RETRANSMITTED:
            sub.rtt_ps = now_ps - packet.sent_ps
        advance(params, sub, ring, packet.ack)
        sub.timer_ps = NONE
        if sub.una < sub.next_segment:
            start_timer(sub, now_ps)
        return ACKED | GROW
    if packet.ack < sub.una or sub.una == sub.high:
        return 0
    sub.dup_acks_received += 1
    return DUPLICATE


def on_timeout(params: Any, own: Any, sub: Any, ring: Any, now_ps: int) -> int:
    """Go back to the first unacknowledged segment; after too many timeouts in a row, probe."""
    if sub.state == SYN_SENT:
        expire_syn(params, sub, now_ps)
        sub.rto_ps = params.rto_ps
        return 0
    sub.timeouts += 1
    own.subflow.timeouts_in_row += 1
    if own.subflow.timeouts_in_row == params.probe_after_timeouts:
        own.subflow.probing = 1
    sub.resend = own.subflow.probing
    sub.next_segment = sub.una
    start_timer(sub, now_ps)
    return EXPIRED


MEMORY = {
    "subflow": (*SACK.memory["subflow"], ("timeouts_in_row", "i8"), ("probing", "i8")),
    "packet": (*SACK.memory["packet"], ("probe", "i8")),
}
SENDER = replace(SACK, name="pfabric", open=open_, send=send, on_ack=on_ack, on_timeout=on_timeout)
PFABRIC = replace(SENDER, on_data=on_data, params=PfabricParams(), memory=MEMORY)

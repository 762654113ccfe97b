"""Shared by the TCP variants: parameters, segments, round-trip times, timers.

Windows are bytes, sequence numbers are segments of one MSS; the last segment of a flow may be shorter.

====================== ======== ======================= =======================
Quantity               Symbol   Name                    Source
====================== ======== ======================= =======================
newest round trip      R'       ``sub.rtt_ps``          RFC 6298, section 2
smoothed round trip    SRTT     ``sub.srtt_ps``         RFC 6298, section 2
its mean deviation     RTTVAR   ``sub.rttvar_ps``       RFC 6298, section 2
retransmission timeout RTO      ``sub.rto_ps``          RFC 6298, sections 2, 5
congestion window      cwnd     ``sub.cwnd_bytes``      RFC 5681, section 3.1
slow-start threshold   ssthresh ``sub.ssthresh_bytes``  RFC 5681, section 3.1
====================== ======== ======================= =======================

A segment counts as sent, and its timer and round trip begin, when the sender hands it to its NIC: RFC 6298 speaks of
the sending of a segment by TCP, ns-3 (``TcpSocketBase::SendDataPacket``) and Linux (``__tcp_transmit_skb``) stamp it
there. So a wait at the own NIC is a part of SRTT, and the RTO follows it.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.records import (
    CLOSED,
    DATA,
    ECN_CAPABLE,
    ECN_ECHO,
    ESTABLISHED,
    HANDSHAKE_ACK,
    MISSING,
    NONE,
    RESENT,
    RETRANSMITTED,
    SACKED,
    SYN,
    SYN_ACK,
    SYN_ANSWERED,
    SYN_SENT,
)
from capsim.roles.components import SegmentParams
from capsim.roles.hooks import MARKED, OPENED
from capsmodel.checks import require

FIRST_RTO_PS = 10**12  # RFC 6298, 2.1: 1 second
RTO_AFTER_LOST_SYN_PS = 3 * 10**12  # RFC 6298, 5.7
LIMITED_PACKETS = 2  # RFC 3042, section 2


class SsthreshFrom(IntEnum):
    """What is halved after a loss: FlightSize (RFC 5681, eq. 4), or what is thought to be in the network (ns-3)."""

    FLIGHT = 0
    PIPE = 1


@dataclass(frozen=True, kw_only=True)
class TcpParams(SegmentParams):
    """Parameters of TCP.

    Parameters
    ----------
    ack_bytes : int
        Size of an acknowledgement, in bytes.
    syn_bytes : int
        Size of a SYN or SYN-ACK, in bytes.
    initial_window_packets : int
        Initial cwnd in segments: 10, as Linux; RFC 6928 allows min(10 MSS, max(2 MSS, 14,600 bytes)).
    initial_ssthresh_bytes : int
        Slow start ends at this window, in bytes: arbitrarily high at first (RFC 5681, section 3.1).
    mss_bytes, header_bytes : int
        As in :class:`~capsim.roles.components.SegmentParams`.
    max_window_bytes : int
        The receive window, which neither the window nor the data in flight exceed, in bytes.
    min_rto_s : float
        The least RTO, in seconds; 200 ms in Linux, 1 s in RFC 6298.
    max_rto_s : float
        The largest RTO, in seconds, at least 60 s in RFC 6298.
    granularity_s : float
        G of RFC 6298, the step of the clock, in seconds: the least that is added to the mean RTT.
    initial_rto_s : float
        RTO before the first sample, in seconds. 0: 1 s with a handshake (RFC 6298, 2.1); without one `min_rto_s`, since
        such a connection was opened earlier and has measured its round trip.
    initial_rtt_s : float
        RTT sample of a connection that was opened earlier (RFC 6298, 2.2), in seconds; 0 for none.
    keep_backoff : bool
        Whether a doubled RTO stays until a valid sample (RFC 6298, section 5) or only until new data are
        acknowledged, as in ns-3, and in Linux, whose time stamps make every acknowledgement of new data a sample.
    dup_ack_threshold : int
        Duplicate acknowledgements that start a fast retransmit (RFC 5681, section 3.2).
    limited_transmit : bool
        RFC 3042: a new segment for each of the first two duplicate acknowledgements.
    full_ack_option : int
        Window after recovery: 1 for min(ssthresh, max(FlightSize, MSS) + MSS), 2 for ssthresh, which may send a burst
        (RFC 6582, section 3.2 step 3; ns-3 and Linux: 2).
    grow_at_full_ack : bool
        Whether the acknowledgement that ends recovery then opens the window too, as in ns-3 (RFC 6582: no).
    ssthresh_from : SsthreshFrom
        What is halved after a loss.
    handshake : bool
        Whether a SYN and a SYN-ACK precede the data; the clock of a flow starts with the SYN.
    handshake_ack : bool
        Whether the third packet of the handshake travels by itself, ahead of the data, as in ns-3 and Linux.
    ecn : bool
        Whether data packets are ECN-capable (RFC 3168).
    ecn_acks : bool
        Whether acknowledgements are ECN-capable, which RFC 3168, 6.1.4, forbids.
    """

    ack_bytes: Annotated[int, bounds.PACKET_BYTES] = 40
    syn_bytes: Annotated[int, bounds.PACKET_BYTES] = 40
    initial_window_packets: Annotated[int, bounds.WINDOW_PACKETS] = 10
    initial_ssthresh_bytes: Annotated[int, bounds.SSTHRESH_BYTES] = 2**40
    min_rto_s: Annotated[float, bounds.RTO_OR_NONE_S] = 0.2
    max_rto_s: Annotated[float, bounds.RTO_S] = 60.0
    granularity_s: float = 0.0
    initial_rto_s: Annotated[float, bounds.RTO_OR_NONE_S] = 0.0
    initial_rtt_s: float = 0.0
    keep_backoff: bool = False
    dup_ack_threshold: Annotated[int, bounds.DUP_ACKS] = 3
    limited_transmit: bool = True
    full_ack_option: Annotated[int, bounds.FULL_ACK_OPTION] = 1
    grow_at_full_ack: bool = False
    ssthresh_from: SsthreshFrom = SsthreshFrom.FLIGHT
    handshake: bool = False
    handshake_ack: bool = True
    ecn: bool = False
    ecn_acks: bool = False

    def __post_init__(self) -> None:
        bounds.check_params(self, "transport")
        packet_bytes, most = self.mss_bytes + self.header_bytes, bounds.PACKET_BYTES.largest
        require(packet_bytes <= most, f"transport: packets of {packet_bytes} bytes, but {most} is the most")
        require(self.max_window_bytes >= self.mss_bytes, "transport.max_window_bytes is below mss_bytes")
        require(self.initial_rto_s <= self.max_rto_s, "transport.initial_rto_s is above max_rto_s")
        require(self.min_rto_s > 0 or self.initial_rto_s > 0, "transport.min_rto_s and initial_rto_s are both 0")
        require(self.min_rto_s <= self.max_rto_s, "transport.min_rto_s is above max_rto_s")


def open_(params: Any, own: Any, flow: Any, sub: Any, now_ps: int) -> int:
    """Open a subflow."""
    open_subflow(params, sub, now_ps)
    return 0


@inlined
def open_subflow(params: Any, sub: Any, now_ps: int) -> None:
    """Start a subflow: initial window, and the RTT sample that it has from before, if any.

    A threshold of duplicate acknowledgements that is set already, by what opened it, stays.
    """
    sub.state = SYN_SENT if params.handshake else ESTABLISHED
    sub.resend = params.handshake
    sub.max_window_bytes = max(params.max_window_bytes, params.mss_bytes)
    sub.cwnd_bytes = params.initial_window_packets * params.mss_bytes
    sub.ssthresh_bytes = params.initial_ssthresh_bytes
    sub.recover = -2  # below HighACK, which is -1 at first: nothing has been recovered
    sub.timed_out = -1
    if sub.dup_ack_threshold == 0:
        sub.dup_ack_threshold = params.dup_ack_threshold
    sub.limited_packets = LIMITED_PACKETS if params.limited_transmit else 0
    if params.initial_rtt_ps:
        take_sample(sub, params.initial_rtt_ps)
    set_rto(params, sub)


@inlined
def payload_bytes(params: Any, sub: Any, segment: int) -> int:
    """Return the payload of a segment."""
    return sub.short_bytes if segment == sub.short_segment else params.mss_bytes


@inlined
def holds(sub: Any, ring: Any, segment: int, flag: int) -> bool:
    """Return whether a segment in flight has that flag."""
    return bool(ring[segment & sub.ring_mask] & flag)


@inlined
def flight_bytes(params: Any, sub: Any) -> int:
    """Return FlightSize: what is sent and not acknowledged; after a timeout, as in Linux, the retransmissions since."""
    flight = (sub.next_segment - sub.una) * params.mss_bytes
    if sub.una <= sub.short_segment < sub.next_segment:
        flight += sub.short_bytes - params.mss_bytes
    return flight


@inlined
def send_opening(params: Any, sub: Any, packet: Any, now_ps: int) -> int:
    """Fill in a SYN, or the acknowledgement of the SYN-ACK, if one is due."""
    if sub.state == SYN_SENT and sub.resend:
        packet.kind = SYN
        packet.flags = RETRANSMITTED if sub.resend > 1 else 0
        packet.bytes = params.syn_bytes
        sub.resend = 0
        start_timer(sub, now_ps)
    elif sub.state == SYN_ANSWERED:
        packet.kind = HANDSHAKE_ACK
        packet.flags = 0
        packet.bytes = params.ack_bytes
        sub.state = ESTABLISHED
    else:
        return 0
    packet.priority = sub.priority
    packet.segment = 0
    packet.ack = 0
    packet.unit = NONE
    packet.sent_ps = now_ps
    return 1


@inlined
def send_segment(params: Any, sub: Any, packet: Any, segment: int, now_ps: int) -> int:
    """Fill in a data packet; what was sent before counts as a retransmission."""
    payload = payload_bytes(params, sub, segment)
    packet.kind = DATA
    packet.flags = ECN_CAPABLE if params.ecn else 0
    if segment < sub.high:
        packet.flags |= RETRANSMITTED
        sub.retransmissions += 1
    else:
        sub.high = segment + 1
    packet.bytes = payload + params.header_bytes
    packet.priority = sub.priority
    packet.segment = segment
    packet.ack = 0
    packet.unit = NONE
    packet.sent_ps = now_ps
    if sub.timer_ps == NONE:
        start_timer(sub, now_ps)
    return 1


@inlined
def start_timer(sub: Any, now_ps: int) -> None:
    """Set the retransmission timer to RTO from now (RFC 6298, 5.1 and 5.3)."""
    sub.timer_ps = now_ps + sub.rto_ps


@inlined
def sample_rtt(params: Any, sub: Any, packet: Any, now_ps: int) -> None:
    """Measure a round trip by the acknowledgement `packet`, and update SRTT, RTTVAR and RTO.

    Karn's rule forbids it for a retransmission.
    """
    if not packet.flags & RETRANSMITTED:
        sub.rtt_ps = now_ps - packet.sent_ps
        take_sample(sub, sub.rtt_ps)
        set_rto(params, sub)
    elif not params.keep_backoff:
        set_rto(params, sub)


@inlined
def take_sample(sub: Any, rtt_ps: int) -> None:
    """Update SRTT and RTTVAR (RFC 6298, 2.2-2.3)."""
    if sub.srtt_ps == 0:
        sub.srtt_ps = rtt_ps
        sub.rttvar_ps = rtt_ps // 2
    else:
        sub.rttvar_ps = (3 * sub.rttvar_ps + abs(sub.srtt_ps - rtt_ps)) // 4
        sub.srtt_ps = (7 * sub.srtt_ps + rtt_ps) // 8


@inlined
def set_rto(params: Any, sub: Any) -> None:
    """Set the RTO from what has been measured (RFC 6298, 2.2-2.5), or to its initial value."""
    if sub.srtt_ps == 0:
        default_ps = FIRST_RTO_PS if params.handshake else params.min_rto_ps
        sub.rto_ps = min(params.initial_rto_ps if params.initial_rto_ps else default_ps, params.max_rto_ps)
        return
    rto_ps = sub.srtt_ps + max(params.granularity_ps, 4 * sub.rttvar_ps)
    sub.rto_ps = min(max(rto_ps, params.min_rto_ps), params.max_rto_ps)


@inlined
def back_off(params: Any, sub: Any, now_ps: int) -> None:
    """Double the RTO and restart the timer (RFC 6298, 5.5-5.6)."""
    sub.timeouts += 1
    sub.rto_ps = min(2 * sub.rto_ps, params.max_rto_ps)
    start_timer(sub, now_ps)


@inlined
def note_loss(params: Any, sub: Any, pipe_bytes: int) -> None:
    """Keep what was in flight at a loss, FlightSize or `pipe_bytes`, for the congestion control."""
    sub.lost_flight_bytes = pipe_bytes
    if params.ssthresh_from == SsthreshFrom.FLIGHT:
        sub.lost_flight_bytes = flight_bytes(params, sub) - sub.limited_segments * params.mss_bytes


@inlined
def advance(params: Any, sub: Any, ring: Any, ack: int) -> int:
    """Take note that all segments below `ack` have arrived; return how many bytes are new."""
    acked = (ack - sub.una) * params.mss_bytes
    if sub.una <= sub.short_segment < ack:
        acked += sub.short_bytes - params.mss_bytes
    for segment in range(sub.una, ack):
        ring[segment & sub.ring_mask] &= ~(SACKED | RESENT | MISSING)
    sub.una = ack
    sub.next_segment = max(sub.next_segment, ack)
    if ack == sub.end and sub.final:
        sub.state = CLOSED
    sub.newly_acked_bytes = acked
    return acked


@inlined
def open_by_reply(params: Any, sub: Any, packet: Any, now_ps: int) -> int:
    """Establish the connection when the SYN-ACK has come; return the signals."""
    if sub.state != SYN_SENT or packet.kind != SYN_ACK:
        return 0
    sub.state = SYN_ANSWERED if params.handshake_ack else ESTABLISHED
    sub.timer_ps = NONE
    sample_rtt(params, sub, packet, now_ps)
    if packet.flags & RETRANSMITTED:
        sub.rto_ps = min(max(sub.rto_ps, RTO_AFTER_LOST_SYN_PS), params.max_rto_ps)
    return OPENED


@inlined
def echoed_mark(packet: Any) -> int:
    """Return the signal of an acknowledgement that echoes a mark."""
    return MARKED if packet.flags & ECN_ECHO else 0


@inlined
def expire_syn(params: Any, sub: Any, now_ps: int) -> int:
    """Send the SYN again; the window begins at one segment then (RFC 6928, section 2)."""
    back_off(params, sub, now_ps)
    sub.resend = 2
    sub.cwnd_bytes = params.mss_bytes
    return 0

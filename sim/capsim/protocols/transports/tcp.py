"""What the TCP variants share: parameters, segments, round-trip times, timers, the receiver.

Windows are bytes, sequence numbers are segments of one MSS; the last segment of a flow may be shorter.

====================== ======== ======================= =======================
Quantity               Symbol   Name                    Source
====================== ======== ======================= =======================
smoothed round trip    SRTT     ``conn.srtt_ps``        RFC 6298, section 2
its mean deviation     RTTVAR   ``conn.rttvar_ps``      RFC 6298, section 2
retransmission timeout RTO      ``conn.rto_ps``         RFC 6298, sections 2, 5
congestion window      cwnd     ``conn.cwnd_bytes``     RFC 5681, section 3.1
slow-start threshold   ssthresh ``conn.ssthresh_bytes`` RFC 5681, section 3.1
====================== ======== ======================= =======================
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any

from capsim import bounds
from capsim.hooks import inlined
from capsim.records import (
    ACK,
    CLOSED,
    CONGESTION_EXPERIENCED,
    DATA,
    ECN_CAPABLE,
    ECN_ECHO,
    ESTABLISHED,
    HANDSHAKE_ACK,
    NONE,
    RECEIVED,
    RESENT,
    RETRANSMITTED,
    SACKED,
    SYN,
    SYN_ACK,
    SYN_ANSWERED,
    SYN_SENT,
)
from capsmodel.checks import require

FIRST_RTO_PS = 10**12  # RFC 6298, 2.1: 1 second
RTO_AFTER_LOST_SYN_PS = 3 * 10**12  # RFC 6298, 5.7


class SsthreshFrom(IntEnum):
    """What is halved after a loss: FlightSize (RFC 5681, eq. 4), or what is thought to be in the network (ns-3)."""

    FLIGHT = 0
    PIPE = 1


@dataclass(frozen=True, kw_only=True)
class TcpParams:
    """Parameters of TCP.

    Parameters
    ----------
    mss_bytes, header_bytes, ack_bytes, syn_bytes : int
        Payload of a full segment, headers of a data packet, sizes of an acknowledgement and of a SYN or SYN-ACK, in
        bytes.
    initial_window_packets : int
        Initial cwnd in segments (RFC 6928).
    initial_ssthresh_bytes : int
        "Arbitrarily high" (RFC 5681, section 3.1).
    max_window_bytes : int
        Receive window; neither the window nor the data in flight exceed it.
    min_rto_s, max_rto_s, granularity_s : float
        Bounds of the RTO, and G of RFC 6298, in seconds.
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
    ssthresh_from : SsthreshFrom
        What is halved after a loss.
    handshake, handshake_ack : bool
        Whether a SYN and a SYN-ACK precede the data; the clock of a flow starts with the SYN. Whether the third
        packet of the handshake travels by itself, ahead of the data, as in ns-3 and Linux.
    ecn, ecn_acks : bool
        Whether data packets, and acknowledgements, are ECN-capable (RFC 3168; 6.1.4 forbids the latter).
    """

    mss_bytes: Annotated[int, bounds.PACKET_BYTES] = 1460
    header_bytes: Annotated[int, bounds.HEADER_BYTES] = 40
    ack_bytes: Annotated[int, bounds.PACKET_BYTES] = 40
    syn_bytes: Annotated[int, bounds.PACKET_BYTES] = 40
    initial_window_packets: Annotated[int, bounds.WINDOW_PACKETS] = 10
    initial_ssthresh_bytes: Annotated[int, bounds.SSTHRESH_BYTES] = 2**40
    max_window_bytes: Annotated[int, bounds.WINDOW_BYTES] = 1_000_000
    min_rto_s: Annotated[float, bounds.RTO_OR_NONE_S] = 0.2
    max_rto_s: Annotated[float, bounds.RTO_S] = 60.0
    granularity_s: float = 0.0
    initial_rto_s: Annotated[float, bounds.RTO_OR_NONE_S] = 0.0
    initial_rtt_s: float = 0.0
    keep_backoff: bool = False
    dup_ack_threshold: Annotated[int, bounds.DUP_ACKS] = 3
    limited_transmit: bool = True
    full_ack_option: Annotated[int, bounds.FULL_ACK_OPTION] = 1
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


@inlined
def open_connection(params: Any, conn: Any, now_ps: int) -> int:
    """Start a connection: initial window, and the RTT sample that it has from before, if any."""
    conn.state = SYN_SENT if params.handshake else ESTABLISHED
    conn.resend = params.handshake
    conn.cwnd_bytes = params.initial_window_packets * params.mss_bytes
    conn.ssthresh_bytes = params.initial_ssthresh_bytes
    conn.recover = -2  # below HighACK, which is -1 at first: nothing has been recovered
    conn.timed_out = -1
    if params.initial_rtt_ps:
        take_sample(conn, params.initial_rtt_ps)
    set_rto(params, conn)
    return 0


@inlined
def payload_bytes(params: Any, conn: Any, segment: int) -> int:
    """Return the payload of a segment."""
    return conn.last_segment_bytes if segment == conn.n_segments - 1 else params.mss_bytes


@inlined
def flight_bytes(params: Any, conn: Any) -> int:
    """Return FlightSize: what is sent and not acknowledged."""
    flight = (conn.next_segment - conn.una) * params.mss_bytes
    if conn.next_segment == conn.n_segments and conn.una < conn.n_segments:
        flight += conn.last_segment_bytes - params.mss_bytes
    return flight


@inlined
def send_opening(params: Any, conn: Any, packet: Any, now_ps: int) -> int:
    """Fill in a SYN, or the acknowledgement of the SYN-ACK, if one is due."""
    if conn.state == SYN_SENT and conn.resend:
        packet.kind = SYN
        packet.flags = RETRANSMITTED if conn.resend > 1 else 0
        packet.bytes = params.syn_bytes
        conn.resend = 0
        start_timer(conn, now_ps)
    elif conn.state == SYN_ANSWERED:
        packet.kind = HANDSHAKE_ACK
        packet.flags = 0
        packet.bytes = params.ack_bytes
        conn.state = ESTABLISHED
    else:
        return 0
    packet.priority = conn.priority
    packet.segment = 0
    packet.ack = 0
    packet.unit = NONE
    packet.sent_ps = now_ps
    return 1


@inlined
def send_segment(params: Any, conn: Any, packet: Any, segment: int, now_ps: int) -> int:
    """Fill in a data packet; what was sent before counts as a retransmission."""
    payload = payload_bytes(params, conn, segment)
    packet.kind = DATA
    packet.flags = ECN_CAPABLE if params.ecn else 0
    if segment < conn.high:
        packet.flags |= RETRANSMITTED
        conn.retransmissions += 1
    else:
        conn.high = segment + 1
    packet.bytes = payload + params.header_bytes
    packet.priority = conn.priority
    packet.segment = segment
    packet.ack = 0
    packet.unit = NONE
    packet.sent_ps = now_ps
    if conn.timer_ps == NONE:
        start_timer(conn, now_ps)
    return 1


@inlined
def start_timer(conn: Any, now_ps: int) -> None:
    """Set the retransmission timer to RTO from now (RFC 6298, 5.1 and 5.3)."""
    conn.timer_ps = now_ps + conn.rto_ps


@inlined
def sample_rtt(params: Any, conn: Any, packet: Any, now_ps: int) -> None:
    """Update SRTT, RTTVAR and RTO by the acknowledgement `packet`; Karn's rule forbids it for a retransmission."""
    if not packet.flags & RETRANSMITTED:
        take_sample(conn, now_ps - packet.sent_ps)
        set_rto(params, conn)
    elif not params.keep_backoff:
        set_rto(params, conn)


@inlined
def take_sample(conn: Any, rtt_ps: int) -> None:
    """Update SRTT and RTTVAR (RFC 6298, 2.2-2.3)."""
    if conn.srtt_ps == 0:
        conn.srtt_ps = rtt_ps
        conn.rttvar_ps = rtt_ps // 2
    else:
        conn.rttvar_ps = (3 * conn.rttvar_ps + abs(conn.srtt_ps - rtt_ps)) // 4
        conn.srtt_ps = (7 * conn.srtt_ps + rtt_ps) // 8


@inlined
def set_rto(params: Any, conn: Any) -> None:
    """Set the RTO from what has been measured (RFC 6298, 2.2-2.5), or to its initial value."""
    if conn.srtt_ps == 0:
        default_ps = FIRST_RTO_PS if params.handshake else params.min_rto_ps
        conn.rto_ps = min(params.initial_rto_ps if params.initial_rto_ps else default_ps, params.max_rto_ps)
        return
    rto_ps = conn.srtt_ps + max(params.granularity_ps, 4 * conn.rttvar_ps)
    conn.rto_ps = min(max(rto_ps, params.min_rto_ps), params.max_rto_ps)


@inlined
def back_off(params: Any, conn: Any, now_ps: int) -> None:
    """Double the RTO and restart the timer (RFC 6298, 5.5-5.6)."""
    conn.timeouts += 1
    conn.rto_ps = min(2 * conn.rto_ps, params.max_rto_ps)
    start_timer(conn, now_ps)


@inlined
def grow(params: Any, conn: Any, acked_bytes: int) -> None:
    """Open the window for an acknowledgement of new data: slow start or congestion avoidance (RFC 5681, eq. 2, 3)."""
    mss = params.mss_bytes
    if conn.cwnd_bytes < conn.ssthresh_bytes:
        conn.cwnd_bytes += min(acked_bytes, mss)
    else:
        conn.cwnd_bytes += max(1, mss * mss // conn.cwnd_bytes)
    conn.cwnd_bytes = min(conn.cwnd_bytes, max(params.max_window_bytes, mss))


@inlined
def halve(params: Any, conn: Any, pipe_bytes: int) -> None:
    """Set ssthresh to half of FlightSize or of `pipe_bytes`, at least two segments (RFC 5681, eq. 4)."""
    flight = pipe_bytes
    if params.ssthresh_from == SsthreshFrom.FLIGHT:
        flight = flight_bytes(params, conn) - conn.limited_segments * params.mss_bytes
    conn.ssthresh_bytes = max(flight // 2, 2 * params.mss_bytes)


@inlined
def advance(params: Any, conn: Any, segments: Any, ack: int) -> int:
    """Take note that all segments below `ack` have arrived; return how many bytes are new."""
    acked = (ack - conn.una) * params.mss_bytes
    if ack == conn.n_segments:
        acked += conn.last_segment_bytes - params.mss_bytes
    for segment in range(conn.una, ack):
        segments[conn.ring + (segment & conn.ring_mask)] &= ~(SACKED | RESENT)
    conn.una = ack
    conn.next_segment = max(conn.next_segment, ack)
    if ack == conn.n_segments:
        conn.state = CLOSED
    return acked


@inlined
def open_by_reply(params: Any, conn: Any, packet: Any, now_ps: int) -> None:
    """Establish the connection when the SYN-ACK has come."""
    if conn.state == SYN_SENT and packet.kind == SYN_ACK:
        conn.state = SYN_ANSWERED if params.handshake_ack else ESTABLISHED
        conn.timer_ps = NONE
        sample_rtt(params, conn, packet, now_ps)
        if packet.flags & RETRANSMITTED:
            conn.rto_ps = min(max(conn.rto_ps, RTO_AFTER_LOST_SYN_PS), params.max_rto_ps)


@inlined
def expire_syn(params: Any, conn: Any, now_ps: int) -> None:
    """Send the SYN again; the window begins at one segment then (RFC 6928, section 2)."""
    back_off(params, conn, now_ps)
    conn.resend = 2
    conn.cwnd_bytes = params.mss_bytes


@inlined
def note_arrival(conn: Any, segments: Any, packet: Any) -> None:
    """Enter a data packet at the receiver."""
    segment = packet.segment
    index = conn.ring + (segment & conn.ring_mask)
    if segment < conn.receive_next or segments[index] & RECEIVED:
        conn.duplicate_packets += 1
        return
    if segment < conn.highest_received and not packet.flags & RETRANSMITTED:
        conn.reordered_packets += 1
    conn.highest_received = max(conn.highest_received, segment)
    segments[index] |= RECEIVED
    while conn.receive_next < conn.n_segments and segments[conn.ring + (conn.receive_next & conn.ring_mask)] & RECEIVED:
        segments[conn.ring + (conn.receive_next & conn.ring_mask)] &= ~RECEIVED
        conn.receive_next += 1


@inlined
def turn_round(params: Any, conn: Any, packet: Any) -> int:
    """Turn the packet into its own acknowledgement: it echoes the time it was sent, Karn's flag and congestion."""
    packet.bytes = params.syn_bytes if packet.kind == SYN else params.ack_bytes
    packet.kind = SYN_ACK if packet.kind == SYN else ACK
    packet.ack = conn.receive_next
    echo = ECN_ECHO if packet.flags & CONGESTION_EXPERIENCED else 0
    capable = ECN_CAPABLE if params.ecn_acks else 0
    packet.flags = (packet.flags & RETRANSMITTED) | echo | capable
    return 1


def receive(params: Any, conn: Any, segments: Any, packet: Any, now_ps: int) -> int:
    """Acknowledge each packet at once (no delayed acknowledgements) with the next segment expected."""
    if packet.kind == HANDSHAKE_ACK:
        return 0
    if packet.kind == DATA:
        note_arrival(conn, segments, packet)
    return turn_round(params, conn, packet)

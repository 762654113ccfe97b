"""TCP NewReno: RFC 5681 (congestion control), 6582 (fast recovery), 6298 (timer), 3042 (limited transmit).

The careful variant of RFC 6582 section 3.2: no fast retransmit before the data outstanding at the last recovery or
timeout is acknowledged. After a timeout the sender goes back to the first unacknowledged segment.
"""

from typing import Any

from capsim.hooks import Transport, inlined
from capsim.protocols.transports.tcp import (
    TcpParams,
    advance,
    back_off,
    expire_syn,
    flight_bytes,
    grow,
    halve,
    open_by_reply,
    open_connection,
    payload_bytes,
    receive,
    sample_rtt,
    send_opening,
    send_segment,
    start_timer,
)
from capsim.records import ACK, ESTABLISHED, NONE, SYN_SENT


def send(params: Any, conn: Any, segments: Any, packet: Any, now_ps: int) -> int:
    """Send the segment to be repaired, or the next one that the window allows."""
    if conn.state != ESTABLISHED:
        return send_opening(params, conn, packet, now_ps)
    if conn.resend:
        conn.resend = 0
        return send_segment(params, conn, packet, conn.una, now_ps)
    return send_next(params, conn, packet, 0, now_ps)


@inlined
def send_next(params: Any, conn: Any, packet: Any, sacked: int, now_ps: int) -> int:
    """Send the next segment if the window, widened by limited transmit, allows it.

    `sacked` segments below it are known to have arrived: the receiver holds them, the network does not.
    """
    segment = conn.next_segment
    held = segment - conn.una
    if segment >= conn.n_segments or held > conn.ring_mask:
        return 0
    payload = payload_bytes(params, conn, segment)
    if held * params.mss_bytes + payload > max(params.max_window_bytes, params.mss_bytes):
        return 0
    window = conn.cwnd_bytes
    limited = params.limited_transmit and not conn.in_recovery and conn.una > conn.recover
    if limited:
        window += min(conn.dup_acks, 2) * params.mss_bytes
    needed = (held - sacked) * params.mss_bytes + payload
    if needed > window:
        return 0
    if limited and needed > conn.cwnd_bytes:
        conn.limited_segments += 1
    conn.next_segment = segment + 1
    return send_segment(params, conn, packet, segment, now_ps)


def hear(params: Any, conn: Any, segments: Any, packet: Any, now_ps: int) -> int:
    """Take an acknowledgement."""
    hear_acknowledgement(params, conn, segments, packet, now_ps)
    return 0


@inlined
def hear_acknowledgement(params: Any, conn: Any, segments: Any, packet: Any, now_ps: int) -> None:
    """Tell new data from a duplicate."""
    if conn.state != ESTABLISHED or packet.kind != ACK:
        open_by_reply(params, conn, packet, now_ps)
    elif packet.ack > conn.una:
        _hear_new(params, conn, segments, packet, now_ps)
    elif packet.ack == conn.una and conn.una < conn.high:
        _hear_duplicate(params, conn)


@inlined
def _hear_new(params: Any, conn: Any, segments: Any, packet: Any, now_ps: int) -> None:
    sample_rtt(params, conn, packet, now_ps)
    acked = advance(params, conn, segments, packet.ack)
    restart = True
    if not conn.in_recovery:
        grow(params, conn, acked)
    elif conn.una > conn.recover:
        _leave_recovery(params, conn)
    else:
        # "Impatient": only the first partial acknowledgement restarts the timer (RFC 6582, section 3.2 step 3).
        restart = conn.partial_acks == 0
        _hear_partial(params, conn, acked)
    if not conn.in_recovery:
        conn.dup_acks = 0
        conn.limited_segments = 0
    if conn.una == conn.next_segment:
        conn.timer_ps = NONE
    elif restart:
        start_timer(conn, now_ps)


@inlined
def _hear_partial(params: Any, conn: Any, acked_bytes: int) -> None:
    """Repair the next hole and deflate the window by what has left the network (RFC 6582, section 3.2 step 3)."""
    conn.partial_acks += 1
    conn.dup_acks = max(conn.dup_acks - acked_bytes // params.mss_bytes + 1, 0)  # duplicate ACKs reported the rest
    conn.resend = 1
    conn.cwnd_bytes -= acked_bytes
    if acked_bytes >= params.mss_bytes:
        conn.cwnd_bytes += params.mss_bytes
    conn.cwnd_bytes = max(conn.cwnd_bytes, params.mss_bytes)


@inlined
def _leave_recovery(params: Any, conn: Any) -> None:
    """Full acknowledgement (RFC 6582, section 3.2 step 3): option 1 sends no burst."""
    conn.cwnd_bytes = conn.ssthresh_bytes
    if params.full_ack_option == 1:
        flight = max(flight_bytes(params, conn), params.mss_bytes)
        conn.cwnd_bytes = min(conn.ssthresh_bytes, flight + params.mss_bytes)
    conn.in_recovery = 0


@inlined
def _hear_duplicate(params: Any, conn: Any) -> None:
    conn.dup_acks += 1
    conn.dup_acks_received += 1
    if conn.in_recovery:
        conn.cwnd_bytes += params.mss_bytes
    elif conn.dup_acks == params.dup_ack_threshold and conn.una - 1 > conn.recover:
        halve(params, conn, flight_bytes(params, conn) - conn.dup_acks * params.mss_bytes)
        conn.recover = conn.high - 1
        conn.in_recovery = 1
        conn.partial_acks = 0
        conn.limited_segments = 0
        conn.resend = 1
        conn.fast_retransmits += 1
        conn.cwnd_bytes = conn.ssthresh_bytes + params.dup_ack_threshold * params.mss_bytes


def expire(params: Any, conn: Any, segments: Any, now_ps: int) -> int:
    """Go back to the first unacknowledged segment with a window of one (RFC 5681 section 3.1, RFC 6298 section 5)."""
    if conn.state == SYN_SENT:
        expire_syn(params, conn, now_ps)
    else:
        go_back(params, conn, flight_bytes(params, conn) - conn.dup_acks * params.mss_bytes, now_ps)
    return 0


@inlined
def go_back(params: Any, conn: Any, pipe_bytes: int, now_ps: int) -> None:
    """Begin again at the first unacknowledged segment; ssthresh falls at the first timeout of a segment only."""
    if conn.timed_out != conn.una:
        halve(params, conn, pipe_bytes)
    conn.timed_out = conn.una
    conn.cwnd_bytes = params.mss_bytes
    conn.recover = conn.high - 1
    conn.in_recovery = 0
    conn.dup_acks = 0
    conn.limited_segments = 0
    conn.resend = 0
    conn.next_segment = conn.una
    back_off(params, conn, now_ps)


NEWRENO = Transport(
    name="newreno",
    open=open_connection,
    send=send,
    receive=receive,
    hear=hear,
    expire=expire,
    params=TcpParams(),
)

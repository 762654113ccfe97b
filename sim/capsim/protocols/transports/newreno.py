"""TCP NewReno's loss recovery: RFC 6582 (fast recovery), 6298 (timer), 3042 (limited transmit).

The windows are those of a congestion control (:mod:`capsim.protocols.congestion`), inflated during recovery.

The careful variant of RFC 6582 section 3.2: no fast retransmit before the data outstanding at the last recovery or
timeout is acknowledged. After a timeout the sender goes back to the first unacknowledged segment.
"""

from typing import Any

from capsim.base.inlined import inlined
from capsim.protocols.transports.receiver import on_data
from capsim.protocols.transports.tcp import (
    TcpParams,
    advance,
    back_off,
    echoed_mark,
    expire_syn,
    flight_bytes,
    note_loss,
    open_,
    open_by_reply,
    payload_bytes,
    sample_rtt,
    send_opening,
    send_segment,
    start_timer,
)
from capsim.records import ACK, ESTABLISHED, NONE, SYN_SENT
from capsim.roles.components import Transport
from capsim.roles.hooks import ACKED, DUPLICATE, EXPIRED, EXPIRED_AGAIN, GROW, LOST


def send(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Send the segment to be repaired, or the next one that the window allows."""
    if sub.state != ESTABLISHED:
        return send_opening(params, sub, packet, now_ps)
    if sub.resend:
        sub.resend = 0
        return send_segment(params, sub, packet, sub.una, now_ps)
    return send_next(params, sub, packet, 0, now_ps)


@inlined
def send_next(params: Any, sub: Any, packet: Any, sacked: int, now_ps: int) -> int:
    """Send the next segment if the window, widened by limited transmit, allows it.

    `sacked` segments below it are known to have arrived: the receiver holds them, the network does not.
    """
    segment = sub.next_segment
    held = segment - sub.una
    if held > sub.ring_mask or (segment >= sub.end and sub.final):
        return 0
    payload = payload_bytes(params, sub, segment)
    if held * params.mss_bytes + payload > sub.max_window_bytes:
        return 0
    window = sub.cwnd_bytes + sub.inflation_bytes
    needed = (held - sacked) * params.mss_bytes + payload
    if needed > window:
        limited = not sub.in_recovery and sub.una > sub.recover
        extra = min(sub.dup_acks, sub.limited_packets) * params.mss_bytes
        if not limited or needed > window + extra:
            return 0
    if segment >= sub.end:
        sub.ready = 1
        return 0
    if needed > window:
        sub.limited_segments += 1
    sub.next_segment = segment + 1
    return send_segment(params, sub, packet, segment, now_ps)


def on_ack(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Take an acknowledgement."""
    return take_acknowledgement(params, sub, ring, packet, now_ps, True, True)


@inlined
def take_acknowledgement(
    params: Any, sub: Any, ring: Any, packet: Any, now_ps: int, careful: bool, impatient: bool
) -> int:
    """Tell new data from a duplicate; return the signals.

    `careful`: no fast retransmit before `recover` is acknowledged. `impatient`: only the first partial acknowledgement
    restarts the timer.
    """
    if sub.state != ESTABLISHED or packet.kind != ACK:
        return open_by_reply(params, sub, packet, now_ps)
    if packet.ack > sub.una:
        return _take_new(params, sub, ring, packet, now_ps, impatient) | echoed_mark(packet)
    if packet.ack == sub.una and sub.una < sub.high:
        return _take_duplicate(params, sub, careful) | echoed_mark(packet)
    return echoed_mark(packet)


@inlined
def _take_new(params: Any, sub: Any, ring: Any, packet: Any, now_ps: int, impatient: bool) -> int:
    sample_rtt(params, sub, packet, now_ps)
    acked = advance(params, sub, ring, packet.ack)
    restart, signals = True, ACKED
    if not sub.in_recovery:
        signals |= GROW
    elif sub.una > sub.recover:
        _leave_recovery(params, sub)
        if params.grow_at_full_ack:
            signals |= GROW
    else:
        restart = sub.partial_acks == 0 or not impatient  # RFC 6582, section 3.2 step 3
        _take_partial(params, sub, acked)
    if not sub.in_recovery:
        sub.dup_acks = 0
        sub.limited_segments = 0
    if sub.una == sub.next_segment:
        sub.timer_ps = NONE
    elif restart:
        start_timer(sub, now_ps)
    return signals


@inlined
def _take_partial(params: Any, sub: Any, acked_bytes: int) -> None:
    """Repair the next hole and deflate the window by what has left the network (RFC 6582, section 3.2 step 3)."""
    sub.partial_acks += 1
    sub.dup_acks = max(sub.dup_acks - acked_bytes // params.mss_bytes + 1, 0)  # duplicate ACKs reported the rest
    sub.resend = 1
    sub.inflation_bytes -= acked_bytes
    if acked_bytes >= params.mss_bytes:
        sub.inflation_bytes += params.mss_bytes
    sub.inflation_bytes = max(sub.inflation_bytes, params.mss_bytes - sub.cwnd_bytes)


@inlined
def _leave_recovery(params: Any, sub: Any) -> None:
    """Full acknowledgement (RFC 6582, section 3.2 step 3): option 1 sends no burst."""
    sub.inflation_bytes = 0
    sub.cwnd_bytes = sub.ssthresh_bytes
    if params.full_ack_option == 1:
        flight = max(flight_bytes(params, sub), params.mss_bytes)
        sub.cwnd_bytes = min(sub.ssthresh_bytes, flight + params.mss_bytes)
    sub.in_recovery = 0


@inlined
def _take_duplicate(params: Any, sub: Any, careful: bool) -> int:
    sub.dup_acks += 1
    sub.dup_acks_received += 1
    if sub.in_recovery:
        sub.inflation_bytes += params.mss_bytes
    elif sub.dup_acks == sub.dup_ack_threshold and (sub.una - 1 > sub.recover or not careful):
        note_loss(params, sub, flight_bytes(params, sub) - sub.dup_acks * params.mss_bytes)
        sub.recover = sub.high - 1
        sub.in_recovery = 1
        sub.partial_acks = 0
        sub.limited_segments = 0
        sub.resend = 1
        sub.fast_retransmits += 1
        sub.inflation_bytes = sub.dup_ack_threshold * params.mss_bytes
        return DUPLICATE | LOST
    return DUPLICATE


def on_timeout(params: Any, own: Any, sub: Any, ring: Any, now_ps: int) -> int:
    """Go back to the first unacknowledged segment (RFC 6298, section 5)."""
    if sub.state == SYN_SENT:
        return expire_syn(params, sub, now_ps)
    return go_back(params, sub, flight_bytes(params, sub) - sub.dup_acks * params.mss_bytes, now_ps)


@inlined
def go_back(params: Any, sub: Any, pipe_bytes: int, now_ps: int) -> int:
    """Begin again at the first unacknowledged segment; return the signals."""
    signals = EXPIRED
    if sub.timed_out == sub.una:
        signals |= EXPIRED_AGAIN
    note_loss(params, sub, pipe_bytes)
    sub.timed_out = sub.una
    sub.recover = sub.high - 1
    sub.in_recovery = 0
    sub.inflation_bytes = 0
    sub.dup_acks = 0
    sub.limited_segments = 0
    sub.resend = 0
    sub.next_segment = sub.una
    back_off(params, sub, now_ps)
    return signals


NEWRENO = Transport(
    name="newreno",
    open=open_,
    send=send,
    on_data=on_data,
    on_ack=on_ack,
    on_timeout=on_timeout,
    params=TcpParams(),
)

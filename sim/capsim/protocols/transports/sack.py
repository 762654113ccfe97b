"""TCP with selective acknowledgement: RFC 2018 (blocks), 6675 (recovery), and NewReno's rules for the rest.

A segment that is not SACKed counts as lost when `dup_ack_threshold` SACKed segments lie above it. In recovery the
sender keeps Pipe, its estimate of the packets in the network, at the window: lost segments first, then new ones, then
what else is not SACKed below the highest SACKed one, then once the last segment outstanding (NextSeg, rules 1-4).
After a timeout the scoreboard is kept (RFC 6675, section 5.1): what is SACKed is not sent again.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim import bounds
from capsim.hooks import Transport, inlined
from capsim.protocols.transports.newreno import go_back, send_next
from capsim.protocols.transports.tcp import (
    TcpParams,
    advance,
    expire_syn,
    flight_bytes,
    grow,
    halve,
    note_arrival,
    open_by_reply,
    open_connection,
    sample_rtt,
    send_opening,
    send_segment,
    start_timer,
    turn_round,
)
from capsim.records import (
    ACK,
    DATA,
    ESTABLISHED,
    HANDSHAKE_ACK,
    NONE,
    RECEIVED,
    RESENT,
    SACKED,
    SYN_SENT,
)


@dataclass(frozen=True, kw_only=True)
class SackParams(TcpParams):
    """Parameters of TCP, and of selective acknowledgement.

    Parameters
    ----------
    rescue : bool
        Whether the last segment outstanding is sent again, once in a recovery, when nothing else may be sent: it keeps
        acknowledgements coming when the end of the window is lost (RFC 6675, NextSeg rule 4).
    resend_at_partial_ack : bool
        Whether a partial acknowledgement has the first segment outstanding sent again although it does not yet count
        as lost, as NewReno does.
    sack_blocks : int
        Blocks that an acknowledgement has room for: 3 beside a time stamp, 4 without (RFC 2018, section 3).
    sack_option_bytes, sack_block_bytes : int
        What an acknowledgement with blocks is longer: the option with its padding, and each block (RFC 2018, section
        3), in bytes.
    """

    rescue: bool = True
    resend_at_partial_ack: bool = False
    sack_blocks: Annotated[int, bounds.SACK_BLOCKS] = 3
    sack_option_bytes: Annotated[int, bounds.OPTION_BYTES] = 4
    sack_block_bytes: Annotated[int, bounds.OPTION_BYTES] = 8


def receive(params: Any, conn: Any, segments: Any, packet: Any, now_ps: int) -> int:
    """Acknowledge each packet, with the blocks received above the cumulative acknowledgement."""
    if packet.kind == HANDSHAKE_ACK:
        return 0
    if packet.kind == DATA:
        segment = packet.segment
        note_arrival(conn, segments, packet)
        _report(params, conn, segments, segment)
    turn_round(params, conn, packet)
    for index in range(params.sack_blocks):
        packet.sack_first[index] = conn.sack_first[index]
        packet.sack_end[index] = conn.sack_end[index]
        if packet.sack_end[index]:
            packet.bytes += params.sack_block_bytes + (params.sack_option_bytes if index == 0 else 0)
    return 1


@inlined
def _holds(conn: Any, segments: Any, segment: int, flag: int) -> bool:
    return bool(segments[conn.ring + (segment & conn.ring_mask)] & flag)


@inlined
def _report(params: Any, conn: Any, segments: Any, segment: int) -> None:
    """Put the block of the segment that came first (RFC 2018, section 4), keep the others, remove what it covers."""
    first, end = segment, segment
    if segment >= conn.receive_next:
        while first > conn.receive_next and _holds(conn, segments, first - 1, RECEIVED):
            first -= 1
        while end <= conn.highest_received and _holds(conn, segments, end, RECEIVED):
            end += 1
    kept_first, kept_end = first, end
    filled = 0
    for index in range(params.sack_blocks):
        old_first, old_end = conn.sack_first[index], conn.sack_end[index]
        conn.sack_first[index] = 0
        conn.sack_end[index] = 0
        if kept_end > kept_first:
            conn.sack_first[filled] = kept_first
            conn.sack_end[filled] = kept_end
            filled += 1
        covered = old_first >= first and old_end <= end
        stale = covered or old_end <= conn.receive_next
        kept_first, kept_end = (0, 0) if stale else (old_first, old_end)
    if filled < params.sack_blocks and kept_end > kept_first:
        conn.sack_first[filled] = kept_first
        conn.sack_end[filled] = kept_end


@inlined
def _take_blocks(params: Any, conn: Any, segments: Any, packet: Any) -> int:
    """Enter the blocks into the scoreboard; return how many segments are newly SACKed."""
    fresh = 0
    for index in range(params.sack_blocks):
        for segment in range(max(packet.sack_first[index], conn.una), packet.sack_end[index]):
            if not _holds(conn, segments, segment, SACKED):
                segments[conn.ring + (segment & conn.ring_mask)] |= SACKED
                conn.high_sacked = max(conn.high_sacked, segment)
                fresh += 1
    return fresh


@inlined
def _update_scoreboard(params: Any, conn: Any, segments: Any) -> None:
    """Find what is lost (IsLost) and what is in the network (SetPipe) (RFC 6675, section 4)."""
    above, segment = 0, conn.high_sacked
    while segment >= conn.una and above < params.dup_ack_threshold:
        above += _holds(conn, segments, segment, SACKED)
        segment -= 1
    conn.lost_below = segment + 1 if above == params.dup_ack_threshold else conn.una
    conn.pipe_packets = 0
    for number in range(conn.una, conn.next_segment):
        if not _holds(conn, segments, number, SACKED):
            conn.pipe_packets += number >= conn.lost_below
            conn.pipe_packets += _holds(conn, segments, number, RESENT)


def hear(params: Any, conn: Any, segments: Any, packet: Any, now_ps: int) -> int:
    """Take an acknowledgement."""
    hear_acknowledgement(params, conn, segments, packet, now_ps)
    return 0


@inlined
def hear_acknowledgement(params: Any, conn: Any, segments: Any, packet: Any, now_ps: int) -> None:
    """Read the blocks first, then act on new data or on a duplicate."""
    if conn.state != ESTABLISHED or packet.kind != ACK:
        open_by_reply(params, conn, packet, now_ps)
        return
    fresh = _take_blocks(params, conn, segments, packet)
    if packet.ack > conn.una:
        _hear_new(params, conn, segments, packet, now_ps)
    if packet.ack == conn.una and conn.una < conn.high and fresh:
        conn.dup_acks += 1
        conn.dup_acks_received += 1
    if conn.dup_acks or conn.in_recovery:
        _update_scoreboard(params, conn, segments)
    due = conn.dup_acks >= params.dup_ack_threshold or conn.lost_below > conn.una
    if conn.dup_acks and due and not conn.in_recovery and conn.una > conn.recover:
        _enter_recovery(params, conn, segments)


@inlined
def _hear_new(params: Any, conn: Any, segments: Any, packet: Any, now_ps: int) -> None:
    sample_rtt(params, conn, packet, now_ps)
    acked = advance(params, conn, segments, packet.ack)
    if not conn.in_recovery:
        grow(params, conn, acked)
    elif conn.una > conn.recover:
        conn.in_recovery = 0
        conn.cwnd_bytes = conn.ssthresh_bytes
    elif params.resend_at_partial_ack and not _holds(conn, segments, conn.una, RESENT):
        conn.resend = 1
    if not conn.in_recovery:
        conn.dup_acks = 0
        conn.limited_segments = 0
        conn.resend = 0
    conn.timer_ps = NONE
    if conn.una < conn.next_segment:
        start_timer(conn, now_ps)


@inlined
def _enter_recovery(params: Any, conn: Any, segments: Any) -> None:
    """Halve the window and repair the first hole (RFC 6675, section 5 step 4)."""
    for segment in range(conn.una, conn.high):
        segments[conn.ring + (segment & conn.ring_mask)] &= ~RESENT
    _update_scoreboard(params, conn, segments)
    halve(params, conn, conn.pipe_packets * params.mss_bytes)
    conn.cwnd_bytes = conn.ssthresh_bytes
    conn.recover = conn.high - 1
    conn.in_recovery = 1
    conn.rescued = conn.una
    conn.limited_segments = 0
    conn.resend = 1
    conn.fast_retransmits += 1


def send(params: Any, conn: Any, segments: Any, packet: Any, now_ps: int) -> int:
    """Send what recovery or the window allows."""
    if conn.state != ESTABLISHED:
        return send_opening(params, conn, packet, now_ps)
    if not conn.in_recovery:
        return _send_in_order(params, conn, segments, packet, now_ps)
    return _send_in_recovery(params, conn, segments, packet, now_ps)


@inlined
def _send_in_order(params: Any, conn: Any, segments: Any, packet: Any, now_ps: int) -> int:
    """Send the next segment that the receiver does not hold; only after a timeout does it hold any."""
    sacked = 0
    if conn.una <= conn.recover:
        while conn.next_segment < conn.high and _holds(conn, segments, conn.next_segment, SACKED):
            conn.next_segment += 1
        for segment in range(conn.una, conn.next_segment):
            sacked += _holds(conn, segments, segment, SACKED)
    return send_next(params, conn, packet, sacked, now_ps)


@inlined
def _send_in_recovery(params: Any, conn: Any, segments: Any, packet: Any, now_ps: int) -> int:
    """Send the segment that NextSeg names, while Pipe leaves room in the window (RFC 6675, section 5 step C)."""
    if conn.resend:
        conn.resend = 0
        return _resend(params, conn, segments, packet, conn.una, now_ps)
    if (conn.pipe_packets + 1) * params.mss_bytes > conn.cwnd_bytes:
        return 0
    lost = _next_hole(conn, segments, conn.lost_below)
    if lost != NONE:
        return _resend(params, conn, segments, packet, lost, now_ps)
    segment = conn.next_segment
    room = (segment - conn.una + 1) * params.mss_bytes <= params.max_window_bytes
    if segment < conn.n_segments and segment - conn.una <= conn.ring_mask and room:
        conn.next_segment = segment + 1
        conn.pipe_packets += 1
        return send_segment(params, conn, packet, segment, now_ps)
    doubtful = _next_hole(conn, segments, conn.high_sacked)
    if doubtful != NONE:
        return _resend(params, conn, segments, packet, doubtful, now_ps)
    return _rescue(params, conn, segments, packet, now_ps)


@inlined
def _rescue(params: Any, conn: Any, segments: Any, packet: Any, now_ps: int) -> int:
    """Send the last segment outstanding, once in a recovery; it does not count as resent (NextSeg rule 4)."""
    if not params.rescue or conn.una - 1 <= conn.rescued:
        return 0
    segment = conn.next_segment - 1
    while _holds(conn, segments, segment, SACKED):  # ends at `una`, which is not SACKED
        segment -= 1
    conn.rescued = conn.recover
    conn.pipe_packets += 1
    return send_segment(params, conn, packet, segment, now_ps)


@inlined
def _next_hole(conn: Any, segments: Any, below: int) -> int:
    """Return the first segment below a limit that is neither SACKed nor resent, or NONE."""
    for segment in range(conn.una, min(below, conn.next_segment)):
        if not _holds(conn, segments, segment, SACKED | RESENT):
            return segment
    return NONE


@inlined
def _resend(params: Any, conn: Any, segments: Any, packet: Any, segment: int, now_ps: int) -> int:
    segments[conn.ring + (segment & conn.ring_mask)] |= RESENT
    conn.pipe_packets += 1
    return send_segment(params, conn, packet, segment, now_ps)


def expire(params: Any, conn: Any, segments: Any, now_ps: int) -> int:
    """Go back to the first unacknowledged segment; what is SACKED stays so."""
    if conn.state == SYN_SENT:
        expire_syn(params, conn, now_ps)
        return 0
    _update_scoreboard(params, conn, segments)
    pipe_bytes = min(conn.pipe_packets * params.mss_bytes, flight_bytes(params, conn))
    for segment in range(conn.una, conn.high):
        segments[conn.ring + (segment & conn.ring_mask)] &= ~RESENT
    go_back(params, conn, pipe_bytes, now_ps)
    return 0


SACK = Transport(
    name="sack",
    open=open_connection,
    send=send,
    receive=receive,
    hear=hear,
    expire=expire,
    params=SackParams(),
)

"""TCP with selective acknowledgement: RFC 2018 (blocks), 6675 (recovery), and NewReno's rules for the rest.

A segment that is not SACKed counts as lost when `dup_ack_threshold` SACKed segments lie above it. In recovery the
sender keeps Pipe, its estimate of the packets in the network, at the window: lost segments first, then new ones, then
what else is not SACKed below the highest SACKed one, then once the last segment outstanding (NextSeg, rules 1-4).
After a timeout the scoreboard is kept (RFC 6675, section 5.1): what is SACKed is not retransmitted.

In a recovery the window may come down in proportion to what is delivered
(:mod:`capsim.protocols.congestion.proportional`).
"""

from dataclasses import dataclass
from typing import Any

from capsim.base.inlined import inlined
from capsim.protocols.congestion.proportional import Reduction, allowed_bytes
from capsim.protocols.transports.newreno import go_back, send_next
from capsim.protocols.transports.sack_blocks import BLOCK_MEMORY, BLOCKS, BlockParams, know, on_data, past_known
from capsim.protocols.transports.tcp import (
    advance,
    echoed_mark,
    expire_syn,
    flight_bytes,
    holds,
    note_loss,
    open_,
    open_by_reply,
    sample_rtt,
    send_opening,
    send_segment,
    start_timer,
)
from capsim.records import (
    ACK,
    ESTABLISHED,
    NONE,
    RESENT,
    SACKED,
    SYN_SENT,
)
from capsim.roles.components import Transport
from capsim.roles.hooks import ACKED, DUPLICATE, GROW, LOST


@dataclass(frozen=True, kw_only=True)
class SackParams(BlockParams):
    """Parameters of TCP, of blocks, and of recovery by them.

    Parameters
    ----------
    rescue : bool
        Whether the last segment outstanding is retransmitted, once in a recovery, when nothing else may be sent: it
        keeps acknowledgements coming when the end of the window is lost (RFC 6675, NextSeg rule 4).
    resend_at_partial_ack : bool
        Whether a partial acknowledgement has the first segment outstanding retransmitted although it does not yet count
        as lost, as NewReno does.
    reduction : Reduction
        How the window is reduced in a recovery (RFC 6675: at once; Linux, and ns-3 from 3.32: PRR).
    """

    rescue: bool = True
    resend_at_partial_ack: bool = False
    reduction: Reduction = Reduction.AT_ONCE


@inlined
def take_blocks(params: Any, own: Any, sub: Any, ring: Any) -> int:
    """Enter the blocks into the scoreboard; return how many segments are newly SACKed."""
    memory, fresh = own.subflow, 0
    for index in range(params.sack_blocks):
        first, end = own.packet.sack_first[index], own.packet.sack_end[index]
        if end == 0:
            break
        segment = past_known(memory, max(first, sub.una))
        while segment < end:
            if not holds(sub, ring, segment, SACKED):
                ring[segment & sub.ring_mask] |= SACKED
                memory.high_sacked = max(memory.high_sacked, segment)
                fresh += 1
            segment = past_known(memory, segment + 1)
        know(memory, sub, first, end)
    return fresh


@inlined
def _count(sub: Any, ring: Any, first: int, end: int, flags: int, wanted: int) -> int:
    """Return how many of the segments from `first` on, below `end`, have of some flags just those that are wanted.

    The ring is read in its two straight parts: at each acknowledgement in a recovery a whole window is counted, and a
    compiler makes vector instructions of a loop that does not wrap round.
    """
    if first >= end:
        return 0
    begin, size = first & sub.ring_mask, sub.ring_mask + 1
    straight, count = min(begin + end - first, size), 0
    for index in range(begin, straight):
        count += (ring[index] & flags) == wanted
    for index in range(begin + end - first - size):
        count += (ring[index] & flags) == wanted
    return count


@inlined
def _update_scoreboard(memory: Any, sub: Any, ring: Any) -> None:
    """Find what is lost (IsLost) and what is in the network (SetPipe) (RFC 6675, section 4)."""
    above, segment = 0, memory.high_sacked
    while segment >= sub.una and above < sub.dup_ack_threshold:
        above += holds(sub, ring, segment, SACKED)
        segment -= 1
    memory.lost_below = segment + 1 if above == sub.dup_ack_threshold else sub.una
    not_lost = _count(sub, ring, max(memory.lost_below, sub.una), sub.next_segment, SACKED, 0)
    memory.pipe_packets = not_lost + _count(sub, ring, sub.una, sub.next_segment, SACKED | RESENT, RESENT)


def on_ack(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Read the blocks first, then act on new data or on a duplicate."""
    if sub.state != ESTABLISHED or packet.kind != ACK:
        return open_by_reply(params, sub, packet, now_ps)
    memory, signals = own.subflow, echoed_mark(packet)
    fresh = take_blocks(params, own, sub, ring)
    if params.reduction != Reduction.AT_ONCE:
        _note_delivered(params, memory, sub, ring, packet.ack, fresh)
    if packet.ack > sub.una:
        signals |= _take_new(params, sub, ring, packet, now_ps)
    elif packet.ack == sub.una and sub.una < sub.high:
        signals |= DUPLICATE
    if packet.ack == sub.una and sub.una < sub.high and fresh:
        sub.dup_acks += 1
        sub.dup_acks_received += 1
    if sub.dup_acks or sub.in_recovery:
        _update_scoreboard(memory, sub, ring)
    due = sub.dup_acks >= sub.dup_ack_threshold or memory.lost_below > sub.una
    if sub.dup_acks and due and not sub.in_recovery and sub.una > sub.recover:
        _enter_recovery(params, memory, sub, ring)
        signals |= LOST
    return signals


@inlined
def _note_delivered(params: Any, memory: Any, sub: Any, ring: Any, ack: int, fresh: int) -> None:
    """Note what an acknowledgement is the first to report as delivered: DeliveredData, before it is taken."""
    delivered = fresh + _count(sub, ring, sub.una, ack, SACKED, 0)
    memory.prr_repaired = _count(sub, ring, sub.una, ack, RESENT, RESENT) > 0
    memory.prr_flight_bytes = abs(memory.prr_flight_bytes)
    if not sub.in_recovery:
        memory.prr_delivered_bytes = 0
    memory.prr_new_bytes = delivered * params.mss_bytes
    if params.reduction == Reduction.PROPORTIONAL_NS3 and fresh:
        _count_as_in_ns3(params, memory, sub, ack)
    memory.prr_delivered_bytes += memory.prr_new_bytes


@inlined
def _count_as_in_ns3(params: Any, memory: Any, sub: Any, ack: int) -> None:
    """Count a segment more for further blocks, until RecoverFS is reached; and twice what advances beside them."""
    more_bytes = 0
    if not sub.in_recovery or memory.prr_delivered_bytes < memory.prr_flight_bytes:
        more_bytes = params.mss_bytes
    if ack > sub.una:
        memory.prr_delivered_bytes += memory.prr_new_bytes + more_bytes
    else:
        memory.prr_new_bytes += more_bytes


@inlined
def _reduce(params: Any, memory: Any, sub: Any) -> None:
    """Set the window to Pipe and what may be sent for an acknowledgement (RFC 6937, section 3)."""
    pipe_bytes = memory.pipe_packets * params.mss_bytes
    sub.cwnd_bytes = pipe_bytes + allowed_bytes(
        params.reduction,
        pipe_bytes,
        sub.ssthresh_bytes,
        memory.prr_flight_bytes,
        memory.prr_delivered_bytes,
        memory.prr_new_bytes,
        memory.prr_out_bytes,
        memory.prr_repaired,
        params.mss_bytes,
    )
    memory.prr_flight_bytes = -memory.prr_flight_bytes


@inlined
def _take_new(params: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    sample_rtt(params, sub, packet, now_ps)
    advance(params, sub, ring, packet.ack)
    signals = ACKED
    if not sub.in_recovery:
        signals |= GROW
    elif sub.una > sub.recover:
        sub.in_recovery = 0
        sub.cwnd_bytes = sub.ssthresh_bytes
        if params.grow_at_full_ack:
            signals |= GROW
    elif params.resend_at_partial_ack and not holds(sub, ring, sub.una, RESENT):
        sub.resend = 1
    if not sub.in_recovery:
        sub.dup_acks = 0
        sub.limited_segments = 0
        sub.resend = 0
    sub.timer_ps = NONE
    if sub.una < sub.next_segment:
        start_timer(sub, now_ps)
    return signals


@inlined
def _enter_recovery(params: Any, memory: Any, sub: Any, ring: Any) -> None:
    """Repair the first hole (RFC 6675, section 5 step 4)."""
    _forget_resent(memory, sub, ring)
    _update_scoreboard(memory, sub, ring)
    note_loss(params, sub, memory.pipe_packets * params.mss_bytes)
    memory.prr_flight_bytes = (sub.next_segment - sub.una) * params.mss_bytes
    if params.reduction == Reduction.PROPORTIONAL_NS3:
        memory.prr_flight_bytes = max(memory.pipe_packets, 1) * params.mss_bytes
    memory.prr_out_bytes = 0
    sub.recover = sub.high - 1
    sub.in_recovery = 1
    memory.rescued = sub.una
    sub.limited_segments = 0
    sub.resend = 1
    sub.fast_retransmits += 1


@inlined
def _forget_resent(memory: Any, sub: Any, ring: Any) -> None:
    for segment in range(sub.una, sub.high):
        ring[segment & sub.ring_mask] &= ~RESENT
    memory.no_hole_below = sub.una


def send(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Send what recovery or the window allows."""
    if sub.state != ESTABLISHED:
        return send_opening(params, sub, packet, now_ps)
    if not sub.in_recovery:
        return _send_in_order(params, sub, ring, packet, now_ps)
    return _send_in_recovery(params, own.subflow, sub, ring, packet, now_ps)


@inlined
def _send_in_order(params: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Send the next segment that the receiver does not hold; only after a timeout does it hold any."""
    sacked = 0
    if sub.una <= sub.recover:
        while sub.next_segment < sub.high and holds(sub, ring, sub.next_segment, SACKED):
            sub.next_segment += 1
        sacked = _count(sub, ring, sub.una, sub.next_segment, SACKED, SACKED)
    return send_next(params, sub, packet, sacked, now_ps)


@inlined
def _send_in_recovery(params: Any, memory: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Send the segment that NextSeg names, while Pipe leaves room in the window (RFC 6675, section 5 step C)."""
    if params.reduction != Reduction.AT_ONCE and memory.prr_flight_bytes > 0:
        _reduce(params, memory, sub)
    if sub.resend:
        sub.resend = 0
        return _resend(params, memory, sub, ring, packet, sub.una, now_ps)
    if (memory.pipe_packets + 1) * params.mss_bytes > sub.cwnd_bytes:
        return 0
    lost = _next_hole(memory, sub, ring, memory.lost_below)
    if lost != NONE:
        return _resend(params, memory, sub, ring, packet, lost, now_ps)
    segment = sub.next_segment
    room = (segment - sub.una + 1) * params.mss_bytes <= params.max_window_bytes
    if segment - sub.una <= sub.ring_mask and room:
        if segment < sub.end:
            sub.next_segment = segment + 1
            memory.pipe_packets += 1
            memory.prr_out_bytes += params.mss_bytes
            return send_segment(params, sub, packet, segment, now_ps)
        sub.ready = not sub.final
    doubtful = _next_hole(memory, sub, ring, memory.high_sacked)
    if doubtful != NONE:
        return _resend(params, memory, sub, ring, packet, doubtful, now_ps)
    return _rescue(params, memory, sub, ring, packet, now_ps)


@inlined
def _rescue(params: Any, memory: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Send the last segment outstanding, once in a recovery; it does not count as resent (NextSeg rule 4)."""
    if not params.rescue or sub.una - 1 <= memory.rescued:
        return 0
    segment = sub.next_segment - 1
    while holds(sub, ring, segment, SACKED):  # ends at `una`, which is not SACKED
        segment -= 1
    memory.rescued = sub.recover
    memory.pipe_packets += 1
    memory.prr_out_bytes += params.mss_bytes
    return send_segment(params, sub, packet, segment, now_ps)


@inlined
def _next_hole(memory: Any, sub: Any, ring: Any, below: int) -> int:
    """Return the first segment below a limit that is neither SACKed nor resent, or NONE."""
    limit, segment = min(below, sub.next_segment), max(sub.una, memory.no_hole_below)
    while segment < limit and holds(sub, ring, segment, SACKED | RESENT):
        segment += 1
    memory.no_hole_below = segment
    return segment if segment < limit else NONE


@inlined
def _resend(params: Any, memory: Any, sub: Any, ring: Any, packet: Any, segment: int, now_ps: int) -> int:
    ring[segment & sub.ring_mask] |= RESENT
    memory.pipe_packets += 1
    memory.prr_out_bytes += params.mss_bytes
    return send_segment(params, sub, packet, segment, now_ps)


def on_timeout(params: Any, own: Any, sub: Any, ring: Any, now_ps: int) -> int:
    """Go back to the first unacknowledged segment; what is SACKED stays so."""
    if sub.state == SYN_SENT:
        return expire_syn(params, sub, now_ps)
    memory = own.subflow
    _update_scoreboard(memory, sub, ring)
    pipe_bytes = min(memory.pipe_packets * params.mss_bytes, flight_bytes(params, sub))
    _forget_resent(memory, sub, ring)
    return go_back(params, sub, pipe_bytes, now_ps)


SACK = Transport(
    name="sack",
    open=open_,
    send=send,
    on_data=on_data,
    on_ack=on_ack,
    on_timeout=on_timeout,
    params=SackParams(),
    memory={
        "subflow": (
            ("pipe_packets", "i4"),  # RFC 6675: Pipe
            ("lost_below", "i4"),  # RFC 6675: what is below and not SACKed is lost
            ("high_sacked", "i4"),
            ("no_hole_below", "i4"),  # from `una` up to it every segment is SACKED or resent
            ("rescued", "i4"),  # RFC 6675: RescueRxt, in segments
            (
                "prr_flight_bytes",
                "i4",
            ),  # RFC 6937: RecoverFS; below 0 when the window is set for the last ACK
            ("prr_delivered_bytes", "i4"),
            ("prr_new_bytes", "i4"),  # RFC 6937: DeliveredData
            ("prr_out_bytes", "i4"),
            ("prr_repaired", "i4"),  # whether this ACK advances over a retransmission
            *BLOCK_MEMORY,
        ),
        "packet": (
            ("sack_first", BLOCKS),  # of an acknowledgement: blocks [first, end) above `ack`, newest first; 0, 0 = none
            ("sack_end", BLOCKS),
        ),
    },
)

"""RACK-TLP (RFC 8985): losses are found by time, not by a count of duplicates, and a probe asks what became of the end.

A segment is lost when one sent after it has been delivered and a round trip and a reordering window have passed since
it was sent. Before a recovery and in it, Pipe (RFC 6675) has to be below the window; what is lost goes first.

============================== ==================================================================== =============
Event                          What follows                                                         RFC 8985
============================== ==================================================================== =============
acknowledgement                the segment sent last of those delivered, and its round trip         6.2, step 2
                               one is delivered below others and was sent once: reordering          6.2, step 3
                               duplicate reported: a wider reordering window, once a round          6.2, step 4
                               older segments are lost, or will be: the timer                       6.2, step 5
no acknowledgement, 2 SRTT     a probe: a new segment, or the highest sent; no other beside it      7.2, 7.3
it has repaired a loss         the window is reduced                                                7.4.2
timeout                        the first segment, and all that time makes lost, are lost            6.3
a retransmission is lost       the window is reduced once more                                      9.3
all retransmitted came twice   with ``undo``: the window is what it was before the reduction        RFC 3708
only a header has come         its segment is lost, if it was not retransmitted meanwhile           -
============================== ==================================================================== =============

=========================== ================== ======================================== =============
Quantity                    Symbol             Name                                     Source
=========================== ================== ======================================== =============
segment sent last of those  RACK.xmit_ts,      ``xmit_ps``, ``newest``                  RFC 8985, 5.2
delivered                   RACK.end_seq
its round trip              RACK.rtt           ``rtt_ps``                               RFC 8985, 5.2
reordering window           RACK.reo_wnd       ``window_ps``                            RFC 8985, 6.2
segment's time of sending   Segment.xmit_ts    ``own.segments[...].sent_ps``            RFC 8985, 5.1
segment is lost             Segment.lost       MISSING in the ring                      RFC 8985, 5.1
segment sent more than once Segment.           RESENT in the ring                       RFC 8985, 5.1
                            retransmitted
=========================== ================== ======================================== =============

There are no time stamps: of a retransmission whose round trip is shorter than the shortest one, the original was
delivered. A segment counts as sent when it is handed to the NIC (RFC 8985, 5.1: when it was transmitted, for which
Linux takes the time at which TCP passes it on). Without a round trip since the last probe no probe is sent, so none is
planned either. A reduced window holds at once (no RFC 6937).

Packets that overtake each other by more than the reordering window are taken for lost. What was retransmitted then
comes twice, which the receiver reports (D-SACK). With ``undo`` the window and ssthresh are as before, once all segments
that were retransmitted since the reduction have been reported, as in Linux (``tcp_try_undo_dsack``; RFC 3708 finds, RFC
4015 would grow more slowly). A timeout, a header that was trimmed, a retransmission that was lost and a loss that a
probe repaired are no guesses by time: what they reduce is not undone. RFC 8985 asks for none of it, so it is an option.
"""

from dataclasses import dataclass
from typing import Any

from capsim.base.inlined import inlined
from capsim.protocols.transports.rack_receiver import LateAckParams, on_data, on_receive_timer
from capsim.protocols.transports.sack_blocks import BLOCK_MEMORY, BLOCKS, know, past_known
from capsim.protocols.transports.tcp import (
    advance,
    back_off,
    echoed_mark,
    expire_syn,
    holds,
    note_loss,
    open_,
    open_by_reply,
    payload_bytes,
    sample_rtt,
    send_opening,
    send_segment,
)
from capsim.records import ACK, ESTABLISHED, MISSING, NONE, RESENT, RETRANSMITTED, SACKED, SYN_SENT
from capsim.roles.components import Transport
from capsim.roles.hooks import ACKED, CERTAIN, DUPLICATE, EXPIRED, EXPIRED_AGAIN, GROW, HEADER, LOST

PERSIST = 16  # recoveries without a duplicate after which the reordering window is narrow again (6.2, step 4)


@dataclass(frozen=True, kw_only=True)
class RackParams(LateAckParams):
    """Parameters of TCP, of its receiver, and of RACK-TLP.

    Parameters
    ----------
    limited_transmit : bool
        Whether before a recovery too each SACKed segment lets a new one leave, as in Linux; RFC 3042 allows two.
    dup_ack_threshold : int
        SACKed segments from which on there is no reordering window while no reordering was seen (RFC 8985, 6.2).
    tlp : bool
        Whether probes are sent (RFC 8985, section 7).
    undo : bool
        Whether a reduced window is restored when all retransmissions are reported as duplicates (RFC 3708; Linux).
    """

    tlp: bool = True
    undo: bool = False


def on_ack(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Take what is delivered, then find what is lost (RFC 8985, 6.2), and set the timer."""
    if sub.state != ESTABLISHED or packet.kind != ACK:
        return open_by_reply(params, sub, packet, now_ps)
    memory, signals = own.subflow, echoed_mark(packet)
    before, recovering = sub.una, sub.una <= sub.recover
    if not packet.flags & RETRANSMITTED:
        rtt_ps = now_ps - packet.sent_ps
        memory.shortest_ps = rtt_ps if memory.shortest_ps == 0 else min(memory.shortest_ps, rtt_ps)
        memory.probed = 0
    fresh = take_delivered(params, own, sub, ring, packet, now_ps)
    if packet.ack > before:
        signals |= _take_new(params, own.subflow, sub, ring, packet, now_ps)
    elif packet.ack == before and before < sub.high and not own.packet.trimmed:
        signals |= DUPLICATE
        sub.dup_acks_received += fresh > 0
    signals |= _end_probe(params, own, sub, packet, before, now_ps)
    adapt_window(memory, sub, own.packet.duplicate, recovering and sub.una > sub.recover)
    if params.undo:
        _undo(memory, sub, own.packet.duplicate - 1)
    named = only_header(own, sub, ring, packet)
    lost = 0
    if sub.una < sub.next_segment:
        lost = _find_lost(params, own, sub, ring, named, now_ps)
    if lost:
        signals = (signals & ~CERTAIN) | lost
    _plan(params, memory, sub, signals & ACKED, now_ps)
    return signals | (HEADER if own.packet.trimmed else 0)


@inlined
def only_header(own: Any, sub: Any, ring: Any, packet: Any) -> int:
    """Return the segment of which the receiver has the header of the last copy sent, or NONE."""
    segment = own.packet.trimmed - 1
    if not sub.una <= segment < sub.next_segment or holds(sub, ring, segment, SACKED | MISSING):
        return NONE
    return segment if own.segments[segment & sub.ring_mask].sent_ps == packet.sent_ps else NONE


@inlined
def sent_after(sent_ps: int, segment: int, other_ps: int, other: int) -> bool:
    """Return whether a segment was sent after another one; of two sent at once the higher was (RFC 8985, 6.2)."""
    return sent_ps > other_ps or (sent_ps == other_ps and segment > other)


@inlined
def take_delivered(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Enter what is acknowledged for the first time (RFC 8985, 6.2, steps 2 and 3); return how many blocks report.

    Of all that one acknowledgement reports the segment sent last gives the round trip.
    """
    memory, fresh, highest = own.subflow, 0, own.subflow.highest
    memory.latest_ps, memory.latest = NONE, NONE
    for segment in range(sub.una, packet.ack):
        if holds(sub, ring, segment, SACKED):
            memory.sacked_packets -= 1
        else:
            _deliver(memory, own.segments, sub, ring, segment, highest, now_ps)
    for index in range(params.sack_blocks):
        first, end = own.packet.sack_first[index], own.packet.sack_end[index]
        if end == 0:
            break
        segment = past_known(memory, max(first, sub.una))
        while segment < end:
            if not holds(sub, ring, segment, SACKED):
                _deliver(memory, own.segments, sub, ring, segment, highest, now_ps)
                ring[segment & sub.ring_mask] = (ring[segment & sub.ring_mask] | SACKED) & ~MISSING
                memory.sacked_packets += 1
                fresh += 1
            segment = past_known(memory, segment + 1)
        know(memory, sub, first, end)
    if memory.latest != NONE:
        memory.rtt_ps = now_ps - memory.latest_ps
        if sent_after(memory.latest_ps, memory.latest, memory.xmit_ps, memory.newest):
            memory.xmit_ps, memory.newest = memory.latest_ps, memory.latest
    return fresh


@inlined
def _deliver(memory: Any, segments: Any, sub: Any, ring: Any, segment: int, highest: int, now_ps: int) -> None:
    """Enter one segment, of which `highest` was the highest delivered before this acknowledgement."""
    flags, sent_ps = ring[segment & sub.ring_mask], segments[segment & sub.ring_mask].sent_ps
    if segment > memory.highest:
        memory.highest = segment
    elif segment < highest and not flags & RESENT:
        memory.reordering_seen = 1
    if flags & MISSING:  # the copy that was taken for lost, and is not retransmitted yet
        memory.missing_packets -= 1
    certain = not flags & RESENT or now_ps - sent_ps >= memory.shortest_ps
    if certain and sent_after(sent_ps, segment, memory.latest_ps, memory.latest):
        memory.latest_ps, memory.latest = sent_ps, segment


@inlined
def _take_new(params: Any, memory: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Advance, and end a recovery; return the signals."""
    sample_rtt(params, sub, packet, now_ps)
    advance(params, sub, ring, packet.ack)
    memory.rto_at_ps = now_ps + sub.rto_ps
    if not sub.in_recovery:
        return ACKED | GROW
    if sub.una <= sub.recover:
        return ACKED
    sub.in_recovery = 0
    sub.cwnd_bytes = sub.ssthresh_bytes
    return ACKED | GROW if params.grow_at_full_ack else ACKED


@inlined
def adapt_window(memory: Any, sub: Any, duplicate: int, recovered: bool) -> None:
    """Widen the reordering window in a round with a duplicate; narrow it after recoveries without (6.2, step 4)."""
    if memory.round_end != NONE and sub.una >= memory.round_end:
        memory.round_end = NONE
    if memory.round_end == NONE and duplicate:
        memory.round_end = sub.next_segment
        memory.quarters += 1
        memory.persist = PERSIST
    elif recovered:
        memory.persist -= 1
        if memory.persist <= 0:
            memory.quarters = 1


@inlined
def reordering_window_ps(memory: Any, sub: Any) -> int:
    """Return RACK.reo_wnd (RFC 8985, 6.2, step 4)."""
    if not memory.reordering_seen and (sub.una <= sub.recover or memory.sacked_packets >= sub.dup_ack_threshold):
        return 0
    window_ps = memory.quarters * memory.shortest_ps // 4
    return int(min(window_ps, sub.srtt_ps) if sub.srtt_ps else window_ps)


@inlined
def _find_lost(params: Any, own: Any, sub: Any, ring: Any, named: int, now_ps: int) -> int:
    """Find what is lost and when to look again (RFC 8985, 6.2, step 5); return the signals.

    `named` is the segment whose header alone has come, which is lost, or NONE. Segments sent once were sent in their
    order, so those from `checked` on, none of which was retransmitted, were sent after the newest one.
    """
    memory, guessed = own.subflow, 0
    memory.window_ps = reordering_window_ps(memory, sub)
    memory.checked = max(memory.checked, sub.una)
    while memory.checked < sub.next_segment and not sent_after(
        own.segments[memory.checked & sub.ring_mask].sent_ps, memory.checked, memory.xmit_ps, memory.newest
    ):
        memory.checked += 1
    again, look_ps = 0, NONE
    if named != NONE:
        again = _miss(own, sub, ring, named)
    for segment in range(sub.una, memory.checked):
        flags = ring[segment & sub.ring_mask]
        if flags & (SACKED | MISSING):
            continue
        sent_ps = own.segments[segment & sub.ring_mask].sent_ps
        if sent_after(memory.xmit_ps, memory.newest, sent_ps, segment):
            due_ps = sent_ps + memory.rtt_ps + memory.window_ps
            if due_ps > now_ps:
                look_ps = max(look_ps, due_ps)
            else:
                guessed = 1
                again |= _miss(own, sub, ring, segment)
    memory.look_at_ps = look_ps
    if again or ((guessed or named != NONE) and sub.una > sub.recover):
        _enter_recovery(params, memory, sub, now_ps)
        if params.undo and not again and named == NONE:
            _keep_window(memory, sub)
        return LOST if guessed else LOST | CERTAIN
    return 0


@inlined
def _miss(own: Any, sub: Any, ring: Any, segment: int) -> int:
    """Count a segment as lost; return 1 if it was a retransmission sent since the window was reduced."""
    memory, flags = own.subflow, ring[segment & sub.ring_mask]
    ring[segment & sub.ring_mask] = flags | MISSING
    memory.missing_packets += 1
    memory.first_missing = min(memory.first_missing, segment)
    return int(flags & RESENT != 0 and own.segments[segment & sub.ring_mask].sent_ps >= memory.reduced_ps)


@inlined
def _note_loss(params: Any, memory: Any, sub: Any, now_ps: int) -> None:
    """Keep what was in flight; what was sent beyond the window, in place of SACKed segments, is limited transmit."""
    note_loss(params, sub, pipe_packets(memory, sub) * params.mss_bytes)
    sub.lost_flight_bytes = min(sub.lost_flight_bytes, sub.cwnd_bytes)
    memory.reduced_ps = now_ps
    memory.probe_end = NONE
    memory.undo_packets = NONE


@inlined
def _enter_recovery(params: Any, memory: Any, sub: Any, now_ps: int) -> None:
    """Reduce the window, once for what was lost of it, and let a lost segment leave at once."""
    _note_loss(params, memory, sub, now_ps)
    sub.fast_retransmits += not sub.in_recovery
    sub.recover = sub.high - 1
    sub.in_recovery = 1
    sub.resend = 1


@inlined
def _keep_window(memory: Any, sub: Any) -> None:
    """Keep what a loss is about to reduce, and count from here on what is retransmitted."""
    memory.undo_packets = 0
    memory.undo_from = sub.una
    memory.undo_cwnd_bytes = sub.cwnd_bytes
    memory.undo_ssthresh_bytes = sub.ssthresh_bytes


@inlined
def _undo(memory: Any, sub: Any, segment: int) -> None:
    """Count a segment that came twice, if any; after the last one retransmitted restore the window."""
    if memory.undo_packets <= 0 or segment < memory.undo_from:
        return
    memory.undo_packets -= 1
    if memory.undo_packets > 0:
        return
    memory.undo_packets = NONE
    sub.cwnd_bytes = max(sub.cwnd_bytes, memory.undo_cwnd_bytes)
    sub.ssthresh_bytes = max(sub.ssthresh_bytes, memory.undo_ssthresh_bytes)
    sub.recover = min(sub.recover, sub.una - 1)
    sub.in_recovery = 0


@inlined
def _end_probe(params: Any, own: Any, sub: Any, packet: Any, before: int, now_ps: int) -> int:
    """Decide whether a probe has repaired a loss, when an acknowledgement reaches its end (RFC 8985, 7.4.2)."""
    memory = own.subflow
    if memory.probe_end == NONE or packet.ack < memory.probe_end:
        return 0
    duplicate = own.packet.duplicate
    came_twice = duplicate == memory.probe_end or (
        packet.ack == before and not duplicate and not own.packet.sack_end[0]
    )
    if not memory.probe_again or came_twice:
        memory.probe_end = NONE
    elif packet.ack > memory.probe_end:
        _note_loss(params, memory, sub, now_ps)
        return LOST | CERTAIN
    return 0


@inlined
def _plan(params: Any, memory: Any, sub: Any, progress: int, now_ps: int) -> None:
    """Set the one timer: to look for losses, or to probe, but to the timeout where that is first (RFC 8985, 7.2, 8)."""
    if sub.una == sub.next_segment:
        memory.rto_at_ps, memory.look_at_ps, memory.probe_at_ps = NONE, NONE, NONE
        sub.timer_ps = NONE
        return
    may_probe = params.tlp and sub.una > sub.recover and memory.sacked_packets == 0 and memory.look_at_ps == NONE
    if not may_probe or memory.probed or memory.probe_end != NONE or sub.srtt_ps == 0:
        memory.probe_at_ps = NONE
    elif progress:
        memory.planned_ps = now_ps
        one = sub.next_segment - sub.una == 1 and params.ack_every > 1
        probe_at_ps = now_ps + 2 * sub.srtt_ps + (params.ack_delay_ps if one else 0)
        memory.probe_at_ps = min(probe_at_ps, memory.rto_at_ps)
    sub.timer_ps = memory.rto_at_ps
    if memory.look_at_ps != NONE:
        sub.timer_ps = min(sub.timer_ps, memory.look_at_ps)
    elif memory.probe_at_ps != NONE:
        sub.timer_ps = memory.probe_at_ps


@inlined
def pipe_packets(memory: Any, sub: Any) -> int:
    """Return Pipe: what is sent, neither acknowledged nor lost (RFC 6675, section 4)."""
    return int(sub.next_segment - sub.una - memory.sacked_packets - memory.missing_packets)


def send(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Send a probe, else what is lost, else what is new, as far as the window allows."""
    if sub.state != ESTABLISHED:
        return send_opening(params, sub, packet, now_ps)
    memory = own.subflow
    if memory.probe_due:
        memory.probe_due = 0
        return _probe(params, own, sub, ring, packet, now_ps)
    if memory.missing_packets:
        room = (pipe_packets(memory, sub) + 1) * params.mss_bytes <= sub.cwnd_bytes
        return _send_missing(params, own, sub, ring, packet, now_ps) if sub.resend or room else 0
    return _send_new(params, own, sub, ring, packet, sub.cwnd_bytes, now_ps)


@inlined
def _send_missing(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Send the first lost segment."""
    segment = max(own.subflow.first_missing, sub.una)
    while not holds(sub, ring, segment, MISSING):
        segment += 1
    own.subflow.first_missing = segment + 1
    own.subflow.missing_packets -= 1
    sub.resend = 0
    return _send_again(params, own, sub, ring, packet, segment, now_ps)


@inlined
def _send_new(params: Any, own: Any, sub: Any, ring: Any, packet: Any, window_bytes: int, now_ps: int) -> int:
    """Send the next segment if there is one and Pipe has room for it in the window."""
    memory, segment = own.subflow, sub.next_segment
    held = segment - sub.una
    if held > sub.ring_mask or (segment >= sub.end and sub.final):
        return 0
    payload = payload_bytes(params, sub, segment)
    pipe = pipe_packets(memory, sub)
    if not params.limited_transmit and sub.una > sub.recover:
        pipe = held
    if held * params.mss_bytes + payload > sub.max_window_bytes or pipe * params.mss_bytes + payload > window_bytes:
        return 0
    if segment >= sub.end:
        sub.ready = 1
        return 0
    sub.next_segment = segment + 1
    _send(params, own, sub, packet, segment, now_ps)
    if memory.planned_ps != now_ps or params.ack_every > 1:
        _plan(params, memory, sub, 1, now_ps)
    return 1


@inlined
def _send_again(params: Any, own: Any, sub: Any, ring: Any, packet: Any, segment: int, now_ps: int) -> int:
    """Send a segment once more; `checked` stays above all that were."""
    ring[segment & sub.ring_mask] = (ring[segment & sub.ring_mask] | RESENT) & ~MISSING
    own.subflow.checked = max(own.subflow.checked, segment + 1)
    own.subflow.undo_packets += own.subflow.undo_packets != NONE
    return _send(params, own, sub, packet, segment, now_ps)


@inlined
def _send(params: Any, own: Any, sub: Any, packet: Any, segment: int, now_ps: int) -> int:
    own.segments[segment & sub.ring_mask].sent_ps = now_ps
    send_segment(params, sub, packet, segment, now_ps)
    if own.subflow.rto_at_ps == NONE:
        own.subflow.rto_at_ps = sub.timer_ps
    return 1


@inlined
def _probe(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Send a new segment whatever the window, or the highest one again (RFC 8985, 7.3)."""
    memory = own.subflow
    memory.probed, memory.probe_again = 1, 0
    if sub.next_segment >= sub.end or not _send_new(params, own, sub, ring, packet, sub.max_window_bytes, now_ps):
        memory.probe_again = 1
        _send_again(params, own, sub, ring, packet, sub.next_segment - 1, now_ps)
    memory.probe_end = sub.next_segment
    _plan(params, memory, sub, 0, now_ps)
    return 1


def on_timeout(params: Any, own: Any, sub: Any, ring: Any, now_ps: int) -> int:
    """Look for losses, or have a probe sent, or take the first segment for lost; return the signals."""
    if sub.state == SYN_SENT:
        return expire_syn(params, sub, now_ps)
    memory, signals = own.subflow, 0
    if memory.look_at_ps != NONE and memory.look_at_ps <= now_ps:
        signals = _find_lost(params, own, sub, ring, NONE, now_ps)
    elif memory.probe_at_ps != NONE and memory.probe_at_ps <= now_ps:
        memory.probe_due, memory.probe_at_ps = 1, NONE
        memory.rto_at_ps = now_ps + sub.rto_ps
    else:
        return _expire(params, own, sub, ring, now_ps)
    _plan(params, memory, sub, 0, now_ps)
    return signals


@inlined
def _expire(params: Any, own: Any, sub: Any, ring: Any, now_ps: int) -> int:
    """Take the first segment for lost, and those for which it is time (RFC 8985, 6.3); it leaves at once."""
    memory, signals = own.subflow, EXPIRED
    if sub.timed_out == sub.una:
        signals |= EXPIRED_AGAIN
    _note_loss(params, memory, sub, now_ps)
    for segment in range(sub.una, sub.next_segment):
        if not holds(sub, ring, segment, SACKED | MISSING):
            lost_ps = own.segments[segment & sub.ring_mask].sent_ps + memory.rtt_ps + memory.window_ps
            if segment == sub.una or lost_ps <= now_ps:
                _miss(own, sub, ring, segment)
    sub.timed_out = sub.una
    sub.recover = sub.high - 1
    sub.in_recovery = 0
    sub.resend = 1
    back_off(params, sub, now_ps)
    memory.rto_at_ps, memory.look_at_ps, memory.probe_at_ps = sub.timer_ps, NONE, NONE
    return signals


RACK = Transport(
    name="rack",
    open=open_,
    send=send,
    on_data=on_data,
    on_ack=on_ack,
    on_timeout=on_timeout,
    on_receive_timer=on_receive_timer,
    reads_headers=True,
    params=RackParams(),
    memory={
        "segment": (("sent_ps", "i8"),),
        "subflow": (
            ("xmit_ps", "i8", -1),  # RACK.xmit_ts
            ("newest", "i4", -1),  # RACK.end_seq
            ("rtt_ps", "i8"),  # RACK.rtt
            ("shortest_ps", "i8"),  # RACK.min_RTT; 0 for none
            ("window_ps", "i8"),  # RACK.reo_wnd
            ("highest", "i4", -1),  # RACK.fack
            ("reordering_seen", "i4"),
            ("quarters", "i4", 1),  # RACK.reo_wnd_mult: of the shortest round trip
            ("persist", "i4", PERSIST),  # RACK.reo_wnd_persist
            ("round_end", "i4", -1),  # RACK.dsack_round, or NONE
            ("latest_ps", "i8"),  # of this acknowledgement, what was sent last
            ("latest", "i4"),
            ("sacked_packets", "i4"),  # RACK.segs_sacked
            ("missing_packets", "i4"),
            ("first_missing", "i4"),  # none below it
            ("checked", "i4"),  # from it on nothing was retransmitted, nor before the newest one delivered
            ("reduced_ps", "i8"),  # when the window was reduced last
            ("rto_at_ps", "i8", -1),  # deadlines, or NONE: of the timeout,
            ("look_at_ps", "i8", -1),  # of the reordering window,
            ("probe_at_ps", "i8", -1),  # of the probe
            ("planned_ps", "i8", -1),  # when the probe was planned
            ("probe_due", "i4"),
            ("probe_end", "i4", -1),  # TLP.end_seq, or NONE
            ("probe_again", "i4"),  # TLP.is_retrans
            ("probed", "i4"),  # no round trip was measured since the last probe
            ("undo_packets", "i4", -1),  # retransmitted since the reduction, not reported twice; NONE: nothing to undo
            ("undo_from", "i4"),  # the first segment of which that counts
            ("undo_cwnd_bytes", "i8"),  # before the reduction
            ("undo_ssthresh_bytes", "i8"),
            *BLOCK_MEMORY,
            ("unacked", "i4"),  # at the receiver: packets whose acknowledgement is put off
            ("mark", "i4"),  # of these
            ("answers_before", "i4"),  # whether this acknowledgement is for those before the packet that came
            ("echo_ps", "i8"),  # when the first of them was sent
            ("echo_again", "i4"),  # whether it was a retransmission
        ),
        "packet": (
            ("sack_first", BLOCKS),  # of an acknowledgement: blocks [first, end) above `ack`, newest first; 0, 0 = none
            ("sack_end", BLOCKS),
            ("duplicate", "i4"),  # of an acknowledgement: one above the segment that has come once more, or 0
            ("trimmed", "i4"),  # of an acknowledgement: one above the segment of which only the header has come, or 0
        ),
    },
)

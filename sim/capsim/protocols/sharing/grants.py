"""Granting data segments of a shared stream to subflows: what all schedulers share."""

from enum import IntEnum
from typing import Any

from capsim.base.inlined import inlined
from capsim.records import NONE, SYN_SENT


class Scheduler(IntEnum):
    """Which of the subflows that would send gets the next data segment.

    ROUND_ROBIN: the next in turn, as in the authors' code of MMPTCP. LOWEST_RTT: the one with the least smoothed round
    trip, as in Linux; one that has not measured it comes first. IN_ORDER: the one that was opened first. WAITING: as
    ROUND_ROBIN, but the turn stays at a subflow whose SYN is not answered, and nobody is granted anything until it is
    (authors' ns-3 code of MMPTCP).
    """

    ROUND_ROBIN = 0
    LOWEST_RTT = 1
    IN_ORDER = 2
    WAITING = 3


@inlined
def grant(flow: Any, sub: Any, maps: Any, segment: int) -> None:
    """Give a data segment to a subflow as the last of its own."""
    maps[sub.ring + (sub.end & sub.ring_mask)] = segment
    if segment == flow.n_segments - 1:
        sub.short_segment = sub.end
        sub.short_bytes = flow.last_segment_bytes
    elif sub.short_segment == sub.end:
        sub.short_segment = NONE  # it had been offered the last one
    sub.end += 1
    flow.ready_subs -= sub.ready
    sub.ready = 0


@inlined
def note_blocked(flow: Any, blocked: bool, now_ps: int) -> None:
    """Measure for how long the receive buffer keeps subflows from sending."""
    if blocked and flow.blocked_since_ps == NONE:
        flow.blocked_since_ps = now_ps
    elif not blocked and flow.blocked_since_ps != NONE:
        flow.blocked_ps += now_ps - flow.blocked_since_ps
        flow.blocked_since_ps = NONE


@inlined
def has_room(flow: Any) -> bool:
    """Return whether receiver and sender have room for the next data segment."""
    return bool(flow.granted < flow.peer_window and flow.granted - flow.data_acked <= flow.data_mask)


@inlined
def next_in_turn(flow: Any, subs: Any, turn: int) -> int:
    """Return the first subflow from number `turn` on that would send, or NONE."""
    number, chosen, later = flow.first_sub, NONE, NONE
    while number != NONE:
        sub = subs[number]
        if sub.ready and sub.number >= turn and later == NONE:
            later = number
        if sub.ready and chosen == NONE:
            chosen = number
        number = sub.next_sub
    return int(chosen if later == NONE else later)


@inlined
def nearest(flow: Any, subs: Any, passed_over: int) -> int:
    """Return the subflow with the least smoothed round trip of those that would send, or NONE.

    `passed_over` has a bit for the number of each subflow that is not to be taken.
    """
    number, chosen = flow.first_sub if flow.ready_subs else NONE, NONE
    while number != NONE:
        sub = subs[number]
        allowed = sub.ready and not (passed_over >> sub.number) & 1
        if allowed and (chosen == NONE or sub.srtt_ps < subs[chosen].srtt_ps):
            chosen = number
        number = sub.next_sub
    return int(chosen)


@inlined
def numbered(flow: Any, subs: Any, wanted: int) -> int:
    """Return the subflow with the number `wanted` in its flow."""
    number = flow.first_sub
    while subs[number].number != wanted:
        number = subs[number].next_sub
    return int(number)


@inlined
def waited_for(own_flow: Any, flow: Any, subs: Any) -> int:
    """Move the turn on to the first subflow that would send, but not past one whose SYN is not answered."""
    for _ in range(flow.n_subs):
        number = numbered(flow, subs, own_flow.turn % flow.n_subs)
        if subs[number].ready:
            return number
        if subs[number].state == SYN_SENT:
            return NONE
        own_flow.turn = subs[number].number + 1
    return NONE


@inlined
def chosen_by(scheduler: int, own_flow: Any, flow: Any, subs: Any) -> int:
    """Return the subflow that a scheduler chooses of those that would send, or NONE."""
    if scheduler == Scheduler.WAITING:
        return waited_for(own_flow, flow, subs)
    if flow.ready_subs == 0:
        return NONE
    if flow.ready_subs == 1 and subs[flow.ready_sub].ready:
        return int(flow.ready_sub)
    if scheduler == Scheduler.LOWEST_RTT:
        return nearest(flow, subs, 0)
    return next_in_turn(flow, subs, own_flow.turn if scheduler == Scheduler.ROUND_ROBIN else 0)


@inlined
def grant_next(own_flow: Any, flow: Any, sub: Any, maps: Any) -> None:
    """Grant the next data segment of the stream."""
    grant(flow, sub, maps, flow.granted)
    flow.granted += 1
    own_flow.turn = sub.number + 1

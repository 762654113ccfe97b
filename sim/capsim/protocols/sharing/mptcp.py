"""MPTCP's stream over several subflows (RFC 8684): subflows opened at the start, data segments granted as windows open.

A data segment goes to the first subflow, from the one after the last that got one, that would send it now (round robin
over those whose windows have room). It stays with that subflow, which repairs its loss. The receiver keeps what comes
behind a gap of the stream in one buffer for all subflows, and advertises its room.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim import bounds
from capsim.hooks import inlined
from capsim.records import NONE
from capsim.roles import Sharing


@dataclass(frozen=True, kw_only=True)
class MptcpParams:
    """Parameters of the path manager and of the receive buffer.

    Parameters
    ----------
    subflows : int
        Subflows of a flow, each with a hash of its own (mmptcp: 8).
    buffer_segments : int
        Data segments that the receiver keeps behind a gap, for all subflows; 0 for as many as can be in flight.
    """

    subflows: Annotated[int, bounds.COPIES] = 8
    buffer_segments: Annotated[int, bounds.QUEUE_PACKETS] = 0


def begin(params: Any, own: Any, flow: Any, now_ps: int) -> int:
    """Open all subflows, no more than there are data segments."""
    if params.buffer_segments:
        flow.buffer_segments = min(params.buffer_segments, flow.buffer_segments)
    flow.peer_window = flow.buffer_segments
    return min(params.subflows, flow.n_segments)


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
    sub.hungry = 0


@inlined
def note_blocked(flow: Any, blocked: bool, now_ps: int) -> None:
    """Measure for how long the receive buffer keeps subflows from sending."""
    if blocked and flow.blocked_since_ps == NONE:
        flow.blocked_since_ps = now_ps
    elif not blocked and flow.blocked_since_ps != NONE:
        flow.blocked_ps += now_ps - flow.blocked_since_ps
        flow.blocked_since_ps = NONE


def schedule(params: Any, own: Any, flow: Any, subs: Any, maps: Any, data: Any, now_ps: int) -> int:
    """Grant the next data segment to the next subflow in turn that would send it."""
    if flow.granted == flow.n_segments:
        return NONE
    room = flow.granted < flow.peer_window and flow.granted - flow.data_acked <= flow.data_mask
    number, chosen, later = flow.first_sub, NONE, NONE
    while number != NONE:
        sub = subs[number]
        if sub.hungry and sub.number >= own.flow.turn and later == NONE:
            later = number
        if sub.hungry and chosen == NONE:
            chosen = number
        number = sub.next_sub
    chosen = chosen if later == NONE else later
    note_blocked(flow, chosen != NONE and not room, now_ps)
    if chosen == NONE or not room:
        return NONE
    grant(flow, subs[chosen], maps, flow.granted)
    flow.granted += 1
    own.flow.turn = subs[chosen].number + 1
    return int(chosen)


MPTCP = Sharing(
    name="mptcp",
    begin=begin,
    schedule=schedule,
    params=MptcpParams(),
    memory={"flow": (("turn", "i8"),)},
)

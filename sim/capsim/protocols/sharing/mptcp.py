"""MPTCP's stream over several subflows (RFC 8684): data segments are granted as windows open.

A data segment goes to a subflow that would send it now, by default to the next in turn. It stays with that subflow,
which repairs its loss. The receiver keeps what comes behind a gap of the stream in one buffer for all subflows, and
advertises its room. Timers and round trips are those of the subflows
(:mod:`~capsim.protocols.transports.tcp`).
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.protocols.sharing.grants import Scheduler, chosen_by, grant_next, has_room, note_blocked
from capsim.protocols.sharing.joins import JOIN_MEMORY, next_joins
from capsim.records import NONE
from capsim.roles.components import Sharing
from capsim.roles.hooks import JOINED, OPENED


@dataclass(frozen=True, kw_only=True)
class MptcpParams:
    """Parameters of the path manager, the scheduler and the receive buffer.

    Parameters
    ----------
    subflows : int
        Subflows of a flow, each with a hash of its own (mmptcp: 8); no more than data segments.
    join_after_first : bool
        Whether the further subflows are opened when the first is open, as in RFC 8684 and in mmptcp, or with it.
    join_gap_s : float
        The further subflows are opened at distinct random times within so many seconds after that (mmptcp: 50 us), in
        steps of a fiftieth; 0: all at once.
    scheduler : Scheduler
        Which subflow gets the next data segment. The RFCs leave it open; the authors' code of mmptcp has round robin.
    buffer_segments : int
        Data segments that the receiver keeps behind a gap, for all subflows; 0 for as many as can be in flight.
    """

    subflows: Annotated[int, bounds.COPIES] = 8
    join_after_first: bool = False
    join_gap_s: float = 0.0
    scheduler: Scheduler = Scheduler.ROUND_ROBIN
    buffer_segments: Annotated[int, bounds.QUEUE_PACKETS] = 0


@inlined
def set_buffer(params: Any, flow: Any) -> None:
    """Limit the receive buffer."""
    if params.buffer_segments:
        flow.buffer_segments = min(params.buffer_segments, flow.buffer_segments)
    flow.peer_window = flow.buffer_segments


@inlined
def start_stream(params: Any, own_flow: Any, flow: Any) -> int:
    """Return how many subflows to open at the start: the first, or all of them."""
    set_buffer(params, flow)
    count = min(params.subflows, flow.n_segments)
    if not params.join_after_first:
        return int(count)
    own_flow.joins_left = count - 1
    return 1


def begin(params: Any, own: Any, flow: Any, now_ps: int) -> int:
    """Open the first subflow, or all of them."""
    return start_stream(params, own.flow, flow)


@inlined
def grant_if_room(own_flow: Any, flow: Any, subs: Any, maps: Any, chosen: int, now_ps: int) -> int:
    """Grant the next data segment to the chosen subflow if there is room for it; return that subflow, or NONE."""
    room = has_room(flow)
    note_blocked(flow, chosen != NONE and not room, now_ps)
    if chosen == NONE or not room:
        return NONE
    grant_next(own_flow, flow, subs[chosen], maps)
    return int(chosen)


def schedule(params: Any, own: Any, flow: Any, subs: Any, maps: Any, data: Any, now_ps: int) -> int:
    """Grant the next data segment to a subflow that would send it."""
    if flow.granted == flow.n_segments:
        return NONE
    return grant_if_room(own.flow, flow, subs, maps, chosen_by(params.scheduler, own.flow, flow, subs), now_ps)


@inlined
def open_further(params: Any, own_flow: Any, flow: Any, sub: Any, signals: int, now_ps: int, u0: float) -> int:
    """Open further subflows when the first is open, and when the one before has been opened."""
    if signals & JOINED or (signals & OPENED and sub.number == 0):
        return next_joins(params, own_flow, flow, now_ps, u0)
    return 0


def note(params, own, flow, sub, subs, maps, data, signals: int, now_ps: int, u0: float) -> int:
    """Open further subflows."""
    return open_further(params, own.flow, flow, sub, signals, now_ps, u0)


MPTCP = Sharing(
    name="mptcp",
    begin=begin,
    schedule=schedule,
    note=note,
    listens=OPENED | JOINED,
    params=MptcpParams(),
    memory={"flow": (("turn", "i8"), *JOIN_MEMORY)},
    draws=True,
)

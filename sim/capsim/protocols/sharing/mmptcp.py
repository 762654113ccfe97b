"""MMPTCP: packet scatter on one subflow at first, then, once enough has been sent, MPTCP over further subflows.

The first subflow keeps sending until one of the others is open. From then on it is granted nothing, repairs what it
has sent, and is closed when all of that is acknowledged; its window is not coupled with the others.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.protocols.sharing.grants import Scheduler, chosen_by
from capsim.protocols.sharing.joins import JOIN_MEMORY, next_joins
from capsim.protocols.sharing.mptcp import grant_if_room, set_buffer
from capsim.protocols.sharing.scattered import set_threshold
from capsim.records import CLOSED, NONE
from capsim.roles.components import Sharing
from capsim.roles.hooks import ACKED, JOINED, LOST, OPENED


class SwitchAt(IntEnum):
    """What ends the first phase: bytes sent (authors' code), bytes acknowledged, or the first loss found."""

    SENT = 0
    ACKED = 1
    LOSS = 2


@dataclass(frozen=True, kw_only=True)
class MmptcpParams:
    """Parameters of MMPTCP; the defaults are those of the paper, and of its authors' code where the paper is silent.

    Parameters
    ----------
    switch_bytes : int
        An acknowledgement that comes after more than so many bytes have been sent (see `switch_at`) ends the first
        phase.
    switch_at : SwitchAt
        Whether bytes count when sent for the first time or when acknowledged, which the paper leaves open, or a loss
        ends the first phase whatever its bytes (CwndSignal of the authors' code).
    joins : int
        Subflows opened for the second phase, beside the first, of flows through the core: 8 in the paper.
    joins_in_pod : int
        Likewise of flows within a pod: 8 in the paper, 4 with Auto Subflow.
    joins_in_rack : int
        Likewise of flows within a rack: 8 in the paper, 1 with Auto Subflow.
    join_gap_s : float
        They are opened at distinct random times within so many seconds, in steps of a fiftieth; 0: all at once.
    path_threshold, fixed_threshold : bool, int
        As in :class:`~capsim.protocols.sharing.scattered.ScatteredParams`, for the first subflow.
    scheduler : Scheduler
        Which of the further subflows gets the next data segment in the second phase.
    buffer_segments : int
        As in :class:`~capsim.protocols.sharing.mptcp.MptcpParams`.
    """

    switch_bytes: Annotated[int, bounds.THRESHOLD_BYTES] = 100_000
    switch_at: SwitchAt = SwitchAt.SENT
    joins: Annotated[int, bounds.JOINS] = 8
    joins_in_pod: Annotated[int, bounds.JOINS] = 8
    joins_in_rack: Annotated[int, bounds.JOINS] = 8
    join_gap_s: float = 50e-6
    path_threshold: bool = True
    fixed_threshold: Annotated[int, bounds.DUP_ACKS_OR_NONE] = 0
    scheduler: Scheduler = Scheduler.ROUND_ROBIN
    buffer_segments: Annotated[int, bounds.QUEUE_PACKETS] = 0

    @property
    def subflows(self) -> int:
        """Return the most subflows of a flow."""
        return 1 + max(self.joins, self.joins_in_pod, self.joins_in_rack)


def begin(params: Any, own: Any, flow: Any, now_ps: int) -> int:
    """Open the first subflow."""
    set_buffer(params, flow)
    return 1


def schedule(params: Any, own: Any, flow: Any, subs: Any, maps: Any, data: Any, now_ps: int) -> int:
    """Grant the next data segment to the first subflow, or in the second phase to one of the others."""
    if flow.granted == flow.n_segments:
        return NONE
    first = subs[flow.first_sub]
    if first.final:
        chosen = chosen_by(params.scheduler, own.flow, flow, subs)
    else:
        chosen = flow.first_sub if first.ready else NONE
    return grant_if_room(own.flow, flow, subs, maps, chosen, now_ps)


@inlined
def is_over(params: Any, flow: Any, signals: int) -> bool:
    """Return whether the first phase ends with this acknowledgement."""
    if params.switch_at == SwitchAt.LOSS:
        return bool(signals & LOST)
    segments = flow.granted if params.switch_at == SwitchAt.SENT else flow.data_acked
    return bool(min(segments * flow.mss_bytes, flow.flow_bytes) > params.switch_bytes)


@inlined
def planned_joins(params: Any, flow: Any) -> int:
    """Return how many subflows the second phase has."""
    if flow.distance == 0:
        return int(params.joins_in_rack)
    return int(params.joins_in_pod if flow.distance == 1 else params.joins)


@inlined
def retire(flow: Any, first: Any) -> None:
    """Grant nothing more to the first subflow; close it if nothing is left to repair."""
    first.final = 1
    flow.ready_subs -= first.ready
    first.ready = 0
    if first.una == first.end:
        first.state = CLOSED


@inlined
def change_phase(
    params: Any, own_flow: Any, flow: Any, sub: Any, subs: Any, signals: int, now_ps: int, u0: float
) -> int:
    """Count what has been sent, open further subflows, and retire the first when one of them is open."""
    if signals & JOINED:
        return next_joins(params, own_flow, flow, now_ps, u0)
    if signals & OPENED:
        if sub.number == 0:
            set_threshold(params, flow, sub)
        elif not subs[flow.first_sub].final:
            retire(flow, subs[flow.first_sub])
    elif signals & (ACKED | LOST) and not own_flow.asked and is_over(params, flow, signals):
        own_flow.asked = 1
        own_flow.joins_left = planned_joins(params, flow)
        return next_joins(params, own_flow, flow, now_ps, u0)
    return 0


def note(params, own, flow, sub, subs, maps, data, signals: int, now_ps: int, u0: float) -> int:
    """Go on with the phases."""
    return change_phase(params, own.flow, flow, sub, subs, signals, now_ps, u0)


MMPTCP = Sharing(
    name="mmptcp",
    begin=begin,
    schedule=schedule,
    note=note,
    listens=OPENED | JOINED | ACKED | LOST,
    params=MmptcpParams(),
    memory={"flow": (("turn", "i8"), ("asked", "i8"), *JOIN_MEMORY)},
    draws=True,
)

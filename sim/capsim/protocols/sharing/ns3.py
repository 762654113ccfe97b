"""MPTCP and MMPTCP as the ns-3 code of MMPTCP's authors has them: a stream without acknowledgements of its own.

What of the stream has arrived follows from the acknowledgements of the subflows. There is no receive buffer that could
be full, and round robin waits for a subflow whose SYN is not answered.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.protocols.sharing.grants import Scheduler
from capsim.protocols.sharing.mmptcp import MMPTCP, MmptcpParams, change_phase
from capsim.protocols.sharing.mptcp import MPTCP, MptcpParams, open_further, start_stream
from capsim.records import DATA_RECEIVED
from capsim.roles.hooks import ACKED


@dataclass(frozen=True, kw_only=True)
class Ns3MptcpParams(MptcpParams):
    """Parameters of MPTCP as in that code.

    Parameters
    ----------
    subflows, join_after_first, join_gap_s, scheduler
        As in :class:`~capsim.protocols.sharing.mptcp.MptcpParams`.
    buffer_segments : int
        Not used.
    stream_segments : int
        How far the others may go on while one subflow stands still, in data segments; the code has no limit.
    """

    join_after_first: bool = True
    join_gap_s: float = 50e-6
    scheduler: Scheduler = Scheduler.WAITING
    stream_segments: Annotated[int, bounds.WINDOW_PACKETS] = 2**16


@dataclass(frozen=True, kw_only=True)
class Ns3MmptcpParams(MmptcpParams):
    """Parameters of MMPTCP as in that code: seven subflows after the first.

    Parameters
    ----------
    switch_bytes, switch_at, joins, joins_in_pod, joins_in_rack, join_gap_s, path_threshold, fixed_threshold, scheduler
        As in :class:`~capsim.protocols.sharing.mmptcp.MmptcpParams`.
    buffer_segments : int
        Not used.
    stream_segments : int
        As in :class:`~capsim.protocols.sharing.ns3.Ns3MptcpParams`.
    """

    joins: Annotated[int, bounds.JOINS] = 7
    joins_in_pod: Annotated[int, bounds.JOINS] = 7
    joins_in_rack: Annotated[int, bounds.JOINS] = 7
    scheduler: Scheduler = Scheduler.WAITING
    stream_segments: Annotated[int, bounds.WINDOW_PACKETS] = 2**16


ACKED_ON_SUBFLOW = 2  # flag of a data segment
HEARD = ("heard", f"({bounds.COPIES.largest},)i8")  # by number of the subflow: first segment not acknowledged


@inlined
def acknowledge_stream(memory: Any, flow: Any, sub: Any, maps: Any, data: Any) -> None:
    """Take what a subflow has acknowledged as acknowledged in the stream."""
    for position in range(memory.heard[sub.number], sub.una):
        segment = maps[sub.ring + (position & sub.ring_mask)]
        data[flow.data_ring + (segment & flow.data_mask)] |= ACKED_ON_SUBFLOW
    memory.heard[sub.number] = sub.una
    index = flow.data_ring + (flow.data_acked & flow.data_mask)
    while flow.data_acked < flow.granted and data[index] & ACKED_ON_SUBFLOW:
        data[index] &= DATA_RECEIVED
        flow.data_acked += 1
        index = flow.data_ring + (flow.data_acked & flow.data_mask)


def begin_mptcp(params: Any, own: Any, flow: Any, now_ps: int) -> int:
    """Begin as MPTCP, with a window for the whole stream."""
    count = start_stream(params, own.flow, flow)
    flow.peer_window = flow.n_segments
    return count


def begin_mmptcp(params: Any, own: Any, flow: Any, now_ps: int) -> int:
    """Begin as MMPTCP, with a window for the whole stream."""
    flow.peer_window = flow.n_segments
    return 1


def note_mptcp(params, own, flow, sub, subs, maps, data, signals: int, now_ps: int, u0: float) -> int:
    """Count what is acknowledged, and go on as MPTCP."""
    if signals & ACKED:
        acknowledge_stream(own.flow, flow, sub, maps, data)
    return open_further(params, own.flow, flow, sub, signals, now_ps, u0)


def note_mmptcp(params, own, flow, sub, subs, maps, data, signals: int, now_ps: int, u0: float) -> int:
    """Count what is acknowledged, and go on as MMPTCP."""
    if signals & ACKED:
        acknowledge_stream(own.flow, flow, sub, maps, data)
    return change_phase(params, own.flow, flow, sub, subs, signals, now_ps, u0)


MPTCP_NS3 = replace(
    MPTCP,
    name="mptcp_ns3",
    begin=begin_mptcp,
    note=note_mptcp,
    listens=MPTCP.listens | ACKED,
    params=Ns3MptcpParams(),
    memory={"flow": (*MPTCP.memory["flow"], HEARD)},
)
MMPTCP_NS3 = replace(
    MMPTCP,
    name="mmptcp_ns3",
    begin=begin_mmptcp,
    note=note_mmptcp,
    params=Ns3MmptcpParams(),
    memory={"flow": (*MMPTCP.memory["flow"], HEARD)},
)

"""MPTCP as Linux and the IETF's documents have it: a data segment may be granted once more, to another subflow.

=========================== =========================================================== ===========================
What                        When                                                        Source
=========================== =========================================================== ===========================
reinjection                 a subflow times out: what it has not delivered goes to      Linux; dc2mtcp, section II
                            others, ahead of new data
opportunistic               the receive buffer is full: the data segment that the       Raiciu et al. 2012
retransmission              receiver waits for goes to a subflow that would send
penalisation                then: the window of the subflow that holds it up is         Raiciu et al. 2012
                            halved, once in its round trip
=========================== =========================================================== ===========================

What is granted once more goes to the subflow with the least round trip that has not carried it. The subflow that had
it repairs its loss too (RFC 8684, section 3.3.6); the receiver drops the second copy of the data. A timeout of the
subflow that got it does not grant it a third time (Linux marks such copies, MPTCP_REINJECT in mptcp_output.c). Linux
has a retransmission timer of the connection besides, as long as the longest of its subflows'; it is not here.
"""

from dataclasses import dataclass
from typing import Any

from capsim.base.inlined import inlined
from capsim.protocols.sharing.grants import Scheduler, chosen_by, grant, grant_next, has_room, nearest, note_blocked
from capsim.protocols.sharing.joins import JOIN_MEMORY
from capsim.protocols.sharing.mptcp import MptcpParams, begin, open_further
from capsim.records import NONE
from capsim.roles.components import Sharing
from capsim.roles.hooks import EXPIRED, JOINED, OPENED

REINJECT = 2  # flag of a data segment that waits to be granted once more
CARRIED = 8  # from this bit on: by which subflows, by number, it has been carried


@dataclass(frozen=True, kw_only=True)
class IetfMptcpParams(MptcpParams):
    """Parameters of MPTCP with data segments that are granted once more.

    Parameters
    ----------
    subflows, join_after_first, join_gap_s, buffer_segments
        As in :class:`~capsim.protocols.sharing.mptcp.MptcpParams`.
    scheduler : Scheduler
        Which subflow gets the next data segment (Linux: that with the lowest RTT).
    reinject : bool
        Whether what a subflow has not delivered when it times out goes to others (Linux, dc2mtcp).
    opportunistic : bool
        Whether a full receive buffer lets the data segment that it waits for go to another subflow.
    penalise : bool
        Whether the window of the subflow that holds it up is halved then. Linux has both, dc2mtcp names neither.
    """

    scheduler: Scheduler = Scheduler.LOWEST_RTT
    reinject: bool = True
    opportunistic: bool = False
    penalise: bool = False


@inlined
def regrant(flow: Any, subs: Any, maps: Any, data: Any, segment: int) -> int:
    """Grant a data segment to the nearest subflow that has not carried it; return that, or NONE."""
    index = flow.data_ring + (segment & flow.data_mask)
    chosen = nearest(flow, subs, data[index] >> CARRIED)
    if chosen != NONE:
        grant(flow, subs[chosen], maps, segment)
        data[index] |= 1 << (CARRIED + subs[chosen].number)
        data[index] &= ~REINJECT
        flow.reinjected += 1
    return chosen


@inlined
def reinjected_to(own_flow: Any, flow: Any, subs: Any, maps: Any, data: Any) -> int:
    """Grant the first data segment that waits for it once more; return the subflow, or NONE."""
    segment = max(own_flow.reinject_first, flow.data_acked)
    while segment < own_flow.reinject_end:
        own_flow.reinject_first = segment
        if data[flow.data_ring + (segment & flow.data_mask)] & REINJECT:
            return regrant(flow, subs, maps, data, segment)
        segment += 1
    own_flow.reinject_end = 0
    return NONE


@inlined
def penalise(own_flow: Any, flow: Any, subs: Any, carried: int, now_ps: int) -> None:
    """Halve the windows of the subflows that carry what the receiver waits for, each once in its round trip."""
    number = flow.first_sub
    while number != NONE:
        sub = subs[number]
        if (carried >> sub.number) & 1 and now_ps >= own_flow.penalised_ps[sub.number] + sub.srtt_ps:
            own_flow.penalised_ps[sub.number] = now_ps
            sub.cwnd_bytes = max(sub.cwnd_bytes // 2, sub.mss_bytes)
            sub.ssthresh_bytes = sub.cwnd_bytes
        number = sub.next_sub


def schedule(params: Any, own: Any, flow: Any, subs: Any, maps: Any, data: Any, now_ps: int) -> int:
    """Grant what waits to be granted once more, else the next data segment, else what the full buffer waits for."""
    memory = own.flow
    if memory.reinject_end > flow.data_acked:
        chosen = reinjected_to(memory, flow, subs, maps, data)
        if chosen != NONE:
            return chosen
    if flow.granted == flow.n_segments:
        return NONE
    chosen = chosen_by(params.scheduler, memory, flow, subs)
    room = has_room(flow)
    note_blocked(flow, chosen != NONE and not room, now_ps)
    if chosen == NONE:
        return NONE
    if room:
        data[flow.data_ring + (flow.granted & flow.data_mask)] |= 1 << (CARRIED + subs[chosen].number)
        grant_next(memory, flow, subs[chosen], maps)
        return int(chosen)
    if not params.opportunistic:
        return NONE
    carried = data[flow.data_ring + (flow.data_acked & flow.data_mask)] >> CARRIED
    chosen = regrant(flow, subs, maps, data, flow.data_acked)
    if chosen != NONE and params.penalise:
        penalise(memory, flow, subs, carried, now_ps)
    return chosen


@inlined
def reinject(own_flow: Any, flow: Any, sub: Any, maps: Any, data: Any) -> None:
    """Let all that a subflow has in flight, and no other has carried, wait to be granted once more."""
    for position in range(sub.una, sub.end):
        segment = maps[sub.ring + (position & sub.ring_mask)]
        index = flow.data_ring + (segment & flow.data_mask)
        if segment >= flow.data_acked and data[index] >> CARRIED == 1 << sub.number:
            data[index] |= REINJECT
            first = own_flow.reinject_first if own_flow.reinject_end else segment
            own_flow.reinject_first = min(first, segment)
            own_flow.reinject_end = max(own_flow.reinject_end, segment + 1)


def note(params, own, flow, sub, subs, maps, data, signals: int, now_ps: int, u0: float) -> int:
    """Reinject after a timeout; open further subflows."""
    if signals & EXPIRED and params.reinject:
        reinject(own.flow, flow, sub, maps, data)
    return open_further(params, own.flow, flow, sub, signals, now_ps, u0)


IETF_MPTCP = Sharing(
    name="ietf_mptcp",
    begin=begin,
    schedule=schedule,
    note=note,
    listens=OPENED | JOINED | EXPIRED,
    params=IetfMptcpParams(),
    memory={
        "flow": (
            ("turn", "i8"),
            *JOIN_MEMORY,
            ("reinject_first", "i8"),  # of the data segments that wait to be granted once more
            ("reinject_end", "i8"),
            ("penalised_ps", "(16,)i8"),  # by number of the subflow
        )
    },
    draws=True,
)

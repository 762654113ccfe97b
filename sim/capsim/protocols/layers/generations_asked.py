"""How many coded packets SC-MPTCP sends, and on which subflow; a reconstruction (see `generations`)."""

from typing import Any

from capsim.hooks import inlined
from capsim.protocols.layers.stream import first_unacknowledged
from capsim.records import ESTABLISHED, NONE


@inlined
def nearest(flow: Any, subs: Any) -> int:
    """Return the open subflow with the least round trip, the first open one if none is measured."""
    number, chosen = flow.first_sub, NONE
    while number != NONE:
        sub = subs[number]
        closer = chosen == NONE or 0 < sub.srtt_ps < subs[chosen].srtt_ps or subs[chosen].srtt_ps == 0 < sub.srtt_ps
        if sub.state == ESTABLISHED and closer:
            chosen = number
        number = sub.next_sub
    return int(chosen)


@inlined
def earned(params: Any, memory: Any, k: int) -> int:
    """Return how many coded packets follow a block of k; keep what is less than one for the next."""
    loss_prob = memory.loss_prob if memory.observed else params.initial_loss_prob
    share = min(params.redundancy_factor * loss_prob / (1.0 - loss_prob), params.most_overhead)
    memory.redundancy += share * float(k)
    packets = int(memory.redundancy)
    memory.redundancy -= float(packets)
    return packets


@inlined
def warned(params: Any, memory: Any, flow: Any, near: Any, now_ps: int) -> bool:
    """Return whether the receive buffer will soon be full; say so once in a round trip."""
    room = params.warning_share * float(flow.peer_window - flow.data_acked)
    if params.warning_share == 1.0 or flow.granted - flow.data_acked < room:
        return False
    if memory.warned_ps != NONE and now_ps < memory.warned_ps + near.srtt_ps:
        return False
    memory.warned_ps = now_ps
    return True


@inlined
def unacknowledged_in(flow: Any, subs: Any, maps: Any, unit: Any) -> int:
    """Return how many data segments of a block are sent and not acknowledged."""
    count, segment = 0, first_unacknowledged(flow, subs, maps, max(flow.data_acked, unit.first_segment))
    while segment != NONE and segment < unit.first_segment + unit.k:
        count += 1
        segment = first_unacknowledged(flow, subs, maps, segment + 1)
    return count

"""How much redundancy a data segment of DC2-MTCP earns, and which data segments a coded packet mixes.

============================== ============ =================================== ===============================
Quantity                       Symbol       Name                                Source
============================== ============ =================================== ===============================
loss of the connection         p            ``connection_loss_prob``            dc2mtcp Eq. 4
coded packets to original one  gamma        ``redundancy_ratio``                dc2mtcp Eq. 5, 10
asynchronous loss              psi          ``asynchronous_loss``               dc2mtcp u (IV-A) APL measure
============================== ============ =================================== ===============================

Eq. 4 and 5 are taken in their consistent form, with p_i = 2 alpha / (2 alpha + W_i W_total), and Eq. 5 as a ratio.
Before a round trip is measured alpha is not known, and nothing is earned.
"""

from typing import Any

from capsim.hooks import inlined
from capsim.protocols.congestion.lia import coupling, takes_part
from capsim.protocols.layers.combinations import MOST_MIXED
from capsim.protocols.layers.stream import first_unacknowledged
from capsim.records import NONE


@inlined
def connection_loss_prob(flow: Any, subs: Any, alpha: float, total: float) -> float:
    """Return p, the loss probability of the connection, from alpha and windows in segments (dc2mtcp Eq. 4)."""
    aggressiveness, lost, number = 2.0 * alpha, 0.0, flow.first_sub
    while number != NONE:
        sub = subs[number]
        if takes_part(sub):
            window = float(sub.cwnd_bytes) / float(sub.mss_bytes)
            lost += window * aggressiveness / (aggressiveness + window * total)
        number = sub.next_sub
    return lost / total


@inlined
def redundancy_ratio(params: Any, flow: Any, sub: Any, subs: Any) -> float:
    """Return gamma: coded packets for each data segment (dc2mtcp Eq. 5, as a ratio, and Eq. 10).

    Subflows that are being opened with `sub` will have the window that it has.
    """
    alpha, total_bytes = coupling(flow, subs)
    total = float(total_bytes) / float(flow.mss_bytes)
    expected = total + float(flow.opening) * float(sub.cwnd_bytes) / float(flow.mss_bytes)
    if expected <= params.small_window_packets * float(flow.n_subs + flow.opening):
        return float(params.redundancy_factor / expected)
    loss_prob = connection_loss_prob(flow, subs, alpha, total)
    return float(params.redundancy_factor * loss_prob / (1.0 - loss_prob))


@inlined
def asynchronous_loss(flow: Any, subs: Any, maps: Any) -> int:
    """Return psi: data segments between the edges of the send window that subflows have acknowledged."""
    waiting, number = 0, flow.first_sub
    while number != NONE:
        sub = subs[number]
        position = sub.una
        while position < sub.high and maps[sub.ring + (position & sub.ring_mask)] < flow.data_acked:
            position += 1
        waiting += sub.high - position
        number = sub.next_sub
    return int(max(flow.granted - flow.data_acked - waiting, 0))


@inlined
def unacknowledged_before(flow: Any, subs: Any, maps: Any, end: int) -> int:
    """Return the last data segment below `end` that is sent and not acknowledged, or NONE."""
    found, segment = NONE, first_unacknowledged(flow, subs, maps, flow.data_acked)
    while segment != NONE and segment < end:
        found = segment
        segment = first_unacknowledged(flow, subs, maps, segment + 1)
    return found


@inlined
def last_of_span(flow: Any, subs: Any, maps: Any, span: int) -> int:
    """Return the data segment at place `span` of those not acknowledged, or the last if there are fewer."""
    found, segment = NONE, flow.data_acked - 1
    for _ in range(span):
        segment = first_unacknowledged(flow, subs, maps, segment + 1)
        if segment == NONE:
            return found
        found = segment
    return found


@inlined
def mix_in(memory: Any, segment: int) -> None:
    """Mix a data segment into the coded packet that is being made, unless there is none left or it is full."""
    if segment != NONE and memory.mixed < MOST_MIXED:
        memory.members[memory.mixed] = segment
        memory.mixed += 1
    memory.last_mixed = segment


@inlined
def mix_next(params: Any, memory: Any, flow: Any, subs: Any, maps: Any, segment: int, ratio: float) -> None:
    """Begin or continue mixing when a data segment leaves (dc2mtcp Alg. 1, lines 4 to 9).

    Psi is asked for only where one of the two kinds of mixing may begin: it takes a pass over all windows.
    """
    if memory.coding:
        mix_in(memory, segment if memory.pre else unacknowledged_before(flow, subs, maps, memory.last_mixed))
        return
    if memory.redundancy + ratio * max(params.pre_span, params.post_span) <= 1.0:
        return
    memory.pre = 1 if asynchronous_loss(flow, subs, maps) <= params.pre_limit else 0
    span = params.pre_span if memory.pre else params.post_span
    if memory.redundancy + ratio * span > 1.0:
        memory.coding = 1
        mix_in(memory, segment if memory.pre else last_of_span(flow, subs, maps, span))

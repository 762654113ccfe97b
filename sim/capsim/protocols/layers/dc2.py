"""Redundancy of DC2-MTCP: how much a data segment earns, and which data segments a coded packet mixes.

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

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.protocols.congestion.lia import coupling, takes_part
from capsim.protocols.layers.combinations import (
    MATRIX,
    MOST_MIXED,
    OPTION,
    coefficient,
    determined,
    is_mixed,
    take_combination,
)
from capsim.protocols.layers.marks import capable, echo_mark, keep_mark
from capsim.protocols.layers.stream import (
    STREAM_COLUMNS,
    STREAM_COUNTS,
    AcknowledgedIn,
    fill_coded,
    fill_recovered,
    first_unacknowledged,
    has_window,
    is_coded,
    is_decoded,
)
from capsim.records import CODED, DATA, NONE
from capsim.roles.components import Layer
from capsim.roles.hooks import DELIVER, DELIVER_ALONE, TAKE


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
    last, segment = NONE, first_unacknowledged(flow, subs, maps, flow.data_acked)
    while segment != NONE and segment < end:
        last = segment
        segment = first_unacknowledged(flow, subs, maps, segment + 1)
    return last


@inlined
def last_of_span(flow: Any, subs: Any, maps: Any, span: int) -> int:
    """Return the data segment at place `span` of those not acknowledged, or the last if there are fewer."""
    last, segment = NONE, flow.data_acked - 1
    for _ in range(span):
        segment = first_unacknowledged(flow, subs, maps, segment + 1)
        if segment == NONE:
            return last
        last = segment
    return last


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


@dataclass(frozen=True, kw_only=True)
class Dc2Params:
    """Parameters of DC2-MTCP's coding.

    Parameters
    ----------
    pre_span : int
        alpha: data segments that pre-coding mixes (dc2mtcp IV-A: 15).
    post_span : int
        beta: data segments that post-coding mixes (dc2mtcp IV-A: 10).
    pre_limit : int
        delta: largest psi at which to pre-code (IV-A: 3; Alg. 1: at equality too).
    small_window_packets : float
        A flow is small up to so many segments for each subflow in the sum of its windows (Eq. 10: 5).
    redundancy_factor : float
        gamma is so many times what Eq. 5 and 10 say; 0: nothing is coded.
    within_window : bool
        Whether a coded packet leaves only where the window has room for it. The paper does not say; without, it leaves
        at once, for that is the purpose of mixing beforehand (IV-C), and since nothing acknowledges it.
    option_bytes : bool
        Whether a coded packet is larger by the DC2 option, 3n - 1 bytes (III-B).
    acknowledge : AcknowledgedIn
        Where a decoded data segment is acknowledged. The paper does not say; but its flows end without the timeouts
        that losses would cause (VI-B), and its code is that of TCP with network coding [24], which acknowledges what
        is decoded on the connection whose packet was lost.
    """

    pre_span: Annotated[int, bounds.WINDOW_PACKETS] = MOST_MIXED
    post_span: Annotated[int, bounds.WINDOW_PACKETS] = 10
    pre_limit: Annotated[int, bounds.QUEUE_PACKETS] = 3
    small_window_packets: Annotated[float, bounds.FACTOR] = 5.0
    redundancy_factor: Annotated[float, bounds.FACTOR] = 1.0
    within_window: bool = False
    option_bytes: bool = True
    acknowledge: AcknowledgedIn = AcknowledgedIn.SUBFLOW

    def most_repair_packets(self, window: int, *, largest_flow: int) -> int:
        """Return how many coded packets one event may send on a subflow: one behind each new data segment."""
        return window


def combine(
    params: Any, own: Any, flow: Any, sub: Any, subs: Any, maps: Any, data: Any, counters: Any, packet: Any, now_ps: int
) -> int:
    """Earn redundancy by a new data segment, mix, and let the coded packet follow when it is earned."""
    memory = own.flow
    if packet.kind != DATA or packet.data < memory.next_data:
        return NONE
    memory.next_data = packet.data + 1
    memory.packet_bytes = max(memory.packet_bytes, packet.bytes)
    memory.flags = capable(packet)
    own.subflow.coded_packets += 1
    ratio = redundancy_ratio(params, flow, sub, subs)
    memory.redundancy += ratio
    mix_next(params, memory, flow, subs, maps, packet.data, ratio)
    if memory.redundancy <= 1.0 or (params.within_window and not has_window(sub)):
        return NONE
    memory.redundancy -= 1.0
    memory.coding = 0
    return int(sub.id)


def emit(params: Any, own: Any, flow: Any, sub: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Fill in the coded packet, if it is complete."""
    memory, option = own.flow, own.packet
    if memory.coding or memory.mixed == 0:
        return 0
    first = memory.members[0]
    for index in range(memory.mixed):
        option.members[index] = memory.members[index]
        first = min(first, memory.members[index])
    option.number = memory.number
    option.mixed = memory.mixed
    option_bytes = 3 * memory.mixed - 1 if params.option_bytes else 0
    fill_coded(own.subflow, sub, packet, first, memory.packet_bytes + option_bytes, memory.flags, now_ps)
    memory.number += 1
    memory.mixed = 0
    return 1


def collect(params: Any, own: Any, flow: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Enter a coded packet into the matrix of its flow."""
    if packet.kind != CODED:
        echo_mark(own.subflow, packet)
        return DELIVER if is_mixed(own.flow, packet.data) else DELIVER_ALONE
    keep_mark(own.subflow, packet, MOST_MIXED)
    take_combination(own.flow, own.packet)
    return TAKE


def recover(
    params: Any, own: Any, flow: Any, sub: Any, subs: Any, maps: Any, data: Any, packet: Any, now_ps: int
) -> int:
    """Fill in a data segment that the combinations determine."""
    segment = determined(own.flow, flow, data)
    if segment == NONE:
        return 0
    own.subflow.recovered_packets += 1
    fill_recovered(params.acknowledge, flow, sub, subs, maps, packet, segment, now_ps)
    return 1


def combination(option: Any) -> dict[int, int]:
    """Return the coefficients of a coded packet by data segment, for runs in which packets carry bytes."""
    return {int(segment): coefficient(option.number, int(segment)) for segment in option.members[: option.mixed]}


DC2 = Layer(
    name="dc2",
    combine=combine,
    emit=emit,
    collect=collect,
    recover=recover,
    emits_unasked=False,
    encodes=is_coded,
    decodes=is_decoded,
    params=Dc2Params(),
    memory={
        "subflow": STREAM_COUNTS,
        "flow": (
            *(("redundancy", "f8"), ("next_data", "i8"), ("last_mixed", "i8", NONE)),
            *(("coding", "i4"), ("pre", "i4"), ("packet_bytes", "i4"), ("flags", "i4")),
            *OPTION,
            *MATRIX,
        ),
        "packet": OPTION,
    },
    columns={"subflow": STREAM_COLUMNS},
    combination=combination,
)

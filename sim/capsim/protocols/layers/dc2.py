"""DC2-MTCP (Sun et al. 2017): a few linear combinations of data segments, sent on any subflow, repair losses of all.

Each data segment that leaves for the first time earns redundancy, R. Shortly before that is enough for a coded packet,
mixing begins, one data segment for each that leaves: those that leave, while few are acknowledged out of order
(pre-coding), or else the first that are not acknowledged, from the last to the first of them (post-coding). The coded
packet follows the data segment that completed it, on the same subflow. This is Algorithm 1 of the paper, step by step
as in :func:`capsmodel.multipath.coding_schedule.accumulate_redundancy`. A 16th data segment is not mixed: C_max is 15.

How much is earned: :mod:`capsim.protocols.layers.dc2_mixing`. Eq. 10 needs windows of at most 5 segments on average, so
with an initial window of 10 (RFC 6928) a flow is small only after losses; the paper does not state its own.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim import bounds
from capsim.hooks import DELIVER, DELIVER_ALONE, TAKE
from capsim.protocols.layers.combinations import (
    MATRIX,
    MOST_MIXED,
    OPTION,
    coefficient,
    determined,
    is_mixed,
    take_combination,
)
from capsim.protocols.layers.dc2_mixing import mix_next, redundancy_ratio
from capsim.protocols.layers.stream import (
    STREAM_COLUMNS,
    STREAM_COUNTS,
    Acknowledged,
    fill_coded,
    fill_recovered,
    has_window,
    is_coded,
    is_decoded,
)
from capsim.records import CODED, DATA, NONE
from capsim.roles import Layer


@dataclass(frozen=True, kw_only=True)
class Dc2Params:
    """Parameters of DC2-MTCP's coding.

    Parameters
    ----------
    pre_span, post_span : int
        alpha and beta: data segments that pre-coding and post-coding mix (dc2mtcp IV-A: 15 and 10).
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
    acknowledge : Acknowledged
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
    acknowledge: Acknowledged = Acknowledged.SUBFLOW

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
    fill_coded(own.subflow, sub, packet, first, memory.packet_bytes + option_bytes, now_ps)
    memory.number += 1
    memory.mixed = 0
    return 1


def collect(params: Any, own: Any, flow: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Enter a coded packet into the matrix of its flow."""
    if packet.kind != CODED:
        return DELIVER if is_mixed(own.flow, packet.data) else DELIVER_ALONE
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
            *(("coding", "i4"), ("pre", "i4"), ("packet_bytes", "i4")),
            *OPTION,
            *MATRIX,
        ),
        "packet": OPTION,
    },
    columns={"subflow": STREAM_COLUMNS},
    combination=combination,
)

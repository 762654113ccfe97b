"""Coded packets of SC-MPTCP, and the subflows that carry them; a reconstruction (see `generations`)."""

from dataclasses import dataclass
from math import ceil
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.protocols.layers.blocks_of_stream import (
    BLOCK,
    BLOCK_COLUMNS,
    BLOCKS,
    block_of,
    new_block,
    supplied,
    unit_packet,
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
from capsim.records import CODED, DATA, ESTABLISHED, NONE, RETRANSMITTED
from capsim.roles.components import Layer
from capsim.roles.hooks import DELIVER, TAKE


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


@dataclass(frozen=True, kw_only=True)
class GenerationParams:
    """Parameters of SC-MPTCP's coding, as reconstructed.

    Parameters
    ----------
    block_packets : int
        k: data segments of a block; 32 as in the public code of FMTCP, which codes blocks of a stream too.
    initial_loss_prob : float
        p before the first acknowledgement: 1/51, which gives the 0.02 coded packets of dc2mtcp VI-D.
    loss_weight : float
        Weight of the last acknowledgement in p; 1/64, so that p follows some tens of them.
    redundancy_factor : float
        So many times k p/(1-p) coded packets follow a block; 0: none.
    most_overhead : float
        At most so many of them for each data segment.
    warning_share : float
        The warning comes when the send window spans this share of the receive buffer; 1: never.
    within_window : bool
        Whether a coded packet leaves only where the window has room for it; else it waits for a subflow that has, until
        other coded packets are asked for.
    acknowledge : AcknowledgedIn
        Where a decoded data segment is acknowledged, as in :class:`~capsim.protocols.layers.dc2.Dc2Params`.
    """

    block_packets: Annotated[int, bounds.WINDOW_PACKETS] = 32
    initial_loss_prob: Annotated[float, bounds.PROBABILITY] = 1 / 51
    loss_weight: Annotated[float, bounds.RATIO] = 1 / 64
    redundancy_factor: Annotated[float, bounds.FACTOR] = 1.0
    most_overhead: Annotated[float, bounds.OVERHEAD] = 1.0
    warning_share: Annotated[float, bounds.RATIO] = 0.75
    within_window: bool = False
    acknowledge: AcknowledgedIn = AcknowledgedIn.SUBFLOW

    def most_source_packets(self, window: int, *, largest_flow: int) -> int:
        """Return the k of the largest block that there can be."""
        del window
        return min(self.block_packets, largest_flow)

    def most_repair_packets(self, window: int, *, largest_flow: int) -> int:
        """Return how many coded packets one event may send: those of the blocks it fills, and those of a warning."""
        block = min(self.block_packets, largest_flow)
        return ceil(self.most_overhead * (window + block)) + block


def combine(
    params: Any, own: Any, flow: Any, sub: Any, subs: Any, maps: Any, data: Any, counters: Any, packet: Any, now_ps: int
) -> int:
    """Note the block of a data segment; let coded packets follow the last one of a block, or a warning."""
    memory = own.flow
    if packet.kind != DATA:
        return NONE
    number = block_of(own, flow, packet.data)
    if number == NONE and packet.data >= memory.next_data:
        k = min(params.block_packets, flow.n_segments - packet.data)
        number = new_block(own, sub, counters, packet.data, k, now_ps)
    packet.unit = number
    if packet.data < memory.next_data:
        return NONE
    memory.next_data = packet.data + 1
    own.subflow.coded_packets += 1
    unit, near, due = own.units[number], nearest(flow, subs), 0
    unit.packet_bytes = max(unit.packet_bytes, packet.bytes)
    memory.flags = capable(packet)
    if memory.next_data == unit.first_segment + unit.k:
        due = earned(params, memory, unit.k)
    if due == 0 and warned(params, memory, flow, subs[near], now_ps):
        number = memory.sending_unit
        due = unacknowledged_in(flow, subs, maps, own.units[number])
    if due:
        memory.open_unit = number
        memory.left = due
    return near if memory.left else NONE


def emit(params: Any, own: Any, flow: Any, sub: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Fill in the next coded packet that was asked for."""
    memory = own.flow
    if memory.left == 0 or (params.within_window and not has_window(sub)):
        return 0
    unit = own.units[memory.open_unit]
    fill_coded(own.subflow, sub, packet, unit.first_segment, unit.packet_bytes, memory.flags, now_ps)
    packet.unit = memory.open_unit
    packet.position = unit.n - unit.k
    unit.n += 1
    memory.left -= 1
    return 1


def observe(params: Any, own: Any, flow: Any, sub: Any, packet: Any, now_ps: int) -> int:
    """Enter an acknowledgement into p: that of a segment retransmitted or decoded shows a loss."""
    memory, lost = own.flow, 1.0 if packet.flags & RETRANSMITTED else 0.0
    if memory.observed == 0:
        memory.observed = 1
        memory.loss_prob = params.initial_loss_prob
    memory.loss_prob += params.loss_weight * (lost - memory.loss_prob)
    return 0


def collect(params: Any, own: Any, flow: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Count a coded packet for its block; where packets carry bytes, one that says nothing new counts for nothing."""
    if packet.kind != CODED:
        own.flow.doubtful_unit = packet.unit if packet.kind == DATA and packet.stale else NONE
        echo_mark(own.subflow, packet)
        return DELIVER
    unit = own.units[packet.unit]
    keep_mark(own.subflow, packet, unit.k)
    unit.dependent_packets += packet.stale
    unit.arrived_packets += 1 - packet.stale
    return TAKE


def recover(
    params: Any, own: Any, flow: Any, sub: Any, subs: Any, maps: Any, data: Any, packet: Any, now_ps: int
) -> int:
    """Fill in a data segment that coded packets supply."""
    segment = supplied(own, flow, data, now_ps)
    if segment == NONE:
        return 0
    own.subflow.recovered_packets += 1
    fill_recovered(params.acknowledge, flow, sub, subs, maps, packet, segment, now_ps)
    return 1


GENERATIONS = Layer(
    name="generations",
    combine=combine,
    emit=emit,
    collect=collect,
    recover=recover,
    observe=observe,
    encodes=is_coded,
    decodes=is_decoded,
    params=GenerationParams(),
    memory={
        "subflow": STREAM_COUNTS,
        "flow": (
            *(("redundancy", "f8"), ("loss_prob", "f8"), ("next_data", "i8"), ("warned_ps", "i8", NONE)),
            *(("observed", "i4"), ("open_unit", "i4", NONE), ("left", "i4"), ("flags", "i4")),
            *BLOCKS,
        ),
        "unit": BLOCK,
    },
    columns={"subflow": STREAM_COLUMNS, "unit": BLOCK_COLUMNS},
    unit_packet=unit_packet,
)

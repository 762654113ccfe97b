"""Shared by layers that code over a stream of several subflows.

A data segment that was decoded has come without the packet that was to carry it. The receiver can give it to the
stream only; then the subflow whose packet was lost still has a hole, which it repairs by a retransmission (RFC 8684,
section 3.3.6). Or it can acknowledge it on that subflow too, as TCP with network coding does (Sundararajan et al.
2009, which dc2mtcp takes its code from); then the coded packet must name that subflow and its segment.
"""

from enum import IntEnum
from typing import Any

from capsim.base.inlined import inlined
from capsim.protocols.layers.marks import WAITING_MARKS
from capsim.records import CODED, DATA, DATA_RECEIVED, NONE, RETRANSMITTED

# What these layers count for each subflow
STREAM_COUNTS = (("coded_packets", "i8"), ("repair_packets", "i8"), ("recovered_packets", "i8"), *WAITING_MARKS)
STREAM_COLUMNS = {
    "coded_packets": "data segments sent for the first time and packets coded from them",
    "repair_packets": "of these, the coded ones",
    "recovered_packets": "data segments that were decoded before their packet came; at the subflow after whose packet",
}


class AcknowledgedIn(IntEnum):
    """Where a decoded data segment is acknowledged: on the subflow that was to carry it, or in the stream only."""

    SUBFLOW = 0
    STREAM = 1


@inlined
def has(flow: Any, data: Any, segment: int) -> bool:
    """Return whether the receiver has a data segment."""
    if segment < flow.data_next:
        return True
    return data[flow.data_ring + (segment & flow.data_mask)] & DATA_RECEIVED != 0


@inlined
def first_unacknowledged(flow: Any, subs: Any, maps: Any, least: int) -> int:
    """Return the first data segment from `least` on that the sender has sent and no subflow acknowledged, or NONE."""
    first, number = NONE, flow.first_sub
    while number != NONE:
        sub = subs[number]
        for position in range(sub.una, sub.high):
            segment = maps[sub.ring + (position & sub.ring_mask)]
            if segment >= least:
                if first == NONE or segment < first:
                    first = segment
                break
        number = sub.next_sub
    return first


@inlined
def has_window(sub: Any) -> bool:
    """Return whether the window of a subflow has room for one more packet."""
    return (sub.next_segment - sub.una + 1) * sub.mss_bytes <= sub.cwnd_bytes + sub.inflation_bytes


@inlined
def fill_coded(own_subflow: Any, sub: Any, packet: Any, first: int, packet_bytes: int, flags: int, now_ps: int) -> None:
    """Fill in a coded packet that mixes data segments from `first` on; it has no place in the subflow's own numbers."""
    packet.kind = CODED
    packet.flags = flags
    packet.bytes = packet_bytes
    packet.priority = sub.priority
    packet.segment = first
    packet.ack = 0
    packet.unit = NONE
    packet.sent_ps = now_ps
    own_subflow.coded_packets += 1
    own_subflow.repair_packets += 1


@inlined
def fill_recovered(
    acknowledged: int, flow: Any, sub: Any, subs: Any, maps: Any, packet: Any, segment: int, now_ps: int
) -> None:
    """Fill in a packet with a data segment that was decoded after a packet on `sub`; it gives no RTT sample."""
    packet.kind = DATA
    packet.flags = RETRANSMITTED
    packet.bytes = sub.mss_bytes
    packet.priority = sub.priority
    packet.sub = sub.id
    packet.segment = NONE
    packet.ack = 0
    packet.data = segment
    packet.unit = NONE
    packet.sent_ps = now_ps
    number = flow.first_sub
    while number != NONE and acknowledged == AcknowledgedIn.SUBFLOW:
        carrier = subs[number]
        for position in range(carrier.receive_next, carrier.end):
            if packet.segment == NONE and maps[carrier.ring + (position & carrier.ring_mask)] == segment:
                packet.sub = number
                packet.segment = position
        number = carrier.next_sub


def is_coded(params: Any, own: Any, flow: Any, sub: Any, packet: Any) -> int:
    """Return 1 for a packet that its sender computes."""
    return 1 if packet.kind == CODED else 0


def is_decoded(params: Any, own: Any, flow: Any, sub: Any, ring: Any, packet: Any) -> int:
    """Return 1 for a packet that the decoder computes with."""
    return 1 if packet.kind == CODED else 0

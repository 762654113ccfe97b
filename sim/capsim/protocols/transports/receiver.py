"""The receiver of the TCP variants: what has come, and an acknowledgement for each packet."""

from typing import Any

from capsim.base.inlined import inlined
from capsim.records import (
    ACK,
    CONGESTION_EXPERIENCED,
    DATA,
    ECN_CAPABLE,
    ECN_ECHO,
    HANDSHAKE_ACK,
    RECEIVED,
    RETRANSMITTED,
    SYN,
    SYN_ACK,
)


@inlined
def enter_segment(sub: Any, ring: Any, packet: Any) -> int:
    """Mark a segment as received and count it as a duplicate or as out of order; return whether it is new."""
    segment = packet.segment
    index = segment & sub.ring_mask
    if segment < sub.receive_next or ring[index] & RECEIVED:
        sub.duplicate_packets += 1
        return 0
    if segment < sub.highest_received and not packet.flags & RETRANSMITTED:
        sub.reordered_packets += 1
    sub.highest_received = max(sub.highest_received, segment)
    ring[index] |= RECEIVED
    return 1


@inlined
def pass_received(sub: Any, ring: Any) -> None:
    """Take all received segments that are next in order."""
    while sub.receive_next < sub.end and ring[sub.receive_next & sub.ring_mask] & RECEIVED:
        ring[sub.receive_next & sub.ring_mask] &= ~RECEIVED
        sub.receive_next += 1


@inlined
def note_arrival(sub: Any, ring: Any, packet: Any) -> None:
    """Enter a data packet at the receiver."""
    if enter_segment(sub, ring, packet):
        pass_received(sub, ring)


@inlined
def turn_round(params: Any, sub: Any, packet: Any) -> int:
    """Turn the packet into its own acknowledgement: it echoes the time it was sent, Karn's flag and congestion."""
    packet.bytes = params.syn_bytes if packet.kind == SYN else params.ack_bytes
    packet.kind = SYN_ACK if packet.kind == SYN else ACK
    packet.ack = sub.receive_next
    echo = ECN_ECHO if packet.flags & CONGESTION_EXPERIENCED else 0
    capable = ECN_CAPABLE if params.ecn_acks else 0
    packet.flags = (packet.flags & RETRANSMITTED) | echo | capable
    return 1


def on_data(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Acknowledge each packet at once (no delayed acknowledgements) with the next segment expected."""
    if packet.kind == HANDSHAKE_ACK:
        return 0
    if packet.kind == DATA:
        note_arrival(sub, ring, packet)
    return turn_round(params, sub, packet)

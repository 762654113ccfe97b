"""Reordering as a subflow sees it: one source, run by both engines.

========================== ==================================================================== ====================
Quantity                   Definition                                                           Source
========================== ==================================================================== ====================
spurious retransmission    recovery, begun by duplicate acknowledgements or the timer, whose    RFC 3522, section 3.2
                           first new acknowledgement answers the original of the missing
                           segment, not its retransmission
long run of duplicates     more than 3 duplicate acknowledgements of originals in a row, ended  RFC 5681, section 3.2
                           by the original of the missing segment: no packet was lost. What is
                           retransmitted does not count: it is a duplicate whatever the order
extent of reordering       of packet i, in the order of arrival: i - j, where j is the first    RFC 4737, section 4.2
                           packet to arrive that was sent after i
========================== ==================================================================== ====================

RFC 3522 tells an original from a retransmission by time stamps, here the acknowledgement says it (Karn's flag). If the
acknowledgement that says so is lost, nothing is counted. Of packets that arrive twice the first counts (RFC 4737).
"""

from typing import Any

from capsim.engines.hosts.primitives import arrivals_of, extents_of, flow_at, packet_at, ring_of, sub_at
from capsim.engines.hosts.queue_counts import log_bin
from capsim.records import ACK, EXTENT_BINS, RECEIVED, RETRANSMITTED

LONG_RUN = 3  # duplicate acknowledgements: RFC 5681 retransmits at the third


def judge(w: Any, s: int, number: int) -> None:
    """Note, before the transport takes an acknowledgement, whether it ends a run of duplicates, and what made it."""
    sub, packet = sub_at(w.subs, s), packet_at(w.packets, number)
    if packet.ack > sub.una:
        if sub.in_doubt or sub.dup_run:
            if packet.segment == sub.una and not packet.flags & RETRANSMITTED:
                sub.spurious_retransmissions += sub.in_doubt
                sub.long_dup_ack_runs += sub.dup_run > LONG_RUN
            sub.in_doubt = 0
            sub.dup_run = 0
    elif packet.ack == sub.una and sub.una < sub.high and packet.kind == ACK and not packet.flags & RETRANSMITTED:
        sub.dup_run += 1


def note_extent(w: Any, s: int, number: int) -> None:
    """Enter a data packet at the receiver, before the transport does, and count by how much it comes too late."""
    sub, packet = sub_at(w.subs, s), packet_at(w.packets, number)
    segment = packet.segment
    if segment < sub.receive_next or ring_of(w, sub)[segment & sub.ring_mask] & RECEIVED:
        return
    sub.packets_entered += 1
    arrivals = arrivals_of(w)
    for missing in range(max(sub.receive_next, sub.highest_received), segment):
        arrivals[sub.ring + (missing & sub.ring_mask)] = sub.packets_entered
    if segment < sub.highest_received and not packet.flags & RETRANSMITTED:
        extent = sub.packets_entered - arrivals[sub.ring + (segment & sub.ring_mask)]
        sub.max_reorder_extent = max(sub.max_reorder_extent, extent)
        extents_of(w)[flow_at(w.flows, sub.flow).short * EXTENT_BINS + log_bin(extent, EXTENT_BINS)] += 1

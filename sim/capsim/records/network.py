"""Ports, switches and the processors of end hosts."""

import numpy as np

# In which order a port sends what waits (PORT.order): as it came, by PACKET.priority, by the rank that a NIC gives,
# headers and control packets ahead of data
BY_ARRIVAL, BY_PRIORITY, BY_RANK, HEADERS_FIRST = range(4)

NO_TIME_PS = 2**63 - 1  # when a packet arrives that is not there: after all that are

# A packet touches the first two cache lines when it is offered to a FIFO port, and the first three when it has crossed
# the link.
PORT_FIELDS = (
    ("free_ps", "i8", "when the serialiser has sent all that is queued"),
    ("queue_head_ps", "i8", "arrive_ps of the packet queue_head, or NO_TIME_PS"),
    ("delay_ps", "i8", "propagation delay"),
    ("byte_ps", "i8", "time per byte, or 0 when it is not a whole number"),
    ("limit_packets", "i4", "most packets in the queue, NONE = unlimited"),
    ("max_queue_packets", "i4", "longest queue so far"),
    ("limit_bytes", "i8", "the same in bytes, NONE = unlimited"),
    ("queue_bytes", "i8", "in the queue, the packet in service included"),
    ("queue_packets", "i4", "the same in packets"),
    ("to_node", "i4", "host or switch at the far end: hosts first"),
    ("head", "i4", "chain of packets in order of arrival at the far end: the first"),
    ("tail", "i4", "the last"),
    ("queue_head", "i4", "first packet of that chain not yet sent"),
    ("up", "i2", "1: the link works"),
    ("order", "i2", "BY_ARRIVAL, BY_PRIORITY, BY_RANK, HEADERS_FIRST"),
    ("packets_in", "i8", "offered: accepted or dropped"),
    ("bytes_in", "i8", "the same in bytes"),
    ("max_queue_bytes", "i8", "longest queue so far"),
    ("packets_out", "i8", "sent"),
    ("bytes_out", "i8", "sent"),
    ("packets_arrived", "i8", "at the far end"),
    ("turn", "i8", "by rank: the largest rank of a packet that has begun"),
    ("sojourn_ps", "i8", "time integral of queue_packets, summed over packets"),
    ("sojourn_bytes_ns", "i8", "the same weighted with bytes"),
    ("sojourn_words", "i4", "overflow of sojourn_ps"),
    ("sojourn_bytes_words", "i4", "overflow of sojourn_bytes_ns"),
    ("data_bytes", "i8", "where headers are sent first: of packets with data, as part of queue_bytes"),
    ("wait_head", "i4", "by priority or rank: the first of the waiting packets, equal ones in order of arrival"),
    ("wait_tail", "i4", "the last"),
    ("of_host", "i4", "1: the NIC of a host, 0: a port of a switch"),
    ("loss_prob", "f8", "of the next packet to cross the link; where losses come in bursts, of all"),
    # -- less often
    ("rate_bps", "i8", "of the link"),
    ("packets_dropped", "i4", "not taken, or lost from the queue"),
    ("packets_marked", "i4", "marked (ECN)"),
    ("packets_lost", "i4", "lost of those that crossed the link"),
    ("packets_trimmed", "i4", "cut down to their header"),
    ("bytes_dropped", "i8", "as packets_dropped"),
    ("bytes_lost", "i8", "as packets_lost"),
    ("bytes_trimmed", "i8", "what was cut off"),
    ("stream", "i8", "key of the uniform numbers that decide which packets the link loses"),
    ("layer", "i4", "place of its layer among those of the fabric"),
    ("from_node", "i4", "host or switch that sends"),
)
PORT = np.dtype([(name, kind) for name, kind, _ in PORT_FIELDS], align=True)

# How losses of a link come in runs (capsim.engines.losses)
LOSS = np.dtype(
    [
        ("behind_arrived", "f8"),  # counted in packets: PORT.loss_prob behind one that arrived
        ("behind_lost", "f8"),  # and behind one that was lost
        ("memory_ps", "f8"),  # in time: after so long the last packet says little of the next; 0: counted in packets
        ("last", "f8"),  # 1: the last packet was lost, 0: it arrived; the share of all before the first
        ("last_ps", "i8"),
    ],
    align=True,
)

SWITCH_FIELDS = (
    ("salt", "i8", "seed of this switch's hash (RFC 2992 does not ask for one; without it tiers polarise)"),
    ("stream", "i8", "key of its uniform numbers"),
    ("stream_high", "i8", "part of their hash (capsim.base.randomness.draw)"),
    ("draws", "i8", "of these used so far"),
    ("id", "i4", "its number among switches"),
    ("tier", "i4", "0: leaf or edge"),
)
SWITCH = np.dtype([(name, kind) for name, kind, _ in SWITCH_FIELDS], align=True)

# A processor encodes packets that leave and decodes those that have come: when it is done with all that wait, and the
# chain of these in order; each is done at its `arrive_ps`.
PROCESSOR = np.dtype([("free_ps", "i8"), ("packets", "i8"), ("head", "i4"), ("tail", "i4")], align=True)

"""A packet in the network, its kinds and its flags."""

import numpy as np

# Packet kinds (PACKET.kind)
DATA, ACK, SYN, SYN_ACK, CODED, HANDSHAKE_ACK = 0, 1, 2, 3, 4, 5  # the last: of the SYN-ACK

# Packet flags (PACKET.flags)
RETRANSMITTED = 1  # Karn: neither this packet nor its acknowledgement gives an RTT sample
ECN_CAPABLE = 2
CONGESTION_EXPERIENCED = 4
ECN_ECHO = 8
TRIMMED = 16  # only its header is left

# The first cache line is what a switch touches, the second what an end host touches.
PACKET_FIELDS = (
    ("arrive_ps", "i8", "when it is at the far end of this link, or a host has computed with it"),
    ("enqueue_ps", "i8", "when it joined the queue of the present port"),
    ("next_arrive_ps", "i8", "arrive_ps of the packet behind it in the port's chain, or NO_TIME_PS"),
    ("next", "i4", "chain of a port, or the free list: the next"),
    ("previous", "i4", "the one before"),
    ("sub", "i4", "number of its subflow"),
    ("target", "i4", "host that it goes to"),
    ("bytes", "i4", "with headers, without link-layer bytes"),
    ("kind", "i2", "DATA, ACK, SYN, SYN_ACK, CODED, HANDSHAKE_ACK (transport, layer)"),
    (
        "flags",
        "i2",
        "RETRANSMITTED, ECN_CAPABLE, CONGESTION_EXPERIENCED, ECN_ECHO, TRIMMED, summed (transport; the port marks and "
        "trims)",
    ),
    ("priority", "i4", "0 is served first (transport)"),
    ("label", "i4", "number of the path that it is to take, or NONE"),
    ("hash", "i8", "of its addresses and port numbers (marking), the same for a subflow's life under ECMP"),
    # -- end hosts
    ("sent_ps", "i8", "when it was handed to the NIC (uet: when it left), echoed by the acknowledgement (transport)"),
    ("segment", "i8", "DATA: number in the subflow; CODED: first segment of the unit; ACK: as what it answers"),
    ("ack", "i8", "ACK: next segment expected (transport)"),
    ("data", "i8", "of a shared stream: data segment"),
    ("data_ack", "i8", "of a shared stream: next data segment expected"),
    ("window", "i4", "of a shared stream: data segments that the receiver has room for"),
    ("unit", "i4", "CODED, or a source packet sent uncoded: number of the unit, else NONE (layer)"),
    ("position", "i4", "CODED: 0 to n - 1 in the unit (layer)"),
    ("entropy", "i2", "from which its hash was made, echoed by the acknowledgement, or NONE (marking)"),
    ("stale", "i2", "1: it tells the receiver nothing new of its unit; only known where payload is computed"),
    ("rank", "i8", "at a port that sends by priority or rank: the smallest one leaves first"),
)
PACKET = np.dtype([(name, kind) for name, kind, _ in PACKET_FIELDS], align=True)

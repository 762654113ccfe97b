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
PACKET = np.dtype(
    [
        ("arrive_ps", "i8"),  # at the far end of the current link, or when the processor of a host is done with it
        ("enqueue_ps", "i8"),  # at the current port
        ("next_arrive_ps", "i8"),  # arrive_ps of the packet behind it in the port's chain, or NO_TIME_PS
        ("next", "i4"),  # chains of a port; free list of the pool
        ("previous", "i4"),
        ("sub", "i4"),
        ("target", "i4"),  # host
        ("bytes", "i4"),  # with headers, without link-layer bytes
        ("kind", "i2"),
        ("flags", "i2"),
        ("priority", "i4"),  # 0 is served first
        ("label", "i4"),  # number of the path that it is to take, or NONE
        ("hash", "i8"),  # of the addresses and port numbers, the same for a subflow's life under ECMP
        # -- end hosts
        ("sent_ps", "i8"),  # echoed by the acknowledgement
        ("segment", "i8"),  # DATA: sequence number in the subflow; CODED: first segment of the unit
        ("ack", "i8"),  # ACK: next segment expected
        ("data", "i8"),  # of a shared stream: data segment
        ("data_ack", "i8"),  # of a shared stream: next data segment expected
        ("window", "i4"),  # of a shared stream: data segments that the receiver has room for
        ("unit", "i4"),  # CODED, or a source packet sent uncoded: number of the unit, else NONE
        ("position", "i4"),  # CODED: 0 .. n-1 in the unit
        (
            "entropy",
            "i2",
        ),  # from which the sender made its hash, echoed by the acknowledgement; NONE where it says none
        ("stale", "i2"),  # 1: it tells the receiver nothing new of its unit; only known where payload is computed
        ("rank", "i8"),  # at a port that sends by priority or rank: the smallest one leaves first
    ],
    align=True,
)

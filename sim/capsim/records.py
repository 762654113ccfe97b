"""The state of a simulation as records with named fields, shared by protocol code and both engines.

A record is one element of a NumPy structured array in the compiled engine and an object with ``__slots__`` of the
same names in the reference engine (:func:`slotted`), so that ``conn.cwnd_bytes += mss`` is the same line in both.
Times are int64 picoseconds, sizes int64 bytes, sequence numbers int64 segments of one MSS.

============== ======================================================================
Record         One per
============== ======================================================================
``PACKET``     packet in the network (a pool; a number is the packet's index in it)
``PORT``       directed link: queue, serialiser, propagation delay, counters
``SWITCH``     switch
``CONNECTION`` transport connection: a flow has one, or two when it is replicated
``FLOW``       transfer that the application asked for
``UNIT``       coding unit
``ESTIMATOR``  measurement of the blocking probability (per connection or per host)
``TRACE``      line of the packet trace
``PROBE``      sample of a port or a connection
============== ======================================================================
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from capsim.bounds import SACK_BLOCKS

NONE = -1  # no packet, no port, no time

# Packet kinds (PACKET.kind)
DATA, ACK, SYN, SYN_ACK, CODED, HANDSHAKE_ACK = 0, 1, 2, 3, 4, 5  # the last: of the SYN-ACK

# Packet flags (PACKET.flags)
RETRANSMITTED = 1  # Karn: neither this packet nor its acknowledgement gives an RTT sample
ECN_CAPABLE = 2
CONGESTION_EXPERIENCED = 4
ECN_ECHO = 8

# Connection states (CONNECTION.state)
IDLE, SYN_SENT, ESTABLISHED, CLOSED, SYN_ANSWERED = 0, 1, 2, 3, 4

# Flags of one segment in a connection's ring (one byte each)
RECEIVED = 1  # at the receiver, above the cumulative acknowledgement
SACKED = 2  # at the sender's scoreboard
RESENT = 4  # retransmitted in this recovery
HELD = 8  # at the decoder, behind a gap, not yet with the transport

MAX_SACK_BLOCKS = int(SACK_BLOCKS.largest)

# Why a packet was dropped (TRACE.reason)
QUEUE_FULL, EVICTED, LINK_DOWN, NO_ROUTE = 1, 2, 3, 4

# The first 64 bytes are what a switch touches, the rest what an end host touches.
PACKET = np.dtype(
    [
        ("arrive_ps", "i8"),  # at the far end of the current link
        ("enqueue_ps", "i8"),  # at the current port
        ("next_arrive_ps", "i8"),  # arrive_ps of the packet behind it in the port's chain
        ("next", "i4"),  # chains of a port; free list of the pool
        ("previous", "i4"),
        ("conn", "i4"),
        ("target", "i4"),  # host
        ("bytes", "i4"),  # with headers, without link-layer bytes
        ("kind", "i2"),
        ("flags", "i2"),
        ("priority", "i4"),  # 0 is served first
        ("hops", "i4"),
        ("hash", "i8"),  # of the addresses and port numbers, the same for a flow's life under ECMP
        # -- end hosts
        ("sent_ps", "i8"),  # echoed by the acknowledgement
        ("segment", "i8"),  # DATA: sequence number; CODED: first segment of the unit
        ("ack", "i8"),  # ACK: next segment expected
        ("unit", "i4"),  # CODED, or a source packet sent uncoded: number of the unit, else NONE
        ("position", "i4"),  # CODED: 0 .. n-1 in the unit
        ("sack_first", "i4", (MAX_SACK_BLOCKS,)),  # ACK: blocks [first, end) above `ack`, newest first; 0, 0 = none
        ("sack_end", "i4", (MAX_SACK_BLOCKS,)),  # ends the second cache line
    ],
    align=True,
)

PORT = np.dtype(
    [
        ("free_ps", "i8"),  # when the serialiser has sent all that is queued
        ("queue_head_ps", "i8"),  # FIFO: arrive_ps of the packet `queue_head`
        ("delay_ps", "i8"),
        ("byte_ps", "i8"),  # time per byte, or 0 when it is not a whole number
        ("limit_packets", "i8"),  # NONE = unlimited
        ("limit_bytes", "i8"),
        ("queue_bytes", "i8"),  # the packet in service included
        ("queue_packets", "i4"),
        ("to_node", "i4"),
        ("head", "i4"),  # chain of packets in order of arrival at the far end
        ("tail", "i4"),
        ("queue_head", "i4"),  # FIFO: first packet of that chain not yet sent
        ("service", "i4"),  # strict priority: the packet being sent
        ("class_head", "i4", (2,)),  # strict priority: waiting packets, by class
        ("class_tail", "i4", (2,)),
        ("up", "i4"),
        ("from_node", "i4"),
        ("rate_bps", "i8"),
        # -- counters
        ("packets_in", "i8"),  # offered: accepted or dropped
        ("bytes_in", "i8"),
        ("packets_out", "i8"),  # sent
        ("bytes_out", "i8"),
        ("packets_dropped", "i8"),
        ("bytes_dropped", "i8"),
        ("packets_marked", "i8"),
        ("packets_arrived", "i8"),  # at the far end
        ("max_queue_packets", "i8"),
        ("max_queue_bytes", "i8"),
        # Time integral of queue_packets, summed over packets; the same weighted with bytes (engines/queue_sums.py)
        ("sojourn_ps", "i8"),
        ("sojourn_words", "i8"),
        ("sojourn_bytes_ns", "i8"),
        ("sojourn_bytes_words", "i8"),
        ("unused", "i8", (4,)),  # four cache lines
    ],
    align=True,
)

SWITCH = np.dtype(
    [
        ("salt", "i8"),  # seed of this switch's hash (RFC 2992 does not ask for one; without it tiers polarise)
        ("stream", "i8"),  # key of its uniform numbers
        ("stream_high", "i8"),  # capsim.randomness.draw
        ("draws", "i8"),  # of these used so far
        ("id", "i4"),
        ("tier", "i4"),  # 0 = leaf or edge
    ],
    align=True,
)

CONNECTION = np.dtype(
    [
        ("id", "i4"),
        ("flow", "i4"),
        ("src", "i4"),
        ("dst", "i4"),
        ("n_segments", "i8"),
        ("mss_bytes", "i8"),
        ("last_segment_bytes", "i8"),
        ("hash", "i8"),  # of data packets
        ("reverse_hash", "i8"),  # of acknowledgements
        ("ring", "i8"),  # this connection's part of the segment flags
        ("ring_mask", "i8"),
        ("state", "i4"),
        ("short", "i4"),  # known to be at most the threshold of the scheme
        ("coded", "i4"),
        ("priority", "i4"),
        # -- timers: deadline, or NONE when off
        ("timer_ps", "i8"),  # retransmission
        ("flush_ps", "i8"),  # coding unit
        # -- sender
        ("una", "i8"),  # first segment not acknowledged
        ("next_segment", "i8"),  # to be sent next
        ("high", "i8"),  # one above the highest segment ever sent
        ("cwnd_bytes", "i8"),
        ("ssthresh_bytes", "i8"),
        ("dup_acks", "i8"),
        ("recover", "i8"),  # RFC 6582: highest segment sent when recovery began
        ("in_recovery", "i4"),
        ("resend", "i4"),  # 1: the segment `una` is to be retransmitted next
        ("partial_acks", "i8"),
        ("limited_segments", "i8"),  # sent by limited transmit, not part of FlightSize (RFC 5681, section 3.2)
        ("timed_out", "i8"),  # segment of the last timeout
        ("pipe_packets", "i8"),  # RFC 6675: Pipe
        ("lost_below", "i8"),  # RFC 6675: what is below and not SACKed is lost
        ("high_sacked", "i8"),
        ("rescued", "i8"),  # RFC 6675: RescueRxt, in segments
        ("srtt_ps", "i8"),
        ("rttvar_ps", "i8"),
        ("rto_ps", "i8"),
        ("alpha", "f8"),  # DCTCP: estimate of the marked fraction
        ("acked_bytes", "i8"),  # DCTCP: in this observation window
        ("marked_bytes", "i8"),
        ("early_bytes", "i8"),  # DCTCP: counted when a duplicate ACK reported them, not yet acknowledged
        ("window_end", "i8"),
        ("reduced_until", "i8"),
        # -- receiver
        ("receive_next", "i8"),
        ("highest_received", "i8"),
        ("sack_first", "i8", (MAX_SACK_BLOCKS,)),  # blocks reported last, newest first
        ("sack_end", "i8", (MAX_SACK_BLOCKS,)),
        # -- coding
        ("unit_first", "i8"),  # first segment in the encoding buffer
        ("unit_next", "i8"),  # one above the last
        ("unit_bytes", "i8"),  # size of the largest packet in it
        ("fill_unit", "i4"),  # whose source packets are leaving one by one, or NONE
        ("fill_packets", "i4"),  # how many of them make it full
        ("open_unit", "i4"),  # of which packets are to be sent now, or NONE
        (
            "first_unit",
            "i4",
        ),  # oldest unit not yet acknowledged (ACK per packet) or released at the receiver (at decoding)
        ("last_unit", "i4"),
        ("release_next", "i8"),  # segments [release_next, release_end) wait to be delivered to the transport
        ("release_end", "i8"),
        ("release_unit", "i4"),
        ("release_flags", "i4"),  # of the packet after which they may be delivered
        ("release_sent_ps", "i8"),  # when that packet was sent
        ("estimator", "i4"),
        # -- counters of the switches
        ("routed_bytes", "i8"),  # data that the first switch has routed
        ("path_words", "i8", (4,)),  # a balancer's own memory for this connection at its first switch
        # -- results
        ("start_ps", "i8"),
        ("received_ps", "i8"),  # last byte at the receiver's application
        ("acked_ps", "i8"),  # last acknowledgement at the sender
        ("packets_sent", "i8"),  # data, coded included
        ("bytes_sent", "i8"),
        ("retransmissions", "i8"),
        ("fast_retransmits", "i8"),
        ("timeouts", "i8"),
        ("dup_acks_received", "i8"),
        ("reordered_packets", "i8"),
        ("duplicate_packets", "i8"),
        ("coded_packets", "i8"),
        ("repair_packets", "i8"),
        ("units", "i8"),
        ("units_decoded", "i8"),
        ("units_stalled", "i8"),
        ("late_packets", "i8"),  # coded packets of units already decoded
        ("packets_dropped", "i8"),
        ("packets_marked", "i8"),
    ],
    align=True,
)

FLOW = np.dtype(
    [
        ("src", "i4"),
        ("dst", "i4"),
        ("flow_bytes", "i8"),
        ("start_ps", "i8"),
        ("received_ps", "i8"),
        ("acked_ps", "i8"),
        ("short", "i4"),
        ("tag", "i4"),
        ("first_conn", "i4"),
        ("n_conns", "i4"),
        ("winner", "i4"),  # connection that was complete at the receiver first
    ],
    align=True,
)

UNIT = np.dtype(
    [
        ("conn", "i4"),
        ("k", "i4"),
        ("n", "i4"),
        ("sent", "i4"),  # packets so far, retransmissions included: the position of the next one
        ("left", "i4"),  # packets to be sent now
        ("packet_bytes", "i4"),  # of a coded packet: as the largest source packet
        ("arrived", "i4"),  # independent packets at the receiver
        ("first", "i8"),  # segment
        ("sent_ps", "i8"),
        ("decoded_ps", "i8"),  # NONE: never
        ("next", "i4"),  # later unit of the same connection
        ("released", "i4"),
        ("stalled", "i4"),  # short of k when a retransmission of one of its packets came
    ],
    align=True,
)

ESTIMATOR = np.dtype(
    [
        ("period", "i8"),  # number of the current sampling period
        ("acks", "i8"),  # in this period: n
        ("blocked", "i8"),  # of these with a large RTT: n_L
        ("rtt_sum_ps", "i8"),
        ("known_acks", "i8"),  # of the last period that had any
        ("known_blocked", "i8"),
        ("smoothed_rtt_ps", "i8"),
        ("all_acks", "i8"),
        ("all_rtt_ps", "i8"),
        # the best size of a unit, and what it was computed for
        ("optimal_packets", "i8"),
        ("optimal_window", "i8"),
        ("optimal_blocked", "i8"),
        ("optimal_acks", "i8"),
    ],
    align=True,
)

COUNTERS = np.dtype(
    [
        ("now_ps", "i8"),
        ("events", "i8"),
        ("traversals", "i8"),  # packets that fully crossed a link
        ("next_start", "i8"),  # connection
        ("open_conns", "i8"),  # not yet finished or aborted
        ("units", "i8"),
        ("trace", "i8"),
        ("probes", "i8"),
        ("unroutable", "i8"),
        ("free", "i8"),  # packet pool: head of the free list
        ("free_count", "i8"),
        ("next_epoch", "i8"),
        ("next_probe_ps", "i8"),
        ("in_flight", "i8"),  # packets in the network
    ],
    align=True,
)

# What a line of the trace says (TRACE.what)
ENQUEUED, DROPPED, ARRIVED = 0, 1, 2

TRACE = np.dtype(
    [
        ("time_ps", "i8"),
        ("what", "i4"),
        ("reason", "i4"),
        ("port", "i4"),
        ("conn", "i4"),
        ("kind", "i4"),
        ("flags", "i4"),
        ("segment", "i8"),
        ("ack", "i8"),
        ("bytes", "i8"),
        ("queue_packets", "i8"),  # before this packet
    ],
    align=True,
)

# What a sample is of (PROBE.what)
PORT_SAMPLE, CONNECTION_SAMPLE = 0, 1

PROBE = np.dtype(
    [
        ("time_ps", "i8"),
        ("what", "i4"),
        ("entity", "i4"),  # port or connection
        ("queue_packets", "i8"),
        ("queue_bytes", "i8"),
        ("cwnd_bytes", "i8"),
        ("ssthresh_bytes", "i8"),
        ("srtt_ps", "i8"),
        ("flight_packets", "i8"),
    ],
    align=True,
)


def slotted(dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    """Return a maker of plain objects that have the fields of `dtype` as slots.

    Parameters
    ----------
    dtype : dtype
        Structured; a field that is an array becomes a list.

    Returns
    -------
    callable
        Takes one element of an array of that dtype and returns an object with the same values as Python numbers,
        20 times faster to use in CPython than the element itself.

    Examples
    --------
    >>> make = slotted(PORT)
    >>> port = make(np.zeros(1, PORT)[0])
    >>> port.queue_bytes += 1500
    >>> port.queue_bytes
    1500
    """
    names = dtype.names or ()
    kind = type("Record", (), {"__slots__": names})

    def make(element: Any) -> Any:
        record = kind()
        for name, value in zip(names, element.tolist(), strict=True):
            setattr(record, name, value.tolist() if isinstance(value, np.ndarray) else value)
        return record

    return make


def fill(array: np.ndarray[Any, Any], records: list[Any]) -> None:
    """Write slotted `records` back into the structured `array`, element by element."""
    names = array.dtype.names or ()
    for index, record in enumerate(records):
        array[index] = tuple(getattr(record, name) for name in names)

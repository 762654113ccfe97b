"""The state of a simulation as records with named fields, shared by protocol code and both engines.

A record is one element of a NumPy structured array in the compiled engine and an object with ``__slots__`` of the
same names in the reference engine (:mod:`capsim.slotted`), so that ``sub.cwnd_bytes += mss`` is the same line in both.
Times are int64 picoseconds, sizes int64 bytes, sequence numbers int64 segments of one MSS.

============== ======================================================================
Record         One per
============== ======================================================================
``PACKET``     packet in the network (a pool; a number is the packet's index in it)
``PORT``       directed link: queue, serialiser, propagation delay, counters
``SWITCH``     switch
``PROCESSOR``  end host, in runs where coding takes time
``FLOW``       transfer that the application asked for: one stream of data segments
``SUBFLOW``    path identity, sequence space, window and loss recovery of a flow;
               a flow on a single path has one that carries its whole stream
``TRACE``      line of the packet trace
``WATCH``      number that is sampled
``PROBE``      sample of one
============== ======================================================================

What only one component uses is not here: it is the component's own memory (:mod:`capsim.own`).
"""

import numpy as np

NONE = -1  # no packet, no port, no time

# Packet kinds (PACKET.kind)
DATA, ACK, SYN, SYN_ACK, CODED, HANDSHAKE_ACK = 0, 1, 2, 3, 4, 5  # the last: of the SYN-ACK

# Packet flags (PACKET.flags)
RETRANSMITTED = 1  # Karn: neither this packet nor its acknowledgement gives an RTT sample
ECN_CAPABLE = 2
CONGESTION_EXPERIENCED = 4
ECN_ECHO = 8

# States of a subflow (SUBFLOW.state)
IDLE, SYN_SENT, ESTABLISHED, CLOSED, SYN_ANSWERED = 0, 1, 2, 3, 4

# Flags of one segment in a subflow's ring (one byte each)
RECEIVED = 1  # at the receiver, above the cumulative acknowledgement
SACKED = 2  # at the sender's scoreboard
RESENT = 4  # retransmitted in this recovery
HELD = 8  # at the decoder, behind a gap, not yet with the transport

# Flags of one data segment of a shared stream; the bits above say what the sharing component makes of them
DATA_RECEIVED = 1  # at the receiver, behind a gap

# Why a packet was dropped (TRACE.reason)
QUEUE_FULL, EVICTED, LINK_DOWN, NO_ROUTE, CORRUPTED = range(1, 6)

# The first cache line is what a switch touches, the second what an end host touches.
PACKET = np.dtype(
    [
        ("arrive_ps", "i8"),  # at the far end of the current link, or when the processor of a host is done with it
        ("enqueue_ps", "i8"),  # at the current port
        ("next_arrive_ps", "i8"),  # arrive_ps of the packet behind it in the port's chain
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
        ("stale", "i4"),  # 1: it tells the receiver nothing new of its unit; only known where payload is computed
        ("unused", "i4", (2,)),
    ],
    align=True,
)

# The first three cache lines are what every packet touches that crosses a FIFO port.
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
        ("up", "i4"),
        ("packets_in", "i8"),  # offered: accepted or dropped
        ("bytes_in", "i8"),
        ("packets_out", "i8"),  # sent
        ("bytes_out", "i8"),
        ("packets_arrived", "i8"),  # at the far end
        ("max_queue_packets", "i8"),
        ("max_queue_bytes", "i8"),
        # Time integral of queue_packets, summed over packets; the same weighted with bytes (engines/queue_sums.py)
        ("sojourn_ps", "i8"),
        ("sojourn_words", "i8"),
        ("sojourn_bytes_ns", "i8"),
        ("sojourn_bytes_words", "i8"),
        ("service", "i4"),  # by priority: the packet being sent
        ("wait_head", "i4"),  # by priority: waiting packets, the best first, equal ones in order of arrival
        ("wait_tail", "i4"),
        ("from_node", "i4"),
        ("loss_prob", "f8"),  # of each packet that crosses the link
        # -- less often
        ("rate_bps", "i8"),
        ("packets_dropped", "i8"),
        ("bytes_dropped", "i8"),
        ("packets_marked", "i8"),
        ("packets_lost", "i8"),  # of those that crossed the link
        ("bytes_lost", "i8"),
        ("stream", "i8"),  # key of the uniform numbers that decide which
        ("layer", "i4"),
        ("unused", "i4"),  # four cache lines
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

FLOW = np.dtype(
    [
        ("src", "i4"),
        ("dst", "i4"),
        ("stack", "i4"),
        ("short", "i2"),  # at most short_bytes of the scenario
        ("known_short", "i2"),  # and hosts and switches know it
        ("shared", "i2"),  # whether its subflows share one stream
        ("ready_subs", "i2"),  # how many of its subflows are ready
        ("ready_sub", "i4"),  # the last one that became so
        ("tag", "i4"),  # traffic entry
        ("n_paths", "i4"),  # shortest paths from src to dst
        ("distance", "i4"),  # 0 in the rack, 1 in the pod, 2 beyond
        ("first_sub", "i4"),
        ("last_sub", "i4"),
        ("n_subs", "i4"),
        ("winner", "i4"),  # subflow that was complete, or brought the last missing segment, first
        ("path", "i4"),  # label of the path to which its packets are pinned, or NONE
        ("path_back", "i4"),  # of its acknowledgements
        ("opening", "i4"),  # subflows that are opened at this moment and do not exist yet
        ("flow_bytes", "i8"),
        ("start_ps", "i8"),
        ("n_segments", "i8"),
        ("mss_bytes", "i8"),
        ("last_segment_bytes", "i8"),
        ("received_ps", "i8"),  # last byte at the receiver's application
        ("acked_ps", "i8"),  # last acknowledgement at the sender
        ("wake_ps", "i8"),  # when its next subflows are opened, or NONE
        ("to_open", "i4"),  # how many
        ("draws", "i4"),  # uniform numbers used
        # -- of a shared stream: sender
        ("granted", "i8"),  # data segments given to subflows
        ("data_acked", "i8"),  # first data segment not acknowledged
        ("peer_window", "i8"),  # first data segment for which the receiver has no room
        # -- receiver
        ("data_next", "i8"),  # next data segment for the application
        ("buffered", "i8"),  # data segments that wait behind a gap
        ("max_buffered", "i8"),
        ("buffer_segments", "i8"),
        ("data_ring", "i8"),  # this flow's part of the data flags
        ("data_mask", "i8"),
        # -- results
        ("reinjected", "i8"),  # data segments granted once more
        ("data_duplicates", "i8"),
        ("refused", "i8"),  # data segments that found the buffer full
        ("blocked_ps", "i8"),  # how long the receive buffer kept the sender from granting
        ("blocked_since_ps", "i8"),
    ],
    align=True,
)

# The first cache line is what a scan over the subflows of a flow touches; every packet at its sender touches the first
# four, at its receiver the first two and the fifth. Seven cache lines.
SUBFLOW = np.dtype(
    [
        # -- what the other subflows of its flow read too
        ("id", "i4"),
        ("flow", "i4"),
        ("stack", "i4"),
        ("state", "i4"),
        ("next_sub", "i4"),  # of the same flow, or NONE
        ("number", "i2"),  # in the flow, from 0
        ("shared", "i2"),  # whether it carries a part of a shared stream
        ("final", "i2"),  # 1: no more segments will be granted
        ("ready", "i2"),  # 1: it would send if it were granted a segment
        ("in_recovery", "i4"),
        ("cwnd_bytes", "i8"),
        ("srtt_ps", "i8"),
        ("mss_bytes", "i8"),
        ("una", "i8"),  # first segment not acknowledged
        # -- sender
        ("ring", "i8"),  # its part of the segment flags
        ("ring_mask", "i8"),
        ("end", "i8"),  # segments granted so far; all of the flow's when it carries the whole stream
        ("next_segment", "i8"),  # to be sent next
        ("high", "i8"),  # one above the highest segment ever sent
        ("recover", "i8"),  # RFC 6582: highest segment sent when recovery began
        ("dup_acks", "i8"),
        ("inflation_bytes", "i8"),  # the window in force is cwnd_bytes + inflation_bytes
        ("timer_ps", "i8"),  # retransmission deadline, or NONE when off
        ("rttvar_ps", "i8"),
        ("rto_ps", "i8"),
        ("max_window_bytes", "i8"),
        ("short_segment", "i8"),  # the one segment that is shorter than an MSS, or NONE
        ("limited_packets", "i8"),  # new segments that limited transmit may send (RFC 3042)
        ("limited_segments", "i8"),  # sent by it, not part of FlightSize (RFC 5681, section 3.2)
        ("newly_acked_bytes", "i8"),  # by the last acknowledgement
        ("src", "i4"),
        ("dst", "i4"),
        ("priority", "i4"),
        ("short", "i4"),  # known to be at most the threshold of the scheme
        ("hash", "i8"),  # of data packets
        ("packets_sent", "i8"),  # data, coded included
        ("bytes_sent", "i8"),
        ("ssthresh_bytes", "i8"),
        ("resend", "i4"),  # 1: the segment `una` is to be retransmitted next
        ("in_doubt", "i4"),  # 1: since the last recovery began nothing was acknowledged
        ("dup_run", "i4"),  # duplicate acknowledgements since the last new one
        ("held", "i4"),  # receiver: first of the packets that its layer holds, in a ring, or NONE
        # -- receiver
        ("receive_next", "i8"),
        ("highest_received", "i8"),
        ("reverse_hash", "i8"),  # of acknowledgements
        ("received_ps", "i8"),  # the whole stream at the receiver
        ("send_wake_ps", "i8"),  # when the layer or the transport is asked again, or NONE
        ("receive_wake_ps", "i8"),  # the same at the receiver
        ("short_bytes", "i8"),  # its payload
        ("dup_ack_threshold", "i8"),
        # -- less often
        ("partial_acks", "i8"),
        ("timed_out", "i8"),  # segment of the last timeout
        ("lost_flight_bytes", "i8"),  # in flight at the last loss
        ("open_ps", "i8"),
        ("closed_ps", "i8"),  # last acknowledgement at the sender
        ("established_ps", "i8"),
        ("retransmissions", "i8"),
        ("fast_retransmits", "i8"),
        # -- results
        ("timeouts", "i8"),
        ("dup_acks_received", "i8"),
        ("reordered_packets", "i8"),
        ("duplicate_packets", "i8"),
        ("packets_dropped", "i8"),
        ("packets_marked", "i8"),
        ("spurious_retransmissions", "i4"),
        ("long_dup_ack_runs", "i4"),  # that the network's reordering made
        ("max_reorder_extent", "i4"),  # this and the next only when asked for
        ("packets_entered", "i4"),  # at the receiver, each segment once; seven cache lines
    ],
    align=True,
)

# It encodes packets that leave and decodes those that have come: when it is done with all that wait, and the chain of
# these in order; each is done at its `arrive_ps`
PROCESSOR = np.dtype([("free_ps", "i8"), ("head", "i4"), ("tail", "i4")], align=True)

COUNTERS = np.dtype(
    [
        ("now_ps", "i8"),
        ("events", "i8"),
        ("traversals", "i8"),  # packets that fully crossed a link
        ("next_start", "i8"),  # flow
        ("open_subs", "i8"),  # opened and not yet finished or aborted
        ("subs", "i8"),  # opened so far
        ("ring_end", "i8"),  # bytes of segment flags that are in use
        ("data_end", "i8"),  # the same of data flags
        ("units", "i8"),
        ("trace", "i8"),
        ("probes", "i8"),
        ("unroutable", "i8"),
        ("free", "i8"),  # packet pool: head of the free list
        ("free_count", "i8"),
        ("next_epoch", "i8"),
        ("next_probe_ps", "i8"),
        ("in_flight", "i8"),  # packets in the network, and those held
        ("held", "i8"),  # by layers, and those at the processors of hosts
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
        ("sub", "i4"),
        ("kind", "i4"),
        ("flags", "i4"),
        ("segment", "i8"),
        ("ack", "i8"),
        ("bytes", "i8"),
        ("queue_packets", "i8"),  # before this packet
    ],
    align=True,
)

# Histograms (engines/histograms.py): bins, of queues and of extents of reordering; what is counted of a packet that
# leaves a queue; kinds of packet, the first two data of flows by FLOW.short
BINS, EXTENT_BINS = 64, 32
QUANTITIES = 2  # its wait, and the packets that it leaves behind
LONG, SHORT, CONTROL, CLASSES = range(4)

NUMBER_TYPES = ("i8", "i4", "i2", "u1", "f8")  # of fields of records and of own memory

# Where a number lies that is sampled: of one entity, or of each subflow of a flow (probe_places.py)
WATCH = np.dtype(
    [
        ("table", "i8"),  # address of the table, which moves when it grows
        ("first", "i8"),  # where in the table, in bytes; of the first subflow of the run
        ("stride", "i8"),  # bytes from subflow to subflow, or 0: one entity
        ("row", "i8"),  # row of the table, or among the rows of a subflow
        ("per_sub", "i8"),  # rows of a subflow
        ("type", "i4"),  # place in NUMBER_TYPES
        ("field", "i4"),
        ("flow", "i4"),
        ("unused", "i4"),
    ],
    align=True,
)

PROBE = np.dtype(
    [
        ("time_ps", "i8"),
        ("watch", "i4"),
        ("sub", "i4"),  # or NONE
        ("value", "f8"),
    ],
    align=True,
)

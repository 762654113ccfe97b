"""Flows and their subflows, the states of a subflow and the flags of segments."""

import numpy as np

# States of a subflow (SUBFLOW.state)
IDLE, SYN_SENT, ESTABLISHED, CLOSED, SYN_ANSWERED = 0, 1, 2, 3, 4

# Flags of one segment in a subflow's ring (one byte each)
RECEIVED = 1  # at the receiver, above the cumulative acknowledgement
SACKED = 2  # at the sender's scoreboard
RESENT = 4  # retransmitted in this recovery
HELD = 8  # at the decoder, behind a gap, not yet with the transport
MISSING = 16  # counts as lost and is not retransmitted yet

# Flags of one data segment of a shared stream; the bits above say what the sharing component makes of them
DATA_RECEIVED = 1  # at the receiver, behind a gap

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
        ("opening", "i2"),  # subflows that are opened at this moment and do not exist yet
        ("counted", "i2"),  # whether results count it
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
        ("begin_ps", "i8"),  # when it begins: at start_ps, or so long after those that it waits for; NONE until then
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

# What a flow waits for, and what waits for it, in runs where some flow waits for others
WAIT = np.dtype(
    [
        ("left", "i8"),  # flows that must be complete before it begins, those that are not yet
        ("at_sender", "i8"),  # 1: they are complete when all is acknowledged, 0: when it is received
        ("first", "i8"),  # in the list of all flows that wait for others: those that wait for this one
        ("dependents", "i8"),  # how many
    ]
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
        ("limited_packets", "i4"),  # new segments that limited transmit may send (RFC 3042)
        ("limited_segments", "i4"),  # sent by it, not part of FlightSize (RFC 5681, section 3.2)
        ("newly_acked_bytes", "i8"),  # by the last acknowledgement
        ("rtt_ps", "i8"),  # of the last packet that was answered, where a transport measures each
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
        ("flight_bytes", "i8"),  # payload that is sent and not answered, where a transport counts it
        ("partial_acks", "i4"),
        ("fast_retransmits", "i4"),
        ("timed_out", "i8"),  # segment of the last timeout
        ("lost_flight_bytes", "i8"),  # in flight at the last loss
        ("open_ps", "i8"),
        ("closed_ps", "i8"),  # last acknowledgement at the sender
        ("established_ps", "i8"),
        ("retransmissions", "i8"),
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

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

FLOW_FIELDS = (
    ("src", "i4", "number of the host that sends"),
    ("dst", "i4", "number of the host that receives"),
    ("stack", "i4", "place of its stack among those of the run"),
    ("short", "i2", "1: at most short_bytes of the scenario"),
    ("known_short", "i2", "1: so, and hosts and switches know it"),
    ("shared", "i2", "1: its subflows share one stream"),
    ("ready_subs", "i2", "how many of its subflows are ready (SUBFLOW.ready)"),
    ("ready_sub", "i4", "the last one that became so"),
    ("tag", "i4", "position of its traffic entry in the scenario"),
    ("n_paths", "i4", "shortest paths from src to dst"),
    ("distance", "i4", "0: within the rack, 1: within the pod, 2: beyond"),
    ("first_sub", "i4", "its first subflow, or NONE"),
    ("last_sub", "i4", "its last subflow, or NONE"),
    ("n_subs", "i4", "how many subflows it has"),
    ("winner", "i4", "subflow that was complete, or brought the last missing segment, first"),
    ("path", "i4", "label of the path to which its packets are pinned, or NONE"),
    ("path_back", "i4", "the same of its acknowledgements"),
    ("opening", "i2", "subflows that are opened at this moment and do not exist yet"),
    ("counted", "i2", "1: results count it"),
    ("flow_bytes", "i8", "its size"),
    ("start_ps", "i8", "when it is to begin"),
    ("n_segments", "i8", "its size in segments"),
    ("mss_bytes", "i8", "payload of a full segment"),
    ("last_segment_bytes", "i8", "payload of the last one"),
    ("received_ps", "i8", "when its last byte came to the receiver's application, or NONE"),
    ("acked_ps", "i8", "when its last acknowledgement came to the sender, or NONE"),
    ("wake_ps", "i8", "when its next subflows are opened, or NONE (sharing)"),
    ("to_open", "i4", "how many (sharing)"),
    ("draws", "i4", "uniform numbers used so far"),
    ("begin_ps", "i8", "when it begins: at start_ps, or so long after those that it waits for; NONE until then"),
    # -- of a shared stream: sender
    ("granted", "i8", "data segments given to subflows"),
    ("data_acked", "i8", "first data segment that is not acknowledged"),
    ("peer_window", "i8", "first data segment for which the receiver has no room"),
    # -- receiver
    ("data_next", "i8", "next data segment for the application"),
    ("buffered", "i8", "data segments that wait behind a gap"),
    ("max_buffered", "i8", "the most that did"),
    ("buffer_segments", "i8", "room of the receiver, in data segments"),
    ("data_ring", "i8", "where its part of the data flags begins"),
    ("data_mask", "i8", "length of that part less 1"),
    # -- results
    ("reinjected", "i8", "data segments granted once more"),
    ("data_duplicates", "i8", "data segments that came more than once"),
    ("refused", "i8", "data segments that found the buffer full"),
    ("blocked_ps", "i8", "how long the receive buffer kept the sender from granting"),
    ("blocked_since_ps", "i8", "since when it does, or NONE"),
)
FLOW = np.dtype([(name, kind) for name, kind, _ in FLOW_FIELDS], align=True)

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
SUBFLOW_FIELDS = (
    # -- what the other subflows of its flow read too
    ("id", "i4", "its number among all subflows"),
    ("flow", "i4", "number of its flow"),
    ("stack", "i4", "place of its stack among those of the run"),
    ("state", "i4", "IDLE, SYN_SENT, SYN_ANSWERED, ESTABLISHED, CLOSED (transport)"),
    ("next_sub", "i4", "the next one of the same flow, or NONE"),
    ("number", "i2", "its number in the flow, from 0"),
    ("shared", "i2", "1: it carries a part of a shared stream"),
    ("final", "i2", "1: no more segments will be granted"),
    ("ready", "i2", "1: it would send if it were granted a segment (transport)"),
    ("in_recovery", "i4", "1: losses are being repaired (transport)"),
    ("cwnd_bytes", "i8", "congestion window (congestion control; in recovery and after a lost SYN the transport too)"),
    ("srtt_ps", "i8", "smoothed round trip, 0 before the first sample (TCP, ndp)"),
    ("mss_bytes", "i8", "payload of a full segment"),
    ("una", "i8", "first segment that is not acknowledged (transport)"),
    # -- sender
    ("ring", "i8", "where its part of the segment flags begins"),
    ("ring_mask", "i8", "length of that part less 1"),
    ("end", "i8", "segments granted so far; all of the flow where it carries the whole stream"),
    ("next_segment", "i8", "segment to be sent next (transport)"),
    ("high", "i8", "one above the highest segment ever sent (transport)"),
    ("recover", "i8", "highest segment sent when recovery began, RFC 6582 (transport)"),
    ("dup_acks", "i8", "duplicate acknowledgements since una has moved (transport)"),
    ("inflation_bytes", "i8", "the window in force is cwnd_bytes + inflation_bytes (transport)"),
    ("timer_ps", "i8", "when the retransmission timer fires, or NONE (transport)"),
    ("rttvar_ps", "i8", "mean deviation of the round trip (as srtt_ps)"),
    ("rto_ps", "i8", "retransmission timeout (transport)"),
    ("max_window_bytes", "i8", "most bytes in flight (transport)"),
    ("short_segment", "i8", "the one segment that is shorter than an MSS, or NONE"),
    ("limited_packets", "i4", "new segments that limited transmit may send, RFC 3042 (transport)"),
    ("limited_segments", "i4", "sent by it, not part of FlightSize, RFC 5681, section 3.2 (transport)"),
    ("newly_acked_bytes", "i8", "acknowledged by the last acknowledgement with the signal ACKED (transport)"),
    (
        "rtt_ps",
        "i8",
        "newest round trip measured, from PACKET.sent_ps on; 0 before the first. TCP and pfabric measure one at each "
        "ACKED but that of a retransmission (Karn's rule), uet and ndp at each answer to a packet (transport)",
    ),
    ("src", "i4", "host that sends"),
    ("dst", "i4", "host that receives"),
    ("priority", "i4", "of its packets, 0 is served first"),
    ("short", "i4", "1: known to be at most the threshold of the scheme"),
    ("hash", "i8", "of data packets: of their addresses and port numbers"),
    ("packets_sent", "i8", "data packets, coded ones included"),
    ("bytes_sent", "i8", "the same in bytes"),
    ("ssthresh_bytes", "i8", "slow start ends at this window (congestion control)"),
    ("resend", "i4", "1: the segment una is to be retransmitted next (transport)"),
    ("in_doubt", "i4", "1: since the last recovery began nothing was acknowledged"),
    ("dup_run", "i4", "duplicate acknowledgements since the last new one"),
    ("held", "i4", "first of the packets that its layer holds, in a ring, or NONE"),
    # -- receiver
    ("receive_next", "i8", "next segment expected in order (transport)"),
    ("highest_received", "i8", "highest segment that has come (transport)"),
    ("reverse_hash", "i8", "of acknowledgements"),
    ("received_ps", "i8", "when the receiver had its whole stream, or NONE"),
    ("send_wake_ps", "i8", "when the layer or the transport is asked again, or NONE (these)"),
    ("receive_wake_ps", "i8", "the same at the receiver (these)"),
    ("short_bytes", "i8", "payload of short_segment"),
    ("dup_ack_threshold", "i8", "duplicates that start a fast retransmit (transport, or sharing before)"),
    # -- less often
    ("flight_bytes", "i8", "payload that is sent and not answered (uet, ndp)"),
    ("partial_acks", "i4", "partial acknowledgements in this recovery (newreno)"),
    ("fast_retransmits", "i4", "recoveries that duplicates or SACK blocks began (transport)"),
    ("timed_out", "i8", "segment of the last timeout (transport)"),
    ("lost_flight_bytes", "i8", "in flight at the last loss, for ssthresh (transport)"),
    ("open_ps", "i8", "when it was opened"),
    ("closed_ps", "i8", "when its last acknowledgement came to the sender, or NONE"),
    ("established_ps", "i8", "when its handshake was over, or NONE"),
    ("retransmissions", "i8", "packets sent more than once (transport)"),
    # -- results
    ("timeouts", "i8", "times the timer fired (transport)"),
    ("dup_acks_received", "i8", "duplicate acknowledgements (transport)"),
    ("reordered_packets", "i8", "data packets that came behind later ones"),
    ("duplicate_packets", "i8", "data packets that came more than once"),
    ("packets_dropped", "i8", "its packets that were dropped"),
    ("packets_marked", "i8", "its packets that were marked"),
    ("spurious_retransmissions", "i4", "recoveries whose segment was not lost (RFC 3522)"),
    ("long_dup_ack_runs", "i4", "more than 3 duplicates in a row that reordering made"),
    ("max_reorder_extent", "i4", "largest extent of reordering (RFC 4737); this and the next only when asked for"),
    ("packets_entered", "i4", "packets at the receiver, each segment once"),
)
SUBFLOW = np.dtype([(name, kind) for name, kind, _ in SUBFLOW_FIELDS], align=True)

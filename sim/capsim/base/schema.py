"""The columns of the result tables, in order: name (its end is the unit) and meaning.

Every Parquet file carries the meaning beside each column. A missing time or ratio is NaN.

Counters of a flow are summed over its subflows. A replicated flow is complete when the first of them is (the winner),
so they include what the other did, also afterwards; ``winner_timeouts`` does not. Where data is granted once more to
another subflow (reinjection), the flow has waited for the timeout of the first, and those of all its subflows count.

The components of a scheme add columns of their own to the tables of flows, subflows and units
(:class:`capsim.roles.components.Component`). Behind these the flows table has those of a list of flows that are not
of the simulator (`LISTED`).
"""

from collections.abc import Iterable

FLOWS = {
    "flow": "number, in order of start",
    "src": "sending host",
    "dst": "receiving host",
    "flow_bytes": "payload asked for, in bytes",
    "start_s": "when the sender has the first byte, in seconds; infinite where what the flow waits for is not complete",
    "established_s": "when the first handshake of its subflows was over at the sender, in seconds; without one start_s",
    "fct_s": "completion time until the receiver has all bytes, in seconds; NaN if not finished",
    "acked_fct_s": "completion time until the sender knows it (last acknowledgement), in seconds",
    "ideal_fct_s": "least completion time alone in the intact fabric, over all its paths, in seconds",
    "slowdown": "fct_s over ideal_fct_s, a ratio",
    "delivered_bytes": "payload that the receiver's application has, in bytes",
    "measured_bytes": "of this, what came since the end of the warm-up",
    "counted": "whether results count it: it starts at warm_up_s or later, and not only to make the load of others "
    '(start = "steady" of its entry; of these the table has those that start before the run ends)',
    "finished": "whether the receiver has all bytes",
    "short": "whether the size is at most short_bytes of the scenario",
    "traffic_entry": "position of the entry in the scenario's traffic",
    "n_paths": "shortest paths from src to dst in the intact fabric",
    "distance": "0 if src and dst are in one rack, 1 if in one pod of a fat-tree, 2 beyond",
    "input_row": "position of the flow in this entry as listed or drawn, from 0",
    "subflows": "subflows opened for the flow; each carries all of it (replication) or a share",
    "packets_sent": "data packets sent by all subflows, coded and retransmitted ones included",
    "bytes_sent": "bytes of these packets with headers, without link-layer bytes",
    "retransmissions": "data packets retransmitted",
    "fast_retransmits": "recoveries begun by duplicate acknowledgements",
    "timeouts": "expiries of the retransmission timer",
    "winner_timeouts": "of these, on the subflow that completed the flow (on all if it reinjected); -1 if not finished",
    "duplicate_acks": "duplicate acknowledgements at the sender",
    "spurious_retransmissions": "recoveries whose missing segment then came by itself (RFC 3522), not lost but late",
    "long_dup_ack_runs": "more than 3 duplicate acknowledgements in a row that no loss but reordering made",
    "reordered_packets": "data packets that reached the receiving transport after one sent later (RFC 4737)",
    "duplicate_packets": "data packets that the receiving transport already had",
    "packets_dropped": "packets of the flow lost in the fabric, acknowledgements included",
    "packets_marked": "packets of the flow marked by ECN",
}

PORTS = {
    "port": "number",
    "name": "from>to",
    "layer": "kinds of its two ends, from>to: host>leaf, leaf>spine, edge>agg, left>right, ...",
    "path": "number of the spine, core or parallel link whose path it belongs to; -1 where there is none",
    "rate_bps": "link rate, in bit/s",
    "delay_s": "propagation delay, in seconds",
    "packets_in": "packets offered to the queue",
    "bytes_in": "bytes of these",
    "packets_out": "packets sent",
    "bytes_out": "bytes of these",
    "packets_dropped": "packets refused, evicted or lost with the link",
    "bytes_dropped": "bytes of these",
    "packets_lost": "packets that the link lost by chance, at its far end (loss_prob)",
    "bytes_lost": "bytes of these",
    "packets_marked": "packets marked by ECN",
    "packets_trimmed": "packets of which only the header is left",
    "bytes_trimmed": "bytes that were cut off these",
    "mean_queue_packets": "time average of the packets in queue and in service",
    "max_queue_packets": "the most that ever were there",
    "mean_queue_bytes": "time average of the bytes in queue and in service",
    "max_queue_bytes": "the most that ever were there",
    "utilisation": "bits sent, link-layer bytes included, over what the link can send in the run, a ratio",
    "measured_packets_in": "as packets_in, since the end of the warm-up",
    "measured_packets_dropped": "as packets_dropped, since the end of the warm-up",
    "measured_mean_queue_packets": "as mean_queue_packets, since the end of the warm-up; NaN if that never came",
    "measured_utilisation": "as utilisation, since the end of the warm-up; NaN if that never came",
}

SUBFLOWS = {
    "subflow": "number in the run, in order of opening",
    "flow": "flow it belongs to",
    "number": "number in the flow, from 0",
    "path_hash": "of addresses and port numbers of its data packets, from which switches choose a path",
    "state": "at the end: idle, syn sent, established, closed or syn answered",
    "open_s": "when it was opened, in seconds",
    "established_s": "when its handshake was over at the sender, in seconds; without a handshake when it was opened",
    "received_s": "when the receiver had the whole stream, in seconds; NaN for a share of a stream",
    "closed_s": "when all that it carried was acknowledged, or it was given up, in seconds; NaN if still open",
    "granted_packets": "data segments that it was given to carry",
    "cwnd_bytes": "congestion window at the end, in bytes",
    "ssthresh_bytes": "slow-start threshold at the end, in bytes",
    "srtt_s": "smoothed round-trip time at the end, in seconds; 0 without a sample",
    "rto_s": "retransmission timeout at the end, in seconds",
    **{
        name: FLOWS[name].replace("all subflows", "it").replace("packets of the flow", "its packets")
        for name in (
            *("packets_sent", "bytes_sent", "retransmissions", "fast_retransmits", "timeouts", "duplicate_acks"),
            *("spurious_retransmissions", "long_dup_ack_runs", "reordered_packets", "duplicate_packets"),
            *("packets_dropped", "packets_marked"),
        )
    },
    "max_reorder_extent": "largest extent of reordering in packets (RFC 4737, section 4.2); -1 without histograms",
}

UNITS = {
    "unit": "number, in order of sending",
    "flow": "flow it belongs to",
    "subflow": "subflow that carried it",
}

PROBES = {
    "time_s": "simulated time, in seconds",
    "entity": "what it belongs to: leaf0>spine1, flow3, flow3.1 (a subflow), leaf0 to leaf2 (balancer)",
    "field": "name of what was sampled, as in probes.fields",
    "value": "its value, in the unit that the name ends with; a time is NaN where there is none",
}

HISTOGRAMS = {
    "quantity": "wait_s: of a packet in a queue, without its own transmission, in seconds; left_behind_bytes: in the "
    "queue when a packet leaves; reorder_extent_packets: of a packet that comes too late (RFC 4737, section 4.2)",
    "layer": "kinds of the two ends of the link, from>to; empty for extents",
    "packets": "of long flows, of short flows, or control: acknowledgements and handshakes",
    "least": "least value of the bin, in the unit of the quantity",
    "below": "where the next bin begins; the last has no end",
    "count": "packets, since the end of the warm-up for queues",
}

TRACE = {
    "time_s": "simulated time, in seconds",
    "event": "enqueued, dropped or arrived",
    "reason": "why a packet was dropped: queue full, evicted, link down, no route, or corrupted (lost on the link)",
    "port": "port name, empty if there was no route",
    "layer": "kinds of the two ends of its link, from>to; empty if there was no route",
    "path": "number of the spine, core or parallel link whose path it belongs to; -1 where there is none",
    "flow": "flow",
    "subflow": "subflow",
    "packet": "data, ack, syn, syn-ack, coded or handshake-ack (the third packet of a handshake)",
    "flags": "sum of 1 = retransmitted, 2 = ECN capable, 4 = congestion experienced, 8 = ECN echo",
    "segment": "sequence number in segments; of a coded packet, its unit's first segment",
    "ack": "next segment expected",
    "packet_bytes": "size with headers, in bytes",
    "queue_packets": "packets in the queue before this one; 0 at the far end of a link",
}

LISTED = "column of the list of flows, as given; missing where a flow comes from another entry"
TABLES = {
    "flows": FLOWS,
    "subflows": SUBFLOWS,
    "ports": PORTS,
    "units": UNITS,
    "probes": PROBES,
    "histograms": HISTOGRAMS,
    "trace": TRACE,
}


def meanings(listed: Iterable[str] = ()) -> dict[str, dict[str, str]]:
    """Return the columns of each table by its name, those of the flows table with the columns `listed` behind."""
    return TABLES | {"flows": FLOWS | dict.fromkeys(listed, LISTED)}

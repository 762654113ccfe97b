"""Records of observations: counters, histograms, the packet trace, samples."""

import numpy as np

COUNTERS = np.dtype(
    [
        ("now_ps", "i8"),
        ("events", "i8"),
        ("traversals", "i8"),  # packets that fully crossed a link
        ("next_start", "i8"),  # flow
        ("due", "i8"),  # flows that wait for no others any more and have not begun
        ("awaited", "i8"),  # counted flows that are not complete; above 0 for ever where all flows are counted
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
        ("scheduled", "i8"),  # departures and arrivals that are to come, where they are in order of scheduling
        ("transmissions", "i8"),  # begun so far, where they are
        ("in_flight", "i8"),  # packets in the network, and those held
        ("held", "i8"),  # by layers, and those at the processors of hosts
    ],
    align=True,
)

# Why a packet was dropped (TRACE.reason)
QUEUE_FULL, EVICTED, LINK_DOWN, NO_ROUTE, CORRUPTED = range(1, 6)

# What a line of the trace says (TRACE.what)
ENQUEUED, DROPPED, ARRIVED, CUT = range(4)

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

# Histograms (`queue_counts`): bins, of queues and of extents of reordering; what is counted of a packet that
# leaves a queue; kinds of packet, the first two data of flows by FLOW.short
BINS, EXTENT_BINS = 64, 32
QUANTITIES = 2  # its wait, and the packets that it leaves behind
LONG, SHORT, CONTROL, CLASSES = range(4)

NUMBER_TYPES = ("i8", "i4", "i2", "u1", "f8")  # of fields of records and of own state

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

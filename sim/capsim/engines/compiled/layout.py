"""Where the compiled engine keeps its state: records and tables, and the numbers that Python and the loop agree on.

What prepares a run and what reads it afterwards needs these, and not the compiler: where machine code is on disk, Numba
is not imported (:mod:`~capsim.engines.compiled.machine_code`).
"""

from typing import Any

import numpy as np

from capsim.roles.hooks import HOST_ROLES, NETWORK_ROLES, hooks_of
from capsim.roles.own import SCOPES, TABLES

# Why the loop returns
DONE, PAUSED, PACKETS_LOW, UNITS_LOW, SUBFLOWS_LOW, RINGS_LOW, DATA_LOW, TRACE_LOW, PROBES_LOW, FAULT, ASK = range(11)

# Of the agenda (order/agenda.py)
AGENDA_PORTS = 1024  # from so many on, a traversal waits for memory
BUCKETS = 4096
WORD_SHIFT = 6  # of the bits that say which buckets hold an arrival
WORD_BITS, WORDS = 1 << WORD_SHIFT, BUCKETS >> WORD_SHIFT
PER_BUCKET = 32
BLOCK_SHIFT = 2
BLOCK = 1 << BLOCK_SHIFT  # arrivals, in one cache line
BY_COUNTING = 256  # arrivals at most that are sorted by counting
LAST_KEY = 2**63 - 1  # behind those of all arrivals
FRONT = 64  # entries: the agenda is moved when it begins behind so many, and so stays in the cache
# So many entries ahead a port and its packet are fetched, and, with these there, the port that the packet goes to
FETCHED, FOLLOWED = 5, 2

NUMBERS = (
    "n_hosts",
    "n_switches",
    "n_ports",
    "n_flows",
    "n_waits",
    "n_starts",  # flows that wait for no others, the first of all
    "n_leaves",
    "n_tiers",
    "n_subs",
    "n_packets",
    "n_units",
    "n_rings",
    "n_maps",
    "n_data",
    "n_trace",
    "n_probes",
    "n_epochs",
    "n_probe_ports",
    "n_watches",
    "n_queue_counts",
    "n_extents",
    "n_arrivals",
    "probe_rows",  # most numbers of a sample
    "most_paths",
    "end_ps",
    "link_bytes",
    "count_in_service",
    "ordered",  # departures and arrivals in order of scheduling
    "trim_bytes",  # what is left of a trimmed packet
    "one_by_one",  # some ports decide what they send next when they are free
    "counts_late",  # what has left a queue may be counted after the next packet is accepted
    "draws",
    "admit_draws",
    "reads_queues",
    "trace_level",
    "margin",
    "unit_margin",
    "subflow_margin",
    "ring_margin",
    "data_margin",
    "probe_ps",
    "histograms",
    "warm_up_ps",
    "fault",
    "stamps",  # some transport asks when the NIC of its host takes a packet
    "pinned",  # whether a flow is pinned to a path
    "payload",  # COUNTED, CARRIED or ANSWERED of the loop
    "asked",  # the packet of which Python is asked what it is worth
    "tie_seed",
    "host_jitter_ps",
    "jitter_seed",
    "flow_jitter_ps",
    "flow_jitter_seed",
    "stages_of_flow",  # where flows have a jitter: processors of each beyond those of hosts
    "encode_ps",
    "decode_ps",
    "data_hash_seed",
    "ack_hash_seed",
    "sharing_seed",
    "admit_seed",
    "by_agenda",  # whether arrivals are in the agenda, or in the tree alone
    "bucket_bits",  # a bucket is 2 ** bucket_bits picoseconds wide
    "key_shift",  # of a stamp, so that only the bits within a bucket are left
    "agenda_bucket",  # the present one
    "agenda_first",
    "agenda_end",
    "agenda_room",
    "blocks_used",  # of later buckets
    "arrive_leaves",
    "wake_leaves",
    "wake_block",  # leaves of one kind of wake
    "send_first",  # leaf of the first subflow, by kind; NONE for kinds that no component asks for
    "receive_first",
    "manage_first",
    "work_first",  # of the first host
    "balancer_packet",  # where their parts of the own state of packets begin
    "first_subflows",  # address of rows of own state with their first values, one for each stack
)
ARRAYS = (
    "packets",
    "ports",
    "losses",
    "switches",
    "processors",
    "flows",
    "waits",
    "dependents",
    "subs",
    "stacks",
    "rings",
    "maps",
    "data",
    "trace",
    "probes",
    "counters",
    "leaf_routes",
    "host_routes",
    "candidates",
    "set_of",
    "epoch_ps",
    "port_up",
    "probe_ports",
    "watches",
    "queue_counts",
    "extents",
    "arrivals",
    "last_waiting",
    "host_port",
    "host_leaf",
    "agenda",
    "blocks",
    "behind",
    "spare",
    "keys",
    "places",
    "buckets",
    "filled",
    "arrive_tree",
    "wake_tree",
    "schedule",
)
_SCOPES = ("subflow", "flow", "host", "packet", "segment")
MEMORY = (*_SCOPES, "unit", *(f"{role}_{TABLES.get(each, each)}" for role in NETWORK_ROLES for each in SCOPES[role]))
_NETWORK_HOOKS = tuple(name for role in NETWORK_ROLES for name in hooks_of(role))
_HOST_HOOKS = tuple(name for role in HOST_ROLES for name in hooks_of(role))


def _numbers(*names: str) -> np.dtype[Any]:
    return np.dtype([(name, "i8") for name in names])


REFUSED = ("refused_path", "refused_of")  # what a balancer returned that is none of how many candidates
# What the loop writes of WORLD
CHANGING = {"payload", "asked", "fault", *REFUSED, "agenda_bucket", "agenda_first", "agenda_end", "blocks_used"}

WORLD = _numbers(
    *NUMBERS, *ARRAYS, *MEMORY, *(f"{name}_bytes" for name in MEMORY), *NETWORK_ROLES, *_NETWORK_HOOKS, *REFUSED
)

# Addresses of hooks (0: none) and of parameters, where the parts of its memory begin, and constants
STACK = _numbers(
    *_HOST_HOOKS,
    *HOST_ROLES,
    *(f"{role}_{scope}" for role in HOST_ROLES for scope in _SCOPES),
    *(
        "priority",
        "listens",
        "note_draws",
        "emits_unasked",
        "late_acks",
        "reads_headers",
        "window_segments",
        "stream_segments",
    ),
)

# Where the candidates of a route begin, and how many there are; of hosts at the switch itself NONE: see host_routes
ROUTE = np.dtype([("first", "i4"), ("count", "i4")], align=True)
# A node of a tournament tree (trees.py), and an arrival (agenda.py): its port above 32 bits of its packet
NODE = np.dtype([("stamp", "i8"), ("entity", "i8")], align=True)
ENTRY = np.dtype([("stamp", "i8"), ("port_packet", "i8")], align=True)
# A departure or an arrival that is to come (ordered.py)
SCHEDULED = np.dtype([("time_ps", "i8"), ("transmission", "i8"), ("event", "i8")], align=True)
CACHE_LINE_BYTES = 64

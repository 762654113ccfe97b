"""The state of a simulation as records with named fields, shared by protocol code and both engines.

A record is one element of a NumPy structured array in the compiled engine and an object with ``__slots__`` of the
same names in the reference engine (:mod:`capsim.engines.reference`), so that ``sub.cwnd_bytes += mss`` is the
same line in both. Times are int64 picoseconds, sizes int64 bytes, sequence numbers int64 segments of one MSS.

============== ====================================================================== ===============
Record         One per                                                                Defined in
============== ====================================================================== ===============
``PACKET``     packet in the network (a pool; a number is the packet's index in it)   `packets`
``PORT``       directed link: queue, serialiser, propagation delay, counters          `network`
``LOSS``       directed link: how its losses come in runs                             `network`
``SWITCH``     switch                                                                 `network`
``PROCESSOR``  end host, in runs where coding takes time                              `network`
``FLOW``       transfer that the application asked for: one stream of data segments   `flows`
``WAIT``       flow, in runs where some wait for others: what waits for what             `flows`
``SUBFLOW``    path identity, sequence space, window and loss recovery of a flow;     `flows`
               a flow on a single path has one that carries its whole stream
``COUNTERS``   simulation                                                             `observations`
``TRACE``      line of the packet trace                                               `observations`
``WATCH``      number that is sampled                                                 `observations`
``PROBE``      sample of one                                                          `observations`
============== ====================================================================== ===============

What only one component uses is not here: it is the component's own state (:mod:`capsim.roles.own`).

Names end in their unit: ``_ps`` is picoseconds, ``_bytes`` bytes. The component that writes a field follows its meaning
in parentheses; the engine writes all others. A hook reads what it likes and writes what its role decides.
"""

from textwrap import wrap

from capsim.records import flows, network, packets
from capsim.records.flows import *
from capsim.records.network import *
from capsim.records.observations import *
from capsim.records.packets import *

NONE = -1  # no packet, no port, no time

# Fields that keep their value from the first event of a run to its last. The compiled engine may read them once, and
# refuses to compile what writes them (capsim.engines.compiled.numba_types).
CONSTANT = {
    "PORT": (
        *("delay_ps", "byte_ps", "rate_bps", "limit_packets", "limit_bytes", "from_node", "to_node", "of_host"),
        *("order", "layer", "stream"),
    ),
    "LOSS": ("behind_arrived", "behind_lost", "memory_ps"),
    "SWITCH": ("salt", "stream", "id", "tier"),
    "FLOW": (
        *("src", "dst", "stack", "short", "known_short", "shared", "tag", "n_paths", "distance", "path", "path_back"),
        *("flow_bytes", "start_ps", "n_segments", "mss_bytes", "last_segment_bytes"),
    ),
}

GIVEN_TO_HOOKS = {
    "PACKET": packets.PACKET_FIELDS,
    "FLOW": flows.FLOW_FIELDS,
    "SUBFLOW": flows.SUBFLOW_FIELDS,
    "PORT": network.PORT_FIELDS,
    "SWITCH": network.SWITCH_FIELDS,
}


def _table(record: str) -> str:
    """Return the fields of a record with their meanings, as a table of the docstring."""
    rule = "=" * 24 + " " + "=" * 90
    rows = [("Field", "Meaning")] + [(name, meaning) for name, _, meaning in GIVEN_TO_HOOKS[record]]
    lines = [(name if part == 0 else "", text) for name, meaning in rows for part, text in enumerate(wrap(meaning, 90))]
    body = [f"{name:<24} {text}" for name, text in lines]
    return "\n".join([f"Fields of {record}:", "", rule, body[0], rule, *body[1:], rule])


__doc__ = "\n\n".join([f"{__doc__}".rstrip(), *map(_table, GIVEN_TO_HOOKS)]) + "\n"

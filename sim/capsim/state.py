"""From a set-up to the records that an engine starts from, and from an engine to the records of a finished run."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from capsim import records
from capsim.bounds import CONNECTIONS, POOL, SEGMENTS, WORD
from capsim.fabric.flows import FlowList
from capsim.fabric.topology import Fabric
from capsim.hooks import COMPONENTS, Scheme, padded, param_record
from capsim.randomness import key
from capsim.records import NONE

# Purposes of random numbers (randomness.key); each has its own streams
SWITCH_HASH, SPRAYING, DATA_HASH, ACK_HASH, TIES, JITTER = 1, 2, 3, 4, 5, 6

Table = np.ndarray[Any, Any]

# Levels of the packet trace
TRACE_OFF, TRACE_DROPS, TRACE_PACKETS = 0, 1, 2


@dataclass(frozen=True, kw_only=True)
class Setup:
    """All that a run depends on; both engines make the same records of it.

    Parameters
    ----------
    fabric : Fabric
        Ports, routes and their changes.
    flows : FlowList
        Transfers, in order of start.
    scheme : Scheme
        What hosts and switches do.
    hash_seed, spray_seed, tie_seed, jitter_seed : int
        0 to 2**63 - 1: seeds of the switches' hashes, of their uniform numbers, of the order of events at one time
        (:func:`capsim.engines.events.tie`) and of the hosts' delays.
    end_ps : int
        Nothing after this time is simulated; a run also ends when every connection has finished.
    link_bytes : int
        Bytes that each packet takes on a link beyond its own (preamble, gap, framing); queues do not count them.
    count_in_service : bool
        Whether a queue limit or ECN threshold counts the packet being sent. ns-2 and ns-3 do not count it.
    host_jitter_ps : int
        Each packet waits a uniform time below this before its host begins to send it; 0 for none.
    trace : int
        TRACE_OFF, TRACE_DROPS or TRACE_PACKETS.
    probe_ps : int
        Sampling period, 0 for none.
    probe_ports, probe_conns : tuple of int
        What is sampled.
    """

    fabric: Fabric
    flows: FlowList
    scheme: Scheme
    hash_seed: int = 1
    spray_seed: int = 2
    tie_seed: int = 3
    jitter_seed: int = 4
    end_ps: int = 10**12
    link_bytes: int = 0
    count_in_service: bool = False
    host_jitter_ps: int = 0
    trace: int = TRACE_OFF
    probe_ps: int = 0
    probe_ports: tuple[int, ...] = ()
    probe_conns: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RawRecords:
    """What an engine returns; equal for both engines.

    Attributes
    ----------
    flows, conns, ports, units, trace, probes : structured arrays
        Of dtype FLOW, CONNECTION, PORT, UNIT, TRACE, PROBE (:mod:`capsim.records`).
    counters : structured array of one element
        Of dtype COUNTERS; ``now_ps`` is the time of the end.
    """

    flows: Table
    conns: Table
    ports: Table
    units: Table
    trace: Table
    probes: Table
    counters: Table


def sojourn_ps(ports: Table) -> npt.NDArray[np.float64]:
    """Return over ports the time integral of the packets in the queue, in packet-picoseconds."""
    return np.asarray(ports["sojourn_words"] * float(WORD) + ports["sojourn_ps"])


def sojourn_bytes_ns(ports: Table) -> npt.NDArray[np.float64]:
    """Return over ports the time integral of the bytes in the queue, in byte-nanoseconds."""
    return np.asarray(ports["sojourn_bytes_words"] * float(WORD) + ports["sojourn_bytes_ns"])


@dataclass
class State:
    """The records of a run, as arrays; in the beginning as :func:`initial_state` makes them."""

    setup: Setup
    packets: Table
    ports: Table
    switches: Table
    balancer_state: Table
    conns: Table
    flows: Table
    estimators: Table
    units: Table
    segments: Table
    trace: Table
    probes: Table
    counters: Table
    route_first: Table  # (epochs, switches, hosts)
    route_count: Table
    candidates: Table  # of all epochs; route_first points into it
    epoch_ps: Table
    port_up: Table  # (epochs, ports)
    params: dict[str, Table] = field(default_factory=dict)  # by component
    tie_seed: int = 0  # 32 bits each
    jitter_seed: int = 0
    margin: int = 0  # packets that one event may create at most

    def finished(self) -> RawRecords:
        """Return the results, without the unused ends of the pools.

        These are slices: the ends of large pools were never written, so they occupy no memory, and a copy of a packet
        trace takes about as long as its simulation.
        """
        counters = self.counters[0]
        return RawRecords(
            flows=self.flows,
            conns=self.conns,
            ports=self.ports,
            units=self.units[: counters["units"]],
            trace=self.trace[: counters["trace"]],
            probes=self.probes[: counters["probes"]],
            counters=self.counters,
        )


def param_records(scheme: Scheme) -> dict[str, Table]:
    """Return the parameters of each component with hooks as an array of one record."""
    return {name: param_record(getattr(scheme, name).params) for name in COMPONENTS}


def initial_state(setup: Setup) -> State:
    """Return the records from which an engine starts."""
    fabric, scheme = setup.fabric, setup.scheme
    conns = _connections(setup)
    window = int(conns["ring_mask"].max(initial=0)) + 1
    if check_window := getattr(scheme.coding.params, "check_window", None):
        check_window(window)
    offsets = np.cumsum([0] + [len(epoch.routes.candidates) for epoch in fabric.epochs[:-1]], dtype=np.int32)
    return State(
        setup=setup,
        packets=np.zeros(0, records.PACKET),
        ports=_ports(setup),
        switches=_switches(setup),
        balancer_state=np.zeros(fabric.n_switches, padded(scheme.balancer.state)),
        conns=conns,
        flows=_flows(setup),
        estimators=np.zeros(fabric.n_hosts if scheme.coding.shared_estimator else len(conns), records.ESTIMATOR),
        units=np.zeros(0, records.UNIT),
        segments=np.zeros(int((conns["ring_mask"] + 1).sum()), np.uint8),
        trace=np.zeros(0, records.TRACE),
        probes=np.zeros(0, records.PROBE),
        counters=_counters(setup, len(conns)),
        route_first=np.stack(
            [epoch.routes.first + offset for epoch, offset in zip(fabric.epochs, offsets, strict=True)]
        ).astype(np.int32),
        route_count=np.stack([epoch.routes.count for epoch in fabric.epochs]).astype(np.int32),
        candidates=np.concatenate([epoch.routes.candidates for epoch in fabric.epochs]).astype(np.int32),
        epoch_ps=np.array([epoch.time_ps for epoch in fabric.epochs], np.int64),
        port_up=np.stack([epoch.port_up for epoch in fabric.epochs]),
        params=param_records(scheme),
        tie_seed=key(setup.tie_seed, TIES, 0),
        jitter_seed=key(setup.jitter_seed, JITTER, 0),
        margin=_margin(scheme, window, largest_flow=int(conns["n_segments"].max(initial=0))),
    )


def _margin(scheme: Scheme, window: int, *, largest_flow: int) -> int:
    """Return how many packets one event may create: a window, repair packets, replies to a decoded unit, start-up."""
    most_repair_packets = getattr(scheme.coding.params, "most_repair_packets", None)
    repair = most_repair_packets(window, largest_flow=largest_flow) if most_repair_packets else 0
    packets = 3 * window + int(repair) + 16
    POOL.check("packets that one event of this scheme may create", packets)
    return packets


def _ports(setup: Setup) -> Table:
    fabric = setup.fabric
    ports = np.zeros(fabric.n_ports, records.PORT)
    for name in ("head", "tail", "queue_head", "service", "class_head", "class_tail"):
        ports[name] = NONE
    ports["from_node"], ports["to_node"] = fabric.port_from, fabric.port_to
    ports["rate_bps"], ports["delay_ps"] = fabric.rate_bps, fabric.delay_ps
    byte_ps = 8 * 10**12 // fabric.rate_bps
    ports["byte_ps"] = np.where(byte_ps * fabric.rate_bps == 8 * 10**12, byte_ps, 0)
    ports["limit_packets"], ports["limit_bytes"] = fabric.buffer_packets, fabric.buffer_bytes
    ports["up"] = fabric.epochs[0].port_up
    return ports


def _switches(setup: Setup) -> Table:
    fabric = setup.fabric
    switches = np.zeros(fabric.n_switches, records.SWITCH)
    rows = np.arange(fabric.n_switches)
    switches["id"], switches["tier"] = rows, fabric.switch_tier
    switches["salt"] = key(setup.hash_seed, SWITCH_HASH, rows)
    switches["stream"] = key(setup.spray_seed, SPRAYING, rows)
    return switches


def _copies(setup: Setup) -> npt.NDArray[np.int64]:
    """Return over flows how many connections carry each."""
    short = np.asarray(setup.flows.short, bool)
    return np.where(short, setup.scheme.replication.copies_of_short, 1)


def _flows(setup: Setup) -> Table:
    source, copies = setup.flows, _copies(setup)
    flows = np.zeros(len(source.src), records.FLOW)
    for name in ("src", "dst", "flow_bytes", "start_ps", "short", "tag"):
        flows[name] = getattr(source, name)
    flows["received_ps"] = flows["acked_ps"] = flows["winner"] = NONE
    flows["n_conns"], flows["first_conn"] = copies, np.cumsum(copies) - copies
    return flows


def _connections(setup: Setup) -> Table:
    scheme, source = setup.scheme, setup.flows
    copies = _copies(setup)
    CONNECTIONS.check("connections", int(copies.sum()))
    flow = np.repeat(np.arange(len(source.src)), copies)
    conns = np.zeros(len(flow), records.CONNECTION)
    number = np.arange(len(flow))
    conns["id"], conns["flow"] = number, flow
    for name in ("src", "dst", "start_ps"):
        conns[name] = getattr(source, name)[flow]
    conns["short"] = np.asarray(source.short)[flow] if scheme.known_sizes else 0
    conns["coded"] = {"none": 0 * flow, "short": conns["short"], "all": 0 * flow + 1}[scheme.coding.coded]
    conns["priority"] = np.where(conns["short"] != 0, 0, 1) if scheme.queue.classes > 1 else 0
    # The first copy of a flow has the same hash with and without replication: common random numbers.
    copy = number - np.searchsorted(flow, flow)
    ports = flow + copy * len(source.src)
    conns["hash"] = key(setup.hash_seed, DATA_HASH, ports)
    conns["reverse_hash"] = key(setup.hash_seed, ACK_HASH, ports)
    mss = scheme.transport.params.mss_bytes
    flow_bytes = np.asarray(source.flow_bytes, np.int64)[flow]
    conns["mss_bytes"] = mss
    conns["n_segments"] = -(-flow_bytes // mss)
    SEGMENTS.check(f"segments of {mss} bytes (transport.mss_bytes)", int(conns["n_segments"].max(initial=1)))
    conns["last_segment_bytes"] = flow_bytes - (conns["n_segments"] - 1) * mss
    conns["estimator"] = conns["src"] if scheme.coding.shared_estimator else number
    for name in (
        "timer_ps",
        "flush_ps",
        "received_ps",
        "acked_ps",
        "fill_unit",
        "open_unit",
        "first_unit",
        "last_unit",
    ):
        conns[name] = NONE
    conns["release_unit"] = NONE
    window = max(1, scheme.transport.params.max_window_bytes // mss)
    size = 2 ** np.ceil(np.log2(np.minimum(conns["n_segments"], window))).astype(np.int64)
    conns["ring_mask"], conns["ring"] = size - 1, np.cumsum(size) - size
    return conns


def _counters(setup: Setup, n_conns: int) -> Table:
    counters = np.zeros(1, records.COUNTERS)
    counters["open_conns"], counters["free"], counters["next_epoch"] = n_conns, NONE, 1
    counters["next_probe_ps"] = setup.probe_ps if setup.probe_ps else NONE
    return counters

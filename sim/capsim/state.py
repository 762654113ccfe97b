"""From a set-up to the records that an engine starts from, and from an engine to the records of a finished run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from capsim import records
from capsim.bounds import POOL, SEGMENTS
from capsim.candidate_sets import route_tables
from capsim.fabric.flows import FlowList
from capsim.fabric.paths import paths_between, pinned_labels
from capsim.fabric.topology import Fabric
from capsim.own_memory import OwnMemory, own_memory
from capsim.randomness import key, key_base
from capsim.records import BINS, CLASSES, EXTENT_BINS, NONE, QUANTITIES
from capsim.roles import Scheme, Stack

# Purposes of random numbers (randomness.key); each has its own streams
SWITCH_HASH, SPRAYING, DATA_HASH, ACK_HASH, TIES, JITTER, LOSSES, SHARING = range(1, 9)

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
    entry_schemes : dict
        Schemes by traffic entry (``flows.tag``) whose flows run the stacks of another one than `scheme`.
    pinned : dict
        Ports of the path that all packets of a flow take, the NIC first, by the number of the flow.
    hash_seed, spray_seed, tie_seed, jitter_seed, loss_seed : int
        0 to 2**63 - 1: seeds of the switches' hashes, of their uniform numbers, of the order of events at one time
        (:func:`capsim.engines.events.tie`), of the hosts' delays and of the losses on links.
    end_ps : int
        Nothing after this time is simulated; a run also ends when every connection has finished.
    link_bytes : int
        Bytes that each packet takes on a link beyond its own (preamble, gap, framing); queues do not count them.
    count_in_service : bool
        Whether a queue limit or ECN threshold counts the packet being sent. ns-2 and ns-3 do not count it.
    host_jitter_ps : int
        Each packet waits a uniform time below this before its host begins to send it; 0 for none.
    encode_ps, decode_ps : int
        Time that the processor of a host takes for a coded packet that leaves or that has come; 0: it passes by.
    trace : int
        TRACE_OFF, TRACE_DROPS or TRACE_PACKETS.
    probe_ps : int
        Sampling period, 0 for none.
    probe_fields : tuple of str
        Names of fields that are sampled (:mod:`capsim.probes`); when left out, queues of ports and windows of flows.
    probe_ports, probe_flows, probe_switches : tuple of int
        What they are sampled for.
    histograms : bool
        Whether queues and extents of reordering are counted (:mod:`capsim.engines.histograms`).
    warm_up_ps : int
        When counters are kept, so that what comes later can be told apart (:class:`Snapshot`); 0 for never.
    payload : str
        Code whose packets the coded flows carry (:mod:`capsim.payload`); empty: packets are only counted.
    """

    fabric: Fabric
    flows: FlowList
    scheme: Scheme
    entry_schemes: Mapping[int, Scheme] = field(default_factory=dict)
    pinned: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    hash_seed: int = 1
    spray_seed: int = 2
    tie_seed: int = 3
    jitter_seed: int = 4
    loss_seed: int = 5
    end_ps: int = 10**12
    link_bytes: int = 0
    count_in_service: bool = False
    host_jitter_ps: int = 0
    encode_ps: int = 0
    decode_ps: int = 0
    trace: int = TRACE_OFF
    probe_ps: int = 0
    probe_fields: tuple[str, ...] = ()
    probe_ports: tuple[int, ...] = ()
    probe_flows: tuple[int, ...] = ()
    probe_switches: tuple[int, ...] = ()
    histograms: bool = False
    warm_up_ps: int = 0
    payload: str = ""

    @cached_property
    def stacks(self) -> tuple[Stack, ...]:
        """Return all stacks of the run, each once."""
        found = [stack for scheme in (self.scheme, *self.entry_schemes.values()) for stack in scheme.stacks]
        return tuple(stack for number, stack in enumerate(found) if stack not in found[:number])

    @cached_property
    def flow_classes(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Return over flows the number of the stack, and whether hosts know that the flow is short."""
        source = self.flows
        number, short = np.zeros(len(source), np.int64), np.zeros(len(source), bool)
        for tag in np.unique(source.tag).tolist():
            scheme, of_entry = self.entry_schemes.get(tag, self.scheme), source.tag == tag
            short[of_entry] = source.short[of_entry] & scheme.known_sizes
            for is_short in (False, True):
                number[of_entry & (short == is_short)] = self.stacks.index(scheme.stack(is_short))
        return number, short


@dataclass(frozen=True)
class Snapshot:
    """Counters at the end of the warm-up: records of ports, and over flows the segments that the application has."""

    ports: Table
    delivered: Table


@dataclass(frozen=True, kw_only=True)
class RawRecords:
    """What an engine returns; equal for both engines.

    Attributes
    ----------
    flows, subs, ports, trace, probes : structured arrays
        Of dtype FLOW, SUBFLOW, PORT, TRACE, PROBE (:mod:`capsim.records`).
    own : OwnMemory
        What the components kept for themselves.
    counters : structured array of one element
        Of dtype COUNTERS; ``now_ps`` is the time of the end.
    queue_counts, extents : ndarray of int
        Histograms (:mod:`capsim.engines.histograms`); without numbers when not asked for.
    warm : Snapshot, optional
        Of the end of the warm-up, if there was one and the run outlasted it.
    """

    flows: Table
    subs: Table
    ports: Table
    own: OwnMemory
    trace: Table
    probes: Table
    counters: Table
    queue_counts: Table
    extents: Table
    warm: Snapshot | None = None


def delivered_segments(flows: Table, subs: Table) -> Table:
    """Return over flows the segments that the receiver's application has: of the furthest copy, or of the stream."""
    furthest = flows["data_next"].copy()
    np.maximum.at(furthest, subs["flow"], np.where(subs["shared"], 0, subs["receive_next"]))
    return np.asarray(furthest)


@dataclass
class State:
    """The records of a run, as arrays; in the beginning as :func:`initial_state` makes them."""

    setup: Setup
    packets: Table
    ports: Table
    switches: Table
    processors: Table  # of hosts; none where coding takes no time
    flows: Table
    subs: Table  # a pool: a subflow is numbered when it is opened
    own: OwnMemory
    rings: Table  # flags of segments in flight, one byte each
    maps: Table  # of shared streams: data segment of each segment in flight
    data: Table  # of shared streams: flags of data segments in flight
    trace: Table
    probes: Table
    counters: Table
    queue_counts: Table
    extents: Table
    route_first: Table  # (epochs, switches, hosts)
    route_count: Table
    candidates: Table  # of all epochs; route_first points into it
    set_of: Table  # for a balancer with memory per set: number of the set of candidates that begins there
    epoch_ps: Table
    port_up: Table  # (epochs, ports)
    stacks: tuple["StackState", ...]
    seeds: dict[str, int] = field(default_factory=dict)  # 32 bits each
    margin: int = 0  # packets that one event may create at most
    warm: Snapshot | None = None

    @property
    def n_tiers(self) -> int:
        """Return the number of tiers of switches."""
        return int(self.setup.fabric.switch_tier.max(initial=0)) + 1

    def finished(self) -> RawRecords:
        """Return the results, without the unused ends of the pools.

        These are slices: the ends of large pools were never written, so they occupy no memory, and a copy of a packet
        trace takes about as long as its simulation.
        """
        counters = self.counters[0]
        subs = int(counters["subs"])
        passing = 2 * self.n_tiers * subs
        self.own.cut(subflow=subs, balancer_subflow=subs, balancer_passing=passing, unit=int(counters["units"]))
        return RawRecords(
            flows=self.flows,
            subs=self.subs[: counters["subs"]],
            ports=self.ports,
            own=self.own,
            trace=self.trace[: counters["trace"]],
            probes=self.probes[: counters["probes"]],
            counters=self.counters,
            queue_counts=self.queue_counts,
            extents=self.extents,
            warm=self.warm,
        )


@dataclass(frozen=True)
class StackState:
    """What engines know of a stack beside its hooks and parameters."""

    stack: Stack
    mss_bytes: int
    window_segments: int  # most segments of a subflow in flight
    subflows: int  # most subflows of a flow

    @property
    def stream_segments(self) -> int:
        """Return the most data segments of a shared stream from the first that is not acknowledged: all windows."""
        return int(getattr(self.stack.sharing.params, "stream_segments", self.window_segments * self.subflows))

    @property
    def shared(self) -> bool:
        """Whether the subflows of a flow share one stream."""
        return self.stack.sharing.schedule is not None


def stack_state(stack: Stack) -> StackState:
    """Return what engines know of `stack`."""
    params = stack.transport.params
    window = max(1, params.max_window_bytes // params.mss_bytes)
    return StackState(stack, params.mss_bytes, window, getattr(stack.sharing.params, "subflows", 1))


def initial_state(setup: Setup) -> State:
    """Return the records from which an engine starts."""
    fabric, scheme = setup.fabric, setup.scheme
    stacks = tuple(stack_state(stack) for stack in setup.stacks)
    flows = _flows(setup, stacks)
    for index, each in enumerate(stacks):
        largest = int(flows["n_segments"][flows["stack"] == index].max(initial=0))
        if check_window := getattr(each.stack.layer.params, "check_window", None):
            check_window(ring_segments(largest, each.window_segments))
    routes, sizes = route_tables(fabric, sets=bool(scheme.balancer.memory.get("set")))
    return State(
        setup=setup,
        packets=np.zeros(0, records.PACKET),
        ports=_ports(setup),
        switches=_switches(setup),
        processors=_processors(setup),
        flows=flows,
        subs=np.zeros(0, records.SUBFLOW),
        own=own_memory(setup.stacks, scheme, fabric, flow_stack=flows["stack"], **sizes),
        rings=np.zeros(0, np.uint8),
        maps=np.zeros(0, np.int32),
        data=np.zeros(0, np.int32),
        trace=np.zeros(0, records.TRACE),
        probes=np.zeros(0, records.PROBE),
        counters=_counters(setup),
        queue_counts=np.zeros(len(fabric.layers) * CLASSES * QUANTITIES * BINS if setup.histograms else 0, np.int64),
        extents=np.zeros(2 * EXTENT_BINS if setup.histograms else 0, np.int64),
        **routes,
        epoch_ps=np.array([epoch.time_ps for epoch in fabric.epochs], np.int64),
        port_up=np.stack([epoch.port_up for epoch in fabric.epochs]),
        stacks=stacks,
        seeds={
            "tie_seed": key(setup.tie_seed, TIES, 0),
            "jitter_seed": key(setup.jitter_seed, JITTER, 0),
            "data_hash_seed": key_base(setup.hash_seed, DATA_HASH),
            "ack_hash_seed": key_base(setup.hash_seed, ACK_HASH),
            "sharing_seed": key_base(setup.spray_seed, SHARING),
        },
        margin=_margin(flows, stacks),
    )


def ring_segments(n_segments: int, window: int) -> int:
    """Return the length of a ring that holds what a subflow can have in flight: a power of two.

    Examples
    --------
    >>> ring_segments(10, 684), ring_segments(100_000, 684)
    (16, 1024)
    """
    return 1 << max(min(n_segments, window) - 1, 0).bit_length()


def _margin(flows: Table, stacks: tuple[StackState, ...]) -> int:
    """Return how many packets one event may create: windows, repair packets, replies to a decoded unit, start-up."""
    most = 0
    for index, each in enumerate(stacks):
        largest_flow = int(flows["n_segments"][flows["stack"] == index].max(initial=0))
        window = ring_segments(largest_flow, each.window_segments)
        most_repair_packets = getattr(each.stack.layer.params, "most_repair_packets", None)
        repair = most_repair_packets(window, largest_flow=largest_flow) if most_repair_packets else 0
        most = max(most, each.subflows * (3 * window + int(repair)))
    POOL.check("packets that one event of this scheme may create", most + 16)
    return most + 16


def _ports(setup: Setup) -> Table:
    fabric = setup.fabric
    ports = np.zeros(fabric.n_ports, records.PORT)
    for name in ("head", "tail", "queue_head", "service", "wait_head", "wait_tail"):
        ports[name] = NONE
    ports["from_node"], ports["to_node"] = fabric.port_from, fabric.port_to
    ports["rate_bps"], ports["delay_ps"] = fabric.rate_bps, fabric.delay_ps
    byte_ps = 8 * 10**12 // fabric.rate_bps
    ports["byte_ps"] = np.where(byte_ps * fabric.rate_bps == 8 * 10**12, byte_ps, 0)
    ports["limit_packets"], ports["limit_bytes"] = fabric.buffer_packets, fabric.buffer_bytes
    ports["loss_prob"] = fabric.loss_prob
    ports["stream"] = key(setup.loss_seed, LOSSES, np.arange(fabric.n_ports))
    ports["up"] = fabric.epochs[0].port_up
    number = {layer: index for index, layer in enumerate(fabric.layers)}
    ports["layer"] = [number[layer] for layer in fabric.port_layers]
    return ports


def _switches(setup: Setup) -> Table:
    fabric = setup.fabric
    switches = np.zeros(fabric.n_switches, records.SWITCH)
    rows = np.arange(fabric.n_switches)
    switches["id"], switches["tier"] = rows, fabric.switch_tier
    switches["salt"] = key(setup.hash_seed, SWITCH_HASH, rows)
    switches["stream"] = key(setup.spray_seed, SPRAYING, rows)
    return switches


def _processors(setup: Setup) -> Table:
    processors = np.zeros(setup.fabric.n_hosts if setup.encode_ps or setup.decode_ps else 0, records.PROCESSOR)
    processors["head"], processors["tail"] = NONE, NONE
    return processors


def _flows(setup: Setup, stacks: tuple[StackState, ...]) -> Table:
    source = setup.flows
    flows = np.zeros(len(source.src), records.FLOW)
    for name in ("src", "dst", "flow_bytes", "start_ps", "short", "tag"):
        flows[name] = getattr(source, name)
    flows["stack"], flows["known_short"] = setup.flow_classes
    flows["n_paths"], flows["distance"] = paths_between(setup.fabric, source.src, source.dst)
    for name in ("received_ps", "acked_ps", "wake_ps", "blocked_since_ps", "winner", "first_sub", "last_sub"):
        flows[name] = NONE
    flows["path"], flows["path_back"] = pinned_labels(setup.fabric, setup.pinned, source)
    flows["mss_bytes"] = np.array([each.mss_bytes for each in stacks])[flows["stack"]]
    flows["shared"] = np.array([each.shared for each in stacks])[flows["stack"]]
    flows["n_segments"] = -(-flows["flow_bytes"] // flows["mss_bytes"])
    smallest = int(flows["mss_bytes"].min(initial=2**62))
    SEGMENTS.check(f"segments of {smallest} bytes (transport.mss_bytes)", int(flows["n_segments"].max(initial=1)))
    flows["last_segment_bytes"] = flows["flow_bytes"] - (flows["n_segments"] - 1) * flows["mss_bytes"]
    return flows


def _counters(setup: Setup) -> Table:
    counters = np.zeros(1, records.COUNTERS)
    counters["free"], counters["next_epoch"] = NONE, 1
    counters["next_probe_ps"] = setup.probe_ps if setup.probe_ps else NONE
    return counters

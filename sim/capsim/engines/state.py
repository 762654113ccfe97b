"""The set-up of a run, its records, and those of a finished run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from capsim.engines.own_memory import OwnMemory
from capsim.fabric.flows import FlowList
from capsim.fabric.topology import Fabric
from capsim.roles.components import Scheme, Stack

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
    ordered : bool
        Whether departures and arrivals of one time come in the order in which they were scheduled, not in that of a
        hash (:mod:`capsim.engines.events`).
    host_jitter_ps : int
        Each packet waits a uniform time below this before its host begins to send it; 0 for none.
    flow_jitter_ps : int
        Each packet waits a uniform time below this on its way to the NIC, those of a subflow in order; 0 for none.
    encode_ps, decode_ps : int
        Time that the processor of a host takes for a coded packet that leaves or that has come; 0: it passes by.
    trace : int
        TRACE_OFF, TRACE_DROPS or TRACE_PACKETS.
    probe_ps : int
        Sampling period, 0 for none.
    probe_fields : tuple of str
        Names of fields that are sampled (:mod:`capsim.engines.probes`); when left out, queues of ports and windows of
        flows.
    probe_ports, probe_flows, probe_switches : tuple of int
        What they are sampled for.
    histograms : bool
        Whether queues and extents of reordering are counted (:mod:`capsim.engines.hosts.queue_counts`).
    warm_up_ps : int
        When counters are kept, so that what comes later can be told apart (:class:`Snapshot`); 0 for never.
    payload : str
        Code whose packets the coded flows carry (:mod:`capsim.engines.payload`); empty: packets are only counted.
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
    ordered: bool = False
    host_jitter_ps: int = 0
    flow_jitter_ps: int = 0
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
        stacks = [stack for scheme in (self.scheme, *self.entry_schemes.values()) for stack in scheme.stacks]
        return tuple(stack for number, stack in enumerate(stacks) if stack not in stacks[:number])

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
        Histograms (:mod:`capsim.engines.hosts.queue_counts`); without numbers when not asked for.
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
    """The records of a run, as arrays; :mod:`capsim.engines.initial_state` makes them."""

    setup: Setup
    packets: Table
    ports: Table
    losses: Table  # of ports
    switches: Table
    processors: Table  # of hosts, and stages of subflows; none where coding takes no time and flows have no jitter
    stages_of_flow: int
    flows: Table
    waits: Table  # of flows; none where no flow waits for others
    dependents: Table  # flows that wait for others, by these (WAIT.first)
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
    def n_starts(self) -> int:
        """Return the number of flows that wait for no others, which come first."""
        return self.setup.flows.n_starts

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
        directions = {"balancer_passing": 2 * self.n_tiers * subs, "nic_direction": 2 * subs}
        self.own.cut(subflow=subs, balancer_subflow=subs, unit=int(counters["units"]), **directions)
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
    def emits_unasked(self) -> bool:
        """Whether the layer is to be asked for packets whenever the transport has sent all that it had."""
        layer = self.stack.layer
        return layer.emit is not None and bool(getattr(layer.params, "emits_unasked", layer.emits_unasked))

    @property
    def shared(self) -> bool:
        """Whether the subflows of a flow share one stream."""
        return self.stack.sharing.schedule is not None


def stack_state(stack: Stack) -> StackState:
    """Return what engines know of `stack`."""
    params = stack.transport.params
    window = max(1, params.max_window_bytes // params.mss_bytes)
    return StackState(stack, params.mss_bytes, window, getattr(stack.sharing.params, "subflows", 1))

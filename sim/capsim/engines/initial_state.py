"""From a set-up to the records that an engine starts from, with the routes of all epochs.

Routes that offer the same ports share one set of candidates, for balancers with memory per set.
"""

from typing import Any

import numpy as np

from capsim import records
from capsim.base.bounds import POOL, SEGMENTS
from capsim.base.randomness import key, key_base
from capsim.engines.own_memory import own_memory
from capsim.engines.state import Setup, StackState, State, Table, stack_state
from capsim.fabric.paths import paths_between, pinned_labels
from capsim.fabric.topology import Fabric
from capsim.records import BINS, CLASSES, EXTENT_BINS, NONE, QUANTITIES


def candidate_sets(first: Table, count: Table, candidates: Table) -> tuple[Table, int]:
    """Give numbers to the different lists of candidates that switches choose from.

    Parameters
    ----------
    first, count : ndarray of int
        Of each route, in any shape: where its candidates begin, and how many there are.
    candidates : ndarray of int
        Numbers of ports.

    Returns
    -------
    set_of : ndarray of int
        At the place where the candidates of a route begin: the number of their set, from 0; 0 elsewhere, and where
        there is no choice.
    n_sets : int
        How many sets there are, at least 1. A port belongs to one switch, and so does a set.

    Examples
    --------
    >>> candidate_sets(np.array([0, 2, 4]), np.array([2, 2, 1]), np.array([5, 6, 5, 6, 5]))[1]
    1
    """
    begins, where = np.unique(first[count > 1], return_index=True)
    counts = count[count > 1][where]
    most = int(counts.max(initial=1))
    place = begins[:, None] + np.minimum(np.arange(most), counts[:, None] - 1)  # the last one again in short lists
    sets = np.unique(candidates[place], axis=0, return_inverse=True)
    set_of = np.zeros(len(candidates), np.int64)
    set_of[begins] = sets[1].reshape(-1)
    return set_of, max(1, len(sets[0]))


def route_tables(fabric: Fabric, *, sets: bool) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the tables of routes as a state holds them, and the sizes of own state that follow from them.

    Parameters
    ----------
    fabric : Fabric
        With its epochs.
    sets : bool
        Whether a balancer has memory per set of candidates; without it there are no sets.
    """
    lengths = [len(epoch.routes.candidates) for epoch in fabric.epochs]
    offsets = np.cumsum([0, *lengths[:-1]], dtype=np.int32)
    first = np.stack([epoch.routes.first + offset for epoch, offset in zip(fabric.epochs, offsets, strict=True)])
    count = np.stack([epoch.routes.count for epoch in fabric.epochs]).astype(np.int32)
    candidates = np.concatenate([epoch.routes.candidates for epoch in fabric.epochs]).astype(np.int64)
    set_of, n_sets = candidate_sets(first, count, candidates) if sets else (np.zeros(0, np.int64), 1)
    tables: dict[str, Any] = {"route_first": first.astype(np.int32), "route_count": count}
    tables |= {"candidates": candidates, "set_of": set_of}
    return tables, {"most_paths": int(count.max()), "n_sets": n_sets}


# Purposes of random numbers (randomness.key); each has its own streams
SWITCH_HASH, SPRAYING, DATA_HASH, ACK_HASH, TIES, JITTER, LOSSES, SHARING, FLOW_JITTER, ADMISSION = range(1, 11)


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
        losses=_losses(fabric),
        processors=_processors(setup, len(flows) * most_subflows(stacks)),
        stages_of_flow=most_subflows(stacks),
        flows=flows,
        waits=_waits(setup),
        dependents=setup.flows.dependents,
        subs=np.zeros(0, records.SUBFLOW),
        own=own_memory(setup.stacks, scheme, fabric, link_bytes=setup.link_bytes, flow_stack=flows["stack"], **sizes),
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
            "flow_jitter_seed": key(setup.jitter_seed, FLOW_JITTER, 0),
            "data_hash_seed": key_base(setup.hash_seed, DATA_HASH),
            "ack_hash_seed": key_base(setup.hash_seed, ACK_HASH),
            "sharing_seed": key_base(setup.spray_seed, SHARING),
            "admit_seed": key_base(setup.spray_seed, ADMISSION),
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
    for name in ("head", "tail", "queue_head", "wait_head", "wait_tail"):
        ports[name] = NONE
    ports["queue_head_ps"] = records.NO_TIME_PS
    ports["from_node"], ports["to_node"] = fabric.port_from, fabric.port_to
    ports["of_host"] = fabric.port_from < fabric.n_hosts
    if setup.scheme.queue.by_priority:
        ports["order"] = records.BY_PRIORITY
    elif setup.scheme.queue.headers_first:
        ports["order"][ports["of_host"] == 0] = records.HEADERS_FIRST
    if setup.scheme.nic.rank is not None:
        ports["order"][ports["of_host"] == 1] = records.BY_RANK
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


def _losses(fabric: Fabric) -> Table:
    losses = np.zeros(fabric.n_ports, records.LOSS)
    losses["behind_arrived"], losses["behind_lost"] = fabric.loss_after.T
    losses["memory_ps"], losses["last"] = fabric.loss_memory_ps, fabric.loss_prob
    return losses


def _switches(setup: Setup) -> Table:
    fabric = setup.fabric
    switches = np.zeros(fabric.n_switches, records.SWITCH)
    rows = np.arange(fabric.n_switches)
    switches["id"], switches["tier"] = rows, fabric.switch_tier
    switches["salt"] = key(setup.hash_seed, SWITCH_HASH, rows)
    switches["stream"] = key(setup.spray_seed, SPRAYING, rows)
    return switches


def most_subflows(stacks: tuple[StackState, ...]) -> int:
    """Return the most subflows that a flow may have."""
    return max(each.subflows for each in stacks)


def _processors(setup: Setup, stages: int) -> Table:
    hosts = setup.fabric.n_hosts if setup.encode_ps or setup.decode_ps or setup.flow_jitter_ps else 0
    processors = np.zeros(hosts + (stages if setup.flow_jitter_ps else 0), records.PROCESSOR)
    processors["head"], processors["tail"] = NONE, NONE
    return processors


def _flows(setup: Setup, stacks: tuple[StackState, ...]) -> Table:
    source = setup.flows
    flows = np.zeros(len(source.src), records.FLOW)
    for name in ("src", "dst", "flow_bytes", "start_ps", "short", "tag", "counted"):
        flows[name] = getattr(source, name)
    flows["stack"], flows["known_short"] = setup.flow_classes
    flows["n_paths"], flows["distance"] = paths_between(setup.fabric, source.src, source.dst)
    for name in ("received_ps", "acked_ps", "wake_ps", "blocked_since_ps", "winner", "first_sub", "last_sub"):
        flows[name] = NONE
    flows["begin_ps"] = np.where(source.waits_for > 0, NONE, flows["start_ps"])
    flows["path"], flows["path_back"] = pinned_labels(setup.fabric, setup.pinned, source)
    flows["mss_bytes"] = np.array([each.mss_bytes for each in stacks])[flows["stack"]]
    flows["shared"] = np.array([each.shared for each in stacks])[flows["stack"]]
    flows["n_segments"] = -(-flows["flow_bytes"] // flows["mss_bytes"])
    smallest = int(flows["mss_bytes"].min(initial=2**62))
    SEGMENTS.check(f"segments of {smallest} bytes (transport.mss_bytes)", int(flows["n_segments"].max(initial=1)))
    flows["last_segment_bytes"] = flows["flow_bytes"] - (flows["n_segments"] - 1) * flows["mss_bytes"]
    return flows


def _waits(setup: Setup) -> Table:
    source = setup.flows
    waits = np.zeros(len(source) if len(source.after) else 0, records.WAIT)
    if len(waits):
        waits["left"], waits["at_sender"] = source.waits_for, source.after_sender
        waits["dependents"] = np.bincount(source.after[:, 1], minlength=len(waits))
        waits["first"] = np.cumsum(waits["dependents"]) - waits["dependents"]
    return waits


def _counters(setup: Setup) -> Table:
    counters = np.zeros(1, records.COUNTERS)
    counters["next_epoch"] = 1
    counted = np.broadcast_to(setup.flows.counted, len(setup.flows))
    counters["awaited"] = counted.sum() + counted.all()
    counters["next_probe_ps"] = setup.probe_ps if setup.probe_ps else NONE
    return counters

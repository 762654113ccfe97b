"""From a set-up to the records that an engine starts from."""

import numpy as np

from capsim import records
from capsim.bounds import POOL, SEGMENTS
from capsim.candidate_sets import route_tables
from capsim.fabric.paths import paths_between, pinned_labels
from capsim.own_memory import own_memory
from capsim.randomness import key, key_base
from capsim.records import BINS, CLASSES, EXTENT_BINS, NONE, QUANTITIES
from capsim.state import Setup, StackState, State, Table, stack_state

# Purposes of random numbers (randomness.key); each has its own streams
SWITCH_HASH, SPRAYING, DATA_HASH, ACK_HASH, TIES, JITTER, LOSSES, SHARING, FLOW_JITTER = range(1, 10)


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
        processors=_processors(setup, len(flows) * most_subflows(stacks)),
        stages_of_flow=most_subflows(stacks),
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
            "flow_jitter_seed": key(setup.jitter_seed, FLOW_JITTER, 0),
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
    ports["of_host"] = fabric.port_from < fabric.n_hosts
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

"""The compiled engine: what the event loop is told of a run besides its records: numbers, routes, sizes of pools."""

import numpy as np

from capsim.engines.asking import CARRIED, COUNTED
from capsim.engines.hosts import MANAGE, RECEIVE_WAKE, SEND_WAKE, TIMEOUT, WORK
from capsim.engines.pointers import ROUTE
from capsim.initial_state import ring_segments
from capsim.records import NONE
from capsim.state import Setup, State, Table


def routes_by_leaf(setup: Setup, state: State) -> dict[str, Table]:
    """Return the routes by leaf, the same for all hosts of another leaf, and of each host those of its own leaf.

    Routes by host would not stay in the cache: 4 MB for 4096 hosts, where these have 0.1 MB.
    """
    row_of_host = setup.fabric.leaf_of_host
    routes = np.zeros(state.route_first.shape, ROUTE)
    routes["first"], routes["count"] = state.route_first, state.route_count
    rows, first_host = np.unique(row_of_host, return_index=True)
    by_leaf = routes[:, :, first_host]
    by_leaf["count"][:, rows, np.arange(len(rows))] = NONE
    return {"leaf_routes": by_leaf, "host_routes": routes[:, row_of_host, np.arange(len(row_of_host))]}


def kinds_of_wake(state: State) -> list[int]:
    """Return the kinds of wake that the components of a run ask for."""
    stacks = [each.stack for each in state.stacks]
    asked = {
        TIMEOUT: True,
        SEND_WAKE: any(stack.layer.send_timer or stack.transport.send_timer for stack in stacks),
        RECEIVE_WAKE: any(stack.layer.receive_timer for stack in stacks),
        MANAGE: any(stack.sharing.note is not None for stack in stacks),
        WORK: len(state.processors) > 0,
    }
    return [kind for kind, wanted in asked.items() if wanted]


def margins(state: State) -> dict[str, int]:
    """Return how much of the pools that flows draw on one event may take."""
    rings, data = 0, 0
    for number, each in enumerate(state.stacks):
        largest = int(state.flows["n_segments"][state.flows["stack"] == number].max(initial=0))
        rings = max(rings, each.subflows * ring_segments(largest, each.window_segments))
        if each.shared:
            data = max(data, ring_segments(largest, each.stream_segments))
    return {
        "unit_margin": state.margin if state.own.layouts["unit"].row_bytes else 0,
        "subflow_margin": max(each.subflows for each in state.stacks),
        "ring_margin": rings,
        "data_margin": data,
    }


def numbers_of(setup: Setup, state: State) -> dict[str, int]:
    """Return the numbers of a run that stay the same, by their names in WORLD."""
    scheme, fabric = setup.scheme, setup.fabric
    return {
        "n_hosts": fabric.n_hosts,
        "n_leaves": len(np.unique(fabric.leaf_of_host)),
        "n_tiers": state.n_tiers,
        "n_epochs": len(state.epoch_ps),
        "most_paths": int(state.route_count.max()),
        "end_ps": setup.end_ps,
        "link_bytes": setup.link_bytes,
        "count_in_service": setup.count_in_service,
        "by_priority": scheme.queue.by_priority,
        "draws": scheme.balancer.draws,
        "reads_queues": scheme.balancer.reads_queues,
        "trace_level": setup.trace,
        "pinned": bool(setup.pinned),
        "margin": state.margin,
        "probe_ps": setup.probe_ps,
        "histograms": setup.histograms,
        "warm_up_ps": setup.warm_up_ps,
        "host_jitter_ps": setup.host_jitter_ps,
        "flow_jitter_ps": setup.flow_jitter_ps,
        "stages_of_flow": state.stages_of_flow,
        "encode_ps": setup.encode_ps,
        "decode_ps": setup.decode_ps,
        "payload": CARRIED if setup.payload else COUNTED,
        **state.seeds,
    }

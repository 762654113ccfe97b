"""The compiled engine: one event loop for all schemes, compiled by Numba and found on disk by the next process.

The parts are :mod:`~capsim.engines.links`, :mod:`~capsim.engines.hosts` and :mod:`~capsim.engines.loop`. This file
makes the arrays that they work on, compiles the hooks of a scheme, and lets pools grow when the loop asks for it.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import typeof, types

from capsim import records
from capsim.engines import jit, loop
from capsim.engines.jit import GENERIC, ErasedHook, record_type
from capsim.engines.links import CONFIG, NEVER, Hooks, World, drain
from capsim.hooks import Scheme
from capsim.state import RawRecords, Setup, Table, Tables, tables

CHUNK_EVENTS = 2_000_000  # about a quarter of a second; between chunks Python sees Ctrl-C

Progress = Callable[[int], None]


def _signatures(own: Any) -> dict[str, Any]:
    """Return the signature of each kind of hook; `own` maps a component to the type of its parameter record."""
    conn, packet, port, switch, estimator, counters = (
        record_type(dtype)
        for dtype in (
            records.CONNECTION,
            records.PACKET,
            records.PORT,
            records.SWITCH,
            records.ESTIMATOR,
            records.COUNTERS,
        )
    )
    flags, integer, real = types.uint8[::1], types.int64, types.float64
    units, ports = types.Array(record_type(records.UNIT), 1, "C"), types.Array(port, 1, "C")
    transport, coding = own["transport"], own["coding"]
    end_host = integer(transport, conn, flags, packet, integer)
    decoder = integer(coding, conn, flags, units, packet, integer)
    return {
        "choose": integer(
            own["balancer"], own["state"], switch, conn, packet, ports, types.int32[::1], integer, real
        ),
        "admit": integer(own["queue"], port, packet, integer, integer),
        "open": integer(transport, conn, integer),
        "send": end_host,
        "receive": end_host,
        "hear": end_host,
        "expire": integer(transport, conn, flags, integer),
        "accept": integer(coding, conn, packet, integer),
        "emit": integer(coding, conn, estimator, units, counters, packet, integer),
        "collect": decoder,
        "release": decoder,
        "observe": integer(coding, conn, estimator, packet, integer),
    }


COMPONENTS = ("transport", "balancer", "queue", "coding")
_LOOP_SEES = _signatures(dict.fromkeys((*COMPONENTS, "state"), record_type(GENERIC)))


def _hook_functions(scheme: Scheme) -> dict[str, Any]:
    transport, coding = scheme.transport, scheme.coding
    return {
        "choose": scheme.balancer.choose,
        "admit": scheme.queue.admit,
        **{name: getattr(transport, name) for name in ("open", "send", "receive", "hear", "expire")},
        **{name: getattr(coding, name) for name in ("accept", "emit", "collect", "release", "observe")},
    }


@cache
def _hook(name: str, function: Callable[..., int], own: Any) -> ErasedHook:
    return ErasedHook(function, own=own, loop_sees=_LOOP_SEES[name])


def hooks(scheme: Scheme, made: Tables) -> Hooks:
    """Return the hooks of `scheme`, compiled."""
    own = {name: record_type(made.params[name].dtype) for name in COMPONENTS}
    own["state"] = record_type(made.balancer_state.dtype)
    signatures = _signatures(own)
    return Hooks(**{name: _hook(name, f, signatures[name]) for name, f in _hook_functions(scheme).items()})


def _tree(n: int) -> tuple[Table, Table]:
    """Return times and entities of a tournament tree for `n` entities, none of which has an event."""
    leaves = 1
    while leaves < max(n, 2):
        leaves *= 2
    who = np.zeros(2 * leaves, np.int32)
    who[leaves:] = np.arange(leaves)
    for node in range(leaves - 1, 0, -1):
        who[node] = who[2 * node]
    return np.full(2 * leaves, NEVER, np.int64), who


def _timer_tree(n_conns: int) -> tuple[Table, Table]:
    """Return one tree for retransmission timers (left half) and flush timers (right half)."""
    half = 1
    while half < n_conns:
        half *= 2
    return _tree(2 * half)


def _config(setup: Setup, made: Tables) -> Table:
    config = np.zeros(1, CONFIG)
    scheme = setup.scheme
    values = {
        "n_hosts": setup.fabric.n_hosts,
        "end_ps": setup.end_ps,
        "link_bytes": setup.link_bytes,
        "count_in_service": setup.count_in_service,
        "classes": scheme.queue.classes,
        "draws": scheme.balancer.draws,
        "trace": setup.trace,
        "margin": made.margin,
        "probe_ps": setup.probe_ps,
        "abort_losers": scheme.replication.abort_losers,
    }
    for name, value in values.items():
        config[name] = value
    return config


def _world(setup: Setup, made: Tables) -> Any:
    arrive, depart = _tree(setup.fabric.n_ports), _tree(setup.fabric.n_ports)
    timer = _timer_tree(len(made.conns))
    generic = {name: made.params[name].view(GENERIC) for name in COMPONENTS}
    return World(
        config=_config(setup, made),
        balancer_state=made.balancer_state.view(GENERIC),
        probe_ports=np.array(setup.probe_ports, np.int64),
        probe_conns=np.array(setup.probe_conns, np.int64),
        host_port=setup.fabric.host_port.astype(np.int64),
        arrive_times=arrive[0],
        arrive_who=arrive[1],
        depart_times=depart[0],
        depart_who=depart[1],
        timer_times=timer[0],
        timer_who=timer[1],
        **generic,
        **{
            name: getattr(made, name)
            for name in World._fields
            if hasattr(made, name) and name not in ("balancer_state",)
        },
    )


def _grown(array: Table, size: int) -> Table:
    larger = np.zeros(size, array.dtype)
    larger[: len(array)] = array
    return larger


def _grow_packets(world: Any, made: Tables) -> Any:
    """Double the packet pool; the new packets go to the front of the free list."""
    used = len(world.packets)
    packets = _grown(world.packets, max(2 * used, 4 * made.margin))
    packets["next"][used:] = np.arange(used + 1, len(packets) + 1)
    packets["next"][-1] = world.counters["free"][0]
    world.counters["free"] = used
    world.counters["free_count"] += len(packets) - used
    return world._replace(packets=packets)


def _grow(world: Any, made: Tables, status: int) -> Any:
    if status == loop.PACKETS_LOW:
        return _grow_packets(world, made)
    if status == loop.UNITS_LOW:
        return world._replace(units=_grown(world.units, 2 * len(world.units) + 2 * made.margin))
    if status == loop.TRACE_LOW:
        return world._replace(trace=_grown(world.trace, 2 * len(world.trace) + 8 * len(world.packets)))
    samples = len(world.probe_ports) + len(world.probe_conns)
    return world._replace(probes=_grown(world.probes, 2 * len(world.probes) + 64 * samples))


@cache
def _compiled_loop(world_type: Any, hooks_type: Any) -> Any:
    return jit.compiled(loop.loop, types.int64(world_type, hooks_type, types.int64))


@cache
def _compiled_settle(world_type: Any) -> Any:
    return jit.compiled(settle, types.int64(world_type))


def settle(w: Any) -> int:
    """Take from all FIFO queues what has left them by the end."""
    if w.config[0].classes == 1:
        for p in range(len(w.ports)):
            drain(w, w.ports[p], w.counters[0].now_ps)
    return 0


def run(setup: Setup, *, progress: Progress | None = None) -> RawRecords:
    """Simulate `setup` and return its records; `progress` is told the simulated time in picoseconds now and then."""
    made = tables(setup)
    world, scheme_hooks = _world(setup, made), hooks(setup.scheme, made)
    main = _compiled_loop(typeof(world), typeof(scheme_hooks))
    while (status := main(world, scheme_hooks, CHUNK_EVENTS)) != loop.DONE:
        if status == loop.FAULT:
            raise ValueError(f"the balancer {setup.scheme.balancer.name!r} named a path that does not exist")
        if status != loop.PAUSED:
            world = _grow(world, made, status)
        elif progress is not None:
            progress(int(world.counters["now_ps"][0]))
    _compiled_settle(typeof(world))(world)
    made.packets, made.units, made.trace, made.probes = world.packets, world.units, world.trace, world.probes
    return made.finished()


def is_compiled(setup: Setup) -> bool:
    """Return whether the machine code for `setup` comes from the on-disk cache; compile it otherwise."""
    made = tables(setup)
    world, scheme_hooks = _world(setup, made), hooks(setup.scheme, made)
    main = _compiled_loop(typeof(world), typeof(scheme_hooks))
    return jit.from_cache(main) and all(hook.cached for hook in scheme_hooks)



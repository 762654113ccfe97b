"""The compiled engine: one event loop for all schemes, compiled by Numba and kept on disk for the next process.

The parts are :mod:`~capsim.engines.trees`, :mod:`~capsim.engines.serialiser`, :mod:`~capsim.engines.links`,
:mod:`~capsim.engines.outages`, :mod:`~capsim.engines.hosts` and :mod:`~capsim.engines.loop`. This file makes the arrays
that they work on, compiles the hooks of a scheme, and enlarges a pool (of packets, units, trace lines or samples) when
the loop reports it short.
"""

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import types

from capsim.bounds import POOL
from capsim.engines import jit, loop
from capsim.engines.events import FLUSH_TIMER
from capsim.engines.faults import error_of
from capsim.engines.jit import kernel, record_type
from capsim.engines.links import drain
from capsim.engines.pointers import ARRAYS, CACHE_LINE_BYTES, NODE, NUMBERS, WORLD, counters_at, packet_at, port_at
from capsim.engines.queue_sums import count_sojourn
from capsim.engines.signatures import compiled_hooks
from capsim.engines.trees import NO_STAMP
from capsim.hooks import COMPONENTS, Scheme, padded
from capsim.memory import check_fits
from capsim.records import NONE
from capsim.state import RawRecords, Setup, State, Table, initial_state, param_records

FEWER = "fewer flows, a smaller window, limited buffers or an earlier end would fit"
CHUNK_S = 0.25  # between chunks Python sees Ctrl-C


def _tree(entities: Table) -> Table:
    """Return a tournament tree over `entities`, a power of two of them, none of which has an event."""
    leaves = len(entities)
    tree = np.zeros(2 * leaves, NODE)
    tree["stamp"] = NO_STAMP
    tree["entity"][leaves:] = entities
    level = leaves // 2  # nodes level .. 2 * level - 1, of which each takes the entity of its left child
    while level:
        tree["entity"][level : 2 * level] = tree["entity"][2 * level : 4 * level : 2]
        level //= 2
    return tree


def _power_of_two(n: int) -> int:
    return 1 << max(n - 1, 0).bit_length()


def _aligned(size: int, dtype: np.dtype[Any]) -> Table:
    """Return `size` records of zeros that begin at a cache line."""
    raw = np.zeros(size * dtype.itemsize + CACHE_LINE_BYTES, np.uint8)
    start = -raw.ctypes.data % CACHE_LINE_BYTES
    return raw[start : start + size * dtype.itemsize].view(dtype)


class World:
    """The record of addresses that the loop takes, and the arrays that it points to."""

    def __init__(self, setup: Setup, state: State):
        self.record = np.zeros(1, WORLD)
        self.arrays: dict[str, Table] = {}
        self.margin = state.margin
        ports = _aligned(len(state.ports), state.ports.dtype)
        ports[:] = state.ports
        state.ports = ports
        leaves, timers = _power_of_two(setup.fabric.n_ports), 2 * _power_of_two(len(state.conns))
        self.set_numbers(arrive_leaves=leaves, depart_leaves=leaves, timer_leaves=timers)
        self.set_numbers(**_numbers(setup, state))
        for name in ARRAYS:
            if hasattr(state, name):
                self.point(name, getattr(state, name))
        for name in COMPONENTS:
            self.point(name, state.params[name])
        self.point("probe_ports", np.array(setup.probe_ports, np.int64))
        self.point("probe_conns", np.array(setup.probe_conns, np.int64))
        self.point("host_port", setup.fabric.host_port.astype(np.int64))
        self.point("arrive_tree", _tree(np.arange(leaves)))
        self.point("depart_tree", _tree(np.arange(leaves)))
        conns = np.arange(timers // 2)
        self.point("timer_tree", _tree(np.concatenate([conns, conns + FLUSH_TIMER])))  # RTO, then flush timers
        self.hooks = compiled_hooks(setup.scheme, state.params, state.balancer_state.dtype)
        self.set_numbers(**{name: hook.address for name, hook in self.hooks.items()})

    def set_numbers(self, **numbers: int) -> None:
        """Write plain fields of the record."""
        for name, value in numbers.items():
            self.record[name] = value

    def point(self, name: str, array: Table) -> None:
        """Let the record point to `array`, which must not move."""
        self.arrays[name] = array = np.ascontiguousarray(array)
        self.record[name] = array.ctypes.data
        if f"n_{name}" in NUMBERS:
            self.record[f"n_{name}"] = len(array)

    def enlarge(self, name: str, size: int) -> None:
        """Replace a pool by a larger one with the same beginning.

        Raises
        ------
        ParameterError
            If it would not fit in memory, or has more records than 32 bits number.
        """
        old = self.arrays[name]
        POOL.check(f"{name} of this run", size)
        check_fits(size * old.dtype.itemsize, f"{size} {name} of this run", would_fit=FEWER)
        larger = _aligned(size, old.dtype)
        larger[: len(old)] = old
        self.point(name, larger)

    def grow_packets(self) -> None:
        """Double the packet pool; the new packets go to the front of the free list."""
        used, counters = len(self.arrays["packets"]), self.arrays["counters"]
        size = max(2 * used, 4 * self.margin)
        self.enlarge("packets", size)
        following = self.arrays["packets"]["next"]
        following[used:] = np.arange(used + 1, size + 1)
        following[-1] = counters["free"][0]
        counters["free"] = used
        counters["free_count"] += size - used

    def grow(self, status: int) -> None:
        """Enlarge the pool that the loop has found short."""
        arrays = self.arrays
        if status == loop.PACKETS_LOW:
            self.grow_packets()
        elif status == loop.UNITS_LOW:
            self.enlarge("units", 2 * len(arrays["units"]) + 2 * self.margin)
        elif status == loop.TRACE_LOW:
            self.enlarge("trace", 2 * len(arrays["trace"]) + 8 * len(arrays["packets"]))
        else:
            samples = len(arrays["probe_ports"]) + len(arrays["probe_conns"])
            self.enlarge("probes", 2 * len(arrays["probes"]) + 64 * samples)


def _numbers(setup: Setup, state: State) -> dict[str, int]:
    scheme = setup.scheme
    return {
        "n_hosts": setup.fabric.n_hosts,
        "n_epochs": len(state.epoch_ps),
        "segment_bytes": len(state.segments),
        "end_ps": setup.end_ps,
        "link_bytes": setup.link_bytes,
        "count_in_service": setup.count_in_service,
        "classes": scheme.queue.classes,
        "draws": scheme.balancer.draws,
        "reads_queues": scheme.balancer.reads_queues,
        "trace_level": setup.trace,
        "margin": state.margin,
        "probe_ps": setup.probe_ps,
        "abort_losers": scheme.replication.abort_losers,
        "tie_seed": state.tie_seed,
        "host_jitter_ps": setup.host_jitter_ps,
        "jitter_seed": state.jitter_seed,
    }


_WORLD_TYPE = record_type(WORLD)


class Chunk:
    """How many events the loop takes before it returns to Python: as many as last `CHUNK_S`, whatever one event costs.

    Chunks decide when a run can be interrupted and tells its progress, never what it does.
    """

    def __init__(self) -> None:
        self.events, self.begun_s = 1000, 0.0

    def begin(self) -> int:
        """Return the number of events of the chunk that begins."""
        self.begun_s = time.perf_counter()
        return self.events

    def adapt(self) -> None:
        """Set the number of events of the next chunk by how long this one took; at most twice as many."""
        took_s = time.perf_counter() - self.begun_s
        self.events = max(1, int(self.events * min(2.0, CHUNK_S / max(took_s, 1e-9))))


@cache
def _compiled_loop() -> Any:
    return jit.compiled(loop.loop, types.int64(_WORLD_TYPE, types.int64))


@cache
def _compiled_settle() -> Any:
    return jit.compiled(settle, types.int64(_WORLD_TYPE))


def settle(w: Any) -> int:
    """Take from all FIFO queues what has left them by the end, and count what is still in a queue."""
    now_ps = counters_at(w.counters, 0).now_ps
    for p in range(w.n_ports):
        port = port_at(w.ports, p)
        if w.classes == 1:
            drain(w, port, now_ps)
            count_chain(w, port, port.queue_head, now_ps)
        elif port.service != NONE:
            count_sojourn(port, packet_at(w.packets, port.service), now_ps)
            count_chain(w, port, port.class_head[0], now_ps)
            count_chain(w, port, port.class_head[1], now_ps)
    return 0


@kernel
def count_chain(w: Any, port: Any, number: int, now_ps: int) -> None:
    """Count the packets of a chain, from `number` on, as in the queue until now."""
    while number != NONE:
        count_sojourn(port, packet_at(w.packets, number), now_ps)
        number = packet_at(w.packets, number).next


def run(setup: Setup, *, progress: Callable[[int], None] | None = None) -> RawRecords:
    """Simulate `setup` and return its records; `progress` is told the simulated time in picoseconds now and then."""
    state = initial_state(setup)
    world, main, chunk = World(setup, state), _compiled_loop(), Chunk()
    while (status := main(world.record[0], chunk.begin())) != loop.DONE:
        if status == loop.FAULT:
            raise error_of(int(world.record["fault"][0]), setup)
        if status != loop.PAUSED:
            world.grow(status)
            continue
        chunk.adapt()
        if progress is not None:
            progress(int(state.counters["now_ps"][0]))
    _compiled_settle()(world.record[0])
    state.units, state.trace, state.probes = (world.arrays[name] for name in ("units", "trace", "probes"))
    return state.finished()


def is_compiled(scheme: Scheme) -> bool:
    """Return whether the machine code for `scheme` comes from the on-disk cache; compile it otherwise."""
    hooks = compiled_hooks(scheme, param_records(scheme), padded(scheme.balancer.state)).values()
    return jit.from_cache(_compiled_loop()) and all(hook.cache_hits for hook in hooks)

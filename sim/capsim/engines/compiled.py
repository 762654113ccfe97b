"""The compiled engine: one event loop for all schemes, compiled by Numba and kept on disk for the next process.

The parts are :mod:`~capsim.engines.trees`, :mod:`~capsim.engines.serialiser`, :mod:`~capsim.engines.links`,
:mod:`~capsim.engines.outages`, :mod:`~capsim.engines.hosts` and :mod:`~capsim.engines.loop`. This file makes the arrays
that they work on, compiles the hooks of a scheme, and enlarges a pool (of packets, units, trace lines or samples) when
the loop reports it short.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import types

from capsim.bounds import POOL
from capsim.engines import jit, loop
from capsim.engines.asking import CARRIED, COUNTED, answer, payload_of
from capsim.engines.chunk import Chunk
from capsim.engines.events import WAKE
from capsim.engines.faults import error_of
from capsim.engines.hosts import MANAGE, RECEIVE_WAKE, SEND_WAKE, TIMEOUT
from capsim.engines.jit import kernel, record_type
from capsim.engines.links import drain
from capsim.engines.pointers import (
    ARRAYS,
    CACHE_LINE_BYTES,
    MEMORY,
    NODE,
    NUMBERS,
    STACK,
    WORLD,
    counters_at,
    packet_at,
    port_at,
)
from capsim.engines.queue_sums import count_sojourn
from capsim.engines.signatures import compiled_hooks
from capsim.engines.trees import NO_STAMP
from capsim.hooks import HOST_ROLES, SWITCH_ROLES
from capsim.memory import check_fits
from capsim.own_memory import POOLS
from capsim.param_records import param_record
from capsim.records import NONE
from capsim.roles import Scheme
from capsim.state import RawRecords, Setup, State, Table, initial_state, ring_segments

FEWER = "fewer flows, a smaller window, limited buffers or an earlier end would fit"
SMALL_BYTES = 2**20


def _tree(entities: Table, *, leaves: int | None = None) -> Table:
    """Return a tournament tree over `entities`, none of which has an event; `leaves` is a power of two."""
    leaves = len(entities) if leaves is None else leaves
    tree = np.zeros(2 * leaves, NODE)
    tree["stamp"] = NO_STAMP
    tree["entity"][leaves : leaves + len(entities)] = entities
    _replay(tree)
    return tree


def _replay(tree: Table) -> None:
    """Let the leaves play all matches: the smaller stamp wins, of equal ones the left node."""
    level = len(tree) // 4  # nodes level .. 2 * level - 1
    while level:
        left, right = tree[2 * level : 4 * level : 2], tree[2 * level + 1 : 4 * level : 2]
        tree[level : 2 * level] = np.where(right["stamp"] < left["stamp"], right, left)
        level //= 2


def _copy_block(old: Table, old_first: int, tree: Table, first: int, leaves: int) -> None:
    """Copy the events of `leaves` leaves from one tree to another."""
    from_leaf, to_leaf = len(old) // 2 + old_first, len(tree) // 2 + first
    tree["stamp"][to_leaf : to_leaf + leaves] = old["stamp"][from_leaf : from_leaf + leaves]


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
        self.setup, self.state = setup, state
        self.record = np.zeros(1, WORLD)
        self.arrays: dict[str, Table] = {}
        self.margin = state.margin
        state.ports = _copied(state.ports)
        leaves = _power_of_two(setup.fabric.n_ports)
        self.set_numbers(arrive_leaves=leaves, depart_leaves=leaves)
        self.set_numbers(**_numbers(setup, state))
        self.set_numbers(**_margins(state))
        for name in ARRAYS:
            if hasattr(state, name) and name != "stacks":
                self.point(name, getattr(state, name))
        self.point("probe_ports", np.array(setup.probe_ports, np.int64))
        self.point("probe_flows", np.array(setup.probe_flows, np.int64))
        self.point("host_port", setup.fabric.host_port.astype(np.int64))
        self.point("host_leaf", np.unique(setup.fabric.leaf_of_host, return_inverse=True)[1].astype(np.int64))
        self.point("arrive_tree", _tree(np.arange(leaves)))
        self.point("depart_tree", _tree(np.arange(leaves)))
        self.hold_components()
        self.hold_memory()
        self.grow_subflows(max(64, sum(each.subflows for each in state.stacks)))

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

    def hold_components(self) -> None:
        """Write the addresses of hooks and parameters: of balancer and queue, and of each stack."""
        scheme, stacks = self.setup.scheme, np.zeros(len(self.state.stacks), STACK)
        for role in SWITCH_ROLES:
            self.hold(self.record, role, getattr(scheme, role))
        for row, each in zip(stacks, self.state.stacks, strict=True):
            for role in HOST_ROLES:
                self.hold(row, role, getattr(each.stack, role), number=self.state.stacks.index(each))
            row["priority"], row["listens"] = each.stack.priority, each.stack.sharing.listens
            row["note_draws"] = each.stack.sharing.draws
            row["window_segments"], row["subflows"] = each.window_segments, each.subflows
        self.point("stacks", stacks)

    def hold(self, row: Any, role: str, component: Any, *, number: int = 0) -> None:
        """Write the addresses of one component, and where its memory begins in the rows of its scopes."""
        params, layouts = param_record(component.params), self.state.own.layouts
        self.arrays[f"params of {role} {number}"] = params
        row[role] = params.ctypes.data
        for name, hook in compiled_hooks(component).items():
            row[name] = hook.address if hook else 0
        for scope in ("subflow", "flow", "host", "packet") if role in HOST_ROLES else ():
            row[f"{role}_{scope}"] = layouts[scope].offsets[number, role]

    def hold_memory(self) -> None:
        """Point to own memory that does not grow, and write the size of its rows."""
        own = self.state.own
        for name in MEMORY:
            self.record[f"{name}_bytes"] = own.layouts[name].row_bytes
            self.point(name, own.tables[name])
        self.arrays["first rows"] = np.concatenate([np.zeros(8, np.uint8), *own.layouts["subflow"].rows])
        self.record["first_subflows"] = self.arrays["first rows"].ctypes.data + 8
        packet = own.layouts["packet"].offsets
        self.set_numbers(balancer_packet=packet["balancer"])

    def enlarge(self, name: str, size: int) -> None:
        """Replace a pool by a larger one with the same beginning.

        Raises
        ------
        ParameterError
            If it would not fit in memory, or has more records than 32 bits number.
        """
        old = self.arrays[name]
        POOL.check(f"{name} of this run", size)
        _check_fits(size * old.dtype.itemsize, f"{size} {name} of this run")
        larger = _aligned(size, old.dtype)
        larger[: len(old)] = old
        self.point(name, larger)

    def enlarge_memory(self, name: str, rows: int) -> None:
        """Do so with own memory; new rows have their first values."""
        layout, old = self.state.own.layouts[name], self.arrays[name]
        if not layout.row_bytes:
            return
        _check_fits(rows * layout.row_bytes, f"the own memory of {rows} {name}s of this run")
        larger = _aligned(rows * layout.row_bytes, np.dtype(np.uint8))
        larger.reshape(rows, layout.row_bytes)[:] = layout.rows[0]
        used = len(old) // layout.row_bytes * layout.row_bytes
        larger[:used] = old[:used]
        self.point(name, larger)

    def grow_packets(self) -> None:
        """Double the packet pool; the new packets go to the front of the free list."""
        used, counters = len(self.arrays["packets"]), self.arrays["counters"]
        size = max(2 * used, 4 * self.margin)
        self.enlarge("packets", size)
        self.enlarge_memory("packet", size)
        following = self.arrays["packets"]["next"]
        following[used:] = np.arange(used + 1, size + 1)
        following[-1] = counters["free"][0]
        counters["free"] = used
        counters["free_count"] += size - used

    def grow_subflows(self, more: int) -> None:
        """Make room for further subflows: records, own memory and timers."""
        size = _power_of_two(len(self.arrays["subs"]) + more)
        self.enlarge("subs", size)
        for name, rows in (("subflow", 1), ("balancer_subflow", 1), ("balancer_passing", 2 * self.state.n_tiers)):
            self.enlarge_memory(name, rows * size)
        kinds = _kinds_of_wake(self.state)
        block = max(size, _power_of_two(len(self.state.flows))) if MANAGE in kinds else size
        old, old_block = self.arrays.get("wake_tree"), int(self.record["wake_block"][0])
        numbers = np.arange(block)
        tree = _tree(
            np.concatenate([numbers + kind * WAKE for kind in kinds]), leaves=_power_of_two(len(kinds) * block)
        )
        if old is not None:
            for place in range(len(kinds)):
                _copy_block(old, place * old_block, tree, place * block, old_block)
            _replay(tree)
        self.point("wake_tree", tree)
        first = {kind: place * block for place, kind in enumerate(kinds)}
        self.set_numbers(
            wake_leaves=len(tree) // 2,
            wake_block=block,
            send_first=first.get(SEND_WAKE, NONE),
            receive_first=first.get(RECEIVE_WAKE, NONE),
            manage_first=first.get(MANAGE, NONE),
        )

    def grow(self, status: int) -> None:
        """Enlarge the pool that the loop has found short."""
        arrays, record = self.arrays, self.record
        if status == loop.PACKETS_LOW:
            self.grow_packets()
        elif status == loop.UNITS_LOW:
            rows = 2 * int(record["n_units"][0]) + 2 * self.margin
            self.enlarge_memory("unit", rows)
            record["n_units"] = rows
        elif status == loop.SUBFLOWS_LOW:
            self.grow_subflows(len(arrays["subs"]) + 1)
        elif status == loop.RINGS_LOW:
            self.enlarge("rings", 2 * len(arrays["rings"]) + 4 * int(record["ring_margin"][0]))
            if any(each.shared for each in self.state.stacks):
                self.enlarge("maps", len(arrays["rings"]))
        elif status == loop.DATA_LOW:
            self.enlarge("data", 2 * len(arrays["data"]) + 4 * int(record["data_margin"][0]))
        elif status == loop.TRACE_LOW:
            self.enlarge("trace", 2 * len(arrays["trace"]) + 8 * len(arrays["packets"]))
        else:
            samples = len(arrays["probe_ports"]) + len(arrays["probe_flows"])
            self.enlarge("probes", 2 * len(arrays["probes"]) + 64 * samples)


def _check_fits(needed_bytes: int, what: str) -> None:
    """Refuse a pool that would not fit in memory; asking takes a millisecond, so small ones are not asked about."""
    if needed_bytes > SMALL_BYTES:
        check_fits(needed_bytes, what, would_fit=FEWER)


def _copied(array: Table) -> Table:
    """Return a copy that begins at a cache line."""
    copy = _aligned(len(array), array.dtype)
    copy[:] = array
    return copy


def _kinds_of_wake(state: State) -> list[int]:
    """Return the kinds of wake that the components of a run ask for."""
    stacks = [each.stack for each in state.stacks]
    asked = {
        TIMEOUT: True,
        SEND_WAKE: any(stack.layer.send_timer or stack.transport.send_timer for stack in stacks),
        RECEIVE_WAKE: any(stack.layer.receive_timer for stack in stacks),
        MANAGE: any(stack.sharing.note is not None for stack in stacks),
    }
    return [kind for kind, wanted in asked.items() if wanted]


def _margins(state: State) -> dict[str, int]:
    """Return how much of the pools that flows draw on one event may take."""
    rings, data = 0, 0
    for number, each in enumerate(state.stacks):
        largest = int(state.flows["n_segments"][state.flows["stack"] == number].max(initial=0))
        rings = max(rings, each.subflows * ring_segments(largest, each.window_segments))
        if each.shared:
            data = max(data, ring_segments(largest, each.window_segments * each.subflows))
    return {
        "unit_margin": state.margin if state.own.layouts["unit"].row_bytes else 0,
        "subflow_margin": max(each.subflows for each in state.stacks),
        "ring_margin": rings,
        "data_margin": data,
    }


def _numbers(setup: Setup, state: State) -> dict[str, int]:
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
        "margin": state.margin,
        "probe_ps": setup.probe_ps,
        "host_jitter_ps": setup.host_jitter_ps,
        "payload": CARRIED if setup.payload else COUNTED,
        **state.seeds,
    }


_WORLD_TYPE = record_type(WORLD)


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
        if not w.by_priority:
            drain(w, port, now_ps)
            count_chain(w, port, port.queue_head, now_ps)
        elif port.service != NONE:
            count_sojourn(port, packet_at(w.packets, port.service), now_ps)
            count_chain(w, port, port.wait_head, now_ps)
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
    world, main, chunk, payload = World(setup, state), _compiled_loop(), Chunk(), payload_of(setup)
    while (status := main(world.record[0], chunk.begin())) != loop.DONE:
        if status == loop.FAULT:
            raise error_of(int(world.record["fault"][0]), setup)
        if status == loop.ASK:
            answer(world.arrays, world.record, state.own, payload)
            continue
        if status != loop.PAUSED:
            world.grow(status)
            continue
        chunk.adapt()
        if progress is not None:
            progress(int(state.counters["now_ps"][0]))
    _compiled_settle()(world.record[0])
    for name in ("subs", "trace", "probes"):
        setattr(state, name, world.arrays[name])
    state.own.tables |= {name: world.arrays[name] for name in POOLS}
    return state.finished()


def is_compiled(scheme: Scheme) -> bool:
    """Return whether the machine code for `scheme` comes from the on-disk cache; compile it otherwise."""
    components = [getattr(stack, role) for stack in scheme.stacks for role in HOST_ROLES]
    components += [getattr(scheme, role) for role in SWITCH_ROLES]
    hooks = [hook for component in components for hook in compiled_hooks(component).values() if hook]
    return jit.from_cache(_compiled_loop()) and all(hook.cache_hits for hook in hooks)

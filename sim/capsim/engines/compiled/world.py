"""The arrays that the event loop works on, the numbers that it needs beside them, and the record of their addresses.

Arrays begin at a cache line; event trees are made here as Python makes them; routes are kept by leaf.
"""

from typing import Any

import numpy as np

from capsim.base.bounds import POOL
from capsim.base.memory import available_bytes, check_fits
from capsim.engines.asking import CARRIED, COUNTED, answer, payload_of
from capsim.engines.compiled import layout
from capsim.engines.compiled.functions import loaded_hooks
from capsim.engines.compiled.layout import (
    ARRAYS,
    BLOCK,
    BUCKETS,
    BY_COUNTING,
    CACHE_LINE_BYTES,
    ENTRY,
    FETCHED,
    FRONT,
    MEMORY,
    NODE,
    NUMBERS,
    PER_BUCKET,
    ROUTE,
    SCHEDULED,
    STACK,
    WORDS,
    WORLD,
)
from capsim.engines.events import NO_STAMP, TIE_BITS, WAKE
from capsim.engines.hosts.handlers import MANAGE, RECEIVE_WAKE, SEND_WAKE, TIMEOUT, WORK
from capsim.engines.initial_state import ring_segments
from capsim.engines.own_memory import param_record
from capsim.engines.probes import plan
from capsim.engines.state import Setup, State, Table
from capsim.records import NONE
from capsim.roles.hooks import HOST_ROLES, NETWORK_ROLES


def tree_over(entities: Table) -> Table:
    """Return a tree over `entities`, none of which has an event (:mod:`~capsim.engines.compiled.order.trees`).

    Nodes beyond the last group of four of a level are never written, and take no memory.
    """
    level, used = power_of_four(len(entities)), len(entities)
    tree = aligned(2 * level, NODE)
    tree["entity"][level : level + used] = entities
    while level:
        tree["stamp"][level : level + used + 3] = NO_STAMP
        level, used = level // 4, -(-used // 4)
    return tree


def replay(tree: Table, used: int) -> None:
    """Let the first `used` leaves play all matches: the smallest stamp wins, of equal ones the leftmost node."""
    level = len(tree) // 8  # its nodes are level .. 2 * level - 1
    while level:
        used = -(-used // 4)
        children = tree[4 * level : 4 * (level + used)].reshape(used, 4)
        winners = np.argmin(children["stamp"], axis=1)
        tree[level : level + used] = children[np.arange(used), winners]
        level //= 4


def copy_block(old: Table, old_first: int, tree: Table, first: int, leaves: int) -> None:
    """Copy the events of `leaves` leaves from one tree to another."""
    from_leaf, to_leaf = len(old) // 2 + old_first, len(tree) // 2 + first
    tree["stamp"][to_leaf : to_leaf + leaves] = old["stamp"][from_leaf : from_leaf + leaves]


def power_of_two(n: int) -> int:
    """Return the smallest power of two that is not below `n`."""
    return 1 << max(n - 1, 0).bit_length()


def power_of_four(n: int) -> int:
    """Return the smallest power of four that is not below `n`."""
    return 1 << (max(n - 1, 0).bit_length() + 1) // 2 * 2


def aligned(size: int, dtype: np.dtype[Any]) -> Table:
    """Return `size` records of zeros that begin at a cache line."""
    raw = np.zeros(size * dtype.itemsize + CACHE_LINE_BYTES, np.uint8)
    start = -raw.ctypes.data % CACHE_LINE_BYTES
    return raw[start : start + size * dtype.itemsize].view(dtype)


def copied(array: Table) -> Table:
    """Return a copy that begins at a cache line."""
    copy = aligned(len(array), array.dtype)
    copy[:] = array
    return copy


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
    kinds = {
        TIMEOUT: True,
        SEND_WAKE: any(stack.layer.send_timer or stack.transport.send_timer for stack in stacks),
        RECEIVE_WAKE: any(stack.layer_waits or stack.late_acks for stack in stacks),
        MANAGE: len(state.dependents) > 0 or any(stack.sharing.note is not None for stack in stacks),
        WORK: len(state.processors) > 0,
    }
    return [kind for kind, wanted in kinds.items() if wanted]


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


def follows_queues(setup: Setup) -> bool:
    """Return whether a hook, or what is noted, needs the present queue of each port that a packet comes to."""
    hooks = setup.scheme.queue.admit or setup.scheme.balancer.see
    return bool(hooks or setup.ordered or setup.trace or setup.histograms)


def numbers_of(setup: Setup, state: State) -> dict[str, int]:
    """Return the numbers of a run that stay the same, by their names in WORLD."""
    scheme, fabric = setup.scheme, setup.fabric
    return {
        "n_hosts": fabric.n_hosts,
        "n_starts": state.n_starts,
        "n_leaves": len(np.unique(fabric.leaf_of_host)),
        "n_tiers": state.n_tiers,
        "n_epochs": len(state.epoch_ps),
        "most_paths": int(state.route_count.max()),
        "end_ps": setup.end_ps,
        "link_bytes": setup.link_bytes,
        "count_in_service": setup.count_in_service,
        "ordered": setup.ordered,
        "one_by_one": setup.ordered or bool(state.ports["order"].any()),
        "counts_late": not follows_queues(setup),
        "trim_bytes": getattr(scheme.queue.params, "trim_bytes", 0),
        "draws": scheme.balancer.draws,
        "admit_draws": scheme.queue.draws,
        "reads_queues": scheme.balancer.reads_queues,
        "trace_level": setup.trace,
        "stamps": any(each.stack.transport.on_sent is not None for each in state.stacks),
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


# A table of so many bytes that has to grow gets room to grow again: what nobody has written to takes no memory
LARGE_BYTES = 2**22

FEWER = "fewer flows, a smaller window, limited buffers or an earlier end would fit"
PACKET_BITS = 8 * 800  # about the mean of data packets and acknowledgements
LEAST_BITS = 8 * 40  # about an acknowledgement


class World:
    """The record of addresses that the loop takes, and the arrays that it points to."""

    def __init__(self, setup: Setup, state: State, *, agenda_ports: int):
        self.setup, self.state = setup, state
        self.record = np.zeros(1, WORLD)
        self.address = self.record.ctypes.data
        self.arrays: dict[str, Table] = {}
        self.reserved: dict[str, Table] = {}  # tables that grow, with the memory that they may grow into
        probes = plan(setup, state.own)
        self.watched = [field.table for field in probes.fields]
        self.point("watches", probes.watches)
        self.set_numbers(probe_rows=probes.rows)
        self.margin, self.payload = state.margin, payload_of(setup)
        state.ports = copied(state.ports)
        ports = np.arange(setup.fabric.n_ports)
        self.set_numbers(arrive_leaves=power_of_four(len(ports)))
        self.set_numbers(**numbers_of(setup, state))
        self.set_numbers(**margins(state))
        for name in ARRAYS:
            if hasattr(state, name) and name != "stacks":
                self.point(name, getattr(state, name))
        # What leaves a queue one by one may change any of what is sampled: own state, marks of a subflow
        drained = ports if self.record["one_by_one"][0] else np.array(setup.probe_ports, np.int64)
        self.point("probe_ports", drained)
        self.point("arrivals", np.zeros(0, np.int64))
        self.point("host_port", setup.fabric.host_port.astype(np.int64))
        self.point("host_leaf", np.unique(setup.fabric.leaf_of_host, return_inverse=True)[1].astype(np.int64))
        for name, table in routes_by_leaf(setup, state).items():
            self.point(name, table)
        self.point("arrive_tree", tree_over(ports))
        if setup.fabric.n_ports >= agenda_ports and not setup.ordered:
            self.make_agenda()
        self.grow_schedule()
        self.hold_components()
        self.hold_memory()
        self.grow_subflows(max(64, len(state.flows), sum(each.subflows for each in state.stacks)))
        self.grow_units(len(state.flows))

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
        if name in self.watched:
            watches = self.arrays["watches"]
            watches["table"][np.array([table == name for table in self.watched])[watches["field"]]] = array.ctypes.data

    def make_agenda(self) -> None:
        """Make an empty agenda; a bucket lasts as some arrivals of hosts at full rate, or one on the fastest link."""
        n, ports = self.setup.fabric.n_ports, self.state.ports
        hops_a_second = 2 * self.state.n_tiers * ports["rate_bps"][ports["of_host"] == 1].sum() / PACKET_BITS
        # What crosses a link sooner than a bucket lasts has to be inserted into the present one, among all others
        crossing_ps = (ports["delay_ps"] + LEAST_BITS * 1e12 / ports["rate_bps"]).min()
        width_ps = min(PER_BUCKET * 1e12 / hops_a_second, crossing_ps)
        room = 2 * n + FRONT  # entries are moved to its front when it is full
        key_shift = 63 - TIE_BITS - (max(int(width_ps), 1).bit_length() - 1)
        key_shift = max(key_shift, n.bit_length())  # a port fits into the bits below
        self.set_numbers(by_agenda=1, bucket_bits=63 - TIE_BITS - key_shift, key_shift=key_shift, agenda_room=room)
        self.point("agenda", aligned(room + BLOCK + FETCHED, ENTRY))
        self.point("blocks", aligned(BLOCK * n, ENTRY))
        self.point("behind", np.zeros(n, np.int32))
        self.point("keys", aligned(BY_COUNTING, np.dtype(np.int64)))
        self.point("places", aligned(BLOCK, np.dtype(np.int64)))
        self.point("spare", np.arange(n, dtype=np.int32))
        self.point("buckets", np.full(BUCKETS, NONE, np.int32))
        self.point("filled", np.zeros(WORDS, np.int64))

    def hold_components(self) -> None:
        """Write the addresses of hooks and parameters: of balancer and queue, and of each stack."""
        scheme, stacks = self.setup.scheme, np.zeros(len(self.state.stacks), STACK)
        loaded: dict[int, Any] = {}  # hooks by the id of their component: stacks share most of theirs
        for role in NETWORK_ROLES:
            self.hold(self.record, role, getattr(scheme, role), loaded)
        for number, (row, each) in enumerate(zip(stacks, self.state.stacks, strict=True)):
            for role in HOST_ROLES:
                self.hold(row, role, getattr(each.stack, role), loaded, number=number)
            row["priority"], row["listens"] = each.stack.priority, each.stack.sharing.listens
            row["note_draws"], row["emits_unasked"] = each.stack.sharing.draws, each.emits_unasked
            row["late_acks"], row["reads_headers"] = each.stack.late_acks, each.stack.transport.reads_headers
            row["window_segments"], row["stream_segments"] = each.window_segments, each.stream_segments
        self.point("stacks", stacks)

    def hold(self, row: Any, role: str, component: Any, loaded: dict[int, Any], *, number: int = 0) -> None:
        """Write the addresses of one component, and where its memory begins in the rows of its scopes."""
        params, layouts = param_record(component.params), self.state.own.layouts
        self.arrays[f"params of {role} {number}"] = params
        row[role] = params.ctypes.data
        if id(component) not in loaded:
            loaded[id(component)] = loaded_hooks(component)
        for name, hook in loaded[id(component)].items():
            row[name] = hook.address if hook else 0
        for scope in ("subflow", "flow", "host", "packet", "segment") if role in HOST_ROLES else ():
            row[f"{role}_{scope}"] = layouts[scope].offsets[number, role]

    def hold_memory(self) -> None:
        """Point to own state that does not grow, and write the size of its rows."""
        own = self.state.own
        for name in MEMORY:
            self.record[f"{name}_bytes"] = own.layouts[name].row_bytes
            self.point(name, own.tables[name])
        self.arrays["first rows"] = np.concatenate([np.zeros(8, np.uint8), *own.layouts["subflow"].rows])
        self.record["first_subflows"] = self.arrays["first rows"].ctypes.data + 8
        packet = own.layouts["packet"].offsets
        self.set_numbers(balancer_packet=packet["balancer"])

    def enlarge(self, name: str, size: int) -> None:
        """Make a pool larger.

        Raises
        ------
        ParameterError
            If it would not fit in memory, or has more records than 32 bits number.
        """
        old = self.arrays[name]
        POOL.check(f"{name} of this run", size)
        check_fits(size * old.dtype.itemsize, f"{size} {name} of this run", would_fit=FEWER)
        self.extend(name, size)

    def extend(self, name: str, size: int) -> None:
        """Let a table have `size` records, the new ones zeros; it is moved if less memory is reserved for it."""
        old = self.arrays[name]
        if size > len(self.reserved.setdefault(name, old)):
            spacious = old.nbytes >= LARGE_BYTES and 4 * size * old.dtype.itemsize <= available_bytes()
            self.reserved[name] = aligned(4 * size if spacious else size, old.dtype)
            self.reserved[name][: len(old)] = old
        self.point(name, self.reserved[name][:size])

    def enlarge_memory(self, name: str, rows: int) -> None:
        """Do so with own state; new rows have their first values, those of subflows when they are opened."""
        layout, old = self.state.own.layouts[name], self.arrays[name]
        if not layout.row_bytes:
            return
        check_fits(rows * layout.row_bytes, f"the own state of {rows} {name}s of this run", would_fit=FEWER)
        used = len(old) // layout.row_bytes
        self.extend(name, rows * layout.row_bytes)
        if name != "subflow" and layout.rows[0].any():
            self.arrays[name].reshape(rows, layout.row_bytes)[used:] = layout.rows[0]

    def grow_packets(self) -> None:
        """Double the packet pool."""
        used, counters = len(self.arrays["packets"]), self.arrays["counters"]
        size = max(2 * used, 4 * self.margin)
        self.enlarge("packets", size)
        self.enlarge_memory("packet", size)
        counters["free_count"] += size - used
        self.grow_schedule()

    def grow_schedule(self) -> None:
        """Make room for a departure of each port, an arrival of each packet, and the entry taken last."""
        size = 1 + len(self.arrays["ports"]) + len(self.arrays["packets"]) if self.setup.ordered else 1
        larger = np.zeros(size, SCHEDULED)
        if "schedule" in self.arrays:
            larger[: len(self.arrays["schedule"])] = self.arrays["schedule"]
        self.point("schedule", larger)

    def grow_subflows(self, more: int) -> None:
        """Make room for further subflows: records, own state and timers."""
        size = power_of_two(len(self.arrays["subs"]) + more)
        self.enlarge("subs", size)
        rows_of = {"subflow": 1, "balancer_subflow": 1, "balancer_passing": 2 * self.state.n_tiers, "nic_direction": 2}
        for name, rows in rows_of.items():
            self.enlarge_memory(name, rows * size)
        # Where NICs rank packets, the last one that waits of each subflow and direction: where none is known, the place
        # of the next one is searched from the front.
        self.point("last_waiting", np.full(2 * size if self.setup.scheme.nic.rank else 0, NONE, np.int32))
        kinds = kinds_of_wake(self.state)
        flows = len(self.state.flows) if MANAGE in kinds else 0
        block = max(size, power_of_two(max(flows, len(self.state.processors))))
        old, old_block = self.arrays.get("wake_tree"), int(self.record["wake_block"][0])
        numbers = np.arange(block)
        tree = tree_over(np.concatenate([numbers + kind * WAKE for kind in kinds]))
        if old is not None:
            for place in range(len(kinds)):
                copy_block(old, place * old_block, tree, place * block, old_block)
            replay(tree, len(kinds) * block)
        self.point("wake_tree", tree)
        first = {kind: place * block for place, kind in enumerate(kinds)}
        self.set_numbers(
            wake_leaves=len(tree) // 2,
            wake_block=block,
            send_first=first.get(SEND_WAKE, NONE),
            receive_first=first.get(RECEIVE_WAKE, NONE),
            manage_first=first.get(MANAGE, NONE),
            work_first=first.get(WORK, NONE),
        )

    def grow_units(self, more: int) -> None:
        """Make room for further coding units, where layers have any."""
        if not self.state.own.layouts["unit"].row_bytes:
            return
        rows = int(self.record["n_units"][0]) + more + 2 * self.margin
        self.enlarge_memory("unit", rows)
        self.record["n_units"] = rows

    def answer(self) -> None:
        """Compute what the packet that arrives next is worth."""
        answer(self.arrays, self.record, self.state.own, self.payload)

    def grow(self, status: int) -> None:
        """Enlarge the pool that the loop has found short."""
        arrays, record = self.arrays, self.record
        if status == layout.PACKETS_LOW:
            self.grow_packets()
        elif status == layout.UNITS_LOW:
            self.grow_units(int(record["n_units"][0]))
        elif status == layout.SUBFLOWS_LOW:
            self.grow_subflows(len(arrays["subs"]) + 1)
        elif status == layout.RINGS_LOW:
            self.enlarge("rings", 2 * len(arrays["rings"]) + 4 * int(record["ring_margin"][0]))
            self.enlarge_memory("segment", len(arrays["rings"]))
            if any(each.shared for each in self.state.stacks):
                self.enlarge("maps", len(arrays["rings"]))
            if self.setup.histograms:
                self.enlarge("arrivals", len(arrays["rings"]))
        elif status == layout.DATA_LOW:
            self.enlarge("data", 2 * len(arrays["data"]) + 4 * int(record["data_margin"][0]))
        elif status == layout.TRACE_LOW:
            self.enlarge("trace", 2 * len(arrays["trace"]) + 8 * len(arrays["packets"]))
        else:
            self.enlarge("probes", 2 * len(arrays["probes"]) + 64 * int(record["probe_rows"][0]))

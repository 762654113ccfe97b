"""The records of the reference engine: the same tables as plain objects with slots, and back."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from capsim import records
from capsim.engines.initial_state import initial_state
from capsim.engines.own_memory import param_record
from capsim.engines.probes import plan
from capsim.engines.state import RawRecords, Setup, Snapshot, StackState, delivered_segments
from capsim.records import NONE
from capsim.roles.hooks import HOOKS, HOST_ROLES, NETWORK_ROLES, hooks_of
from capsim.roles.own import HEADER, OWN, Table


def slotted(dtype: np.dtype[Any], *more: str, strict: bool = False) -> Callable[[Any], Any]:
    """Return a maker of plain objects that have the fields of `dtype` as slots.

    Parameters
    ----------
    dtype : dtype
        Structured; a field that is an array becomes a list.
    *more : str
        Further slots, which the maker leaves unset.
    strict : bool
        Whether a field refuses what the array could not hold as it is: a float or a number that is too large where
        there are whole numbers, a whole number where there are floats. Only so can compiled code agree.

    Returns
    -------
    callable
        Takes one element of an array of that dtype and returns an object with the same values as Python numbers,
        20 times faster to use in CPython than the element itself.

    Examples
    --------
    >>> from capsim.records import PORT
    >>> make = slotted(PORT)
    >>> port = make(np.zeros(1, PORT)[0])
    >>> port.queue_bytes += 1500
    >>> port.queue_bytes
    1500
    """
    names = dtype.names or ()
    arrays = tuple(name for name in names if dtype[name].shape)
    kind = type("Record", (), {"__slots__": (*names, *more)} | (_checks(dtype) if strict else {}))

    def make(element: Any) -> Any:
        record = kind()
        for name, value in zip(names, element.tolist(), strict=True):
            setattr(record, name, value)
        for name in arrays:
            setattr(record, name, getattr(record, name).tolist())
        return record

    return make


def _checks(dtype: np.dtype[Any]) -> dict[str, Any]:
    """Return the method that refuses values which the fields of `dtype` could not hold as they are."""
    plain = {name: field[0] for name, field in (dtype.fields or {}).items() if field[0].shape == ()}
    whole = {name: np.iinfo(kind) for name, kind in plain.items() if kind.kind in "iu"}
    limits = {name: (int(info.min), int(info.max)) for name, info in whole.items()}
    real = plain.keys() - limits.keys()

    def set_checked(record: Any, name: str, value: Any, store: Any = object.__setattr__) -> None:
        if name in limits:
            least, largest = limits[name]
            if not (isinstance(value, int) and least <= value <= largest):
                raise TypeError(f"{name} = {value!r}, but the record holds whole numbers from {least} to {largest}")
        elif name in real and not isinstance(value, float):
            raise TypeError(f"{name} = {value!r}, but the record holds a float")
        store(record, name, value)

    return {"__setattr__": set_checked}


def fill(array: np.ndarray[Any, Any], records: list[Any]) -> None:
    """Write slotted `records` back into the structured `array`, element by element."""
    names = array.dtype.names or ()
    for index, record in enumerate(records):
        array[index] = tuple(getattr(record, name) for name in names)


class Units(dict[int, Any]):
    """Coding units by number, each made when it is first asked for: one event can close thousands."""

    def __init__(self, make: Callable[[], Any], count: Callable[[], int]):
        super().__init__()
        self._make, self._count = make, count

    def __missing__(self, number: int) -> Any:
        """Return a new unit, if so many can have been closed."""
        if not 0 <= number < self._count():
            raise IndexError(f"unit {number}, but there are {self._count()}")
        self[number] = self._make()
        return self[number]


class Rings(dict[int, bytearray]):
    """Flags of the segments in flight by subflow, each made when it is first asked for: then its length is known."""

    def __init__(self, subs: list[Any]):
        super().__init__()
        self._subs = subs

    def __missing__(self, number: int) -> bytearray:
        """Return the flags of a subflow that has sent nothing yet."""
        self[number] = bytearray(self._subs[number].ring_mask + 1)
        return self[number]


_TABLES = ("units", "segments", "paths", "ports", "back_paths")  # in `own`: all records of a scope
_SCOPES = ("subflow", "flow", "host", "packet", "segment")


class StackObject:
    """Hooks, parameters and constants of a stack, as the code of hosts reads them."""

    def __init__(self, each: StackState, number: int):
        stack = each.stack
        self.priority, self.listens, self.note_draws = stack.priority, stack.sharing.listens, stack.sharing.draws
        self.emits_unasked, self.late_acks = each.emits_unasked, stack.late_acks
        self.reads_headers = stack.transport.reads_headers
        self.window_segments, self.stream_segments = each.window_segments, each.stream_segments
        for role in HOST_ROLES:
            _hold(self, role, getattr(stack, role))
            for scope in _SCOPES:
                setattr(self, f"{role}_{scope}", (number, role))


def _hold(holder: Any, role: str, component: Any) -> None:
    """Give `holder` the parameters of a component under the name of its role, and its hooks under theirs.

    The own memory of one without fields is the same at each call of a hook: ``blank_on_ack`` of `on_ack`.
    """
    record = param_record(component.params)
    setattr(holder, role, slotted(record.dtype)(record[0]))
    for name in hooks_of(role):
        setattr(holder, name, component.hook(name) or 0)
        setattr(holder, f"blank_{name}", None if component.memory else _blank(name))


def _blank(name: str) -> Any:
    """Return what a hook sees of the own memory of a component without fields."""
    record = slotted(np.dtype(HEADER))(np.zeros((), HEADER))
    return OWN[name](*([] if scope in _TABLES else record for scope in OWN[name]._fields))


class Records:
    """All records of a run as objects with slots, under the names that the code of hosts uses."""

    queue: Any
    queue_port: Any
    balancer_port: Any
    tie_seed: int
    jitter_seed: int

    def __init__(self, setup: Setup, *, strict: bool = False):
        self.setup, self._slotted = setup, partial(slotted, strict=strict)
        state = self.state = initial_state(setup)
        self.stacks = [StackObject(each, number) for number, each in enumerate(state.stacks)]
        self.flows = self._objects(state.flows)
        self.switches = self._objects(state.switches)
        self.processors = self._objects(state.processors)
        self.ports, self.losses = self._objects(state.ports), self._objects(state.losses)
        self.counters = self._objects(state.counters)
        self.counts = self.counters[0]
        self.subs: list[Any] = []
        self.rings = Rings(self.subs)
        self.maps: list[int] = []
        self.data: list[int] = []
        self.arrivals: list[int] = []
        self.histograms = setup.histograms
        self.queue_counts, self.extents = state.queue_counts.tolist(), state.extents.tolist()
        self.packets: list[Any] = []
        self.unused: list[int] = []  # numbers of packets
        self.trace: list[tuple[int, ...]] = []
        self.probes: list[tuple[int | float, ...]] = []
        self.plan = plan(setup, state.own)
        self.watches = self._objects(self.plan.watches)
        self.waits, self.n_waits = self._objects(state.waits), len(state.waits)
        self.candidates, self.dependents = state.candidates.tolist(), state.dependents.tolist()
        self._set_numbers()
        self._make_memory()
        self._packet = self._slotted(records.PACKET, "number")
        self._subflow = self._slotted(records.SUBFLOW)

    def _objects(self, table: Table) -> list[Any]:
        return _objects_of(table, self._slotted(table.dtype))

    def _set_numbers(self) -> None:
        fabric, scheme = self.setup.fabric, self.setup.scheme
        self.n_hosts, self.n_flows, self.n_starts = fabric.n_hosts, len(self.flows), self.state.n_starts
        leaves, leaf_of_host = np.unique(fabric.leaf_of_host, return_inverse=True)
        self.host_leaf = leaf_of_host.tolist()
        self.n_leaves, self.n_tiers = len(leaves), int(fabric.switch_tier.max(initial=0)) + 1
        self.most_paths = int(self.state.route_count.max())
        self.route_first, self.route_count = self.state.route_first.tolist(), self.state.route_count.tolist()
        self.host_port = fabric.host_port.tolist()
        self.draws, self.reads_queues = scheme.balancer.draws, scheme.balancer.reads_queues
        self.stamps = any(each.stack.transport.on_sent is not None for each in self.state.stacks)
        self.encode_ps, self.decode_ps = self.setup.encode_ps, self.setup.decode_ps
        self.flow_jitter_ps, self.stages_of_flow = self.setup.flow_jitter_ps, self.state.stages_of_flow
        self.fault, self.refused_path, self.refused_of, self.pinned = 0, 0, 0, bool(self.setup.pinned)
        for name, seed in self.state.seeds.items():
            setattr(self, name, seed)
        for role in NETWORK_ROLES:
            _hold(self, role, getattr(scheme, role))
        self.balancer_packet = "balancer"

    def _make_memory(self) -> None:
        """Make own memory: a table is a list of rows, a row maps owners to objects."""
        own = self.state.own
        self._makers = {
            (name, owner): self._slotted(record.dtype)
            for name, layout in own.layouts.items()
            for owner, record in layout.records.items()
        }
        self._blank_rows: dict[str, dict[Any, Any]] = {}  # of tables without fields: one row for all
        for name, layout in own.layouts.items():
            owners = list(layout.records)
            columns = [_objects_of(own.records(name, owner), self._makers[name, owner]) for owner in owners]
            keys = [_part(name, owner) for owner in owners]
            rows: Any = [dict(zip(keys, parts, strict=True)) for parts in zip(*columns, strict=True)]
            if name == "flow":  # stacks share the bytes of a row: each flow has the parts of its own
                rows = [
                    {(flow.stack, role): row[flow.stack, role] for role in HOST_ROLES}
                    for flow, row in zip(self.flows, rows, strict=False)
                ]
            if not layout.row_bytes:
                self._blank_rows[name] = self.first_row(name, owners)
                rows = defaultdict(partial(self.first_row, name, owners))
            setattr(self, name, rows)
            setattr(self, f"{name}_bytes", layout.row_bytes)
        units = own.layouts["unit"].records
        owner = next((each for each, record in units.items() if record.dtype.names), None)
        self.units = Units(
            lambda: self.first_row("unit", [owner])[owner], lambda: self.counts.units + self.state.margin * bool(owner)
        )
        paths = own.layouts["balancer_path"]
        self.balancer_path: list[Any] = []
        if paths.row_bytes:
            self.balancer_path = _objects_of(
                own.records("balancer_path", "balancer"), self._makers["balancer_path", "balancer"]
            )
        ports = own.layouts["balancer_port"].row_bytes
        self.port_memory = [row[0] for row in self.balancer_port] if ports else []
        self.set_of = self.state.set_of.tolist()
        self.segment_rows: dict[int, list[Any]] = {}  # by subflow
        self.subflow: list[Any] = []
        self.packet: list[Any] = []
        self.balancer_subflow: list[Any] = []
        self.balancer_passing: list[Any] = []
        self.nic_direction: list[Any] = []

    def first_row(self, name: str, owners: Iterable[Any]) -> dict[Any, Any]:
        """Return a row of own memory with its first values."""
        if name in self._blank_rows:
            return self._blank_rows[name]
        layout = self.state.own.layouts[name]
        return {_part(name, owner): self._makers[name, owner](layout.records[owner][0]) for owner in owners}

    def queue_hooks(self, port: Any, number: int) -> list[Any]:
        """Return `admit`, `take`, `leave`, `evict` of a port with their first arguments, None where there is none."""
        own, packets = self.queue_port[number][0], self.packets
        given = {"admit": (port,), "take": (port, packets), "leave": (port,), "evict": (port, packets)}
        hooks = {name: self.setup.scheme.queue.hook(name) for name in given}
        return [hook and partial(hook, self.queue, OWN[name](own), *given[name]) for name, hook in hooks.items()]

    def owned(self, name: str, row: int, owner: Any) -> Any:
        """Return the own memory of one owner in a row of table `name`."""
        rows = getattr(self, name)
        return rows[row] if name == "balancer_path" else rows[row][_part(name, owner)]

    def take_packet(self) -> int:
        """Return the number of a packet that is not in the network."""
        if not self.unused:
            self.packets.append(self._packet(np.zeros((), records.PACKET)))
            self.packets[-1].number = len(self.packets) - 1
            self.packet.append(self.first_row("packet", self.state.own.layouts["packet"].records))
            self.unused.append(len(self.packets) - 1)
        number = self.unused.pop()
        packet = self.packets[number]
        packet.label = packet.entropy = NONE
        return number

    def in_flight(self) -> int:
        """Return how many packets are in the network."""
        return len(self.packets) - len(self.unused)

    def new_subflow(self, f: int) -> int:
        """Return the number of a new subflow."""
        number = len(self.subs)
        self.subs.append(self._subflow(np.zeros((), records.SUBFLOW)))
        stack = self.flows[f].stack
        owners = [owner for owner in self.state.own.layouts["subflow"].records if owner[0] == stack]
        self.subflow.append(self.first_row("subflow", owners))
        self.balancer_subflow.append(self.first_row("balancer_subflow", ["balancer"]))
        self.balancer_passing += [self.first_row("balancer_passing", ["balancer"]) for _ in range(2 * self.n_tiers)]
        self.nic_direction += [self.first_row("nic_direction", ["nic"]) for _ in range(2)]
        self.counts.subs += 1
        return number

    def segments(self, sub: Any, owner: Any) -> list[Any]:
        """Return the own memory of its transport for each place of the ring of a subflow; none without fields."""
        if sub.id not in self.segment_rows:
            fields = self.state.own.layouts["segment"].records[owner].dtype.names
            make = partial(self.first_row, "segment", [owner])
            self.segment_rows[sub.id] = [make()[owner] for _ in range(sub.ring_mask + 1)] if fields else []
        return self.segment_rows[sub.id]

    @staticmethod
    def grown(table: list[int], length: int) -> list[int]:
        """Return a table of numbers that has at least `length` of them."""
        if len(table) < length:
            table += [0] * (length - len(table))
        return table

    def ports_now(self) -> Table:
        """Return the records of ports as an array."""
        ports = np.zeros(len(self.ports), records.PORT)
        fill(ports, self.ports)
        return ports

    def take_snapshot(self) -> None:
        """Keep the counters at the end of the warm-up."""
        flows, subs = np.zeros(len(self.flows), records.FLOW), np.zeros(len(self.subs), records.SUBFLOW)
        fill(flows, self.flows)
        fill(subs, self.subs)
        self.state.warm = Snapshot(self.ports_now(), delivered_segments(flows, subs))

    def finished(self) -> RawRecords:
        """Return the records as arrays."""
        state, counters = self.state, self.counts
        counters.trace, counters.probes = len(self.trace), len(self.probes)
        state.subs = np.zeros(len(self.subs), records.SUBFLOW)
        for table, objects in ((state.subs, self.subs), (state.flows, self.flows), (state.ports, self.ports)):
            fill(table, objects)
        fill(state.counters, self.counters)
        state.queue_counts[:], state.extents[:] = self.queue_counts, self.extents
        state.trace = np.array(self.trace, records.TRACE)
        state.probes = np.array(self.probes, records.PROBE)
        self._return_memory()
        return state.finished()

    def _return_memory(self) -> None:
        """Write own memory back into its tables, but for that of packets and of segments in flight."""
        own = self.state.own
        for name, layout in own.layouts.items():
            if name in ("packet", "segment") or not layout.row_bytes:
                continue
            rows = [self.units[i] for i in range(self.counts.units)] if name == "unit" else getattr(self, name)
            if name in ("unit", "balancer_path"):
                rows = [{_part(name, owner): each for owner in layout.records} for each in rows]
            own.tables[name] = np.zeros(len(rows) * layout.row_bytes, np.uint8)
            for owner in layout.records:
                _write(own.records(name, owner), [row.get(_part(name, owner)) for row in rows])


def _part(name: str, owner: Any) -> Any:
    """Return what stands for the part of an owner in a row: balancer, queue and NIC have tables of their own."""
    return 0 if name.startswith(tuple(f"{role}_" for role in NETWORK_ROLES)) else owner


def _objects_of(table: Table, make: Any) -> list[Any]:
    return [make(row) for row in table]


def _write(table: Table, objects: list[Any]) -> None:
    for name in table.dtype.names or ():
        for index, each in enumerate(objects):
            if each is not None:
                table[name][index] = getattr(each, name)


assert set(HOOKS) == {name for role in (*HOST_ROLES, *NETWORK_ROLES) for name in hooks_of(role)}

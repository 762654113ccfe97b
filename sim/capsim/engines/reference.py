"""The reference engine: SimPy, to be read top to bottom and stepped through.

Everything that happens is an event with a time and the priority that :mod:`capsim.engines.events` gives it; what then
happens is a method that the event calls. Events and ports are in :mod:`~capsim.engines.reference_ports`; the network
that holds all of it is here, with its records as objects. What hosts and switches do with a packet is in
:mod:`capsim.engines.hosts`: those functions run as they stand there, and call the hooks of protocols as these stand in
their files. :mod:`capsim.engines` says what is shared with the compiled engine.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import simpy

from capsim import records
from capsim.base.objects import fill, objects_of, slotted, write_back
from capsim.engines import events
from capsim.engines.asking import payload_of
from capsim.engines.hosts import handlers
from capsim.engines.hosts.handlers import deliver, start, wake
from capsim.engines.hosts.primitives import StackObject, hold, on_sent
from capsim.engines.hosts.queue_counts import has_data
from capsim.engines.initial_state import initial_state
from capsim.engines.probes import plan
from capsim.engines.reference_ports import Event, Port
from capsim.engines.state import (
    TRACE_DROPS,
    TRACE_PACKETS,
    RawRecords,
    Setup,
    Snapshot,
    delivered_segments,
)
from capsim.records import ARRIVED, CORRUPTED, DROPPED, NONE
from capsim.roles.hooks import HOST_ROLES, NETWORK_ROLES
from capsim.roles.own import OWN, Table

PROGRESS_TRAVERSALS = 50_000


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


class Records:
    """All records of a run as objects with slots, under the names that the code of hosts uses."""

    queue: Any
    queue_port: Any
    balancer_port: Any
    tie_seed: int
    jitter_seed: int

    def __init__(self, setup: Setup, *, strict: bool = False):
        self.setup, self._slotted = setup, partial(slotted, strict=strict)
        self.blank: dict[str, Any] = {}
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
        return objects_of(table, self._slotted(table.dtype))

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
            hold(self, role, getattr(scheme, role))
        self.balancer_packet = "balancer"

    def _make_memory(self) -> None:
        """Make own state: a table is a list of rows, a row maps owners to objects."""
        own = self.state.own
        self._makers = {
            (name, owner): self._slotted(record.dtype)
            for name, layout in own.layouts.items()
            for owner, record in layout.records.items()
        }
        self._blank_rows: dict[str, dict[Any, Any]] = {}  # of tables without fields: one row for all
        for name, layout in own.layouts.items():
            owners = list(layout.records)
            columns = [objects_of(own.records(name, owner), self._makers[name, owner]) for owner in owners]
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
            self.balancer_path = objects_of(
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
        """Return a row of own state with its first values."""
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
        """Return the own state of one owner in a row of table `name`."""
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
        """Return the own state of its transport for each place of the ring of a subflow; none without fields."""
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
        """Write own state back into its tables, but for that of packets and of segments in flight."""
        own = self.state.own
        for name, layout in own.layouts.items():
            if name in ("packet", "segment") or not layout.row_bytes:
                continue
            rows = [self.units[i] for i in range(self.counts.units)] if name == "unit" else getattr(self, name)
            if name in ("unit", "balancer_path"):
                rows = [{_part(name, owner): each for owner in layout.records} for each in rows]
            own.tables[name] = np.zeros(len(rows) * layout.row_bytes, np.uint8)
            for owner in layout.records:
                write_back(own.records(name, owner), [row.get(_part(name, owner)) for row in rows])


def _part(name: str, owner: Any) -> Any:
    """Return what stands for the part of an owner in a row: balancer, queue and NIC have tables of their own."""
    return 0 if name.startswith(tuple(f"{role}_" for role in NETWORK_ROLES)) else owner


class Network(Records):
    """Ports, hosts and switches of a run; the code of hosts knows it as ``w``."""

    def __init__(self, setup: Setup, *, strict: bool = False):
        super().__init__(setup, strict=strict)
        self.env: Any = simpy.Environment()  # its time is an int: it begins at one and moves by ints
        self.events = self.transmissions = 0
        self.done = simpy.Event(self.env)
        self.payload = payload_of(setup)
        self.armed: dict[tuple[int, int], int] = {}
        self.traces_packets = setup.trace == TRACE_PACKETS
        self.first_now, self.count_now = self.route_first[0], self.route_count[0]
        self.port_objects = [Port(self, record, number) for number, record in enumerate(self.ports)]
        self.schedule()

    def schedule(self) -> None:
        """Schedule what is known beforehand."""
        for index, time_ps in enumerate(self.state.epoch_ps.tolist()[1:], start=1):
            self.at(time_ps, events.EPOCH, 0, self.change_epoch, index)
        for number, flow in enumerate(self.flows[: self.n_starts]):
            self.at(flow.start_ps, events.START, number, self.start, number)
        if self.setup.probe_ps:
            self.at(self.setup.probe_ps, events.PROBE, 0, self.probe)
        if 0 < self.setup.warm_up_ps < self.setup.end_ps:
            self.at(self.setup.warm_up_ps, events.SNAPSHOT, 0, self.end_warm_up)

    def at(self, time_ps: int, kind: int, entity: int, action: Callable[..., None], *args: Any) -> None:
        """Call `action` at a time; hosts and flows that start are in the order of their numbers."""
        order = events.place(kind, entity) if kind in (events.WORK, events.START) else None
        Event(self, kind, entity, lambda _: action(*args), order).at(time_ps)

    def next_transmission(self) -> int:
        """Return the number of a transmission that begins, from 1 on."""
        self.transmissions += 1
        return self.transmissions

    def tell(self, progress: Callable[[int], None]) -> None:
        """Call `progress` with the time once in `PROGRESS_TRAVERSALS` arrivals."""
        arrivals = count(1)

        def arrive(port: Port, event: simpy.Event) -> None:
            port.arrive(event)
            if next(arrivals) % PROGRESS_TRAVERSALS == 0:
                progress(self.env.now)

        for port in self.port_objects:
            port.arrival.action = partial(arrive, port)

    def simulate(self) -> None:
        """Run until all is done or the time is over."""
        self.at(self.setup.end_ps, events.END, 0, self.end)
        if self.flows:
            self.env.run(until=self.done)
        self.counts.now_ps, self.counts.events = int(self.env.now), self.events
        self.counts.in_flight = self.in_flight()
        self.counts.traversals = sum(port.packets_arrived for port in self.ports)
        for port in self.port_objects:
            port.settle()

    def end_warm_up(self) -> None:
        """Keep the counters as they are now, with what is in queues."""
        for port in self.port_objects:
            port.settle()
        self.take_snapshot()

    def start(self, f: int) -> None:
        """Begin a flow."""
        self.counts.next_start += 1
        start(self, f, self.env.now)
        self.check_done()

    def deliver(self, packet: Any, now_ps: int) -> None:
        """Give a packet to the host that it has reached."""
        if self.payload is not None and has_data(packet):
            self.weigh(packet)
        deliver(self, packet.number, now_ps)
        self.check_done()

    def lose(self, packet: Any, port: Port) -> None:
        """Lose a packet at the far end of its link."""
        port.record.packets_lost += 1
        port.record.bytes_lost += packet.bytes
        self.subs[packet.sub].packets_dropped += 1
        if self.setup.trace >= TRACE_DROPS:
            self.trace_packet(DROPPED, CORRUPTED, port, packet)
        self.free_packet(packet.number)
        self.check_done()

    def note_sent(self, packet: Any, now_ps: int) -> None:
        """Tell a transport that asks for it that the NIC of its host takes a packet with data, or has dropped it."""
        sub = self.subs[packet.sub]
        if has_data(packet) and self.stacks[sub.stack].on_sent != 0:
            on_sent(self, sub.id, packet.number, now_ps)

    def weigh(self, packet: Any) -> None:
        """Compute what a packet is worth to its receiver."""
        sub = self.subs[packet.sub]
        if self.payload.codes(sub.stack):
            coder = self.subflow[sub.id][sub.stack, "layer"]
            option = self.packet[packet.number].get((sub.stack, "layer"))
            packet.stale = self.payload.stale(packet, sub.stack, sub.flow, coder, self.units, option)

    def drop(self, packet: Any, reason: int, port: Port | None = None) -> None:
        """Drop a packet."""
        self.subs[packet.sub].packets_dropped += 1
        if port is None:
            self.counts.unroutable += 1
        else:
            port.record.packets_dropped += 1
            port.record.bytes_dropped += packet.bytes
            if port.stamps:
                self.note_sent(packet, self.env.now)
        if self.setup.trace >= TRACE_DROPS:
            self.trace_packet(DROPPED, reason, port, packet)
        self.free_packet(packet.number)
        self.check_done()

    def free_packet(self, number: int) -> None:
        """Take a packet out of the network."""
        self.unused.append(number)

    def check_done(self) -> None:
        """End the run when all counted flows are complete, or all flows that can begin and the network is empty."""
        counts = self.counts
        if counts.awaited == 0:
            self.end()
        if counts.open_subs or counts.due or self.in_flight():
            return
        if counts.next_start == self.n_starts:
            self.end()

    def end(self) -> None:
        """Let the run stop after this event."""
        if not self.done.triggered:
            self.done.succeed()

    def trace_packet(self, what: int, reason: int, port: Port | None, packet: Any) -> None:
        """Write a line of the packet trace."""
        number = NONE if port is None else port.number
        queue_packets = 0 if port is None or what == ARRIVED or reason == CORRUPTED else port.record.queue_packets
        line = (self.env.now, what, reason, number, packet.sub, packet.kind, packet.flags, packet.segment)
        self.trace.append((*line, packet.ack, packet.bytes, queue_packets))

    def deadline_ps(self, kind: int, number: int) -> int:
        """Return when a subflow or flow is to be woken, or NONE."""
        if kind == events.MANAGE:
            return int(self.flows[number].wake_ps)
        sub = self.subs[number]
        return int(
            sub.timer_ps if kind == events.TIMEOUT else sub.send_wake_ps if kind == events.SEND else sub.receive_wake_ps
        )

    def arm(self, s: int) -> None:
        """Set the timers of a subflow."""
        sub = self.subs[s]
        self.set_timer(events.TIMEOUT, s, sub.timer_ps)
        if sub.send_wake_ps != NONE:
            self.set_timer(events.SEND, s, sub.send_wake_ps)
        if sub.receive_wake_ps != NONE:
            self.set_timer(events.RECEIVE, s, sub.receive_wake_ps)

    def arm_flow(self, f: int) -> None:
        """Set the timer of a flow."""
        self.set_timer(events.MANAGE, f, self.flows[f].wake_ps)

    def arm_processor(self, h: int) -> None:
        """Set when the processor of a host is done with the first packet of its chain, if there is one."""
        first = self.processors[h].head
        if first != NONE:
            self.at(self.packets[first].arrive_ps, events.WORK, h, self.finish_work, h)

    def finish_work(self, h: int) -> None:
        """Pass on the packet that the processor of a host is done with."""
        wake(self, handlers.WORK, h, self.env.now)
        self.check_done()

    def set_timer(self, kind: int, number: int, deadline_ps: int) -> None:
        """Set a timer, unless it is off; one that is armed too early is left, and set anew when it fires."""
        if deadline_ps != NONE and not NONE < self.armed.get((kind, number), NONE) <= deadline_ps:
            self.armed[kind, number] = deadline_ps
            self.at(deadline_ps, kind, number, self.fire, kind, number, deadline_ps)

    def fire(self, kind: int, number: int, set_ps: int) -> None:
        """Act on a timer if its deadline has not moved."""
        if self.armed[kind, number] != set_ps:
            return  # it was brought forward, and this event is of before
        self.armed[kind, number] = NONE
        deadline_ps = self.deadline_ps(kind, number)
        if deadline_ps != self.env.now:
            self.set_timer(kind, number, deadline_ps)
            return
        wake(self, events.WAKES.index(kind), number, self.env.now)
        self.check_done()

    def change_epoch(self, index: int) -> None:
        """Change routes, and take links down and up."""
        self.first_now, self.count_now = self.route_first[index], self.route_count[index]
        for port, up in zip(self.port_objects, self.state.port_up[index].tolist(), strict=True):
            if port.record.up and not up:
                port.fail()
            port.record.up = int(up)

    def probe(self) -> None:
        """Sample all that is watched."""
        for index, watch in enumerate(self.watches):
            if watch.per_sub == 0:
                self.sample(index, watch, NONE, watch.row)
                continue
            number = self.flows[watch.flow].first_sub
            while number != NONE:
                self.sample(index, watch, number, number * watch.per_sub + watch.row)
                number = self.subs[number].next_sub
        self.at(self.env.now + self.setup.probe_ps, events.PROBE, 0, self.probe)

    def sample(self, index: int, watch: Any, sub: int, row: int) -> None:
        """Copy one number out of its row."""
        field = self.plan.fields[watch.field]
        if field.table == "ports":
            self.port_objects[row].write_sums()
        record = self.owned(field.table, row, field.owner) if field.owner else getattr(self, field.table)[row]
        self.probes.append((self.env.now, index, sub, field.value(record)))


def run(setup: Setup, *, progress: Callable[[int], None] | None = None, strict: bool = False) -> RawRecords:
    """Simulate `setup` and return its records.

    Parameters
    ----------
    setup : Setup
        All that the run depends on.
    progress : callable, optional
        Called with the simulated time, in picoseconds, now and then.
    strict : bool
        Whether records refuse values that those of the compiled engine could not hold
        (:func:`capsim.base.objects.slotted`); for tests of hooks.
    """
    network = Network(setup, strict=strict)
    if progress is not None:
        network.tell(progress)
    network.simulate()
    return network.finished()

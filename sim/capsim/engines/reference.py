"""The reference engine: SimPy, to be read top to bottom and stepped through.

Events in their total order and the ports are in :mod:`~capsim.engines.reference_ports`, the network that holds all of
it is here; :mod:`~capsim.engines.reference_records` only makes the records. What hosts and switches do with a packet is
in :mod:`capsim.engines.hosts`.

Everything that happens is an event with a time and the priority that :mod:`capsim.engines.events` gives it; what then
happens is a method that the event calls.
"""

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import simpy

from capsim.engines import reference_hosts
from capsim.engines.asking import payload_of
from capsim.engines.events import (
    END,
    EPOCH,
    MANAGE,
    PROBE,
    RECEIVE,
    SEND,
    SNAPSHOT,
    START,
    TIMEOUT,
    WAKES,
    WORK,
)
from capsim.engines.hosts import handlers
from capsim.engines.hosts.queue_counts import has_data
from capsim.engines.reference_ports import Environment, Event, OrderedEvent, Port
from capsim.engines.reference_records import Records
from capsim.engines.state import TRACE_DROPS, TRACE_PACKETS, RawRecords, Setup
from capsim.records import (
    ARRIVED,
    CORRUPTED,
    DROPPED,
    NONE,
)

PROGRESS_TRAVERSALS = 50_000


class Network(Records):
    """Ports, hosts and switches of a run; the code of hosts knows it as ``w``."""

    def __init__(self, setup: Setup, *, strict: bool = False):
        super().__init__(setup, strict=strict)
        self.env = Environment(0)
        self.env.tie_seed = self.tie_seed
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
            self.at(time_ps, EPOCH, 0, self.change_epoch, index)
        for number, flow in enumerate(self.flows[: self.n_starts]):
            self.at(flow.start_ps, START, number, self.start, number)
        if self.setup.probe_ps:
            self.at(self.setup.probe_ps, PROBE, 0, self.probe)
        if 0 < self.setup.warm_up_ps < self.setup.end_ps:
            self.at(self.setup.warm_up_ps, SNAPSHOT, 0, self.end_warm_up)

    def at(self, time_ps: int, kind: int, entity: int, action: Callable[..., None], *args: Any) -> None:
        """Call `action` at a time; hosts and flows that start are in the order of their numbers."""
        event = (OrderedEvent if kind in (WORK, START) else Event)(self.env, kind, entity)
        event.callbacks.append(lambda _: action(*args))
        event.at(time_ps)

    def tell(self, progress: Callable[[int], None]) -> None:
        """Call `progress` with the time once in `PROGRESS_TRAVERSALS` arrivals."""
        arrivals = count(1)

        def arrive(port: Port, event: simpy.Event) -> None:
            port.arrive(event)
            if next(arrivals) % PROGRESS_TRAVERSALS == 0:
                progress(self.env.now)

        for port in self.port_objects:
            port.arrival.callbacks = [partial(arrive, port)]

    def simulate(self) -> None:
        """Run until all is done or the time is over."""
        self.at(self.setup.end_ps, END, 0, self.end)
        if self.flows:
            self.env.run(until=self.done)
        # SimPy numbers what is to happen; `done`, which ends the run, is no event of the network
        self.counts.now_ps, self.counts.events = self.env.now, next(self.env._eid) - self.done.triggered
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
        reference_hosts.start(self, f, self.env.now)
        self.check_done()

    def deliver(self, packet: Any, now_ps: int) -> None:
        """Give a packet to the host that it has reached."""
        if self.payload is not None and has_data(packet):
            self.weigh(packet)
        reference_hosts.deliver(self, packet.number, now_ps)
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
            reference_hosts.on_sent(self, sub.id, packet.number, now_ps)

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
        """End the run when every flow that can begin has, every subflow has finished and the network is empty."""
        counts = self.counts
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
        if kind == MANAGE:
            return int(self.flows[number].wake_ps)
        sub = self.subs[number]
        return int(sub.timer_ps if kind == TIMEOUT else sub.send_wake_ps if kind == SEND else sub.receive_wake_ps)

    def arm(self, s: int) -> None:
        """Set the timers of a subflow."""
        sub = self.subs[s]
        self.set_timer(TIMEOUT, s, sub.timer_ps)
        if sub.send_wake_ps != NONE:
            self.set_timer(SEND, s, sub.send_wake_ps)
        if sub.receive_wake_ps != NONE:
            self.set_timer(RECEIVE, s, sub.receive_wake_ps)

    def arm_flow(self, f: int) -> None:
        """Set the timer of a flow."""
        self.set_timer(MANAGE, f, self.flows[f].wake_ps)

    def arm_processor(self, h: int) -> None:
        """Set when the processor of a host is done with the first packet of its chain, if there is one."""
        first = self.processors[h].head
        if first != NONE:
            self.at(self.packets[first].arrive_ps, WORK, h, self.finish_work, h)

    def finish_work(self, h: int) -> None:
        """Pass on the packet that the processor of a host is done with."""
        reference_hosts.wake(self, handlers.WORK, h, self.env.now)
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
        reference_hosts.wake(self, WAKES.index(kind), number, self.env.now)
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
        self.at(self.env.now + self.setup.probe_ps, PROBE, 0, self.probe)

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
        (:func:`capsim.engines.reference_records.slotted`); for tests of hooks.
    """
    network = Network(setup, strict=strict)
    if progress is not None:
        network.tell(progress)
    network.simulate()
    return network.finished()

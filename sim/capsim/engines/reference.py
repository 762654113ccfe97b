"""The reference engine: SimPy, a process per port and per host, to be read top to bottom and stepped through.

Read :mod:`~capsim.engines.reference_ports` first, then this file; :mod:`~capsim.engines.reference_records` only makes
the records. What hosts and switches do with a packet is in :mod:`~capsim.engines.hosts` and
:mod:`~capsim.engines.switches`.

Everything that happens is an event with a time and the priority that :mod:`capsim.engines.events` gives it; SimPy's
own zero-delay wakes have lower numbers, so a process that is woken acts before the next event of the same time.
"""

from collections.abc import Callable, Generator
from typing import Any

import simpy

from capsim.engines import hosts, switches
from capsim.engines.asking import payload_of
from capsim.engines.events import END, EPOCH, MANAGE, PROBE, RECEIVE, SEND, SNAPSHOT, START, TIMEOUT, WAKES, WORK
from capsim.engines.faults import error_of
from capsim.engines.reference_ports import At, Environment, Port
from capsim.engines.reference_records import Records
from capsim.randomness import uniform
from capsim.records import ARRIVED, CODED, CORRUPTED, DATA, DROPPED, NONE
from capsim.state import TRACE_DROPS, TRACE_PACKETS, RawRecords, Setup

PROGRESS_TRAVERSALS = 50_000


class Host:
    """An end host: takes packet after packet."""

    def __init__(self, network: "Network"):
        self.network, self.env = network, network.env
        self.arrival = self.env.event()
        self.env.process(self.run())

    def run(self) -> Generator[simpy.Event, Any, None]:
        """Take packet after packet."""
        while True:
            packet = yield self.arrival
            self.arrival = self.env.event()
            hosts.deliver(self.network, packet.number, self.env.now)
            self.network.check_done()


class Network(Records):
    """Ports, hosts and switches of a run; the code of hosts knows it as ``w``."""

    def __init__(self, setup: Setup, *, strict: bool = False):
        super().__init__(setup, strict=strict)
        self.progress: Callable[[int], None] | None = None
        self.env = Environment(0)
        self.env.tie_seed = self.tie_seed
        self.done = self.env.event()
        self.payload = payload_of(setup)
        self.armed: dict[tuple[int, int], int] = {}
        self.epoch = 0
        self.port_objects = [Port(self, record, number) for number, record in enumerate(self.ports)]
        self.hosts = [Host(self) for _ in setup.fabric.host_port]
        self.schedule()

    def schedule(self) -> None:
        """Schedule what is known beforehand."""
        for index, time_ps in enumerate(self.state.epoch_ps.tolist()[1:], start=1):
            At(self.env, time_ps, EPOCH, 0).then(self.change_epoch, index)
        for number, flow in enumerate(self.flows):
            At(self.env, flow.start_ps, START, number).then(self.start, number)
        if self.setup.probe_ps:
            At(self.env, self.setup.probe_ps, PROBE, 0).then(self.probe)
        if 0 < self.setup.warm_up_ps < self.setup.end_ps:
            At(self.env, self.setup.warm_up_ps, SNAPSHOT, 0).then(self.end_warm_up)

    def simulate(self) -> None:
        """Run until all is done or the time is over."""
        At(self.env, self.setup.end_ps, END, 0).then(self.end)
        if self.flows:
            self.env.run(until=self.done)
        self.counters[0].now_ps, self.counters[0].events = self.env.now, self.env.events
        for port in self.port_objects:
            port.settle()

    def end_warm_up(self) -> None:
        """Keep the counters as they are now, with what is in queues."""
        sums = ("sojourn_ps", "sojourn_words", "sojourn_bytes_ns", "sojourn_bytes_words")
        before = [[getattr(port, name) for name in sums] for port in self.ports]
        for port in self.port_objects:
            port.settle()
        self.take_snapshot()
        for port, values in zip(self.ports, before, strict=True):
            for name, value in zip(sums, values, strict=True):
                setattr(port, name, value)

    def start(self, f: int) -> None:
        """Begin a flow."""
        self.counters[0].next_start += 1
        hosts.start(self, f, self.env.now)
        self.check_done()

    def arrive(self, port: Port, packet: Any) -> None:
        """Take a packet that has crossed a link to the switch or host at the far end."""
        port.record.packets_arrived += 1
        self.counters[0].traversals += 1
        if self.progress is not None and self.counters[0].traversals % PROGRESS_TRAVERSALS == 0:
            self.progress(self.env.now)
        if self.lost(port.record):
            self.lose(packet, port)
            return
        if self.setup.trace == TRACE_PACKETS:
            self.trace_packet(ARRIVED, 0, port, packet)
        node = port.record.to_node
        if node < self.n_hosts:
            if self.payload is not None and packet.kind in (DATA, CODED):
                self.weigh(packet)
            self.hosts[node].arrival.succeed(packet)
            return
        switches.forward(self, node, packet.number, self.env.now)
        if self.fault:
            raise error_of(self.fault, self.setup, path=self.refused_path, count=self.refused_of)

    def lost(self, port: Any) -> bool:
        """Return whether the packet that has just crossed a link is lost."""
        return port.loss_prob > 0 and uniform(port.stream, port.packets_arrived) < port.loss_prob

    def lose(self, packet: Any, port: Port) -> None:
        """Lose a packet at the far end of its link."""
        port.record.packets_lost += 1
        port.record.bytes_lost += packet.bytes
        self.subs[packet.sub].packets_dropped += 1
        if self.setup.trace >= TRACE_DROPS:
            self.trace_packet(DROPPED, CORRUPTED, port, packet)
        self.free_packet(packet.number)
        self.check_done()

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
            self.counters[0].unroutable += 1
        else:
            port.record.packets_dropped += 1
            port.record.bytes_dropped += packet.bytes
        if self.setup.trace >= TRACE_DROPS:
            self.trace_packet(DROPPED, reason, port, packet)
        self.free_packet(packet.number)
        self.check_done()

    def free_packet(self, number: int) -> None:
        """Take a packet out of the network."""
        self.counters[0].in_flight -= 1
        self.unused.append(number)

    def check_done(self) -> None:
        """End the run when every flow has begun, every subflow has finished and the network is empty."""
        counters = self.counters[0]
        if counters.next_start == self.n_flows and not counters.open_subs and not counters.in_flight:
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
        return int({TIMEOUT: sub.timer_ps, SEND: sub.send_wake_ps, RECEIVE: sub.receive_wake_ps}[kind])

    def arm(self, s: int) -> None:
        """Set the timers of a subflow."""
        for kind in (TIMEOUT, SEND, RECEIVE):
            self.set_timer(kind, s)

    def arm_flow(self, f: int) -> None:
        """Set the timer of a flow."""
        self.set_timer(MANAGE, f)

    def arm_processor(self, h: int) -> None:
        """Set when the processor of a host is done with the first packet of its chain, if there is one."""
        first = self.processors[h].head
        if first != NONE:
            At(self.env, self.packets[first].arrive_ps, WORK, h).then(self.finish_work, h)

    def finish_work(self, h: int) -> None:
        """Pass on the packet that the processor of a host is done with."""
        hosts.wake(self, hosts.WORK, h, self.env.now)
        self.check_done()

    def set_timer(self, kind: int, number: int) -> None:
        """Set a timer; one that is armed too early is left, and set anew when it fires."""
        deadline_ps, armed_ps = self.deadline_ps(kind, number), self.armed.get((kind, number), NONE)
        if deadline_ps != NONE and not NONE < armed_ps <= deadline_ps:
            self.armed[kind, number] = deadline_ps
            At(self.env, deadline_ps, kind, number).then(self.fire, kind, number, deadline_ps)

    def fire(self, kind: int, number: int, set_ps: int) -> None:
        """Act on a timer if its deadline has not moved."""
        if self.armed[kind, number] != set_ps:
            return  # it was brought forward, and this event is of before
        self.armed[kind, number] = NONE
        if self.deadline_ps(kind, number) != self.env.now:
            self.set_timer(kind, number)
            return
        hosts.wake(self, WAKES.index(kind), number, self.env.now)
        self.check_done()

    def change_epoch(self, index: int) -> None:
        """Change routes, and take links down and up."""
        self.epoch = index
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
        At(self.env, self.env.now + self.setup.probe_ps, PROBE, 0).then(self.probe)

    def sample(self, index: int, watch: Any, sub: int, row: int) -> None:
        """Copy one number out of its row."""
        field = self.plan.fields[watch.field]
        record = self.owned(field.table, row, field.owner) if field.owner else getattr(self, field.table)[row]
        self.probes.append((self.env.now, index, sub, field.value(record)))


def run(setup: Setup, *, progress: Callable[[int], None] | None = None, strict: bool = False) -> RawRecords:
    """Simulate `setup` and return its records.

    Parameters
    ----------
    setup : Setup
        All that the run depends on.
    progress : callable, optional
        Told the simulated time, in picoseconds, now and then.
    strict : bool
        Whether records refuse values that those of the compiled engine could not hold (:func:`capsim.slotted.slotted`);
        for tests of hooks.
    """
    network = Network(setup, strict=strict)
    network.progress = progress
    network.simulate()
    return network.finished()

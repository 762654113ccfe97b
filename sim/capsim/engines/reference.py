"""The reference engine: SimPy, to be read top to bottom and stepped through.

First come events in their total order and the ports, then the network that holds all of it.
:mod:`~capsim.engines.reference_records` only makes the records. What hosts and switches do with a packet is in
:mod:`capsim.engines.hosts`.

Everything that happens is an event with a time and the priority that :mod:`capsim.engines.events` gives it; what then
happens is a method that the event calls.
"""

from collections import deque
from collections.abc import Callable
from functools import cache, partial
from heapq import heappush
from itertools import chain
from operator import attrgetter
from typing import Any

import simpy

from capsim.base.bounds import BACKLOG_PS
from capsim.base.clock import serialisation_ps
from capsim.base.randomness import uniform
from capsim.engines.asking import payload_of
from capsim.engines.events import (
    ARRIVE,
    DEPART,
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
    in_turn,
    priority,
    priority_of_port,
)
from capsim.engines.faults import BACKLOG, error_of
from capsim.engines.hosts import handlers, switches
from capsim.engines.hosts.host_jitter import send_delay_ps
from capsim.engines.hosts.primitives import rank
from capsim.engines.hosts.queue_counts import count_leaving, count_sojourn
from capsim.engines.reference_records import Records
from capsim.engines.state import TRACE_DROPS, TRACE_PACKETS, RawRecords, Setup
from capsim.records import (
    ARRIVED,
    BY_ARRIVAL,
    BY_PRIORITY,
    BY_RANK,
    CODED,
    CONGESTION_EXPERIENCED,
    CORRUPTED,
    DATA,
    DROPPED,
    ENQUEUED,
    EVICTED,
    LINK_DOWN,
    NONE,
    QUEUE_FULL,
)
from capsim.roles.hooks import ACCEPT, EVICT, MARK, REFUSE, has_room


class Environment(simpy.Environment):
    """SimPy's, with whole picoseconds; counts events that have a kind, and transmissions."""

    events = 0
    tie_seed = 0
    transmissions = 0
    now = property(attrgetter("_now"))  # an int: the time begins at one and moves by ints

    def next_transmission(self) -> int:
        """Return the number of a transmission that begins, from 1 on."""
        self.transmissions += 1
        return self.transmissions


class At(simpy.Event):
    """An event at a given time, with the kind and entity that order it among others of that time."""

    def __init__(self, env: Environment, time_ps: int, kind: int, entity: int):
        # As simpy.Timeout does it: the event has a value from the beginning.
        env.events += 1
        self.env, self.callbacks, self._ok, self._value = env, [], True, None
        order = priority(kind, entity, time_ps, env.tie_seed)
        heappush(env._queue, (time_ps, order, next(env._eid), self))  # type: ignore[misc]  # any int will do

    def then(self, action: Callable[..., Any], *args: Any) -> None:
        """Call `action` when the event happens."""
        self.callbacks.append(lambda _: action(*args))


class Repeated(simpy.Event):
    """The departures of a port, or its arrivals: one event that happens at each of the times given to `at`.

    SimPy takes the callbacks of what happens, so `action` begins by giving them back: ``callbacks = actions``.
    """

    env: Environment

    def __init__(self, env: Environment, kind: int, port: int, action: Callable[[simpy.Event], None]):
        self.env, self._ok, self._value = env, True, None
        self.actions = self.callbacks = [action]
        self.priority = priority_of_port(kind, port, env.tie_seed)

    def at(self, time_ps: int, transmission: int) -> None:
        """Let it happen at a time, for transmission number `transmission`, which is 0 where ties are hashed."""
        env = self.env
        env.events += 1
        order = in_turn(transmission) if transmission else self.priority(time_ps)
        heappush(env._queue, (time_ps, order, next(env._eid), self))  # type: ignore[misc]  # any int will do


class Port:
    """A directed link: queue, serialiser, propagation delay.

    `admit`, `take` and `evict` are the hooks of the queue discipline, given all that stays the same from call to call.
    What waits is sorted by `PACKET.rank`, where the port does not send in order of arrival.
    """

    def __init__(self, network: "Network", record: Any, number: int):
        self.network, self.record, self.number = network, record, number
        self.env, self.setup = network.env, network.setup
        self.has_jitter = bool(self.setup.host_jitter_ps and record.of_host)
        rate_bps, link_bytes = record.rate_bps, self.setup.link_bytes
        self.link_time_ps = cache(lambda packet_bytes: serialisation_ps(packet_bytes + link_bytes, rate_bps))
        self.waiting: deque[Any] = deque()
        self.in_service: Any = None
        self.transmission = 0  # number of that of the packet in service; 0 where ties are hashed
        self.departure = Repeated(self.env, DEPART, number, self.depart)
        self.on_wire: deque[Any] = deque()
        self.arrival = Repeated(self.env, ARRIVE, number, partial(network.arrive, self))
        self.admit, self.take, self.evict = network.queue_hooks(record, number)
        if record.order == BY_RANK:
            self.take = None  # the first of all that wait is next

    def send(self, packet: Any, now_ps: int) -> None:
        """Begin to send a packet."""
        port, self.in_service = self.record, packet
        if self.setup.ordered:
            self.transmission = self.env.next_transmission()
        if port.order == BY_RANK:
            port.turn = max(port.turn, packet.rank)
        begin_ps = self.begin_ps(packet, port.packets_out, now_ps) if self.has_jitter else now_ps
        self.departure.at(begin_ps + self.link_time_ps(packet.bytes), self.transmission)

    def depart(self, _: simpy.Event) -> None:
        """Let the packet in service go, whose last bit has left, and send the next."""
        self.departure.callbacks = self.departure.actions
        port, packet, now_ps = self.record, self.in_service, self.env.now
        port.queue_packets -= 1
        port.queue_bytes -= packet.bytes
        port.packets_out += 1
        port.bytes_out += packet.bytes
        count_sojourn(port, packet, now_ps)
        if self.setup.histograms:
            self.count_waiting(packet, now_ps)
        self.on_wire.append(packet)
        self.arrival.at(now_ps + port.delay_ps, self.transmission)
        self.in_service = None
        if self.waiting:
            self.send(self.waiting.popleft() if self.take is None else self.taken(now_ps), now_ps)

    def count_waiting(self, packet: Any, now_ps: int) -> None:
        """Count in the histograms how long a packet waited that has been sent."""
        if now_ps > self.setup.warm_up_ps:
            flow = self.network.flows[self.network.subs[packet.sub].flow]
            waited_ps = now_ps - packet.enqueue_ps - self.link_time_ps(packet.bytes)
            count_leaving(self.network.queue_counts, self.record, packet, flow.short, waited_ps)

    def taken(self, now_ps: int) -> Any:
        """Return the waiting packet that the queue discipline takes."""
        self.link_waiting()
        packet = self.network.packets[self.take(now_ps)]
        self.waiting.remove(packet)
        return packet

    def link_waiting(self) -> None:
        """Chain the waiting packets, as hooks read them."""
        port, numbers = self.record, [NONE, *(packet.number for packet in self.waiting), NONE]
        for packet, before, behind in zip(self.waiting, numbers, numbers[2:], strict=False):
            packet.previous, packet.next = before, behind
        port.wait_head, port.wait_tail = numbers[1], numbers[-2]

    def wait(self, packet: Any) -> None:
        """Let a packet wait behind those of its own rank and smaller ones."""
        place = len(self.waiting)
        while place and self.waiting[place - 1].rank > packet.rank:
            place -= 1
        self.waiting.insert(place, packet)

    def victim(self, packet: Any) -> Any:
        """Return the waiting packet that makes room for `packet`, or None."""
        if not self.waiting or self.record.order == BY_ARRIVAL:
            return None
        if self.evict is None:
            return self.waiting[-1] if self.waiting[-1].priority > packet.priority else None
        self.link_waiting()
        number = self.evict(packet, self.env.now)
        return None if number == NONE else self.network.packets[number]

    def begin_ps(self, packet: Any, count: int, free_ps: int) -> int:
        """Return when a host's packet number `count` begins: when the port is free and the host has it ready."""
        delay_ps = send_delay_ps(self.setup.host_jitter_ps, self.network.jitter_seed, self.number, count)
        return max(free_ps, packet.enqueue_ps + delay_ps)

    def decision(self, packet: Any, now_ps: int) -> int:
        """Return what the queue discipline decides."""
        queue_packets, queue_bytes = self.record.queue_packets, self.record.queue_bytes
        if queue_packets and not self.setup.count_in_service:
            queue_packets -= 1
            queue_bytes -= self.in_service.bytes
        if self.admit is None:
            return ACCEPT if has_room(self.record, packet, queue_packets, queue_bytes) else REFUSE
        return int(self.admit(packet, queue_packets, queue_bytes, now_ps))

    def enqueue(self, packet: Any, now_ps: int) -> None:
        """Accept a packet or drop it."""
        port = self.record
        port.packets_in += 1
        port.bytes_in += packet.bytes
        if not port.up:
            return self.network.drop(packet, LINK_DOWN, self)
        decision = self.decision(packet, now_ps)
        while decision == EVICT and (lost := self.victim(packet)) is not None:
            self.waiting.remove(lost)
            self.drop_queued(lost, EVICTED)
            decision = self.decision(packet, now_ps)
        if decision in (REFUSE, EVICT):
            return self.network.drop(packet, QUEUE_FULL, self)
        if decision == MARK:
            packet.flags |= CONGESTION_EXPERIENCED
            port.packets_marked += 1
            self.network.subs[packet.sub].packets_marked += 1
        return self.join(packet, now_ps)

    def join(self, packet: Any, now_ps: int) -> None:
        """Let a packet join the queue, and send it if the port is free."""
        port = self.record
        if self.network.traces_packets:
            self.network.trace_packet(ENQUEUED, 0, self, packet)
        packet.enqueue_ps = now_ps
        port.queue_packets += 1
        port.queue_bytes += packet.bytes
        if port.queue_packets > port.max_queue_packets:
            port.max_queue_packets = port.queue_packets
        if port.queue_bytes > port.max_queue_bytes:
            port.max_queue_bytes = port.queue_bytes
        begin_ps = port.free_ps if port.free_ps > now_ps else now_ps
        if self.has_jitter:
            begin_ps = self.begin_ps(packet, port.packets_out + port.queue_packets - 1, begin_ps)
        port.free_ps = begin_ps + self.link_time_ps(packet.bytes)
        if port.free_ps > BACKLOG_PS:
            raise error_of(BACKLOG + self.number, self.setup)
        if port.order != BY_ARRIVAL:
            self.give_rank(packet, now_ps)
        if self.in_service is None:
            self.send(packet, now_ps)
        elif port.order == BY_ARRIVAL:
            self.waiting.append(packet)
        else:
            self.wait(packet)

    def give_rank(self, packet: Any, now_ps: int) -> None:
        """Say before which packets another one is sent."""
        if self.record.order == BY_PRIORITY:
            packet.rank = packet.priority
        elif self.record.order == BY_RANK:
            packet.rank = rank(self.network, self.number, packet.number, now_ps)

    def drop_queued(self, packet: Any, reason: int) -> None:
        """Drop a packet that had joined the queue."""
        count_sojourn(self.record, packet, self.env.now)
        self.record.free_ps -= self.link_time_ps(packet.bytes)
        self.record.queue_packets -= 1
        self.record.queue_bytes -= packet.bytes
        self.network.drop(packet, reason, self)

    def fail(self) -> None:
        """Drop all that is not sent yet; what is on the wire arrives."""
        if self.in_service is None:
            return
        packet, self.in_service = self.in_service, None
        self.departure.callbacks = []  # the one that is due does nothing
        self.departure = Repeated(self.env, DEPART, self.number, self.depart)
        self.drop_queued(packet, LINK_DOWN)
        while self.waiting:
            self.drop_queued(self.waiting.popleft(), LINK_DOWN)
        self.record.free_ps = self.env.now

    def settle(self) -> None:
        """Count what is in the queue at the end of the run."""
        for packet in chain(() if self.in_service is None else (self.in_service,), self.waiting):
            count_sojourn(self.record, packet, self.env.now)


PROGRESS_TRAVERSALS = 50_000


class Network(Records):
    """Ports, hosts and switches of a run; the code of hosts knows it as ``w``."""

    def __init__(self, setup: Setup, *, strict: bool = False):
        super().__init__(setup, strict=strict)
        self.progress: Callable[[int], None] | None = None
        self.env = Environment(0)
        self.env.tie_seed = self.tie_seed
        self.done = simpy.Event(self.env)
        self.payload = payload_of(setup)
        self.armed: dict[tuple[int, int], int] = {}
        self.epoch, self.traces_packets = 0, setup.trace == TRACE_PACKETS
        self.port_objects = [Port(self, record, number) for number, record in enumerate(self.ports)]
        self.schedule()

    def schedule(self) -> None:
        """Schedule what is known beforehand."""
        for index, time_ps in enumerate(self.state.epoch_ps.tolist()[1:], start=1):
            At(self.env, time_ps, EPOCH, 0).then(self.change_epoch, index)
        for number, flow in enumerate(self.flows[: self.n_starts]):
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
        self.counts.now_ps, self.counts.events = self.env.now, self.env.events
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
        self.counts.next_start += 1
        handlers.start(self, f, self.env.now)
        self.check_done()

    def arrive(self, port: Port, _: simpy.Event) -> None:
        """Take the packet that has crossed a link to the switch or host at the far end."""
        port.arrival.callbacks = port.arrival.actions
        link, packet, now_ps = port.record, port.on_wire.popleft(), self.env.now
        link.packets_arrived += 1
        self.counts.traversals += 1
        if self.progress is not None and self.counts.traversals % PROGRESS_TRAVERSALS == 0:
            self.progress(now_ps)
        if link.loss_prob > 0 and self.is_lost(port):
            self.lose(packet, port)
            return
        if self.traces_packets:
            self.trace_packet(ARRIVED, 0, port, packet)
        if link.to_node < self.n_hosts:
            if self.payload is not None and packet.kind in (DATA, CODED):
                self.weigh(packet)
            handlers.deliver(self, packet.number, now_ps)
            self.check_done()
            return
        switches.forward(self, link.to_node, packet.number, now_ps)
        if self.fault:
            raise error_of(self.fault, self.setup, path=self.refused_path, count=self.refused_of)

    def is_lost(self, port: Port) -> bool:
        """Return whether the packet that has just crossed a link is lost; the next one is lost more often if it is."""
        link = port.record
        lost = uniform(link.stream, link.packets_arrived) < link.loss_prob
        link.loss_prob = float(self.state.loss_after[port.number, int(lost)])
        return lost

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
            self.counts.unroutable += 1
        else:
            port.record.packets_dropped += 1
            port.record.bytes_dropped += packet.bytes
        if self.setup.trace >= TRACE_DROPS:
            self.trace_packet(DROPPED, reason, port, packet)
        self.free_packet(packet.number)
        self.check_done()

    def free_packet(self, number: int) -> None:
        """Take a packet out of the network."""
        self.counts.in_flight -= 1
        self.unused.append(number)

    def check_done(self) -> None:
        """End the run when every flow that can begin has, every subflow has finished and the network is empty."""
        counts = self.counts
        if counts.in_flight or counts.open_subs or counts.due:
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
            At(self.env, self.packets[first].arrive_ps, WORK, h).then(self.finish_work, h)

    def finish_work(self, h: int) -> None:
        """Pass on the packet that the processor of a host is done with."""
        handlers.wake(self, handlers.WORK, h, self.env.now)
        self.check_done()

    def set_timer(self, kind: int, number: int, deadline_ps: int) -> None:
        """Set a timer, unless it is off; one that is armed too early is left, and set anew when it fires."""
        if deadline_ps != NONE and not NONE < self.armed.get((kind, number), NONE) <= deadline_ps:
            self.armed[kind, number] = deadline_ps
            At(self.env, deadline_ps, kind, number).then(self.fire, kind, number, deadline_ps)

    def fire(self, kind: int, number: int, set_ps: int) -> None:
        """Act on a timer if its deadline has not moved."""
        if self.armed[kind, number] != set_ps:
            return  # it was brought forward, and this event is of before
        self.armed[kind, number] = NONE
        deadline_ps = self.deadline_ps(kind, number)
        if deadline_ps != self.env.now:
            self.set_timer(kind, number, deadline_ps)
            return
        handlers.wake(self, WAKES.index(kind), number, self.env.now)
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
        Called with the simulated time, in picoseconds, now and then.
    strict : bool
        Whether records refuse values that those of the compiled engine could not hold
        (:func:`capsim.engines.reference_records.slotted`); for tests of hooks.
    """
    network = Network(setup, strict=strict)
    network.progress = progress
    network.simulate()
    return network.finished()

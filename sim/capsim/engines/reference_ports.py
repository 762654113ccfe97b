"""The reference engine, part 1: events in their total order, and ports, each with a process that sends."""

from collections import deque
from collections.abc import Callable, Generator
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import simpy

from capsim.bounds import BACKLOG_PS
from capsim.clock import serialisation_ps
from capsim.engines import primitives
from capsim.engines.events import ARRIVE, DEPART, priority
from capsim.engines.faults import BACKLOG, error_of
from capsim.engines.histograms import count_leaving
from capsim.engines.host_jitter import send_delay_ps
from capsim.engines.queue_sums import count_sojourn
from capsim.hooks import EVICT, MARK, REFUSE
from capsim.records import CONGESTION_EXPERIENCED, ENQUEUED, EVICTED, LINK_DOWN, NONE, QUEUE_FULL
from capsim.state import TRACE_PACKETS

if TYPE_CHECKING:
    from capsim.engines.reference import Network

link_time_ps = cache(serialisation_ps)  # packets have few sizes


class Environment(simpy.Environment):
    """SimPy's, with whole picoseconds, counting the events that have a kind."""

    events = 0
    tie_seed = 0

    @property
    def now(self) -> int:
        """Return the time in picoseconds."""
        return self._now  # type: ignore[return-value]  # it begins at an int and moves by ints


class At(simpy.Event):
    """An event at a given time, with the kind and entity that order it among others of that time."""

    def __init__(self, env: Environment, time_ps: int, kind: int, entity: int):
        # As simpy.Timeout does it: the event has a value from the beginning.
        env.events += 1
        self.env, self.callbacks, self._ok, self._value = env, [], True, None
        order = priority(kind, entity, time_ps=time_ps, seed=env.tie_seed)
        env.schedule(self, order, time_ps - env.now)  # type: ignore[arg-type]  # any int will do

    def then(self, action: Callable[..., Any], *args: Any) -> None:
        """Call `action` when the event happens."""
        self.callbacks.append(lambda _: action(*args))


class Port:
    """A directed link: queue, serialiser, propagation delay."""

    def __init__(self, network: "Network", record: Any, number: int):
        self.network, self.record, self.number = network, record, number
        self.env, self.setup = network.env, network.setup
        self.waiting: deque[Any] = deque()
        self.in_service: Any = None
        self.work = self.env.event()
        self.process = self.env.process(self.run())

    def run(self) -> Generator[simpy.Event, Any, None]:
        """Send packet after packet."""
        while True:
            if self.in_service is None:
                self.work = self.env.event()
                yield self.work
            packet = self.in_service
            try:
                begin_ps = max(self.env.now, self.ready_ps(packet, self.record.packets_out))
                yield At(self.env, begin_ps + self.transmission_ps(packet), DEPART, self.number)
            except simpy.Interrupt:  # the link has failed
                continue
            self.leave_queue(packet)
            arrival = At(self.env, self.env.now + self.record.delay_ps, ARRIVE, self.number)
            arrival.then(self.network.arrive, self, packet)
            self.in_service = self.take_next()

    def take_next(self) -> Any:
        """Return the packet that is sent next."""
        if not self.waiting:
            return None
        if self.network.take == 0:
            return self.waiting.popleft()
        self.link_waiting()
        packet = self.network.packets[primitives.take(self.network, self.number, self.env.now)]
        self.waiting.remove(packet)
        return packet

    def link_waiting(self) -> None:
        """Chain the waiting packets, as hooks read them."""
        port, numbers = self.record, [NONE, *(packet.number for packet in self.waiting), NONE]
        for packet, before, behind in zip(self.waiting, numbers, numbers[2:], strict=False):
            packet.previous, packet.next = before, behind
        port.wait_head, port.wait_tail = numbers[1], numbers[-2]

    def wait(self, packet: Any) -> None:
        """Let a packet wait: behind all, or behind those of its own priority and better."""
        place = len(self.waiting)
        while self.setup.scheme.queue.by_priority and place and self.waiting[place - 1].priority > packet.priority:
            place -= 1
        self.waiting.insert(place, packet)

    def victim(self, packet: Any) -> Any:
        """Return the waiting packet that makes room for `packet`, or None."""
        if not self.waiting:
            return None
        if self.network.evict == 0:
            return self.waiting[-1] if self.waiting[-1].priority > packet.priority else None
        self.link_waiting()
        number = primitives.evict(self.network, self.number, packet.number, self.env.now)
        return None if number == NONE else self.network.packets[number]

    def transmission_ps(self, packet: Any) -> int:
        """Return the time that the packet occupies the link."""
        return link_time_ps(packet.bytes + self.setup.link_bytes, self.record.rate_bps)

    def ready_ps(self, packet: Any, count: int) -> int:
        """Return when the packet, sent as number `count` by this port, may leave at the earliest."""
        jitter_ps, enqueue_ps = self.setup.host_jitter_ps, int(packet.enqueue_ps)
        if jitter_ps == 0 or not self.record.of_host:
            return enqueue_ps
        return enqueue_ps + send_delay_ps(jitter_ps, self.network.jitter_seed, self.number, count)

    def leave_queue(self, packet: Any) -> None:
        """Count a packet that has been sent."""
        port = self.record
        port.queue_packets -= 1
        port.queue_bytes -= packet.bytes
        port.packets_out += 1
        port.bytes_out += packet.bytes
        count_sojourn(port, packet, self.env.now)
        if self.setup.histograms and self.env.now > self.setup.warm_up_ps:
            flow = self.network.flows[self.network.subs[packet.sub].flow]
            waited_ps = self.env.now - packet.enqueue_ps - self.transmission_ps(packet)
            count_leaving(self.network.queue_counts, port, packet, flow.short, waited_ps)

    def verdict(self, packet: Any) -> int:
        """Return the verdict of the queue discipline."""
        port = self.record
        queue_packets, queue_bytes = port.queue_packets, port.queue_bytes
        if queue_packets and not self.setup.count_in_service:
            queue_packets -= 1
            queue_bytes -= self.in_service.bytes
        args = (self.number, packet.number, queue_packets, queue_bytes, self.env.now)
        return int(primitives.admit(self.network, *args))

    def enqueue(self, packet: Any) -> None:
        """Accept a packet or drop it."""
        port = self.record
        port.packets_in += 1
        port.bytes_in += packet.bytes
        if not port.up:
            return self.network.drop(packet, LINK_DOWN, self)
        verdict = self.verdict(packet)
        while verdict == EVICT and (lost := self.victim(packet)) is not None:
            self.waiting.remove(lost)
            self.drop_queued(lost, EVICTED)
            verdict = self.verdict(packet)
        if verdict in (REFUSE, EVICT):
            return self.network.drop(packet, QUEUE_FULL, self)
        if verdict == MARK:
            packet.flags |= CONGESTION_EXPERIENCED
            port.packets_marked += 1
            self.network.subs[packet.sub].packets_marked += 1
        if self.setup.trace == TRACE_PACKETS:
            self.network.trace_packet(ENQUEUED, 0, self, packet)
        packet.enqueue_ps = self.env.now
        port.queue_packets += 1
        port.queue_bytes += packet.bytes
        port.max_queue_packets = max(port.max_queue_packets, port.queue_packets)
        port.max_queue_bytes = max(port.max_queue_bytes, port.queue_bytes)
        begin_ps = self.ready_ps(packet, port.packets_out + port.queue_packets - 1)
        port.free_ps = max(port.free_ps, begin_ps) + self.transmission_ps(packet)
        if port.free_ps > BACKLOG_PS:
            raise error_of(BACKLOG + self.number, self.setup)
        if self.in_service is None:
            self.in_service = packet
            self.work.succeed()
        else:
            self.wait(packet)
        return None

    def drop_queued(self, packet: Any, reason: int) -> None:
        """Drop a packet that had joined the queue."""
        count_sojourn(self.record, packet, self.env.now)
        self.record.free_ps -= self.transmission_ps(packet)
        self.record.queue_packets -= 1
        self.record.queue_bytes -= packet.bytes
        self.network.drop(packet, reason, self)

    def fail(self) -> None:
        """Drop all that is not sent yet; what is on the wire arrives."""
        if self.in_service is None:
            return
        packet, self.in_service = self.in_service, None
        self.process.interrupt()
        self.drop_queued(packet, LINK_DOWN)
        while self.waiting:
            self.drop_queued(self.waiting.popleft(), LINK_DOWN)
        self.record.free_ps = self.env.now

    def settle(self) -> None:
        """Count what is in the queue at the end of the run."""
        for packet in chain(() if self.in_service is None else (self.in_service,), self.waiting):
            count_sojourn(self.record, packet, self.env.now)

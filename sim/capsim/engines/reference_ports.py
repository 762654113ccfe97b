"""Events in their total order, and the ports, of the reference engine; :mod:`~capsim.engines.reference` is the rest."""

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
from capsim.engines.events import (
    ARRIVE,
    DEPART,
    in_turn,
    priority,
    priority_of_port,
)
from capsim.engines.faults import BACKLOG, error_of
from capsim.engines.hosts.host_jitter import send_delay_ps
from capsim.engines.hosts.primitives import rank
from capsim.engines.hosts.queue_counts import count_leaving, count_sojourn, has_data
from capsim.records import (
    BY_ARRIVAL,
    BY_PRIORITY,
    BY_RANK,
    CONGESTION_EXPERIENCED,
    CUT,
    ENQUEUED,
    EVICTED,
    HEADERS_FIRST,
    LINK_DOWN,
    NONE,
    QUEUE_FULL,
    TRIMMED,
)
from capsim.roles.hooks import ACCEPT, EVICT, MARK, REFUSE, TRIM, TRIM_LAST, has_room


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

    def let_happen(self, event: simpy.Event, time_ps: int, order: int) -> None:
        """Schedule an event at a time; `order` is its place among others of that time."""
        self.events += 1
        heappush(self._queue, (time_ps, order, next(self._eid), event))  # type: ignore[misc]  # any int will do


class At(simpy.Event):
    """An event at a given time, with the kind and entity that order it among others of that time."""

    def __init__(self, env: Environment, time_ps: int, kind: int, entity: int):
        # As simpy.Timeout does it: the event has a value from the beginning.
        self.env, self.callbacks, self._ok, self._value = env, [], True, None
        order = priority(kind, entity, time_ps, env.tie_seed)
        env.let_happen(self, time_ps, order)

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
        order = in_turn(transmission) if transmission else self.priority(time_ps)
        self.env.let_happen(self, time_ps, order)


class Port:
    """A directed link: queue, serialiser, propagation delay.

    `admit`, `take`, `leave` and `evict` are the hooks of the queue discipline, given what is the same at each call.
    What waits is sorted by `PACKET.rank`, where the port does not send in order of arrival.
    """

    def __init__(self, network: Any, record: Any, number: int):
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
        self.admit, self.take, self.leave, self.evict = network.queue_hooks(record, number)
        if record.order in (BY_ARRIVAL, BY_RANK):
            self.take = self.leave = None  # the first of all that wait is next

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
        if port.order == HEADERS_FIRST and has_data(packet):
            port.data_bytes -= packet.bytes
        count_sojourn(port, packet, now_ps)
        if self.setup.histograms:
            self.count_waiting(packet, now_ps)
        if self.leave is not None and self.leave(packet, now_ps) == MARK:
            self.mark(packet)
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
        while decision >= EVICT and self.makes_room(packet, decision, now_ps):
            decision = self.decision(packet, now_ps)
        if decision in (REFUSE, EVICT, TRIM, TRIM_LAST):
            return self.network.drop(packet, QUEUE_FULL, self)
        if decision == MARK:
            self.mark(packet)
        return self.join(packet, now_ps)

    def mark(self, packet: Any) -> None:
        """Mark a packet."""
        packet.flags |= CONGESTION_EXPERIENCED
        self.record.packets_marked += 1
        self.network.subs[packet.sub].packets_marked += 1

    def makes_room(self, packet: Any, decision: int, now_ps: int) -> bool:
        """Lose or trim a packet for one that arrives; return whether that was possible."""
        if decision == EVICT:
            lost = self.victim(packet)
            if lost is not None:
                self.waiting.remove(lost)
                self.drop_queued(lost, EVICTED)
            return lost is not None
        if self.record.order != HEADERS_FIRST:
            return False
        if decision == TRIM_LAST and self.waiting and has_data(self.waiting[-1]):
            last = self.waiting.pop()
            self.leave_queue(last)
            self.trim(last)
            if self.decision(last, now_ps) == ACCEPT:
                self.rejoin(last, now_ps)
            else:
                self.network.drop(last, QUEUE_FULL, self)
            return True
        if packet.flags & TRIMMED:
            return False
        self.trim(packet)
        return True

    def trim(self, packet: Any) -> None:
        """Cut a packet down to its header."""
        left_bytes = min(packet.bytes, self.network.queue.trim_bytes)
        self.record.packets_trimmed += 1
        self.record.bytes_trimmed += packet.bytes - left_bytes
        packet.bytes = left_bytes
        packet.flags |= TRIMMED
        if self.record.to_node < self.network.n_hosts:
            packet.entropy = NONE  # no other path leads around this port
        if self.network.traces_packets:
            self.network.trace_packet(CUT, 0, self, packet)

    def join(self, packet: Any, now_ps: int) -> None:
        """Let a packet join the queue, and send it if the port is free."""
        if self.network.traces_packets:
            self.network.trace_packet(ENQUEUED, 0, self, packet)
        self.rejoin(packet, now_ps)

    def rejoin(self, packet: Any, now_ps: int) -> None:
        """Let a packet join the queue, for the first time or as what is left of it."""
        port = self.record
        if port.order == HEADERS_FIRST and has_data(packet):
            port.data_bytes += packet.bytes
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
        elif self.record.order == HEADERS_FIRST:
            packet.rank = int(has_data(packet))
        elif self.record.order == BY_RANK:
            packet.rank = rank(self.network, self.number, packet.number, now_ps)

    def drop_queued(self, packet: Any, reason: int) -> None:
        """Drop a packet that had joined the queue."""
        self.leave_queue(packet)
        self.network.drop(packet, reason, self)

    def leave_queue(self, packet: Any) -> None:
        """Take a packet that will not be sent as it is off the counters of the queue."""
        port = self.record
        count_sojourn(port, packet, self.env.now)
        port.free_ps -= self.link_time_ps(packet.bytes)
        port.queue_packets -= 1
        port.queue_bytes -= packet.bytes
        if port.order == HEADERS_FIRST and has_data(packet):
            port.data_bytes -= packet.bytes

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

"""Events in their total order, and the ports, of the reference engine; :mod:`~capsim.engines.reference` is the rest."""

from collections import deque
from collections.abc import Callable
from itertools import chain
from sys import maxsize
from typing import Any

import simpy
from simpy.events import EventPriority

from capsim.base.bounds import BACKLOG_PS, WORD
from capsim.base.clock import serialisation_ps
from capsim.base.randomness import key_of, uniform
from capsim.engines.events import ARRIVE, DEPART, in_turn, place, tie
from capsim.engines.faults import BACKLOG, error_of
from capsim.engines.hosts.host_jitter import send_delay_ps
from capsim.engines.hosts.primitives import rank
from capsim.engines.hosts.queue_counts import PS_PER_NS, count_leaving, has_data
from capsim.engines.hosts.switches import forward
from capsim.engines.losses import loss_chance, note_fate
from capsim.records import (
    ARRIVED,
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
from capsim.roles.hooks import ACCEPT, EVICT, MARK, REFUSE, TRIM, TRIM_LAST


class Occurrence(simpy.Event):
    """Something that happens once, by itself, as a timeout of SimPy does."""

    def __init__(self, env: simpy.Environment, action: Callable[[simpy.Event], None]):
        super().__init__(env)
        self._ok, self._value = True, None
        self.callbacks = [action]


class Event:
    """What happens at each of the times given to `at`, with the kind and entity that order it among others.

    Parameters
    ----------
    network : Network
        With the environment of SimPy and the seed of the order.
    kind, entity : int
        As :mod:`capsim.engines.events` lists them.
    action : callable
        Called when it happens.
    order : int, optional
        SimPy's priority, which then places it among others of one time; a hash of time and entity when left out.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> network = SimpleNamespace(env=simpy.Environment(), tie_seed=0, events=0)
    >>> event = Event(network, DEPART, 7, lambda _: print(network.env.now))
    >>> kept = [event.at(time_ps) for time_ps in (2, 1)]
    >>> network.env.run()
    1
    2
    """

    def __init__(
        self, network: Any, kind: int, entity: int, action: Callable[[simpy.Event], None], order: int | None = None
    ):
        self.network, self.action, self.order = network, action, order
        self.entity, self.place = entity, place(kind, entity)

    def at(self, time_ps: int) -> Occurrence:
        """Let it happen at a time; return what then happens, which does nothing without its callbacks."""
        network, order = self.network, self.order
        if order is None:
            order = self.place | tie(network.tie_seed, time_ps, self.entity) << 32
        occurrence = Occurrence(network.env, self.action)
        network.events += 1
        network.env.schedule(occurrence, EventPriority(order), time_ps - network.env.now)
        return occurrence


class LinkTimes(dict[int, int]):
    """Times that packets occupy a link, by their bytes."""

    def __init__(self, rate_bps: int, link_bytes: int):
        super().__init__()
        self.rate_bps, self.link_bytes = rate_bps, link_bytes

    def __missing__(self, packet_bytes: int) -> int:
        """Compute the time for packets of so many bytes."""
        self[packet_bytes] = serialisation_ps(packet_bytes + self.link_bytes, self.rate_bps)
        return self[packet_bytes]


class Port:
    """A directed link: queue, serialiser, propagation delay.

    `admit`, `take`, `leave` and `evict` are the hooks of the queue discipline, given what is the same at each call.
    What a port does that most do not is asked once, when it is made: `extras`, and the names with ``is`` and ``has``.
    What waits is sorted by `PACKET.rank`, where the port does not send in order of arrival.
    """

    def __init__(self, network: Any, record: Any, number: int):
        self.network, self.record, self.number = network, record, number
        self.env, self.setup = network.env, network.setup
        self.link_time_ps = LinkTimes(record.rate_bps, self.setup.link_bytes)
        self.waiting: deque[Any] = deque()
        self.in_service: Any = None
        self.leaves: Any = None  # the end of its transmission
        self.on_wire: deque[Any] = deque()
        self.is_ordered, self.counts_in_service = self.setup.ordered, self.setup.count_in_service
        self.departure = Event(network, DEPART, number, self.depart)
        self.arrival = Event(network, ARRIVE, number, self.arrive)
        self.admit, self.take, self.leave, self.evict = network.queue_hooks(record, number)
        self.admit_draws, self.admit_stream = self.setup.scheme.queue.draws, key_of(network.admit_seed, number)
        if record.order in (BY_ARRIVAL, BY_RANK):
            self.take = self.leave = None  # the first of all that wait is next
        self.reaches_host = record.to_node < network.n_hosts
        self.has_jitter = bool(self.setup.host_jitter_ps and record.of_host)
        self.is_fifo, self.is_ranked = record.order == BY_ARRIVAL, record.order == BY_RANK
        # As a queue without `admit` has it (capsim.roles.hooks.has_room)
        self.limit_packets = maxsize if record.limit_packets == NONE else record.limit_packets
        self.limit_bytes = maxsize if record.limit_bytes == NONE else record.limit_bytes
        self.is_lossy = record.loss_prob > 0
        self.sojourn_ps = self.sojourn_bytes_ns = 0
        self.stamps = network.stamps and bool(record.of_host)
        self.begins_at_once = not (self.is_ordered or self.is_ranked or self.has_jitter or self.stamps)
        self.extras = self.done_at_departure()

    def done_at_departure(self) -> list[Callable[[Any, int], None]]:
        """Return what is done with a packet that leaves, beside what each port does: nothing at most ports."""
        wanted = {
            self.forget_data: self.record.order == HEADERS_FIRST,
            self.count_waiting: self.setup.histograms,
            self.ask_for_mark: self.leave is not None,
        }
        return [action for action, is_wanted in wanted.items() if is_wanted]

    def send(self, packet: Any, now_ps: int) -> None:
        """Begin to send a packet."""
        self.in_service = packet
        if not self.begins_at_once:
            now_ps = self.begin(packet, now_ps)
        self.leaves = self.departure.at(now_ps + self.link_time_ps[packet.bytes])

    def begin(self, packet: Any, now_ps: int) -> int:
        """Note what the order of events and packets depends on, and return when a packet begins, now or later."""
        if self.is_ordered:
            self.departure.order = self.arrival.order = in_turn(self.network.next_transmission())
        if self.is_ranked:
            self.record.turn = max(self.record.turn, packet.rank)
        begin_ps = self.begin_ps(packet, self.record.packets_out, now_ps) if self.has_jitter else now_ps
        if self.stamps:
            self.network.note_sent(packet, begin_ps)
        return begin_ps

    def depart(self, _: simpy.Event) -> None:
        """Let the packet in service go, whose last bit has left, and send the next."""
        port, packet = self.record, self.in_service
        packet_bytes, now_ps = packet.bytes, self.env.now
        port.queue_packets -= 1
        port.queue_bytes -= packet_bytes
        port.packets_out += 1
        port.bytes_out += packet_bytes
        sojourn_ps = now_ps - packet.enqueue_ps
        self.sojourn_ps += sojourn_ps
        self.sojourn_bytes_ns += sojourn_ps // PS_PER_NS * packet_bytes
        if self.extras:
            for action in self.extras:
                action(packet, now_ps)
        self.on_wire.append(packet)
        self.arrival.at(now_ps + port.delay_ps)
        if self.waiting:
            self.send(self.waiting.popleft() if self.take is None else self.taken(now_ps), now_ps)
        else:
            self.in_service = None

    def arrive(self, _: simpy.Event) -> None:
        """Give the packet that has crossed the link to the host or switch at the far end."""
        network, port = self.network, self.record
        packet, now_ps = self.on_wire.popleft(), self.env.now
        port.packets_arrived += 1
        if self.is_lossy and self.is_lost(now_ps):
            network.lose(packet, self)
            return
        if network.traces_packets:
            network.trace_packet(ARRIVED, 0, self, packet)
        if self.reaches_host:
            network.deliver(packet, now_ps)
            return
        forward(network, port.to_node, packet.number, now_ps)
        if network.fault:
            raise error_of(network.fault, self.setup, path=network.refused_path, count=network.refused_of)

    def is_lost(self, now_ps: int) -> bool:
        """Return whether the packet that has crossed the link is lost; the next one is lost more often if it is."""
        port, loss = self.record, self.network.losses[self.number]
        if port.loss_prob == 0:
            return False
        lost = uniform(port.stream, port.packets_arrived) < loss_chance(port, loss, now_ps)
        note_fate(port, loss, lost, now_ps)
        return lost

    def forget_data(self, packet: Any, _: int) -> None:
        """Take a packet with data off the bytes of such packets."""
        if has_data(packet):
            self.record.data_bytes -= packet.bytes

    def ask_for_mark(self, packet: Any, now_ps: int) -> None:
        """Mark a packet that leaves if the queue discipline says so."""
        if self.leave(packet, now_ps) == MARK:
            self.mark(packet)

    def count_waiting(self, packet: Any, now_ps: int) -> None:
        """Count in the histograms how long a packet waited that has been sent."""
        if now_ps > self.setup.warm_up_ps:
            flow = self.network.flows[self.network.subs[packet.sub].flow]
            waited_ps = now_ps - packet.enqueue_ps - self.link_time_ps[packet.bytes]
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
        if queue_packets and not self.counts_in_service:
            queue_packets -= 1
            queue_bytes -= self.in_service.bytes
        if self.admit is not None:
            u0 = uniform(self.admit_stream, self.record.packets_in) if self.admit_draws else 0.0
            return int(self.admit(packet, queue_packets, queue_bytes, now_ps, u0))
        if queue_packets < self.limit_packets and queue_bytes + packet.bytes <= self.limit_bytes:
            return ACCEPT
        return REFUSE

    def enqueue(self, packet: Any, now_ps: int) -> None:
        """Accept a packet or drop it."""
        port = self.record
        port.packets_in += 1
        port.bytes_in += packet.bytes
        if not port.up:
            return self.network.drop(packet, LINK_DOWN, self)
        decision = self.decision(packet, now_ps)
        if decision != ACCEPT and not self.is_taken(packet, decision, now_ps):
            return self.network.drop(packet, QUEUE_FULL, self)
        if self.network.traces_packets:
            self.network.trace_packet(ENQUEUED, 0, self, packet)
        self.join(packet, now_ps)

    def is_taken(self, packet: Any, decision: int, now_ps: int) -> bool:
        """Do what the queue discipline decides if not to accept a packet; return whether that joins the queue."""
        while decision >= EVICT and self.makes_room(packet, decision, now_ps):
            decision = self.decision(packet, now_ps)
        if decision == MARK:
            self.mark(packet)
        return decision not in (REFUSE, EVICT, TRIM, TRIM_LAST)

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
                self.join(last, now_ps)
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
        if self.reaches_host:
            packet.entropy = NONE  # no other path leads around this port
        if self.network.traces_packets:
            self.network.trace_packet(CUT, 0, self, packet)

    def join(self, packet: Any, now_ps: int) -> None:
        """Let a packet join the queue, and send it if the port is free."""
        port, packet_bytes = self.record, packet.bytes
        packet.enqueue_ps = now_ps
        port.queue_packets += 1
        port.queue_bytes += packet_bytes
        if port.queue_packets > port.max_queue_packets:
            port.max_queue_packets = port.queue_packets
        if port.queue_bytes > port.max_queue_bytes:
            port.max_queue_bytes = port.queue_bytes
        begin_ps = port.free_ps if port.free_ps > now_ps else now_ps
        if self.has_jitter:
            begin_ps = self.begin_ps(packet, port.packets_out + port.queue_packets - 1, begin_ps)
        port.free_ps = free_ps = begin_ps + self.link_time_ps[packet_bytes]
        if free_ps > BACKLOG_PS:
            raise error_of(BACKLOG + self.number, self.setup)
        if not self.is_fifo:
            self.give_rank(packet, now_ps)
        if self.in_service is None:
            self.send(packet, now_ps)
        elif self.is_fifo:
            self.waiting.append(packet)
        else:
            self.wait(packet)

    def give_rank(self, packet: Any, now_ps: int) -> None:
        """Say before which packets another one is sent."""
        if self.is_ranked:
            packet.rank = rank(self.network, self.number, packet.number, now_ps)
        elif self.record.order == BY_PRIORITY:
            packet.rank = packet.priority
        elif self.record.order == HEADERS_FIRST:
            packet.rank = int(has_data(packet))
            self.record.data_bytes += packet.bytes * packet.rank

    def drop_queued(self, packet: Any, reason: int) -> None:
        """Drop a packet that had joined the queue."""
        self.leave_queue(packet)
        self.network.drop(packet, reason, self)

    def leave_queue(self, packet: Any) -> None:
        """Take a packet that will not be sent as it is off the counters of the queue."""
        port = self.record
        self.count_sojourn(packet)
        port.free_ps -= self.link_time_ps[packet.bytes]
        port.queue_packets -= 1
        port.queue_bytes -= packet.bytes
        if port.order == HEADERS_FIRST:
            self.forget_data(packet, self.env.now)

    def fail(self) -> None:
        """Drop all that is not sent yet; what is on the wire arrives."""
        if self.in_service is None:
            return
        packet, self.in_service = self.in_service, None
        self.leaves.callbacks.clear()
        self.drop_queued(packet, LINK_DOWN)
        while self.waiting:
            self.drop_queued(self.waiting.popleft(), LINK_DOWN)
        self.record.free_ps = self.env.now

    def settle(self) -> None:
        """Count what is in the queue at the end of the run."""
        before = self.sojourn_ps, self.sojourn_bytes_ns
        for packet in chain(() if self.in_service is None else (self.in_service,), self.waiting):
            self.count_sojourn(packet)
        self.write_sums()
        self.sojourn_ps, self.sojourn_bytes_ns = before

    def count_sojourn(self, packet: Any) -> None:
        """Add a packet that was in the queue until now."""
        sojourn_ps = self.env.now - packet.enqueue_ps
        self.sojourn_ps += sojourn_ps
        self.sojourn_bytes_ns += sojourn_ps // PS_PER_NS * packet.bytes

    def write_sums(self) -> None:
        """Write the sums over packets into the record."""
        port = self.record
        port.sojourn_words, port.sojourn_ps = divmod(self.sojourn_ps, WORD)
        port.sojourn_bytes_words, port.sojourn_bytes_ns = divmod(self.sojourn_bytes_ns, WORD)

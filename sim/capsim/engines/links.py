"""The compiled engine, part 1: event trees, the packet pool, ports.

**Events.** Every entity (port, connection) has at most one pending event of each kind, so the pending events of a kind
are a tournament tree over entities: ``times[1]`` is the earliest time and ``who[1]`` its entity, of equal times the
left one, which is the one with the smaller number. No key is packed and none can overflow.

**FIFO ports.** The departure of a packet is known when it is accepted: all that is ahead of it must be sent. So the
queue and the packets on the wire are one chain in order of arrival at the far end, with one event for its head; what
has left the queue meanwhile is found when the port is next looked at (:func:`drain`).

**Strict-priority ports** need an event for the departure too: who is next depends on who comes.
"""

from collections import namedtuple

import numpy as np

from capsim.engines.jit import kernel
from capsim.hooks import MARK, PUSH_OUT, REFUSE
from capsim.records import (
    CONGESTION_EXPERIENCED,
    DROPPED,
    ENQUEUED,
    EVICTED,
    LINK_DOWN,
    NONE,
    QUEUE_FULL,
)
from capsim.state import TRACE_DROPS, TRACE_PACKETS

NEVER = 2**62

# Numba needs a namedtuple class that it can import by name to cache what is compiled for it.
World = namedtuple(
    "World",
    "config packets ports switches balancer_state conns flows estimators units segments trace probes counters "
    "route_first route_count candidates epoch_ps port_up probe_ports probe_conns host_port "
    "transport balancer queue coding arrive_times arrive_who depart_times depart_who timer_times timer_who",
)
Hooks = namedtuple("Hooks", "choose admit open send receive hear expire accept emit collect release observe")

CONFIG = np.dtype(
    [
        ("n_hosts", "i8"),
        ("end_ps", "i8"),
        ("link_bytes", "i8"),
        ("count_in_service", "i8"),
        ("classes", "i8"),
        ("draws", "i8"),
        ("trace", "i8"),
        ("margin", "i8"),
        ("probe_ps", "i8"),
        ("abort_losers", "i8"),
        ("fault", "i8"),
    ]
)


@kernel
def set_time(times, who, entity, time_ps):
    """Set the time of the pending event of `entity` and replay its matches up to the root."""
    node = len(who) // 2 + entity
    times[node] = time_ps
    while node > 1:
        node >>= 1
        left, right = times[2 * node], times[2 * node + 1]
        if right < left:
            times[node] = right
            who[node] = who[2 * node + 1]
        else:
            times[node] = left
            who[node] = who[2 * node]


@kernel
def take_packet(w):
    """Return the number of an unused packet."""
    counters = w.counters[0]
    number = counters.free
    counters.free = w.packets[number].next
    counters.free_count -= 1
    counters.in_flight += 1
    return number


@kernel
def free_packet(w, number):
    """Give a packet back to the pool."""
    counters = w.counters[0]
    w.packets[number].next = counters.free
    counters.free = number
    counters.free_count += 1
    counters.in_flight -= 1


@kernel
def write_trace(w, what, reason, p, packet, now_ps, queue_packets):
    """Write a line of the packet trace."""
    counters = w.counters[0]
    line = w.trace[counters.trace]
    counters.trace += 1
    line.time_ps = now_ps
    line.what = what
    line.reason = reason
    line.port = p
    line.conn = packet.conn
    line.kind = packet.kind
    line.flags = packet.flags
    line.segment = packet.segment
    line.ack = packet.ack
    line.bytes = packet.bytes
    line.queue_packets = queue_packets


@kernel
def drop(w, p, number, reason, now_ps):
    """Lose a packet at port `p`, or before any port if `p` is NONE."""
    packet = w.packets[number]
    w.conns[packet.conn].packets_dropped += 1
    queue_packets = 0
    if p != NONE:
        port = w.ports[p]
        port.packets_dropped += 1
        port.bytes_dropped += packet.bytes
        queue_packets = port.queue_packets
    else:
        w.counters[0].unroutable += 1
    if w.config[0].trace >= TRACE_DROPS:
        write_trace(w, DROPPED, reason, p, packet, now_ps, queue_packets)
    free_packet(w, number)


@kernel
def transmission_ps(w, port, packet):
    """Return the time that the packet occupies the link, rounded as in :func:`capsim.clock.serialisation_ps`."""
    wire_bytes = packet.bytes + w.config[0].link_bytes
    if port.byte_ps:
        return wire_bytes * port.byte_ps
    return (wire_bytes * 8_000_000_000_000 + port.rate_bps // 2) // port.rate_bps


@kernel
def leave_queue(port, packet, depart_ps):
    """Count a packet that has been sent."""
    sojourn_ps = depart_ps - packet.enqueue_ps
    port.queue_packets -= 1
    port.queue_bytes -= packet.bytes
    port.packets_out += 1
    port.bytes_out += packet.bytes
    port.sojourn_ps += sojourn_ps
    port.sojourn_bytes_ns += sojourn_ps // 1000 * packet.bytes


@kernel
def drain(w, port, now_ps):
    """Take from the queue of a FIFO port what has left it by `now_ps`."""
    sent_ps = now_ps + port.delay_ps
    while port.queue_head != NONE:
        packet = w.packets[port.queue_head]
        if packet.arrive_ps > sent_ps:
            break
        leave_queue(port, packet, packet.arrive_ps - port.delay_ps)
        port.queue_head = packet.next


@kernel
def put_on_wire(w, p, port, number, packet, arrive_ps):
    """Append a packet to the chain that arrives at the far end."""
    packet.arrive_ps = arrive_ps
    packet.next = NONE
    if port.head == NONE:
        port.head = number
        set_time(w.arrive_times, w.arrive_who, p, arrive_ps)
    else:
        w.packets[port.tail].next = number
    port.tail = number


@kernel
def join_fifo(w, p, port, number, packet, now_ps):
    """Accept a packet at a FIFO port: its departure is known at once."""
    port.free_ps = max(port.free_ps, now_ps) + transmission_ps(w, port, packet)
    if port.queue_head == NONE:
        port.queue_head = number
    put_on_wire(w, p, port, number, packet, port.free_ps + port.delay_ps)


@kernel
def unlink(w, port, number, packet):
    """Take a waiting packet out of its class."""
    level = packet.priority
    if packet.previous == NONE:
        port.class_head[level] = packet.next
    else:
        w.packets[packet.previous].next = packet.next
    if packet.next == NONE:
        port.class_tail[level] = packet.previous
    else:
        w.packets[packet.next].previous = packet.previous


@kernel
def join_class(w, p, port, number, packet, now_ps):
    """Accept a packet at a strict-priority port."""
    port.free_ps = max(port.free_ps, now_ps) + transmission_ps(w, port, packet)
    if port.service == NONE:
        serve(w, p, port, number, packet, now_ps)
        return
    level = packet.priority
    packet.next = NONE
    packet.previous = port.class_tail[level]
    if packet.previous == NONE:
        port.class_head[level] = number
    else:
        w.packets[packet.previous].next = number
    port.class_tail[level] = number


@kernel
def serve(w, p, port, number, packet, now_ps):
    """Begin to send a packet."""
    port.service = number
    set_time(w.depart_times, w.depart_who, p, now_ps + transmission_ps(w, port, packet))


@kernel
def depart(w, p, now_ps):
    """Finish sending at a strict-priority port and begin with the first packet of the best class."""
    port = w.ports[p]
    number = port.service
    packet = w.packets[number]
    leave_queue(port, packet, now_ps)
    put_on_wire(w, p, port, number, packet, now_ps + port.delay_ps)
    following = port.class_head[0]
    if following == NONE:
        following = port.class_head[1]
    if following == NONE:
        port.service = NONE
        set_time(w.depart_times, w.depart_who, p, NEVER)
    else:
        unlink(w, port, following, w.packets[following])
        serve(w, p, port, following, w.packets[following], now_ps)


@kernel
def push_out(w, p, port, now_ps):
    """Lose the last waiting packet of the lower class."""
    number = port.class_tail[1]
    packet = w.packets[number]
    unlink(w, port, number, packet)
    forget(w, port, packet)
    drop(w, p, number, EVICTED, now_ps)


@kernel
def forget(w, port, packet):
    """Take back that a packet joined the queue."""
    port.free_ps -= transmission_ps(w, port, packet)
    port.queue_packets -= 1
    port.queue_bytes -= packet.bytes


@kernel
def ask(w, h, port, packet):
    """Return the verdict of the queue discipline."""
    queue_packets, queue_bytes = port.queue_packets, port.queue_bytes
    if queue_packets > 0 and not w.config[0].count_in_service:
        queue_packets -= 1
        queue_bytes -= w.packets[port.queue_head if w.config[0].classes == 1 else port.service].bytes
    return h.admit(w.queue[0], port, packet, queue_packets, queue_bytes)


@kernel
def enqueue(w, h, p, number, now_ps):
    """Offer a packet to a port."""
    port, packet = w.ports[p], w.packets[number]
    config = w.config[0]
    port.packets_in += 1
    port.bytes_in += packet.bytes
    if config.classes == 1:
        drain(w, port, now_ps)
    if not port.up:
        drop(w, p, number, LINK_DOWN, now_ps)
        return
    verdict = ask(w, h, port, packet)
    while verdict == PUSH_OUT and port.class_tail[1] != NONE:
        push_out(w, p, port, now_ps)
        verdict = ask(w, h, port, packet)
    if verdict == REFUSE or verdict == PUSH_OUT:
        drop(w, p, number, QUEUE_FULL, now_ps)
        return
    if verdict == MARK:
        packet.flags |= CONGESTION_EXPERIENCED
        port.packets_marked += 1
        w.conns[packet.conn].packets_marked += 1
    if config.trace == TRACE_PACKETS:
        write_trace(w, ENQUEUED, 0, p, packet, now_ps, port.queue_packets)
    packet.enqueue_ps = now_ps
    port.queue_packets += 1
    port.queue_bytes += packet.bytes
    port.max_queue_packets = max(port.max_queue_packets, port.queue_packets)
    port.max_queue_bytes = max(port.max_queue_bytes, port.queue_bytes)
    if config.classes == 1:
        join_fifo(w, p, port, number, packet, now_ps)
    else:
        join_class(w, p, port, number, packet, now_ps)


@kernel
def leave_wire(w, p, port, now_ps):
    """Take the packet that arrives now off the link and return its number."""
    number = port.head
    packet = w.packets[number]
    if port.queue_head == number:
        drain(w, port, now_ps)
    port.head = packet.next
    if port.head == NONE:
        port.tail = NONE
        set_time(w.arrive_times, w.arrive_who, p, NEVER)
    else:
        set_time(w.arrive_times, w.arrive_who, p, w.packets[port.head].arrive_ps)
    port.packets_arrived += 1
    w.counters[0].traversals += 1
    return number


@kernel
def fail_fifo(w, p, port, now_ps):
    """Lose what a FIFO port has not sent before `now_ps`; what is on the wire arrives."""
    drain(w, port, now_ps - 1)
    if port.queue_head == NONE:
        return
    number = port.queue_head
    last = NONE
    if port.head != number:
        last = port.head
        while w.packets[last].next != number:
            last = w.packets[last].next
        w.packets[last].next = NONE
    port.tail = last
    if last == NONE:
        port.head = NONE
        set_time(w.arrive_times, w.arrive_who, p, NEVER)
    port.queue_head = NONE
    while number != NONE:
        following = w.packets[number].next
        forget(w, port, w.packets[number])
        drop(w, p, number, LINK_DOWN, now_ps)
        number = following
    port.free_ps = now_ps


@kernel
def fail_classes(w, p, port, now_ps):
    """Lose what a strict-priority port has not sent."""
    if port.service != NONE:
        forget(w, port, w.packets[port.service])
        drop(w, p, port.service, LINK_DOWN, now_ps)
        port.service = NONE
        set_time(w.depart_times, w.depart_who, p, NEVER)
    for level in range(2):
        while port.class_head[level] != NONE:
            number = port.class_head[level]
            unlink(w, port, number, w.packets[number])
            forget(w, port, w.packets[number])
            drop(w, p, number, LINK_DOWN, now_ps)
    port.free_ps = now_ps

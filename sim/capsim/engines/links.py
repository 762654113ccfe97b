"""The compiled engine, part 3: the packet pool and ports.

**FIFO ports** (first in, first out). The departure of a packet is known when it is accepted: when all packets ahead of
it have been sent. So the queue and the packets on the wire are one linked list in order of arrival at the far end, with
one event for its first packet. Packets that have left the queue meanwhile are counted when the port is used next
(:func:`drain`).

**Strict-priority ports** need an event for each departure too: which packet is next depends on which packets arrive.
"""

from typing import Any

from capsim.engines import calls
from capsim.engines.jit import inline_into_hooks, kernel
from capsim.engines.pointers import (
    conn_at,
    counters_at,
    packet_at,
    port_at,
    prefetch_packet,
    trace_at,
)
from capsim.engines.queue_sums import count_sojourn
from capsim.engines.serialiser import extend_queue, ready_ps, transmission_ps
from capsim.engines.trees import NEVER, bring_forward, next_arrival, set_time
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

inline_into_hooks(count_sojourn)


@kernel
def take_packet(w: Any) -> int:
    """Return the number of an unused packet."""
    counters = counters_at(w.counters, 0)
    number = counters.free
    counters.free = packet_at(w.packets, number).next
    counters.free_count -= 1
    counters.in_flight += 1
    return number


@kernel
def free_packet(w: Any, number: int) -> None:
    """Give a packet back to the pool."""
    counters = counters_at(w.counters, 0)
    packet_at(w.packets, number).next = counters.free
    counters.free = number
    counters.free_count += 1
    counters.in_flight -= 1


@kernel
def write_trace(w: Any, what: int, reason: int, p: int, packet: Any, now_ps: int, queue_packets: int) -> None:
    """Write a line of the packet trace."""
    counters = counters_at(w.counters, 0)
    line = trace_at(w.trace, counters.trace)
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
def drop(w: Any, p: int, number: int, reason: int, now_ps: int) -> None:
    """Drop a packet at port `p`, or at a switch without a route if `p` is NONE."""
    packet = packet_at(w.packets, number)
    conn_at(w.conns, packet.conn).packets_dropped += 1
    queue_packets = 0
    if p != NONE:
        port = port_at(w.ports, p)
        port.packets_dropped += 1
        port.bytes_dropped += packet.bytes
        queue_packets = port.queue_packets
    else:
        counters_at(w.counters, 0).unroutable += 1
    if w.trace_level >= TRACE_DROPS:
        write_trace(w, DROPPED, reason, p, packet, now_ps, queue_packets)
    free_packet(w, number)


@kernel
def leave_queue(port: Any, packet: Any, depart_ps: int) -> None:
    """Count a packet that has been sent."""
    port.queue_packets -= 1
    port.queue_bytes -= packet.bytes
    port.packets_out += 1
    port.bytes_out += packet.bytes
    count_sojourn(port, packet, depart_ps)


@kernel
def drain(w: Any, port: Any, now_ps: int) -> None:
    """Take from the queue of a FIFO port what has left it by `now_ps`."""
    sent_ps = now_ps + port.delay_ps
    while port.queue_head != NONE and port.queue_head_ps <= sent_ps:
        packet = packet_at(w.packets, port.queue_head)
        leave_queue(port, packet, port.queue_head_ps - port.delay_ps)
        port.queue_head = packet.next
        port.queue_head_ps = packet.next_arrive_ps


@kernel
def put_on_wire(w: Any, p: int, port: Any, number: int, packet: Any, arrive_ps: int) -> None:
    """Append a packet to the list of those that arrive at the far end."""
    packet.arrive_ps = arrive_ps
    packet.next = NONE
    if port.head == NONE:
        port.head = number
        bring_forward(w, w.arrive_tree, w.arrive_leaves, p, arrive_ps)
    else:
        last = packet_at(w.packets, port.tail)
        last.next = number
        last.next_arrive_ps = arrive_ps
    port.tail = number


@kernel
def join_fifo(w: Any, p: int, port: Any, number: int, packet: Any, now_ps: int) -> None:
    """Accept a packet at a FIFO port: its departure is known at once."""
    extend_queue(w, p, port, packet, now_ps)
    if port.queue_head == NONE:
        port.queue_head = number
        port.queue_head_ps = port.free_ps + port.delay_ps
    put_on_wire(w, p, port, number, packet, port.free_ps + port.delay_ps)


@kernel
def unlink(w: Any, port: Any, number: int, packet: Any) -> None:
    """Take a waiting packet out of its class."""
    level = packet.priority
    if packet.previous == NONE:
        port.class_head[level] = packet.next
    else:
        packet_at(w.packets, packet.previous).next = packet.next
    if packet.next == NONE:
        port.class_tail[level] = packet.previous
    else:
        packet_at(w.packets, packet.next).previous = packet.previous


@kernel
def join_class(w: Any, p: int, port: Any, number: int, packet: Any, now_ps: int) -> None:
    """Accept a packet at a strict-priority port."""
    extend_queue(w, p, port, packet, now_ps)
    if port.service == NONE:
        serve(w, p, port, number, packet, now_ps)
        return
    level = packet.priority
    packet.next = NONE
    packet.previous = port.class_tail[level]
    if packet.previous == NONE:
        port.class_head[level] = number
    else:
        packet_at(w.packets, packet.previous).next = number
    port.class_tail[level] = number


@kernel
def serve(w: Any, p: int, port: Any, number: int, packet: Any, now_ps: int) -> None:
    """Begin to send a packet."""
    port.service = number
    begin_ps = max(now_ps, ready_ps(w, p, port, packet.enqueue_ps, port.packets_out))
    set_time(w, w.depart_tree, w.depart_leaves, p, begin_ps + transmission_ps(w, port, packet))


@kernel
def depart(w: Any, p: int, now_ps: int) -> None:
    """Finish sending at a strict-priority port and begin with the first packet of the best class."""
    port = port_at(w.ports, p)
    number = port.service
    packet = packet_at(w.packets, number)
    leave_queue(port, packet, now_ps)
    put_on_wire(w, p, port, number, packet, now_ps + port.delay_ps)
    following = port.class_head[0]
    if following == NONE:
        following = port.class_head[1]
    if following == NONE:
        port.service = NONE
        set_time(w, w.depart_tree, w.depart_leaves, p, NEVER)
    else:
        unlink(w, port, following, packet_at(w.packets, following))
        serve(w, p, port, following, packet_at(w.packets, following), now_ps)


@kernel
def push_out(w: Any, p: int, port: Any, now_ps: int) -> None:
    """Drop the last waiting packet of the lower class."""
    number = port.class_tail[1]
    packet = packet_at(w.packets, number)
    unlink(w, port, number, packet)
    undo_enqueue(w, port, packet, now_ps)
    drop(w, p, number, EVICTED, now_ps)


@kernel
def undo_enqueue(w: Any, port: Any, packet: Any, now_ps: int) -> None:
    """Take a packet that will not be sent off the counters of its queue."""
    count_sojourn(port, packet, now_ps)
    port.free_ps -= transmission_ps(w, port, packet)
    port.queue_packets -= 1
    port.queue_bytes -= packet.bytes


@kernel
def admit(w: Any, port: Any, packet: Any) -> int:
    """Return the verdict of the queue discipline."""
    queue_packets, queue_bytes = port.queue_packets, port.queue_bytes
    if queue_packets > 0 and not w.count_in_service:
        queue_packets -= 1
        queue_bytes -= packet_at(w.packets, port.queue_head if w.classes == 1 else port.service).bytes
    return calls.admit(w, port, packet, queue_packets, queue_bytes)


@kernel
def enqueue(w: Any, p: int, number: int, now_ps: int) -> None:
    """Offer a packet to a port."""
    port, packet = port_at(w.ports, p), packet_at(w.packets, number)
    port.packets_in += 1
    port.bytes_in += packet.bytes
    if w.classes == 1:
        drain(w, port, now_ps)
    if not port.up:
        drop(w, p, number, LINK_DOWN, now_ps)
        return
    verdict = admit(w, port, packet)
    while verdict == PUSH_OUT and port.class_tail[1] != NONE:
        push_out(w, p, port, now_ps)
        verdict = admit(w, port, packet)
    if verdict in (REFUSE, PUSH_OUT):
        drop(w, p, number, QUEUE_FULL, now_ps)
        return
    if verdict == MARK:
        packet.flags |= CONGESTION_EXPERIENCED
        port.packets_marked += 1
        conn_at(w.conns, packet.conn).packets_marked += 1
    if w.trace_level == TRACE_PACKETS:
        write_trace(w, ENQUEUED, 0, p, packet, now_ps, port.queue_packets)
    packet.enqueue_ps = now_ps
    port.queue_packets += 1
    port.queue_bytes += packet.bytes
    port.max_queue_packets = max(port.max_queue_packets, port.queue_packets)
    port.max_queue_bytes = max(port.max_queue_bytes, port.queue_bytes)
    if w.classes == 1:
        join_fifo(w, p, port, number, packet, now_ps)
    else:
        join_class(w, p, port, number, packet, now_ps)


@kernel
def leave_wire(w: Any, p: int, port: Any, now_ps: int) -> int:
    """Take the packet that arrives now off the link and return its number."""
    number = port.head
    packet = packet_at(w.packets, number)
    if port.queue_head == number:
        drain(w, port, now_ps)
    port.head = packet.next
    if port.head == NONE:
        port.tail = NONE
        next_arrival(w, p, NEVER)
    else:
        next_arrival(w, p, packet.next_arrive_ps)
        prefetch_packet(w.packets, port.head)
    port.packets_arrived += 1
    counters_at(w.counters, 0).traversals += 1
    return number

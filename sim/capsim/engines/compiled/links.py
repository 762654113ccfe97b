"""Ports of the compiled engine: serialisation, queues, and links that fail.

**FIFO ports** (first in, first out). The departure of a packet is known when it is accepted: when all packets ahead of
it have been sent. So the queue and the packets on the wire are one linked list in order of arrival at the far end, with
one event for its first packet. Departures are counted lazily (:func:`drain`), when the packet reaches the next hop;
earlier where that could matter (:func:`takes_anyway`) or a hook or a probe reads the queue.

**Ports by priority or rank** decide what they send next when they are free: it depends on which packets have come by
then. So a packet joins that list when its transmission begins, and the others wait in a list of their own. That a
transmission has ended, and the next one has begun, is noted when the port is used next as well. That is early enough:
the next packet arrives at the far end after the one before it, whose arrival is such a use.

What waits is sorted. A packet with a rank looks for its place from the last waiting one of its subflow on, or from the
front: from the back it would pass the backlog of all others.

Where departures and arrivals come **in order of scheduling** (:mod:`~capsim.engines.compiled.order.ordered`), all ports
send in this way, and each departure is an event.

When a link fails, queued packets are dropped and packets on the wire still arrive.
"""

from typing import Any

from capsim.base.bounds import BACKLOG_PS
from capsim.base.randomness import key_of, uniform
from capsim.engines.compiled.jit import expanded, inlined_kernel, kernel, part
from capsim.engines.compiled.order.agenda import add_arrival, cancel_arrival, follow_arrival
from capsim.engines.compiled.order.ordered import begin, cancel, departed
from capsim.engines.compiled.packets import drop, note_sent, write_trace
from capsim.engines.compiled.pointers import (
    counters_at,
    flow_at,
    int32_array,
    int64_array,
    packet_at,
    port_at,
    prefetch_packet,
    sub_at,
)
from capsim.engines.compiled.tables import admit as admit_hook
from capsim.engines.compiled.tables import evict, leave, rank, take, whole
from capsim.engines.events import NEVER
from capsim.engines.faults import BACKLOG
from capsim.engines.hosts.host_jitter import send_delay_ps
from capsim.engines.hosts.queue_counts import count_leaving, count_sojourn, has_data
from capsim.engines.state import TRACE_PACKETS
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
    NO_TIME_PS,
    NONE,
    QUEUE_FULL,
    TRIMMED,
)
from capsim.roles.hooks import ACCEPT, EVICT, MARK, REFUSE, TRIM_LAST, has_room

send_delay_ps, has_room = part(send_delay_ps), part(has_room)
key_of, uniform = part(key_of), part(uniform)
count_sojourn, count_leaving, has_data = part(count_sojourn), part(count_leaving), part(has_data)


@inlined_kernel
def transmission_ps(w: Any, port: Any, packet: Any) -> int:
    """Return the time that the packet occupies the link, rounded as in :func:`capsim.base.clock.serialisation_ps`."""
    wire_bytes = packet.bytes + w.link_bytes
    if port.byte_ps:
        return wire_bytes * port.byte_ps
    return (wire_bytes * 8_000_000_000_000 + port.rate_bps // 2) // port.rate_bps


@inlined_kernel
def ready_ps(w: Any, p: int, port: Any, enqueue_ps: int, count: int) -> int:
    """Return when a packet, sent as number `count` by this port, may leave at the earliest."""
    if w.host_jitter_ps == 0 or not port.of_host:
        return enqueue_ps
    return enqueue_ps + send_delay_ps(w.host_jitter_ps, w.jitter_seed, p, count)


@inlined_kernel
def extend_queue(w: Any, p: int, port: Any, packet: Any, now_ps: int) -> None:
    """Put off the time when the port has sent all that is queued by one more packet."""
    begin_ps = ready_ps(w, p, port, now_ps, port.packets_out + port.queue_packets - 1)
    port.free_ps = max(port.free_ps, begin_ps) + transmission_ps(w, port, packet)
    if port.free_ps > BACKLOG_PS and w.fault == 0:
        w.fault = BACKLOG + p


@inlined_kernel
def leave_queue(w: Any, port: Any, packet: Any, depart_ps: int) -> None:
    """Count a packet that has been sent."""
    port.queue_packets -= 1
    port.queue_bytes -= packet.bytes
    port.packets_out += 1
    port.bytes_out += packet.bytes
    if port.order == HEADERS_FIRST:
        port.data_bytes -= packet.bytes * has_data(packet)
    count_sojourn(port, packet, depart_ps)
    if w.histograms and depart_ps > w.warm_up_ps:
        count_wait(w, port, packet, depart_ps)


@kernel
def count_wait(w: Any, port: Any, packet: Any, depart_ps: int) -> None:
    """Enter a packet that has been sent into the histograms of its queue."""
    flow = flow_at(w.flows, sub_at(w.subs, packet.sub).flow)
    waited_ps = depart_ps - packet.enqueue_ps - transmission_ps(w, port, packet)
    count_leaving(int64_array(w.queue_counts, w.n_queue_counts, 8), port, packet, flow.short, waited_ps)


@inlined_kernel
def one_by_one(w: Any, port: Any) -> bool:
    """Return whether a port decides what it sends next when it is free."""
    return w.one_by_one != 0 and (port.order != BY_ARRIVAL or w.ordered != 0)


@inlined_kernel
def drain(w: Any, p: int, port: Any, now_ps: int) -> None:
    """Take from the queue of a port what has left it by `now_ps`."""
    sent_ps = now_ps + port.delay_ps
    while port.queue_head_ps <= sent_ps:
        packet = packet_at(w.packets, port.queue_head)
        depart_ps = port.queue_head_ps - port.delay_ps
        leave_queue(w, port, packet, depart_ps)
        if one_by_one(w, port):
            follow(w, p, port, packet, depart_ps)
        else:
            port.queue_head = packet.next
            port.queue_head_ps = packet.next_arrive_ps


@inlined_kernel
def put_on_wire(w: Any, p: int, port: Any, number: int, packet: Any, arrive_ps: int) -> None:
    """Append a packet to the list of those that arrive at the far end."""
    packet.arrive_ps = arrive_ps
    packet.next = NONE
    packet.next_arrive_ps = NO_TIME_PS
    if port.head == NONE:
        port.head = number
        add_arrival(w, p, number, arrive_ps)
    else:
        last = packet_at(w.packets, port.tail)
        last.next = number
        last.next_arrive_ps = arrive_ps
    port.tail = number


@inlined_kernel
def join_fifo(w: Any, p: int, port: Any, number: int, packet: Any, now_ps: int) -> None:
    """Accept a packet at a FIFO port: its departure is known at once."""
    extend_queue(w, p, port, packet, now_ps)
    if w.stamps and port.of_host:
        note_sent(w, number, packet, port.free_ps - transmission_ps(w, port, packet))
    arrive_ps = port.free_ps + port.delay_ps
    port.queue_head = number if port.queue_head == NONE else port.queue_head
    port.queue_head_ps = min(port.queue_head_ps, arrive_ps)
    put_on_wire(w, p, port, number, packet, arrive_ps)


@kernel
def unlink(w: Any, port: Any, number: int, packet: Any) -> None:
    """Take a waiting packet out of the queue."""
    if packet.previous == NONE:
        port.wait_head = packet.next
    else:
        packet_at(w.packets, packet.previous).next = packet.next
    if packet.next == NONE:
        port.wait_tail = packet.previous
    else:
        packet_at(w.packets, packet.next).previous = packet.previous
    if port.order == BY_RANK:
        forget_waiting(w, number, packet)


@kernel
def forget_waiting(w: Any, number: int, packet: Any) -> None:
    """Note that no packet of its subflow and direction waits behind this one, nor this one, if it was the last."""
    last = last_waiting(w)
    if last[direction(w, packet)] == number:
        last[direction(w, packet)] = NONE


@expanded
def last_waiting(w: Any) -> Any:
    """Return over subflows and directions the packet that was the last to wait at the NIC, if it still does."""
    return int32_array(w.last_waiting, w.n_subs * 2, 4)


@inlined_kernel
def direction(w: Any, packet: Any) -> int:
    """Return the number of a subflow and direction."""
    return 2 * whole(packet.sub) + (packet.target == sub_at(w.subs, packet.sub).src)


@kernel
def behind_all(w: Any, port: Any, packet: Any) -> int:
    """Return the packet behind which one waits by priority, searched from both ends at once."""
    front, back = whole(port.wait_head), whole(port.wait_tail)
    if back == NONE or packet_at(w.packets, back).rank <= packet.rank:
        return back
    while packet_at(w.packets, front).rank <= packet.rank:
        back = whole(packet_at(w.packets, back).previous)
        if packet_at(w.packets, back).rank <= packet.rank:
            return back
        front = whole(packet_at(w.packets, front).next)
    return whole(packet_at(w.packets, front).previous)


@kernel
def behind_turn(w: Any, port: Any, number: int, packet: Any) -> int:
    """Return the packet behind which one waits by rank: behind all of its own rank and smaller ones."""
    last, place, rank_of = last_waiting(w), direction(w, packet), packet.rank
    known, before = whole(last[place]), whole(port.wait_tail)
    last[place] = number
    if before == NONE or packet_at(w.packets, before).rank <= rank_of:
        return before
    following = whole(port.wait_head)
    if known != NONE and packet_at(w.packets, known).rank <= rank_of:
        following = whole(packet_at(w.packets, known).next)
    while packet_at(w.packets, following).rank <= rank_of:
        following = whole(packet_at(w.packets, following).next)
    return whole(packet_at(w.packets, following).previous)


@kernel
def join_waiting(w: Any, p: int, port: Any, number: int, packet: Any, now_ps: int) -> None:
    """Accept a packet that waits behind all others, or behind those of its own rank and smaller ones."""
    extend_queue(w, p, port, packet, now_ps)
    if port.order == BY_PRIORITY:
        packet.rank = packet.priority
    elif port.order == HEADERS_FIRST:
        packet.rank = int(has_data(packet))
    elif port.order == BY_RANK:
        packet.rank = rank(w, p, number, now_ps)
    if port.queue_head == NONE:
        serve(w, p, port, number, packet, now_ps)
        return
    before = whole(port.wait_tail)
    if sends_by_queue(port):
        before = behind_all(w, port, packet)
    elif port.order == BY_RANK:
        before = behind_turn(w, port, number, packet)
    packet.previous = before
    packet.next = port.wait_head if before == NONE else packet_at(w.packets, before).next
    if before == NONE:
        port.wait_head = number
    else:
        packet_at(w.packets, before).next = number
    if packet.next == NONE:
        port.wait_tail = number
    else:
        packet_at(w.packets, packet.next).previous = number


@kernel
def serve(w: Any, p: int, port: Any, number: int, packet: Any, now_ps: int) -> None:
    """Begin to send a packet."""
    if port.order == BY_RANK:
        port.turn = max(port.turn, packet.rank)
    begin_ps = max(now_ps, ready_ps(w, p, port, packet.enqueue_ps, port.packets_out))
    depart_ps = begin_ps + transmission_ps(w, port, packet)
    if w.stamps and port.of_host:
        note_sent(w, number, packet, begin_ps)
    port.queue_head = number
    port.queue_head_ps = depart_ps + port.delay_ps
    put_on_wire(w, p, port, number, packet, port.queue_head_ps)
    if w.ordered:
        begin(w, p, depart_ps)


@inlined_kernel
def sends_by_queue(port: Any) -> bool:
    """Return whether the queue discipline says in which order a port sends."""
    return port.order == BY_PRIORITY or port.order == HEADERS_FIRST


@inlined_kernel
def put_mark(w: Any, port: Any, packet: Any) -> None:
    """Mark a packet."""
    packet.flags |= CONGESTION_EXPERIENCED
    port.packets_marked += 1
    sub_at(w.subs, packet.sub).packets_marked += 1


@kernel
def depart(w: Any, p: int, now_ps: int) -> None:
    """Finish sending where each departure is an event."""
    port = port_at(w.ports, p)
    departed(w, p, port.queue_head_ps)
    drain(w, p, port, now_ps)


@kernel
def follow(w: Any, p: int, port: Any, packet: Any, now_ps: int) -> None:
    """Begin to send the next of the waiting packets behind one that has been sent."""
    if w.leave != 0 and sends_by_queue(port) and leave(w, p, whole(port.queue_head), now_ps) == MARK:
        put_mark(w, port, packet)
    port.queue_head, port.queue_head_ps = NONE, NO_TIME_PS
    following = whole(port.wait_head)
    if following == NONE:
        return
    if w.take != 0 and sends_by_queue(port):
        following = take(w, p, now_ps)
    unlink(w, port, following, packet_at(w.packets, following))
    serve(w, p, port, following, packet_at(w.packets, following), now_ps)


@kernel
def victim(w: Any, p: int, port: Any, number: int, packet: Any, now_ps: int) -> int:
    """Return the waiting packet that makes room for the arriving one, or NONE."""
    last = whole(port.wait_tail)
    if last == NONE or port.order == BY_ARRIVAL:
        return NONE
    if w.evict != 0:
        return evict(w, p, number, now_ps)
    return last if packet_at(w.packets, last).priority > packet.priority else NONE


@kernel
def evict_packet(w: Any, p: int, port: Any, number: int, now_ps: int) -> None:
    """Drop a waiting packet to make room."""
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
    if port.order == HEADERS_FIRST:
        port.data_bytes -= packet.bytes * has_data(packet)


@inlined_kernel
def admit(w: Any, p: int, port: Any, number: int, now_ps: int) -> int:
    """Return what the queue discipline decides."""
    queue_packets, queue_bytes = port.queue_packets, port.queue_bytes
    if queue_packets > 0 and not w.count_in_service:
        queue_packets -= 1
        if w.admit != 0 or port.limit_bytes != NONE:  # the packet may be far from the cache
            queue_bytes -= packet_at(w.packets, port.queue_head).bytes
    if w.admit == 0:
        return ACCEPT if has_room(port, packet_at(w.packets, number), queue_packets, queue_bytes) else REFUSE
    u0 = 0.0
    if w.admit_draws:
        u0 = uniform(key_of(w.admit_seed, p), port.packets_in)
    return admit_hook(w, p, number, queue_packets, queue_bytes, now_ps, u0)


@kernel
def make_room(w: Any, p: int, number: int, decision: int, now_ps: int) -> int:
    """Let waiting packets be lost or trimmed, or the arriving one, until it is accepted; return the last decision."""
    port, packet = port_at(w.ports, p), packet_at(w.packets, number)
    while decision >= EVICT:
        if decision == EVICT:
            lost = victim(w, p, port, number, packet, now_ps)
            if lost == NONE:
                return REFUSE
            evict_packet(w, p, port, lost, now_ps)
        elif port.order != HEADERS_FIRST or not trim_one(w, p, port, packet, decision, now_ps):
            return REFUSE
        decision = admit(w, p, port, number, now_ps)
    return decision


@kernel
def trim_one(w: Any, p: int, port: Any, packet: Any, decision: int, now_ps: int) -> bool:
    """Trim the last packet with data that waits, or the arriving one; return whether there was one."""
    last = whole(port.wait_tail)
    if decision == TRIM_LAST and last != NONE and has_data(packet_at(w.packets, last)):
        trim_waiting(w, p, port, last, now_ps)
        return True
    if packet.flags & TRIMMED:
        return False
    trim(w, p, port, packet, now_ps)
    return True


@kernel
def trim(w: Any, p: int, port: Any, packet: Any, now_ps: int) -> None:
    """Cut a packet down to its header."""
    left_bytes = min(packet.bytes, w.trim_bytes)
    port.packets_trimmed += 1
    port.bytes_trimmed += packet.bytes - left_bytes
    packet.bytes = left_bytes
    packet.flags |= TRIMMED
    if port.to_node < w.n_hosts:
        packet.entropy = NONE  # no other path leads around this port
    if w.trace_level == TRACE_PACKETS:
        write_trace(w, CUT, 0, p, packet, now_ps, port.queue_packets)


@kernel
def trim_waiting(w: Any, p: int, port: Any, number: int, now_ps: int) -> None:
    """Trim a packet that waits; its header waits before packets with data, or is lost."""
    packet = packet_at(w.packets, number)
    unlink(w, port, number, packet)
    undo_enqueue(w, port, packet, now_ps)
    trim(w, p, port, packet, now_ps)
    if admit(w, p, port, number, now_ps) == ACCEPT:
        enter_queue(w, p, port, number, packet, now_ps)
    else:
        drop(w, p, number, QUEUE_FULL, now_ps)


@inlined_kernel
def enter_queue(w: Any, p: int, port: Any, number: int, packet: Any, now_ps: int) -> None:
    """Let a packet join the queue, for the first time or as what is left of it."""
    packet.enqueue_ps = now_ps
    port.queue_packets += 1
    port.queue_bytes += packet.bytes
    if port.order == HEADERS_FIRST:
        port.data_bytes += packet.bytes * has_data(packet)
    port.max_queue_packets = max(port.max_queue_packets, port.queue_packets)
    port.max_queue_bytes = max(port.max_queue_bytes, port.queue_bytes)
    if one_by_one(w, port):
        join_waiting(w, p, port, number, packet, now_ps)
    else:
        join_fifo(w, p, port, number, packet, now_ps)


@inlined_kernel
def takes_anyway(w: Any, port: Any, packet: Any) -> bool:
    """Return whether a FIFO port takes a packet, and its longest queue stays, even if nothing has left it meanwhile."""
    if not w.counts_late or one_by_one(w, port) or not port.up:
        return False
    queue_packets, queue_bytes = port.queue_packets, port.queue_bytes
    longer = queue_packets >= port.max_queue_packets or queue_bytes + packet.bytes > port.max_queue_bytes
    return not longer and has_room(port, packet, queue_packets, queue_bytes)


@inlined_kernel
def let_in(w: Any, p: int, port: Any, number: int, packet: Any, now_ps: int) -> bool:
    """Return whether a port takes a packet when what has left its queue is counted; if not, the packet is dropped."""
    if not w.ordered:
        drain(w, p, port, now_ps)
    if not port.up:
        drop(w, p, number, LINK_DOWN, now_ps)
        return False
    decision = admit(w, p, port, number, now_ps)
    if decision >= EVICT:
        decision = make_room(w, p, number, decision, now_ps)
    if decision == REFUSE:
        drop(w, p, number, QUEUE_FULL, now_ps)
        return False
    if decision == MARK:
        put_mark(w, port, packet)
    return True


@inlined_kernel
def enqueue(w: Any, p: int, number: int, now_ps: int) -> None:
    """Offer a packet to a port."""
    port, packet = port_at(w.ports, p), packet_at(w.packets, number)
    port.packets_in += 1
    port.bytes_in += packet.bytes
    if not takes_anyway(w, port, packet) and not let_in(w, p, port, number, packet, now_ps):
        return
    if w.trace_level == TRACE_PACKETS:
        write_trace(w, ENQUEUED, 0, p, packet, now_ps, port.queue_packets)
    enter_queue(w, p, port, number, packet, now_ps)


@inlined_kernel
def leave_wire(w: Any, p: int, port: Any, now_ps: int) -> int:
    """Take the packet that arrives now off the link and return its number."""
    number = whole(port.head)
    packet = packet_at(w.packets, number)
    drain(w, p, port, now_ps - port.delay_ps)
    port.head = packet.next
    prefetch_packet(w.packets, port.head)
    follow_arrival(w, p, whole(port.head), NEVER if port.head == NONE else packet.next_arrive_ps)
    port.packets_arrived += 1
    counters_at(w.counters, 0).traversals += 1
    return number


@kernel
def fail(w: Any, p: int, port: Any, now_ps: int) -> None:
    """Drop what a port has not sent before `now_ps`; what is on the wire arrives."""
    drain(w, p, port, now_ps - 1)
    if port.queue_head == NONE:
        return
    if w.ordered:
        cancel(w, p)
    lost = cut_off(w, p, port)
    while lost != NONE:
        following = packet_at(w.packets, lost).next
        drop_queued(w, p, port, lost, now_ps)
        lost = following
    while port.wait_head != NONE:
        number = port.wait_head
        unlink(w, port, number, packet_at(w.packets, number))
        drop_queued(w, p, port, number, now_ps)
    port.free_ps = now_ps


@kernel
def cut_off(w: Any, p: int, port: Any) -> int:
    """Take what has not been sent out of the list of those that arrive, and return the first of it."""
    first, last = port.queue_head, NONE
    if port.head == first:
        port.head = NONE
        cancel_arrival(w, p)
    else:
        last = port.head
        while packet_at(w.packets, last).next != first:
            last = packet_at(w.packets, last).next
        packet_at(w.packets, last).next = NONE
        packet_at(w.packets, last).next_arrive_ps = NO_TIME_PS
    port.tail = last
    port.queue_head, port.queue_head_ps = NONE, NO_TIME_PS
    return whole(first)


@inlined_kernel
def drop_queued(w: Any, p: int, port: Any, number: int, now_ps: int) -> None:
    """Drop a packet whose link has failed."""
    undo_enqueue(w, port, packet_at(w.packets, number), now_ps)
    drop(w, p, number, LINK_DOWN, now_ps)

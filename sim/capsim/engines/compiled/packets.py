"""The compiled engine: the packet pool, the packet trace, and the loss of packets.

Unused packets are a list whose links are differences: the field `next` of packet `i` is `j - (i + 1)` if `j` is the
next unused one. So packets that nobody has written to, zeros, follow each other, and a larger pool needs no work.
"""

from typing import Any

from capsim.engines.compiled.jit import inlined_kernel, kernel, part
from capsim.engines.compiled.pointers import counters_at, packet_at, port_at, stack_at, sub_at, trace_at
from capsim.engines.compiled.tables import on_sent, whole
from capsim.engines.hosts.queue_counts import has_data
from capsim.engines.state import TRACE_DROPS
from capsim.records import CORRUPTED, DROPPED, NONE

has_data = part(has_data)


@inlined_kernel
def take_packet(w: Any) -> int:
    """Return the number of an unused packet."""
    counters = counters_at(w.counters, 0)
    number = counters.free
    packet = packet_at(w.packets, number)
    counters.free = number + 1 + packet.next
    counters.free_count -= 1
    counters.in_flight += 1
    packet.label = NONE
    packet.entropy = NONE
    return number


@inlined_kernel
def free_packet(w: Any, number: int) -> None:
    """Give a packet back to the pool."""
    counters = counters_at(w.counters, 0)
    packet_at(w.packets, number).next = counters.free - (number + 1)
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
    line.sub = packet.sub
    line.kind = packet.kind
    line.flags = packet.flags
    line.segment = packet.segment
    line.ack = packet.ack
    line.bytes = packet.bytes
    line.queue_packets = queue_packets


@kernel
def note_sent(w: Any, number: int, packet: Any, now_ps: int) -> None:
    """Tell a transport that asks for it that the NIC of its host takes a packet with data, or has dropped it."""
    s = whole(packet.sub)
    if has_data(packet) and stack_at(w.stacks, sub_at(w.subs, s).stack).on_sent != 0:
        on_sent(w, s, number, now_ps)


@kernel
def drop(w: Any, p: int, number: int, reason: int, now_ps: int) -> None:
    """Drop a packet at port `p`, or at a switch without a route if `p` is NONE."""
    packet = packet_at(w.packets, number)
    sub_at(w.subs, packet.sub).packets_dropped += 1
    queue_packets = 0
    if p != NONE:
        port = port_at(w.ports, p)
        port.packets_dropped += 1
        port.bytes_dropped += packet.bytes
        queue_packets = port.queue_packets
        if w.stamps and port.of_host:
            note_sent(w, number, packet, now_ps)
    else:
        counters_at(w.counters, 0).unroutable += 1
    if w.trace_level >= TRACE_DROPS:
        write_trace(w, DROPPED, reason, p, packet, now_ps, queue_packets)
    free_packet(w, number)


@kernel
def lose(w: Any, p: int, number: int, now_ps: int) -> None:
    """Lose a packet at the far end of its link."""
    port, packet = port_at(w.ports, p), packet_at(w.packets, number)
    port.packets_lost += 1
    port.bytes_lost += packet.bytes
    sub_at(w.subs, packet.sub).packets_dropped += 1
    if w.trace_level >= TRACE_DROPS:
        write_trace(w, DROPPED, CORRUPTED, p, packet, now_ps, 0)
    free_packet(w, number)

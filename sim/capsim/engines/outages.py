"""The compiled engine, part 4: a link fails. Queued packets are dropped, packets on the wire still arrive."""

from typing import Any

from capsim.engines.jit import kernel
from capsim.engines.links import drain, undo_enqueue, unlink
from capsim.engines.packets import drop
from capsim.engines.pointers import packet_at
from capsim.engines.trees import NEVER, set_time
from capsim.records import LINK_DOWN, NONE


@kernel
def fail_fifo(w: Any, p: int, port: Any, now_ps: int) -> None:
    """Drop what a FIFO port has not sent before `now_ps`; what is on the wire arrives."""
    drain(w, port, now_ps - 1)
    if port.queue_head == NONE:
        return
    number = port.queue_head
    last = NONE
    if port.head != number:
        last = port.head
        while packet_at(w.packets, last).next != number:
            last = packet_at(w.packets, last).next
        packet_at(w.packets, last).next = NONE
    port.tail = last
    if last == NONE:
        port.head = NONE
        set_time(w, w.arrive_tree, w.arrive_leaves, p, NEVER)
    port.queue_head = NONE
    while number != NONE:
        following = packet_at(w.packets, number).next
        undo_enqueue(w, port, packet_at(w.packets, number), now_ps)
        drop(w, p, number, LINK_DOWN, now_ps)
        number = following
    port.free_ps = now_ps


@kernel
def fail_waiting(w: Any, p: int, port: Any, now_ps: int) -> None:
    """Drop what a port by priority has not sent."""
    if port.service == NONE:
        return
    undo_enqueue(w, port, packet_at(w.packets, port.service), now_ps)
    drop(w, p, port.service, LINK_DOWN, now_ps)
    port.service = NONE
    set_time(w, w.depart_tree, w.depart_leaves, p, NEVER)
    while port.wait_head != NONE:
        number = port.wait_head
        unlink(w, port, packet_at(w.packets, number))
        undo_enqueue(w, port, packet_at(w.packets, number), now_ps)
        drop(w, p, number, LINK_DOWN, now_ps)
    port.free_ps = now_ps

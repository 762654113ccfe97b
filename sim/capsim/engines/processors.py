"""The processor of an end host, where coding takes time: one source, run by both engines.

Each host has one, first in, first out. A packet that comes to it at t is done at max(t, when it is free) + cost
(Lindley's recursion), which is known at once: so packets are chained in order, with one event for the first.
"""

from typing import Any

from capsim.engines.primitives import arm_processor, counters_at, packet_at, processor_at, whole
from capsim.records import NONE


def enter_processor(w: Any, h: int, number: int, cost_ps: int, now_ps: int) -> None:
    """Append a packet to those that the processor of a host works on."""
    processor, packet = processor_at(w.processors, h), packet_at(w.packets, number)
    counters_at(w.counters, 0).held += 1
    processor.free_ps = max(processor.free_ps, now_ps) + cost_ps
    packet.arrive_ps = processor.free_ps
    packet.next = NONE
    last = whole(processor.tail)
    processor.tail = number
    if processor.head != NONE:
        packet_at(w.packets, last).next = number
        return
    processor.head = number
    arm_processor(w, h)


def leave_processor(w: Any, h: int) -> int:
    """Take away the packet that the processor of a host is done with, and return its number."""
    processor = processor_at(w.processors, h)
    number = whole(processor.head)
    counters_at(w.counters, 0).held -= 1
    processor.head = packet_at(w.packets, number).next
    arm_processor(w, h)
    return number

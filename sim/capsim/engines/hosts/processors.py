"""Delays of packets in an end host, first in, first out: one source, run by both engines.

Where coding takes time each host has a processor. A packet that comes to it at t is done at max(t, when it is free) +
cost (Lindley's recursion). With a jitter of flows each subflow has a stage on its way to the NIC: a packet that comes
at t leaves it at t + delay, or with the packet before it if that leaves later. Either time is known at once: so packets
are chained in order, with one event for the first. Numbers of stages follow those of the hosts.
"""

from typing import Any

from capsim.engines.hosts.host_jitter import send_delay_ps
from capsim.engines.hosts.primitives import (
    arm_processor,
    counters_at,
    enqueue,
    int_at,
    packet_at,
    processor_at,
    sub_at,
    whole,
)
from capsim.records import NONE


def enter_processor(w: Any, h: int, number: int, cost_ps: int, now_ps: int) -> None:
    """Append a packet to those that the processor of a host works on."""
    append(w, h, number, max(processor_at(w.processors, h).free_ps, now_ps) + cost_ps)


def leave_host(w: Any, number: int, now_ps: int) -> None:
    """Let a packet go from its sender to the NIC, at once or after its delay in the stage of its subflow."""
    sub = sub_at(w.subs, packet_at(w.packets, number).sub)
    if w.flow_jitter_ps == 0:
        enqueue(w, int_at(w.host_port, sub.src), number, now_ps)
        return
    stage = w.n_hosts + whole(sub.flow) * w.stages_of_flow + whole(sub.number)
    processor = processor_at(w.processors, stage)
    delay_ps = send_delay_ps(w.flow_jitter_ps, w.flow_jitter_seed, stage, processor.packets)
    append(w, stage, number, max(processor.free_ps, now_ps + delay_ps))


def append(w: Any, h: int, number: int, done_ps: int) -> None:
    """Append a packet that is done at a time to those of a processor or stage."""
    processor, packet = processor_at(w.processors, h), packet_at(w.packets, number)
    counters_at(w.counters, 0).held += 1
    processor.packets += 1
    processor.free_ps = done_ps
    packet.arrive_ps = done_ps
    packet.next = NONE
    last = whole(processor.tail)
    processor.tail = number
    if processor.head != NONE:
        packet_at(w.packets, last).next = number
        return
    processor.head = number
    arm_processor(w, h)


def leave_processor(w: Any, h: int) -> int:
    """Take away the packet that a processor or stage is done with, and return its number."""
    processor = processor_at(w.processors, h)
    number = whole(processor.head)
    counters_at(w.counters, 0).held -= 1
    processor.head = packet_at(w.packets, number).next
    arm_processor(w, h)
    return number

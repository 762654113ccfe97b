"""Events of an end host: a flow begins, a deadline is reached, a packet arrives or is encoded or decoded.

One source, run by both engines (:mod:`capsim.engines.hosts.primitives`); what the host then does is in
:mod:`~capsim.engines.hosts.senders` and :mod:`~capsim.engines.hosts.receivers`.
"""

from typing import Any

from capsim.engines.hosts.primitives import (
    arm,
    arm_flow,
    begin,
    counters_at,
    decodes,
    enqueue,
    flow_at,
    int_at,
    observe,
    packet_at,
    stack_at,
    sub_at,
    whole,
)
from capsim.engines.hosts.processors import enter_processor, leave_host, leave_processor
from capsim.engines.hosts.receivers import (
    acknowledge_late,
    deliver_header,
    deliver_to_layer,
    deliver_to_transport,
    deliver_waiting,
)
from capsim.engines.hosts.senders import acknowledge, expire, finish_sending, notify, open_subflow, pump, push_layer
from capsim.engines.hosts.subflows import prepare_stream
from capsim.records import ACK, NONE, SYN_ACK, TRIMMED
from capsim.roles.hooks import JOINED

# Kinds of wake: of a subflow (the first three), of a flow, of a host
TIMEOUT, SEND_WAKE, RECEIVE_WAKE, MANAGE, WORK = range(5)


def start(w: Any, f: int, now_ps: int) -> None:
    """Open the first subflows of a flow, and see to those that are to be opened later."""
    prepare_stream(w, f)
    open_subflows(w, f, begin(w, f, now_ps), now_ps)
    if flow_at(w.flows, f).to_open:
        arm_flow(w, f)


def open_subflows(w: Any, f: int, count: int, now_ps: int) -> None:
    """Open subflows of a flow one after another."""
    for opened in range(count):
        flow_at(w.flows, f).opening = count - 1 - opened
        open_subflow(w, f, now_ps)


def manage(w: Any, f: int, now_ps: int) -> None:
    """Open further subflows of a flow, if that is still due, and ask what shares the stream for more.

    A flow without any has waited for others, and begins.
    """
    flow = flow_at(w.flows, f)
    if flow.n_subs == 0 and flow.to_open == 0:
        flow.wake_ps = NONE
        counters_at(w.counters, 0).due -= 1
        start(w, f, now_ps)
        return
    count = flow.to_open
    flow.to_open = 0
    flow.wake_ps = NONE
    if flow.acked_ps != NONE:
        return
    open_subflows(w, f, count, now_ps)
    if JOINED & stack_at(w.stacks, flow.stack).listens:
        notify(w, whole(flow.last_sub), JOINED, now_ps)


def wake(w: Any, kind: int, number: int, now_ps: int) -> None:
    """Act on a deadline of a subflow or of a flow, or on the end of work of a host."""
    if kind == TIMEOUT:
        expire(w, number, now_ps)
    elif kind == SEND_WAKE:
        if stack_at(w.stacks, sub_at(w.subs, number).stack).emit != 0:
            push_layer(w, number, now_ps)
            arm(w, number)
        else:
            pump(w, number, now_ps)
            finish_sending(w, number, now_ps)
    elif kind == RECEIVE_WAKE:
        if stack_at(w.stacks, sub_at(w.subs, number).stack).late_acks:
            acknowledge_late(w, number, now_ps)
        else:
            deliver_waiting(w, number, now_ps)
    elif kind == MANAGE:
        manage(w, number, now_ps)
    else:
        finish_work(w, number, now_ps)


def finish_work(w: Any, h: int, now_ps: int) -> None:
    """Pass on the packet that a processor is done with, to the layer if it has come, or that leaves a stage."""
    number = leave_processor(w, h)
    packet = packet_at(w.packets, number)
    if packet.target == h:
        deliver_to_layer(w, whole(packet.sub), number, now_ps)
    elif h < w.n_hosts:
        leave_host(w, number, now_ps)
    else:
        enqueue(w, int_at(w.host_port, sub_at(w.subs, packet.sub).src), number, now_ps)


def deliver(w: Any, number: int, now_ps: int) -> None:
    """Deliver a packet to the end host that it was sent to."""
    packet = packet_at(w.packets, number)
    s = whole(packet.sub)
    stack = stack_at(w.stacks, sub_at(w.subs, s).stack)
    if packet.kind == ACK or packet.kind == SYN_ACK:
        if stack.observe != 0:
            observe(w, s, number, now_ps)
        acknowledge(w, s, number, now_ps)
    elif packet.flags & TRIMMED:
        deliver_header(w, s, number, now_ps)
    elif stack.collect == 0:
        deliver_to_transport(w, s, number, now_ps)
    elif w.decode_ps and stack.decodes != 0 and decodes(w, s, number):
        enter_processor(w, whole(packet.target), number, w.decode_ps, now_ps)
    else:
        deliver_to_layer(w, s, number, now_ps)

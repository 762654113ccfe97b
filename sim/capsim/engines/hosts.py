"""What makes an end host act: a flow begins, a deadline is reached, a packet arrives.

One source, run by both engines (:mod:`capsim.engines.primitives`); what the host then does is in
:mod:`~capsim.engines.senders` and :mod:`~capsim.engines.receivers`.
"""

from typing import Any

from capsim.engines.primitives import (
    arm,
    begin,
    flow_at,
    observe,
    on_timeout,
    packet_at,
    stack_at,
    sub_at,
    whole,
)
from capsim.engines.receivers import deliver_collected, deliver_to_transport, deliver_waiting
from capsim.engines.senders import acknowledge, finish_sending, heed, notify, open_subflow, pump, push_layer
from capsim.engines.subflows import prepare_stream
from capsim.hooks import JOINED
from capsim.records import ACK, NONE, SYN_ACK

# Kinds of wake: of a subflow (the first three), of a flow
TIMEOUT, SEND_WAKE, RECEIVE_WAKE, MANAGE = range(4)


def start(w: Any, f: int, now_ps: int) -> None:
    """Open the first subflows of a flow."""
    prepare_stream(w, f)
    for _ in range(begin(w, f, now_ps)):
        open_subflow(w, f, now_ps)


def manage(w: Any, f: int, now_ps: int) -> None:
    """Open further subflows of a flow, if that is still due, and ask what shares the stream for more."""
    flow = flow_at(w.flows, f)
    count = flow.to_open
    flow.to_open = 0
    flow.wake_ps = NONE
    if flow.acked_ps != NONE:
        return
    for _ in range(count):
        open_subflow(w, f, now_ps)
    if JOINED & stack_at(w.stacks, flow.stack).listens:
        notify(w, whole(flow.last_sub), JOINED, now_ps)


def wake(w: Any, kind: int, number: int, now_ps: int) -> None:
    """Act on a deadline of a subflow or of a flow."""
    if kind == TIMEOUT:
        heed(w, number, on_timeout(w, number, now_ps), now_ps)
        pump(w, number, now_ps)
        finish_sending(w, number, now_ps)
    elif kind == SEND_WAKE:
        if stack_at(w.stacks, sub_at(w.subs, number).stack).emit != 0:
            push_layer(w, number, now_ps)
            arm(w, number)
        else:
            pump(w, number, now_ps)
            finish_sending(w, number, now_ps)
    elif kind == RECEIVE_WAKE:
        deliver_waiting(w, number, now_ps)
    else:
        manage(w, number, now_ps)


def deliver(w: Any, number: int, now_ps: int) -> None:
    """Deliver a packet to the end host that it was sent to."""
    packet = packet_at(w.packets, number)
    s = whole(packet.sub)
    stack = stack_at(w.stacks, sub_at(w.subs, s).stack)
    if packet.kind == ACK or packet.kind == SYN_ACK:
        if stack.observe != 0:
            observe(w, s, number, now_ps)
        acknowledge(w, s, number, now_ps)
    elif stack.collect == 0:
        deliver_to_transport(w, s, number, now_ps)
    else:
        deliver_collected(w, s, number, now_ps)
        if stack.release != 0 or stack.resume != 0:
            deliver_waiting(w, s, now_ps)

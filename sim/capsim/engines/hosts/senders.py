"""The sending end host: one source, run by both engines (:mod:`capsim.engines.hosts.primitives`)."""

from typing import Any

from capsim.engines.hosts.primitives import (
    accept,
    arm,
    arm_flow,
    combine,
    emit,
    encodes,
    flow_at,
    free_packet,
    learn,
    mark,
    new_subflow,
    nic_now,
    note,
    on_ack,
    on_sent,
    on_timeout,
    open_,
    packet_at,
    react,
    schedule,
    send,
    stack_at,
    sub_at,
    take_packet,
    whole,
)
from capsim.engines.hosts.processors import enter_processor, leave_host
from capsim.engines.hosts.reordering import judge
from capsim.engines.hosts.subflows import (
    close,
    data_acknowledged,
    enter_subflow,
    finish_flow,
    finish_shared,
    flow_draw,
    mark_draw,
    note_ready,
    offer_data,
    pin,
    put_data,
)
from capsim.records import CLOSED, CODED, DATA, ESTABLISHED, NONE
from capsim.roles.hooks import CERTAIN, EXPIRED, FOLLOW, KEEP, LOST, OPENED, PASS


def open_subflow(w: Any, f: int, now_ps: int) -> None:
    """Open one more subflow of a flow and send what it has to send."""
    s = new_subflow(w, f)
    enter_subflow(w, f, s, now_ps)
    sub = sub_at(w.subs, s)
    open_(w, s, now_ps)
    if sub.state == ESTABLISHED:
        heed(w, s, OPENED, now_ps)
    pump(w, s, now_ps)
    finish_sending(w, s, now_ps)


def launch(w: Any, s: int, number: int, now_ps: int) -> None:
    """Send a packet of a subflow from its source."""
    sub, packet = sub_at(w.subs, s), packet_at(w.packets, number)
    packet.sub = s
    packet.target = sub.dst
    packet.hash = sub.hash
    if packet.kind == DATA or packet.kind == CODED:
        sub.packets_sent += 1
        sub.bytes_sent += packet.bytes
    stack = stack_at(w.stacks, sub.stack)
    if stack.mark != 0:
        packet.hash = mark(w, s, number, mark_draw(w, s))
    pin(w, s, number)
    if w.encode_ps and stack.encodes != 0 and encodes(w, s, number):
        enter_processor(w, whole(sub.src), number, w.encode_ps, now_ps)
    else:
        leave_host(w, number, now_ps)


def pump(w: Any, s: int, now_ps: int) -> None:
    """Send all that a subflow has to send, and share further data segments among the subflows of its flow."""
    push(w, s, now_ps)
    sub = sub_at(w.subs, s)
    if sub.shared:
        f = whole(sub.flow)
        chosen = schedule(w, f, now_ps)
        while chosen != NONE:
            push(w, chosen, now_ps)
            chosen = schedule(w, f, now_ps)


def push(w: Any, s: int, now_ps: int) -> None:
    """Send all that the transport of a subflow has to send now, then set its timers."""
    sub = sub_at(w.subs, s)
    stack = stack_at(w.stacks, sub.stack)
    if sub.shared:
        offer_data(w, s)
    sub.ready = 0
    number = take_packet(w)
    while send(w, s, number, now_ps):
        decision, coded_on = PASS, NONE
        if sub.shared:
            put_data(w, s, number)
            if stack.combine != 0:
                coded_on = combine(w, s, number, now_ps)
        if stack.accept != 0:
            decision = accept(w, s, number, now_ps)
        if decision != KEEP:
            launch(w, s, number, now_ps)
            number = take_packet(w)
        else:
            keep(w, s, number, now_ps)
        if decision == FOLLOW:
            push_layer(w, s, now_ps)
        if coded_on != NONE:
            push_layer(w, coded_on, now_ps)
    free_packet(w, number)
    note_ready(w, s)
    if stack.emits_unasked:
        push_layer(w, s, now_ps)
    arm(w, s)


def keep(w: Any, s: int, number: int, now_ps: int) -> None:
    """Leave a packet to the layer: for the transport it has left the host."""
    if stack_at(w.stacks, sub_at(w.subs, s).stack).on_sent != 0:
        on_sent(w, s, number, now_ps)


def push_layer(w: Any, s: int, now_ps: int) -> None:
    """Send what the layer has ready."""
    number = take_packet(w)
    while emit(w, s, number, now_ps):
        launch(w, s, number, now_ps)
        number = take_packet(w)
    free_packet(w, number)


def heed(w: Any, s: int, signals: int, now_ps: int) -> None:
    """Tell congestion control, and what shares the stream, what has happened."""
    if signals == 0:
        return
    sub = sub_at(w.subs, s)
    if signals & (LOST | EXPIRED) and not signals & CERTAIN:
        sub.in_doubt = 1
    if signals & OPENED:
        sub.established_ps = now_ps
    react(w, s, signals, now_ps)
    if signals & stack_at(w.stacks, sub.stack).listens:
        notify(w, s, signals, now_ps)


def notify(w: Any, s: int, signals: int, now_ps: int) -> None:
    """Tell what shares the stream; open what it asks for, close the subflows that it has closed."""
    f = whole(sub_at(w.subs, s).flow)
    flow = flow_at(w.flows, f)
    u0 = 0.0
    if stack_at(w.stacks, flow.stack).note_draws:
        u0 = flow_draw(w, f)
    count = note(w, s, signals, now_ps, u0)
    if count:
        flow.to_open += count
        flow.wake_ps = max(flow.wake_ps, now_ps)
        arm_flow(w, f)
    other = whole(flow.first_sub)
    while other != NONE:
        sub = sub_at(w.subs, other)
        if sub.state == CLOSED and sub.closed_ps == NONE and (sub.shared or sub.una != sub.end):
            close(w, other, now_ps)
        other = whole(sub.next_sub)


def acknowledge(w: Any, s: int, number: int, now_ps: int) -> None:
    """Deliver an acknowledgement to the sender, and send what it allows."""
    judge(w, s, number)
    stack = stack_at(w.stacks, sub_at(w.subs, s).stack)
    if stack.on_sent != 0:
        nic_now(w, whole(sub_at(w.subs, s).src), now_ps)
    signals = on_ack(w, s, number, now_ps)
    if stack.learn != 0:
        learn(w, s, number, signals, now_ps)
    if sub_at(w.subs, s).shared:
        signals |= data_acknowledged(w, s, number, now_ps)
    free_packet(w, number)
    heed(w, s, signals, now_ps)
    pump(w, s, now_ps)
    finish_sending(w, s, now_ps)


def expire(w: Any, s: int, now_ps: int) -> None:
    """Let the retransmission timer of a subflow fire, and send what follows."""
    stack = stack_at(w.stacks, sub_at(w.subs, s).stack)
    if stack.on_sent != 0:
        nic_now(w, whole(sub_at(w.subs, s).src), now_ps)
    signals = on_timeout(w, s, now_ps)
    if stack.learn != 0:
        number = take_packet(w)
        learn(w, s, number, signals, now_ps)
        free_packet(w, number)
    heed(w, s, signals, now_ps)
    pump(w, s, now_ps)
    finish_sending(w, s, now_ps)


def finish_sending(w: Any, s: int, now_ps: int) -> None:
    """Close a subflow when all that it carries is acknowledged; subflows that share a stream close together."""
    sub = sub_at(w.subs, s)
    if sub.shared:
        finish_shared(w, s, now_ps)
        return
    if sub.closed_ps != NONE or sub.una != sub.end:
        return
    close(w, s, now_ps)
    flow = flow_at(w.flows, sub.flow)
    if flow.acked_ps == NONE:
        finish_flow(w, whole(sub.flow), now_ps)

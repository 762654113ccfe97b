"""What end hosts do: one source, run by both engines (:mod:`capsim.engines.primitives`)."""

from typing import Any

from capsim.engines.primitives import (
    accept,
    arm,
    arm_flow,
    begin,
    collect,
    decodes,
    emit,
    encodes,
    enqueue,
    flow_at,
    free_packet,
    int_at,
    mark,
    new_subflow,
    note,
    observe,
    on_ack,
    on_data,
    on_timeout,
    open_,
    packet_at,
    react,
    release,
    resume,
    schedule,
    send,
    stack_at,
    sub_at,
    take_packet,
    whole,
)
from capsim.engines.processors import enter_processor, leave_processor
from capsim.engines.reordering import judge, note_extent
from capsim.engines.subflows import (
    address_reply,
    close,
    data_acknowledged,
    enter_subflow,
    finish_shared,
    flow_draw,
    hold,
    let_go,
    mark_draw,
    offer_data,
    pin,
    prepare_stream,
    put_data,
    take_data,
)
from capsim.hooks import COMPLETE, DELIVER, EXPIRED, FOLLOW, HOLD, JOINED, KEEP, LOST, OPENED, PASS
from capsim.records import ACK, CLOSED, CODED, DATA, ESTABLISHED, NONE, SYN_ACK

# Kinds of wake: of a subflow (the first three), of a flow, of a host
TIMEOUT, SEND_WAKE, RECEIVE_WAKE, MANAGE, WORK = range(5)


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
    if sub.shared:
        put_data(w, s, number)
    stack = stack_at(w.stacks, sub.stack)
    if stack.mark != 0:
        packet.hash = mark(w, s, number, mark_draw(w, s))
    pin(w, s, number)
    if w.encode_ps and stack.encodes != 0 and encodes(w, s, number):
        enter_processor(w, whole(sub.src), number, w.encode_ps, now_ps)
    else:
        enqueue(w, int_at(w.host_port, sub.src), number, now_ps)


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
    sub.hungry = 0
    if sub.shared:
        offer_data(w, s)
    number = take_packet(w)
    while send(w, s, number, now_ps):
        verdict = PASS
        if stack.accept != 0:
            verdict = accept(w, s, number, now_ps)
        if verdict != KEEP:
            launch(w, s, number, now_ps)
            number = take_packet(w)
        if verdict == FOLLOW:
            push_layer(w, s, now_ps)
    free_packet(w, number)
    if stack.emit != 0:
        push_layer(w, s, now_ps)
    arm(w, s)


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
    if signals & (LOST | EXPIRED):
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


def wake(w: Any, kind: int, number: int, now_ps: int) -> None:
    """Act on a deadline of a subflow or of a flow, or on the end of work of a host."""
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
    elif kind == MANAGE:
        manage(w, number, now_ps)
    else:
        finish_work(w, number, now_ps)


def finish_work(w: Any, h: int, now_ps: int) -> None:
    """Pass on the packet that the processor of a host is done with: to the layer if it has come, else to the NIC."""
    number = leave_processor(w, h)
    packet = packet_at(w.packets, number)
    if packet.target == h:
        deliver_to_layer(w, whole(packet.sub), number, now_ps)
    else:
        enqueue(w, int_at(w.host_port, h), number, now_ps)


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
    elif w.decode_ps and stack.decodes != 0 and decodes(w, s, number):
        enter_processor(w, whole(packet.target), number, w.decode_ps, now_ps)
    else:
        deliver_to_layer(w, s, number, now_ps)


def acknowledge(w: Any, s: int, number: int, now_ps: int) -> None:
    """Deliver an acknowledgement to the sender, and send what it allows."""
    judge(w, s, number)
    signals = on_ack(w, s, number, now_ps)
    if sub_at(w.subs, s).shared:
        signals |= data_acknowledged(w, s, number, now_ps)
    free_packet(w, number)
    heed(w, s, signals, now_ps)
    pump(w, s, now_ps)
    finish_sending(w, s, now_ps)


def deliver_to_layer(w: Any, s: int, number: int, now_ps: int) -> None:
    """Give a packet to the layer, then deliver what that has ready."""
    stack = stack_at(w.stacks, sub_at(w.subs, s).stack)
    deliver_collected(w, s, number, now_ps)
    if stack.release != 0 or stack.resume != 0:
        deliver_waiting(w, s, now_ps)


def deliver_collected(w: Any, s: int, number: int, now_ps: int) -> None:
    """Do with a packet what the layer says."""
    verdict = collect(w, s, number, now_ps)
    if verdict == DELIVER:
        deliver_to_transport(w, s, number, now_ps)
    elif verdict == HOLD:
        hold(w, s, number)
    else:
        free_packet(w, number)


def deliver_waiting(w: Any, s: int, now_ps: int) -> None:
    """Deliver to the transport what the layer releases and what of the held packets it lets go."""
    sub = sub_at(w.subs, s)
    stack = stack_at(w.stacks, sub.stack)
    if stack.release != 0:
        deliver_released(w, s, now_ps)
    if stack.resume != 0:
        while sub.held != NONE and resume(w, s, whole(sub.held), now_ps):
            deliver_to_transport(w, s, let_go(w, s), now_ps)
    arm(w, s)


def deliver_released(w: Any, s: int, now_ps: int) -> None:
    """Deliver to the transport what the layer releases."""
    number = take_packet(w)
    while release(w, s, number, now_ps):
        deliver_to_transport(w, s, number, now_ps)
        number = take_packet(w)
    free_packet(w, number)


def deliver_to_transport(w: Any, s: int, number: int, now_ps: int) -> None:
    """Deliver a packet to the receiving transport and send its reply."""
    sub = sub_at(w.subs, s)
    if sub.shared:
        if not take_data(w, s, number):
            free_packet(w, number)
            return
        complete_shared(w, s, now_ps)
    if w.histograms and packet_at(w.packets, number).kind == DATA:
        note_extent(w, s, number)
    replies = on_data(w, s, number, now_ps)
    if sub.received_ps == NONE and sub.receive_next == sub.end and sub.final:
        finish_receiving(w, s, now_ps)
    if replies:
        address_reply(w, s, number)
        enqueue(w, int_at(w.host_port, sub.dst), number, now_ps)
    else:
        free_packet(w, number)


def finish_receiving(w: Any, s: int, now_ps: int) -> None:
    """Note that all that a subflow carries has arrived; the first that carries all of a stream completes the flow."""
    sub = sub_at(w.subs, s)
    sub.received_ps = now_ps
    if flow_at(w.flows, sub.flow).received_ps == NONE and not sub.shared:
        complete(w, s, now_ps)


def complete_shared(w: Any, s: int, now_ps: int) -> None:
    """Complete a flow whose subflows share its stream when the last data segment has come."""
    flow = flow_at(w.flows, sub_at(w.subs, s).flow)
    if flow.received_ps == NONE and flow.data_next == flow.n_segments:
        complete(w, s, now_ps)


def complete(w: Any, s: int, now_ps: int) -> None:
    """Note that the receiver has all of a flow; subflow `s` has brought what was missing."""
    sub = sub_at(w.subs, s)
    flow = flow_at(w.flows, sub.flow)
    flow.received_ps = now_ps
    flow.winner = s
    if COMPLETE & stack_at(w.stacks, sub.stack).listens:
        notify(w, s, COMPLETE, now_ps)


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
        flow.acked_ps = now_ps

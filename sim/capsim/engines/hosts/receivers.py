"""The receiving end host: one source, run by both engines (:mod:`capsim.engines.hosts.primitives`)."""

from typing import Any

from capsim.engines.hosts.primitives import (
    arm,
    collect,
    enqueue,
    flow_at,
    free_packet,
    int_at,
    on_data,
    on_receive_timer,
    packet_at,
    recover,
    release,
    resume,
    stack_at,
    sub_at,
    take_packet,
    whole,
)
from capsim.engines.hosts.reordering import note_extent
from capsim.engines.hosts.senders import notify
from capsim.engines.hosts.subflows import address_reply, hold, let_begin, let_go, take_data, tell_stream
from capsim.records import DATA, NONE
from capsim.roles.hooks import COMPLETE, DELIVER_ALONE, HOLD, TAKE


def deliver_to_layer(w: Any, s: int, number: int, now_ps: int) -> None:
    """Give a packet to the layer, then deliver what that has ready."""
    stack = stack_at(w.stacks, sub_at(w.subs, s).stack)
    decision = collect(w, s, number, now_ps)
    if decision == HOLD:
        hold(w, s, number)
    elif decision == TAKE:
        free_packet(w, number)
    else:
        deliver_to_transport(w, s, number, now_ps)
    if decision != DELIVER_ALONE and (stack.release != 0 or stack.recover != 0 or stack.resume != 0):
        deliver_waiting(w, s, now_ps)


def deliver_waiting(w: Any, s: int, now_ps: int) -> None:
    """Deliver to the transport what the layer releases and decodes, and what of the held packets it lets go."""
    sub = sub_at(w.subs, s)
    stack = stack_at(w.stacks, sub.stack)
    if stack.release != 0:
        deliver_released(w, s, now_ps)
    if stack.recover != 0 and sub.shared:
        deliver_recovered(w, s, now_ps)
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


def deliver_recovered(w: Any, s: int, now_ps: int) -> None:
    """Deliver the data segments of a shared stream that the layer has decoded after a packet on subflow `s`."""
    number = take_packet(w)
    while recover(w, s, number, now_ps):
        deliver_to_transport(w, whole(packet_at(w.packets, number).sub), number, now_ps)
        number = take_packet(w)
    free_packet(w, number)


def deliver_to_transport(w: Any, s: int, number: int, now_ps: int) -> None:
    """Deliver a packet to the receiving transport and send its reply; one without a segment is for the stream only."""
    sub = sub_at(w.subs, s)
    if sub.shared:
        if not take_data(w, s, number):
            free_packet(w, number)
            return
        complete_shared(w, s, now_ps)
        if packet_at(w.packets, number).segment == NONE:
            free_packet(w, number)
            return
    if w.histograms and packet_at(w.packets, number).kind == DATA:
        note_extent(w, s, number)
    replies = on_data(w, s, number, now_ps)
    if sub.received_ps == NONE and sub.receive_next == sub.end and sub.final:
        finish_receiving(w, s, now_ps)
    if replies:
        reply(w, s, number, now_ps)
    else:
        free_packet(w, number)
    if stack_at(w.stacks, sub.stack).late_acks:
        arm(w, s)


def reply(w: Any, s: int, number: int, now_ps: int) -> None:
    """Send an acknowledgement."""
    address_reply(w, s, number)
    enqueue(w, int_at(w.host_port, sub_at(w.subs, s).dst), number, now_ps)


def deliver_header(w: Any, s: int, number: int, now_ps: int) -> None:
    """Tell the transport of a data packet of which only the header has come; of any other one nothing is left."""
    sub, packet = sub_at(w.subs, s), packet_at(w.packets, number)
    reads = packet.kind == DATA and stack_at(w.stacks, sub.stack).reads_headers
    if reads and on_data(w, s, number, now_ps):
        if sub.shared:
            tell_stream(w, s, number)
        reply(w, s, number, now_ps)
    else:
        free_packet(w, number)
    if stack_at(w.stacks, sub.stack).late_acks:
        arm(w, s)


def acknowledge_late(w: Any, s: int, now_ps: int) -> None:
    """Send the acknowledgement that the transport has put off, unless another one has left meanwhile."""
    sub, number = sub_at(w.subs, s), take_packet(w)
    if on_receive_timer(w, s, number, now_ps):
        if sub.shared:
            tell_stream(w, s, number)
        reply(w, s, number, now_ps)
    else:
        free_packet(w, number)
    arm(w, s)


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
    let_begin(w, whole(sub.flow), 0, now_ps)
    if COMPLETE & stack_at(w.stacks, sub.stack).listens:
        notify(w, s, COMPLETE, now_ps)

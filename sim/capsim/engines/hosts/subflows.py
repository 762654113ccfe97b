"""Records of subflows and of streams that several share: one source, run by both engines.

A stream has data segments 0 .. n-1. A subflow that carries all of it numbers its segments likewise. Subflows that share
it are granted data segments one by one (`schedule`): ``maps`` says which data segment a segment of theirs is, ``data``
holds what is known of each data segment that is not yet acknowledged.
"""

from typing import Any

from capsim.base.randomness import key_of, uniform
from capsim.engines.hosts.primitives import (
    arm_flow,
    counters_at,
    data_of,
    flow_at,
    int_at,
    maps_of,
    packet_at,
    stack_at,
    sub_at,
    wait_at,
    whole,
)
from capsim.records import CLOSED, DATA, DATA_RECEIVED, NONE
from capsim.roles.hooks import DATA_ACKED


def ring_size(n_segments: int, window: int) -> int:
    """Return the length of a ring for what can be in flight, as `ring_segments` of `initial_state` has it."""
    size = 1
    while size < min(n_segments, window):
        size *= 2
    return size


def prepare_stream(w: Any, f: int) -> None:
    """Reserve the flags of a shared stream; its receive buffer holds at most as many data segments."""
    flow = flow_at(w.flows, f)
    if not flow.shared:
        return
    stack, counters = stack_at(w.stacks, flow.stack), counters_at(w.counters, 0)
    size = ring_size(flow.n_segments, stack.stream_segments)
    flow.data_ring, flow.data_mask = counters.data_end, size - 1
    counters.data_end += size
    flow.buffer_segments = size
    flow.peer_window = size


def let_begin(w: Any, f: int, at_sender: int, now_ps: int) -> None:
    """Let the flows begin that waited for flow `f`, which is complete at its sender or receiver, and for no other."""
    if w.n_waits == 0:
        return
    wait = wait_at(w.waits, f)
    for index in range(wait.first, wait.first + wait.dependents):
        number = int_at(w.dependents, index)
        other = wait_at(w.waits, number)
        if other.at_sender == at_sender:
            other.left -= 1
            if other.left == 0:
                flow = flow_at(w.flows, number)
                flow.begin_ps = now_ps + flow.start_ps
                flow.wake_ps = flow.begin_ps
                counters_at(w.counters, 0).due += 1
                arm_flow(w, number)


def finish_flow(w: Any, f: int, now_ps: int) -> None:
    """Note that the sender of flow `f` knows it complete, and let the flows begin that waited for that."""
    flow = flow_at(w.flows, f)
    flow.acked_ps = now_ps
    counters_at(w.counters, 0).awaited -= flow.counted
    let_begin(w, f, 1, now_ps)


def enter_subflow(w: Any, f: int, s: int, now_ps: int) -> None:
    """Fill in the record of a new subflow and chain it to its flow."""
    flow, sub = flow_at(w.flows, f), sub_at(w.subs, s)
    sub.id, sub.flow, sub.stack, sub.src, sub.dst = s, f, flow.stack, flow.src, flow.dst
    sub.short, sub.shared, sub.number = flow.known_short, flow.shared, flow.n_subs
    sub.priority, sub.mss_bytes = stack_at(w.stacks, flow.stack).priority, flow.mss_bytes
    stream = f + flow.n_subs * w.n_flows  # the first subflow has the same hash however many there are
    sub.hash, sub.reverse_hash = key_of(w.data_hash_seed, stream), key_of(w.ack_hash_seed, stream)
    sub.short_segment = NONE
    if not flow.shared:
        sub.end = flow.n_segments
        sub.final = 1
        sub.short_segment = flow.n_segments - 1
        sub.short_bytes = flow.last_segment_bytes
    sub.timer_ps, sub.send_wake_ps, sub.receive_wake_ps = NONE, NONE, NONE
    sub.open_ps, sub.established_ps, sub.received_ps, sub.closed_ps = now_ps, NONE, NONE, NONE
    sub.next_sub, sub.held = NONE, NONE
    take_ring(w, flow, sub)
    if flow.first_sub == NONE:
        flow.first_sub = s
    else:
        sub_at(w.subs, flow.last_sub).next_sub = s
    flow.last_sub = s
    flow.n_subs += 1
    counters_at(w.counters, 0).open_subs += 1


def take_ring(w: Any, flow: Any, sub: Any) -> None:
    """Reserve the flags of the segments that a subflow can have in flight."""
    counters = counters_at(w.counters, 0)
    size = ring_size(flow.n_segments, stack_at(w.stacks, flow.stack).window_segments)
    sub.ring, sub.ring_mask = counters.ring_end, size - 1
    counters.ring_end += size


def flow_draw(w: Any, f: int) -> float:
    """Return the next uniform number of a flow."""
    flow = flow_at(w.flows, f)
    flow.draws += 1
    return uniform(key_of(w.sharing_seed, f), flow.draws)


def mark_draw(w: Any, s: int) -> float:
    """Return the uniform number for the mark of the packet that a subflow sends now, from a stream of its own."""
    sub = sub_at(w.subs, s)
    return uniform(key_of(w.sharing_seed, whole(sub.flow) + (whole(sub.number) + 1) * w.n_flows), sub.packets_sent)


def close(w: Any, s: int, now_ps: int) -> None:
    """Close a subflow."""
    sub = sub_at(w.subs, s)
    sub.state = CLOSED
    sub.closed_ps = now_ps
    sub.timer_ps, sub.send_wake_ps = NONE, NONE
    counters_at(w.counters, 0).open_subs -= 1


def hold(w: Any, s: int, number: int) -> None:
    """Keep a packet at the receiver: behind those of earlier segments, and behind those of the same one.

    The held packets are a ring, so that the last is the one before the first.
    """
    sub, packet = sub_at(w.subs, s), packet_at(w.packets, number)
    counters_at(w.counters, 0).held += 1
    first = whole(sub.held)
    if first == NONE:
        packet.next, packet.previous = number, number
        sub.held = number
        return
    before = whole(packet_at(w.packets, first).previous)
    if packet.segment < packet_at(w.packets, first).segment:
        sub.held = number
    else:
        while packet_at(w.packets, before).segment > packet.segment:
            before = whole(packet_at(w.packets, before).previous)
    behind = whole(packet_at(w.packets, before).next)
    packet.previous, packet.next = before, behind
    packet_at(w.packets, before).next = number
    packet_at(w.packets, behind).previous = number


def let_go(w: Any, s: int) -> int:
    """Take the first packet out of those that are held and return its number."""
    sub = sub_at(w.subs, s)
    number = whole(sub.held)
    packet = packet_at(w.packets, number)
    counters_at(w.counters, 0).held -= 1
    sub.held = NONE if packet.next == number else packet.next
    packet_at(w.packets, packet.previous).next = packet.next
    packet_at(w.packets, packet.next).previous = packet.previous
    return number


def pin(w: Any, s: int, number: int) -> None:
    """Give a packet of a flow that is pinned to a path the label of it."""
    if w.pinned:
        path = flow_at(w.flows, sub_at(w.subs, s).flow).path
        if path != NONE:
            packet_at(w.packets, number).label = path


def address_reply(w: Any, s: int, number: int) -> None:
    """Address the reply of a receiver to its sender."""
    sub, packet = sub_at(w.subs, s), packet_at(w.packets, number)
    packet.sub = s
    packet.target = sub.src
    packet.hash = sub.reverse_hash
    packet.label = NONE
    if w.pinned:
        packet.label = flow_at(w.flows, sub.flow).path_back


def offer_data(w: Any, s: int) -> None:
    """Tell a subflow the size of the data segment that it would be granted next: the last of a stream may be short."""
    sub = sub_at(w.subs, s)
    flow = flow_at(w.flows, sub.flow)
    flow.ready_subs -= sub.ready
    if flow.granted == flow.n_segments - 1:
        sub.short_segment = sub.end
        sub.short_bytes = flow.last_segment_bytes


def note_ready(w: Any, s: int) -> None:
    """Count a subflow of a shared stream if it would send if it were granted a segment."""
    sub = sub_at(w.subs, s)
    if sub.ready:
        flow = flow_at(w.flows, sub.flow)
        flow.ready_subs += 1
        flow.ready_sub = s


def put_data(w: Any, s: int, number: int) -> None:
    """Write into a packet which data segment it carries."""
    sub, packet = sub_at(w.subs, s), packet_at(w.packets, number)
    if packet.kind == DATA:
        packet.data = maps_of(w)[sub.ring + (packet.segment & sub.ring_mask)]


def take_data(w: Any, s: int, number: int) -> bool:
    """Enter a data segment at the receiver; return False if its buffer has no room.

    The packet takes back what the receiver expects next and how much room it has.
    """
    flow, packet = flow_at(w.flows, sub_at(w.subs, s).flow), packet_at(w.packets, number)
    if packet.kind == DATA and packet.data >= flow.data_next + flow.buffer_segments:
        flow.refused += 1
        return False
    if packet.kind == DATA:
        enter_data(w, flow, packet.data)
    tell_stream(w, s, number)
    return True


def tell_stream(w: Any, s: int, number: int) -> None:
    """Write into a packet what the receiver of a shared stream expects next and how much room it has."""
    flow, packet = flow_at(w.flows, sub_at(w.subs, s).flow), packet_at(w.packets, number)
    packet.data_ack = flow.data_next
    packet.window = flow.buffer_segments


def enter_data(w: Any, flow: Any, segment: int) -> None:
    """Note that a data segment has come, and pass on to the application what is in order."""
    data = data_of(w)
    index = flow.data_ring + (segment & flow.data_mask)
    if segment < flow.data_next or data[index] & DATA_RECEIVED:
        flow.data_duplicates += 1
        return
    data[index] |= DATA_RECEIVED
    flow.buffered += 1
    flow.max_buffered = max(flow.max_buffered, flow.buffered)
    index = flow.data_ring + (flow.data_next & flow.data_mask)
    while flow.data_next < flow.n_segments and data[index] & DATA_RECEIVED:
        data[index] &= ~DATA_RECEIVED
        flow.data_next += 1
        flow.buffered -= 1
        index = flow.data_ring + (flow.data_next & flow.data_mask)


def data_acknowledged(w: Any, s: int, number: int, now_ps: int) -> int:
    """Take what an acknowledgement says of the stream; return the signal."""
    flow, packet = flow_at(w.flows, sub_at(w.subs, s).flow), packet_at(w.packets, number)
    flow.peer_window = max(flow.peer_window, packet.data_ack + packet.window)
    if packet.data_ack <= flow.data_acked:
        return 0
    data = data_of(w)
    for segment in range(flow.data_acked, packet.data_ack):
        data[flow.data_ring + (segment & flow.data_mask)] &= DATA_RECEIVED
    flow.data_acked = packet.data_ack
    return DATA_ACKED


def finish_shared(w: Any, s: int, now_ps: int) -> None:
    """Close all subflows when the whole stream is acknowledged."""
    flow = flow_at(w.flows, sub_at(w.subs, s).flow)
    if flow.acked_ps != NONE or flow.data_acked != flow.n_segments:
        return
    finish_flow(w, whole(sub_at(w.subs, s).flow), now_ps)
    other = whole(flow.first_sub)
    while other != NONE:
        if sub_at(w.subs, other).closed_ps == NONE:
            close(w, other, now_ps)
        other = whole(sub_at(w.subs, other).next_sub)

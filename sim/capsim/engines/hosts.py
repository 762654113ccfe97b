"""The compiled engine, part 5: end hosts and switches, which call the hooks of the scheme."""

from typing import Any

from capsim.engines import calls
from capsim.engines.events import FLUSH_TIMER, TIE_BITS
from capsim.engines.faults import ILLEGAL_PATH
from capsim.engines.jit import inline_into_hooks, kernel
from capsim.engines.links import drain, drop, enqueue, free_packet, take_packet
from capsim.engines.pointers import (
    conn_at,
    counters_at,
    flow_at,
    int32_at,
    int64_at,
    node_at,
    packet_at,
    port_at,
    switch_at,
)
from capsim.engines.trees import NEVER, set_time
from capsim.hooks import FOLLOW, KEEP, PASS
from capsim.randomness import MASK, draw
from capsim.records import ACK, CLOSED, CODED, DATA, NO_ROUTE, NONE, SYN_ACK

inline_into_hooks(draw)


@kernel
def forward(w: Any, node: int, number: int, now_ps: int) -> None:
    """Send a packet on from a switch."""
    packet = packet_at(w.packets, number)
    row = node - w.n_hosts
    epoch = counters_at(w.counters, 0).next_epoch - 1
    route = (epoch * w.n_switches + row) * w.n_hosts + packet.target
    first, count = int32_at(w.route_first, route), int32_at(w.route_count, route)
    if count == 0:
        drop(w, NONE, number, NO_ROUTE, now_ps)
        return
    path = 0
    if count > 1:
        switch = switch_at(w.switches, row)
        u0 = 0.0
        if w.draws:
            u0 = draw(switch)
        if w.reads_queues:
            for candidate in range(first, first + count):
                drain(w, port_at(w.ports, int32_at(w.candidates, candidate)), now_ps)
        path = calls.choose(w, row, packet, first, count, now_ps, u0)
        if path < 0 or path >= count:
            w.fault = ILLEGAL_PATH
            path = 0
    enqueue(w, int32_at(w.candidates, first + path), number, now_ps)


@kernel
def launch(w: Any, c: int, number: int, now_ps: int) -> None:
    """Send a packet of connection `c` from its source."""
    conn, packet = conn_at(w.conns, c), packet_at(w.packets, number)
    packet.conn = c
    packet.target = conn.dst
    packet.hash = conn.hash
    if packet.kind == DATA or packet.kind == CODED:
        conn.packets_sent += 1
        conn.bytes_sent += packet.bytes
    enqueue(w, int64_at(w.host_port, conn.src), number, now_ps)


@kernel
def pump(w: Any, c: int, now_ps: int) -> None:
    """Send all that the transport of connection `c` has to send now, then set its timers."""
    conn = conn_at(w.conns, c)
    number = take_packet(w)
    while calls.send(w, conn, packet_at(w.packets, number), now_ps):
        verdict = PASS
        if conn.coded:
            verdict = calls.accept(w, conn, packet_at(w.packets, number), now_ps)
        if verdict != KEEP:
            launch(w, c, number, now_ps)
            number = take_packet(w)
        if verdict == FOLLOW:
            pump_coded(w, c, now_ps)
    free_packet(w, number)
    if conn.coded:
        pump_coded(w, c, now_ps)
    set_timers(w, c)


@kernel
def pump_coded(w: Any, c: int, now_ps: int) -> None:
    """Send what the encoder has ready."""
    conn = conn_at(w.conns, c)
    number = take_packet(w)
    while calls.emit(w, conn, packet_at(w.packets, number), now_ps):
        launch(w, c, number, now_ps)
        number = take_packet(w)
    free_packet(w, number)


@kernel
def set_timers(w: Any, c: int) -> None:
    """Arm the timers of connection `c`: lazily, an armed timer that is too early is left as it is."""
    conn = conn_at(w.conns, c)
    half = w.timer_leaves // 2
    if conn.timer_ps != NONE and conn.timer_ps < node_at(w.timer_tree, w.timer_leaves + c).stamp >> TIE_BITS:
        set_time(w, w.timer_tree, w.timer_leaves, c, conn.timer_ps)
    if conn.flush_ps != NONE and conn.flush_ps < node_at(w.timer_tree, w.timer_leaves + half + c).stamp >> TIE_BITS:
        set_time(w, w.timer_tree, w.timer_leaves, half + c, conn.flush_ps)


@kernel
def timer(w: Any, entity: int, now_ps: int) -> None:
    """Fire a timer, or set it anew if its deadline has moved."""
    flush, c = entity & FLUSH_TIMER, entity & MASK
    leaf = c + w.timer_leaves // 2 if flush else c
    conn = conn_at(w.conns, c)
    deadline_ps = conn.flush_ps if flush else conn.timer_ps
    set_time(w, w.timer_tree, w.timer_leaves, leaf, NEVER if deadline_ps == NONE else deadline_ps)
    if deadline_ps != now_ps:
        return
    set_time(w, w.timer_tree, w.timer_leaves, leaf, NEVER)
    if flush:
        pump_coded(w, c, now_ps)
        set_timers(w, c)
    else:
        calls.expire(w, conn, now_ps)
        pump(w, c, now_ps)
        finish_sending(w, c, now_ps)


@kernel
def start(w: Any, c: int, now_ps: int) -> None:
    """Open connection `c`."""
    conn = conn_at(w.conns, c)
    if conn.state == CLOSED:  # the other copy of the flow was faster
        return
    calls.open_conn(w, conn, now_ps)
    pump(w, c, now_ps)
    finish_sending(w, c, now_ps)


@kernel
def deliver(w: Any, number: int, now_ps: int) -> None:
    """Deliver a packet to the end host that it was sent to."""
    packet = packet_at(w.packets, number)
    c = packet.conn
    conn = conn_at(w.conns, c)
    if packet.kind == ACK or packet.kind == SYN_ACK:
        if conn.coded:
            calls.observe(w, conn, packet, now_ps)
        calls.hear(w, conn, packet, now_ps)
        free_packet(w, number)
        pump(w, c, now_ps)
        finish_sending(w, c, now_ps)
    elif not conn.coded:
        deliver_to_transport(w, c, number, now_ps)
    else:
        deliver_coded(w, c, number, now_ps)


@kernel
def deliver_coded(w: Any, c: int, number: int, now_ps: int) -> None:
    """Deliver a packet of a coded connection to the decoder, and what the decoder releases to the transport."""
    conn = conn_at(w.conns, c)
    if calls.collect(w, conn, packet_at(w.packets, number), now_ps):
        deliver_to_transport(w, c, number, now_ps)
    else:
        free_packet(w, number)
    number = take_packet(w)
    while calls.release(w, conn, packet_at(w.packets, number), now_ps):
        deliver_to_transport(w, c, number, now_ps)
        number = take_packet(w)
    free_packet(w, number)


@kernel
def deliver_to_transport(w: Any, c: int, number: int, now_ps: int) -> None:
    """Deliver a packet to the receiving transport and send its reply."""
    conn, packet = conn_at(w.conns, c), packet_at(w.packets, number)
    replies = calls.receive(w, conn, packet, now_ps)
    if conn.received_ps == NONE and conn.receive_next == conn.n_segments:
        finish_receiving(w, c, now_ps)
    if replies:
        packet.conn = c
        packet.target = conn.src
        packet.hash = conn.reverse_hash
        enqueue(w, int64_at(w.host_port, conn.dst), number, now_ps)
    else:
        free_packet(w, number)


@kernel
def finish_receiving(w: Any, c: int, now_ps: int) -> None:
    """Note that all of a connection has arrived; the first copy of a flow completes the flow."""
    conn = conn_at(w.conns, c)
    conn.received_ps = now_ps
    flow = flow_at(w.flows, conn.flow)
    if flow.received_ps != NONE:
        return
    flow.received_ps = now_ps
    flow.winner = c
    if w.abort_losers:
        for other in range(flow.first_conn, flow.first_conn + flow.n_conns):
            if other != c and conn_at(w.conns, other).acked_ps == NONE:
                conn_at(w.conns, other).state = CLOSED
                conn_at(w.conns, other).timer_ps = NONE
                conn_at(w.conns, other).flush_ps = NONE
                counters_at(w.counters, 0).open_conns -= 1


@kernel
def finish_sending(w: Any, c: int, now_ps: int) -> None:
    """Note that all of a connection is acknowledged."""
    conn = conn_at(w.conns, c)
    if conn.acked_ps != NONE or conn.una != conn.n_segments:
        return
    conn.acked_ps = now_ps
    conn.timer_ps = NONE
    conn.flush_ps = NONE
    flow = flow_at(w.flows, conn.flow)
    if flow.acked_ps == NONE:
        flow.acked_ps = now_ps
    counters_at(w.counters, 0).open_conns -= 1

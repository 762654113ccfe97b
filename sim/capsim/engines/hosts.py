"""The compiled engine, part 2: end hosts and switches, which call the hooks of the scheme."""

from capsim.engines.jit import inline_into_hooks, kernel
from capsim.engines.links import NEVER, drop, enqueue, free_packet, set_time, take_packet
from capsim.randomness import uniform
from capsim.records import ACK, CLOSED, CODED, DATA, NO_ROUTE, NONE, SYN_ACK

inline_into_hooks(uniform)

ILLEGAL_PATH = 1  # CONFIG.fault: a balancer has named a path that does not exist


@kernel
def forward(w, h, node, number, now_ps):
    """Send a packet on from a switch."""
    config = w.config[0]
    packet = w.packets[number]
    row = node - config.n_hosts
    epoch = w.counters[0].next_epoch - 1
    first, count = w.route_first[epoch, row, packet.target], w.route_count[epoch, row, packet.target]
    if count == 0:
        drop(w, NONE, number, NO_ROUTE, now_ps)
        return
    path = 0
    if count > 1:
        switch = w.switches[row]
        u0 = 0.0
        if config.draws:
            u0 = uniform(switch.stream, switch.draws)
            switch.draws += 1
        path = h.choose(
            w.balancer[0],
            w.balancer_state[row],
            switch,
            w.conns[packet.conn],
            packet,
            w.ports,
            w.candidates[first : first + count],
            now_ps,
            u0,
        )
        if path < 0 or path >= count:
            config.fault = ILLEGAL_PATH
            path = 0
    enqueue(w, h, w.candidates[first + path], number, now_ps)


@kernel
def launch(w, h, c, number, now_ps):
    """Send a packet of connection `c` from its source."""
    conn, packet = w.conns[c], w.packets[number]
    packet.conn = c
    packet.target = conn.dst
    packet.hash = conn.hash
    if packet.kind == DATA or packet.kind == CODED:
        conn.packets_sent += 1
        conn.bytes_sent += packet.bytes
    enqueue(w, h, w.host_port[conn.src], number, now_ps)


@kernel
def pump(w, h, c, now_ps):
    """Send all that the transport of connection `c` has to send now, then set its timers."""
    conn = w.conns[c]
    number = take_packet(w)
    while h.send(w.transport[0], conn, w.segments, w.packets[number], now_ps):
        if not conn.coded or not h.accept(w.coding[0], conn, w.packets[number], now_ps):
            launch(w, h, c, number, now_ps)
            number = take_packet(w)
    free_packet(w, number)
    if conn.coded:
        pump_coded(w, h, c, now_ps)
    set_timers(w, c)


@kernel
def pump_coded(w, h, c, now_ps):
    """Send what the encoder has ready."""
    conn = w.conns[c]
    number = take_packet(w)
    while h.emit(
        w.coding[0],
        conn,
        w.estimators[conn.estimator],
        w.units,
        w.counters[0],
        w.packets[number],
        now_ps,
    ):
        launch(w, h, c, number, now_ps)
        number = take_packet(w)
    free_packet(w, number)


@kernel
def set_timers(w, c):
    """Arm the timers of connection `c`: lazily, an armed timer that is too early is left as it is."""
    conn = w.conns[c]
    leaves = len(w.timer_who) // 2
    half = leaves // 2
    if conn.timer_ps != NONE and conn.timer_ps < w.timer_times[leaves + c]:
        set_time(w.timer_times, w.timer_who, c, conn.timer_ps)
    if conn.flush_ps != NONE and conn.flush_ps < w.timer_times[leaves + half + c]:
        set_time(w.timer_times, w.timer_who, half + c, conn.flush_ps)


@kernel
def timer(w, h, entity, now_ps):
    """Fire a timer, or set it anew if its deadline has moved."""
    half = len(w.timer_who) // 4
    flush = entity >= half
    c = entity - half if flush else entity
    conn = w.conns[c]
    deadline_ps = conn.flush_ps if flush else conn.timer_ps
    set_time(w.timer_times, w.timer_who, entity, NEVER if deadline_ps == NONE else deadline_ps)
    if deadline_ps != now_ps:
        return
    set_time(w.timer_times, w.timer_who, entity, NEVER)
    if flush:
        pump_coded(w, h, c, now_ps)
        set_timers(w, c)
    else:
        h.expire(w.transport[0], conn, w.segments, now_ps)
        pump(w, h, c, now_ps)
        finish_sending(w, c, now_ps)


@kernel
def start(w, h, c, now_ps):
    """Open connection `c`."""
    conn = w.conns[c]
    if conn.state == CLOSED:  # its twin was faster
        return
    h.open(w.transport[0], conn, now_ps)
    pump(w, h, c, now_ps)
    finish_sending(w, c, now_ps)


@kernel
def deliver(w, h, number, now_ps):
    """Hand a packet to the end host that it was sent to."""
    packet = w.packets[number]
    c = packet.conn
    conn = w.conns[c]
    if packet.kind == ACK or packet.kind == SYN_ACK:
        if conn.coded:
            h.observe(w.coding[0], conn, w.estimators[conn.estimator], packet, now_ps)
        h.hear(w.transport[0], conn, w.segments, packet, now_ps)
        free_packet(w, number)
        pump(w, h, c, now_ps)
        finish_sending(w, c, now_ps)
    elif not conn.coded:
        hand_up(w, h, c, number, now_ps)
    else:
        deliver_coded(w, h, c, number, now_ps)


@kernel
def deliver_coded(w, h, c, number, now_ps):
    """Hand a packet of a coded connection to the decoder, and what it releases to the transport."""
    conn = w.conns[c]
    if h.collect(w.coding[0], conn, w.segments, w.units, w.packets[number], now_ps):
        hand_up(w, h, c, number, now_ps)
    else:
        free_packet(w, number)
    number = take_packet(w)
    while h.release(w.coding[0], conn, w.segments, w.units, w.packets[number], now_ps):
        hand_up(w, h, c, number, now_ps)
        number = take_packet(w)
    free_packet(w, number)


@kernel
def hand_up(w, h, c, number, now_ps):
    """Hand a packet to the receiving transport and send its reply."""
    conn, packet = w.conns[c], w.packets[number]
    replies = h.receive(w.transport[0], conn, w.segments, packet, now_ps)
    if conn.received_ps == NONE and conn.receive_next == conn.n_segments:
        finish_receiving(w, c, now_ps)
    if replies:
        packet.conn = c
        packet.target = conn.src
        packet.hash = conn.reverse_hash
        enqueue(w, h, w.host_port[conn.dst], number, now_ps)
    else:
        free_packet(w, number)


@kernel
def finish_receiving(w, c, now_ps):
    """Note that all of a connection has arrived; the first copy of a flow completes the flow."""
    conn = w.conns[c]
    conn.received_ps = now_ps
    flow = w.flows[conn.flow]
    if flow.received_ps != NONE:
        return
    flow.received_ps = now_ps
    flow.winner = c
    if w.config[0].abort_losers:
        for other in range(flow.first_conn, flow.first_conn + flow.n_conns):
            if other != c and w.conns[other].acked_ps == NONE:
                w.conns[other].state = CLOSED
                w.conns[other].timer_ps = NONE
                w.conns[other].flush_ps = NONE
                w.counters[0].open_conns -= 1


@kernel
def finish_sending(w, c, now_ps):
    """Note that all of a connection is acknowledged."""
    conn = w.conns[c]
    if conn.acked_ps != NONE or conn.una != conn.n_segments:
        return
    conn.acked_ps = now_ps
    conn.timer_ps = NONE
    conn.flush_ps = NONE
    flow = w.flows[conn.flow]
    if flow.acked_ps == NONE:
        flow.acked_ps = now_ps
    w.counters[0].open_conns -= 1

"""The compiled engine: the event loop. It allocates nothing; it returns when a pool must grow."""

from typing import Any

from capsim.base.randomness import MASK, uniform
from capsim.engines.asking import ANSWERED, CARRIED
from capsim.engines.compiled.bind import deliver, forward, start, wake
from capsim.engines.compiled.jit import inlined_kernel, kernel, part
from capsim.engines.compiled.layout import (
    ASK,
    DATA_LOW,
    DONE,
    FAULT,
    PACKETS_LOW,
    PAUSED,
    PROBES_LOW,
    RINGS_LOW,
    SUBFLOWS_LOW,
    TRACE_LOW,
    UNITS_LOW,
)
from capsim.engines.compiled.links import depart, drain, fail, leave_wire
from capsim.engines.compiled.order.agenda import first_arrival, first_port
from capsim.engines.compiled.order.ordered import next_scheduled, port_of_next, take_next
from capsim.engines.compiled.order.trees import set_time
from capsim.engines.compiled.packets import lose, write_trace
from capsim.engines.compiled.pointers import (
    byte_at,
    counters_at,
    flow_at,
    int64_at,
    loss_at,
    node_at,
    packet_at,
    port_at,
    sub_at,
    world_at,
)
from capsim.engines.compiled.sampling import probe
from capsim.engines.events import ARRIVE, DEPART, END, EPOCH, NEVER, PROBE, START, TIE_BITS, TIMEOUT
from capsim.engines.hosts.handlers import MANAGE, RECEIVE_WAKE, SEND_WAKE, WORK
from capsim.engines.hosts.queue_counts import count_sojourn, has_data
from capsim.engines.losses import loss_chance, note_fate
from capsim.engines.state import TRACE_PACKETS
from capsim.records import ARRIVED, NONE

count_sojourn, has_data, uniform = part(count_sojourn), part(has_data), part(uniform)
loss_chance, note_fate = part(loss_chance), part(note_fate)


@kernel
def epoch(w: Any, now_ps: int) -> None:
    """Change routes, and take links down and up."""
    index = counters_at(w.counters, 0).next_epoch
    counters_at(w.counters, 0).next_epoch += 1
    for p in range(w.n_ports):
        port = port_at(w.ports, p)
        up = byte_at(w.port_up, index * w.n_ports + p)
        if port.up and not up:
            fail(w, p, port, now_ps)
        port.up = up


@kernel
def shortage(w: Any) -> int:
    """Return which pool could run out in the next event, or DONE."""
    counters = counters_at(w.counters, 0)
    if counters.free_count < w.margin:
        return PACKETS_LOW
    if w.n_units - counters.units < w.unit_margin:
        return UNITS_LOW
    if w.trace_level and w.n_trace - counters.trace < 4 * w.n_packets:
        return TRACE_LOW
    if w.probe_ps and w.n_probes - counters.probes < w.probe_rows:
        return PROBES_LOW
    return FAULT if w.fault else DONE


@kernel
def subflow_shortage(w: Any) -> int:
    """Return which pool could run out when a flow opens subflows, or DONE."""
    counters = counters_at(w.counters, 0)
    if w.n_subs - counters.subs < w.subflow_margin:
        return SUBFLOWS_LOW
    if w.n_rings - counters.ring_end < w.ring_margin:
        return RINGS_LOW
    return DATA_LOW if w.n_data - counters.data_end < w.data_margin else DONE


@inlined_kernel
def next_start_ps(w: Any) -> int:
    """Return when the next flow starts."""
    f = counters_at(w.counters, 0).next_start
    return flow_at(w.flows, f).start_ps if f < w.n_starts else NEVER


@kernel
def next_rare_ps(w: Any) -> int:
    """Return the time of the next event that is no departure, arrival or timer; only such an event changes it."""
    counters = counters_at(w.counters, 0)
    time_ps = min(next_start_ps(w), w.end_ps + 1)
    if counters.next_epoch < w.n_epochs:
        time_ps = min(time_ps, int64_at(w.epoch_ps, counters.next_epoch))
    return time_ps if counters.next_probe_ps == NONE else min(time_ps, counters.next_probe_ps)


@kernel
def rare_event(w: Any, time_ps: int, kind: int) -> tuple[int, int]:
    """Return time and kind of a rare event if it comes before the departure, arrival or timer given, else that."""
    counters = counters_at(w.counters, 0)
    if counters.next_epoch < w.n_epochs and int64_at(w.epoch_ps, counters.next_epoch) <= time_ps:
        time_ps, kind = int64_at(w.epoch_ps, counters.next_epoch), EPOCH
    if next_start_ps(w) < time_ps:
        time_ps, kind = next_start_ps(w), START
    if counters.next_probe_ps != NONE and counters.next_probe_ps < time_ps:
        time_ps, kind = counters.next_probe_ps, PROBE
    return (w.end_ps, END) if time_ps > w.end_ps else (time_ps, kind)


@inlined_kernel
def next_event(w: Any, rare_ps: int) -> tuple[int, int]:
    """Return time and kind of the next event; of equal times the kind that comes first (see events.py)."""
    if w.ordered:
        time_ps, kind = next_scheduled(w)
    else:
        time_ps, kind = first_arrival(w) >> TIE_BITS, ARRIVE
    if node_at(w.wake_tree, 1).stamp >> TIE_BITS < time_ps:
        time_ps, kind = node_at(w.wake_tree, 1).stamp >> TIE_BITS, TIMEOUT
    return (time_ps, kind) if time_ps < rare_ps else rare_event(w, time_ps, kind)


@inlined_kernel
def is_lost(w: Any, p: int, number: int, now_ps: int) -> bool:
    """Return whether packet `number` to cross the link of port `p`, counted from 1, is lost."""
    port = port_at(w.ports, p)
    return uniform(port.stream, number) < loss_chance(port, loss_at(w.losses, p), now_ps)


@inlined_kernel
def lost_on_link(w: Any, p: int, port: Any, now_ps: int) -> bool:
    """Return whether the packet that has just crossed a link is lost; the next one is lost more often if it is."""
    if port.loss_prob == 0.0:
        return False
    lost = is_lost(w, p, port.packets_arrived, now_ps)
    note_fate(port, loss_at(w.losses, p), lost, now_ps)
    return lost


@inlined_kernel
def arriving_port(w: Any) -> int:
    """Return the port from which the next packet arrives; in order of scheduling the arrival is taken."""
    return take_next(w) if w.ordered else first_port(w)


@kernel
def asks(w: Any, now_ps: int) -> bool:
    """Return whether Python has to compute first what the packet that arrives now is worth to its receiver."""
    if w.payload == ANSWERED:
        w.payload = CARRIED
        return False
    p = port_of_next(w) if w.ordered else first_port(w)
    port = port_at(w.ports, p)
    packet = packet_at(w.packets, port.head)
    if port.to_node >= w.n_hosts or (port.loss_prob > 0.0 and is_lost(w, p, port.packets_arrived + 1, now_ps)):
        return False
    w.asked = port.head
    return has_data(packet)


@inlined_kernel
def arrive(w: Any, now_ps: int) -> None:
    """Take the packet that has crossed its link to the switch or host at the far end."""
    p = arriving_port(w)
    port = port_at(w.ports, p)
    number = leave_wire(w, p, port, now_ps)
    if lost_on_link(w, p, port, now_ps):
        lose(w, p, number, now_ps)
        return
    if w.trace_level == TRACE_PACKETS:
        write_trace(w, ARRIVED, 0, p, packet_at(w.packets, number), now_ps, 0)
    if port.to_node < w.n_hosts:
        deliver(w, number, now_ps)
    else:
        forward(w, port.to_node, number, now_ps)


@kernel
def fire(w: Any, entity: int, now_ps: int) -> None:
    """Fire a timer, or set it anew if its deadline has moved; work has no deadline that moves."""
    kind, number = entity >> 32, entity & MASK
    if kind == WORK:
        wake(w, kind, number, now_ps)
        return
    if kind == MANAGE:
        leaf, deadline_ps = w.manage_first + number, flow_at(w.flows, number).wake_ps
    else:
        sub = sub_at(w.subs, number)
        leaf, deadline_ps = number, sub.timer_ps
        if kind == SEND_WAKE:
            leaf, deadline_ps = w.send_first + number, sub.send_wake_ps
        elif kind == RECEIVE_WAKE:
            leaf, deadline_ps = w.receive_first + number, sub.receive_wake_ps
    if deadline_ps != now_ps:
        set_time(w, w.wake_tree, w.wake_leaves, leaf, NEVER if deadline_ps == NONE else deadline_ps)
        return
    set_time(w, w.wake_tree, w.wake_leaves, leaf, NEVER)
    wake(w, kind, number, now_ps)


@kernel
def infrequent(w: Any, kind: int, now_ps: int) -> None:
    """Handle the infrequent events: all but arrivals and departures."""
    if kind == TIMEOUT:
        fire(w, node_at(w.wake_tree, 1).entity, now_ps)
    elif kind == START:
        f = counters_at(w.counters, 0).next_start
        counters_at(w.counters, 0).next_start += 1
        start(w, f, now_ps)
    elif kind == EPOCH:
        epoch(w, now_ps)
    elif kind == PROBE:
        probe(w, now_ps)


@inlined_kernel
def handle(w: Any, kind: int, now_ps: int, rare_ps: int) -> int:
    """Handle an event, and return the time of the next rare one, which is `rare_ps` so far."""
    if kind == ARRIVE:
        arrive(w, now_ps)
    elif kind == DEPART:
        depart(w, take_next(w), now_ps)
    else:
        infrequent(w, kind, now_ps)
        return next_rare_ps(w)
    return rare_ps


@inlined_kernel
def all_done(w: Any) -> bool:
    """Return whether all counted flows are complete, or all flows that can begin and the network is empty."""
    counters = counters_at(w.counters, 0)
    quiet = counters.in_flight == 0 and counters.open_subs == 0 and counters.due == 0
    return counters.awaited == 0 or (quiet and counters.next_start == w.n_starts)


def loop(world: int, max_events: int) -> int:
    """Run events in order until all is done, a pool runs low, or `max_events` have passed."""
    w = world_at(world, 0)
    counters = counters_at(w.counters, 0)
    observed = w.trace_level != 0 or w.probe_ps != 0
    rare_ps = next_rare_ps(w)
    for _ in range(max_events):
        few_left = counters.free_count < w.margin or w.n_units - counters.units < w.unit_margin
        if few_left or observed or w.fault != 0:
            low = shortage(w)
            if low != DONE:
                return low
        if all_done(w):
            return DONE
        now_ps, kind = next_event(w, rare_ps)
        if kind == END:
            counters.now_ps = now_ps
            return DONE
        if w.payload and kind == ARRIVE and asks(w, now_ps):
            return ASK
        if kind > ARRIVE:
            low = subflow_shortage(w)
            if low != DONE:
                return low
        counters.now_ps = now_ps
        counters.events += 1
        rare_ps = handle(w, kind, now_ps, rare_ps)
    return PAUSED


def settle(world: int, counted: int) -> int:
    """Take from all queues what has left them by now, and count what is still in a queue if `counted` is 1."""
    w = world_at(world, 0)
    now_ps = counters_at(w.counters, 0).now_ps
    for p in range(w.n_ports):
        port = port_at(w.ports, p)
        drain(w, p, port, now_ps)
        if counted:
            count_chain(w, port, port.queue_head, now_ps)
            count_chain(w, port, port.wait_head, now_ps)
    return 0


@kernel
def count_chain(w: Any, port: Any, number: int, now_ps: int) -> None:
    """Count the packets of a chain, from `number` on, as in the queue until now."""
    while number != NONE:
        count_sojourn(port, packet_at(w.packets, number), now_ps)
        number = packet_at(w.packets, number).next

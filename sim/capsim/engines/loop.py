"""The compiled engine, part 6: the event loop. It allocates nothing; it returns when a pool must grow."""

from typing import Any

from capsim.engines.events import ARRIVE, DEPART, EPOCH, PROBE, START, TIE_BITS, TIMER
from capsim.engines.hosts import deliver, forward, start, timer
from capsim.engines.jit import kernel
from capsim.engines.links import depart, drain, leave_wire, write_trace
from capsim.engines.outages import fail_classes, fail_fifo
from capsim.engines.pointers import byte_at, conn_at, counters_at, int64_at, node_at, packet_at, port_at, probe_at
from capsim.engines.trees import NEVER
from capsim.records import ARRIVED, CONNECTION_SAMPLE, NONE, PORT_SAMPLE
from capsim.state import TRACE_PACKETS

# Why the loop returns
DONE, PAUSED, PACKETS_LOW, UNITS_LOW, TRACE_LOW, PROBES_LOW, FAULT = range(7)


@kernel
def epoch(w: Any, now_ps: int) -> None:
    """Change routes, and take links down and up."""
    index = counters_at(w.counters, 0).next_epoch
    counters_at(w.counters, 0).next_epoch += 1
    for p in range(w.n_ports):
        port = port_at(w.ports, p)
        up = byte_at(w.port_up, index * w.n_ports + p)
        if port.up and not up:
            if w.classes == 1:
                fail_fifo(w, p, port, now_ps)
            else:
                fail_classes(w, p, port, now_ps)
        port.up = up


@kernel
def probe(w: Any, now_ps: int) -> None:
    """Take one sample of every port and connection that is probed."""
    counters = counters_at(w.counters, 0)
    counters.next_probe_ps += w.probe_ps
    for index in range(w.n_probe_ports):
        p = int64_at(w.probe_ports, index)
        port = port_at(w.ports, p)
        if w.classes == 1:
            drain(w, port, now_ps)
        sample = probe_at(w.probes, counters.probes)
        counters.probes += 1
        sample.time_ps = now_ps
        sample.what = PORT_SAMPLE
        sample.entity = p
        sample.queue_packets = port.queue_packets
        sample.queue_bytes = port.queue_bytes
    for index in range(w.n_probe_conns):
        c = int64_at(w.probe_conns, index)
        conn = conn_at(w.conns, c)
        sample = probe_at(w.probes, counters.probes)
        counters.probes += 1
        sample.time_ps = now_ps
        sample.what = CONNECTION_SAMPLE
        sample.entity = c
        sample.cwnd_bytes = conn.cwnd_bytes
        sample.ssthresh_bytes = conn.ssthresh_bytes
        sample.srtt_ps = conn.srtt_ps
        sample.flight_packets = conn.next_segment - conn.una


@kernel
def shortage(w: Any) -> int:
    """Return which pool could run out in the next event, or DONE."""
    counters = counters_at(w.counters, 0)
    if counters.free_count < w.margin:
        return PACKETS_LOW
    if w.n_units - counters.units < w.margin:
        return UNITS_LOW
    if w.trace_level and w.n_trace - counters.trace < 4 * w.n_packets:
        return TRACE_LOW
    if w.probe_ps and w.n_probes - counters.probes < w.n_probe_ports + w.n_probe_conns:
        return PROBES_LOW
    return FAULT if w.fault else DONE


@kernel
def next_start_ps(w: Any) -> int:
    """Return when the next connection starts."""
    c = counters_at(w.counters, 0).next_start
    return conn_at(w.conns, c).start_ps if c < w.n_conns else NEVER


@kernel
def next_event(w: Any) -> tuple[int, int]:
    """Return time and kind of the next event; of equal times the kind that comes first (see events.py)."""
    time_ps, kind = node_at(w.arrive_tree, 1).stamp >> TIE_BITS, ARRIVE
    if node_at(w.depart_tree, 1).stamp >> TIE_BITS <= time_ps:
        time_ps, kind = node_at(w.depart_tree, 1).stamp >> TIE_BITS, DEPART
    counters = counters_at(w.counters, 0)
    if counters.next_epoch < w.n_epochs and int64_at(w.epoch_ps, counters.next_epoch) <= time_ps:
        time_ps, kind = int64_at(w.epoch_ps, counters.next_epoch), EPOCH
    if node_at(w.timer_tree, 1).stamp >> TIE_BITS < time_ps:
        time_ps, kind = node_at(w.timer_tree, 1).stamp >> TIE_BITS, TIMER
    start_ps = next_start_ps(w)
    if start_ps < time_ps:
        time_ps, kind = start_ps, START
    if counters.next_probe_ps != NONE and counters.next_probe_ps < time_ps:
        time_ps, kind = counters.next_probe_ps, PROBE
    return time_ps, kind


@kernel
def arrive(w: Any, now_ps: int) -> None:
    """Take the packet that has crossed its link to the switch or host at the far end."""
    p = node_at(w.arrive_tree, 1).entity
    port = port_at(w.ports, p)
    number = leave_wire(w, p, port, now_ps)
    if w.trace_level == TRACE_PACKETS:
        write_trace(w, ARRIVED, 0, p, packet_at(w.packets, number), now_ps, 0)
    if port.to_node < w.n_hosts:
        deliver(w, number, now_ps)
    else:
        forward(w, port.to_node, number, now_ps)


@kernel
def infrequent(w: Any, kind: int, now_ps: int) -> None:
    """Handle the infrequent events: all but arrivals and departures."""
    if kind == TIMER:
        timer(w, node_at(w.timer_tree, 1).entity, now_ps)
    elif kind == START:
        c = counters_at(w.counters, 0).next_start
        counters_at(w.counters, 0).next_start += 1
        start(w, c, now_ps)
    elif kind == EPOCH:
        epoch(w, now_ps)
    elif kind == PROBE:
        probe(w, now_ps)


def loop(w: Any, max_events: int) -> int:
    """Run events in order until all is done, a pool runs low, or `max_events` have passed."""
    counters, end_ps = counters_at(w.counters, 0), w.end_ps
    for _ in range(max_events):
        low = shortage(w)
        if low != DONE:
            return low
        if counters.open_conns == 0 and counters.in_flight == 0:
            return DONE
        now_ps, kind = next_event(w)
        if now_ps > end_ps:
            counters.now_ps = end_ps
            return DONE
        counters.now_ps = now_ps
        counters.events += 1
        if kind == ARRIVE:
            arrive(w, now_ps)
        elif kind == DEPART:
            depart(w, node_at(w.depart_tree, 1).entity, now_ps)
        else:
            infrequent(w, kind, now_ps)
    return PAUSED

"""The compiled engine, part 3: the event loop. It allocates nothing; it returns when a pool must grow."""

from capsim.engines.events import ARRIVE, DEPART, EPOCH, FLUSH, PROBE, START, TIMER
from capsim.engines.hosts import deliver, forward, start, timer
from capsim.engines.jit import kernel
from capsim.engines.links import NEVER, depart, drain, fail_classes, fail_fifo, leave_wire, write_trace
from capsim.records import ARRIVED, CONNECTION_SAMPLE, NONE, PORT_SAMPLE
from capsim.state import TRACE_PACKETS

# Why the loop returns
DONE, PAUSED, PACKETS_LOW, UNITS_LOW, TRACE_LOW, PROBES_LOW, FAULT = range(7)


@kernel
def epoch(w, now_ps):
    """Change routes, and take links down and up."""
    index = w.counters[0].next_epoch
    w.counters[0].next_epoch += 1
    for p in range(len(w.ports)):
        port = w.ports[p]
        if port.up and not w.port_up[index, p]:
            if w.config[0].classes == 1:
                fail_fifo(w, p, port, now_ps)
            else:
                fail_classes(w, p, port, now_ps)
        port.up = w.port_up[index, p]


@kernel
def probe(w, now_ps):
    """Take one sample of every port and connection asked for."""
    counters = w.counters[0]
    counters.next_probe_ps += w.config[0].probe_ps
    for p in w.probe_ports:
        port = w.ports[p]
        if w.config[0].classes == 1:
            drain(w, port, now_ps)
        sample = w.probes[counters.probes]
        counters.probes += 1
        sample.time_ps = now_ps
        sample.what = PORT_SAMPLE
        sample.entity = p
        sample.queue_packets = port.queue_packets
        sample.queue_bytes = port.queue_bytes
    for c in w.probe_conns:
        conn = w.conns[c]
        sample = w.probes[counters.probes]
        counters.probes += 1
        sample.time_ps = now_ps
        sample.what = CONNECTION_SAMPLE
        sample.entity = c
        sample.cwnd_bytes = conn.cwnd_bytes
        sample.ssthresh_bytes = conn.ssthresh_bytes
        sample.srtt_ps = conn.srtt_ps
        sample.flight_packets = conn.next_segment - conn.una


@kernel
def shortage(w):
    """Return which pool could run out in the next event, or DONE."""
    counters, config = w.counters[0], w.config[0]
    if counters.free_count < config.margin:
        return PACKETS_LOW
    if len(w.units) - counters.units < config.margin:
        return UNITS_LOW
    if config.trace and len(w.trace) - counters.trace < 4 * len(w.packets):
        return TRACE_LOW
    if config.probe_ps and len(w.probes) - counters.probes < len(w.probe_ports) + len(w.probe_conns):
        return PROBES_LOW
    return FAULT if config.fault else DONE


@kernel
def next_start_ps(w):
    """Return when the next connection starts."""
    c = w.counters[0].next_start
    return w.conns[c].start_ps if c < len(w.conns) else NEVER


@kernel
def next_event(w):
    """Return time and kind of the next event; of equal times the kind that comes first (see events.py)."""
    time_ps, kind = w.arrive_times[1], ARRIVE
    if w.depart_times[1] <= time_ps:
        time_ps, kind = w.depart_times[1], DEPART
    counters = w.counters[0]
    if counters.next_epoch < len(w.epoch_ps) and w.epoch_ps[counters.next_epoch] <= time_ps:
        time_ps, kind = w.epoch_ps[counters.next_epoch], EPOCH
    if w.timer_times[1] < time_ps:
        time_ps, kind = w.timer_times[1], TIMER
    start_ps = next_start_ps(w)
    if start_ps < time_ps:
        time_ps, kind = start_ps, START
    if counters.next_probe_ps != NONE and counters.next_probe_ps < time_ps:
        time_ps, kind = counters.next_probe_ps, PROBE
    return time_ps, kind


@kernel
def arrive(w, h, now_ps):
    """Take the packet that has crossed its link to the switch or host at the far end."""
    p = w.arrive_who[1]
    port = w.ports[p]
    number = leave_wire(w, p, port, now_ps)
    if w.config[0].trace == TRACE_PACKETS:
        write_trace(w, ARRIVED, 0, p, w.packets[number], now_ps, 0)
    if port.to_node < w.config[0].n_hosts:
        deliver(w, h, number, now_ps)
    else:
        forward(w, h, port.to_node, number, now_ps)


@kernel
def rare(w, h, kind, now_ps):
    """Handle every event but arrivals and departures."""
    if kind == TIMER or kind == FLUSH:
        timer(w, h, w.timer_who[1], now_ps)
    elif kind == START:
        c = w.counters[0].next_start
        w.counters[0].next_start += 1
        start(w, h, c, now_ps)
    elif kind == EPOCH:
        epoch(w, now_ps)
    elif kind == PROBE:
        probe(w, now_ps)


def loop(w, h, max_events):
    """Run events in order until all is done, a pool runs low, or `max_events` have passed."""
    counters, end_ps = w.counters[0], w.config[0].end_ps
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
            arrive(w, h, now_ps)
        elif kind == DEPART:
            depart(w, w.depart_who[1], now_ps)
        else:
            rare(w, h, kind, now_ps)
    return PAUSED

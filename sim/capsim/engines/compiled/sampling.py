"""The compiled engine: samples of fields, copied from where :mod:`capsim.engines.probes` has found them."""

from typing import Any

from capsim.engines.compiled.jit import kernel
from capsim.engines.compiled.links import drain
from capsim.engines.compiled.pointers import (
    byte_at,
    counters_at,
    float_at,
    flow_at,
    int16_at,
    int32_at,
    int64_at,
    port_at,
    probe_at,
    sub_at,
    watch_at,
)
from capsim.engines.compiled.tables import whole
from capsim.records import NONE

BYTE = 255


@kernel
def number_at(address: int, number_type: int) -> float:
    """Return the number at an address, of one of ``NUMBER_TYPES`` of :mod:`capsim.records`."""
    if number_type == 0:
        return float(int64_at(address, 0))
    if number_type == 1:
        return float(int32_at(address, 0))
    if number_type == 2:
        return float(int16_at(address, 0))
    if number_type == 3:
        return float(byte_at(address, 0) & BYTE)
    return float_at(address, 0)


@kernel
def sample(w: Any, index: int, watch: Any, s: int, now_ps: int) -> None:
    """Copy one number; of subflow `s`, or of the one entity if `s` is NONE."""
    counters = counters_at(w.counters, 0)
    line = probe_at(w.probes, counters.probes)
    counters.probes += 1
    line.time_ps = now_ps
    line.watch = index
    line.sub = s
    line.value = number_at(watch.table + watch.first + max(s, 0) * watch.stride, whole(watch.type))


@kernel
def probe(w: Any, now_ps: int) -> None:
    """Sample all that is watched, once the queues that it depends on are up to date."""
    counters_at(w.counters, 0).next_probe_ps += w.probe_ps
    for index in range(w.n_probe_ports):
        p = int64_at(w.probe_ports, index)
        drain(w, p, port_at(w.ports, p), now_ps)
    for index in range(w.n_watches):
        watch = watch_at(w.watches, index)
        if watch.stride == 0:
            sample(w, index, watch, NONE, now_ps)
            continue
        s = whole(flow_at(w.flows, watch.flow).first_sub)
        while s != NONE:
            sample(w, index, watch, s, now_ps)
            s = whole(sub_at(w.subs, s).next_sub)

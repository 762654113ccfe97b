"""What switches do with a packet: one source, run by both engines (:mod:`capsim.engines.primitives`)."""

from typing import Any

from capsim.engines.faults import ILLEGAL_PATH
from capsim.engines.primitives import (
    choose,
    drop_unroutable,
    enqueue,
    int_at,
    packet_at,
    queues_now,
    route_count,
    route_first,
    see,
    switch_at,
)
from capsim.randomness import draw
from capsim.records import NO_ROUTE


def forward(w: Any, node: int, number: int, now_ps: int) -> None:
    """Send a packet on from a switch."""
    packet = packet_at(w.packets, number)
    row = node - w.n_hosts
    first, count = route_first(w, row, packet.target), route_count(w, row, packet.target)
    if count == 0:
        drop_unroutable(w, number, NO_ROUTE, now_ps)
        return
    path = 0
    if count > 1:
        path = chosen_path(w, row, number, first, count, now_ps)
    p = int_at(w.candidates, first + path)
    if w.see != 0:
        see(w, row, p, number, now_ps)
    enqueue(w, p, number, now_ps)


def chosen_path(w: Any, row: int, number: int, first: int, count: int, now_ps: int) -> int:
    """Return which of the `count` candidates from `first` on the balancer of a switch chooses."""
    u0 = 0.0
    if w.draws:
        u0 = draw(switch_at(w.switches, row))
    if w.reads_queues:
        queues_now(w, first, count, now_ps)
    path = choose(w, row, first, count, number, now_ps, u0)
    if path < 0 or path >= count:
        w.fault = ILLEGAL_PATH
        path = 0
    return path

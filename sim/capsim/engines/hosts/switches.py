"""The way of a packet through a switch: one source, run by both engines (:mod:`capsim.engines.hosts.primitives`)."""

from typing import Any

from capsim.base.labels import next_digit
from capsim.base.randomness import draw
from capsim.engines.faults import ILLEGAL_PATH
from capsim.engines.hosts.primitives import (
    choose,
    drop_unroutable,
    enqueue,
    flow_at,
    int_at,
    packet_at,
    queues_now,
    route_count,
    route_count_at,
    route_first,
    route_first_at,
    see,
    sub_at,
    switch_at,
)
from capsim.records import NO_ROUTE, NONE


def forward(w: Any, node: int, number: int, now_ps: int) -> None:
    """Send a packet on from a switch: offer it to a port."""
    packet = packet_at(w.packets, number)
    row = node - w.n_hosts
    if w.pinned and flow_at(w.flows, sub_at(w.subs, packet.sub).flow).path != NONE:
        p = pinned_port(w, row, number)
    else:
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


def pinned_port(w: Any, row: int, number: int) -> int:
    """Return the port on the path that a packet's flow is pinned to, up or not, whatever the routes are now."""
    packet = packet_at(w.packets, number)
    first, count = route_first_at(w, 0, row, packet.target), route_count_at(w, 0, row, packet.target)
    if count == 1:
        return int_at(w.candidates, first)
    return int_at(w.candidates, first + next_digit(packet, count))


def chosen_path(w: Any, row: int, number: int, first: int, count: int, now_ps: int) -> int:
    """Return which of the `count` candidates from `first` on the balancer of a switch chooses."""
    u0 = 0.0
    if w.draws:
        u0 = draw(switch_at(w.switches, row))
    if w.reads_queues:
        queues_now(w, first, count, now_ps)
    path = choose(w, row, first, count, number, now_ps, u0)
    if path < 0 or path >= count:
        w.fault, w.refused_path, w.refused_of = ILLEGAL_PATH, path, count
        path = 0
    return path

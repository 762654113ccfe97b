"""The interface of an engine, as the code of hosts and switches uses it.

The modules of this package are written once.
``w`` is the whole state of a run; records go by their numbers: ``s`` subflow, ``f`` flow, ``p`` port, ``row`` switch,
``number`` packet. Here the names do what the reference engine does, in one expression wherever possible, since
:mod:`capsim.engines.reference_hosts` puts these in place of calls; the compiled engine runs the same functions with
names of its own (:mod:`capsim.engines.compiled.bind`).
"""

from typing import Any

from capsim.engines.hosts.callers import caller_source, callers
from capsim.roles.hooks import HOOKS, hooks_of
from capsim.roles.own import OWN


def packet_at(table: Any, index: int) -> Any:
    """Return one record of a table."""
    return table[index]


port_at = switch_at = flow_at = sub_at = stack_at = processor_at = counters_at = int_at = wait_at = packet_at


def whole(number: int) -> int:
    """Return a number that a record holds in 32 bits with 64: so the compiled engine has one version of a function."""
    return number


def itself(given: Any) -> Any:
    """Return parameters or a hook: they are kept as what they are, not by address."""
    return given


params_at = itself


def memory_at(table: Any, index: int, row_bytes: int, owner: Any) -> Any:
    """Return the own memory of `owner` in a row; what is no number of bytes."""
    return table[index][owner]


def packets_of(w: Any) -> Any:
    """Return all packets."""
    return w.packets


def ports_of(w: Any) -> Any:
    """Return all ports."""
    return w.ports


def subs_of(w: Any) -> Any:
    """Return all subflows."""
    return w.subs


def units_of(w: Any) -> Any:
    """Return the coding units."""
    return w.units


def paths_of(w: Any, leaf: int) -> Any:
    """Return the own memory of a balancer for the candidates of (switch, leaf)."""
    return w.balancer_path[leaf * w.most_paths : (leaf + 1) * w.most_paths]


def port_memory_of(w: Any) -> Any:
    """Return the own memory of a balancer for all ports."""
    return w.port_memory


def segments_of(w: Any, sub: Any, part: Any) -> Any:
    """Return the own memory of a transport for the segments in flight of a subflow."""
    return w.segments(sub, part)


def maps_of(w: Any) -> Any:
    """Return the data segments of segments in flight."""
    return w.grown(w.maps, w.counters[0].ring_end)


def data_of(w: Any) -> Any:
    """Return the flags of data segments."""
    return w.grown(w.data, w.counters[0].data_end)


def arrivals_of(w: Any) -> Any:
    """Return the numbers of packets at the receiver, as extents of reordering need them."""
    return w.grown(w.arrivals, w.counters[0].ring_end)


def extents_of(w: Any) -> Any:
    """Return the histogram of extents of reordering."""
    return w.extents


def ring_of(w: Any, sub: Any) -> Any:
    """Return the flags of the segments of a subflow."""
    return w.rings[sub.id]


def candidates_of(w: Any, first: int, count: int) -> Any:
    """Return the numbers of the ports of a route."""
    return w.candidates[first : first + count]


def route_first(w: Any, row: int, target: int) -> Any:
    """Return where the candidates of switch `row` for host `target` begin."""
    return w.first_now[row][target]


def route_count(w: Any, row: int, target: int) -> Any:
    """Return how many candidates there are."""
    return w.count_now[row][target]


def route_first_at(w: Any, epoch: int, row: int, target: int) -> Any:
    """Return where they begin in the routes of an epoch."""
    return w.route_first[epoch][row][target]


def route_count_at(w: Any, epoch: int, row: int, target: int) -> Any:
    """Return how many there are in the routes of an epoch."""
    return w.route_count[epoch][row][target]


def queues_now(w: Any, first: int, count: int, now_ps: int) -> None:
    """Bring the queues of candidates up to date: here they always are."""


def nic_now(w: Any, h: int, now_ps: int) -> None:
    """Bring the port of host `h` up to date: here it always is."""


def take_packet(w: Any) -> Any:
    """Return the number of an unused packet; it has no label."""
    return w.take_packet()


def free_packet(w: Any, number: int) -> None:
    """Give a packet back."""
    w.free_packet(number)


def enqueue(w: Any, p: int, number: int, now_ps: int) -> None:
    """Offer a packet to a port."""
    w.port_objects[p].enqueue(w.packets[number], now_ps)


def drop_unroutable(w: Any, number: int, reason: int, now_ps: int) -> None:
    """Drop a packet at a switch that has no route for it."""
    w.drop(w.packets[number], reason)


def arm(w: Any, s: int) -> None:
    """Set the timers of a subflow."""
    w.arm(s)


def arm_flow(w: Any, f: int) -> None:
    """Set the timer of a flow."""
    w.arm_flow(f)


def arm_processor(w: Any, h: int) -> None:
    """Set when the processor of host `h` is done with the first packet of its chain."""
    w.arm_processor(h)


def new_subflow(w: Any, f: int) -> Any:
    """Return the number of a new subflow of flow `f`, with its own memory."""
    return w.new_subflow(f)


def _maker(kind: Any) -> Any:
    """Return what makes a named tuple of its parts, in a third of the time of the class."""
    new = tuple.__new__
    return lambda *parts: new(kind, parts)


names = globals() | {f"Own_{name}": _maker(OWN[name]) for name in HOOKS} | {f"{name}_hook": itself for name in HOOKS}
_own = "{holder}.blank_{name} or {made}"  # blank: of a component without fields of its own
sources = {name: caller_source(name, _own) for name in HOOKS}
_call = callers(names, sources)
open_, send, on_data, on_ack, on_timeout, on_receive_timer, on_sent = (_call[name] for name in hooks_of("transport"))
react, begin, schedule, note = (_call[name] for name in ("react", *hooks_of("sharing")))
accept, combine, emit, collect, release = (_call[name] for name in hooks_of("layer")[:5])
recover, resume, observe, encodes, decodes = (_call[name] for name in hooks_of("layer")[5:])
mark, learn, choose, see, rank = (_call[name] for name in (*hooks_of("marking"), *hooks_of("balancer"), "rank"))

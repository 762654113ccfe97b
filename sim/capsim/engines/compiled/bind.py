"""Compiles the code of hosts and switches, with the names of :mod:`~capsim.engines.hosts.primitives` as they are here.

The functions of `hosts`, of `switches` and of what these call are taken as they stand; only what their names mean is
another thing: ``sub_at`` reads at an address here, ``enqueue`` is that of :mod:`~capsim.engines.compiled.links`.
"""

from types import FunctionType
from typing import Any

from capsim.base.labels import next_digit
from capsim.base.randomness import draw, key_of, uniform
from capsim.engines.compiled import pointers, tables
from capsim.engines.compiled.jit import inlined_kernel, kernel, part
from capsim.engines.compiled.links import drain, enqueue
from capsim.engines.compiled.order.trees import set_stamp, set_wake
from capsim.engines.compiled.packets import drop, free_packet, take_packet
from capsim.engines.compiled.pointers import (
    counters_at,
    flow_at,
    int64_array,
    int64_at,
    packet_at,
    port_at,
    processor_at,
    sub_at,
)
from capsim.engines.compiled.tables import whole
from capsim.engines.events import NO_STAMP, last_stamp
from capsim.engines.hosts import handlers, processors, receivers, reordering, senders, subflows, switches
from capsim.engines.hosts.host_jitter import send_delay_ps
from capsim.engines.hosts.queue_counts import log_bin
from capsim.records import NONE

draw, key_of, last_stamp, log_bin = part(draw), part(key_of), part(last_stamp), part(log_bin)
next_digit, send_delay_ps, uniform = part(next_digit), part(send_delay_ps), part(uniform)
CALLED = (draw, key_of, last_stamp, log_bin, next_digit, send_delay_ps, uniform)


@kernel
def queues_now(w: Any, first: int, count: int, now_ps: int) -> None:
    """Bring the queues of candidates up to date."""
    if w.ordered:
        return
    for index in range(first, first + count):
        p = int64_at(w.candidates, index)
        drain(w, p, port_at(w.ports, p), now_ps)


@kernel
def nic_now(w: Any, h: int, now_ps: int) -> None:
    """Bring the port of a host up to date."""
    if not w.ordered:
        p = int64_at(w.host_port, h)
        drain(w, p, port_at(w.ports, p), now_ps)


@kernel
def drop_unroutable(w: Any, number: int, reason: int, now_ps: int) -> None:
    """Drop a packet at a switch that has no route for it."""
    drop(w, NONE, number, reason, now_ps)


@inlined_kernel
def arm(w: Any, s: int) -> None:
    """Set the timers of a subflow: an armed timer that is too early is left as it is."""
    sub = sub_at(w.subs, s)
    set_wake(w, s, sub.timer_ps)
    if w.send_first != NONE:
        set_wake(w, w.send_first + s, sub.send_wake_ps)
    if w.receive_first != NONE:
        set_wake(w, w.receive_first + s, sub.receive_wake_ps)


@kernel
def arm_flow(w: Any, f: int) -> None:
    """Set the timer of a flow."""
    set_wake(w, w.manage_first + f, flow_at(w.flows, f).wake_ps)


@kernel
def arm_processor(w: Any, h: int) -> None:
    """Set when the processor of host `h` is done with the first packet of its chain, if there is one."""
    first = whole(processor_at(w.processors, h).head)
    done = NO_STAMP if first == NONE else last_stamp(packet_at(w.packets, first).arrive_ps)
    set_stamp(w.wake_tree, w.wake_leaves + w.work_first + h, done)


@kernel
def new_subflow(w: Any, f: int) -> int:
    """Return the number of a new subflow, whose own state has its first values."""
    counters = counters_at(w.counters, 0)
    s = counters.subs
    counters.subs += 1
    first = w.first_subflows + flow_at(w.flows, f).stack * w.subflow_bytes
    for word in range(w.subflow_bytes // 8):
        int64_array(w.subflow + s * w.subflow_bytes, w.subflow_bytes // 8, 8)[word] = int64_at(first, word)
    return s


# What every packet passes; the other functions are called
EVERY_PACKET = {"forward", "chosen_path", "deliver", "deliver_to_transport", "acknowledge", "heed"}
EVERY_PACKET |= {"pump", "push", "note_ready", "launch", "leave_host", "finish_sending"}

OF_PACKETS = (take_packet, free_packet, enqueue, drop_unroutable)
ACTIONS = (*OF_PACKETS, queues_now, nic_now, arm, arm_flow, arm_processor, new_subflow)


def _bound() -> dict[str, Any]:
    """Return the functions of hosts and switches as kernels that call each other and the compiled engine."""
    sources = [vars(module) for module in (subflows, reordering, switches, processors, senders, receivers, handlers)]
    scope = {name: value for source in sources for name, value in source.items()}
    for module in (pointers, tables):
        scope |= {name: value for name, value in vars(module).items() if not name.startswith("_")}
    scope |= tables.hooks | {"open_": tables.hooks["open"], "int_at": int64_at}
    scope |= {action.__name__: action for action in ACTIONS}
    scope |= {called.__name__: called for called in CALLED}
    for source in sources:
        for name, value in source.items():
            if isinstance(value, FunctionType) and value.__module__ == source["__name__"]:
                mark = inlined_kernel if name in EVERY_PACKET else kernel
                scope[name] = mark(FunctionType(value.__code__, scope, name))
    return scope


_scope = _bound()
start, wake, deliver, forward = (_scope[name] for name in ("start", "wake", "deliver", "forward"))

"""The interface of an engine, as the code of hosts and switches uses it, and what it means in the reference engine.

The modules of this package are written once.
``w`` is the whole state of a run; records go by their numbers: ``s`` subflow, ``f`` flow, ``p`` port, ``row`` switch,
``number`` packet. Here tables are lists of objects, and a hook is called by its name with numbers
(:class:`Call`): ``react(w, s, signals, now_ps)`` looks up the stack of subflow ``s`` and calls ``dctcp.react`` with
records. The compiled engine runs the same functions with names of its own (:mod:`capsim.engines.compiled.bind`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from capsim.base.objects import slotted
from capsim.engines.hosts.callers import takes
from capsim.engines.own_memory import param_record
from capsim.engines.state import StackState
from capsim.roles.hooks import HOOKS, HOST_ROLES, NETWORK_ROLES, hooks_of
from capsim.roles.own import HEADER, OWN, scopes_of


def packet_at(table: Any, index: int) -> Any:
    """Return one record of a table."""
    return table[index]


port_at = switch_at = flow_at = sub_at = stack_at = processor_at = counters_at = int_at = wait_at = packet_at


def whole(number: int) -> int:
    """Return a number that a record holds in 32 bits with 64: so the compiled engine has one version of a function."""
    return number


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
    """Return the number of a new subflow of flow `f`, with its own state."""
    return w.new_subflow(f)


class StackObject:
    """Hooks, parameters and constants of a stack, as the code of hosts reads them."""

    def __init__(self, each: StackState, number: int):
        stack, self.number, self.blank = each.stack, number, dict[str, Any]()
        self.priority, self.listens, self.note_draws = stack.priority, stack.sharing.listens, stack.sharing.draws
        self.emits_unasked, self.late_acks = each.emits_unasked, stack.late_acks
        self.reads_headers = stack.transport.reads_headers
        self.window_segments, self.stream_segments = each.window_segments, each.stream_segments
        for role in HOST_ROLES:
            hold(self, role, getattr(stack, role))


def hold(holder: Any, role: str, component: Any) -> None:
    """Give `holder` the parameters of a component under the name of its role, and its hooks under theirs.

    The own state of one without fields is the same at each call of a hook: ``blank`` has it by the name of the hook.
    """
    record = param_record(component.params)
    setattr(holder, role, slotted(record.dtype)(record[0]))
    for name in hooks_of(role):
        setattr(holder, name, component.hook(name) or 0)
        if not component.memory:
            nothing = slotted(np.dtype(HEADER))(np.zeros((), HEADER))
            holder.blank[name] = OWN[name](*[nothing for _ in OWN[name]._fields])


class Place:
    """What the numbers of a call stand for: of which subflow, flow and packet it is, and who holds the hook.

    Parameters
    ----------
    w : Network
        The state of the run.
    role : str
        Of the hook.
    numbers : dict
        By the names of :func:`~capsim.engines.hosts.callers.takes`.
    """

    def __init__(self, w: Any, role: str, numbers: dict[str, Any]):
        self.w, self.role, self.numbers = w, role, numbers
        self.packet: Any = w.packets[numbers["number"]] if "number" in numbers else None
        of_packet = None if self.packet is None else self.packet.sub
        s = numbers.get("s", of_packet if role in NETWORK_ROLES else None)
        self.sub: Any = None if s is None else w.subs[s]
        self.f = numbers["f"] if self.sub is None else self.sub.flow
        self.holder = w if role in NETWORK_ROLES else w.stacks[(self.sub or w.flows[self.f]).stack]
        self.owner = (self.holder.number, role) if self.holder is not w else None

    @property
    def leaf(self) -> int:
        """Return the row of the memory of a switch towards the leaf that the packet goes to."""
        return int(self.numbers["row"] * self.w.n_leaves + self.w.host_leaf[self.packet.target])

    @property
    def origin(self) -> int:
        """Return the row towards the leaf that the packet comes from."""
        sender = self.sub.src + self.sub.dst - self.packet.target
        return int(self.numbers["row"] * self.w.n_leaves + self.w.host_leaf[sender])

    @property
    def direction(self) -> int:
        """Return the number of the packet's subflow and direction."""
        return int(2 * self.packet.sub + (self.packet.target == self.sub.src))

    @property
    def passing(self) -> int:
        """Return the number of the packet's direction at the tier of the switch."""
        return int(self.direction * self.w.n_tiers + self.w.switches[self.numbers["row"]].tier)


def paths_of(w: Any, leaf: int) -> Any:
    """Return the own state of a balancer for the candidates of (switch, leaf)."""
    return w.balancer_path[leaf * w.most_paths : (leaf + 1) * w.most_paths]


_Look = Callable[[Place], Any]
_RECORDS: dict[str, _Look] = {
    "params": lambda at: getattr(at.holder, at.role),
    "flow": lambda at: at.w.flows[at.f],
    "sub": lambda at: at.sub,
    "subs": lambda at: at.w.subs,
    "ring": lambda at: ring_of(at.w, at.sub),
    "maps": lambda at: maps_of(at.w),
    "data": lambda at: data_of(at.w),
    "packet": lambda at: at.packet,
    "packets": lambda at: at.w.packets,
    "counters": lambda at: at.w.counters[0],
    "switch": lambda at: at.w.switches[at.numbers["row"]],
    "ports": lambda at: at.w.ports,
    "port": lambda at: at.w.ports[at.numbers["p"]],
    "candidates": lambda at: at.w.candidates[at.numbers["first"] :][: at.numbers["count"]],
}
_AT_HOSTS: dict[str, _Look] = {  # own state by scope
    "subflow": lambda at: at.w.subflow[at.sub.id][at.owner],
    "flow": lambda at: at.w.flow[at.f][at.owner],
    "host": lambda at: at.w.host[at.sub.dst if at.role == "transport" else at.sub.src][at.owner],
    "packet": lambda at: at.w.packet[at.packet.number][at.owner],
    "units": lambda at: at.w.units,
    "segments": lambda at: at.w.segments(at.sub, at.owner),
}
_IN_NETWORK: dict[str, _Look] = {
    "fabric": lambda at: at.w.balancer_fabric[0][0],
    "switch": lambda at: at.w.balancer_switch[at.numbers["row"]][0],
    "set": lambda at: at.w.balancer_set[at.w.set_of[at.numbers["first"]] if at.w.balancer_set_bytes else 0][0],
    "towards": lambda at: at.w.balancer_towards[at.leaf][0],
    "paths": lambda at: paths_of(at.w, at.leaf),
    "subflow": lambda at: at.w.balancer_subflow[at.packet.sub][0],
    "passing": lambda at: at.w.balancer_passing[at.passing][0],
    "ports": lambda at: at.w.port_memory,
    "port": lambda at: at.w.balancer_port[at.numbers["p"]][0],
    "back": lambda at: at.w.balancer_towards[at.origin][0],
    "back_paths": lambda at: paths_of(at.w, at.origin),
    "packet": lambda at: at.w.packet[at.packet.number]["balancer"],
    "direction": lambda at: at.w.nic_direction[at.direction][0],
}


class Call:
    """One hook: called with numbers, it is given the records that they stand for (:mod:`capsim.roles.hooks`).

    Own state is looked up for components that declare some.
    """

    def __init__(self, name: str):
        self.name, self.role, self.takes = name, HOOKS[name].role, takes(name)
        self.looks = [(each, _RECORDS.get(each)) for each in HOOKS[name].arguments]
        known = _IN_NETWORK if self.role in NETWORK_ROLES else _AT_HOSTS
        self.own = OWN[name]
        self.memory = [known[scope] for scope in scopes_of(name)]

    def __call__(self, w: Any, *numbers: Any) -> Any:
        """Call the hook of the component that the numbers stand for."""
        given: dict[str, Any] = dict(zip(self.takes, numbers, strict=True))
        at = Place(w, self.role, given)
        own = at.holder.blank.get(self.name) or self.own(*[look(at) for look in self.memory])
        arguments = [
            look(at) if look is not None else own if name == "own" else given[name] for name, look in self.looks
        ]
        return getattr(at.holder, self.name)(*arguments)


open_, send, on_data, on_ack = Call("open"), Call("send"), Call("on_data"), Call("on_ack")
on_timeout, on_receive_timer, on_sent = Call("on_timeout"), Call("on_receive_timer"), Call("on_sent")
react, begin, schedule, note = Call("react"), Call("begin"), Call("schedule"), Call("note")
accept, combine, emit, collect, release = map(Call, ("accept", "combine", "emit", "collect", "release"))
recover, resume, observe, encodes, decodes = map(Call, ("recover", "resume", "observe", "encodes", "decodes"))
mark, learn, choose, see, rank = map(Call, ("mark", "learn", "choose", "see", "rank"))

"""One caller for each hook, written from the table in :mod:`capsim.roles.hooks`: it takes numbers and gives records.

The compiled engine calls hooks in this way; the reference engine looks up the same records
(:class:`capsim.engines.hosts.primitives.Call`). The caller of `send` reads, with the names of
:mod:`~capsim.engines.compiled.pointers`::

    def send(w, s, number, now_ps):
        sub = sub_at(w.subs, s)
        stack = stack_at(w.stacks, sub.stack)
        own = Own_send(memory_at(w.subflow, s, w.subflow_bytes, stack.transport_subflow), ...)
        return send_hook(stack.send)(params_at(stack.transport), own, sub, ring_of(w, sub), packet_at(...), now_ps)
"""

from collections.abc import Mapping
from typing import Any

from capsim.roles.hooks import HOOKS, NETWORK_ROLES
from capsim.roles.own import OWN, scopes_of

NUMBERS = ("signals", "queue_packets", "queue_bytes", "now_ps", "u0")

_ARGUMENTS = {
    "flow": "flow_at(w.flows, {flow})",
    "sub": "sub",
    "subs": "subs_of(w)",
    "ring": "ring_of(w, sub)",
    "maps": "maps_of(w)",
    "data": "data_of(w)",
    "packet": "packet",
    "packets": "packets_of(w)",
    "counters": "counters_at(w.counters, 0)",
    "switch": "switch",
    "ports": "ports_of(w)",
    "port": "port_at(w.ports, p)",
    "candidates": "candidates_of(w, first, count)",
    "own": "own",
}
_BALANCER = {
    "fabric": "memory_at(w.balancer_fabric, 0, 0, 0)",
    "switch": "memory_at(w.balancer_switch, row, w.balancer_switch_bytes, 0)",
    "set": "memory_at(w.balancer_set, chosen_from, w.balancer_set_bytes, 0)",
    "towards": "memory_at(w.balancer_towards, leaf, w.balancer_towards_bytes, 0)",
    "paths": "paths_of(w, leaf)",
    "subflow": "memory_at(w.balancer_subflow, packet.sub, w.balancer_subflow_bytes, 0)",
    "passing": "memory_at(w.balancer_passing, passing, w.balancer_passing_bytes, 0)",
    "ports": "port_memory_of(w)",
    "port": "memory_at(w.balancer_port, p, w.balancer_port_bytes, 0)",
    "back": "memory_at(w.balancer_towards, origin, w.balancer_towards_bytes, 0)",
    "back_paths": "paths_of(w, origin)",
    "packet": "memory_at(w.packet, number, w.packet_bytes, w.balancer_packet)",
}
_QUEUE = {
    "port": "memory_at(w.queue_port, p, w.queue_port_bytes, 0)",
}
_NIC = {
    "direction": "memory_at(w.nic_direction, 2 * packet.sub + (packet.target == sub.src), w.nic_direction_bytes, 0)",
}
_NETWORK = {"balancer": _BALANCER, "queue": _QUEUE, "nic": _NIC}
_IDS = {  # what a caller is given to find its records
    "begin": ("f",),
    "schedule": ("f",),
    "choose": ("row", "first", "count"),
    "see": ("row", "p"),
    "admit": ("p",),
    "take": ("p",),
    "leave": ("p",),
    "evict": ("p",),
    "rank": ("p",),
}


def takes(name: str) -> tuple[str, ...]:
    """Return the names of the numbers that a hook is called with.

    Examples
    --------
    >>> takes("on_ack"), takes("choose")
    (('s', 'number', 'now_ps'), ('row', 'first', 'count', 'number', 'now_ps', 'u0'))
    """
    arguments = HOOKS[name].arguments
    packet = ("number",) if "packet" in arguments else ()
    return (*_IDS.get(name, ("s",)), *packet, *(each for each in arguments if each in NUMBERS))


def _host_scope(role: str, scope: str, flow: str) -> str:
    host = "sub.dst" if role == "transport" else "sub.src"  # the receiver has it there, the sender elsewhere
    index = {"subflow": "s", "flow": flow, "host": host, "packet": "number"}.get(scope, "")
    if scope == "units":
        return "units_of(w)"
    if scope == "segments":
        return f"segments_of(w, sub, stack.{role}_segment)"
    return f"memory_at(w.{scope}, {index}, w.{scope}_bytes, stack.{role}_{scope})"


def _lines(name: str) -> list[str]:
    """Return the statements before the call: the records that the arguments need."""
    hook = HOOKS[name]
    lines = ["packet = packet_at(w.packets, number)"] if "packet" in hook.arguments else []
    if hook.role == "balancer":
        lines += ["switch = switch_at(w.switches, row)", "sub = sub_at(w.subs, packet.sub)"]
        lines += ["leaf, passing = 0, 0"]
        lines += ["if w.balancer_towards_bytes + w.balancer_path_bytes:"]
        lines += ["    leaf = row * w.n_leaves + int_at(w.host_leaf, packet.target)"]
        lines += ["if w.balancer_passing_bytes:"]
        lines += ["    passing = (2 * packet.sub + (packet.target == sub.src)) * w.n_tiers + switch.tier"]
        if name == "choose":
            lines += ["chosen_from = 0"]
            lines += ["if w.balancer_set_bytes:"]
            lines += ["    chosen_from = int_at(w.set_of, first)"]
        if name == "see":
            lines += ["origin = row * w.n_leaves + int_at(w.host_leaf, sub.src + sub.dst - packet.target)"]
    elif hook.role == "nic":
        lines += ["sub = sub_at(w.subs, packet.sub)"]
    elif hook.role != "queue":
        memory = "flow_at(w.flows, f)" if "f" in takes(name) else "sub"
        lines += [] if memory != "sub" else ["sub = sub_at(w.subs, s)"]
        lines += [f"stack = stack_at(w.stacks, {memory}.stack)"]
    return lines


def caller_source(name: str) -> str:
    """Return the text of the caller of one hook.

    Examples
    --------
    >>> print(caller_source("react").splitlines()[0])
    def react(w, s, signals, now_ps):
    """
    hook, role = HOOKS[name], HOOKS[name].role
    flow = "f" if "f" in takes(name) else "sub.flow"
    scopes = _NETWORK.get(role, {})
    parts = [scopes[each] if scopes else _host_scope(role, each, flow) for each in scopes_of(name)]
    holder = "w" if role in NETWORK_ROLES else "stack"
    known = _ARGUMENTS | {"params": f"params_at({holder}.{role})", "flow": f"flow_at(w.flows, {flow})"}
    arguments = [known.get(each, each) for each in hook.arguments]
    body = [*_lines(name), f"own = Own_{name}({', '.join(parts)})"]
    body += [f"return {name}_hook({holder}.{name})({', '.join(arguments)})"]
    head = f"def {name}({', '.join(('w', *takes(name)))}):"
    return "\n    ".join([head, f'"""Call the hook `{name}`."""', *body]) + "\n"


def callers(names: dict[str, Any], sources: Mapping[str, str]) -> dict[str, Any]:
    """Return the callers of all hooks as Python functions that find `names` as their globals."""
    scope = {f"Own_{name}": kind for name, kind in OWN.items()} | names
    for name, source in sources.items():
        exec(compile(source, f"<caller of {name}>", "exec"), scope)  # our own table
    return {name: scope[name] for name in sources}

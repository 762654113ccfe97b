"""The eight roles of a scheme, the stack that an end host runs, and the scheme: a named combination of them.

============== ======================================================== ===================================
Role           Decides                                                  Hooks
============== ======================================================== ===================================
Transport      what one subflow sends, acknowledges and repairs         open send on_data on_ack on_timeout
                                                                        on_receive_timer
Congestion     how windows answer to what happened                      react
Sharing        which subflows a flow has, who gets the next segment     begin schedule note
Layer          what stands between transport and network, at both ends  accept emit collect release resume observe
                                                                        encodes decodes combine recover
Marking        the addresses and port numbers of a packet, as a hash    mark
Balancer       the port at a switch                                     choose see
Queue          who is taken, sent, marked, trimmed and lost at a port   admit take leave evict
NIC            in which order a host sends what waits at its port       rank
============== ======================================================== ===================================

Arguments and answers of the hooks: ``HOOKS`` of :mod:`capsim.roles.hooks`. A hook that is None is never called.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from functools import cached_property
from typing import Annotated, Any, ClassVar

from capsim.base import bounds
from capsim.base.bounds import check_params, param_bounds, shortened
from capsim.base.structs import plain_numbers
from capsim.roles.hooks import HOOKS, HOST_ROLES, NETWORK_ROLES, ROLES, Hook
from capsim.roles.own import Memory, check_memory, with_lengths
from capsmodel.checks import ParameterError, choice, did_you_mean, require
from capsmodel.experiments.number_texts import quantity
from capsmodel.experiments.reprs import as_html


@dataclass(frozen=True)
class NoParams:
    """A component without parameters."""


@dataclass(frozen=True, kw_only=True)
class SegmentParams:
    """What set-up and results must know of every transport.

    Parameters
    ----------
    mss_bytes : int
        Payload of a full segment, in bytes.
    header_bytes : int
        Headers of a data packet, in bytes.
    max_window_bytes : int
        At most so much of a subflow is sent and not acknowledged, in bytes.
    """

    mss_bytes: Annotated[int, bounds.PACKET_BYTES] = 1460
    header_bytes: Annotated[int, bounds.HEADER_BYTES] = 40
    max_window_bytes: Annotated[int, bounds.WINDOW_BYTES] = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Component:
    """What plays a role.

    Parameters
    ----------
    name : str
        Lower case.
    params : dataclass
        Parameters: numbers, truth values, members of an IntEnum; the end of a name is its unit. A class that inherits
        parameters which its component has no use for names them in an attribute ``unread``: nobody may set these.
    memory : dict
        Own fields by scope (:mod:`capsim.roles.own`), as for numpy.dtype.
    columns : dict
        Meanings of own fields that are columns of the results, by scope: ``subflow`` (summed over the subflows of a
        flow in the table of flows) or ``unit``.
    draws : bool
        Whether its hooks use ``u0``; without it that is always 0.
    """

    role: ClassVar[str]

    name: str
    params: Any = NoParams()
    memory: Memory = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    draws: bool = False

    def __post_init__(self) -> None:
        check_memory(self.name, self.role, self.memory)
        given = [name for name, hook in HOOKS.items() if "u0" in hook.arguments]
        drawn = [name for name in given if HOOKS[name].role == self.role and getattr(self, name) is not None]
        text = f"{self.name}: draws=True, but no hook of it is given u0: {', '.join(given)} are"
        require(bool(drawn) or not self.draws, text)

    @cached_property
    def own_fields(self) -> Memory:
        """Return `memory` with the lengths that parameters give."""
        return with_lengths(self.memory, self.params)

    @property
    def settable(self) -> tuple[str, ...]:
        """Return the names of the parameters that it reads.

        Examples
        --------
        >>> from capsim.protocols.registry import scheme
        >>> {"rto_s", "min_rto_s"} & {*scheme("pfabric").short.transport.settable}
        {'rto_s'}
        """
        unread = getattr(self.params, "unread", ())
        return tuple(each.name for each in fields(self.params) if each.name not in unread)

    def hook(self, name: str) -> Hook | None:
        """Return a hook by its name; None where there is none, or none is needed with these parameters."""
        hook: Hook | None = getattr(self, name)
        return hook


@dataclass(frozen=True, kw_only=True)
class Transport(Component):
    """What one subflow sends, acknowledges and repairs; its parameters are :class:`SegmentParams` or more.

    One that puts acknowledgements off, or paces what it asks for, has `on_receive_timer`, and parameters with an
    attribute ``receive_timer`` that says whether it does.
    """

    role = "transport"

    open: Hook
    send: Hook
    on_data: Hook
    on_ack: Hook
    on_timeout: Hook
    on_receive_timer: Hook | None = None
    on_sent: Hook | None = None
    send_timer: bool = False  # whether it sets sub.send_wake_ps, when `send` is to be asked again
    reads_headers: bool = False  # whether `on_data` knows a packet of which only the header is left: TRIMMED
    reliable: bool = True  # whether what is lost is retransmitted, so that every flow ends


@dataclass(frozen=True, kw_only=True)
class Congestion(Component):
    """How the windows answer to what happened."""

    role = "congestion"

    react: Hook
    reads_marks: bool = False  # whether it waits for marks: a combination in which no packet is marked is refused


@dataclass(frozen=True, kw_only=True)
class Sharing(Component):
    """Which subflows a flow has, and, where they share its stream, which of them gets the next data segment.

    Without `schedule` each subflow carries the whole stream. Parameters with an attribute ``subflows`` say how many
    subflows a flow has at most; without it, it has one. One with ``stream_segments`` says how far the stream may go on
    beyond the first data segment that is not acknowledged; without it, as far as all windows reach.
    """

    role = "sharing"

    begin: Hook
    schedule: Hook | None = None
    note: Hook | None = None
    listens: int = 0  # the signals that `note` is called for


@dataclass(frozen=True, kw_only=True)
class UnitPacket:
    """Which packet of a unit an arriving packet is.

    Parameters
    ----------
    unit : int
        Number of the unit, or NONE for a source packet that a unit will take up later.
    first_segment : int
        First source packet of the unit; without a unit, this one.
    k, n : int
        Source packets, and all packets that were sent for the unit at first; k is 0 while the sender fills it.
    packet_id : int
        Below k a source packet, else a repair packet, as :mod:`capsmodel.codec.base` numbers them.
    """

    unit: int
    first_segment: int
    k: int
    n: int
    packet_id: int


@dataclass(frozen=True, kw_only=True)
class Layer(Component):
    """What stands between transport and network at both ends.

    A layer that codes may say which packet of which unit an arriving packet is (`unit_packet`, see
    :mod:`capsim.engines.payload`): a Python function that is not compiled, for runs in which the packets carry bytes.
    One that sends combinations of the data segments of a stream says instead by which coefficients each data segment is
    mixed (`combination`).

    Its parameters may have the methods ``most_repair_packets(window, largest_flow=...)``, how many packets beyond those
    of the transport one event may send, and ``check_window(window)``, which refuses windows that it cannot serve, and
    attributes `emits_unasked` and `receive_timer`, which then count in place of those of the layer. With `unit_packet`
    they have ``most_source_packets(window, largest_flow=...)``, the source packets of the largest unit.
    """

    role = "layer"

    accept: Hook | None = None
    combine: Hook | None = None
    emit: Hook | None = None
    collect: Hook | None = None
    release: Hook | None = None
    recover: Hook | None = None
    resume: Hook | None = None
    observe: Hook | None = None
    encodes: Hook | None = None
    decodes: Hook | None = None
    send_timer: bool = False  # whether it sets sub.send_wake_ps
    emits_unasked: bool = True  # whether `emit` has packets where neither `accept` nor `combine` has just called for it
    receive_timer: bool = False  # whether it sets sub.receive_wake_ps
    unit_packet: Callable[..., UnitPacket | None] | None = None
    combination: Callable[..., dict[int, int]] | None = None


@dataclass(frozen=True, kw_only=True)
class Marking(Component):
    """The hash of a packet's addresses and port numbers; without `mark` it is the subflow's for its whole life."""

    role = "marking"

    mark: Hook | None = None
    learn: Hook | None = None  # what acknowledgements and timeouts say of the hashes


@dataclass(frozen=True, kw_only=True)
class Balancer(Component):
    """Which of the equal-cost ports a switch sends a packet to; `choose` is asked only where there are two or more."""

    role = "balancer"

    choose: Hook
    see: Hook | None = None  # called for every packet at every switch, after the choice
    reads_queues: bool = True  # whether it looks at the queues of `ports`; the compiled engine brings them up to date


@dataclass(frozen=True, kw_only=True)
class Queue(Component):
    """Whether a port takes a packet, which of the waiting ones is sent next, and which is lost.

    Without `admit` a port takes what its limits have room for.

    With `by_priority` packets wait in the order of ``packet.priority``, equal ones in order of arrival. The first is
    sent next and the last is lost, if its priority is worse than the arriving packet's, unless `take` or `evict` say
    otherwise. Without it a port is first in, first out, and loses only packets that arrive: EVICT is REFUSE there.

    With `headers_first` a port of a switch may trim: the parameters have ``trim_bytes``, what is left of a packet.
    Trimmed and control packets leave before those with data, in order of arrival, unless `take` says otherwise;
    ``port.data_bytes`` are those of packets with data in the queue. Without it, and at hosts, TRIM and TRIM_LAST are
    REFUSE.

    Where the queue says what is sent next, by either, `leave` is asked of each packet that has left. Parameters with an
    attribute ``marks`` say whether the queue may mark with them; where it does not, `leave` is not asked.
    """

    role = "queue"

    admit: Hook | None = None
    by_priority: bool = False
    headers_first: bool = False
    take: Hook | None = None
    leave: Hook | None = None
    evict: Hook | None = None

    def hook(self, name: str) -> Hook | None:
        """Return a hook by its name; no `leave` where the parameters say that nothing is marked."""
        return None if name == "leave" and not getattr(self.params, "marks", True) else super().hook(name)


@dataclass(frozen=True, kw_only=True)
class Nic(Component):
    """In which order the port of a host sends the packets that wait there; what it takes and loses its queue says.

    With `rank` each packet gets a number when the port has taken it. The one with the smallest number is sent next, of
    equal ones the one that came first. Without it the port sends in the order of its queue.
    """

    role = "nic"

    rank: Hook | None = None


@dataclass(frozen=True, kw_only=True)
class Stack:
    """What an end host runs for one class of flows; `priority` 0 is served first at ports with several classes."""

    transport: Transport
    congestion: Congestion
    sharing: Sharing
    layer: Layer
    marking: Marking
    priority: Annotated[int, bounds.PRIORITY] = 0

    def __post_init__(self) -> None:
        params = self.transport.params
        require(isinstance(params, SegmentParams), f"{self.transport.name}: its parameters are no SegmentParams")
        bounds.PRIORITY.check("priority", self.priority)
        late = f"{self.transport.name} puts acknowledgements off, but {self.layer.name} has the timer of the receiver"
        require(not (self.late_acks and self.layer_waits), late)
        for role in HOST_ROLES:
            check_params(getattr(self, role).params, role)

    @property
    def layer_waits(self) -> bool:
        """Whether the layer has the timer of the receiver."""
        return bool(getattr(self.layer.params, "receive_timer", self.layer.receive_timer))

    @property
    def late_acks(self) -> bool:
        """Whether acknowledgements may be put off: then the transport has the timer of the receiver."""
        return bool(getattr(self.transport.params, "receive_timer", False))


@dataclass(frozen=True, kw_only=True, repr=False)
class Scheme:
    """A named combination of components.

    Parameters
    ----------
    name : str
        Lower case; how the command line and scenarios call it.
    summary : str
        One line: the idea and its source.
    short, long : Stack
        What hosts run for short and for long flows; `long` for all where sizes are not known.
    balancer, queue
        What switches and ports do.
    nic : Nic
        In which order hosts send. Where the queue is by priority that order holds for hosts too, and `nic` has no rank.
    cite : str
        Paper key or reference.
    known_sizes : bool
        Whether hosts and switches know that a flow is short when it starts.
    reconstructed : bool
        Whether its publication leaves out what the rest is a guess at.
    """

    name: str
    summary: str
    short: Stack
    long: Stack
    balancer: Balancer
    queue: Queue
    cite: str
    nic: Nic = Nic(name="fifo")
    known_sizes: bool = True
    reconstructed: bool = False

    def __repr__(self) -> str:
        """Return name, idea and source; the defaults of all parameters fill a page (:mod:`capsim.roles.catalogue`)."""
        return f"Scheme {self.name}: {self.about} ({self.cite})"

    def _repr_html_(self) -> str:
        """Return the same, and its parts with their parameters as a table."""
        return as_html(repr(self), parts_with_parameters(self))

    def __post_init__(self) -> None:
        needed = getattr(self.balancer.params, "needs_sizes", False)
        text = f"{self.name}: its balancer takes flows for long from their first packet, but sizes are not known"
        require(self.known_sizes or not needed, text)
        same = self.known_sizes or self.short == self.long
        require(same, f"{self.name}: sizes are not known, but short flows have a stack of their own")
        ranks_once = self.nic.rank is None or not self.queue.by_priority
        require(ranks_once, f"{self.name}: its queue sends by priority, at hosts too, so its NIC cannot rank packets")
        for role in NETWORK_ROLES:
            check_params(getattr(self, role).params, role)

    @property
    def about(self) -> str:
        """Return the summary, and whether the scheme is a reconstruction."""
        return self.summary + (" (reconstructed)" if self.reconstructed else "")

    @property
    def stacks(self) -> tuple[Stack, ...]:
        """Return the stack of short flows, and that of long flows if it is another."""
        return (self.short,) if self.short == self.long else (self.short, self.long)

    def with_nic(self, nic: Nic) -> "Scheme":
        """Return the same scheme with another NIC; one whose queue sends by priority keeps that order at hosts.

        Examples
        --------
        >>> from capsim.protocols.registry import NICS, scheme
        >>> [scheme(name).with_nic(NICS["round_robin"]).nic.name for name in ("ecmp", "pfabric")]
        ['round_robin', 'fifo']
        """
        return self if self.queue.by_priority else replace(self, nic=nic)

    def stack(self, short: bool) -> Stack:
        """Return the stack of short or of long flows."""
        return self.short if short else self.long

    def with_params(self, **changes: Mapping[str, Any]) -> "Scheme":
        """Return the same scheme with some parameters changed, given by role.

        Those of a role of end hosts change in both stacks, or in the one whose component has parameters.

        Raises
        ------
        ParameterError
            If a role or parameter is unknown, or a value is not of the parameter's kind.

        Examples
        --------
        >>> from capsim.protocols.registry import scheme
        >>> scheme("ecmp").with_params(transport={"min_rto_s": 0.01}).short.transport.params.min_rto_s
        0.01
        """
        for role in changes:
            known = f"there are {', '.join(ROLES)}; settings of a scenario begin with fabric, traffic, hosts or probes"
            require(role in ROLES, f"{role!r} is not a component with parameters: {known}")
        switch = {
            role: _changed(getattr(self, role), values) for role, values in changes.items() if role in NETWORK_ROLES
        }
        host = {role: values for role, values in changes.items() if role in HOST_ROLES}
        for role, values in host.items():
            _check_known(role, values, [getattr(stack, role) for stack in self.stacks])
        return replace(self, short=_changed_stack(self.short, host), long=_changed_stack(self.long, host), **switch)


def _changed_stack(stack: Stack, changes: Mapping[str, Mapping[str, Any]]) -> Stack:
    """Return the stack with those parameters changed that its components have."""
    parts = {}
    for role, values in changes.items():
        component = getattr(stack, role)
        own = {name: value for name, value in values.items() if name in component.settable}
        parts[role] = _changed(component, own)
    return replace(stack, **parts)


def _check_known(role: str, values: Mapping[str, Any], components: list[Component]) -> None:
    """Refuse a parameter that no component of the role has, or reads."""
    known = list(dict.fromkeys(name for component in components for name in component.settable))
    for name in values:
        if name not in known:
            names = " and ".join(dict.fromkeys(component.name for component in components))
            if any(name in getattr(component.params, "unread", ()) for component in components):
                raise ParameterError(f"{role}.{name} has no effect on {names}: there are {', '.join(known) or 'none'}")
            raise ParameterError(f"{role}.{name} is not a parameter of {names}: {did_you_mean(name, known)}")


def _changed(component: Any, values: Mapping[str, Any]) -> Any:
    _check_known(component.role, values, [component])
    changed = {name: _like(component.params, component.role, name, value) for name, value in values.items()}
    return replace(component, params=replace(component.params, **changed)) if changed else component


def _like(params: Any, role: str, name: str, value: Any) -> Any:
    """Return `value` in the type of the parameter's default, so that a record keeps its layout."""
    default, full_name, value = getattr(params, name), f"{role}.{name}", plain_numbers(value)
    if isinstance(default, IntEnum):
        return _member(type(default), value, full_name)
    if isinstance(default, bool):
        require(isinstance(value, bool), f"{full_name} = {shortened(value)}, but it must be true or false")
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    require(number, f"{full_name} = {shortened(value)}, but it must be a number of at least 0")
    param_bounds(type(params))[name].check(full_name, value)
    if isinstance(default, float):
        return float(value)
    require(value == int(value), f"{full_name} = {shortened(value)}, but it must be a whole number")
    return int(value)


def _member(kind: type[IntEnum], value: Any, name: str) -> IntEnum:
    known = {member.name.lower(): member for member in kind}
    if isinstance(value, kind):
        return value
    choice(name, value, known)
    return known[value]


def parts_of(scheme: Scheme, role: str) -> dict[str, Component]:
    """Return what plays a role, by the flows that it is for: ``short``, ``long``, or all (an empty text).

    Examples
    --------
    >>> from capsim.protocols.registry import scheme
    >>> {flows: part.name for flows, part in parts_of(scheme("caps"), "layer").items()}
    {'short': 'caps', 'long': 'none'}
    """
    if role not in HOST_ROLES:
        return {"": getattr(scheme, role)}
    short, long = getattr(scheme.short, role), getattr(scheme.long, role)
    return {"": short} if short == long else {"short": short, "long": long}


def components(scheme: Scheme) -> list[tuple[str, Component]]:
    """Return every component of a scheme with the flows that it is for, as in :func:`parts_of`, role by role.

    Examples
    --------
    >>> from capsim.protocols.registry import scheme
    >>> [part.name for flows, part in components(scheme("caps")) if flows == "long"]
    ['none']
    """
    return [part for role in ROLES for part in parts_of(scheme, role).items()]


def parts_with_parameters(scheme: Scheme) -> list[dict[str, str]]:
    """Return a row for each component: its role, its name with the flows that it is for, its parameters with defaults.

    Examples
    --------
    >>> from capsim.protocols.registry import scheme
    >>> parts_with_parameters(scheme("ecmp"))[5]
    {'part': 'balancer', 'component': 'ecmp', 'parameters': 'split modulo'}
    """
    rows = []
    for flows, part in components(scheme):
        values = (f"{name} {shown_value(name, getattr(part.params, name))}" for name in part.settable)
        rows.append({"part": part.role, "component": named_part(part, flows), "parameters": ", ".join(values)})
    return rows


def named_part(component: Component, flows: str) -> str:
    """Return the name of a component, and the flows that it is for where they are not all."""
    return component.name + (f" ({flows} flows)" if flows else "")


def shown_value(name: str, value: object) -> str:
    """Return a value of a parameter as an option takes it; a size above all flows and windows in words."""
    if isinstance(value, IntEnum):
        return value.name.lower()
    is_high = name.endswith("_bytes") and value == bounds.SSTHRESH_BYTES.largest
    return "arbitrarily high" if is_high else quantity(name, value)

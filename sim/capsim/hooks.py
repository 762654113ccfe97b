"""What a scheme is: the kinds of decision that protocols make, each a plain function with one fixed signature.

A hook decides from what it is given and writes to the records that it is given. It knows no engine, no clock and no
generator: the time and a uniform number are arguments. It must stay within what Numba compiles without allocating:
numbers, records, ``if`` and loops, and module-level functions marked :func:`inlined`.

===================== ================================================================== ========================
Hook                  Arguments                                                          Returns
===================== ================================================================== ========================
``Balancer.choose``   params, state, switch, conn, packet, ports, candidates, now_ps, u0 index of a candidate
``Queue.admit``       params, port, packet, queue_packets, queue_bytes                   a verdict
``Transport.open``    params, conn, now_ps                                               0
``Transport.send``    params, conn, segments, packet, now_ps                             1: `packet` is filled in
``Transport.receive`` params, conn, segments, packet, now_ps                             1: `packet` is the reply
``Transport.hear``    params, conn, segments, packet, now_ps                             0
``Transport.expire``  params, conn, segments, now_ps                                     0
``Coding.accept``     params, conn, estimator, units, counters, packet, now_ps           a verdict
``Coding.emit``       params, conn, estimator, units, counters, packet, now_ps           1: `packet` is filled in
``Coding.collect``    params, conn, segments, units, packet, now_ps                      1: deliver it to TCP
``Coding.release``    params, conn, segments, units, packet, now_ps                      1: deliver it to TCP
``Coding.observe``    params, conn, estimator, packet, now_ps                            0
===================== ================================================================== ========================

`params` is the parameter struct of the component as a record: the same names, except that a time ``rto_s`` becomes
``rto_ps``; `state` is one record per switch of the dtype ``Balancer.state``; `segments` holds one byte of flags per
segment in flight, at ``segments[conn.ring + (segment & conn.ring_mask)]``; everything else is a record of
:mod:`capsim.records`, `ports` all ports, `candidates` the numbers of those on a shortest path.

What the engines do with them, at an end host::

    open, then send until it returns 0                     at the start of a flow
    hear (an ACK or SYN-ACK has come), then send until 0   at the sender
    expire (``conn.timer_ps`` is reached), then send       at the sender
    receive (DATA or SYN has come)                         at the receiver

and, when the connection is coded: each packet that `send` filled in is given to `accept`. It is then sent (PASS), kept
by the encoder (KEEP), or sent with packets of the encoder right behind it (FOLLOW: `emit` is called at once). When
`send` has returned 0, and when ``conn.flush_ps`` is reached, `emit` is called until it returns 0. At the receiver a
packet is given to `collect`, then `release` is called until it returns 0, and the packets for which these return 1 are
delivered to TCP: given to `receive`.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Annotated, Any, TypeVar

import numpy as np

from capsim.bounds import COPIES, check_params, param_bounds, shortened
from capsim.clock import to_ps
from capsmodel.checks import ParameterError, choice, require

Hook = Callable[..., int]
Function = TypeVar("Function", bound=Callable[..., Any])

# Verdicts of Queue.admit
ACCEPT, MARK, REFUSE, PUSH_OUT = 0, 1, 2, 3

# Verdicts of Coding.accept
PASS, KEEP, FOLLOW = 0, 1, 2

# The components that have hooks; a replication has none.
COMPONENTS = ("transport", "balancer", "queue", "coding")

# Bytes of every parameter record and every switch state, so that one compiled loop fits all of them.
RECORD_BYTES = 512


def inlined(function: Function) -> Function:
    """Mark `function` as one that hooks call; the compiled engine compiles it with them."""
    function.capsim_inlined = True  # type: ignore[attr-defined]  # functions take attributes, Callable does not say so
    return function


@dataclass(frozen=True)
class NoParams:
    """A component without parameters."""


@dataclass(frozen=True, kw_only=True)
class Balancer:
    """Which of the equal-cost ports a switch sends a packet to; asked only where there are two or more."""

    name: str
    choose: Hook
    params: Any = NoParams()
    state: tuple[tuple[str, str], ...] = ()  # fields of its memory at each switch, as for numpy.dtype
    draws: bool = False  # whether it uses u0
    reads_queues: bool = True  # whether it looks at the queues of `ports`; the compiled engine brings them up to date


@dataclass(frozen=True, kw_only=True)
class Queue:
    """Whether a port takes a packet; `classes` is 1 for FIFO, 2 for strict priority by ``packet.priority``."""

    name: str
    admit: Hook
    params: Any = NoParams()
    classes: int = 1


@dataclass(frozen=True, kw_only=True)
class Transport:
    """How an end host sends, acknowledges and repairs."""

    name: str
    open: Hook
    send: Hook
    receive: Hook
    hear: Hook
    expire: Hook
    params: Any


@dataclass(frozen=True, kw_only=True)
class Coding:
    """What stands between transport and network at the end hosts; `coded` says for which connections."""

    name: str
    accept: Hook
    emit: Hook
    collect: Hook
    release: Hook
    observe: Hook
    params: Any = NoParams()
    coded: str = "none"  # "none", "short" or "all"
    shared_estimator: bool = False  # one blocking probability per host, not per connection


@dataclass(frozen=True, kw_only=True)
class Replication:
    """How many connections carry a flow, each all of it.

    Parameters
    ----------
    name : str
        Lower case.
    copies_of_short : int
        Connections of a short flow; a long flow has one.
    abort_losers : bool
        Whether the other copies stop sending when the first is complete at the receiver.
    """

    name: str
    copies_of_short: Annotated[int, COPIES] = 1
    abort_losers: bool = False


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """A named combination of components.

    Parameters
    ----------
    name : str
        Lower case; how the command line and scenarios call it.
    summary : str
        One line: the idea and its source.
    transport, balancer, coding, queue, replication
        The components.
    cite : str
        Paper key or reference.
    known_sizes : bool
        Whether hosts and switches know that a flow is short when it starts (coding, priority, replication and some
        balancers use it).
    """

    name: str
    summary: str
    transport: Transport
    balancer: Balancer
    coding: Coding
    queue: Queue
    replication: Replication
    cite: str
    known_sizes: bool = True

    def __post_init__(self) -> None:
        needed = getattr(self.balancer.params, "needs_sizes", False)
        text = f"{self.name}: its balancer takes flows for long from their first packet, but sizes are not known"
        require(self.known_sizes or not needed, text)
        for name in COMPONENTS:
            check_params(getattr(self, name).params, name)
        check_params(self.replication, "replication")

    def with_params(self, **changes: dict[str, Any]) -> "Scheme":
        """Return the same scheme with some parameters changed, given by component.

        Raises
        ------
        ParameterError
            If a component or parameter is unknown, or a value is not of the parameter's kind.

        Examples
        --------
        >>> from capsim.registry import scheme
        >>> scheme("ecmp").with_params(transport={"min_rto_s": 0.01}).transport.params.min_rto_s
        0.01
        """
        parts = {name: _changed(getattr(self, name, None), name, values) for name, values in changes.items()}
        return replace(self, **parts)


def _changed(component: Any, kind: str, values: dict[str, Any]) -> Any:
    require(kind in (*COMPONENTS, "replication"), f"{kind!r} is not a component with parameters")
    params = getattr(component, "params", component)
    known = [field.name for field in fields(params)]
    for name in values:
        if name not in known:
            raise ParameterError(f"{kind}.{name} is not a parameter of {component.name}: there are {', '.join(known)}")
    changed = replace(params, **{name: _like(params, kind, name, value) for name, value in values.items()})
    return changed if params is component else replace(component, params=changed)


def _like(params: Any, kind: str, name: str, value: Any) -> Any:
    """Return `value` in the type of the parameter's default, so that a record keeps its layout."""
    default, full_name = getattr(params, name), f"{kind}.{name}"
    if isinstance(default, IntEnum):
        return _member(type(default), value, full_name)
    if isinstance(default, bool):
        require(isinstance(value, bool), f"{full_name} = {shortened(value)}, but it must be true or false")
        return value
    if isinstance(default, str):
        raise ParameterError(f"{full_name} names the component and is no parameter")
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


def record_name(name: str) -> str:
    """Return the name that parameter `name` has in the record: times are picoseconds there.

    Examples
    --------
    >>> record_name("min_rto_s"), record_name("mss_bytes")
    ('min_rto_ps', 'mss_bytes')
    """
    return name.removesuffix("_s") + "_ps" if name.endswith("_s") else name


def param_record(params: Any) -> np.ndarray[Any, Any]:
    """Return a parameter struct as an array of one record, padded to ``RECORD_BYTES``.

    Floats stay floats, except times (``_s``), which become whole picoseconds (``_ps``); truth values, whole numbers
    and members of an IntEnum become int64.
    """
    columns: list[tuple[str, str]] = []
    values: list[float | int] = []
    for field in fields(params):
        value = getattr(params, field.name)
        name = record_name(field.name)
        if name != field.name:
            value = to_ps(value)
        is_float = isinstance(value, float) and not isinstance(value, IntEnum)
        columns.append((name, "f8" if is_float else "i8"))
        values.append(value if is_float else int(value))
    record = np.zeros(1, padded(tuple(columns)))
    for (name, _), value in zip(columns, values, strict=True):
        record[name] = value
    return record


def padded(columns: tuple[tuple[str, str], ...]) -> np.dtype[Any]:
    """Return a dtype with the given fields that takes ``RECORD_BYTES``."""
    packed = np.dtype(list(columns), align=True)
    require(packed.itemsize <= RECORD_BYTES, f"a record of {packed.itemsize} bytes: at most {RECORD_BYTES} fit")
    spec = {
        "names": [name for name, _ in columns],
        "formats": [form for _, form in columns],
        "offsets": [packed.fields[name][1] for name, _ in columns] if packed.fields else [],
        "itemsize": RECORD_BYTES,
    }
    return np.dtype(spec)  # type: ignore[call-overload]  # numpy's stubs want literal keys

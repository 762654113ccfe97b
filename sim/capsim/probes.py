"""What probes can sample: every field of a port, flow or subflow, and every field that a component declares.

A field goes by its record and name, a time in seconds: ``port.queue_bytes``, ``flow.buffered``, ``sub.srtt_s``. A field
of own memory goes by role, scope and name, ``balancer.towards.last``, or without the scope where it is in one scope
only, ``congestion.alpha``. An element of a fixed array is ``layer.counts[3]``; without the index all are sampled.
Larger arrays than ``MOST_PLACES`` (64), such as a switch's table of flows, are not sampled.

=============================== ================================== ==========================================
Field of                        is sampled for                     Entity in the result
=============================== ================================== ==========================================
port, queue                     ``probes.ports``                   ``leaf0>spine1``
flow                            ``probes.flows``                   ``flow3``
sub, own memory per subflow     each subflow of these, once open   ``flow3.0``, ``flow3.1``
own memory per host             all hosts                          ``host3``
balancer: switch                ``probes.switches``                ``leaf0``
balancer: towards, path         the same, for each leaf            ``leaf0 to leaf3``, ``leaf0 to leaf3 path 1``
balancer: passing               each subflow                       ``flow3.0 forward tier 1``
=============================== ================================== ==========================================

Coding units have a table of their own, and what is in the header of a packet is not sampled. Before a run each field
becomes a place in a table (:mod:`capsim.probe_places`): an engine copies numbers and knows no field.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from capsim.hooks import HOST_ROLES
from capsim.own import TABLES, first_record
from capsim.records import FLOW, NONE, PORT, SUBFLOW
from capsim.state import Setup
from capsmodel.checks import ParameterError

PORT_FIELDS = ("port.queue_packets", "port.queue_bytes")
FLOW_FIELDS = (
    "sub.cwnd_bytes",
    "sub.inflation_bytes",
    "sub.ssthresh_bytes",
    "sub.srtt_s",
    "sub.una",
    "sub.next_segment",
)

MOST_PLACES = 64  # of an array that is sampled: one for each subflow of a flow, or port of a switch

# Chains of packets, places in tables of an engine, padding
_HIDDEN = {"head", "tail", "queue_head", "queue_head_ps", "service", "wait_head", "wait_tail"} | {
    *("ring", "ring_mask", "data_ring", "data_mask", "unused"),
}
_RECORDS = {"port": ("port", "ports", PORT), "flow": ("flow", "flows", FLOW), "sub": ("subflow", "subs", SUBFLOW)}
_HOST_SCOPES = ("subflow", "flow", "host")
_SWITCH_SCOPES = {"balancer": ("fabric", "switch", "towards", "path", "subflow", "passing"), "queue": ("port",)}


@dataclass(frozen=True)
class Field:
    """A number that can be sampled: element `index` of field `name` in the records of `owner` in a table.

    `scope` says of what there is one; `owner` is None for the records of the engine.
    """

    label: str
    scope: str
    table: str
    owner: Any
    name: str
    kind: np.dtype[Any]
    row_bytes: int  # size of its record
    offset: int  # in its record, in bytes
    index: int = NONE

    def value(self, row: Any) -> float:
        """Return the number in an object that has the fields of the record."""
        value = getattr(row, self.name)
        return float(value if self.index == NONE else value[self.index])


def observables(setup: Setup) -> dict[str, list[Field]]:
    """Return all fields of a run by label, one for each stack that has it."""
    found: dict[str, list[Field]] = {}
    for record, (scope, table, dtype) in _RECORDS.items():
        _enter(found, _fields(record, scope, table, None, dtype))
    for number, stack in enumerate(setup.stacks):
        for role in HOST_ROLES:
            _enter_own(found, role, getattr(stack, role).own_fields, _HOST_SCOPES, (number, role))
    for role, scopes in _SWITCH_SCOPES.items():
        _enter_own(found, role, getattr(setup.scheme, role).own_fields, scopes, role)
    return found


def _enter_own(found: dict[str, list[Field]], role: str, memory: Any, scopes: Sequence[str], owner: Any) -> None:
    for scope in scopes:
        table = scope if role in HOST_ROLES else f"{role}_{TABLES.get(scope, scope)}"
        dtype = first_record(memory, scope).dtype
        _enter(found, _fields(f"{role}.{scope}", scope, table, owner, dtype))


def _enter(found: dict[str, list[Field]], fields: Iterator[Field]) -> None:
    for field in fields:
        found.setdefault(field.label, []).append(field)


def _fields(prefix: str, scope: str, table: str, owner: Any, dtype: np.dtype[Any]) -> Iterator[Field]:
    size = dtype.itemsize
    for name, (kind, offset, *_) in (dtype.fields or {}).items():
        if owner is None and name in _HIDDEN:
            continue
        label = f"{prefix}.{name.removesuffix('_ps') + '_s' if name.endswith('_ps') else name}"
        if kind.subdtype is None:
            yield Field(label, scope, table, owner, name, kind, size, offset)
            continue
        base, shape = kind.subdtype
        places = int(np.prod(shape))
        for index in range(places if places <= MOST_PLACES else 0):
            place = offset + index * base.itemsize
            yield Field(f"{label}[{index}]", scope, table, owner, name, base, size, place, index)


def chosen_fields(setup: Setup) -> list[tuple[str, Field]]:
    """Return the fields that a set-up samples, each with the name that the user gave it.

    Raises
    ------
    ParameterError
        One line: a field that there is none of, with those that there are, or one of something that is not sampled.
    """
    names = setup.probe_fields
    if not names:
        names = (PORT_FIELDS if setup.probe_ports else ()) + (FLOW_FIELDS if setup.probe_flows else ())
    known, chosen = observables(setup) if names else {}, []
    for name in names:
        found = _like(name, known)
        if not found:
            raise ParameterError(f"probes.fields: {_unknown(name, known)}")
        for field in found:
            _check_sampled(name, field, setup)
            chosen.append((_given(name, field), field))
    return chosen


def _like(name: str, known: dict[str, list[Field]]) -> list[Field]:
    """Return the fields of a name: with or without scope and index."""
    exact = [field for label, fields in known.items() for field in fields if name in (label, _plain(label))]
    if exact:
        return exact
    short = [field for label, fields in known.items() for field in fields if name in _short(label)]
    if len({field.scope for field in short}) > 1:
        labels = " and ".join(dict.fromkeys(field.label for field in short))
        raise ParameterError(f"probes.fields: {name!r} is ambiguous: there are {labels}")
    return short


def _plain(label: str) -> str:
    return re.sub(r"\[\d+\]$", "", label)


def _short(label: str) -> tuple[str, ...]:
    """Return a label of own memory without its scope, with and without an index."""
    role, _, *name = label.split(".")
    return (f"{role}.{name[0]}", _plain(f"{role}.{name[0]}")) if name else ()


def _given(name: str, field: Field) -> str:
    return name if field.index == NONE or name.endswith("]") else f"{name}[{field.index}]"


def _unknown(name: str, known: dict[str, list[Field]]) -> str:
    """Return what is wrong with a name, and what there is instead."""
    records = {label.partition(".")[0] for label in known}
    record = name.partition(".")[0]
    if record not in records:
        return f"no field {name!r}: it begins with one of {', '.join(sorted(records))}"
    there = ", ".join(sorted({_plain(label).partition(".")[2] for label in known if label.startswith(f"{record}.")}))
    return f"no field {name!r}: {record} has {there}"


def _check_sampled(name: str, field: Field, setup: Setup) -> None:
    """Refuse a field of a port or flow when none is chosen."""
    of_flows = field.scope in ("flow", "subflow", "passing")
    if field.scope == "port" and not setup.probe_ports:
        raise ParameterError(f"probes.fields: {name!r} is of a port: name some in probes.ports")
    if of_flows and not setup.probe_flows:
        raise ParameterError(f"probes.fields: {name!r} is of a flow: name some in probes.flows")

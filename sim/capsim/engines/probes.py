"""Fields that probes can sample: every one of a port, flow or subflow, and every field that a component declares.

A field goes by its record and name, a time in seconds: ``port.queue_bytes``, ``flow.buffered``, ``sub.srtt_s``. A field
of own state goes by role, scope and name, ``balancer.towards.last``, or without the scope where it is in one scope
only, ``congestion.alpha``. An element of a fixed array is ``layer.counts[3]``; without the index all are sampled.
Larger arrays than ``MOST_PLACES`` (64), such as a switch's table of flows, are not sampled.

=============================== ================================== ==========================================
Field of                        is sampled for                     Entity in the result
=============================== ================================== ==========================================
port, queue                     ``probes.ports``                   ``leaf0>spine1``
flow                            ``probes.flows``                   ``flow3``
sub, own state per subflow      each subflow of these, once open   ``flow3.0``, ``flow3.1``
own state per host              all hosts                          ``host3``
balancer: switch                ``probes.switches``                ``leaf0``
balancer: towards, path         the same, for each leaf            ``leaf0 to leaf3``, ``leaf0 to leaf3 path 1``
balancer: passing               each subflow                       ``flow3.0 forward tier 1``
=============================== ================================== ==========================================

Coding units have a table of their own, and what is in the header of a packet is not sampled. Before a run each field
becomes a place in a table (:mod:`capsim.engines.probes`): an engine copies numbers and knows no field.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from capsim.engines.own_memory import OwnMemory
from capsim.engines.state import Setup, Table, stack_state
from capsim.fabric.topology import Fabric
from capsim.records import FLOW, NONE, NUMBER_TYPES, PORT, SUBFLOW, WATCH
from capsim.roles.hooks import HOST_ROLES
from capsim.roles.own import TABLES, Layout, first_record
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
_HIDDEN = {"head", "tail", "queue_head", "queue_head_ps", "wait_head", "wait_tail"} | {
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
    fields_of: dict[str, list[Field]] = {}
    for record, (scope, table, dtype) in _RECORDS.items():
        _enter(fields_of, _fields(record, scope, table, None, dtype))
    for number, stack in enumerate(setup.stacks):
        for role in HOST_ROLES:
            _enter_own(fields_of, role, getattr(stack, role).own_fields, _HOST_SCOPES, (number, role))
    for role, scopes in _SWITCH_SCOPES.items():
        _enter_own(fields_of, role, getattr(setup.scheme, role).own_fields, scopes, role)
    return fields_of


def _enter_own(fields_of: dict[str, list[Field]], role: str, memory: Any, scopes: Sequence[str], owner: Any) -> None:
    for scope in scopes:
        table = scope if role in HOST_ROLES else f"{role}_{TABLES.get(scope, scope)}"
        dtype = first_record(memory, scope).dtype
        _enter(fields_of, _fields(f"{role}.{scope}", scope, table, owner, dtype))


def _enter(fields_of: dict[str, list[Field]], fields: Iterator[Field]) -> None:
    for field in fields:
        fields_of.setdefault(field.label, []).append(field)


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
        near = _like(name, known)
        if not near:
            raise ParameterError(f"probes.fields: {_unknown(name, known)}")
        for field in near:
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
    """Return a label of own state without its scope, with and without an index."""
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


Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Plan:
    """What a run samples.

    Attributes
    ----------
    labels, fields : tuple
        Over columns: the field as the user named it, and as one stack or record has it.
    watches : structured array
        Of dtype WATCH, in the order of a sample; its ``field`` counts in `fields`.
    rows : int
        Most numbers of one sample.
    """

    labels: tuple[str, ...]
    fields: tuple[Field, ...]
    watches: Table
    rows: int


def plan(setup: Setup, own: OwnMemory) -> Plan:
    """Return what a run samples; `own` has the layouts of its own state."""
    chosen = chosen_fields(setup) if setup.probe_ps else []
    tables = [_watches(setup, field, own.layouts) for _, field in chosen]
    for number, table in enumerate(tables):
        table["field"] = number
    watches = np.concatenate([np.zeros(0, WATCH), *tables])
    of_subs = watches["stride"] > 0
    stacks = setup.flow_classes[0][watches["flow"][of_subs]]
    most = np.array([stack_state(stack).subflows for stack in setup.stacks])[stacks]
    rows = int(most.sum()) + int((~of_subs).sum())
    return Plan(tuple(label for label, _ in chosen), tuple(field for _, field in chosen), watches, rows)


def _watches(setup: Setup, field: Field, layouts: dict[str, Layout]) -> Table:
    """Return the places of one field, one for each entity."""
    flows = np.array(setup.probe_flows, np.int64)
    if isinstance(field.owner, tuple):
        flows = flows[setup.flow_classes[0][flows] == field.owner[0]]
    row_bytes, offset = field.row_bytes, field.offset
    if field.owner is not None:
        layout = layouts[field.table]
        row_bytes, offset = layout.row_bytes, layout.offsets[field.owner] + field.offset
    if field.scope in ("subflow", "passing"):
        per_sub = 2 * n_tiers(setup.fabric) if field.scope == "passing" else 1
        flow, row = (each.ravel() for each in np.meshgrid(flows, np.arange(per_sub), indexing="ij"))
        stride = per_sub * row_bytes
    else:
        row = flows if field.scope == "flow" else _rows(setup, field.scope)
        flow, stride, per_sub = np.full(len(row), NONE), 0, 0
    watches = np.zeros(len(row), WATCH)
    watches["flow"], watches["row"], watches["stride"], watches["per_sub"] = flow, row, stride, per_sub
    watches["first"], watches["type"] = row * row_bytes + offset, NUMBER_TYPES.index(field.kind.str[1:])
    return watches


def _rows(setup: Setup, scope: str) -> Rows:
    """Return the rows of ports, hosts, or what a balancer keeps, in the order of the tables."""
    fabric = setup.fabric
    if scope == "port":
        return np.array(setup.probe_ports, np.int64)
    if scope in ("fabric", "host"):
        return np.arange(1 if scope == "fabric" else fabric.n_hosts)
    switches = np.array(setup.probe_switches, np.int64)
    if scope == "switch":
        return switches
    leaves, host = np.unique(fabric.leaf_of_host, return_index=True)
    towards, leaf = np.meshgrid(switches, np.arange(len(leaves)), indexing="ij")
    other = towards != leaves[leaf]
    rows = (towards * len(leaves) + leaf)[other]
    if scope == "towards":
        return np.asarray(rows)
    counts, most = fabric.routes.count[towards, host[leaf]][other], most_paths(fabric)
    return np.array([row * most + path for row, count in zip(rows, counts, strict=True) for path in range(count)], int)


def n_tiers(fabric: Fabric) -> int:
    """Return the number of tiers of switches."""
    return int(fabric.switch_tier.max(initial=0)) + 1


def most_paths(fabric: Fabric) -> int:
    """Return the most candidates that a switch has."""
    return max(int(epoch.routes.count.max()) for epoch in fabric.epochs)


def entity_name(field: Field, fabric: Fabric) -> Callable[[int], str]:
    """Return what gives the name of an entity by its row; of a subflow, what follows its name."""
    switches = fabric.node_names[fabric.n_hosts :]
    leaves = [switches[row] for row in np.unique(fabric.leaf_of_host)]
    most, tiers = most_paths(fabric), n_tiers(fabric)

    def towards(row: int) -> str:
        return f"{switches[row // len(leaves)]} to {leaves[row % len(leaves)]}"

    return {
        "port": lambda row: fabric.port_names[row],
        "flow": lambda row: f"flow{row}",
        "subflow": lambda row: "",
        "host": lambda row: fabric.node_names[row],
        "fabric": lambda row: "fabric",
        "switch": lambda row: switches[row],
        "towards": towards,
        "path": lambda row: f"{towards(row // most)} path {row % most}",
        "passing": lambda row: f" {'back' if row >= tiers else 'forward'} tier {row % tiers}",
    }[field.scope]

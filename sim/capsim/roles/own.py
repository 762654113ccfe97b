"""Own state: the fields that a component declares for itself, by scope, and where they lie.

An engine allocates these fields, passes them to the hooks of their component and compares them; it never names them.

=========== ============================================== =====================================================
Scope       One record per                                 For
=========== ============================================== =====================================================
subflow     subflow                                        scoreboards, counters of congestion control, encoders; of a
                                                           balancer what all switches know of it
flow        flow                                           a scheduler's turn
host        host                                           a shared estimator, a pacer of all its flows
unit        coding unit                                    what sender and receiver know of it
segment     place of a subflow's ring                      when its segment was sent
packet      packet                                         options in its header; what nobody wrote says nothing
fabric      run                                            what all switches know
switch      switch                                         a counter in turn
towards     switch and leaf that a packet goes to          memory per destination
path        switch, leaf and candidate                     weights, measured delays
passing     subflow, direction and tier of the switch      what the switches of one tier know of it
set         set of candidates of a switch                  queues remembered, whatever the destination
port        port                                           averages
direction   subflow and direction                          its turn at the NIC that sends it
=========== ============================================== =====================================================

The hooks of a component see them as ``own.<scope>``. ``own.units`` are all units, ``own.segments`` the places of the
subflow's ring, of which that of a segment in flight is ``own.segments[segment & sub.ring_mask]``, ``own.paths`` the
records of all candidates in their order, ``own.ports`` those of all ports by number; ``own.packet`` is there for hosts
and for `see`, when the hook is given a packet. `see` has ``own.port``, that of the port chosen, and ``own.back`` and
``own.back_paths``: the memory towards the leaf that the packet comes from.

A transport has memory per host at the receiver only: in `on_data` and `on_receive_timer`, that of the receiving host.

A field is a name, a type and, if it does not begin as 0, its first value: ``("alpha", "f8", 1.0)``. The length of an
array may be the name of a parameter: ``("last_ps", "(table_entries,)i8")``. A field per host may begin as what is known
of the host's link, by its name in `LINK`: ``("rate_bps", "i8", "rate_bps")``.
"""

from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from capsim.roles.hooks import HOOKS, NETWORK_ROLES
from capsmodel.checks import ParameterError, require

__all__ = [
    *("Field", "LINK", "Layout", "Memory", "SCOPES", "TABLES", "TYPES", "check_memory", "first_record", "placed"),
    *("scopes_of", "with_lengths"),
]

Field = tuple[str, str] | tuple[str, str, float] | tuple[str, str, str]
Memory = Mapping[str, Sequence[Field]]
Table = np.ndarray[Any, Any]

TYPES = ("i8", "i4", "u1", "f8")  # a field is of one of these, or a fixed array of them: "(16,)i4"
LINK = ("rate_bps", "link_bytes")  # the rate, and what the link adds to each packet
HEADER: Any = {"names": [], "formats": [], "offsets": [], "itemsize": 8}  # a record without fields

# What each role's hooks see, in this order; plural names are tables
SCOPES = {
    "transport": ("subflow", "host", "segments"),
    "congestion": ("subflow", "flow"),
    "sharing": ("flow",),
    "layer": ("subflow", "flow", "host", "units"),
    "marking": ("subflow", "flow"),
    "balancer": ("fabric", "switch", "set", "towards", "paths", "subflow", "passing", "ports"),
    "queue": ("port",),
    "nic": ("direction",),
}
# What some do not see: hosts have no memory of the other end, and what is not passed costs no time
_UNSEEN = {
    "open": ("host", "segments"),
    "send": ("host",),
    "on_ack": ("host",),
    "on_timeout": ("host",),
    "on_data": ("segments",),
    "on_receive_timer": ("segments",),
    "on_sent": ("host",),
    "collect": ("host",),
    "release": ("host",),
    "recover": ("host",),
    "resume": ("host", "units"),
    "observe": ("units",),
    "decodes": ("host",),
    "see": ("set", "ports"),
}
# What is seen: its scope
TABLES = {
    "units": "unit",
    "segments": "segment",
    "paths": "path",
    "ports": "port",
    "back": "towards",
    "back_paths": "path",
}


@cache
def scopes_of(name: str) -> tuple[str, ...]:
    """Return what `own` has for the hook `name`.

    Examples
    --------
    >>> scopes_of("on_ack")
    ('subflow', 'segments', 'packet')
    """
    hook = HOOKS[name]
    seen = tuple(scope for scope in SCOPES[hook.role] if scope not in _UNSEEN.get(name, ()))
    back = ("port", "back", "back_paths") if name == "see" else ()
    options = hook.role not in NETWORK_ROLES or name == "see"
    return seen + back + (("packet",) if options and "packet" in hook.arguments else ())


# `own` of each hook; the machine code kept on disk names these classes as attributes of this module
OWN: dict[str, Any] = {name: namedtuple(f"Own_{name}", scopes_of(name), module=__name__) for name in HOOKS}
globals().update({kind.__name__: kind for kind in OWN.values()})


def check_memory(component: str, role: str, memory: Memory) -> None:
    """Refuse scopes that the role does not have, and fields of other types.

    Raises
    ------
    ParameterError
        One line with the scope or field and what is possible.
    """
    possible = {TABLES.get(scope, scope) for scope in SCOPES[role]} | {"packet"}
    for scope, fields in memory.items():
        require(scope in possible, f"{component}: no memory per {scope!r}: a {role} has {', '.join(sorted(possible))}")
        for field, kind, *first in fields:
            require(scope != "segment" or not first, f"{component}: segment.{field}: a place of a ring begins as 0")
            if kind.rpartition(")")[2] not in TYPES:
                raise ParameterError(f"{component}: {scope}.{field} of type {kind!r}: types are {', '.join(TYPES)}")
            named = bool(first) and isinstance(first[0], str)
            known = f"only a field per host begins as one of {', '.join(LINK)}"
            require(not named or (scope == "host" and first[0] in LINK), f"{component}: {scope}.{field}: {known}")


def with_lengths(memory: Memory, params: Any) -> Memory:
    """Return `memory` with numbers where lengths of arrays are names of parameters.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> with_lengths({"switch": (("turn", "i8"), ("seen_ps", "(slots,)i8", -1))}, SimpleNamespace(slots=4))
    {'switch': (('turn', 'i8'), ('seen_ps', '(4,)i8', -1))}
    """
    return {scope: tuple((each[0], _type(each[1], params), *each[2:]) for each in memory[scope]) for scope in memory}


def _type(kind: str, params: Any) -> str:
    shape, bracket, scalar = kind.rpartition(")")
    lengths = [each.strip() for each in shape.strip("(").split(",") if each.strip()]
    return f"({','.join(str(getattr(params, each, each)) for each in lengths)},){scalar}" if bracket else kind


def first_record(memory: Memory, scope: str) -> Table:
    """Return one record of a scope with its first values: aligned, a multiple of 8 bytes, 8 without fields."""
    fields = list(memory.get(scope, ()))
    packed = np.dtype([(name, kind) for name, kind, *_ in fields], align=True) if fields else np.dtype(HEADER)
    record = np.zeros(1, placed(packed, 0, -(-packed.itemsize // 8) * 8))
    for name, _, *first in fields:
        record[name] = first[0] if first and not isinstance(first[0], str) else 0  # what has a name is filled in later
    return record


def placed(dtype: np.dtype[Any], offset: int, itemsize: int) -> np.dtype[Any]:
    """Return `dtype` as part of a record of `itemsize` bytes that begins at `offset`."""
    fields: Any = dtype.fields or {}
    spec: Any = {
        "names": list(fields),
        "formats": [each[0] for each in fields.values()],
        "offsets": [offset + each[1] for each in fields.values()],
        "itemsize": itemsize,
    }
    whole: np.dtype[Any] = np.dtype(spec)
    return whole


class Layout:
    """Where the records of one scope lie: a row for each entity, in it a part for each owner that declares fields.

    Parameters
    ----------
    *groups : dict
        Each maps owners to their first records; those of a group are in use together, groups share the same bytes.

    Attributes
    ----------
    row_bytes : int
        Size of a row; 0 if no owner has fields.
    offsets, records : dict
        Over owners: where in the row its part begins, and its first record.
    rows : tuple of arrays
        Over groups: a row with the first values, as bytes.
    """

    def __init__(self, *groups: Mapping[Any, Table]):
        self.offsets: dict[Any, int] = {}
        self.records = {owner: record for group in groups for owner, record in group.items()}
        ends = [self._place(group) for group in groups]
        self.row_bytes = max(ends, default=0)
        self.rows = tuple(self._first_row(group) for group in groups)

    def _place(self, group: Mapping[Any, Table]) -> int:
        end = 0
        for owner, record in group.items():
            self.offsets[owner] = end if record.dtype.names else 0
            end += record.dtype.itemsize if record.dtype.names else 0
        return end

    def _first_row(self, group: Mapping[Any, Table]) -> Table:
        row = np.zeros(self.row_bytes, np.uint8)
        for owner, record in group.items():
            if record.dtype.names:
                row[self.offsets[owner] :][: record.dtype.itemsize] = record.view(np.uint8)
        return row

    def table(self, rows: int, *, group: int = 0) -> Table:
        """Return rows with the first values of a group, as bytes; at least 8, for owners without fields."""
        table = np.zeros(max(rows * self.row_bytes, 8), np.uint8)
        if self.row_bytes:
            table[: rows * self.row_bytes].reshape(rows, self.row_bytes)[:] = self.rows[group]
        return table

    def view(self, table: Table, owner: Any) -> Table:
        """Return the records of one owner in all rows of a table."""
        dtype = placed(self.records[owner].dtype, self.offsets[owner], max(self.row_bytes, 8))
        rows = len(table) // self.row_bytes if self.row_bytes else 0
        return table[: rows * self.row_bytes].view(dtype)

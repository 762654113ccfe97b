"""The parameters of a component as the record that its hooks read."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from enum import IntEnum
from typing import Any

import numpy as np

from capsim.base.clock import to_ps
from capsim.fabric.topology import Fabric
from capsim.roles.components import Scheme, Stack
from capsim.roles.hooks import HOST_ROLES, NETWORK_ROLES
from capsim.roles.own import SCOPES, TABLES, Layout, Table, first_record
from capsmodel.checks import require


def record_name(name: str) -> str:
    """Return the name that parameter `name` has in the record: times are picoseconds there.

    Examples
    --------
    >>> record_name("min_rto_s"), record_name("mss_bytes")
    ('min_rto_ps', 'mss_bytes')
    """
    return name.removesuffix("_s") + "_ps" if name.endswith("_s") else name


def param_record(params: Any) -> np.ndarray[Any, Any]:
    """Return a parameter struct as an array of one record.

    Floats stay floats, except times (``_s``), which become whole picoseconds (``_ps``); truth values, whole numbers
    and members of an IntEnum become int64. Without parameters it is 8 bytes without fields.
    """
    values: dict[str, float | int] = {}
    for field in fields(params):
        value = getattr(params, field.name)
        name = record_name(field.name)
        if name != field.name:
            value = to_ps(value)
        is_float = isinstance(value, float) and not isinstance(value, IntEnum)
        values[name] = value if is_float else int(value)
    kinds = [(name, "f8" if isinstance(value, float) else "i8") for name, value in values.items()]
    empty = {"names": [], "formats": [], "offsets": [], "itemsize": 8}
    record = np.zeros(1, np.dtype(kinds) if kinds else np.dtype(empty))  # type: ignore[call-overload]  # literal keys
    for name, value in values.items():
        record[name] = value
    return record


# These grow while a run goes on
POOLS = ("subflow", "packet", "unit", "balancer_subflow", "balancer_passing", "nic_direction")


class OwnMemory:
    """Tables and layouts by name.

    A scope of end hosts is a table of that name, owned by (number of the stack, role); a scope of switches is called
    after its role too: ``balancer_switch``.
    """

    def __init__(self, layouts: dict[str, Layout], tables: dict[str, Table]):
        self.layouts, self.tables = layouts, tables

    def records(self, name: str, owner: Any) -> Table:
        """Return the records of one owner, one for each row of the table `name`."""
        return self.layouts[name].view(self.tables[name], owner)

    def cut(self, **rows: int) -> None:
        """Drop the unused ends of pools."""
        for name, used in rows.items():
            self.tables[name] = self.tables[name][: used * self.layouts[name].row_bytes]


def own_memory(
    stacks: Sequence[Stack],
    scheme: Scheme,
    fabric: Fabric,
    *,
    link_bytes: int,
    flow_stack: Table,
    most_paths: int,
    n_sets: int,
) -> OwnMemory:
    """Return the memory with its first values; pools are empty.

    Parameters
    ----------
    stacks : sequence of Stack
        Those of the run.
    scheme : Scheme
        Its balancer, queue and NIC.
    fabric : Fabric
        Counts of switches, leaves, ports.
    link_bytes : int
        What links add to each packet, in bytes.
    flow_stack : ndarray of int
        Over flows: number of the stack.
    most_paths : int
        Most candidates that a switch has.
    n_sets : int
        Different sets of candidates (:mod:`capsim.engines.initial_state`).

    Raises
    ------
    ParameterError
        If two layers of the run have coding units with different fields.
    """
    layouts = _host_layouts(stacks, scheme) | _switch_layouts(scheme)
    leaves = len(np.unique(fabric.leaf_of_host))
    rows = {
        "host": fabric.n_hosts,
        "balancer_fabric": 1,
        "balancer_switch": fabric.n_switches,
        "balancer_towards": fabric.n_switches * leaves,
        "balancer_path": fabric.n_switches * leaves * most_paths,
        "balancer_set": n_sets,
        "balancer_port": fabric.n_ports,
        "queue_port": fabric.n_ports,
    }
    tables = {name: layouts[name].table(rows.get(name, 0)) for name in layouts}
    flow = layouts["flow"]
    tables["flow"] = flow.table(len(flow_stack))
    if flow.row_bytes:
        tables["flow"].reshape(-1, flow.row_bytes)[:] = np.stack(flow.rows)[flow_stack]
    memory = OwnMemory(layouts, tables)
    _fill_in_links(memory, stacks, {"rate_bps": fabric.rate_bps[fabric.host_port], "link_bytes": link_bytes})
    return memory


def _fill_in_links(memory: OwnMemory, stacks: Sequence[Stack], known: Mapping[str, Any]) -> None:
    """Fill in the fields per host that begin as what is known of the host's link."""
    for index, role in memory.layouts["host"].records:
        for name, _, *first in getattr(stacks[index], role).own_fields.get("host", ()):
            if first and isinstance(first[0], str):
                memory.records("host", (index, role))[name] = known[first[0]]


def _host_layouts(stacks: Sequence[Stack], scheme: Scheme) -> dict[str, Layout]:
    """Return the layouts of end hosts: a subflow, flow or packet belongs to one stack, a host to all."""

    def group(scope: str, index: int) -> dict[Any, Table]:
        return {(index, role): first_record(getattr(stacks[index], role).own_fields, scope) for role in HOST_ROLES}

    numbers = range(len(stacks))
    switches = {"balancer": first_record(scheme.balancer.own_fields, "packet")}
    units = [first_record(stack.layer.own_fields, "unit") for stack in stacks]
    kinds = {record.dtype for record in units if record.dtype.names}
    require(len(kinds) <= 1, "two layers of one run have coding units with different fields: run them one by one")
    return {
        "subflow": Layout(*(group("subflow", index) for index in numbers)),
        "flow": Layout(*(group("flow", index) for index in numbers)),
        "host": Layout({owner: record for index in numbers for owner, record in group("host", index).items()}),
        "packet": Layout(*({**switches, **group("packet", index)} for index in numbers)),
        "segment": Layout(*(group("segment", index) for index in numbers)),
        "unit": Layout(*({(index, "layer"): units[index]} for index in numbers if units[index].dtype.names)),
    }


def _switch_layouts(scheme: Scheme) -> dict[str, Layout]:
    layouts = {}
    for role in NETWORK_ROLES:
        for seen in SCOPES[role]:
            scope = TABLES.get(seen, seen)
            layouts[f"{role}_{scope}"] = Layout({role: first_record(getattr(scheme, role).own_fields, scope)})
    return layouts

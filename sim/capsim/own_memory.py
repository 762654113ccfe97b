"""The own memory of all components of a run: tables of bytes, and the records of each component in them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from capsim.fabric.topology import Fabric
from capsim.hooks import HOST_ROLES
from capsim.own import SCOPES, TABLES, Layout, Table, first_record
from capsim.roles import Scheme, Stack
from capsmodel.checks import require

POOLS = ("subflow", "packet", "unit", "balancer_subflow", "balancer_passing")  # these grow while a run goes on


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
    stacks: Sequence[Stack], scheme: Scheme, fabric: Fabric, *, flow_stack: Table, most_paths: int, n_sets: int
) -> OwnMemory:
    """Return the memory with its first values; pools are empty.

    Parameters
    ----------
    stacks : sequence of Stack
        Those of the run.
    scheme : Scheme
        Its balancer and queue.
    fabric : Fabric
        Counts of switches, leaves, ports.
    flow_stack : ndarray of int
        Over flows: number of the stack.
    most_paths : int
        Most candidates that a switch has.
    n_sets : int
        Different sets of candidates (:mod:`capsim.candidate_sets`).

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
    return OwnMemory(layouts, tables)


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
        "unit": Layout(*({(index, "layer"): units[index]} for index in numbers if units[index].dtype.names)),
    }


def _switch_layouts(scheme: Scheme) -> dict[str, Layout]:
    found = {}
    for role in ("balancer", "queue"):
        for seen in SCOPES[role]:
            scope = TABLES.get(seen, seen)
            found[f"{role}_{scope}"] = Layout({role: first_record(getattr(scheme, role).own_fields, scope)})
    return found

"""Where the fields lie that a run samples (:mod:`capsim.probes`), and the names of what they belong to."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capsim.fabric.topology import Fabric
from capsim.own import Layout
from capsim.own_memory import OwnMemory
from capsim.probes import Field, chosen_fields
from capsim.records import NONE, NUMBER_TYPES, WATCH
from capsim.state import Setup, Table, stack_state

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
    """Return what a run samples; `own` has the layouts of its own memory."""
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

"""Reads lists of flows, and the nodes and links of a :class:`~capsim.fabric.graph.Topology`, from files.

========== ========================================================== =================================
file       needed columns                                             others
========== ========================================================== =================================
flows      ``src``, ``dst``, ``flow_bytes`` or ``bytes``, ``start_s``  ``after``, ``path``, and any others
nodes      ``name``, ``kind`` (host or switch)                        ``tier``
links      ``a``, ``b``, ``rate_bps``, ``delay_s``                    ``buffer_packets``, ``buffer_bytes``
========== ========================================================== =================================

The columns may stand in any order; heads and numbers may have other units (``start_ms``, ``flow_kb``, ``10us``;
:mod:`capsmodel.text_tables`). A column ``path`` pins flows to paths (:mod:`capsim.fabric.paths`); an empty cell leaves
a flow to the balancer. A column ``after`` has rows of the list that must be complete before a flow begins
(:mod:`capsim.fabric.dependencies`). Further columns of flows are carried to the flows table of the results, in the
order of the file, each cell as it is. :mod:`capsim.fabric.graph` says which graphs are refused.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capsim.base import bounds, schema
from capsim.base.bounds import shortened
from capsim.fabric.dependencies import AFTER, AfterAt, pairs_of
from capsim.fabric.flows import hosts_are
from capsim.fabric.graph import Edge, Node, faults
from capsim.fabric.listed import PATH
from capsim.fabric.topology import HOST
from capsmodel.checks import ParameterError
from capsmodel.text_tables import Faults, FileColumn, TextTable, quantity, read_table, text, whole

COLUMNS = (
    whole("src", bounds.HOST.check),
    whole("dst", bounds.HOST.check),
    quantity("flow_bytes", bounds.FLOW_BYTES.check, also={"bytes": "b"}),
    quantity("start_s", bounds.TIME_S.check),
)
CELLS = tuple(text(name, needed=False) for name in (AFTER, PATH))
_ADVICE = "; the page 'Flows and topologies of other simulators' converts lists of HPCC, htsim and ns-3"


@dataclass(frozen=True)
class FlowFile:
    """A list of flows in the order of the lines of a file, and where those that others wait for are complete."""

    table: TextTable
    after_at: AfterAt | None = None

    @property
    def flows(self) -> list[tuple[int, int, int, float]]:
        """Return the rows (src, dst, flow_bytes, start_s)."""
        return list(zip(*(self.table.columns[column.name] for column in COLUMNS), strict=True))

    def entry(self) -> dict[str, Any]:
        """Return the flows as a traffic entry of a scenario."""
        columns = {"columns": self.table.extra} if self.table.extra else {}
        cells = {column.name: self.cells(column.name) for column in CELLS}
        given = {name: texts for name, texts in cells.items() if any(texts)}
        where = {"after_at": self.after_at} if self.after_at else {}
        return {"kind": "list", "flows": self.flows} | given | where | columns

    def cells(self, name: str) -> list[str]:
        """Return the texts of a column, which may be missing."""
        return [cell or "" for cell in self.table.columns[name]]

    def check_hosts(self, n_hosts: int) -> None:
        """Raise :class:`ParameterError` if a flow has an end that is no host of a fabric with `n_hosts` hosts."""
        faults = Faults()
        for name in ("src", "dst"):
            for row, host in enumerate(self.table.columns[name]):
                if host >= n_hosts:
                    faults.add(f"{self.table.place(row)}: {name} = {host}, but {hosts_are(n_hosts)}")
        faults.check()


def read_flow_csv(path: Path) -> FlowFile:
    """Return the list of flows in a file.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    ParameterError
        If the file is no text, or the heads or a row cannot be read; the text names the file and the line, and each
        note of the error a further fault (:pep:`678`).
    OSError
        If the file cannot be read.
    """
    table = read_table(
        path, (*COLUMNS, *CELLS), most=int(bounds.FLOWS.largest), further_but=frozenset(schema.FLOWS), advice=_ADVICE
    )
    faults = Faults()
    for row, (src, dst) in enumerate(zip(table.columns["src"], table.columns["dst"], strict=True)):
        if src == dst:
            faults.add(f"{table.place(row)}: src = dst = {src}, but a flow needs two hosts")
    faults.check()
    file = FlowFile(table)
    pairs_of(file.cells(AFTER), table.place)
    return file


def _kind(cell: str, _: str) -> str:
    if cell not in (HOST, "switch"):
        raise ParameterError(f"{shortened(cell)}, but a node is a host or a switch")
    return cell


NODES = (text("name"), FileColumn("kind", _kind, {"kind": ""}), whole("tier", bounds.TIER.check, needed=False))
LINKS = (
    *(text("a"), text("b")),
    quantity("rate_bps", bounds.RATE_BPS.check),
    quantity("delay_s", bounds.TIME_S.check),
    whole("buffer_packets", bounds.BUFFER_PACKETS.check, needed=False),
    quantity("buffer_bytes", bounds.BUFFER_BYTES.check, needed=False),
)


def read_graph(nodes_file: Path, links_file: Path) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
    """Return the nodes and links of a fabric.

    Parameters
    ----------
    nodes_file, links_file : Path
        The files.

    Raises
    ------
    ParameterError
        If a file cannot be read as such a table, or the graph is no fabric; the text names the file and the line, and
        each note of the error a further fault (:pep:`678`).
    OSError
        If a file cannot be read.
    """
    node_table = read_table(nodes_file, NODES, most=int(bounds.GRAPH_NODES.largest))
    link_table = read_table(links_file, LINKS, most=int(bounds.EDGES.largest))
    nodes = tuple(Node(**row) for row in _rows(node_table))
    edges = tuple(Edge(**row) for row in _rows(link_table))
    faults_there = Faults()
    for fault in faults(nodes, edges, node_at=node_table.place, edge_at=link_table.place):
        faults_there.add(fault)
    faults_there.check()
    return nodes, edges


def _rows(table: TextTable) -> list[dict[str, Any]]:
    values = zip(*table.columns.values(), strict=True)
    return [dict(zip(table.columns, row, strict=True)) for row in values]

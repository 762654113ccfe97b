"""Reads the nodes and links of a :class:`~capsim.fabric.graph.Topology` from two files.

========== ============================================= =================================
file       needed columns                                others
========== ============================================= =================================
nodes      ``name``, ``kind`` (host or switch)           ``tier``
links      ``a``, ``b``, ``rate_bps``, ``delay_s``       ``buffer_packets``, ``buffer_bytes``
========== ============================================= =================================

The columns may stand in any order; heads and numbers may have other units (:mod:`capsmodel.text_tables`). What the
columns mean and which graphs are refused says :mod:`capsim.fabric.graph`.
"""

from pathlib import Path
from typing import Any

from capsim import bounds
from capsim.bounds import shortened
from capsim.fabric.graph import Edge, Node, faults
from capsim.fabric.topology import HOST
from capsmodel.checks import ParameterError
from capsmodel.text_tables import Column, Faults, Table, quantity, read_table, text, whole


def _kind(cell: str, _: str) -> str:
    if cell not in (HOST, "switch"):
        raise ParameterError(f"{shortened(cell)}, but a node is a host or a switch")
    return cell


NODES = (text("name"), Column("kind", _kind, {"kind": ""}), whole("tier", bounds.TIER, needed=False))
LINKS = (
    *(text("a"), text("b")),
    quantity("rate_bps", bounds.RATE_BPS),
    quantity("delay_s", bounds.TIME_S),
    whole("buffer_packets", bounds.BUFFER_PACKETS, needed=False),
    quantity("buffer_bytes", bounds.BUFFER_BYTES, needed=False),
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
    found = Faults()
    for fault in faults(nodes, edges, node_at=node_table.place, edge_at=link_table.place):
        found.add(fault)
    found.check()
    return nodes, edges


def _rows(table: Table) -> list[dict[str, Any]]:
    values = zip(*table.columns.values(), strict=True)
    return [dict(zip(table.columns, row, strict=True)) for row in values]

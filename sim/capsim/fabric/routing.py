"""Routing tables: every shortest path, in hops, over the links that are up."""

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from capsim.bounds import HOPS
from capsim.fabric.topology import Bools, Int32, Routes

UNREACHED = np.iinfo(np.int16).max  # as a number of hops


def _hops(start: Int32, end: Int32, n_switches: int, targets: Int32) -> npt.NDArray[np.int16]:
    """Return the hops from switches (columns) to the switches `targets` (rows) along the links start -> end.

    All searches go on together: a product of the links with the switches reached so far is one more hop.
    """
    links = csr_array((np.ones(len(start), np.float32), (start, end)), shape=(n_switches, n_switches))
    hops = np.full((n_switches, len(targets)), UNREACHED, np.int16)
    hops[targets, np.arange(len(targets))] = 0
    level = 0
    while np.any(reached := (links @ (hops == level).astype(np.float32) > 0) & (hops == UNREACHED)):
        level += 1
        HOPS.check("fabric: links between two switches", level)
        hops[reached] = level
    return np.ascontiguousarray(hops.T)


def shortest_path_routes(
    n_hosts: int, n_switches: int, *, port_from: Int32, port_to: Int32, port_up: Bools, leaf_of_host: Int32
) -> Routes:
    """Return the routing tables of a fabric.

    Parameters
    ----------
    n_hosts, n_switches : int
        Node counts; nodes are numbered hosts first.
    port_from, port_to : ndarray of int32, shape (ports,)
        Ends of each port.
    port_up : ndarray of bool, shape (ports,)
        Whether the port carries packets.
    leaf_of_host : ndarray of int32, shape (hosts,)
        Row of the switch that each host is attached to.

    Returns
    -------
    Routes
        Equal-cost next hops of each switch (row) for each host, ordered by next node, then port.

    Raises
    ------
    ParameterError
        If two switches are farther apart than packets get.

    Notes
    -----
    All hosts of a leaf share one search and one list of candidates, so that 1024 hosts cost 32 searches.
    """
    ports = np.flatnonzero(port_up)
    between = ports[(port_from[ports] >= n_hosts) & (port_to[ports] >= n_hosts)]
    between = between[np.lexsort((between, port_to[between], port_from[between]))]
    start, end = port_from[between] - n_hosts, port_to[between] - n_hosts
    leaves, leaf_index = np.unique(leaf_of_host, return_inverse=True)
    begin, stop = (np.searchsorted(start, np.arange(n_switches), side) for side in ("left", "right"))
    firsts, counts = (np.zeros((n_switches, len(leaves)), np.int32) for _ in range(2))
    blocks: list[Int32] = []
    used, farthest = 0, 0
    for leaf, hops in enumerate(_hops(start, end, n_switches, leaves)):
        forward = hops[end] == hops[start] - 1
        before = np.concatenate([[0], np.cumsum(forward, dtype=np.int32)])
        firsts[:, leaf], counts[:, leaf] = used + before[begin], before[stop] - before[begin]
        blocks.append(between[forward].astype(np.int32))
        used += len(blocks[-1])
        farthest = max(farthest, int(hops[leaves][hops[leaves] != UNREACHED].max()))
    first, count = firsts[:, leaf_index], counts[:, leaf_index]  # from leaves to hosts
    down = ports[(port_from[ports] >= n_hosts) & (port_to[ports] < n_hosts)]
    rows = port_from[down] - n_hosts
    first[rows, port_to[down]] = used + np.arange(len(down))
    count[rows, port_to[down]] = 1
    return Routes(first, count, np.concatenate([*blocks, down.astype(np.int32)]), most_links=farthest + 2)

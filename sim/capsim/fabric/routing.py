"""Routing tables: every shortest path, in hops, over the links that are up."""

import numpy as np

from capsim.fabric.topology import Bools, Int32, Routes


def _hops_to(target: int, *, start: Int32, end: Int32, n_switches: int) -> Int32:
    """Return over switches the hops to switch `target` along the ports start -> end, -1 where there is no path."""
    hops = np.full(n_switches, -1, np.int32)
    hops[target] = 0
    level = 0
    while np.any(reached := (hops[end] == level) & (hops[start] < 0)):
        level += 1
        hops[start[reached]] = level
    return hops


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

    Notes
    -----
    All hosts of a leaf share one search and one list of candidates, so that 1024 hosts cost 32 searches.
    """
    ports = np.flatnonzero(port_up)
    between = ports[(port_from[ports] >= n_hosts) & (port_to[ports] >= n_hosts)]
    between = between[np.lexsort((between, port_to[between], port_from[between]))]
    start, end = port_from[between] - n_hosts, port_to[between] - n_hosts
    first = np.zeros((n_switches, n_hosts), np.int32)
    count = np.zeros((n_switches, n_hosts), np.int32)
    blocks: list[Int32] = []
    used = 0
    for leaf in np.unique(leaf_of_host):
        hops = _hops_to(leaf, start=start, end=end, n_switches=n_switches)
        forward = (hops[end] >= 0) & (hops[end] == hops[start] - 1)
        hosts = np.flatnonzero(leaf_of_host == leaf)
        per_switch = np.bincount(start[forward], minlength=n_switches)
        count[:, hosts] = per_switch[:, None]
        first[:, hosts] = (used + np.cumsum(per_switch) - per_switch)[:, None]
        blocks.append(between[forward].astype(np.int32))
        used += len(blocks[-1])
    down = ports[(port_from[ports] >= n_hosts) & (port_to[ports] < n_hosts)]
    rows = port_from[down] - n_hosts
    first[rows, port_to[down]] = used + np.arange(len(down))
    count[rows, port_to[down]] = 1
    return Routes(first, count, np.concatenate([*blocks, down.astype(np.int32)]))

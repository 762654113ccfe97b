"""The shortest paths between hosts: how many there are, how far the hosts are apart, and paths by number or by name.

The paths from one host to another are numbered from 0, in the order of :meth:`Fabric.paths`: the choice of the first
switch counts most, ports in the order of their far ends. So a path has the number of its spine, of its core or of its
parallel link; within a pod of a fat-tree, of its aggregation switch.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from capsim.base.bounds import shortened
from capsim.fabric.endpoints import pods
from capsim.fabric.flows import FlowList
from capsim.fabric.topology import Bools, Fabric, Int32, Int64, Routes
from capsim.records import NONE
from capsmodel.checks import ParameterError, require

Ports = tuple[int, ...]
_MOST = np.iinfo(np.int32).max
_DIGITS = 18  # of a number that 63 bits hold


def path_counts(fabric: Fabric, host: int) -> Int64:
    """Return over switches the number of shortest paths to `host` in the intact fabric.

    Examples
    --------
    >>> from capsim import FatTree
    >>> fabric = FatTree(pods=4).build()
    >>> path_counts(fabric, 0)[fabric.leaf_of_host[[0, 2, 4]]]
    array([1, 2, 4])
    """
    leaf = int(fabric.leaf_of_host[host])
    start, _, end = next_switches(fabric, host)
    counts = np.zeros(fabric.n_switches)
    counts[leaf] = 1
    nearer = counts.copy()  # paths of so many links; one more in each round
    while nearer.any():
        nearer[:] = np.bincount(start, weights=nearer[end], minlength=fabric.n_switches)
        counts += nearer
    return np.minimum(counts, _MOST).astype(np.int64)


def next_switches(fabric: Fabric, host: int) -> tuple[Int64, Int32, Int64]:
    """Return start, port and end of all links between switches on shortest paths to `host`."""
    routes = fabric.routes
    first, count = routes.first[:, host].astype(np.int64), routes.count[:, host].astype(np.int64)
    count[fabric.leaf_of_host[host]] = 0
    start = np.repeat(np.arange(fabric.n_switches), count)
    within = np.arange(len(start)) - np.repeat(np.cumsum(count) - count, count)
    ports = routes.candidates[first[start] + within]
    return start, ports, fabric.port_to[ports].astype(np.int64) - fabric.n_hosts


def paths_between(fabric: Fabric, src: Int32, dst: Int32) -> tuple[Int64, Int64]:
    """Return over pairs of hosts the number of shortest paths, and the distance: 0 in the rack, 1 in the pod, 2 beyond.

    Parameters
    ----------
    fabric : Fabric
        Outside a fat-tree each leaf is a pod of its own.
    src, dst : ndarray of int32
        Host numbers.

    Examples
    --------
    >>> from capsim import FatTree
    >>> paths_between(FatTree(pods=4).build(), np.array([0, 0, 0]), np.array([1, 2, 4]))
    (array([1, 2, 4]), array([0, 1, 2]))
    """
    leaf_of, pod_of = fabric.leaf_of_host, pods(fabric)
    n_paths = np.ones(len(src), np.int64)
    leaves, which = np.unique(leaf_of[dst], return_inverse=True)
    hosts = np.array([np.argmax(leaf_of == leaf) for leaf in leaves])
    order = np.argsort(which, kind="stable")
    begin = np.searchsorted(which[order], np.arange(len(leaves) + 1))
    for number, host in enumerate(hosts.tolist()):
        ours = order[begin[number] : begin[number + 1]]
        n_paths[ours] = path_counts(fabric, host)[leaf_of[src[ours]]]
    same_leaf, same_pod = leaf_of[src] == leaf_of[dst], pod_of[src] == pod_of[dst]
    return n_paths, np.where(same_leaf, 0, np.where(same_pod, 1, 2))


def pair_classes(fabric: Fabric, src: Int32, dst: Int32) -> Int64:
    """Return a number over pairs of hosts: pairs with equal numbers have paths alike, in both directions.

    Alike are the rates and delays of the links in their order, the rates of all links of the first and of the last
    switch, and whether there is one path only, in the intact fabric and in each epoch. Where all links between switches
    are alike and no route changes, that follows from the hosts' own links, the number of links of their switches and
    how many links lie between. Elsewhere pairs have equal numbers only where their switches are the same.

    Parameters
    ----------
    fabric : Fabric
        Of the hosts.
    src, dst : ndarray of int
        Host numbers.

    Examples
    --------
    >>> from capsim import FatTree
    >>> pair_classes(FatTree(pods=4).build(), np.array([0, 0, 0, 9]), np.array([1, 2, 4, 3]))
    array([1, 4, 8, 8])
    """
    inner = (fabric.port_from >= fabric.n_hosts) & (fabric.port_to >= fabric.n_hosts)
    columns = (fabric.rate_bps[inner], fabric.delay_ps[inner])
    uniform = all(np.all(column == column[:1]) for column in columns)
    uniform = uniform and all(epoch.routes is fabric.routes for epoch in fabric.epochs)
    links_of_switch = np.bincount(fabric.port_from[inner] - fabric.n_hosts, minlength=fabric.n_switches)
    leaf, nic = fabric.leaf_of_host, fabric.host_port
    downlink = fabric.routes.candidates[fabric.routes.first[leaf, np.arange(fabric.n_hosts)]]
    ends = [column[ports] for ports in (nic, downlink) for column in (fabric.rate_bps, fabric.delay_ps)]
    ends.append(links_of_switch[leaf] if uniform else leaf.astype(np.int64))
    kinds, kind_of_host = np.unique(np.stack(ends, axis=1), axis=0, return_inverse=True)
    kind_of_host = kind_of_host.reshape(-1).astype(np.int64)
    of_ends = kind_of_host[src] * len(kinds) + kind_of_host[dst]
    if not uniform:
        return of_ends
    links, single = _links_between(fabric, src, dst)
    of_pairs: Int64 = (of_ends * (links.max(initial=0) + 1) + links) * 2 + single
    return of_pairs


def _links_between(fabric: Fabric, src: Int32, dst: Int32) -> tuple[Int64, Bools]:
    """Return over pairs of hosts the number of links between their switches, and whether there is one path only."""
    routes = fabric.routes
    at, last = fabric.leaf_of_host[src], fabric.leaf_of_host[dst]
    links, single = np.zeros(len(at), np.int64), np.ones(len(at), np.bool_)
    while np.any(away := at != last):
        links += away
        single &= ~away | (routes.count[at, dst] == 1)
        onwards = fabric.port_to[routes.candidates[routes.first[at, dst]]] - fabric.n_hosts
        at = np.where(away, onwards, at)
    return links, single


class Paths:
    """Finds the shortest paths of a fabric that texts name; each is found once.

    Parameters
    ----------
    fabric : Fabric
        Whose paths, all links up.
    """

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self._counts: dict[int, Int64] = {}
        self._between: dict[tuple[int, int, str], Ports] = {}

    def named(self, text: str, src: int, dst: int) -> Ports:
        """Return the ports of the path from `src` to `dst` that `text` names, the NIC first.

        Parameters
        ----------
        text : str
            Its number, or the names of its switches in their order with ``>`` between; the hosts may stand at the ends.
        src, dst : int
            Host numbers.

        Raises
        ------
        ParameterError
            If there is no such path.

        Examples
        --------
        >>> from capsim import LeafSpine
        >>> fabric = LeafSpine(leaves=2, hosts_per_leaf=1, spines=4).build()
        >>> paths = Paths(fabric)
        >>> [fabric.port_names[port] for port in paths.named("2", 0, 1)]
        ['host0>leaf0', 'leaf0>spine2', 'spine2>leaf1', 'leaf1>host1']
        >>> paths.named("leaf0>spine2>leaf1", 0, 1) == paths.named("2", 0, 1)
        True
        """
        fabric = self.fabric
        key = int(fabric.leaf_of_host[src]), int(fabric.leaf_of_host[dst]), text
        if key not in self._between or not text.isdecimal():
            is_number = text.isascii() and text.isdecimal() and len(text) <= _DIGITS
            find = self._numbered if is_number else self._by_names
            self._between[key] = find(text, src, dst)[1:-1]
        return (int(fabric.host_port[src]), *self._between[key], int(fabric.routes.ports(key[1], dst)[0]))

    def _numbered(self, text: str, src: int, dst: int) -> Ports:
        counts = self._counts_to(dst)
        leaf, rest = int(self.fabric.leaf_of_host[src]), int(text)
        paths = int(counts[leaf])
        require(rest < paths, f"path = {shortened(rest)}, but there are {paths} from host {src} to host {dst}, from 0")
        ports = [int(self.fabric.host_port[src])]
        while (node := int(self.fabric.port_to[ports[-1]])) != dst:
            for port in self.fabric.routes.ports(node - self.fabric.n_hosts, dst).tolist():
                end = int(self.fabric.port_to[port])
                beyond = 1 if end == dst else int(counts[end - self.fabric.n_hosts])
                if rest < beyond:
                    ports.append(port)
                    break
                rest -= beyond
        return tuple(ports)

    def _by_names(self, text: str, src: int, dst: int) -> Ports:
        names = self.fabric.node_names
        wanted = [part.strip() for part in text.split(">")]
        ends = [names[src], *wanted, names[dst]] if wanted[0] != names[src] else wanted
        path = self._along(ends, src, dst)
        if path is None:
            number = f"a path is named by its switches, as in {_example(self.fabric, src, dst)}, or has a number"
            raise ParameterError(
                f"path = {shortened(text)} is no shortest path from host {src} to host {dst}: {number}"
            )
        return path

    def _along(self, wanted: list[str], src: int, dst: int) -> Ports | None:
        """Return the only path over the nodes `wanted`, or None."""
        names, ports = self.fabric.node_names, [int(self.fabric.host_port[src])]
        if len(wanted) < 3 or (wanted[0], wanted[1]) != (names[src], names[self.fabric.port_to[ports[0]]]):
            return None
        for name in wanted[2:]:
            row = int(self.fabric.port_to[ports[-1]]) - self.fabric.n_hosts
            onwards = self.fabric.routes.ports(row, dst).tolist() if row >= 0 else []
            there = [port for port in onwards if names[self.fabric.port_to[port]] == name]
            if len(there) != 1:  # of parallel links only the number says which
                return None
            ports.append(there[0])
        return tuple(ports) if self.fabric.port_to[ports[-1]] == dst else None

    def _counts_to(self, dst: int) -> Int64:
        leaf = int(self.fabric.leaf_of_host[dst])
        if leaf not in self._counts:
            self._counts[leaf] = path_counts(self.fabric, dst)
        return self._counts[leaf]


def _example(fabric: Fabric, src: int, dst: int) -> str:
    ports = next(iter(fabric.paths(src, dst)))
    return ">".join(fabric.node_names[fabric.port_to[port]] for port in ports[:-1])


def reverse(ports: Iterable[int]) -> Ports:
    """Return the same links in the other direction, in their order; the two ports of a link have adjacent numbers."""
    return tuple(port ^ 1 for port in reversed(tuple(ports)))


def label_of(fabric: Fabric, ports: Ports, dst: int) -> int:
    """Return the label (:mod:`capsim.base.labels`) of a path to host `dst`, in the routes that hold at the start.

    Raises
    ------
    ParameterError
        If a link of it is out of service from the start, or 31 bits do not hold the label.
    """
    routes: Routes = fabric.epochs[0].routes
    label, weight = 0, 1
    for port in ports[1:]:
        candidates = routes.ports(int(fabric.port_from[port]) - fabric.n_hosts, dst).tolist()
        if port not in candidates:
            names = fabric.port_names[port]
            raise ParameterError(f"path: {names} is out of service from the start: take another path")
        if len(candidates) > 1:
            label += weight * candidates.index(port)
            weight *= len(candidates)
    require(label <= _MOST, "path: its switches have too many choices: a label has 31 bits")
    return label


def pinned_labels(fabric: Fabric, pinned: Mapping[int, Ports], flows: FlowList) -> tuple[Int32, Int32]:
    """Return over flows the labels of the paths of packets and of acknowledgements, NONE for flows without one.

    Parameters
    ----------
    fabric : Fabric
        What the flows cross.
    pinned : dict
        Ports of the path of a flow, by its number.
    flows : FlowList
        All flows.
    """
    forth, back = (np.full(len(flows), NONE, np.int32) for _ in range(2))
    for flow, ports in pinned.items():
        forth[flow] = label_of(fabric, ports, int(flows.dst[flow]))
        back[flow] = label_of(fabric, reverse(ports), int(flows.src[flow]))
    return forth, back

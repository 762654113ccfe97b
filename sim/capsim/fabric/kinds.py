"""The kinds of fabric, as the table ``[fabric]`` of a scenario.

================== ================================================= =============================
kind               switches                                          equal-cost paths
================== ================================================= =============================
``leaf-spine``     leaves, each linked to every spine                spines
``fat-tree``       k pods of k/2 edge and k/2 aggregation, cores     (k/2)² between pods
``parallel-paths`` two, with n links between them (CAPS Fig. 1)      n
``dumbbell``       two, with one link                                1
``topology``       as listed; in a TOML file ``file`` instead names  all shortest ones of the graph
                   two CSV files (:mod:`capsim.fabric.graph`)
================== ================================================= =============================

A path has the number of its spine, its core or its parallel link, from 0; a link that several paths share has none. The
links between two kinds of node are a layer: ``host>leaf``, ``leaf>spine``; ``edge>agg``, ``agg>core``; ``left>right``.
"""

from itertools import chain
from typing import Annotated, Self

import msgspec

from capsim.base import bounds
from capsim.base.bounds import Nodes, Rate, Time
from capsim.fabric.base import Blocks, FabricKind, FabricSize
from capsim.fabric.graph import Topology
from capsim.fabric.wiring import LinkKind, Wiring
from capsmodel.checks import ParameterError, require


class RegularFabric(FabricKind, frozen=True, kw_only=True):
    """A fabric whose links between switches are alike, and whose host links are.

    Parameters
    ----------
    rate_bps : float
        Rate of the links between switches, in bit/s.
    host_rate_bps : float, optional
        Rate of host links; `rate_bps` when left out.
    delay_s, host_delay_s : float
        One-way propagation delay of a link between switches and of a host link (`delay_s` when left out), in seconds.
        The default makes 100 us of round trip over a leaf-spine, as in CAPS Section III.
    """

    rate_bps: Rate = 1e9
    host_rate_bps: Rate | None = None
    delay_s: Time = 12.5e-6
    host_delay_s: Time | None = None

    @property
    def edge_rate_bps(self) -> float:
        """Return the rate of host links in bit/s."""
        return self.rate_bps if self.host_rate_bps is None else self.host_rate_bps

    def _trunk(self) -> LinkKind:
        return LinkKind(self.rate_bps, self.delay_s, *self.switch_limits())

    def _attach_hosts(self, wiring: Wiring, switch: str, count: int) -> None:
        delay_s = self.delay_s if self.host_delay_s is None else self.host_delay_s
        wiring.hosts_at(
            switch,
            count,
            nic=LinkKind(self.edge_rate_bps, delay_s, *self.nic_limits()),
            downlink=LinkKind(self.edge_rate_bps, delay_s, *self.switch_limits()),
        )


class LeafSpine(RegularFabric, frozen=True, kw_only=True, tag="leaf-spine"):
    """Leaves with hosts, each linked to every spine.

    Parameters
    ----------
    leaves, hosts_per_leaf, spines : int
        Counts; hosts are numbered leaf by leaf.
    oversubscription : float, optional
        Host capacity of a leaf over its spine capacity; sets the rate of the spine links in place of `rate_bps`.
    """

    leaves: Nodes
    hosts_per_leaf: Nodes
    spines: Nodes
    oversubscription: Annotated[float, bounds.OVERSUBSCRIPTION.meta] | None = None

    def _trunk(self) -> LinkKind:
        if self.oversubscription is None:
            return RegularFabric._trunk(self)
        rate_bps = self.hosts_per_leaf * self.edge_rate_bps / (self.spines * self.oversubscription)
        bounds.RATE_BPS.check("fabric.oversubscription makes links to spines whose rate_bps", rate_bps)
        return LinkKind(rate_bps, self.delay_s, *self.switch_limits())

    def size(self) -> FabricSize:
        """Return how large the fabric is, without building anything."""
        hosts = self.leaves * self.hosts_per_leaf
        return FabricSize(hosts, self.leaves + self.spines, leaves=self.leaves, inner_links=self.leaves * self.spines)

    def blocks(self) -> Blocks:
        """Return what the fabric falls into without its spines."""
        return Blocks("leaves", self.leaves, self.hosts_per_leaf, self.hosts_per_leaf)

    def block_names(self) -> list[tuple[str, ...]]:
        """Return over leaves the names of the leaf and its hosts."""
        return [(f"leaf{leaf}", *_host_names(leaf, self.hosts_per_leaf)) for leaf in range(self.leaves)]

    def excerpt(self, blocks: int) -> Self:
        """Return the first `blocks` leaves with all spines."""
        return msgspec.structs.replace(self, leaves=blocks)

    def wire(self, wiring: Wiring) -> None:
        """Add nodes and links to `wiring`."""
        leaves = [wiring.switch("leaf", leaf, tier=0) for leaf in range(self.leaves)]
        spines = [wiring.switch("spine", spine, tier=1) for spine in range(self.spines)]
        for leaf in leaves:
            self._attach_hosts(wiring, leaf, self.hosts_per_leaf)
        for leaf in leaves:
            for path, spine in enumerate(spines):
                wiring.connect(leaf, spine, self._trunk(), path=path)


class FatTree(RegularFabric, frozen=True, kw_only=True, tag="fat-tree"):
    """k-ary fat-tree: k pods of k/2 edge and k/2 aggregation switches, (k/2)² cores.

    Parameters
    ----------
    pods : int
        k, even.
    hosts_per_edge : int, optional
        Hosts on an edge switch; k/2 when left out. More make the tree oversubscribed, as in MMPTCP (2k is 4:1).
    built_pods : int, optional
        How many of the pods are there; all when left out. All cores are, each with a link to every pod that is there:
        an excerpt of the tree (:func:`capsim.excerpt`).
    """

    pods: Annotated[int, bounds.PODS.meta]
    hosts_per_edge: Nodes | None = None
    built_pods: Annotated[int, bounds.PODS.meta] | None = None

    def _edge_hosts(self) -> int:
        return self.pods // 2 if self.hosts_per_edge is None else self.hosts_per_edge

    def size(self) -> FabricSize:
        """Return how large the fabric is, without building anything."""
        half = self.pods // 2
        edges = self._built() * half
        return FabricSize(
            edges * self._edge_hosts(), 2 * edges + half * half, leaves=edges, inner_links=2 * edges * half
        )

    def blocks(self) -> Blocks:
        """Return what the fabric falls into without its cores."""
        return Blocks("pods", self._built(), self._edge_hosts(), self.pods // 2 * self._edge_hosts())

    def block_names(self) -> list[tuple[str, ...]]:
        """Return over pods the names of their switches and hosts."""
        half, hosts = range(self.pods // 2), self.blocks().block_hosts
        return [
            (*(f"{kind}{pod}.{number}" for kind in ("edge", "agg") for number in half), *_host_names(pod, hosts))
            for pod in range(self._built())
        ]

    def excerpt(self, blocks: int) -> Self:
        """Return the first `blocks` pods with all cores."""
        return msgspec.structs.replace(self, built_pods=blocks)

    def _built(self) -> int:
        return self.pods if self.built_pods is None else self.built_pods

    def wire(self, wiring: Wiring) -> None:
        """Add nodes and links to `wiring`."""
        if self.pods % 2:
            raise ParameterError(f"fabric.pods = {self.pods}, but a k-ary fat-tree needs an even number")
        half, built = self.pods // 2, self._built()
        require(built <= self.pods, f"fabric.built_pods = {built}, but the tree has {self.pods} pods: give fewer")
        edges = [[wiring.switch("edge", f"{p}.{i}", tier=0) for i in range(half)] for p in range(built)]
        aggs = [[wiring.switch("agg", f"{p}.{i}", tier=1) for i in range(half)] for p in range(built)]
        cores = [wiring.switch("core", core, tier=2) for core in range(half * half)]
        for edge in chain.from_iterable(edges):
            self._attach_hosts(wiring, edge, self._edge_hosts())
        for pod in range(built):
            for edge in edges[pod]:
                for agg in aggs[pod]:
                    wiring.connect(edge, agg, self._trunk())
            for row, agg in enumerate(aggs[pod]):
                for path in range(row * half, (row + 1) * half):
                    wiring.connect(agg, cores[path], self._trunk(), path=path)


class ParallelPaths(RegularFabric, frozen=True, kw_only=True, tag="parallel-paths"):
    """Two switches with n links between them, senders on one side and receivers on the other (CAPS Fig. 1).

    Parameters
    ----------
    paths : int
        Links between ``left`` and ``right``; a :class:`LinkChange` picks one by its `parallel` number.
    hosts_per_side : int
        Hosts on each of the two switches.
    """

    paths: Nodes
    hosts_per_side: Nodes

    def size(self) -> FabricSize:
        """Return how large the fabric is, without building anything."""
        return FabricSize(2 * self.hosts_per_side, 2, leaves=2, inner_links=self.paths)

    def wire(self, wiring: Wiring) -> None:
        """Add nodes and links to `wiring`."""
        left, right = wiring.switch("left", tier=0), wiring.switch("right", tier=0)
        for side in (left, right):
            self._attach_hosts(wiring, side, self.hosts_per_side)
        for path in range(self.paths):
            wiring.connect(left, right, self._trunk(), path=path)


class Dumbbell(RegularFabric, frozen=True, kw_only=True, tag="dumbbell"):
    """Two switches with one link, the bottleneck of textbook experiments.

    Parameters
    ----------
    hosts_per_side : int
        Hosts on each of the two switches.
    """

    hosts_per_side: Nodes

    def size(self) -> FabricSize:
        """Return how large the fabric is, without building anything."""
        return FabricSize(2 * self.hosts_per_side, 2, leaves=2, inner_links=1)

    def wire(self, wiring: Wiring) -> None:
        """Add nodes and links to `wiring`."""
        left, right = wiring.switch("left", tier=0), wiring.switch("right", tier=0)
        for side in (left, right):
            self._attach_hosts(wiring, side, self.hosts_per_side)
        wiring.connect(left, right, self._trunk(), path=0)


def _host_names(block: int, count: int) -> list[str]:
    """Return the names of the hosts of a block, each of which has `count`."""
    return [f"host{host}" for host in range(block * count, (block + 1) * count)]


AnyFabric = LeafSpine | FatTree | ParallelPaths | Dumbbell | Topology

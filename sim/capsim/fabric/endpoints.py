"""Senders and receivers of flows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from capsim.base.seeds import EntrySeeds
from capsim.fabric.topology import Fabric
from capsmodel.checks import require

Ints = npt.NDArray[np.int64]
Pairs = Literal["random", "other-leaf", "other-pod", "staggered", "sides", "permutation", "stride"]


@dataclass(frozen=True)
class Pairing:
    """How the receivers of a traffic entry are found.

    Parameters
    ----------
    pairs : str
        Which hosts may be partners.
    stride_hosts : int
        Of ``stride``: the stride, in hosts.
    edge_prob, pod_prob : float
        Of ``staggered``: probabilities that the partner is under the same edge switch, and elsewhere in the same pod.
    common : bool
        Whether every host has one partner, the same for all entries of the run that say so.
    """

    pairs: Pairs = "random"
    stride_hosts: int = 1
    edge_prob: float = 0.0
    pod_prob: float = 0.0
    common: bool = False

    def receivers(self, fabric: Fabric, src: Ints, *, seeds: EntrySeeds, senders: Ints) -> Ints:
        """Return the receiver of each flow whose sender is `src`; `senders` are all hosts that may send."""
        if not self.common:
            return self._drawn(fabric, src, senders=senders, each=seeds.endpoints, once=seeds.partners)
        hosts = np.arange(fabric.n_hosts)
        rng = seeds.common_partners
        return self._drawn(fabric, hosts, senders=hosts, each=rng, once=rng)[src]

    def _drawn(
        self, fabric: Fabric, src: Ints, *, senders: Ints, each: np.random.Generator, once: np.random.Generator
    ) -> Ints:
        """Return receivers: those of a permutation drawn from `once`, the others each by itself from `each`."""
        n_hosts = fabric.n_hosts
        match self.pairs:
            case "stride":
                rule = "traffic.stride_hosts is a multiple of the hosts: each would send to itself"
                require(self.stride_hosts % n_hosts, rule)
                return (src + self.stride_hosts) % n_hosts
            case "permutation":
                to = np.full(n_hosts, -1, np.int64)
                to[senders] = _derangement(senders, n_hosts, once)
                return to[src]
            case "sides":
                near, far = (np.flatnonzero(fabric.leaf_of_host == leaf) for leaf in _first_and_last(fabric))
                return far[np.searchsorted(near, src) % len(far)]
            case "staggered":
                return _staggered(fabric, src, (self.edge_prob, self.pod_prob), each)
            case "other-leaf" | "other-pod":
                group = fabric.leaf_of_host if self.pairs == "other-leaf" else pods(fabric)
                require(len(np.unique(group)) > 1, f"traffic.pairs = {self.pairs!r}, but this fabric has only one")
                return _redraw(lambda a, b: group[a] == group[b], src, n_hosts, each)
            case _:
                return _redraw(np.equal, src, n_hosts, each)

    def share_between_leaves(self, fabric: Fabric) -> float:
        """Return the expected share of flows whose ends are under different leaves, if all hosts send alike."""
        leaf, n_hosts = fabric.leaf_of_host, fabric.n_hosts
        match self.pairs:
            case "other-leaf" | "other-pod" | "sides":
                return 1.0
            case "staggered":
                return 1.0 - self.edge_prob
            case "stride":
                return float(np.mean(leaf != np.roll(leaf, -self.stride_hosts)))
            case _:
                same_leaf = np.bincount(leaf)[leaf] - 1
                return float(1 - np.mean(same_leaf / (n_hosts - 1)))

    def shares(self, fabric: Fabric) -> npt.NDArray[np.float64]:
        """Return the expected share of flows from each leaf (row) to each leaf, if all hosts send alike."""
        leaf, n_hosts = fabric.leaf_number, fabric.n_hosts
        hosts = np.bincount(leaf)
        shares = np.zeros((len(hosts), len(hosts)))
        if self.pairs == "stride":
            np.add.at(shares, (leaf, np.roll(leaf, -self.stride_hosts)), 1 / n_hosts)
        elif self.pairs == "sides":
            shares[0, -1] = 1.0
        else:
            for prob, leaves in self._partner_leaves(fabric):
                partners = leaves * hosts - np.diag(np.diag(leaves))  # nobody sends to itself
                of_sender = np.maximum(partners.sum(axis=1, keepdims=True), 1)
                shares += prob * (hosts[:, None] / n_hosts) * partners / of_sender
        return shares

    def _partner_leaves(self, fabric: Fabric) -> list[tuple[float, Ints]]:
        """Return probabilities, and of each from which leaves (columns) the partner of a leaf's host then is."""
        _, first_host = np.unique(fabric.leaf_of_host, return_index=True)
        pod = pods(fabric)[first_host]
        own, near = np.eye(len(pod), dtype=np.int64), (pod[:, None] == pod).astype(np.int64)
        match self.pairs:
            case "other-leaf":
                return [(1.0, 1 - own)]
            case "other-pod":
                return [(1.0, 1 - near)]
            case "staggered":
                beyond_prob = 1.0 - self.edge_prob - self.pod_prob
                return [(self.edge_prob, own), (self.pod_prob, near - own), (beyond_prob, 1 - near)]
            case _:
                return [(1.0, np.ones_like(own))]


def _redraw(
    bad: Callable[[Ints, Ints], npt.NDArray[np.bool_]], src: Ints, n_hosts: int, rng: np.random.Generator
) -> Ints:
    """Return uniform partners of `src`, drawn again until none is `bad`."""
    dst = rng.integers(0, n_hosts, len(src))
    while np.any(again := bad(src, dst)):
        dst[again] = rng.integers(0, n_hosts, int(again.sum()))
    return dst


def _derangement(senders: Ints, n_hosts: int, rng: np.random.Generator) -> Ints:
    """Return a distinct receiver for each sender, never itself: permutations are drawn until one has no fixed point."""
    while np.any((receivers := rng.permutation(n_hosts)[: len(senders)]) == senders):
        pass
    return receivers


def _staggered(fabric: Fabric, src: Ints, probs: tuple[float, float], rng: np.random.Generator) -> Ints:
    """Return partners under the same edge switch, elsewhere in the pod, or in another pod, with given probabilities.

    In an order by pod and edge switch, the host itself, its edge switch, its pod and the fabric are intervals, each
    within the next; a partner is drawn uniformly from one interval without the one before.
    """
    edge_prob, pod_prob = probs
    total = edge_prob + pod_prob
    require(total <= 1, f"traffic.edge_prob + traffic.pod_prob = {total:g}, but they must be at most 1 together")
    pod, leaf = pods(fabric), fabric.leaf_of_host.astype(np.int64)
    order = np.lexsort((leaf, pod))
    place = np.argsort(order)
    groups = (place, leaf, pod, np.zeros_like(pod))
    begin = np.array([_least_of_group(group, place)[src] for group in groups])
    length = np.array([np.bincount(group)[group][src] for group in groups])
    inner = np.searchsorted([edge_prob, total], rng.random(len(src)), side="right")
    flow = np.arange(len(src))
    room = length[inner + 1, flow] - length[inner, flow]
    for level, where in enumerate(("under its edge switch", "under another edge switch of its pod", "in another pod")):
        require(np.all(room[inner == level]), f"traffic.pairs = 'staggered', but a host has no other host {where}")
    at = begin[inner + 1, flow] + rng.integers(0, np.maximum(room, 1))
    partner: Ints = order[np.where(at < begin[inner, flow], at, at + length[inner, flow])]
    return partner


def _least_of_group(group: Ints, place: Ints) -> Ints:
    """Return for each host the least place of the hosts of its group."""
    least: Ints = np.full(int(group.max()) + 1, len(place), np.int64)
    np.minimum.at(least, group, place)
    return least[group]


def pods(fabric: Fabric) -> Ints:
    """Return the pod of each host, over hosts; outside a fat-tree each leaf is its own pod."""
    names = [name.split(".")[0] for name in fabric.node_names[fabric.n_hosts :]]
    numbers = np.array([names.index(name) for name in names], np.int64)
    return numbers[fabric.leaf_of_host]


def _first_and_last(fabric: Fabric) -> tuple[int, int]:
    first, last = int(fabric.leaf_of_host.min()), int(fabric.leaf_of_host.max())
    require(first != last, "traffic.pairs = 'sides', but this fabric has one leaf only")
    return first, last

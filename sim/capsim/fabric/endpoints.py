"""Who sends to whom."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from capsim.fabric.topology import Fabric
from capsim.seeds import EntrySeeds
from capsmodel.checks import require

Ints = npt.NDArray[np.int64]
Pairs = Literal["random", "other-leaf", "other-pod", "sides", "permutation", "stride"]


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


def pods(fabric: Fabric) -> Ints:
    """Return the pod of each host, over hosts; outside a fat-tree each leaf is its own pod."""
    names = [name.split(".")[0] for name in fabric.node_names[fabric.n_hosts :]]
    numbers = np.array([names.index(name) for name in names], np.int64)
    return numbers[fabric.leaf_of_host]


def _first_and_last(fabric: Fabric) -> tuple[int, int]:
    first, last = int(fabric.leaf_of_host.min()), int(fabric.leaf_of_host.max())
    require(first != last, "traffic.pairs = 'sides', but this fabric has one leaf only")
    return first, last


def partners(
    pairs: Pairs, fabric: Fabric, src: Ints, *, seeds: EntrySeeds, senders: Ints, stride_hosts: int = 1
) -> Ints:
    """Return the receiver of each flow whose sender is `src`; `senders` are all hosts that may send."""
    rng, n_hosts = seeds.endpoints, fabric.n_hosts
    match pairs:
        case "stride":
            require(
                stride_hosts % n_hosts, "traffic.stride_hosts is a multiple of the hosts: each would send to itself"
            )
            return (src + stride_hosts) % n_hosts
        case "permutation":
            to = np.full(n_hosts, -1, np.int64)
            to[senders] = _derangement(senders, n_hosts, seeds.partners)
            return to[src]
        case "sides":
            near, far = (np.flatnonzero(fabric.leaf_of_host == leaf) for leaf in _first_and_last(fabric))
            return far[np.searchsorted(near, src) % len(far)]
        case "other-leaf" | "other-pod":
            group = fabric.leaf_of_host if pairs == "other-leaf" else pods(fabric)
            require(len(np.unique(group)) > 1, f"traffic.pairs = {pairs!r}, but this fabric has only one")
            return _redraw(lambda a, b: group[a] == group[b], src, n_hosts, rng)
        case _:
            return _redraw(np.equal, src, n_hosts, rng)

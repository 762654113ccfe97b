"""Identity: what is found once for a class of pairs of hosts is what each pair has by itself, bit for bit."""

from itertools import permutations

import numpy as np
import pytest

from capsim import (
    DrawnFault,
    Dumbbell,
    Edge,
    FatTree,
    LeafSpine,
    LinkChange,
    Node,
    ParallelPaths,
    Topology,
)
from capsim.fabric.flows import flow_list
from capsim.fabric.kinds import AnyFabric
from capsim.fabric.paths import pair_classes
from capsim.results.ideal import ideal_fct_s
from capsim.scenario.profile import sizes_of

LEAVES = {"leaves": 3, "hosts_per_leaf": 2, "spines": 2}
FAST_HOST = LinkChange(between=("host0", "leaf0"), rate_bps=4e9)


def graph(*links: tuple[str, str, float], changes: tuple[LinkChange, ...] = ()) -> Topology:
    """Return a graph of links (end, end, rate in Gbps); names that begin with h are hosts."""
    names = dict.fromkeys(end for a, b, _ in links for end in (a, b))
    nodes = tuple(Node(name, "host" if name.startswith("h") else "switch") for name in names)
    edges = tuple(Edge(a, b, rate_bps=gbps * 1e9, delay_s=1e-6) for a, b, gbps in links)
    return Topology(nodes=nodes, edges=edges, links=changes)


A_TO_B = LinkChange(between=("a", "b"), down_s=1e-3)
RING = (("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 1.0), ("d", "e", 1.0), ("e", "a", 1.0))
FABRICS: dict[str, AnyFabric] = {
    "leaf-spine": LeafSpine(**LEAVES),
    "slow spines": LeafSpine(**LEAVES, oversubscription=4.0),
    "fast hosts": LeafSpine(**LEAVES, host_rate_bps=1e10, host_delay_s=0.0),
    "one host is fast": LeafSpine(**LEAVES, links=(FAST_HOST,)),
    "one NIC is fast": LeafSpine(**LEAVES, links=(LinkChange(between=("host0", "leaf0"), rate_bps=4e9, one_way=True),)),
    "one host is far": LeafSpine(**LEAVES, links=(LinkChange(between=("leaf1", "host3"), delay_s=1e-4, one_way=True),)),
    "one spine is slow": LeafSpine(**LEAVES, links=(LinkChange(between=("leaf*", "spine1"), rate_bps=1e8),)),
    "one leaf is far": LeafSpine(**LEAVES, links=(LinkChange(between=("leaf2", "spine*"), delay_s=1e-4),)),
    "up is slow": LeafSpine(**LEAVES, links=(LinkChange(between=("leaf0", "spine*"), rate_bps=1e8, one_way=True),)),
    "one link fails": LeafSpine(**LEAVES, links=(LinkChange(between=("leaf0", "spine1"), down_s=1e-3),)),
    "two fail, so that a way is longer": LeafSpine(
        **LEAVES,
        links=tuple(LinkChange(between=ends, down_s=0.5) for ends in (("leaf0", "spine1"), ("leaf1", "spine0"))),
    ),
    "a link is down at first": LeafSpine(**LEAVES, links=(LinkChange(between=("leaf1", "spine0"), down_s=0, up_s=1),)),
    "drawn links are slow": LeafSpine(
        **LEAVES, faults=(DrawnFault(between=("leaf*", "spine*"), count=2, rate_bps=1e8),)
    ),
    "fat-tree": FatTree(pods=4),
    "fat-tree with more hosts": FatTree(pods=4, hosts_per_edge=3, host_rate_bps=1e8),
    "fat-tree, one core is slow": FatTree(pods=4, links=(LinkChange(between=("*", "core0"), rate_bps=1e8),)),
    "parallel": ParallelPaths(paths=3, hosts_per_side=2),
    "dumbbell": Dumbbell(hosts_per_side=2, host_rate_bps=1e10),
    "ring": graph(*RING, *((f"h{end}", end, 1.0) for end in "abcde")),
    "ring, hosts of two rates": graph(*RING, *((f"h{end}", end, 1.0 + (end in "bd")) for end in "abcde")),
    "ring, one link is fast": graph(*RING[1:], ("a", "b", 4.0), *((f"h{end}", end, 1.0) for end in "abcde")),
    # While one link is down the pair at its ends has another way and others have not, though distances are the same
    "ring, fast hosts, one link fails": graph(*RING, *((f"h{end}", end, 4.0) for end in "abcde"), changes=(A_TO_B,)),
    # Each switch has three links, and from 0 to 2 there is one path, to 3 there are two of as many links
    "ring of eight with links across": graph(
        *((f"s{end}", f"s{(end + 1) % 8}", 1.0) for end in range(8)),
        *((f"s{end}", f"s{end + 4}", 1.0) for end in range(4)),
        *((f"h{end}", f"s{end}", 4.0) for end in range(8)),
    ),
    "parallel links": graph(*RING, ("a", "b", 1.0), ("a", "c", 1.0), *((f"h{end}", end, 1.0) for end in "abcde")),
}
BYTES = {"mss_bytes": 1460, "header_bytes": 40}


@pytest.mark.parametrize("name", FABRICS)
def test_ideal_fct_s_of_a_class_is_that_of_each_pair(name: str) -> None:
    """Wrong line: a class that forgets a rate, a delay, a number of links or a detour.

    All pairs of hosts; of hundreds every fourth, which begins at each host and ends at each.
    """
    fabric = FABRICS[name].build(seed=3)
    every = list(permutations(range(fabric.n_hosts), 2))
    every = every[:: 4 if len(every) > 200 else 1]
    for flow_bytes, pairs in ((14_601, every), (1, every[::7]), (200_000, every[3::7])):
        src, dst = np.array(pairs).T
        together = ideal_fct_s(_flows(src, dst, flow_bytes), fabric, **BYTES)
        alone = [ideal_fct_s(_flows([a], [b], flow_bytes), fabric, **BYTES)[0] for a, b in pairs]
        np.testing.assert_array_equal(together, alone)


def _flows(src, dst, flow_bytes):
    return flow_list(src, dst, flow_bytes=[flow_bytes] * len(src), start_s=[0.0] * len(src))


def test_sizes_of_has_the_longest_round_trip_of_all_pairs(subtests: pytest.Subtests) -> None:
    """One host a leaf, the last of it, as a pair of each two leaves. Wrong line: a class that forgets a link."""
    for name in FABRICS:
        with subtests.test(name=name):
            fabric = FABRICS[name].build(seed=3)
            last_hosts = {int(leaf): host for host, leaf in enumerate(fabric.leaf_of_host)}.values()
            pairs = permutations(last_hosts, 2)
            longest_ps = max(fabric.base_rtt_ps(src, dst, packet_bytes=4150, ack_bytes=64) for src, dst in pairs)
            assert sizes_of(fabric, 4150).rtt_s == longest_ps / 1e12


@pytest.mark.parametrize(
    ("fabric", "expected"),
    [
        (LeafSpine(leaves=64, hosts_per_leaf=4, spines=4), 2),
        (FatTree(pods=8), 3),
        (LeafSpine(leaves=4, hosts_per_leaf=4, spines=4, links=(FAST_HOST,)), 6),
        (
            LeafSpine(
                leaves=4, hosts_per_leaf=4, spines=4, links=(LinkChange(between=("leaf0", "spine0"), rate_bps=1e8),)
            ),
            16,
        ),
    ],
)
def test_pair_classes_are_few(fabric: AnyFabric, expected: int) -> None:
    """By hand: distances; with one host of its own kind also from it and to it; else pairs of leaves."""
    built = fabric.build()
    src, dst = np.array(list(permutations(range(built.n_hosts), 2))).T
    assert len(np.unique(pair_classes(built, src, dst))) == expected

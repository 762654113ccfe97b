"""Property: who sends to whom in matrices and in rounds of incast, against exact probabilities."""

import numpy as np
import pytest

from capsim import Batch, FatTree, FlowList, Incast, LeafSpine, ParameterError, Poisson, draw_flows
from capsim.fabric.endpoints import pods
from capsim.fabric.load import counted_share
from capsim.fabric.topology import Fabric, Int32
from capsim.fabric.traffic import AnyTraffic

TREE = FatTree(pods=4, hosts_per_edge=3).build()  # 24 hosts, 3 under each of 8 edge switches, 6 in each pod
LEAVES = LeafSpine(leaves=4, hosts_per_leaf=4, spines=2).build()


def drawn(*entries: AnyTraffic, fabric: Fabric = TREE, seed: int = 1) -> FlowList:
    return draw_flows(entries, fabric, seed=seed, short_bytes=100_000)


def chi_square(counts: np.ndarray, expected: np.ndarray, *, conditions: int) -> float:
    """Return by how many standard deviations Pearson's statistic is above its mean.

    `conditions` are the sums of `counts` that are given.
    """
    possible = expected > 0
    assert np.all(counts[~possible] == 0)
    freedom = int(possible.sum()) - conditions
    statistic = np.sum((counts[possible] - expected[possible]) ** 2 / expected[possible])
    return float((statistic - freedom) / np.sqrt(2 * freedom))


def joint_counts(flows: FlowList, n_hosts: int) -> np.ndarray:
    """Return the number of flows by sender and receiver."""
    return np.bincount(flows.src * n_hosts + flows.dst, minlength=n_hosts**2).reshape(n_hosts, n_hosts)


def same(group: Int32) -> np.ndarray:
    """Return for each two hosts whether they are in one group."""
    return np.equal.outer(group, group)


def test_staggered_partners_have_their_probabilities(subtests: pytest.Subtests) -> None:
    """2 others under the edge switch, 3 elsewhere in the pod, 18 in other pods: each of a kind alike."""
    for edge_prob, pod_prob in [(0.5, 0.3), (0.2, 0.3), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0)]:
        with subtests.test(edge_prob=edge_prob, pod_prob=pod_prob):
            each = 4000
            flows = drawn(
                Batch(flows=24 * each, flow_bytes=1, pairs="staggered", edge_prob=edge_prob, pod_prob=pod_prob), seed=3
            )
            edge, pod = same(TREE.leaf_of_host), same(pods(TREE).astype(np.int32))
            prob = np.where(edge, edge_prob / 2, np.where(pod, pod_prob / 3, (1 - edge_prob - pod_prob) / 18))
            np.fill_diagonal(prob, 0.0)
            counts, expected = joint_counts(flows, 24), each * np.where(prob > 1e-12, prob, 0.0)
            assert chi_square(counts, expected, conditions=24) < 3.3


def test_a_staggered_matrix_has_a_partner_for_each_host() -> None:
    flows = drawn(Batch(flow_bytes=1, pairs="staggered", edge_prob=0.2, pod_prob=0.3))
    assert sorted(flows.src) == list(range(24))
    assert np.all(flows.src != flows.dst)


def test_share_between_leaves_is_the_share_of_the_flows(subtests: pytest.Subtests) -> None:
    """Of the three hosts under an edge switch, a stride of one keeps two, a stride of two keeps one."""
    cases = [
        ("staggered", {"edge_prob": 0.2, "pod_prob": 0.3}, 0.8),
        ("stride", {"stride_hosts": 1}, 1 / 3),
        ("stride", {"stride_hosts": 2}, 2 / 3),
        ("stride", {"stride_hosts": 23}, 1 / 3),
    ]
    for pairs, more, share in cases:
        with subtests.test(pairs=pairs, more=more, share=share):
            entry = Batch(flows=24_000, flow_bytes=1, pairs=pairs, **more)
            assert counted_share(TREE, "leaf-uplinks", entry.pairing) == pytest.approx(share, rel=1e-12)
            flows = drawn(entry)
            leaving = TREE.leaf_of_host[flows.src] != TREE.leaf_of_host[flows.dst]
            assert abs(leaving.mean() - share) < 3.3 * np.sqrt(share * (1 - share) / len(flows))


LONG = Batch(hosts=8, flow_bytes=10**7, pairs="permutation", common_partners=True)
SHORT = Poisson(
    skip_hosts=8, flow_bytes=70_000, flows_per_s=256, duration_s=20.0, pairs="permutation", common_partners=True
)


def test_long_and_short_flows_share_one_permutation() -> None:
    """MMPTCP: no host sends or receives both kinds, all hosts send, all receive, and the partner stays."""
    flows = drawn(LONG, SHORT)
    for ends in (flows.src, flows.dst):
        long, short = (set(ends[flows.tag == tag].tolist()) for tag in (0, 1))
        assert (len(long), len(short)) == (8, 16)
        assert not long & short
    assert np.all(joint_counts(flows, 24).astype(bool).sum(axis=1) == 1)


def test_entries_of_their_own_permutation_may_share_receivers() -> None:
    entries = [Batch(hosts=12, skip_hosts=skip, flow_bytes=1, pairs="permutation") for skip in (0, 12)]
    shared = [
        len(set(flows.dst[flows.tag == 0].tolist()) & set(flows.dst[flows.tag == 1].tolist()))
        for flows in (drawn(*entries, seed=seed) for seed in range(20))
    ]
    assert sum(shared) > 20, "six of twelve on average"


@pytest.mark.agreement
def test_the_common_permutation_is_uniform() -> None:
    """Of 512 hosts in 8 pods, 448 of the 511 others are in another pod; each sender's partner is any of 23 alike."""
    large = FatTree(pods=8, hosts_per_edge=16).build()
    pod = pods(large)
    matrix = Batch(flow_bytes=1, pairs="permutation", common_partners=True)
    shares = np.array(
        [
            np.mean(pod[flows.src] != pod[flows.dst])
            for flows in (drawn(matrix, fabric=large, seed=seed) for seed in range(40))
        ]
    )
    assert abs(shares.mean() - 448 / 511) < 3.3 * shares.std(ddof=1) / np.sqrt(40)
    seeds = 1200
    counts = np.sum([joint_counts(drawn(matrix, seed=seed), 24) for seed in range(seeds)], axis=0)
    expected = np.where(np.eye(24, dtype=bool), 0.0, seeds / 23)
    assert abs(chi_square(counts, expected, conditions=47)) < 3.3


@pytest.mark.agreement
def test_a_common_random_matrix_leaves_hosts_without_a_sender() -> None:
    """Each of n hosts draws one of the n - 1 others, so nobody sends to a host with probability (1 - 1/(n-1))^(n-1)."""
    entries = (
        Batch(flows=72, flow_bytes=1, common_partners=True),
        Poisson(flows=300, flows_per_s=1.0, flow_bytes=1, common_partners=True),
    )
    without = []
    for seed in range(400):
        flows = drawn(*entries, seed=seed)
        assert np.all(joint_counts(flows, 24).astype(bool).sum(axis=1) == 1)
        without.append(24 - len(set(flows.dst.tolist())))
    expected = 24 * (22 / 23) ** 23
    assert abs(np.mean(without) - expected) < 3.3 * np.std(without, ddof=1) / np.sqrt(400)


def test_the_common_partners_depend_on_the_seed_alone() -> None:
    alone = drawn(SHORT)
    together = drawn(SHORT, LONG)
    mine = together.tag == 0
    assert np.array_equal(alone.dst, together.dst[mine])
    assert np.array_equal(alone.start_ps, together.start_ps[mine])
    assert not np.array_equal(alone.dst[:100], drawn(SHORT, seed=2).dst[:100])


@pytest.mark.agreement
def test_short_flows_are_poisson_over_the_hosts_that_send_none_that_is_long() -> None:
    """The scheduler of MMPTCP: 256 a second in all for 20 s, and each time any of the hosts of short flows."""
    runs = [drawn(LONG, SHORT, seed=seed) for seed in range(200)]
    counts = np.array([np.sum(flows.tag == 1) for flows in runs])
    assert abs(counts.mean() - 5120) < 3.3 * np.sqrt(5120 / 200)
    assert abs(counts.var(ddof=1) / 5120 - 1) < 3.3 * np.sqrt(2 / 199)
    flows = runs[0]
    senders = np.bincount(flows.src[flows.tag == 1], minlength=24)
    expected = np.where(senders > 0, counts[0] / 16, 0.0)
    assert np.sum(senders > 0) == 16
    assert abs(chi_square(senders, expected, conditions=1)) < 3.3


def test_an_incast_keeps_its_ends_where_they_are_drawn_once() -> None:
    flows = drawn(Incast(senders_per_round=15, rounds=40, period_s=0.5, flow_bytes=70_000, same_ends=True))
    rounds = np.split(flows.src, 40)
    assert len(set(flows.dst.tolist())) == 1
    assert all(np.array_equal(one, rounds[0]) for one in rounds)
    assert len(set(rounds[0].tolist())) == 15
    assert flows.dst[0] not in rounds[0]
    again = drawn(Incast(senders_per_round=15, rounds=40, period_s=0.5, flow_bytes=70_000))
    assert len(set(again.dst.tolist())) > 10
    assert not np.array_equal(again.src[:15], again.src[15:30])


@pytest.mark.agreement
def test_the_ends_of_an_incast_are_uniform() -> None:
    """Any of 24 hosts receives; of the other 23, five send."""
    entry = Incast(senders_per_round=5, rounds=2, period_s=0.5, flow_bytes=1, same_ends=True)
    seeds = 1200
    counts = np.sum([joint_counts(drawn(entry, seed=seed), 24) for seed in range(seeds)], axis=0) / 2
    expected = np.where(np.eye(24, dtype=bool), 0.0, seeds * 5 / (24 * 23))
    assert np.all(np.diag(counts) == 0)
    received = counts.sum(axis=0) / 5
    assert abs(chi_square(received, np.full(24, seeds / 24), conditions=1)) < 3.3
    sent = counts.sum(axis=1)
    assert np.all(np.abs(sent - expected.sum(axis=1)) < 4.5 * np.sqrt(expected.sum(axis=1)))


def test_impossible_probabilities_are_named(subtests: pytest.Subtests) -> None:
    cases = [
        ({"edge_prob": 0.7, "pod_prob": 0.4}, TREE, r"^traffic.edge_prob \+ traffic.pod_prob = 1.1, but they must be"),
        ({"edge_prob": 1.5}, TREE, r"^traffic\[0\]: edge_prob: Expected `float` <= 1.0, but it is 1.5: "),
        ({"pod_prob": 0.5}, LEAVES, "'staggered', but a host has no other host under another edge switch of its pod$"),
        ({"edge_prob": 1.0}, FatTree(pods=4, hosts_per_edge=1).build(), "no other host under its edge switch$"),
        ({}, LeafSpine(leaves=1, hosts_per_leaf=4, spines=1).build(), "no other host in another pod$"),
    ]
    for more, fabric, rule in cases:
        with subtests.test(more=more, fabric=fabric, rule=rule):
            entry = Batch(flows=400, flow_bytes=1, pairs="staggered", **more)
            with pytest.raises(ParameterError, match=rule):
                drawn(entry, fabric=fabric)

"""DRILL(d, m): the shortest of d queues drawn and m remembered; memory by set, leaf or switch; limits; queues."""

import numpy as np
import pytest
from scipy import stats
from support.balancer_setups import OneSwitch
from support.engine_setups import CROWDED, FAT_TREE, LEAF_SPINE, differences, flow_list, one_run, random_flows, setup_of

from capsim import LeafSpine
from capsim.engines import run
from capsim.engines.initial_state import candidate_sets, initial_state
from capsim.protocols.balancers.drill import DRILL, MemoryPer

FIRST = [(path + 0.5) / 4 for path in range(4)]  # the uniform number that draws a path first


def remembering(path, **params):
    """Return a switch that remembers one of four paths."""
    switch = OneSwitch(DRILL, **params)
    switch.own["set"].queue[0] = path
    return switch


def test_the_shortest_of_drawn_and_remembered_is_taken_and_remembered():
    switch = remembering(0, samples=1)
    for queues, drawn, expected in [
        ((9, 5, 1, 3), 1, 1),  # the drawn one is shorter
        ((9, 5, 1, 3), 0, 1),  # the remembered one is
        ((9, 5, 1, 3), 2, 2),
        ((9, 5, 6, 3), 3, 3),
        ((9, 5, 6, 7), 0, 3),
    ]:
        switch.queues(*queues)
        assert switch.path(u0=FIRST[drawn]) == expected


def test_of_equal_queues_the_remembered_one_is_taken():
    """With all queues empty a switch keeps to one port, as in public code."""
    switch = remembering(2)
    assert {switch.path(u0=u0) for u0 in np.linspace(0, 0.999, 40)} == {2}


def test_without_memory_the_shorter_of_two():
    """Each of the six pairs of four queues comes equally often: the shortest wins 3 of 6, then 2, 1, 0.

    The last queue is the shortest, so that a path that is drawn twice is seen.
    """
    switch = OneSwitch(DRILL, memories=0)
    switch.queues(4, 3, 2, 1)
    found = np.bincount([switch.path(u0=(k + 0.5) / 1200) for k in range(1200)], minlength=4)
    assert found[0] == 0
    assert stats.chisquare(found[1:], np.array([200, 400, 600])).pvalue > 1e-4


def test_drawn_with_repetition():
    """Then 7, 5, 3, 1 of 16."""
    switch = OneSwitch(DRILL, memories=0, distinct=False)
    switch.queues(1, 2, 3, 4)
    found = np.bincount([switch.path(u0=(k + 0.5) / 1600) for k in range(1600)], minlength=4)
    assert stats.chisquare(found, 100 * np.array([7, 5, 3, 1])).pvalue > 1e-4


@pytest.mark.parametrize("samples", [4, 9])
def test_as_many_samples_as_queues_find_the_shortest(samples):
    switch = OneSwitch(DRILL, samples=samples, memories=0)
    for shortest in range(4):
        switch.queues(*(0 if path == shortest else 5 + path for path in range(4)))
        assert {switch.path(u0=u0) for u0 in np.linspace(0, 0.999, 50)} == {shortest}


def test_m_shortest_are_remembered_in_their_order():
    switch = OneSwitch(DRILL, samples=4, memories=3)
    switch.queues(8, 2, 6, 4)
    assert switch.path(u0=FIRST[0]) == 1
    assert switch.own["set"].queue[:3] == [1, 3, 2]
    switch.queues(8, 9, 6, 7)  # what is remembered is compared anew
    assert switch.path(u0=FIRST[1]) == 2
    assert switch.own["set"].queue[:3] == [2, 3, 0]


def test_what_routes_have_removed_is_forgotten():
    switch = remembering(3)
    switch.candidates = switch.candidates[:2]
    switch.ports[10].queue_bytes = 5
    assert switch.path(u0=0.1) == 1
    assert switch.own["set"].queue[0] == 1


def test_what_a_switch_remembers_queues_for(subtests):
    for per in MemoryPer:
        with subtests.test(per=per):
            switch = OneSwitch(DRILL, samples=1, memory_per=per)
            switch.queues(9, 5, 1, 3)
            switch.path(u0=FIRST[2])
            known = {scope: switch.own[scope].queue[0] for scope in ("set", "towards", "switch")}
            scope = {MemoryPer.SET: "set", MemoryPer.LEAF: "towards", MemoryPer.SWITCH: "switch"}[per]
            assert known == {"set": -1, "towards": -1, "switch": -1} | {scope: 2}


def test_sets_of_candidates():
    """A leaf offers the same spines for all other leaves: one set per leaf. So do edge and aggregation switches."""
    for kind, sets in ((LEAF_SPINE, 3), (FAT_TREE, 8 + 8)):
        state = initial_state(setup_of(kind, flow_list([(0, 1, 1000, 0.0)])))
        found, n_sets = candidate_sets(state.route_first, state.route_count, state.candidates)
        assert n_sets == sets
        lists = {}
        for first, count in zip(state.route_first.flat, state.route_count.flat, strict=True):
            if count > 1:
                lists.setdefault(tuple(state.candidates[first : first + count]), set()).add(found[first])
        assert all(len(numbers) == 1 for numbers in lists.values())
        assert len(set.union(*lists.values())) == len(lists) == sets


def test_sets_of_different_length():
    first, count = np.array([0, 2, 5, 8]), np.array([2, 3, 3, 2])
    found, n_sets = candidate_sets(first, count, np.array([1, 2, 1, 2, 3, 1, 2, 3, 2, 1]))
    assert n_sets == 3
    assert found[2] == found[5]
    assert len({found[0], found[2], found[8]}) == 3


@pytest.mark.parametrize("fabric", ["leaf-spine", "fat-tree"])
def test_one_sample_without_memory_is_random_spraying(fabric):
    kind, flows = CROWDED[fabric]
    drill = one_run(setup_of(kind, flows, "drill", balancer={"samples": 1, "memories": 0})).trace
    rps = run(setup_of(kind, flows, "rps")).trace
    assert np.array_equal(drill, rps)


def test_on_two_leaves_memory_per_set_is_memory_per_leaf():
    """Where all packets with a choice go to one leaf; with three leaves it is not."""
    for leaves, same in ((2, True), (3, False)):
        kind = LeafSpine(leaves=leaves, hosts_per_leaf=3, spines=3, delay_s=2e-6, buffer_packets=12)
        flows = random_flows(3 * leaves, n_flows=20, rng=5)
        by_set, by_leaf = (
            run(setup_of(kind, flows, "drill", balancer={"memory_per": per})).trace for per in ("set", "leaf")
        )
        assert np.array_equal(by_set, by_leaf) == same


def test_queues_of_few_choices():
    """Two choices shorten the wait at the uplinks under spraying, a memory shortens it further (Mitzenmacher 2001).

    Nine hosts of one leaf send to three others over nine spines, all links alike, so that only uplinks queue.
    """
    kind = LeafSpine(leaves=4, hosts_per_leaf=9, spines=9, delay_s=2e-6, buffer_packets=1000)
    flows = flow_list([(host, 9 + 9 * (host % 3) + host, 2_000_000, 0.0) for host in range(9)])
    waits_ps = []
    for samples, memories in ((1, 0), (2, 0), (2, 1)):
        setup = setup_of(
            kind,
            flows,
            "drill",
            balancer={"samples": samples, "memories": memories},
            transport={"max_window_bytes": 60_000, "dup_ack_threshold": 10_000},
        )
        result = run(setup)
        up = [port for port, name in enumerate(setup.fabric.port_names) if name.startswith("leaf0>spine")]
        waits_ps.append(float(result.ports["sojourn_ps"][up].sum()) / float(result.ports["packets_out"][up].sum()))
    assert waits_ps[0] > 1.2 * waits_ps[1] > 1.2 * waits_ps[2]


@pytest.mark.parametrize(
    "options",
    [
        {"samples": 3, "memories": 2, "memory_per": "leaf"},
        {"distinct": False, "memories": 0, "memory_per": "switch"},
        {"samples": 16, "memories": 16},
    ],
    ids=["leaf", "with repetition", "most"],
)
def test_engines_agree(options):
    assert differences(setup_of(*CROWDED["fat-tree"], "drill", balancer=options)) == []

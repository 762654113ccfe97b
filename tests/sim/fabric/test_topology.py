"""Identity and property: ports, routes, paths and outages of every kind of fabric, from counting arguments."""

import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from capsim import DrawnFault, Dumbbell, FatTree, LeafSpine, LinkChange, ParallelPaths
from capsim.base.clock import serialisation_ps
from capsim.fabric.base import FabricKind
from capsim.fabric.topology import NO_PATH, Fabric
from capsmodel.checks import ParameterError

counts = st.integers(1, 5)
fabrics = st.one_of(
    st.builds(lambda a, b, c: LeafSpine(leaves=a, hosts_per_leaf=b + 1, spines=c), counts, counts, counts),
    st.builds(lambda a, b: FatTree(pods=2 * a, hosts_per_edge=b), st.integers(1, 3), counts),
    st.builds(lambda a, b: ParallelPaths(paths=a, hosts_per_side=b), counts, counts),
    st.builds(lambda a: Dumbbell(hosts_per_side=a), counts),
)


@given(fabrics)
@settings(max_examples=60, deadline=None)
def test_every_pair_is_joined_by_as_many_paths_back_as_forth(kind: FabricKind) -> None:
    fabric = kind.build()
    assert (fabric.n_hosts, fabric.n_switches) == kind.node_counts()
    rng = np.random.default_rng(1)
    for _ in range(10):
        src, dst = rng.choice(fabric.n_hosts, 2, replace=False).tolist()
        forth = list(fabric.paths(src, dst))
        assert len(forth) == fabric.n_paths(dst, src) >= 1
        assert len(set(forth)) == len(forth)
        assert len({len(path) for path in forth}) == 1
        for path in forth:
            assert (fabric.port_from[path[0]], fabric.port_to[path[-1]]) == (src, dst)
            assert np.array_equal(fabric.port_to[list(path[:-1])], fabric.port_from[list(path[1:])])
        there = fabric.base_rtt_ps(src, dst, packet_bytes=1500, ack_bytes=40)
        assert there == fabric.base_rtt_ps(dst, src, packet_bytes=1500, ack_bytes=40)


def test_the_time_without_queues_is_that_of_the_fastest_path() -> None:
    """Links that differ in rate and delay; catches a time that is shared by sources with different ways."""
    changes = (
        LinkChange(between=("agg0.*", "core0"), delay_s=1e-3),
        LinkChange(between=("edge0.0", "agg0.1"), rate_bps=1e8),
        LinkChange(between=("core3", "agg2.*"), delay_s=5e-6),
    )
    fabric = FatTree(pods=4, links=changes).build()
    for packet_bytes in (40, 1500):
        for src, dst in [(src, dst) for src in range(16) for dst in (9, 0, 5) if src != dst]:
            times_ps = [
                sum(
                    int(fabric.delay_ps[port]) + serialisation_ps(packet_bytes, int(fabric.rate_bps[port]))
                    for port in path
                )
                for path in fabric.paths(src, dst)
            ]
            assert fabric.one_way_ps(src, dst, packet_bytes=packet_bytes) == min(times_ps)


@given(fabrics)
@settings(max_examples=30, deadline=None)
def test_every_switch_reaches_every_host_and_every_port_has_a_way_back(kind: FabricKind) -> None:
    fabric = kind.build()
    assert np.all(fabric.routes.count >= 1)
    assert np.all(fabric.routes.first + fabric.routes.count <= len(fabric.routes.candidates))
    forward = sorted(zip(fabric.port_from.tolist(), fabric.port_to.tolist(), strict=True))
    assert forward == sorted(zip(fabric.port_to.tolist(), fabric.port_from.tolist(), strict=True))
    assert np.array_equal(fabric.port_from[fabric.host_port], np.arange(fabric.n_hosts))
    assert len(set(fabric.port_names)) == fabric.n_ports


@given(fabrics)
@settings(max_examples=30, deadline=None)
def test_the_paths_between_two_hosts_are_numbered(kind: FabricKind) -> None:
    """Between the first host and the last, which share no leaf and no pod: each path has one number, from 0 on."""
    fabric = kind.build()
    assume(fabric.leaf_of_host[0] != fabric.leaf_of_host[-1])
    paths = [fabric.port_path[list(path)] for path in fabric.paths(0, fabric.n_hosts - 1)]
    numbers = [set(path[path != NO_PATH].tolist()) for path in paths]
    assert [len(number) for number in numbers] == [1] * len(paths)
    assert sorted(min(number) for number in numbers) == list(range(len(paths)))
    assert np.all(fabric.port_path[(fabric.port_from < fabric.n_hosts) | (fabric.port_to < fabric.n_hosts)] == NO_PATH)


def test_layers(subtests: pytest.Subtests) -> None:
    cases = [
        (LeafSpine(leaves=2, hosts_per_leaf=1, spines=2), "host>leaf leaf>host leaf>spine spine>leaf"),
        (FatTree(pods=4), "host>edge edge>host edge>agg agg>edge agg>core core>agg"),
        (
            ParallelPaths(paths=2, hosts_per_side=1),
            "host>left left>host host>right right>host left>right right>left",
        ),
    ]
    for kind, layers in cases:
        with subtests.test(kind=kind, layers=layers):
            fabric = kind.build()
            assert fabric.layers == tuple(layers.split())
            without_numbers = [re.sub(r"[\d.#]", "", name) for name in fabric.port_names]
            assert list(fabric.port_layers) == without_numbers


def test_fat_tree_has_the_paths_of_its_definition(subtests: pytest.Subtests) -> None:
    for pods in [2, 4, 8]:
        with subtests.test(pods=pods):
            fabric, half = FatTree(pods=pods).build(), pods // 2
            assert fabric.n_hosts == pods**3 // 4
            assert fabric.n_paths(0, fabric.n_hosts - 1) == half**2
            if half > 1:
                assert fabric.n_paths(0, half) == half
                assert fabric.n_paths(0, 1) == 1


def test_mmptcp_oversubscription_by_hosts_per_edge() -> None:
    fabric = FatTree(pods=8, hosts_per_edge=16).build()
    assert fabric.n_hosts == 512
    edges = 512 + np.flatnonzero(fabric.switch_tier == 0)
    up = np.isin(fabric.port_from, edges) & (fabric.port_to >= 512)
    assert fabric.rate_bps[fabric.host_port].sum() == 4 * fabric.rate_bps[up].sum()


def test_oversubscription_sets_the_rate_of_the_spine_links() -> None:
    """6 hosts of 1 Gbps over 2 spines, 2:1: 3 Gbps upwards, 1.5 Gbps to each spine, whatever `rate_bps` says."""
    kind = LeafSpine(leaves=2, hosts_per_leaf=6, spines=2, rate_bps=1e9, oversubscription=2)
    faster = LeafSpine(leaves=2, hosts_per_leaf=6, spines=2, rate_bps=5e9, host_rate_bps=1e9, oversubscription=2)
    for fabric in (kind.build(), faster.build()):
        trunk = np.array(["spine" in name for name in fabric.port_names])
        assert set(fabric.rate_bps[trunk]) == {1_500_000_000}
        assert set(fabric.rate_bps[~trunk]) == {1_000_000_000}


def test_paths_are_numbered_by_spine_and_by_parallel_link() -> None:
    fabric = LeafSpine(leaves=2, hosts_per_leaf=1, spines=3).build()
    assert [fabric.port_names[port] for port in fabric.routes.ports(0, 1)] == [f"leaf0>spine{i}" for i in range(3)]
    fabric = ParallelPaths(paths=3, hosts_per_side=1).build()
    names = [fabric.port_names[port] for port in fabric.routes.ports(0, 1)]
    assert names == ["left>right", "left>right#2", "left>right#3"]


def changed(**change: object) -> Fabric:
    return LeafSpine(leaves=2, hosts_per_leaf=2, spines=2, links=(LinkChange(**change),)).build()  # type: ignore[arg-type]


def test_a_change_applies_to_both_directions_or_to_one() -> None:
    fabric = changed(between=("leaf0", "spine1"), delay_s=5e-4, buffer_bytes=15_000)
    touched = [name for name, delay in zip(fabric.port_names, fabric.delay_ps, strict=True) if delay == 500_000_000]
    assert touched == ["leaf0>spine1", "spine1>leaf0"]
    port = fabric.port_names.index("spine1>leaf0")
    assert (fabric.buffer_bytes[port], fabric.buffer_packets[port]) == (15_000, -1)
    fabric = changed(between=("leaf*", "spine1"), one_way=True, rate_bps=1e8)
    touched = [name for name, rate in zip(fabric.port_names, fabric.rate_bps, strict=True) if rate == 100_000_000]
    assert touched == ["leaf0>spine1", "leaf1>spine1"]


def test_a_failing_link_leaves_the_routes_and_returns_to_them() -> None:
    fabric = changed(between=("leaf0", "spine1"), down_s=1.0, up_s=2.0)
    assert [epoch.time_ps for epoch in fabric.epochs] == [0, 10**12, 2 * 10**12]
    assert [int(epoch.routes.count[0, 2]) for epoch in fabric.epochs] == [2, 1, 2]
    assert [int((~epoch.port_up).sum()) for epoch in fabric.epochs] == [0, 2, 0]
    assert np.array_equal(fabric.epochs[0].routes.candidates, fabric.epochs[2].routes.candidates)


def test_routes_follow_a_failure_after_the_time_to_reroute() -> None:
    links = (LinkChange(between=("leaf0", "spine1"), down_s=1.0),)
    fabric = LeafSpine(leaves=2, hosts_per_leaf=2, spines=2, links=links, reroute_s=0.5).build()
    assert [epoch.time_ps for epoch in fabric.epochs] == [0, 10**12, 15 * 10**11]
    assert [int(epoch.routes.count[0, 2]) for epoch in fabric.epochs] == [2, 2, 1]
    assert [bool(epoch.port_up.all()) for epoch in fabric.epochs] == [True, False, False]


def test_a_host_behind_a_dead_link_cannot_be_reached() -> None:
    fabric = changed(between=("host3", "leaf1"), down_s=0.5)
    assert fabric.epochs[1].routes.count[1, 3] == 0
    assert fabric.epochs[1].routes.count[1, 2] == 1


def test_an_impossible_change_is_named(subtests: pytest.Subtests) -> None:
    cases = [
        ({"between": ("leaf0", "core1")}, "no link between"),
        ({"between": ("leaf0", "spine1"), "up_s": 1.0}, "up_s without down_s"),
        ({"between": ("leaf0", "spine1"), "down_s": 2.0, "up_s": 1.0}, "after down_s"),
        ({"between": ("leaf0", "spine1"), "rate_bps": 0.0}, r"rate_bps: .* >= 1.0, but it is 0"),
        ({"between": ("leaf0", "spine1"), "delay_s": -1.0}, r"delay_s: .* >= 0.0, but it is -1"),
    ]
    for change, rule in cases:
        with subtests.test(change=change, rule=rule), pytest.raises(ParameterError, match=rule):
            changed(**change)


def test_impossible_fabrics_are_named() -> None:
    with pytest.raises(ParameterError, match="even number"):
        FatTree(pods=3).build()
    with pytest.raises(ParameterError, match="one host only"):
        LeafSpine(leaves=1, hosts_per_leaf=1, spines=1).build()


def test_equal_fabrics_are_built_once_and_cannot_be_changed() -> None:
    """What faults draw depends on the seed; all else of a fabric, routes of the intact one too, on its fields."""
    failing = (LinkChange(between=("leaf0", "spine1"), down_s=1e-3, up_s=2e-3),)
    drawn = (DrawnFault(nodes="spine*", count=1, down_s=1e-3),)
    sides = {"leaves": 4, "hosts_per_leaf": 1, "spines": 4}
    first, again = (LeafSpine(**sides, links=failing).build(seed=seed) for seed in (1, 2))
    assert first is again
    assert LeafSpine(**sides).build() is not first
    assert first.epochs[2].routes is first.routes is not first.epochs[1].routes
    assert len({LeafSpine(**sides, faults=drawn).build(seed=seed).drawn for seed in range(8)}) > 1
    for array in (first.rate_bps, first.routes.first, first.epochs[1].port_up, first.epochs[1].routes.candidates):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0

"""ECMP by modulo and by regions (RFC 2992), and spraying at leaves only."""

import numpy as np
import pytest
from support.balancer_setups import OneSwitch
from support.engine_setups import CROWDED, FAT_TREE, LEAF_SPINE, differences, one_run, random_flows, setup_of

from capsim import records
from capsim.base.randomness import key, mix
from capsim.engines import run
from capsim.protocols.balancers.ecmp import ECMP, Split
from capsim.protocols.balancers.spray import RPS

pytestmark = pytest.mark.agreement

FLOWS = 4000
HASHES = key(1, 2, np.arange(FLOWS)).tolist()


def paths(split, n_paths):
    switch = OneSwitch(ECMP, n_paths=n_paths, split=split)
    return np.array([switch.path(hash=each) for each in HASHES])


@pytest.mark.parametrize("split", Split)
@pytest.mark.parametrize("n_paths", [2, 3, 7, 64])
def test_each_port_has_the_same_share_of_the_flows(split, n_paths):
    """Chi-square of n - 1 degrees of freedom: at most 6 standard deviations above its mean."""
    found = np.bincount(paths(split, n_paths), minlength=n_paths)
    assert len(found) == n_paths
    chi_square = np.sum((found - FLOWS / n_paths) ** 2 / (FLOWS / n_paths))
    assert chi_square < n_paths - 1 + 6 * np.sqrt(2 * (n_paths - 1))


@pytest.mark.parametrize("n_paths", [2, 4, 7, 16])
def test_how_many_flows_move_when_the_last_port_fails(n_paths):
    """RFC 2992, sections 2 and 3: by regions half of them; by modulo (N - 1)/N."""
    half_width = 4 * 0.5 / np.sqrt(FLOWS)
    for split, share in ((Split.REGIONS, 0.5), (Split.MODULO, (n_paths - 1) / n_paths)):
        before, after = paths(split, n_paths), paths(split, n_paths - 1)
        assert abs(np.mean(before != after) - share) < half_width


def test_regions_are_of_equal_size_and_in_order():
    switch = OneSwitch(ECMP, split=Split.REGIONS, n_paths=3)
    found = paths(Split.REGIONS, 3)
    keys = np.array([mix(each ^ switch.record.salt) for each in HASHES])
    assert found.tolist() == (keys // (2**32 / 3)).astype(int).tolist()


def test_spraying_at_leaves_only():
    sub = [OneSwitch(RPS, tier=tier, leaf_only=True) for tier in (0, 1)]
    draws = np.linspace(0, 0.99, 40)
    assert [len({switch.path(hash=5, u0=u0) for u0 in draws}) for switch in sub] == [4, 1]
    assert len({sub[1].path(hash=number) for number in range(40)}) == 4
    assert len({OneSwitch(RPS, tier=1).path(hash=5, u0=u0) for u0 in draws}) == 4


def test_where_only_leaves_choose_it_is_spraying():
    flows = random_flows(9, n_flows=12, rng=4)
    found = [run(setup_of(LEAF_SPINE, flows, "rps", balancer={"leaf_only": only})).trace for only in (True, False)]
    assert np.array_equal(*found)


def test_upper_switches_keep_a_flow_on_one_port():
    setup = setup_of(FAT_TREE, CROWDED["fat-tree"][1], "rps", balancer={"leaf_only": True})
    trace, names = one_run(setup).trace, setup.fabric.port_names
    up = [port for port, name in enumerate(names) if name.startswith("agg") and ">core" in name]
    lines = trace[(trace["what"] == records.ENQUEUED) & np.isin(trace["port"], up) & (trace["kind"] == records.DATA)]
    assert len(lines)
    taken = {(setup.fabric.port_from[line["port"]], line["sub"], line["port"]) for line in lines}
    assert len(taken) == len({(node, sub) for node, sub, _ in taken})


def test_engines_agree():
    assert differences(setup_of(*CROWDED["fat-tree"], "ecmp", balancer={"split": "regions"})) == []

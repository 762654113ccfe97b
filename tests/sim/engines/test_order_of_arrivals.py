"""Tree = agenda: where arrivals wait decides how long a run takes, never what happens."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit, types
from support.engine_setups import BUSY, differing, flow_list, random_flows, setup_of

from capsim import LeafSpine, LinkChange, schemes
from capsim.engines.compiled.engine import run
from capsim.engines.compiled.jit import FLAGS
from capsim.engines.compiled.layout import BUCKETS, BY_COUNTING
from capsim.engines.compiled.order.trees import set_stamp
from capsim.engines.compiled.world import copy_block, replay, tree_over
from capsim.engines.events import NO_STAMP
from capsim.engines.state import TRACE_OFF

pytestmark = pytest.mark.agreement

NO_AGENDA = 2**62  # ports
FAILING = (
    LinkChange(between=("leaf0", "spine1"), down_s=100e-6, up_s=900e-6),
    LinkChange(between=("leaf*", "spine0"), down_s=250e-6, up_s=300e-6),
)


def agenda_differs(setup):
    """Return where the records of a run with the agenda differ from those of one with the tree alone.

    With a trace, and without one, where what has left a queue is counted later.
    """
    both = [setup, replace(setup, trace=TRACE_OFF)]
    return [name for each in both for name in differing(run(each, agenda_ports=1), run(each, agenda_ports=NO_AGENDA))]


def small(**fabric):
    return LeafSpine(leaves=3, hosts_per_leaf=3, spines=3, **{"delay_s": 2e-6, "buffer_packets": 12} | fabric)


@pytest.mark.parametrize("fabric", BUSY)
@pytest.mark.parametrize("name", schemes())
def test_every_scheme_on_every_fabric(name, fabric):
    assert agenda_differs(setup_of(*BUSY[fabric], name)) == []


# What is in which place: all arrivals in the present bucket, or in the next ones, or beyond the last
FABRICS = {
    "slow hosts below fast switches": small(host_rate_bps=10e6, rate_bps=100e9),
    "fast hosts below slow switches": small(host_rate_bps=100e9, rate_bps=1e9),
    "long links": small(delay_s=0.03),
    "no delay": small(delay_s=0.0),
    "links that fail": small(links=FAILING, reroute_s=50e-6),
    "long links that fail": small(delay_s=0.03, links=FAILING, reroute_s=50e-6),
}


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("name", ["ecmp", "rps_pq", "caps"])
def test_wherever_an_arrival_waits(name, fabric):
    setup = setup_of(FABRICS[fabric], random_flows(9, n_flows=24, rng=3, within_us=200), name, end_ps=10**12)
    assert agenda_differs(setup) == []


@pytest.mark.parametrize("hosts", [200, 2 * BY_COUNTING])
def test_many_arrivals_at_one_time(hosts):
    """In several blocks, sorted by counting or as Shell did; one pair in 512 has equal stamps. Links fail meanwhile."""
    fabric = LeafSpine(leaves=2, hosts_per_leaf=hosts // 2, spines=2, delay_s=2e-6, buffer_packets=12, links=FAILING)
    flows = flow_list([(host, (host + hosts // 2) % hosts, 20_000, 0.0) for host in range(hosts)])
    assert agenda_differs(setup_of(fabric, flows, "rps", end_ps=2 * 10**9)) == []


def test_long_links_are_beyond_the_last_bucket():
    """Else nothing above waits in the tree: 9 hosts of 1 Gbps and 4 hops make buckets of 4 us, some 17 ms in all."""
    assert 2**22 * BUCKETS < 0.03e12


@settings(max_examples=20, deadline=None)
@given(
    host_rate_bps=st.sampled_from([10e6, 1e9, 100e9]),
    rate_bps=st.sampled_from([10e6, 1e9, 100e9]),
    delay_s=st.sampled_from([0.0, 1e-6, 100e-6, 0.03]),
    seed=st.integers(0, 2**32),
)
def test_random_rates_and_delays(host_rate_bps, rate_bps, delay_s, seed):
    kind = small(host_rate_bps=host_rate_bps, rate_bps=rate_bps, delay_s=delay_s, links=FAILING)
    setup = setup_of(kind, random_flows(9, n_flows=12, rng=seed, within_us=100), "rps", hash_seed=seed, end_ps=10**12)
    assert agenda_differs(setup) == []


# -- the tree by itself


@njit(types.int64(types.int64, types.int64, types.int64), **FLAGS)
def set_one(tree, index, when):
    set_stamp(tree, index, when)
    return 0


@pytest.mark.parametrize("size", [1, 2, 4, 5, 17, 64, 100])
def test_the_root_is_the_earliest_leaf_and_of_equal_ones_the_leftmost(size):
    rng = np.random.default_rng(size)
    tree, stamps = tree_over(np.arange(size) + 7), np.full(size, NO_STAMP)
    leaves = len(tree) // 2
    for _ in range(300):
        leaf, when = int(rng.integers(size)), int(rng.choice([*range(5), NO_STAMP]))
        set_one(tree.ctypes.data, leaves + leaf, when)
        stamps[leaf] = when
        assert tree["stamp"][1] == stamps.min()
        if stamps.min() < NO_STAMP:
            assert tree["entity"][1] == stamps.argmin() + 7


@pytest.mark.parametrize(("old_size", "size"), [(3, 5), (16, 64), (20, 70)])
def test_a_larger_tree_has_the_events_of_the_smaller(old_size, size):
    rng = np.random.default_rng(size)
    old = tree_over(np.arange(old_size))
    for leaf in range(old_size):
        set_one(old.ctypes.data, len(old) // 2 + leaf, int(rng.integers(10)))
    tree = tree_over(np.arange(size))
    copy_block(old, 0, tree, 0, old_size)
    replay(tree, size)
    assert tree[1] == old[1]

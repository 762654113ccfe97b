"""Another simulator: what the ns-3 code of MMPTCP's authors gives for synchronised bursts, beside its habits here.

The values are from runs of the sockets of mkheirkhah/mmptcp (commit 9e5c3ff, ns-3.19): a fat-tree of four pods with 64
hosts, 100 Mb/s, 20 us a link, 100 packets a queue; 70 kB from each of n senders to one host at once; five seeds, which
draw senders, port numbers and paths, so only distributions can be compared. Their completion times begin with the
SYN-ACK, ours with the SYN, a third of a millisecond before it.

Flows alone, below, are of the same sockets and fat-tree, here with the queue of 100 packets at hosts too, and begin
with the SYN-ACK. The seeds draw the times of the further SYNs within 50 us; theirs are one run each.
"""

from dataclasses import replace

import numpy as np
import pytest
from support.engine_setups import flow_list

from capsim import Balancer, FatTree, ParallelPaths, scheme
from capsim.engines import run
from capsim.engines.state import Setup

pytestmark = pytest.mark.agreement

FABRIC = FatTree(pods=4, hosts_per_edge=8, delay_s=20e-6, buffer_packets=100, rate_bps=1e8).build()
THEIR_SEEDS, SEEDS = 5, 16
MOST_ERRORS = 4.0  # six comparisons: one in 2600 runs with other seeds fails if both are the same
MEAN_MS = {
    ("tcp", 20): 138.6,
    ("ps", 20): 155.2,
    ("limited transmit", 20): 112.9,
    ("tcp", 40): 212.0,
    ("ps", 40): 308.3,
    ("limited transmit", 40): 200.6,
}


SCHEMES = {
    "tcp": scheme("tcp_ns3"),
    "ps": scheme("ps_ns3"),
    "limited transmit": scheme("ps_ns3").with_params(transport={"limited_transmit": True}),
    "mptcp": scheme("mptcp_ns3"),
    "mptcp without the habits": scheme("mptcp_ns3").with_params(
        transport={"refuse_buffered": False, "repeat_join_syns": True, "data_acks": True},
        sharing={"scheduler": "round_robin"},
    ),
}


def burst_ms(name, senders, seed):
    """Return the completion times of a burst at the sender, NaN where a flow is never over."""
    hosts = np.random.default_rng(seed).permutation(FABRIC.n_hosts)[: senders + 1].tolist()
    flows = flow_list([(host, hosts[0], 70_000, 0.0) for host in hosts[1:]])
    seeds = {"hash_seed": seed, "spray_seed": seed, "tie_seed": seed}
    found = run(Setup(fabric=FABRIC, flows=flows, scheme=SCHEMES[name], end_ps=60 * 10**12, **seeds)).flows
    return np.where(found["acked_ps"] > 0, found["acked_ps"] / 1e9, np.nan)


@pytest.mark.parametrize(("name", "senders"), MEAN_MS)
def test_mean_completion_time_of_a_burst(name, senders):
    """Two samples of bursts; the error of theirs is what five of our bursts have."""
    means_ms = np.array([np.mean(burst_ms(name, senders, seed)) for seed in range(SEEDS)])
    error_ms = np.std(means_ms, ddof=1) * np.sqrt(1 / THEIR_SEEDS + 1 / SEEDS)
    assert error_ms < 0.07 * MEAN_MS[name, senders]  # an error of a third is found
    assert abs(np.mean(means_ms) - MEAN_MS[name, senders]) < MOST_ERRORS * error_ms


def test_their_mptcp_waits_for_seconds_and_loses_connections():
    """53 of 100 flows were over, the median of these 3.0 s; resets before a handshake is over are not modelled here."""
    times_ms = np.concatenate([burst_ms("mptcp", 20, seed) for seed in range(SEEDS)])
    over = np.mean(~np.isnan(times_ms))
    assert 0.53 < over < 0.9
    assert np.nanmedian(times_ms) == pytest.approx(3009, rel=0.05)


def test_without_the_habits_every_flow_is_over_and_waits_for_one_first_rto():
    """The joining subflows lose their first segments: 1.5 s, no longer that and the receiver's refusals."""
    times_ms = np.concatenate([burst_ms("mptcp without the habits", 20, seed) for seed in range(SEEDS)])
    assert not np.isnan(times_ms).any()
    assert np.median(times_ms) == pytest.approx(1500, rel=0.05)


QUEUES = {"delay_s": 20e-6, "buffer_packets": 100, "host_buffer_packets": 100, "rate_bps": 1e8}
ALONE = FatTree(pods=4, hosts_per_edge=8, **QUEUES).build()
OTHER_POD, SAME_POD, SAME_RACK = 63, 15, 1
JOIN_GAP_US = 50


def numbered(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
    """Give each subflow a path of its own."""
    return sub.number % len(candidates)


def alone(name, size, *, seed, fabric=ALONE, dst=1, engine="compiled"):
    """Return the records of a flow in an idle network, and its completion time since the SYN-ACK in us."""
    flows, seeds = flow_list([(0, dst, size, 0.0)]), {"hash_seed": seed, "spray_seed": seed, "tie_seed": seed}
    kind = scheme(name) if isinstance(name, str) else name
    found = run(Setup(fabric=fabric, flows=flows, scheme=kind, end_ps=60 * 10**12, **seeds), engine=engine)
    return found, (found.flows["acked_ps"][0] - found.subs["established_ps"][0]) / 1e6


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize(("dst", "theirs_us"), [(OTHER_POD, 14_688), (SAME_POD, 13_367), (SAME_RACK, 12_221.3)])
def test_the_change_of_phase_costs_what_it_costs_in_their_code(dst, theirs_us, engine):
    """140 kB: all have been handed to the first subflow before another is open."""
    for seed in range(3):
        found, ours_us = alone("mmptcp_ns3", 140_000, seed=seed, dst=dst, engine=engine)
        assert found.subs["end"][0] == 100
        assert abs(ours_us - theirs_us) < JOIN_GAP_US


def test_the_phase_changes_after_as_many_bytes_as_in_their_code():
    """163,800 or 165,200 bytes of a longer flow, by the gap that the first further SYN has drawn."""
    runs = [alone("mmptcp_ns3", 1_400_000, seed=seed, dst=OTHER_POD)[0] for seed in range(8)]
    assert {found.subs["end"][0] * 1400 for found in runs} == {163_800, 165_200}


def test_losses_at_the_own_link_cost_what_they_cost_in_their_code():
    """Eight disjoint paths of 100 Mb/s, a host link of 1 Gb/s: 1.4 MB take 220,948 us with 130 drops and 6 timeouts."""
    fabric = ParallelPaths(paths=8, hosts_per_side=1, host_rate_bps=1e9, **QUEUES | {"delay_s": 50e-6}).build()
    disjoint = replace(scheme("mptcp_ns3"), balancer=Balancer(name="numbered", choose=numbered, reads_queues=False))
    runs = [alone(disjoint, 1_400_000, seed=seed, fabric=fabric) for seed in range(12)]
    times_us = [time_us for _, time_us in runs]
    assert {found.subs["packets_dropped"].sum() for found, _ in runs} == {130}
    assert max(times_us) == pytest.approx(220_948, rel=0.01)
    assert np.median(times_us) == pytest.approx(220_948, rel=0.02)
    assert max(found.subs["timeouts"].sum() for found, _ in runs) == pytest.approx(6, abs=1)


@pytest.mark.parametrize(("name", "theirs_us"), [("mptcp_ns3", 130_840), ("mmptcp_ns3", 131_333)])
def test_what_remains_is_one_timeout(name, theirs_us):
    """1.4 MB to another pod, no timeout there: the answers to their FINs make up for it."""
    found, ours_us = alone(name, 1_400_000, seed=0, dst=OTHER_POD)
    assert found.subs["timeouts"].sum() == 1
    assert theirs_us < ours_us < theirs_us + 200_000

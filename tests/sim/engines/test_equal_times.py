"""Events at one time: no port, and so no host, is favoured by its number; jitter of hosts is what it says."""

from dataclasses import replace
from itertools import combinations, pairwise

import msgspec
import numpy as np
import pytest
from scipy import stats
from support.engine_setups import DUMBBELL, differences, flow_list, one_run, sent_by, setup_of

from capsim import LeafSpine, LinkChange
from capsim.engines import run
from capsim.engines.events import MANAGE, RECEIVE, SEND, TIMEOUT, WAKE, WAKES, tie
from capsim.engines.state import TRACE_OFF

pytestmark = pytest.mark.agreement

SENDERS = 4
STAR = LeafSpine(leaves=1, hosts_per_leaf=SENDERS + 1, spines=1, delay_s=10e-6, buffer_packets=100)


def completion_times(seed, **options):
    """Return the times that equal long flows into one host take, by number of the sender."""
    flows = flow_list([(host, SENDERS, 1_000_000, 0) for host in range(SENDERS)])
    setup = setup_of(STAR, flows, trace=TRACE_OFF, tie_seed=seed, **options)
    return run(setup).flows["received_ps"]


def test_no_host_is_favoured():
    times = np.array([completion_times(seed) for seed in range(60)])
    ranks = [stats.spearmanr(np.arange(SENDERS), row).statistic for row in times]
    assert stats.ttest_1samp(ranks, 0).pvalue > 1e-3
    first = np.bincount(times.argmin(axis=1), minlength=SENDERS)
    assert stats.chisquare(first).pvalue > 1e-3


def test_the_seed_of_ties_decides_and_is_repeated():
    assert np.array_equal(completion_times(1), completion_times(1))
    assert not np.array_equal(completion_times(1), completion_times(2))


def test_the_order_is_a_permutation_at_every_time_and_uniform_over_times():
    entities = range(8)
    for time_ps in (0, 12_000_000, 2**40):
        assert len({tie(7, time_ps, entity) for entity in entities}) == 8
    first = [min(entities, key=lambda entity: tie(7, 12_000 * tick, entity)) for tick in range(8000)]
    assert stats.chisquare(np.bincount(first, minlength=8)).pvalue > 1e-3


@pytest.mark.parametrize("step_ps", [1, 1000, 8000, 320_000, 12_000_000, 12_320_000])
def test_who_is_first_says_nothing_about_who_is_first_next(step_ps):
    ports, steps = (17, 18, 40, 900), 10_000
    keys = [[tie(5, 10**11 + step_ps * step, port) for port in ports] for step in range(steps)]
    first = np.argmin(keys, axis=1)
    assert stats.chisquare(np.bincount(first, minlength=len(ports))).pvalue > 1e-3
    again = int((first[1:] == first[:-1]).sum())
    assert stats.binomtest(again, steps - 1, 1 / len(ports)).pvalue > 1e-3


def test_retransmission_timers_precede_all_other_wakes_of_the_same_time():
    """Kind by kind: retransmissions, the layer at the sender, the layer at the receiver, further subflows."""
    kinds = [[tie(3, 500, number + place * WAKE) for number in range(50)] for place in range(len(WAKES))]
    assert WAKES == (TIMEOUT, SEND, RECEIVE, MANAGE)
    assert all(max(earlier) < min(later) for earlier, later in pairwise(kinds))


def star_with(host, rate_bps):
    """Return the star with another rate of one host's link, and room for one waiting packet."""
    link = LinkChange(between=(f"host{host}", "leaf0"), rate_bps=rate_bps, one_way=True)
    return msgspec.structs.replace(STAR, buffer_packets=1, links=(link,))


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize(("slow", "fast"), [(0, 1), (1, 0)])
def test_in_order_of_scheduling_the_packet_whose_transmission_began_first_is_first(slow, fast, engine):
    """Both reach the switch after 34 us: 24 + 10 from 0 on, and 12 + 10 from 12 us on."""
    flows = flow_list([(slow, SENDERS, 1460, 0), (fast, SENDERS, 1460, 12)])
    orders = set()
    for ordered in (True, False):
        for seed in range(8):
            setup = setup_of(star_with(slow, 0.5e9), flows, ordered=ordered, tie_seed=seed)
            orders.add((ordered, tuple(np.argsort(run(setup, engine=engine).flows["received_ps"]))))
    assert orders == {(True, (0, 1)), (False, (0, 1)), (False, (1, 0))}


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize(
    ("ordered", "rate_bps", "start_us", "dropped"),
    [
        (False, 1e9, 12.0, 0),
        (True, 1e9, 12.0, 1),
        (True, 10e9, 22.8, 0),
    ],
)
def test_in_order_of_scheduling_a_departure_makes_room_only_for_later_transmissions(
    ordered, rate_bps, start_us, dropped, engine
):
    """One packet is sent from 22 us on, one waits behind it; the third arrives after 34 us, when the first has left."""
    flows = flow_list([(0, SENDERS, 1460, 0), (1, SENDERS, 1460, 1), (2, SENDERS, 1460, start_us)])
    records = run(setup_of(star_with(2, rate_bps), flows, ordered=ordered), engine=engine)
    assert records.ports["packets_dropped"].sum() == dropped


@pytest.mark.parametrize("scheme", ["ecmp", "rps_pq"])
def test_engines_agree_with_jitter(scheme):
    flows = flow_list([(host, 3 + host, 60_000, host) for host in range(3)] + [(0, 4, 500_000, 0)])
    assert differences(setup_of(DUMBBELL, flows, scheme, host_jitter_ps=7_000_000)) == []


def test_jitter_delays_each_hosts_packet_by_less_than_the_bound_independently():
    jitter_ps, mss = 5_000_000, 1460
    flows = flow_list([(host, SENDERS, mss, 100) for host in range(SENDERS)])
    late = []
    for seed in range(200):
        setup = setup_of(STAR, flows, host_jitter_ps=jitter_ps, jitter_seed=seed)
        records = run(setup)
        arrived = records.trace[(records.trace["what"] == 2) & (records.trace["kind"] == 0)]
        at_switch = [arrived[arrived["port"] == setup.fabric.host_port[host]]["time_ps"][0] for host in range(SENDERS)]
        late.append([time_ps - 100_000_000 - 12_000_000 - 10_000_000 for time_ps in at_switch])
    assert np.min(late) >= 0
    assert np.max(late) < jitter_ps
    assert stats.kstest(np.ravel(late) / jitter_ps, "uniform").pvalue > 1e-3
    for one, other in combinations(range(SENDERS), 2):  # each host has delays of its own
        assert stats.spearmanr(np.array(late)[:, one], np.array(late)[:, other]).pvalue > 1e-3


def test_jitter_keeps_the_order_of_a_hosts_packets():
    records = one_run(setup_of(STAR, flow_list([(0, SENDERS, 100_000, 0)]), host_jitter_ps=50_000_000))
    assert records.subs[0]["reordered_packets"] == 0
    assert len(sent_by(records, setup_of(STAR, flow_list([(0, SENDERS, 100_000, 0)])))) == 69


@pytest.mark.parametrize("scheme", ["ecmp", "mptcp_olia", "caps", "pfabric"])
def test_engines_agree_with_a_jitter_of_flows(scheme):
    """And packets are conserved: those that wait on their way to the NIC are counted as held."""
    flows = flow_list([(host, 3 + host, 60_000, host) for host in range(3)] + [(0, 4, 500_000, 0)])
    setup = setup_of(DUMBBELL, flows, scheme, flow_jitter_ps=7_000_000)
    assert differences(setup) == []
    assert differences(replace(setup, encode_ps=2_000_000, host_jitter_ps=1_000_000)) == []


def test_a_jitter_of_flows_delays_each_packet_by_less_than_the_bound_and_keeps_the_order_of_a_flow():
    """Two flows of one host, which do not keep the order of each other; the first packets are late by uniform times."""
    jitter_ps = 200_000_000
    late, overtaken = [], 0
    for seed in range(100):
        flows = flow_list([(0, SENDERS, 10 * 1460, 0), (0, SENDERS, 10 * 1460, 0)])
        setup = setup_of(STAR, flows, flow_jitter_ps=jitter_ps, jitter_seed=seed)
        records = run(setup)
        sent = [sent_by(records, setup, sub) for sub in records.subs["id"].tolist()]
        assert [lines["segment"].tolist() for lines in sent] == 2 * [list(range(10))]
        late += [lines["time_ps"][0] for lines in sent]
        overtaken += int(records.subs["flow"][np.argmin(late[-2:])] == 1)
    assert stats.kstest(np.array(late) / jitter_ps, "uniform").pvalue > 1e-3
    assert 30 < overtaken < 70

"""Agreement: how likely spraying reorders a flow, against packets over 40 paths of which some are slow (CDCPS Fig. 4).

A probability near 0 or 1 can be wrong on one side only; an error of 0.04 is found wherever it is possible.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from agreement.measured.sprayed_reordering import PATHS, RATE_BPS, SPACING_S, sprayed_flows

from capsmodel.experiments.agreement import Count
from capsmodel.experiments.statistics.intervals import wilson_interval
from capsmodel.reordering.dup_acks import duplicate_acks_prob
from capsmodel.reordering.probability import expected_overtaken_packets, reordering_prob

pytestmark = pytest.mark.agreement

FLOWS, DETECT = 8000, 0.04
SLOW_PATHS = (1, 4, 10, 20, 30, 39)
FLOW_PACKETS = (2, 5, 10, 30)


@pytest.fixture
def flows(measured):
    """Return the counts of one setting; every setting has its own seed."""

    def counts(flow_packets: int, slow_paths: int, **setting: Any) -> pd.DataFrame:
        seed = 1000 * flow_packets + slow_paths
        payload = {"flow_packets": flow_packets, "slow_paths": slow_paths, "flows": FLOWS, "seed": seed}
        return measured(sprayed_flows, payload | setting)

    return counts


def at_least(column: pd.Series, least: int, found: pd.DataFrame) -> Count:
    return Count(successes=int(found["flows"][column >= least].sum()), trials=int(found["flows"].sum()))


def reordered(found: pd.DataFrame) -> Count:
    return at_least(found["overtaken_packets"], 1, found)


def overtaken(found: pd.DataFrame) -> np.ndarray:
    return np.repeat(found["overtaken_packets"], found["flows"]).to_numpy(float)


@pytest.mark.parametrize("slow_paths", SLOW_PATHS)
@pytest.mark.parametrize("flow_packets", FLOW_PACKETS)
def test_reordering_prob(flows, compare, flow_packets, slow_paths):
    model = reordering_prob(flow_packets, congested_prob=slow_paths / PATHS)
    verdict = compare(model, reordered(flows(flow_packets, slow_paths)), detect=DETECT)
    assert verdict, verdict


@pytest.mark.parametrize("slow_paths", [0, PATHS])
def test_paths_of_one_speed_keep_order(flows, slow_paths):
    assert reordered(flows(30, slow_paths)).successes == 0


@pytest.mark.parametrize("slow_paths", [4, 20])
@pytest.mark.parametrize("min_dup_acks", [1, 3, 6])
def test_duplicate_acks(flows, compare, min_dup_acks, slow_paths):
    found = flows(10, slow_paths)
    model = duplicate_acks_prob(min_dup_acks, flow_packets=10, congested_prob=slow_paths / PATHS)
    verdict = compare(model, at_least(found["duplicate_acks"], min_dup_acks, found), detect=DETECT)
    assert verdict, verdict


@pytest.mark.parametrize("slow_paths", [4, 20, 30])
def test_overtaken_packets(flows, compare, slow_paths):
    model = expected_overtaken_packets(10, congested_prob=slow_paths / PATHS)
    verdict = compare(model, overtaken(flows(10, slow_paths)), detect=0.1 * model)
    assert verdict, verdict


@pytest.mark.parametrize("flow_packets", [5, 10])
def test_half_of_the_paths_slow_is_worst(flows, flow_packets):
    """CDCPS Fig. 4: P_r rises until half of the paths are slow and falls beyond; neighbouring intervals are apart."""
    counts = [reordered(flows(flow_packets, slow_paths)) for slow_paths in SLOW_PATHS]
    intervals = [wilson_interval(count.successes, trials=count.trials) for count in counts]
    half = SLOW_PATHS.index(PATHS // 2)
    assert all(fewer.high < more.low for fewer, more in pairwise(intervals[: half + 1]))
    assert all(fewer.low > more.high for fewer, more in pairwise(intervals[half:]))


@pytest.mark.parametrize("slow_paths", [1, 4, 39])
def test_longer_flows_are_reordered_more(flows, slow_paths):
    counts = [reordered(flows(flow_packets, slow_paths)) for flow_packets in FLOW_PACKETS]
    intervals = [wilson_interval(count.successes, trials=count.trials) for count in counts]
    assert all(shorter.high < longer.low for shorter, longer in pairwise(intervals))


@pytest.mark.parametrize("slow_paths", [4, 20])
@pytest.mark.parametrize("reach_packets", [1, 2, 4])
def test_any_delay_beyond_one_spacing_is_enough(flows, compare, slow_paths, reach_packets):
    """A slow packet is overtaken by the next `reach_packets` only, and P_r does not change.

    Between a slow packet and a later fast one there are always two neighbours, slow and fast. Delays end half-way
    between two packets, so that no arrivals tie.
    """
    found = flows(10, slow_paths, slower_s=(reach_packets + 0.5) * SPACING_S)
    verdict = compare(reordering_prob(10, congested_prob=slow_paths / PATHS), reordered(found), detect=DETECT)
    assert verdict, verdict


@pytest.mark.parametrize("slow_paths", [4, 20, 36])
def test_too_close_to_overtake(flows, compare, slow_paths):
    """A delay of half a spacing: every later packet is still behind, where P_r is up to 0.99."""
    found = reordered(flows(10, slow_paths, slower_s=0.5 * SPACING_S))
    assert found.successes == 0
    verdict = compare(reordering_prob(10, congested_prob=slow_paths / PATHS), found, detect=DETECT)
    assert verdict.verdict == "disagrees"


@pytest.mark.parametrize("reach_packets", [1, 2, 4])
def test_short_delays_overtake_fewer_packets(flows, compare, reach_packets):
    """Packet i is overtaken if one of the next `reach_packets` is fast, so their number falls, unlike P_r."""
    slow, size = 0.5, 10
    found = overtaken(flows(size, PATHS // 2, slower_s=(reach_packets + 0.5) * SPACING_S))
    model = sum(slow * (1 - slow ** min(reach_packets, size - i)) for i in range(1, size + 1))
    verdict = compare(model, found, detect=0.1 * model)
    assert verdict, verdict
    unlimited = expected_overtaken_packets(size, congested_prob=slow)
    assert compare(unlimited, found, detect=0.1 * model).verdict == "disagrees"
    assert found.mean() < unlimited


def test_faster_hosts_reorder_without_a_slow_path(flows, compare):
    """Packets of a host ten times as fast as a path queue behind each other there; the model has no queue.

    30 packets over 40 equal paths, none slow: P_r = 0, yet most flows are reordered.
    """
    found = reordered(flows(30, 0, host_rate_bps=10 * RATE_BPS))
    assert compare(reordering_prob(30, congested_prob=0.0), found, detect=DETECT).verdict == "disagrees"
    assert wilson_interval(found.successes, trials=found.trials).low > 0.5

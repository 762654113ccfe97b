"""Agreement: how likely spraying reorders a flow, against packets over 40 paths of which some are slow (CDCPS Fig. 4).

All packets of a flow leave at once, one behind the other at the rate of a path, so that nothing queues; the slow paths
take longer by a delay of their own. No duplicate ACKs are acted upon, so each packet is sent once. Flows follow each
other at distances at which the fabric is empty.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from capsim.fabric.kinds import ParallelPaths
from capsim.fabric.traffic import Listed
from capsim.fabric.wiring import LinkChange
from capsim.scenario import Scenario
from capsim.simulate import simulate
from capsmodel.dup_acks import duplicate_acks_prob
from capsmodel.experiments.agreement import Agreement, Count, agreement
from capsmodel.reordering import expected_overtaken_packets, reordering_prob

PATHS, MSS, HEADER_BYTES, RATE_BPS = 40, 1460, 40, 1e9
SPACING_S = 8 * (MSS + HEADER_BYTES) / RATE_BPS
FLOWS, APART_S = 8000, 0.05
FAR_S = 5e-3  # longer than a flow of 100 packets takes to leave


@cache
def flows(
    flow_packets: int,
    slow_paths: int,
    slower_s: float = FAR_S,
    host_rate_bps: float = RATE_BPS,
    count: int = FLOWS,
    engine: str = "compiled",
) -> pd.DataFrame:
    """Return the flows of one run, alone in the fabric one after the other."""
    slow = tuple(
        LinkChange(between=("left", "right"), one_way=True, parallel=path + 1, delay_s=1e-6 + slower_s)
        for path in range(slow_paths)
    )
    result = simulate(
        Scenario(
            scheme="rps",
            fabric=ParallelPaths(
                paths=PATHS, hosts_per_side=1, rate_bps=RATE_BPS, host_rate_bps=host_rate_bps, delay_s=1e-6, links=slow
            ),
            traffic=(Listed(flows=tuple((0, 1, flow_packets * MSS, APART_S * i) for i in range(count))),),
            params={"transport": {"initial_window_packets": flow_packets, "dup_ack_threshold": 10_000}},
            seed=4,
            end_s=1e4,
        ),
        engine=engine,
    )
    assert result.summary.unfinished_flows == 0
    assert not result.flows[["timeouts", "retransmissions", "packets_dropped"]].to_numpy().any()
    return result.flows


def reordered(found: pd.DataFrame) -> Count:
    return Count(successes=int((found["reordered_packets"] > 0).sum()), trials=len(found))


def compare(model: float, found: pd.DataFrame) -> Agreement:
    """A probability near 0 or 1 leaves room for an error on one side only; 0.03 is found wherever there is room."""
    return agreement(model, reordered(found), detect=0.04)


@pytest.mark.parametrize("slow_paths", [1, 4, 10, 20, 30, 39])
@pytest.mark.parametrize("flow_packets", [2, 5, 10, 30])
def test_reordering_prob(flow_packets: int, slow_paths: int) -> None:
    model = reordering_prob(flow_packets, congested_prob=slow_paths / PATHS)
    verdict = compare(model, flows(flow_packets, slow_paths))
    assert verdict, verdict


@pytest.mark.parametrize("slow_paths", [0, PATHS])
def test_paths_of_one_speed_keep_order(slow_paths: int) -> None:
    assert not flows(30, slow_paths)["reordered_packets"].any()


@pytest.mark.parametrize("slow_paths", [4, 20])
@pytest.mark.parametrize("min_dup_acks", [1, 3, 6])
def test_duplicate_acks(min_dup_acks: int, slow_paths: int) -> None:
    found = flows(10, slow_paths)
    hits = int((found["duplicate_acks"] >= min_dup_acks).sum())
    model = duplicate_acks_prob(min_dup_acks, flow_packets=10, congested_prob=slow_paths / PATHS)
    verdict = agreement(model, Count(successes=hits, trials=len(found)), detect=0.04)
    assert verdict, verdict


@pytest.mark.parametrize("slow_paths", [4, 20, 30])
def test_overtaken_packets(slow_paths: int) -> None:
    model = expected_overtaken_packets(10, congested_prob=slow_paths / PATHS)
    verdict = agreement(model, flows(10, slow_paths)["reordered_packets"], detect=0.1 * model)
    assert verdict, verdict


@pytest.mark.parametrize("flow_packets", [5, 10])
def test_half_of_the_paths_slow_is_worst(flow_packets: int) -> None:
    """CDCPS Fig. 4: P_r rises until half of the paths are slow, falls beyond, and rises with the flow."""
    share = [(flows(flow_packets, slow)["reordered_packets"] > 0).mean() for slow in (1, 4, 10, 20, 30, 39)]
    assert np.argmax(share) == 3
    assert np.all(np.diff(share[:4]) > 0)
    assert np.all(np.diff(share[3:]) < 0)


@pytest.mark.parametrize("slow_paths", [4, 20])
@pytest.mark.parametrize("reach_packets", [1, 2, 4])
def test_any_delay_beyond_one_spacing_is_enough(slow_paths: int, reach_packets: int) -> None:
    """A slow packet is overtaken by the next `reach_packets` only, and P_r does not change.

    Between a slow packet and a later fast one there are always two neighbours, slow and fast. Delays end half-way
    between two packets, so that no arrivals tie.
    """
    found = flows(10, slow_paths, slower_s=(reach_packets + 0.5) * SPACING_S)
    verdict = compare(reordering_prob(10, congested_prob=slow_paths / PATHS), found)
    assert verdict, verdict


@pytest.mark.parametrize("slow_paths", [4, 20, 36])
def test_too_close_to_overtake(slow_paths: int) -> None:
    """A delay of half a spacing: every later packet is still behind, where P_r is up to 0.99."""
    found = flows(10, slow_paths, slower_s=0.5 * SPACING_S)
    assert not found["reordered_packets"].any()
    assert compare(reordering_prob(10, congested_prob=slow_paths / PATHS), found).verdict == "disagrees"


@pytest.mark.parametrize("reach_packets", [1, 2, 4])
def test_short_delays_overtake_fewer_packets(reach_packets: int) -> None:
    """Packet i is overtaken if one of the next `reach_packets` is fast, so their number falls, unlike P_r."""
    slow, size = 0.5, 10
    found = flows(size, 20, slower_s=(reach_packets + 0.5) * SPACING_S)["reordered_packets"]
    model = sum(slow * (1 - slow ** min(reach_packets, size - i)) for i in range(1, size + 1))
    assert agreement(model, found, detect=0.1 * model)
    unlimited = expected_overtaken_packets(size, congested_prob=slow)
    assert agreement(unlimited, found, detect=0.1 * model).verdict == "disagrees"


def test_faster_hosts_reorder_without_a_slow_path() -> None:
    """Packets of a host ten times as fast as a path queue behind each other there; the model has no such queue.

    30 packets over 40 equal paths, none slow: P_r = 0, yet most flows are reordered.
    """
    found = flows(30, 0, host_rate_bps=10 * RATE_BPS)
    assert agreement(0.0, reordered(found), detect=0.04).verdict == "disagrees"
    assert reordered(found).successes > 0.5 * len(found)


def test_reference_engine() -> None:
    slow, count = 10, 300
    ours, theirs = flows(10, slow, count=count), flows(10, slow, count=count, engine="reference")
    pd.testing.assert_frame_equal(ours, theirs)

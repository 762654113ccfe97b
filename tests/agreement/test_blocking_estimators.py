"""Agreement: estimators of the blocking probability against the share of ACKs whose packets met a long flow.

CAPS Fig. 4 and 19: short flows sprayed over 40 paths, steadily or in bursts, beside long flows, each on its own path.
Samples of the periods of a run are means over a third of it, about the cycle of a long flow's window.
"""

import numpy as np
import pandas as pd
import pytest

from capsmodel.coding.blocking import MISSED_SHARE_BIAS, twice_average_missed_share
from capsmodel.experiments.agreement import Count
from capsmodel.experiments.statistics.intervals import mean_interval, paired_difference, welch_difference
from capsmodel.papers.measurements.blocking_estimators import (
    BASE_RTT_S,
    PATHS,
    full_wait_s,
    path_rtts,
    sampling_periods,
    usual_rtts,
)

pytestmark = pytest.mark.agreement

RUNS = {"static": 6, "bursty": 8}  # bursts differ more from run to run
BELOW_ONE = np.nextafter(1, 0)  # where all are blocked, all are missed
ESTIMATES = ["blocked_prob", "twice_average_prob", "twice_smoothed_prob", "above_average_prob"]


@pytest.fixture
def periods(measured):
    """Return the function that gives true share and estimates of each sampling period, by run and third of it."""

    def rows_of(traffic, long_flows, **setting):
        payload = {"traffic": traffic, "long_flows": long_flows, "duration_s": 0.12} | setting
        rows = measured(sampling_periods, *({**payload, "seed": seed} for seed in range(1, RUNS[traffic] + 1)))
        third = rows.groupby("task_id")["time_s"].transform(lambda times: pd.qcut(times, 3, labels=False))
        return rows.set_index(["task_id", third])[ESTIMATES]

    return rows_of


def by_third(periods):
    return periods.groupby(level=[0, 1], sort=False).mean()


@pytest.fixture
def thirds(periods):
    """Return the function that gives true share and estimates, a row for each third of each run."""
    return lambda *setting, **more: by_third(periods(*setting, **more))


def by_run(frame):
    """Return one row for each run: the queue after a burst lasts longer than a third of it."""
    return frame.groupby(level="task_id", sort=False).mean()


@pytest.mark.parametrize("long_flows", [4, 8])
@pytest.mark.parametrize("traffic", ["static", "bursty"])
def test_share_of_packets_sent_to_blocked_paths(traffic, long_flows, measured, compare):
    """The model's p_B, paths with long flows over paths, is the share of packets that spraying sends to them."""
    payload = {"traffic": traffic, "long_flows": long_flows, "duration_s": 0.12}
    rows = measured(path_rtts, *({**payload, "seed": seed} for seed in (1, 2)))
    sent = int(rows.loc[rows["blocked"], "sent_packets"].sum())
    verdict = compare(long_flows / PATHS, Count(successes=sent, trials=int(rows["sent_packets"].sum())), detect=0.02)
    assert verdict, verdict


@pytest.mark.parametrize(("buffer_packets", "long_flows"), [(256, 4), (64, 4), (64, 8), (64, 16)])
def test_twice_average_beside_steady_long_flows(buffer_packets, long_flows, periods, measured, compare):
    """In each period it misses the derived share: hardly any at p = 0.1, half at 0.4 with a small buffer."""
    setting = {"buffer_packets": buffer_packets}
    found = periods("static", long_flows, **setting)
    payload = {"traffic": "static", "long_flows": long_flows, "duration_s": 0.12, "seed": 1} | setting
    missed = twice_average_missed_share(
        found["blocked_prob"].clip(upper=BELOW_ONE),
        usual_rtts_s=measured(usual_rtts, payload)["rtt_s"].to_numpy(),
        base_rtt_s=BASE_RTT_S,
        full_wait_s=full_wait_s(buffer_packets),
    )
    excess = by_third(found["twice_average_prob"] - found["blocked_prob"] * (1 - missed))
    p = long_flows / PATHS
    low = -MISSED_SHARE_BIAS * p
    verdict = compare(0.0, excess, bias=(low, 0.0), detect=(low - 0.06 * p, 0.06 * p))
    assert verdict, verdict


def test_estimates_beside_four_long_flows_are_right(thirds, compare):
    """CAPS Section VI-A: 4 of 40 paths; hardly any is missed, averaged or smoothed, and none is added."""
    found = thirds("static", 4)
    low = -MISSED_SHARE_BIAS * 4 / PATHS
    for estimate in ("twice_average_prob", "twice_smoothed_prob"):
        verdict = compare(0.0, found[estimate] - found["blocked_prob"], bias=(low, 0.0), detect=0.01)
        assert verdict, verdict


def test_smoothed_threshold_misses_less(thirds):
    """A period with more blocked ACKs than usual raises its average by all of them, the smoothed RTT by an eighth."""
    found = thirds("static", 16, buffer_packets=64)
    assert paired_difference(found["twice_smoothed_prob"], found["twice_average_prob"]).low > 0


def test_plain_average_finds_blocking_without_long_flows(thirds):
    """CDCPS counts every RTT above the mean as blocked: without any long flow it estimates more than 8 of 40 paths."""
    found = thirds("static", 0)
    assert not found["blocked_prob"].any()
    assert mean_interval(found["above_average_prob"]).low > 8 / PATHS
    assert mean_interval(found["twice_average_prob"]).high < 1 / PATHS
    beside = thirds("static", 4)
    assert paired_difference(beside["above_average_prob"], beside["blocked_prob"]).low > 0


def test_bursts_are_estimated_as_blocking(thirds):
    """No long flow: packets that queue behind their own burst count, more so against an RTT smoothed over the pause."""
    static, bursty = (by_run(thirds(traffic, 0)) for traffic in ("static", "bursty"))
    assert not bursty["blocked_prob"].any()
    assert welch_difference(bursty["twice_average_prob"], static["twice_average_prob"]).low > 0
    assert paired_difference(bursty["twice_smoothed_prob"], bursty["twice_average_prob"]).low > 0


def test_after_a_burst_most_acks_are_of_blocked_packets(thirds):
    """They arrive last, so periods contain more of them than one in ten, and they raise the average (Markov)."""
    found = by_run(thirds("bursty", 4))
    assert mean_interval(found["blocked_prob"]).low > 4 / PATHS
    assert paired_difference(found["blocked_prob"], found["twice_average_prob"]).low > 0

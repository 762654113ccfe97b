"""Agreement: LIA, uncoupled and fully coupled windows (DC2-MTCP Eq. 2, 3, 8) against packets on two lossy paths.

Paths of one loss probability stand for a bottleneck that both subflows cross, others for disjoint ones. What a subflow
sends in a round trip lies below its mean window: by `ROUND_TRIP_COST_PACKETS` for one TCP, which grows fastest, and by
less the slower the window grows. That is the declared bias of coupled windows, on one side.
"""

import numpy as np
import pandas as pd
import pytest
from agreement.measured.lossy_subflows import lossy_subflows

from capsmodel.multipath.fully_coupled import fully_coupled_mean_windows
from capsmodel.multipath.lia import lia_equilibrium_windows
from capsmodel.multipath.sawtooth import (
    ROUND_TRIP_COST_PACKETS,
    ROUND_TRIP_REMAINDER_PACKETS,
    TIMEOUT_REMAINDER_PACKETS,
    lia_mean_windows,
    newreno_packets_per_rtt,
)
from capsmodel.papers.measurements.means import mean_in_row

pytestmark = pytest.mark.agreement

PATHS = {"disjoint": (0.002, 0.008), "shared": (0.004, 0.004), "one loses three times as much": (0.003, 0.009)}
RTTS_S = (1.0, 1.0)


@pytest.fixture
def rows(measured):
    """Return a row for each of the two subflows."""

    def averages(name: str, scheme: str) -> pd.DataFrame:
        setting = {"connections": 54, "round_trips": 4000, "seed": 40 + list(PATHS).index(name)}
        return measured(lossy_subflows, {"loss_probs": PATHS[name], "scheme_name": scheme} | setting)

    return averages


@pytest.mark.parametrize("name", PATHS)
def test_each_uncoupled_subflow_sends_as_one_tcp(rows, compare, name):
    """So n of them on a shared bottleneck take n times what one TCP takes."""
    for (_, row), loss_prob in zip(rows(name, "mptcp_uc").iterrows(), PATHS[name], strict=True):
        model = newreno_packets_per_rtt(loss_prob)
        low, high = -ROUND_TRIP_REMAINDER_PACKETS - TIMEOUT_REMAINDER_PACKETS * loss_prob, ROUND_TRIP_REMAINDER_PACKETS
        sides = {"bias": (low, high), "detect": (low - 0.05 * model, high + 0.05 * model)}
        found = mean_in_row(row, "sent_packets_per_rtt")
        verdict = compare(model, found, **sides)
        assert verdict, (row["subflow"], str(verdict))


@pytest.mark.parametrize("name", PATHS)
def test_linked_subflows_send_together_what_their_windows_allow(rows, compare, name):
    model = float(np.sum(lia_mean_windows(PATHS[name], rtts_s=RTTS_S)))
    low, high = -2 * ROUND_TRIP_COST_PACKETS, max(PATHS[name]) * model
    found = mean_in_row(rows(name, "mptcp").iloc[0], "total_packets_per_rtt")
    verdict = compare(model, found, bias=(low, high), detect=(low - 0.05 * model, high + 0.05 * model))
    assert verdict, verdict


@pytest.mark.parametrize("name", PATHS)
def test_share_of_a_linked_subflow(rows, compare, name):
    """The equilibrium's shares; the bias is what the cost of either subflow, on one of them alone, would change."""
    windows = lia_mean_windows(PATHS[name], rtts_s=RTTS_S)
    equilibrium = lia_equilibrium_windows(PATHS[name], rtts_s=RTTS_S)
    model, cost = float(equilibrium[0] / equilibrium.sum()), ROUND_TRIP_COST_PACKETS
    low = float((windows[0] - cost) / (windows.sum() - cost)) - model
    high = float(windows[0] / (windows.sum() - cost)) - model
    found = mean_in_row(rows(name, "mptcp").iloc[0], "share")
    verdict = compare(model, found, bias=(low, high), detect=(low - 0.04, high + 0.04))
    assert verdict, verdict


@pytest.mark.parametrize("name", PATHS)
def test_fully_coupled_subflows_send_together_what_their_windows_allow(rows, compare, name):
    """Neither as much as two TCPs nor as little as one: the subflow with less than half of the total gives up less."""
    model = float(fully_coupled_mean_windows(PATHS[name]).sum())
    low, high = -2 * ROUND_TRIP_COST_PACKETS, max(PATHS[name]) * model
    found = mean_in_row(rows(name, "mptcp_fc").iloc[0], "total_packets_per_rtt")
    verdict = compare(model, found, bias=(low, high), detect=(low - 0.05 * model, high + 0.05 * model))
    assert verdict, verdict


@pytest.mark.parametrize("name", PATHS)
def test_share_of_a_fully_coupled_subflow(rows, compare, name):
    """The bias is what the cost of either subflow, on one of them alone, would change."""
    windows, cost = fully_coupled_mean_windows(PATHS[name]), ROUND_TRIP_COST_PACKETS
    model = float(windows[0] / windows.sum())
    low = float((windows[0] - cost) / (windows.sum() - cost)) - model
    high = float(windows[0] / (windows.sum() - cost)) - model
    found = mean_in_row(rows(name, "mptcp_fc").iloc[0], "share")
    verdict = compare(model, found, bias=(low, high), detect=(low - 0.05, high + 0.05))
    assert verdict, verdict


@pytest.mark.parametrize("scheme", ["mptcp_fc", "mptcp_olia"])
@pytest.mark.parametrize("name", ["disjoint", "one loses three times as much"])
def test_others_leave_more_to_the_better_path(rows, compare, name, scheme):
    """LIA's compromise (RFC 6356, section 1): fully coupled windows and OLIA leave less on the path that loses more."""
    linked = mean_in_row(rows(name, "mptcp").iloc[0], "share")
    found = mean_in_row(rows(name, scheme).iloc[0], "share")
    assert compare(linked.mean, found, detect=0.03).verdict == "disagrees"
    assert found.mean > linked.mean


@pytest.mark.parametrize("scheme", ["mptcp", "mptcp_uc", "mptcp_fc", "mptcp_olia"])
def test_equal_paths_have_equal_shares(rows, compare, scheme):
    verdict = compare(0.5, mean_in_row(rows("shared", scheme).iloc[0], "share"), detect=0.06)
    assert verdict, verdict

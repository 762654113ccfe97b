"""Agreement: LIA windows, and the rate they give (DC2-MTCP Eq. 2, 3, 8, 9), against windows with random losses.

The equations put one number for a window that swings between W and W/2. What that costs is derived in
`capsmodel.window_swing` and declared as the bias of the equilibrium; what the process must satisfy exactly, the
balance of gains and losses, checks the process itself. Steps of one packet are declared as a relative error p.
"""

import numpy as np
import pytest

from capsmodel.congestion import (
    WINDOW_FLUCTUATION_BIAS,
    best_path_rate_per_s,
    lia_equilibrium_windows,
    single_path_window,
)
from capsmodel.experiments.measurements.means import mean_in_row
from capsmodel.window_swing import SINGLE_PATH_SHARE, TOTAL_SWING_BIAS, lia_mean_windows, single_path_mean_window

FUNCTION = "capsmodel.experiments.measurements.coupled_windows.averaged_windows"
CONNECTIONS = 400
PATHS = {
    "one path": ((0.005,), (1.0,)),
    "two alike": ((0.01, 0.01), (1.0, 1.0)),
    "one loses twice as much": ((0.01, 0.02), (1.0, 1.0)),
    "one loses ten times as much": ((0.003, 0.03), (1.0, 1.0)),
    "one takes four times as long": ((0.01, 0.01), (1.0, 4.0)),
    "lossy and short, clean and long": ((0.02, 0.01), (1.0, 2.0)),
    "four alike": ((0.005,) * 4, (1.0,) * 4),
    "four that differ": ((0.002, 0.01, 0.01, 0.03), (1.0, 1.0, 2.0, 3.0)),
    "eight alike": ((0.003,) * 8, (1.0,) * 8),
}
MULTIPATH = [name for name in PATHS if name != "one path"]
EQUILIBRIUM = [name for name in MULTIPATH if name != "eight alike"]  # the bias is declared for up to five paths


@pytest.fixture
def rows(measured):
    """Return one row for each subflow of a setting."""

    def averages(name: str):
        loss_probs, rtts_s = PATHS[name]
        payload = {"loss_probs": loss_probs, "rtts_s": rtts_s, "connections": CONNECTIONS, "packets": 25_000}
        return measured(FUNCTION, payload | {"seed": list(PATHS).index(name)})

    return averages


def test_one_path_swings_as_derived(rows, compare):
    model = single_path_mean_window(0.005)
    found = mean_in_row(rows("one path").iloc[0], "window_packets")
    verdict = compare(model, found, bias=0.005 * model, detect=0.03 * model)
    assert verdict, verdict


def test_gains_balance_losses_on_one_path(rows, compare):
    """Exact for the process: (1-p) packets gained for each round trip are p/2 of the mean square window."""
    model = float(single_path_window(0.005)) ** 2
    verdict = compare(model, mean_in_row(rows("one path").iloc[0], "square_packets2"), detect=0.05 * model)
    assert verdict, verdict


@pytest.mark.parametrize("name", EQUILIBRIUM)
def test_total_window_at_equilibrium(rows, compare, name):
    loss_probs, rtts_s = PATHS[name]
    model = float(np.sum(lia_equilibrium_windows(loss_probs, rtts_s=rtts_s)))
    bias = WINDOW_FLUCTUATION_BIAS * model
    verdict = compare(model, mean_in_row(rows(name).iloc[0], "total_packets"), bias=bias, detect=bias + 0.03 * model)
    assert verdict, verdict


@pytest.mark.parametrize("name", MULTIPATH)
def test_total_of_swinging_windows(rows, compare, name):
    loss_probs, rtts_s = PATHS[name]
    model = float(np.sum(lia_mean_windows(loss_probs, rtts_s=rtts_s)))
    bias = TOTAL_SWING_BIAS * model
    verdict = compare(model, mean_in_row(rows(name).iloc[0], "total_packets"), bias=bias, detect=bias + 0.03 * model)
    assert verdict, verdict


def test_eight_alike_paths_lie_beyond_the_bias_of_the_equilibrium(rows, compare):
    loss_probs, rtts_s = PATHS["eight alike"]
    model = float(np.sum(lia_equilibrium_windows(loss_probs, rtts_s=rtts_s)))
    bias = WINDOW_FLUCTUATION_BIAS * model
    verdict = compare(model, mean_in_row(rows("eight alike").iloc[0], "total_packets"), bias=bias, detect=1.2 * bias)
    assert verdict.verdict == "disagrees"
    assert verdict.measured > model


@pytest.mark.parametrize("name", MULTIPATH)
def test_share_of_each_subflow(rows, compare, name):
    """How the total is divided is right much more closely than the total itself."""
    loss_probs, rtts_s = PATHS[name]
    windows = lia_equilibrium_windows(loss_probs, rtts_s=rtts_s)
    for (_, row), window in zip(rows(name).iterrows(), windows, strict=True):
        model = float(window / windows.sum())
        verdict = compare(model, mean_in_row(row, "window_share"), bias=max(loss_probs) * model, detect=0.05)
        assert verdict, (row["subflow"], str(verdict))


@pytest.mark.parametrize("name", ["two alike", "four alike", "eight alike"])
def test_alike_paths_take_more_than_one_tcp(rows, compare, name):
    """Eq. 9 says at most one TCP. LIA scales by the largest window of the moment, which exceeds the largest mean.

    One TCP is the same process on one path, so it swings too.
    """
    loss_probs, rtts_s = PATHS[name]
    one_tcp = SINGLE_PATH_SHARE * best_path_rate_per_s(loss_probs, rtts_s=rtts_s)
    step = loss_probs[0] * one_tcp
    verdict = compare(one_tcp, mean_in_row(rows(name).iloc[0], "packets_per_s"), bias=step, detect=0.05 * one_tcp)
    assert verdict.verdict == "disagrees"
    assert verdict.measured > one_tcp

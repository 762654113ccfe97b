"""Agreement: LIA windows, and the rate they give (DC2-MTCP Eq. 2, 3, 8, 9), against windows with random losses.

The equations use one number for a window that varies between W and W/2. The resulting error is derived in
`capsmodel.multipath.sawtooth`, with a one-sided bias. The process itself is checked by an exact identity, the balance
of gains and losses. Steps of one packet are declared as a relative error p. Fully coupled windows of two subflows have
no equilibrium that packets keep to; what is compared is the distribution of their process, with the error of its grid.
"""

import numpy as np
import pytest
from agreement.measured.coupled_windows import averaged_windows
from agreement.measured.fully_coupled_windows import fully_coupled_windows

from capsmodel.multipath.fully_coupled import fully_coupled_mean_windows, fully_coupled_total_window
from capsmodel.multipath.lia import best_path_rate_per_s, lia_equilibrium_windows, single_path_window
from capsmodel.multipath.sawtooth import (
    SINGLE_PATH_SHARE,
    lia_mean_windows,
    single_path_mean_window,
    total_fluctuation_bias,
)
from capsmodel.papers.measurements.means import mean_in_row

pytestmark = pytest.mark.agreement

SIZES = {"connections": 330, "packets": 25_000}
SIZES_EIGHT = {"connections": 200, "packets": 60_000}  # a quarter as many, the warm-up, must suffice
PATHS = {
    "one path": ((0.005,), (1.0,)),
    "two identical": ((0.01, 0.01), (1.0, 1.0)),
    "one loses twice as much": ((0.01, 0.02), (1.0, 1.0)),
    "one loses ten times as much": ((0.003, 0.03), (1.0, 1.0)),
    "one takes four times as long": ((0.01, 0.01), (1.0, 4.0)),
    "lossy and short, clean and long": ((0.02, 0.01), (1.0, 2.0)),
    "four identical": ((0.005,) * 4, (1.0,) * 4),
    "four that differ": ((0.002, 0.01, 0.01, 0.03), (1.0, 1.0, 2.0, 3.0)),
    "eight identical": ((0.003,) * 8, (1.0,) * 8),
}
MULTIPATH = [name for name in PATHS if name != "one path"]
IDENTICAL = ["four identical", "eight identical"]
DIFFERENT = [name for name in MULTIPATH if "identical" not in name]
FULLY_COUPLED = {"alike": (0.01, 0.01), "one loses four times as much": (0.004, 0.016)}
GRID = 0.005  # what the grid of the fully coupled windows may change, over their total


@pytest.fixture
def rows(measured):
    """Return one row for each subflow of a setting."""

    def averages(name: str):
        loss_probs, rtts_s = PATHS[name]
        payload = {"loss_probs": loss_probs, "rtts_s": rtts_s, "seed": list(PATHS).index(name)}
        return measured(averaged_windows, payload | (SIZES_EIGHT if name == "eight identical" else SIZES))

    return averages


def test_mean_window_of_one_path_is_as_derived(rows, compare):
    model = single_path_mean_window(0.005)
    found = mean_in_row(rows("one path").iloc[0], "window_packets")
    verdict = compare(model, found, bias=0.005 * model, detect=0.03 * model)
    assert verdict, verdict


def test_gains_balance_losses_on_one_path(rows, compare):
    """Exact for the process: (1-p) packets gained for each round trip are p/2 of the mean square window."""
    model = float(single_path_window(0.005)) ** 2
    verdict = compare(model, mean_in_row(rows("one path").iloc[0], "square_packets2"), detect=0.05 * model)
    assert verdict, verdict


@pytest.mark.parametrize("name", MULTIPATH)
def test_total_of_sawtooth_windows(rows, compare, name):
    """The bias is one-sided except for the steps of one packet."""
    loss_probs, rtts_s = PATHS[name]
    model = float(np.sum(lia_mean_windows(loss_probs, rtts_s=rtts_s)))
    low, high = -max(loss_probs), total_fluctuation_bias(loss_probs, rtts_s=rtts_s) + max(loss_probs)
    sides = {"bias": (low * model, high * model), "detect": ((low - 0.03) * model, (high + 0.03) * model)}
    verdict = compare(model, mean_in_row(rows(name).iloc[0], "total_packets"), **sides)
    assert verdict, verdict


@pytest.mark.parametrize("name", DIFFERENT + IDENTICAL)
def test_equilibrium_windows_are_too_high_or_too_low(rows, compare, name):
    """The equilibrium is too high where one path dominates, and too low on many identical ones."""
    loss_probs, rtts_s = PATHS[name]
    model = float(np.sum(lia_equilibrium_windows(loss_probs, rtts_s=rtts_s)))
    found = mean_in_row(rows(name).iloc[0], "total_packets")
    assert compare(model, found, detect=0.06 * model).verdict == "disagrees"
    assert (found.mean < model) == (name in DIFFERENT)


@pytest.mark.parametrize("name", MULTIPATH)
def test_share_of_each_subflow(rows, compare, name):
    """The shares of the total are much closer than the total itself."""
    loss_probs, rtts_s = PATHS[name]
    windows = lia_equilibrium_windows(loss_probs, rtts_s=rtts_s)
    for (_, row), window in zip(rows(name).iterrows(), windows, strict=True):
        model = float(window / windows.sum())
        verdict = compare(model, mean_in_row(row, "window_share"), bias=max(loss_probs) * model, detect=0.05)
        assert verdict, (row["subflow"], str(verdict))


@pytest.mark.parametrize("name", ["two identical", "four identical", "eight identical"])
def test_identical_paths_take_more_than_one_tcp(rows, compare, name):
    """Eq. 9 says at most one TCP; LIA scales by the largest window at each moment, which exceeds the largest mean.

    One TCP is the same process on one path, so its window follows a sawtooth too.
    """
    loss_probs, rtts_s = PATHS[name]
    one_tcp = SINGLE_PATH_SHARE * best_path_rate_per_s(loss_probs, rtts_s=rtts_s)
    step = loss_probs[0] * one_tcp
    verdict = compare(one_tcp, mean_in_row(rows(name).iloc[0], "packets_per_s"), bias=step, detect=0.05 * one_tcp)
    assert verdict.verdict == "disagrees"
    assert verdict.measured > one_tcp


@pytest.fixture
def fully_coupled_rows(measured):
    """Return one row for each of two fully coupled subflows."""

    def averages(name: str):
        setting = {"least_window_packets": 2.0, "seed": 20 + list(FULLY_COUPLED).index(name)}
        return measured(fully_coupled_windows, {"loss_probs": FULLY_COUPLED[name]} | SIZES | setting)

    return averages


@pytest.mark.parametrize("name", FULLY_COUPLED)
def test_total_of_fully_coupled_windows(fully_coupled_rows, compare, name):
    model = float(fully_coupled_mean_windows(FULLY_COUPLED[name]).sum())
    found = mean_in_row(fully_coupled_rows(name).iloc[0], "total_packets")
    verdict = compare(model, found, bias=(max(FULLY_COUPLED[name]) + GRID) * model, detect=0.05 * model)
    assert verdict, verdict


@pytest.mark.parametrize("name", FULLY_COUPLED)
def test_share_of_a_fully_coupled_subflow(fully_coupled_rows, compare, name):
    windows = fully_coupled_mean_windows(FULLY_COUPLED[name])
    found = mean_in_row(fully_coupled_rows(name).iloc[0], "window_share")
    bias = max(FULLY_COUPLED[name]) + GRID
    verdict = compare(float(windows[0] / windows.sum()), found, bias=bias, detect=0.05)
    assert verdict, verdict


@pytest.mark.parametrize("name", FULLY_COUPLED)
def test_fully_coupled_windows_do_not_keep_their_equilibrium(fully_coupled_rows, compare, name):
    """Alike ones give up less than half of the total for a loss; where one loses more, packets of both are lost."""
    model = fully_coupled_total_window(FULLY_COUPLED[name])
    found = mean_in_row(fully_coupled_rows(name).iloc[0], "total_packets")
    assert compare(model, found, detect=0.02 * model).verdict == "disagrees"
    assert (found.mean > model) == (name == "alike")

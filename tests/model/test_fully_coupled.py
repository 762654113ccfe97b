"""Fully coupled windows: equilibrium, balance of gains and losses, limits, and refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsmodel.checks import ParameterError
from capsmodel.multipath import fully_coupled
from capsmodel.multipath.fully_coupled import fully_coupled_mean_windows, fully_coupled_total_window
from capsmodel.multipath.lia import fully_coupled_increase, single_path_window
from capsmodel.multipath.sawtooth import single_path_mean_window

PAIRS = [(0.004, 0.004), (0.009, 0.003), (0.01, 0.1), (0.0001, 0.001)]


@given(st.lists(st.floats(1e-9, 0.999), min_size=1, max_size=6))
def test_at_the_equilibrium_growth_balances_half_of_the_total_where_least_is_lost(loss_probs):
    total = fully_coupled_total_window(loss_probs)
    growth = fully_coupled_increase([total])[0]
    drift = growth * (1 - np.array(loss_probs)) - np.array(loss_probs) * total / 2
    best = int(np.argmin(loss_probs))
    assert drift[best] == pytest.approx(0, abs=1e-12 * total)
    assert np.all(np.delete(drift, best) <= 1e-12 * total)  # the others shrink


def test_total_window_over_the_last_axis():
    found = fully_coupled_total_window([[0.1, 0.02], [0.3, 0.3]])
    np.testing.assert_array_equal(found, single_path_window([0.02, 0.3]))


@pytest.mark.agreement
@pytest.mark.parametrize("pair", PAIRS)
def test_a_finer_grid_changes_no_window_by_more_than_stated(pair, monkeypatch):
    windows = fully_coupled_mean_windows(pair, least_window_packets=1)
    monkeypatch.setattr(fully_coupled, "_TOTALS", 600)
    monkeypatch.setattr(fully_coupled, "_SHARES", 300)
    finer = fully_coupled_mean_windows(pair, least_window_packets=1)
    np.testing.assert_allclose(windows, finer, rtol=0, atol=0.0025 * windows.sum())


def test_paths_are_alike_for_the_order_in_which_they_are_given():
    windows = fully_coupled_mean_windows([[0.002, 0.008], [0.008, 0.002]])
    np.testing.assert_allclose(windows[0], windows[1][::-1], rtol=1e-6)


def test_unequal_paths_against_packets():
    """Means over 2e8 packets that were sent by the rules one by one, 34.07 and 6.00, with a standard error of 0.06."""
    windows = fully_coupled_mean_windows([0.001, 0.003], least_window_packets=1)
    np.testing.assert_allclose(windows, [34.07, 6.00], rtol=0, atol=0.005 * 40.07)


def test_a_path_that_loses_much_leaves_one_tcp_to_the_other():
    windows = fully_coupled_mean_windows([0.0002, 0.1], least_window_packets=1)
    assert windows[1] == pytest.approx(1, abs=0.1)
    assert windows.sum() == pytest.approx(single_path_mean_window(0.0002), rel=0.01)


def test_alike_paths_exceed_one_tcp_and_less_with_less_loss():
    """Two equal shares give up a half, unequal ones down to 7/16 of the total for each loss: sqrt(8/7) at most."""
    excess = [fully_coupled_mean_windows([p, p]).sum() / single_path_mean_window(p) for p in (1e-2, 1e-3, 1e-4)]
    assert excess == sorted(excess, reverse=True)
    assert 1 < excess[-1] < np.sqrt(8 / 7)


@pytest.mark.parametrize(
    ("loss_probs", "least", "told"),
    [
        ([0.01], 2, "1 paths"),
        ([0.01] * 3, 2, "3 paths"),
        ([0.01, 0.2], 2, "between 0.0001 and 0.1"),
        ([0.00001, 0.1], 2, "between 0.0001 and 0.1"),
        ([0.01, 0.01], 0.5, "at least 1"),
        ([0.01, 0.01], 64, "= 64 is too far above the windows at equilibrium"),
    ],
)
def test_refusals(loss_probs, least, told):
    with pytest.raises(ParameterError, match=told):
        fully_coupled_mean_windows(loss_probs, least_window_packets=least)
    with pytest.raises(ParameterError):
        fully_coupled_total_window([0.0, 0.1])

"""Identity tests of the mean windows of swinging senders: mpmath, limits, symmetry."""

import numpy as np
import pytest
from mpmath import e1, exp, inf, log, mp, mpf, nprod, pi, quad, sqrt

from capsmodel._checks import ParameterError
from capsmodel.congestion import WINDOW_FLUCTUATION_BIAS, best_path_rate_per_s, single_path_window
from capsmodel.window_swing import SINGLE_PATH_SHARE, TOTAL_SWING_BIAS, lia_mean_windows, single_path_mean_window

DIGITS = 25
TERMS = range(40)


def weight(k: int):
    """Return the weight of 2^k exp(-2^k y) in the density of Y."""
    return nprod(lambda j: 1 if j == k else 1 / (1 - mpf(2) ** (k - j)), [0, 80])


def mean_maximum(paths: int):
    """Return the mean of the largest of some independent X, from the density of Y integrated term by term."""
    weights = [weight(k) for k in TERMS]

    def tail(x):
        return sum(w * mpf(2) ** k * e1(mpf(2) ** k * x) for k, w in enumerate(weights)) / log(2)

    return quad(lambda t: exp(t) * (1 - (1 - tail(exp(t))) ** paths), [-50, -10, -3, 0, 2, 5])


def test_single_path_share() -> None:
    with mp.workdps(DIGITS):
        transform = quad(lambda u: 2 / nprod(lambda k: 1 + u**2 * mpf(4) ** -k, [0, 60]), [0, 1, 10, inf])
        assert pytest.approx(float(sqrt(pi) / transform), abs=1e-8) == SINGLE_PATH_SHARE
    assert single_path_mean_window([0.1, 0.01]) == pytest.approx(SINGLE_PATH_SHARE * single_path_window([0.1, 0.01]))


def test_one_path_and_the_bias_that_follows() -> None:
    """E[X] = 1/ln 2: one path is held to swing with the total at rest, which is what the declared bias makes good."""
    share = lia_mean_windows([0.01], rtts_s=[0.3])[0] / single_path_window(0.01)
    assert share == pytest.approx((2 * np.log(2)) ** -0.5, rel=1e-12)
    assert share == pytest.approx(1 - WINDOW_FLUCTUATION_BIAS, rel=1e-12)
    assert share * (1 + TOTAL_SWING_BIAS) == pytest.approx(SINGLE_PATH_SHARE, rel=1e-12)


@pytest.mark.parametrize("paths", [2, 4])
def test_alike_paths(paths: int) -> None:
    with mp.workdps(DIGITS):
        expected = float(sqrt(mean_maximum(paths) / 2))
    total = lia_mean_windows([0.02] * paths, rtts_s=[1.0] * paths).sum()
    assert total / single_path_window(0.02) == pytest.approx(expected, rel=1e-10)


def test_equilibrium_is_within_its_declared_bias_on_up_to_five_alike_paths() -> None:
    swing = [lia_mean_windows([0.01] * n, rtts_s=[1.0] * n).sum() / single_path_window(0.01) for n in range(1, 7)]
    assert np.all(np.abs(np.array(swing[:5]) - 1) <= WINDOW_FLUCTUATION_BIAS + 1e-12)
    assert swing[5] > 1 + WINDOW_FLUCTUATION_BIAS


def test_windows_follow_loss_and_not_the_order_of_paths() -> None:
    loss, rtts = np.array([0.002, 0.01, 0.03]), np.array([1.0, 2.0, 0.7])
    windows = lia_mean_windows(loss, rtts_s=rtts)
    assert windows * loss / (1 - loss) == pytest.approx(np.full(3, windows[0] * 0.002 / 0.998))
    assert lia_mean_windows(loss[::-1], rtts_s=rtts[::-1]) == pytest.approx(windows[::-1])
    assert lia_mean_windows(np.stack([loss, loss]), rtts_s=rtts) == pytest.approx(np.stack([windows, windows]))
    assert lia_mean_windows(loss, rtts_s=1e-6 * rtts) == pytest.approx(windows)
    rate = np.sum(windows / rtts)
    best = best_path_rate_per_s(loss, rtts_s=rtts)
    assert 1 - WINDOW_FLUCTUATION_BIAS < rate / best < 1 + WINDOW_FLUCTUATION_BIAS


@pytest.mark.parametrize(("loss", "rtts"), [([0.0, 0.1], [1.0, 1.0]), ([0.1, 1.0], [1.0, 1.0]), ([0.1], [0.0])])
def test_bad_input(loss: list[float], rtts: list[float]) -> None:
    with pytest.raises(ParameterError):
        lia_mean_windows(loss, rtts_s=rtts)

"""Identity tests of the mean windows of senders that halve at each loss: mpmath, limits, symmetry."""

from fractions import Fraction

import numpy as np
import pytest
from mpmath import e1, exp, fprod, inf, log, mp, mpf, pi, quad, sqrt

from capsmodel.checks import ParameterError
from capsmodel.multipath.lia import WINDOW_FLUCTUATION_BIAS, best_path_rate_per_s, single_path_window
from capsmodel.multipath.sawtooth import (
    ROUND_TRIP_COST_PACKETS,
    SINGLE_PATH_SHARE,
    TOTAL_FLUCTUATION_BIAS,
    lia_mean_windows,
    newreno_packets_per_rtt,
    single_path_mean_window,
    total_fluctuation_bias,
)

DIGITS = 18
SCALES = [mpf(4) ** -k for k in range(61)]
TERMS = range(14)  # weights fall as 2^(-k (k + 1) / 2): beyond, less than 10^-25


def weight(k: int):
    """Return the weight of 2^k exp(-2^k y) in the density of Y."""
    return fprod(1 / (1 - mpf(2) ** (k - j)) for j in range(81) if j != k)


def mean_maximum(paths: int):
    """Return the mean of the largest of some independent X, from the density of Y integrated term by term."""
    weights = [weight(k) for k in TERMS]

    def tail(x):
        return sum(w * mpf(2) ** k * e1(mpf(2) ** k * x) for k, w in enumerate(weights)) / log(2)

    return quad(lambda t: exp(t) * (1 - (1 - tail(exp(t))) ** paths), [-50, -10, -3, 0, 2, 5])


def test_single_path_share() -> None:
    with mp.workdps(DIGITS):
        transform = quad(lambda u: 2 / fprod(1 + u**2 * scale for scale in SCALES), [0, 1, 10, inf])
        assert pytest.approx(float(sqrt(pi) / transform), abs=1e-8) == SINGLE_PATH_SHARE
    assert single_path_mean_window([0.1, 0.01]) == pytest.approx(SINGLE_PATH_SHARE * single_path_window([0.1, 0.01]))


def test_moments_behind_the_cost_of_round_trips() -> None:
    """With Y = p W²/2 at a packet: E[1/W] = p ln2 E[W] says E[1/Y] = 2 ln2; E[W²] = 2/p says E[√Y] = E[1/√Y]."""
    with mp.workdps(DIGITS):

        def transform(s):
            return fprod(1 / (1 + s * scale) for scale in SCALES)

        ends = [0, 1, 10, 100, inf]
        assert float(quad(transform, ends) / (2 * log(2))) == pytest.approx(1, abs=1e-8)
        root = quad(lambda u: (1 - transform(u * u)) / u**2, [0, 1, 10, 100, inf]) / sqrt(pi)
        inverse_root = quad(lambda u: 2 * transform(u * u), ends) / sqrt(pi)
        assert float(root / inverse_root) == pytest.approx(1, abs=1e-6)


def recovery_round_trips(window: int, at: int) -> Fraction:
    """Return how long W packets take that neither open the window nor halve it, one of a burst being lost.

    From the loss to the end of the burst after the next one: all that is sent, and the round trips it takes, less what
    keeps the pace of half the window.
    """
    sent = (window - at) + max(window // 2, at) + window // 2
    lasts = 3 - Fraction(at, window)
    return lasts - Fraction(sent - window, window // 2)


def test_cost_of_round_trips() -> None:
    window = 1000
    mean = sum(recovery_round_trips(window, at) for at in range(window)) / window
    assert float(mean) == pytest.approx(5 / 4, abs=1 / window)
    squares = 2 * SINGLE_PATH_SHARE**2  # p E[W]²
    assert squares * np.log(2) + squares * 5 / 4 - 2 == pytest.approx(ROUND_TRIP_COST_PACKETS, rel=1e-12)
    loss = np.array([0.01, 0.001])
    assert newreno_packets_per_rtt(loss) == pytest.approx(single_path_mean_window(loss) - ROUND_TRIP_COST_PACKETS)


def test_bias_of_the_total_falls_with_the_paths_that_share_it() -> None:
    assert total_fluctuation_bias([0.02], rtts_s=[3.0]) == pytest.approx(TOTAL_FLUCTUATION_BIAS)
    assert total_fluctuation_bias([0.02] * 5, rtts_s=[3.0] * 5) == pytest.approx(TOTAL_FLUCTUATION_BIAS / 5)
    assert total_fluctuation_bias([[0.01, 0.9], [0.9, 0.9]], rtts_s=[1.0, 1.0])[0] > 0.99 * TOTAL_FLUCTUATION_BIAS


def test_one_path_and_the_bias_that_follows() -> None:
    """E[X] = 1/ln 2: one path is taken to fluctuate with a constant total; the declared bias makes up for it."""
    share = lia_mean_windows([0.01], rtts_s=[0.3])[0] / single_path_window(0.01)
    assert share == pytest.approx((2 * np.log(2)) ** -0.5, rel=1e-12)
    assert share == pytest.approx(1 - WINDOW_FLUCTUATION_BIAS, rel=1e-12)
    assert share * (1 + TOTAL_FLUCTUATION_BIAS) == pytest.approx(SINGLE_PATH_SHARE, rel=1e-12)


@pytest.mark.parametrize("paths", [2, 4])
def test_alike_paths(paths: int) -> None:
    with mp.workdps(DIGITS):
        expected = float(sqrt(mean_maximum(paths) / 2))
    total = lia_mean_windows([0.02] * paths, rtts_s=[1.0] * paths).sum()
    assert total / single_path_window(0.02) == pytest.approx(expected, rel=1e-10)


def test_equilibrium_is_within_its_declared_bias_on_up_to_five_alike_paths() -> None:
    ratios = [lia_mean_windows([0.01] * n, rtts_s=[1.0] * n).sum() / single_path_window(0.01) for n in range(1, 7)]
    assert np.all(np.abs(np.array(ratios[:5]) - 1) <= WINDOW_FLUCTUATION_BIAS + 1e-12)
    assert ratios[5] > 1 + WINDOW_FLUCTUATION_BIAS


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


def test_bad_input(subtests: pytest.Subtests) -> None:
    cases = [([0.0, 0.1], [1.0, 1.0]), ([0.1, 1.0], [1.0, 1.0]), ([0.1], [0.0])]
    for loss, rtts in cases:
        with subtests.test(loss=loss, rtts=rtts), pytest.raises(ParameterError):
            lia_mean_windows(loss, rtts_s=rtts)

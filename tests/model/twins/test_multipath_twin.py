"""LIA equilibrium a second time: Newton on the n balance equations as the RFC words them, without the closed form."""

import numpy as np
import pytest
from scipy.optimize import root

from capsmodel.multipath.lia import lia_equilibrium_windows


def balance(log_windows: np.ndarray, loss: np.ndarray, rtt: np.ndarray) -> np.ndarray:
    """Growth over decrease of each subflow, as a logarithm; zero at equilibrium."""
    windows = np.exp(log_windows)
    total = sum(windows)
    alpha = total * max(w / t**2 for w, t in zip(windows, rtt, strict=True)) / sum(windows / rtt) ** 2
    growth = np.array([min(alpha / total, 1 / w) for w in windows]) * (1 - loss)
    return np.log(growth) - np.log(windows / 2 * loss)


def test_equilibrium_equals_a_numerical_root_of_the_balance(subtests: pytest.Subtests) -> None:
    for seed in range(12):
        with subtests.test(seed=seed):
            rng = np.random.default_rng(seed)
            n = 2 + seed % 4
            loss, rtt = 10 ** rng.uniform(-4, -0.5, n), 10 ** rng.uniform(-4, -2 + seed % 3, n)
            start = 0.5 * np.log(2 * (1 - loss) / loss) - np.log(n)
            found = root(balance, start, args=(loss, rtt), method="hybr", options={"maxfev": 20000, "xtol": 1e-13})
            assert np.max(np.abs(found.fun)) < 1e-9
            np.testing.assert_allclose(lia_equilibrium_windows(loss, rtts_s=rtt), np.exp(found.x), rtol=1e-8)

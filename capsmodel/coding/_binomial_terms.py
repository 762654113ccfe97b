"""Formulas of the binomial probabilities that hold for floats as for arrays; derived in `_binomial`."""

from typing import TypeVar

import numpy as np

from capsmodel.checks import FloatArray

Real = TypeVar("Real", float, FloatArray)

SERIES_TERMS = 18  # (1/9)**18 is below 2**-53
_SPLITTER = 2.0**27 + 1  # Veltkamp's constant for 53-bit significands
CONVERGED = 5e-16
TINY = 1e-290  # below it a ratio to a count may overflow
MOST_STEPS = 2**14
"""Steps of the continued fraction after which it is given up: half a second for an array."""
TOO_MANY = f"the sum over blocked packets takes more than {MOST_STEPS} steps, one a standard deviation: lower k and r"


def remainder_series(m: Real) -> Real:
    """Return Stirling's remainder delta(m) for m >= 16 by its asymptotic series."""
    s = 1 / (m * m)
    return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * 691 / 360360))))) / m


def _small_remainders() -> FloatArray:
    """Tabulate delta(m), m = 0..16, downwards: delta(m) = delta(m + 1) + (m + 1/2) log(1 + 1/m) - 1."""
    table = np.empty(17)
    table[16] = remainder_series(16.0)
    for m in range(15, 0, -1):
        table[m] = table[m + 1] + ((m + 0.5) * np.log1p(1 / m) - 1)
    table[0] = np.nan  # log 0 has no Stirling form; callers treat j = 0 apart
    return table


SMALL_REMAINDERS = _small_remainders()


def deviation(j: Real, n: Real, p: Real) -> Real:
    """Return j - n p with the product n p taken exactly as hi + lo (Dekker)."""
    high = n * p
    n_high = n * _SPLITTER - (n * _SPLITTER - n)
    p_high = p * _SPLITTER - (p * _SPLITTER - p)
    n_low, p_low = n - n_high, p - p_high
    low = ((n_high * p_high - high) + n_high * p_low + n_low * p_high) + n_low * p_low
    return (j - high) - low


def deviance_near(x: Real, d: Real, v: Real, v2: Real) -> Real:
    """Return mean * phi(d / mean) for x = mean + d by its series, v = d / (x + mean) at most 1/3, v2 its square."""
    series = 0 * v2
    for i in range(SERIES_TERMS, 0, -1):
        series = v2 * (1 / (2 * i + 1) + series)
    return d * v + 2 * x * v * series


def fraction_terms(a: Real, b: Real, x: Real, lam: Real, m: int) -> tuple[Real, Real]:
    """Return alpha_m and beta_m of the continued fraction."""
    g = a + 2 * m - 1
    alpha = (a + m - 1) / g * ((a + b + m - 1) / g) * (m * (b - m)) * (x * x)
    return alpha, m + m * (b - m) * x / g + (a + m) * (lam + m * (2 - x)) / (g + 2)


def fraction_of(k: Real, r: Real, p: Real, d: Real, *, lower: bool) -> tuple[Real, Real, Real, Real]:
    """Return a, b, x and lambda of the lower or of the upper tail."""
    return (k, r + 1, 1 - p, p - d) if lower else (r + 1, k, p, d + (1 - p) + 1)

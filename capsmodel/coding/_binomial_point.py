"""Binomial probabilities at one point, in Python floats and with the bits of :mod:`capsmodel.coding._binomial`.

A NumPy call on a single number costs twenty times the arithmetic. Only logarithms and exponentials are NumPy's here,
whose last bit may differ from that of the module math.
"""

from math import inf

import numpy as np

from capsmodel.checks import require
from capsmodel.coding._binomial_terms import (
    CONVERGED,
    MOST_STEPS,
    SMALL_REMAINDERS,
    TINY,
    TOO_MANY,
    deviance_near,
    deviation,
    fraction_of,
    fraction_terms,
    remainder_series,
)

_SMALL: list[float] = SMALL_REMAINDERS.tolist()


def _remainder(m: float) -> float:
    return _SMALL[int(m)] if m < 16 else remainder_series(m)


def _deviance(x: float, mean: float, d: float) -> float:
    """Return mean * phi(d / mean) for x = mean + d > 0."""
    v = d / (x + mean)
    if abs(v) <= 1 / 3:
        return deviance_near(x, d, v, v * v)
    log_ratio = np.log(x / mean) if mean > TINY else np.log(x) - np.log(mean)
    return x * float(log_ratio) - d


def log_pmf_at(j: float, n: float, p: float) -> float:
    """Return log P(exactly j of n packets are blocked) for whole 0 <= j < n and 0 < p < 1."""
    if j == 0:
        return n * float(np.log1p(-p))
    rest, d = n - j, deviation(j, n, p)
    return (
        0.5 * float(np.log(n / (2 * np.pi * j * rest)))
        + (_remainder(n) - _remainder(j) - _remainder(rest))
        - (_deviance(j, n * p, d) + _deviance(rest, n * (1 - p), -d))
    )


def _fraction(a: float, b: float, x: float, lam: float) -> float:
    """Evaluate K by the modified Lentz method."""
    value = c = a * lam / (a + 1)
    d, delta, m = 0.0, 0.0, 0
    while abs(delta - 1) > CONVERGED:
        m += 1
        require(m <= MOST_STEPS, TOO_MANY)
        alpha, beta = fraction_terms(a, b, x, lam, m)
        d = 1 / (beta + alpha * d)
        c = beta + alpha / c
        delta = c * d
        value *= delta
    return value


def log_tails_at(k: float, r: float, p: float) -> tuple[float, float]:
    """Return (log P(X <= r), log P(X > r)) for X blocked among k + r packets; k >= 1, r >= 0, 0 <= p < 1."""
    if p == 0:
        return 0.0, -inf
    n = k + r
    d = deviation(r, n, p)
    lower = 3 * d < p - 2
    ratio = k * p / _fraction(*fraction_of(k, r, p, d, lower=lower))
    far = float(np.log(ratio)) + log_pmf_at(r, n, p) if ratio > 0 else -inf
    near = float(np.log1p(-np.exp(far))) + 0.0  # not -0.0
    return (far, near) if lower else (near, far)

"""Largest relative error of the decoding probability, its complement and their logarithms, against 60-digit sums."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from capsmodel.coding.decoding import decode_failure_prob, decode_prob, log_decode_failure_prob, log_decode_prob

BOUND = 1e-12
DEVIATIONS = (-30, -8, -3, -1, 0, 1, 3, 8, 30)


def exact_logs(k, r, p):
    """Log of P(at most r blocked) and of its complement: one mass, then a sum of exact ratios away from the mean."""
    odds, n = Fraction(p) / (1 - Fraction(p)), k + r
    up, down, one = odds.numerator, odds.denominator, 1 << 220
    below = r * (up + down) < n * up
    j = r if below else r + 1
    chance = mpmath.mpf(up) / (up + down)
    log_mass = mpmath.log(mpmath.binomial(n, j)) if n < 2000 else -mpmath.log(n + 1) - log_beta(j + 1, n - j + 1)
    log_mass += j * mpmath.log(chance) + (n - j) * mpmath.log1p(-chance)
    term = total = one
    while term and (j > 0 if below else j < n):
        term = term * j * down // ((n - j + 1) * up) if below else term * (n - j) * up // ((j + 1) * down)
        total, j = total + term, j + (-1 if below else 1)
    far = log_mass + mpmath.log(mpmath.mpf(total) / one)
    near = mpmath.log1p(-mpmath.exp(far))
    return (far, near) if below else (near, far)


def log_beta(a, b):
    return mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)


def relative(value, exact):
    return float(abs(mpmath.mpf(value) / exact - 1)) if abs(exact) > 1e-300 else 0.0


@pytest.mark.parametrize("k", [1, 64, 10**4, 10**6])
def test_accuracy_of_decode_prob(benchmark, k):
    probs = np.concatenate([np.geomspace(1e-9, 0.1, 9), np.linspace(0.15, 0.95, 9), [0.99, 0.999]])
    points = []
    for p, z in itertools.product(probs, DEVIATIONS):
        points.append((max(0, round(k * p / (1 - p) + z * math.sqrt(k * p) / (1 - p))), p))
    r, p = np.array(points).T
    names = (decode_prob, decode_failure_prob, log_decode_prob, log_decode_failure_prob)
    values = [f(k, r=r, blocking_prob=p) for f in names]
    benchmark.pedantic(decode_prob, args=(k,), kwargs={"r": r, "blocking_prob": p}, rounds=3)
    worst = [0.0] * 4
    with mpmath.workdps(60):
        for i in range(r.size):
            logs = exact_logs(k, int(r[i]), float(p[i]))
            exact = (*(mpmath.exp(log) for log in logs), *logs)
            worst = [max(w, relative(v[i], e)) for w, v, e in zip(worst, values, exact, strict=True)]
    errors = ", ".join(f"{f.__name__} {w:.1e}" for f, w in zip(names, worst, strict=True))
    print(f"\nk = {k}, {r.size} points: {errors}; {BOUND / max(worst):.0f} times within {BOUND:.0e}")
    assert max(worst) < BOUND

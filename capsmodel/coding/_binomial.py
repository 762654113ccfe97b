r"""Binomial probabilities of blocked packets to 1e-12, in the bulk and in the tails.

===========================  ==========  =================  ====
Quantity                     Symbol      Name               Unit
===========================  ==========  =================  ====
log of C(n, j) p^j q^(n-j)   log p_B(j)  :func:`log_pmf`    1
log P(X <= r), log P(X > r)  –           :func:`log_tails`  1
===========================  ==========  =================  ====

Here q = 1 - p, n = k + r and X is the number of blocked packets among n.

Why not ``scipy.special``: `bdtr` and `bdtrc` take 1 - p in double precision and lose 1e-3 at k = 10^6, p = 0.9;
``betainc(k, r + 1, 1 - p)`` loses 1e-8 at p = 1e-9; ``betaincc(r + 1, k, p)`` comes near 1e-12 for k = 10^6 and
underflows in the tails, where its logarithm is still wanted.

**Mass** (the saddle-point form). With the deviation d = j - np, Stirling's remainder
:math:`\delta(m) = \log m! - (m+\tfrac12)\log m + m - \tfrac12\log 2\pi` and
:math:`\varphi(t) = (1+t)\log(1+t) - t`,

.. math:: \log p_B(j) = \tfrac12\log\frac{n}{2\pi j(n-j)} + \delta(n) - \delta(j) - \delta(n-j)
          - np\,\varphi\!\left(\frac{d}{np}\right) - nq\,\varphi\!\left(\frac{-d}{nq}\right).

The two last terms are non-negative, so nothing large cancels; d is formed from the exact product np = hi + lo, and
phi near 0 by its series in v = t/(2 + t), :math:`\varphi(t) = tv + 2(1+t)\sum_{i\ge1} v^{2i+1}/(2i+1)`.

**Tail.** Both tails are :math:`k\,p\,p_B(r)/K`, where K is the even part of the continued fraction of the incomplete
beta function, :math:`K = \beta_0 + \alpha_1/(\beta_1 + \alpha_2/(\beta_2 + \cdots))` with (lower tail a = k, b = r + 1,
x = q; upper tail a = r + 1, b = k, x = p)

.. math:: \alpha_m = \frac{(a+m-1)(a+b+m-1)\,m(b-m)x^2}{(a+2m-1)^2},\quad
          \beta_m = m + \frac{m(b-m)x}{a+2m-1} + \frac{(a+m)(\lambda + m(2-x))}{a+2m+1},

:math:`\lambda = a(1-x) - bx + 1`, which is p - d for the lower and d + q + 1 for the upper tail. The smaller tail is
taken: the lower one if d < -(1 + q)/3, which puts r on its side of the median to second order (Poisson and its mirror
image are the two ends). There all terms are positive and the fraction ends at m = b. The other tail is one minus it and
no digits are lost (the taken tail stayed below 0.52 at 4e5 random points). The steps are O(sqrt(npq)), 900 at
k = 10^6; more than `MOST_STEPS` are refused.

Arrays are evaluated here, a single point in Python floats by :mod:`capsmodel.coding._binomial_point`, ten times as fast
and with the same bits; the formulas that both use are in :mod:`capsmodel.coding._binomial_terms`.

Measured against mpmath (70 digits) at 12 000 random points with k up to 10^6, p from 1e-9 to 0.999 and r up to 100
standard deviations from its mean: relative error below 3e-13 for either tail down to 1e-300 (1e-14 above 1e-20), and
below 1e-14 for the logarithm of the smaller one. A logarithm closer to zero than 1e-308 is returned as zero.
"""

import numpy as np

from capsmodel.checks import FloatArray, require
from capsmodel.coding._binomial_point import log_tails_at
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


def stirling_remainder(m: FloatArray) -> FloatArray:
    """Return delta(m) for whole m >= 1, absolute error below 1e-15."""
    small = SMALL_REMAINDERS[np.minimum(m, 16).astype(np.intp)]
    return np.where(m < 16, small, remainder_series(np.maximum(m, 16.0)))


def _deviance(x: FloatArray, mean: FloatArray, d: FloatArray) -> FloatArray:
    """Return mean * phi(d / mean) for x = mean + d > 0."""
    v = d / (x + mean)
    near = np.abs(v) <= 1 / 3
    v2 = np.where(near, v * v, 0.0)
    log_ratio = np.where(mean > TINY, np.log(x / np.maximum(mean, TINY)), np.log(x) - np.log(mean))
    return np.where(near, deviance_near(x, d, v, v2), x * log_ratio - d)


def log_pmf(j: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """Return log P(exactly j of n packets are blocked) for whole 0 <= j <= n and 0 <= p < 1."""
    j, n, p = np.broadcast_arrays(j, n, p)
    ends = (j == 0) | (j == n)
    inner = ~ends & (p > 0)
    # Any inner point serves where the general form is not used: 1 of 2 packets, p = 1/2.
    x, m, prob = np.where(inner, j, 1.0), np.where(inner, n, 2.0), np.where(inner, p, 0.5)
    rest, d = m - x, deviation(x, m, prob)
    general = (
        0.5 * np.log(m / (2 * np.pi * x * rest))
        + (stirling_remainder(m) - stirling_remainder(x) - stirling_remainder(rest))
        - (_deviance(x, m * prob, d) + _deviance(rest, m * (1 - prob), -d))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        edge = np.where(j == 0, n * np.log1p(-p), n * np.log(p))
    return np.where(inner, general, np.where(ends, edge, -np.inf))


def _fraction(a: FloatArray, b: FloatArray, x: FloatArray, lam: FloatArray) -> FloatArray:
    """Evaluate K of the module text by the modified Lentz method; points are dropped from the loop as they converge."""
    value = a * lam / (a + 1)
    c, d = value.copy(), np.zeros_like(value)
    active, m = np.arange(value.size), 0
    while active.size:
        m += 1
        require(m <= MOST_STEPS, TOO_MANY)
        alpha, beta = fraction_terms(a, b, x, lam, m)
        d = 1 / (beta + alpha * d)
        c = beta + alpha / c
        delta = c * d
        value[active] *= delta
        going = np.abs(delta - 1) > CONVERGED
        if not going.all():
            active = active[going]
            a, b, x, lam, c, d = a[going], b[going], x[going], lam[going], c[going], d[going]
    return value


def log_tails(k: FloatArray, r: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (log P(X <= r), log P(X > r)) for X blocked among k + r packets; k >= 1, r >= 0, 0 <= p < 1."""
    shape = np.broadcast_shapes(np.shape(k), np.shape(r), np.shape(p))
    if not shape:
        success, failure = log_tails_at(float(k), float(r), float(p))
        return np.asarray(success), np.asarray(failure)
    k, r, p = (np.broadcast_to(v, shape).ravel() for v in (k, r, p))
    n = k + r
    d = deviation(r, n, p)
    lower = 3 * d < p - 2
    both = (fraction_of(k, r, p, d, lower=True), fraction_of(k, r, p, d, lower=False))
    a, b, x, lam = (np.where(lower, below, above) for below, above in zip(*both, strict=True))
    with np.errstate(divide="ignore"):
        far = np.log(k * p / _fraction(a, b, x, lam)) + log_pmf(r, n, p)
    near = np.log1p(-np.exp(far)) + 0.0  # not -0.0
    return np.where(lower, far, near).reshape(shape), np.where(lower, near, far).reshape(shape)

r"""Decoding when it is known how many packets are blocked or arrive, as in the example of caps Fig. 7.

============================  ======  ============================================  ====  =====================
Quantity                      Symbol  Name                                          Unit  Equation
============================  ======  ============================================  ====  =====================
unit decodes, m of N blocked  --      :func:`decode_prob_blocked_count`             1     caps u (VI-C, Fig. 7)
first arrivals suffice        64/924  :func:`units_decoded_by_first_arrivals_prob`  1     caps u (VI-C, Fig. 7)
============================  ======  ============================================  ====  =====================
"""

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from capsmodel.checks import FloatArray, Scalars, plain, require, whole
from capsmodel.coding._binomial import log_pmf


def _hypergeometric_at_most(limit: FloatArray, marked: FloatArray, total: FloatArray, n: FloatArray) -> FloatArray:
    """Return P(at most `limit` of the n drawn are marked), `marked` of `total` being so; a sum of positive terms.

    The largest term in the sum is C(n, x) C(N-n, m-x) / C(N, m) as a ratio of three binomial masses, whatever their
    common probability; its neighbours follow by term(x-1)/term(x) = x (N-m-n+x) / ((m-x+1)(n-x+1)) and its inverse.
    """
    least, most = np.maximum(0, marked - (total - n)), np.minimum(limit, np.minimum(n, marked))
    possible = most >= least
    start = np.maximum(least, np.minimum(most, np.floor((n + 1) * (marked + 1) / (total + 2))))
    start = np.where(possible, start, least)
    p = (marked + 0.5) / (total + 1)
    log_first = log_pmf(start, n, p) + log_pmf(marked - start, total - n, p) - log_pmf(marked, total, p)
    ratio_sum = np.ones(start.shape)
    for step in (-1.0, 1.0):
        x, term = start.copy(), np.ones(start.shape)
        while True:
            low, x = np.maximum(x, x + step), x + step
            inside = (x >= least) & (x <= most)
            up, down = low * (total - marked - n + low), (marked - low + 1) * (n - low + 1)
            top, bottom = (up, down) if step < 0 else (down, up)
            term = np.where(inside, term * top / np.where(inside, bottom, 1.0), 0.0)
            if not np.any(term > 2.0**-60 * ratio_sum):
                break
            ratio_sum += term
    return np.where(possible, np.exp(log_first) * ratio_sum, 0.0)


def decode_prob_blocked_count(k: Scalars, *, r: Scalars, blocked_packets: Scalars, total_packets: Scalars) -> Any:
    r"""Probability that a coding unit decodes when exactly `blocked_packets` of `total_packets` are blocked.

    Parameters
    ----------
    k : array_like
        Source packets k of the unit, packets, whole, at least 1.
    r : array_like
        Repair packets r of the unit, packets, whole, at least 0.
    blocked_packets : array_like
        Blocked packets m among all, packets, whole, 0 to N.
    total_packets : array_like
        Packets N of all units together, packets, whole, at least k + r.

    Returns
    -------
    float or ndarray
        Probability in [0, 1], broadcast over all arguments.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`\sum_{j\le r}\binom{n}{j}\binom{N-n}{m-j}/\binom{N}{m}` with n = k + r: the m blocked packets are equally
    likely to be any m of the N. For N much larger than n it tends to :func:`capsmodel.coding.decoding.decode_prob` at p
    = m/N. With N = n it is 1 or 0. Relative error below 1e-12 up to N = 10^6.

    References
    ----------
    caps u (VI-C, Fig. 7) example: six of twelve packets blocked.

    Examples
    --------
    Two units of k = r = 3, six of their twelve packets blocked: 1/2 + 400/(2 * 924).

    >>> round(decode_prob_blocked_count(3, r=3, blocked_packets=6, total_packets=12), 9)
    0.716450216
    """
    k, r, m, total = np.broadcast_arrays(
        whole("k", k, minimum=1),
        whole("r", r),
        whole("blocked_packets", blocked_packets),
        whole("total_packets", total_packets, minimum=1),
    )
    require(k + r <= total, "total_packets must count the k + r packets of the unit: raise it to at least k + r")
    require(m <= total, "blocked_packets exceeds total_packets: at most all packets can be blocked")
    return plain(_hypergeometric_at_most(r, m, total, k + r))


def _ways(k: int, r: int, n_units: int, arrivals: int) -> int:
    """Count the sets of `arrivals` packets with at least k of every unit: a coefficient of (sum C(n,j) x^j)^units."""
    n = k + r
    one = [comb(n, j) if j >= k else 0 for j in range(n + 1)]
    ways = [1]
    for _ in range(n_units):
        grown = [0] * min(len(ways) + n, arrivals + 1)
        for i, count in enumerate(ways):
            for j in range(k, min(n, len(grown) - 1 - i) + 1) if count else ():
                grown[i + j] += count * one[j]
        ways = grown
    return ways[arrivals] if arrivals < len(ways) else 0


def units_decoded_by_first_arrivals_prob(
    k: Scalars, *, r: Scalars, n_units: Scalars, arrivals: Scalars | None = None
) -> Any:
    r"""Probability that the first `arrivals` packets decode all of `n_units` coding units.

    Parameters
    ----------
    k : array_like
        Source packets k of a unit, packets, whole, at least 1.
    r : array_like
        Repair packets r of a unit, packets, whole, at least 0.
    n_units : array_like
        Coding units, whole, at least 1.
    arrivals : array_like, optional
        Packets that have arrived, whole, at most (k + r) n_units; k n_units, the fewest that can do, when not given.

    Returns
    -------
    float or ndarray
        Probability in [0, 1], broadcast over all arguments.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    All sets of arrivals are equally likely; those with k or more of each unit are counted in whole numbers. With
    `arrivals` = k u of u units it is :math:`\binom{k+r}{k}^u/\binom{(k+r)u}{ku}`. The paper prints
    :math:`(C_3^1)^6/C_6^6`, which is 729; only its value 0.07 is right. The probability *rises* with k (0.069, 0.234,
    0.433, 1 for k = 1, 2, 3, 6 of six source packets), so the drawing that favours k = 2 is one realisation.

    References
    ----------
    caps u (VI-C, Fig. 7) example.

    Examples
    --------
    >>> round(units_decoded_by_first_arrivals_prob(1, r=1, n_units=6), 4)  # 64/924
    0.0693
    >>> round(units_decoded_by_first_arrivals_prob(3, r=3, n_units=2), 4)  # 400/924
    0.4329
    """
    k, r, units = whole("k", k, minimum=1), whole("r", r), whole("n_units", n_units, minimum=1)
    came = k * units if arrivals is None else whole("arrivals", arrivals)
    require(came <= (k + r) * units, "arrivals exceeds (k + r) n_units: no more packets than were sent can arrive")

    def exact(k: float, r: float, units: float, came: float) -> float:
        ways = _ways(int(k), int(r), int(units), int(came))
        return float(Fraction(ways, comb(int((k + r) * units), int(came))))

    return plain(np.vectorize(exact, otypes=[np.float64])(k, r, units, came))

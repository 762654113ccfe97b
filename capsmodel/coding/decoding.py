r"""Probability that a coding unit decodes from the packets that are not blocked.

======================  ==============  ============================================  ====  =======================
Quantity                Symbol          Name                                          Unit  Equation
======================  ==============  ============================================  ====  =======================
exactly j of n blocked  p_B(j), P_b(i)  :func:`blocked_packets_prob`                  1     caps Eq. 1, cdcps Eq. 6
unit decodes            p_S, P_d        :func:`decode_prob`                           1     caps Eq. 2, cdcps Eq. 7
unit does not decode    1 - p_S         :func:`decode_failure_prob`                   1     caps Eq. 2, cdcps Eq. 7
logarithms of both      log p_S         :func:`log_decode_prob`                       1     caps Eq. 2, cdcps Eq. 7
                        log(1 - p_S)    :func:`log_decode_failure_prob`               1     caps Eq. 2, cdcps Eq. 7
whole window decodes    p_S^(w/k)       :func:`window_decode_prob`                    1     caps Eq. 4
same, unequal paths     –               :func:`decode_prob_paths`                     1     beyond the papers
                        –               :func:`decode_failure_prob_paths`             1     beyond the papers
same, m of N blocked    –               :func:`decode_prob_blocked_count`             1     caps u (VI-C, Fig. 7)
first arrivals suffice  64/924          :func:`units_decoded_by_first_arrivals_prob`  1     caps u (VI-C, Fig. 7)
======================  ==============  ============================================  ====  =======================

All assume a code of which any k of the n = k + r packets suffice (maximum distance separable, MDS); what a random
linear code needs besides is in :mod:`capsmodel.coding.random_linear`. What *blocked* means is said in
``docs/glossary.md``. The evaluation, to 1e-12 for k up to 10^6, and its algebra are in
:mod:`capsmodel.coding._unit_search`.
"""

from fractions import Fraction
from math import comb
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    FloatSequence,
    closed_form,
    flag,
    plain,
    positive,
    probability,
    require,
    whole,
)
from capsmodel.coding._unit_search import log_pmf, log_tails
from capsmodel.coding.paths._loss_table import with_packet


@overload
def blocked_packets_prob(j: float, *, n: float, blocking_prob: float) -> float: ...
@overload
def blocked_packets_prob(j: ArrayLike, *, n: ArrayLike, blocking_prob: ArrayLike) -> FloatArray: ...
@closed_form
def blocked_packets_prob(j: ArrayLike, *, n: ArrayLike, blocking_prob: ArrayLike) -> FloatOrArray:
    r"""Return the probability that exactly `j` of the `n` packets of a coding unit are blocked.

    Parameters
    ----------
    j : array_like
        Blocked packets j, packets, whole, at least 0.
    n : array_like
        Packets sent for the unit n = k + r, packets, whole, at least 1.
    blocking_prob : array_like
        Probability p that a packet is blocked, in [0, 1).

    Returns
    -------
    float or ndarray
        Probability in [0, 1], broadcast over all arguments; 0 where j > n.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`p_B(j) = \binom{n}{j} p^j (1-p)^{n-j}`: packets choose their paths independently.

    References
    ----------
    caps Eq. 1; cdcps Eq. 6.

    Examples
    --------
    >>> round(blocked_packets_prob(3, n=6, blocking_prob=0.5), 12)  # 20/64
    0.3125
    """
    j, n, p = whole("j", j), whole("n", n, minimum=1), probability("blocking_prob", blocking_prob)
    return plain(np.where(j <= n, np.exp(log_pmf(np.minimum(j, n), n, p)), 0.0))


def _log_both(k: ArrayLike, r: ArrayLike, blocking_prob: ArrayLike) -> tuple[FloatArray, FloatArray]:
    return log_tails(whole("k", k, minimum=1), whole("r", r), probability("blocking_prob", blocking_prob))


@overload
def decode_prob(k: float, *, r: float, blocking_prob: float) -> float: ...
@overload
def decode_prob(k: ArrayLike, *, r: ArrayLike, blocking_prob: ArrayLike) -> FloatArray: ...
@closed_form
def decode_prob(k: ArrayLike, *, r: ArrayLike, blocking_prob: ArrayLike) -> FloatOrArray:
    r"""Return the probability that a coding unit of `k` source and `r` repair packets decodes.

    Parameters
    ----------
    k : array_like
        Source packets k, packets, whole, at least 1.
    r : array_like
        Repair packets r, packets, whole, at least 0.
    blocking_prob : array_like
        Probability p that a packet is blocked, in [0, 1).

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
    :math:`p_S = \sum_{j=0}^{r} \binom{k+r}{j} p^j (1-p)^{k+r-j} = I_{1-p}(k, r+1)`, with a code that decodes from any k
    packets and independent path choices. It is 1 at p = 0 and :math:`(1-p)^k` at r = 0. With r from the ceiling rule it
    tends to 1/2 as k grows. Relative error below 1e-12, also of values near 1e-300.

    References
    ----------
    caps Eq. 2; cdcps Eq. 7.

    Examples
    --------
    The unit of caps Fig. 7(a): 1 - 22/64.

    >>> round(decode_prob(3, r=3, blocking_prob=0.5), 12)
    0.65625
    """
    return plain(np.exp(_log_both(k, r, blocking_prob)[0]))


@overload
def decode_failure_prob(k: float, *, r: float, blocking_prob: float) -> float: ...
@overload
def decode_failure_prob(k: ArrayLike, *, r: ArrayLike, blocking_prob: ArrayLike) -> FloatArray: ...
@closed_form
def decode_failure_prob(k: ArrayLike, *, r: ArrayLike, blocking_prob: ArrayLike) -> FloatOrArray:
    r"""Return the probability that a coding unit does not decode: more than `r` of its packets are blocked.

    Parameters
    ----------
    k, r, blocking_prob : array_like
        As in :func:`decode_prob`.

    Returns
    -------
    float or ndarray
        Probability in [0, 1], broadcast over all arguments; computed as a complement, so 1e-30 is right to 1e-12.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`1 - p_S = I_p(r+1, k)`; it is 0 at p = 0 and :math:`1 - (1-p)^k` at r = 0.

    References
    ----------
    caps Eq. 2; cdcps Eq. 7; the complement.

    Examples
    --------
    >>> round(decode_failure_prob(3, r=3, blocking_prob=0.5), 12)  # 22/64, printed as 0.34
    0.34375
    """
    return plain(np.exp(_log_both(k, r, blocking_prob)[1]))


@overload
def log_decode_prob(k: float, *, r: float, blocking_prob: float) -> float: ...
@overload
def log_decode_prob(k: ArrayLike, *, r: ArrayLike, blocking_prob: ArrayLike) -> FloatArray: ...
@closed_form
def log_decode_prob(k: ArrayLike, *, r: ArrayLike, blocking_prob: ArrayLike) -> FloatOrArray:
    r"""Return the natural logarithm of the probability that a coding unit decodes.

    Parameters
    ----------
    k, r, blocking_prob : array_like
        As in :func:`decode_prob`.

    Returns
    -------
    float or ndarray
        Logarithm, at most 0, broadcast over all arguments; finite where the probability itself underflows.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`\log p_S`, as log1p of the complement where that is the smaller one.

    References
    ----------
    caps Eq. 2; cdcps Eq. 7.

    Examples
    --------
    >>> round(log_decode_prob(1000, r=0, blocking_prob=0.75), 9)  # -1000 log 4
    -1386.29436112
    """
    return plain(_log_both(k, r, blocking_prob)[0])


@overload
def log_decode_failure_prob(k: float, *, r: float, blocking_prob: float) -> float: ...
@overload
def log_decode_failure_prob(k: ArrayLike, *, r: ArrayLike, blocking_prob: ArrayLike) -> FloatArray: ...
@closed_form
def log_decode_failure_prob(k: ArrayLike, *, r: ArrayLike, blocking_prob: ArrayLike) -> FloatOrArray:
    r"""Return the natural logarithm of the probability that a coding unit does not decode.

    Parameters
    ----------
    k, r, blocking_prob : array_like
        As in :func:`decode_prob`.

    Returns
    -------
    float or ndarray
        Logarithm, at most 0, broadcast over all arguments; -inf at p = 0.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`\log(1 - p_S)`.

    References
    ----------
    caps Eq. 2; cdcps Eq. 7; the complement.

    Examples
    --------
    >>> round(log_decode_failure_prob(1, r=999, blocking_prob=0.25), 9)  # -1000 log 4
    -1386.29436112
    """
    return plain(_log_both(k, r, blocking_prob)[1])


@overload
def window_decode_prob(
    k: float, *, r: float, window_packets: float, blocking_prob: float, whole_units: bool = ...
) -> float: ...
@overload
def window_decode_prob(
    k: ArrayLike, *, r: ArrayLike, window_packets: ArrayLike, blocking_prob: ArrayLike, whole_units: bool = ...
) -> FloatArray: ...
@closed_form
def window_decode_prob(
    k: ArrayLike, *, r: ArrayLike, window_packets: ArrayLike, blocking_prob: ArrayLike, whole_units: bool = False
) -> FloatOrArray:
    r"""Return the probability that all coding units of a congestion window decode.

    Parameters
    ----------
    k, r, blocking_prob : array_like
        As in :func:`decode_prob`.
    window_packets : array_like
        Congestion window w, packets, above 0.
    whole_units : bool
        Round w/k up to whole units; the paper does not.

    Returns
    -------
    float or ndarray
        Probability in [0, 1], broadcast over the array arguments.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`p_S^{w/k}` as :math:`\exp(\frac wk \log p_S)`; units decode independently.

    References
    ----------
    caps Eq. 4.

    Examples
    --------
    >>> round(window_decode_prob(3, r=3, window_packets=6, blocking_prob=0.5), 12)  # (42/64)^2
    0.4306640625
    """
    units = positive("window_packets", window_packets) / whole("k", k, minimum=1)
    log_prob = _log_both(k, r, blocking_prob)[0]
    return plain(np.exp((np.ceil(units) if flag("whole_units", whole_units) else units) * log_prob))


def _more_than(prob: FloatArray, limit: FloatArray) -> FloatArray:
    """Return P(more than `limit` events happen), event i with prob[..., i]."""
    n = prob.shape[-1]
    counts = np.zeros((n + 2, *prob.shape[:-1]))
    counts[0] = 1.0
    for i in range(n):
        counts = with_packet(counts, prob[..., i])
    above = np.arange(n + 2) > limit[..., None]
    return np.asarray(np.sum(np.where(above, np.moveaxis(counts, 0, -1), 0.0), axis=-1))


def _paths(k: ArrayLike, blocking_probs: ArrayLike) -> tuple[FloatArray, FloatArray]:
    k, probs = whole("k", k, minimum=1), probability("blocking_probs", blocking_probs, one=True)
    require(probs.ndim > 0, "blocking_probs is a single number, but it must hold one probability for each of n packets")
    require(
        k <= probs.shape[-1], f"k = {np.max(k, initial=0):g} exceeds the {probs.shape[-1]} packets of blocking_probs"
    )
    return k, probs


@overload
def decode_prob_paths(k: float, *, blocking_probs: FloatSequence) -> float: ...
@overload
def decode_prob_paths(k: ArrayLike, *, blocking_probs: ArrayLike) -> FloatOrArray: ...
@closed_form
def decode_prob_paths(k: ArrayLike, *, blocking_probs: ArrayLike) -> FloatOrArray:
    r"""Return the probability that a unit decodes when each packet has its own blocking probability.

    Parameters
    ----------
    k : array_like
        Source packets k, packets, whole, 1 to n.
    blocking_probs : array_like
        Probability that each packet is blocked, in [0, 1]; the last axis holds the n = k + r packets.

    Returns
    -------
    float or ndarray
        Probability in [0, 1]; `k` broadcasts against the leading axes of `blocking_probs`.

    Raises
    ------
    ParameterError
        If an argument leaves its range, or there are fewer than k packets.

    Notes
    -----
    The Poisson-binomial probability that at most n - k are blocked, by adding one packet at a time:
    n^2/2 positive terms, relative error below n 2^-51. With equal entries it is :func:`decode_prob`. At the same mean
    unequal paths help where the mean of blocked packets lies well below n - k (less variance), and harm above.

    References
    ----------
    Beyond the papers; caps Eq. 2 with unequal paths.

    Examples
    --------
    Two of three must arrive: 0.9 * 0.8 + (0.1 * 0.8 + 0.9 * 0.2) * 0.5.

    >>> round(decode_prob_paths(2, blocking_probs=[0.1, 0.2, 0.5]), 12)
    0.85
    """
    k, probs = _paths(k, blocking_probs)
    return plain(_more_than(1 - probs, k - 1))


@overload
def decode_failure_prob_paths(k: float, *, blocking_probs: FloatSequence) -> float: ...
@overload
def decode_failure_prob_paths(k: ArrayLike, *, blocking_probs: ArrayLike) -> FloatOrArray: ...
@closed_form
def decode_failure_prob_paths(k: ArrayLike, *, blocking_probs: ArrayLike) -> FloatOrArray:
    r"""Return the probability that a unit does not decode when each packet has its own blocking probability.

    Parameters
    ----------
    k, blocking_probs : array_like
        As in :func:`decode_prob_paths`.

    Returns
    -------
    float or ndarray
        Probability in [0, 1], computed as a complement; shape as in :func:`decode_prob_paths`.

    Raises
    ------
    ParameterError
        If an argument leaves its range, or there are fewer than k packets.

    Notes
    -----
    The Poisson-binomial probability that more than n - k are blocked, summed over positive terms.

    References
    ----------
    Beyond the papers; caps Eq. 2 with unequal paths, the complement.

    Examples
    --------
    >>> round(decode_failure_prob_paths(2, blocking_probs=[0.1, 0.2, 0.5]), 12)
    0.15
    """
    k, probs = _paths(k, blocking_probs)
    return plain(_more_than(probs, probs.shape[-1] - k))


_MOST_COUNTED = 2000
"""Packets of all units whose sets of arrivals are counted; the work grows with their square."""

_MOST_DRAWN_VARIANCE = 1e6
"""Largest variance of the number of blocked packets in a unit; the sum has some 18 terms a standard deviation."""


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
    require(
        n * p * (1 - p) * (total - n) / total <= _MOST_DRAWN_VARIANCE,
        f"the number of blocked packets in a unit has a variance above {_MOST_DRAWN_VARIANCE:g}: lower k and r",
    )
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
    return np.where(possible, np.minimum(np.exp(log_first) * ratio_sum, 1.0), 0.0)


@overload
def decode_prob_blocked_count(k: float, *, r: float, blocked_packets: float, total_packets: float) -> float: ...
@overload
def decode_prob_blocked_count(
    k: ArrayLike, *, r: ArrayLike, blocked_packets: ArrayLike, total_packets: ArrayLike
) -> FloatArray: ...
@closed_form
def decode_prob_blocked_count(
    k: ArrayLike, *, r: ArrayLike, blocked_packets: ArrayLike, total_packets: ArrayLike
) -> FloatOrArray:
    r"""Return the probability that a unit decodes when exactly `blocked_packets` of `total_packets` are blocked.

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
    likely to be any m of the N. For N much larger than n it tends to :func:`decode_prob` at p = m/N. With N = n it is 1
    or 0. Relative error below 1e-12 up to N = 10^6.

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
        longer = [0] * min(len(ways) + n, arrivals + 1)
        for i, count in enumerate(ways):
            for j in range(k, min(n, len(longer) - 1 - i) + 1) if count else ():
                longer[i + j] += count * one[j]
        ways = longer
    return ways[arrivals] if arrivals < len(ways) else 0


@overload
def units_decoded_by_first_arrivals_prob(
    k: float, *, r: float, n_units: float, arrivals: float | None = ...
) -> float: ...
@overload
def units_decoded_by_first_arrivals_prob(
    k: ArrayLike, *, r: ArrayLike, n_units: ArrayLike, arrivals: ArrayLike | None = ...
) -> FloatArray: ...
@closed_form
def units_decoded_by_first_arrivals_prob(
    k: ArrayLike, *, r: ArrayLike, n_units: ArrayLike, arrivals: ArrayLike | None = None
) -> FloatOrArray:
    r"""Return the probability that the first `arrivals` packets decode all of `n_units` coding units.

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
    require(
        (k + r) * units <= _MOST_COUNTED, f"(k + r) n_units exceeds {_MOST_COUNTED}, the packets whose sets are counted"
    )
    require(came <= (k + r) * units, "arrivals exceeds (k + r) n_units: no more packets than were sent can arrive")

    def exact(k: float, r: float, units: float, came: float) -> float:
        ways = _ways(int(k), int(r), int(units), int(came))
        return float(Fraction(ways, comb(int((k + r) * units), int(came))))

    return plain(np.vectorize(exact, otypes=[np.float64])(k, r, units, came))

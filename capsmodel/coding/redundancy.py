r"""Repair packets for a blocking probability, and what they cost.

========================  ========  ==========================  =======  ============================
Quantity                  Symbol    Name                        Unit     Equation
========================  ========  ==========================  =======  ============================
repair packets of a unit  r, alpha  :func:`repair_packets`      packets  caps u (VI-B), cdcps Eq. 4-5
fewest for a target p_S   r         :func:`repair_packets_for`  packets  inverts caps Eq. 2
share of repair packets   eta       :func:`traffic_overhead`    1        caps Eq. 7
========================  ========  ==========================  =======  ============================

How likely a packet is *blocked* (``docs/glossary.md``) is estimated by :mod:`capsmodel.coding.blocking`.
"""

from fractions import Fraction
from math import ceil
from typing import Any, overload

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    IntArray,
    closed_form,
    non_negative,
    one_of,
    plain,
    plain_count,
    probability,
    require,
    whole,
)
from capsmodel.coding._unit_search import MOST_REPAIR, TOO_MANY_REPAIR, ceiling_rule, log_tails
from capsmodel.coding.paths.losses import PathLosses, as_losses
from capsmodel.coding.paths.unit_choice import TOLERANCE, failure_target, least_repair, repair_of_sizes


def _exact_ceiling(k: float, p: Fraction) -> int:
    return ceil(int(k) * p / (1 - p))


def _is_fractions(blocking_prob: Any) -> bool:
    values = np.asarray(blocking_prob, dtype=object)
    return values.size > 0 and all(isinstance(value, Fraction) for value in values.flat)


@overload
def repair_packets(k: float, *, blocking_prob: float | Fraction) -> int: ...
@overload
def repair_packets(k: ArrayLike, *, blocking_prob: ArrayLike | Fraction) -> IntArray: ...
@closed_form
def repair_packets(k: ArrayLike, *, blocking_prob: ArrayLike | Fraction) -> int | IntArray:
    r"""Return the repair packets r (alpha in cdcps) of a unit so that on average `k` packets are not blocked.

    Parameters
    ----------
    k : array_like
        Source packets k, packets, whole, at least 1.
    blocking_prob : array_like or Fraction
        Probability p that a packet is blocked, in [0, 1). A :class:`fractions.Fraction`, or an array of them, is used
        exactly.

    Returns
    -------
    int or ndarray of int64
        Packets, broadcast over both arguments.

    Raises
    ------
    ParameterError
        If an argument leaves its range or r would reach 2^53.

    Notes
    -----
    The least r with :math:`(1-p)(k+r) \ge k`, :math:`r = \lceil k/(1-p) - k \rceil = \lceil kp/(1-p) \rceil`.
    cdcps Eq. 4 prints :math:`\ge k` without defining k; its source packets are x.

    *Rounding.* k p/(1 - p) is a whole number for many p such as 0.3, and a plain ceil of its rounding is then one too
    large (k = 21, p = 0.3 gives 10, not 9). Let u = 2^-53 and let the float p be the one nearest to a rational a/b,
    as for 0.3 or for the quotient of two counts: p = (a/b)(1 + e) with -u <= e <= u. The computed x differs from
    X = ka/(b - a) by a relative error of at most u/(1-p) (from e) + 3u (three operations), to first order; one more u
    for the subtraction below, and it stays under tau = (4 + 2/(1-p))u. Taken is ceil(x - tau x), and x - tau x lies
    in (X - 2 tau X, X]. If X is whole, the result is X as long as 2 tau X < 1. If not, X is at least 1/(b - a) above
    the next lower whole number, and the result is right as long as 2 tau X < 1/(b - a): for k <= 10^6 and p <= 1/2
    with every denominator b up to 5e8, for k <= 10^4 and p <= 0.999 with b up to 2e5. A float that lies less than a
    relative 2 tau above a whole X counts as that whole number; pass a Fraction to have it decided exactly. Where tau x
    reaches 1/2, beyond 10^12 packets, no whole number is near enough to be meant, and x itself is rounded up.

    References
    ----------
    caps u (VI-B) redundancy; cdcps Eq. 4-5.

    Examples
    --------
    >>> repair_packets(21, blocking_prob=0.3)
    9
    >>> repair_packets([4, 10], blocking_prob=[0.2, 4 / 12]).tolist()
    [1, 5]
    """
    counts = whole("k", k, minimum=1)
    as_given = float(blocking_prob) if isinstance(blocking_prob, Fraction) else blocking_prob
    probs = probability("blocking_prob", as_given)
    repair: npt.NDArray[Any]
    if _is_fractions(blocking_prob):
        repair = np.asarray(np.frompyfunc(_exact_ceiling, 2, 1)(counts, np.asarray(blocking_prob, dtype=object)))
    else:
        repair = ceiling_rule(counts, probs)
    require(repair < MOST_REPAIR, TOO_MANY_REPAIR)
    return plain_count(repair)


def _reaches(k: FloatArray, r: FloatArray, p: FloatArray, target: FloatArray) -> npt.NDArray[np.bool_]:
    """Return where p_S reaches `target`, comparing whichever of p_S and 1 - p_S is the smaller one."""
    log_success, log_failure = log_tails(k, r, p)
    low = np.exp(log_success) >= target * (1 - TOLERANCE)
    high = np.exp(log_failure) <= (1 - target) * (1 + TOLERANCE)
    return np.where(target < 0.5, low, high)


@overload
def repair_packets_for(
    k: float,
    *,
    blocking_prob: float | None = ...,
    target_prob: float | None = ...,
    failure_prob: float | None = ...,
    losses: PathLosses | float | None = ...,
) -> int: ...
@overload
def repair_packets_for(
    k: ArrayLike,
    *,
    blocking_prob: ArrayLike | None = ...,
    target_prob: ArrayLike | None = ...,
    failure_prob: ArrayLike | None = ...,
    losses: PathLosses | float | None = ...,
) -> IntArray: ...
@closed_form
def repair_packets_for(
    k: ArrayLike,
    *,
    blocking_prob: ArrayLike | None = None,
    target_prob: ArrayLike | None = None,
    failure_prob: ArrayLike | None = None,
    losses: PathLosses | float | None = None,
) -> int | IntArray:
    r"""Return the fewest repair packets with which a coding unit decodes as surely as is wanted.

    Parameters
    ----------
    k : array_like
        Source packets k, packets, whole, at least 1.
    blocking_prob : array_like, optional
        Probability p that a packet is blocked, in [0, 1); or give `losses`.
    target_prob : array_like, optional
        Wanted decoding probability, in [0, 1); or give `failure_prob`.
    failure_prob : array_like, optional
        Largest probability that the unit does not decode, in (0, 1); 1e-12 is as exact as 0.1. One number with
        `losses`.
    losses : PathLosses or float, optional
        Losses over unequal paths in place of `blocking_prob`; a number is the loss of equal, independent packets.

    Returns
    -------
    int or ndarray of int64
        Packets, broadcast over all arguments.

    Raises
    ------
    ParameterError
        If an argument leaves its range, is given twice or not at all, or over `losses` no number of packets is enough.

    Notes
    -----
    The least r with :math:`p_S(k, r) \ge` target, or :math:`1 - p_S(k, r) \le` failure. p_S rises with r to 1, so
    doubling r until it is reached and halving the bracket finds it; over `losses` a walk through their table does. A
    probability met up to a relative 1e-12 counts as met, as in one typed in decimal that p_S equals.

    References
    ----------
    Inverts caps Eq. 2; the paper's own rule is :func:`repair_packets`, after which p_S is near 1/2 for large units.

    Examples
    --------
    >>> repair_packets_for(1, blocking_prob=0.5, target_prob=0.75)  # 1 - (1/2)^2
    1
    >>> repair_packets_for(29, blocking_prob=0.2, target_prob=0.995)
    16
    >>> [repair_packets_for(64, blocking_prob=0.01175, failure_prob=e) for e in (1e-6, 1e-12)]
    [8, 13]
    """
    one_of("blocking_prob", blocking_prob, "losses", losses)
    one_of("target_prob", target_prob, "failure_prob", failure_prob)
    loss: Any = blocking_prob
    wanted: Any = target_prob
    size = whole("k", k, minimum=1)
    if losses is not None:
        fails = 1 - probability("target_prob", wanted) if failure_prob is None else failure_prob
        return plain_count(_over_paths(size, as_losses(losses), fails))
    p = probability("blocking_prob", loss)
    if failure_prob is None:
        size, p, target = np.broadcast_arrays(size, p, probability("target_prob", wanted))
        return plain_count(least_repair(lambda r: _reaches(size, r, p, target), guess=ceiling_rule(size, p)))
    fails = probability("failure_prob", failure_prob)
    require(fails > 0, "failure_prob = 0, but it must lie in (0, 1): no code never fails")
    size, p, fails = np.broadcast_arrays(size, p, fails)
    limit = np.log(fails) + TOLERANCE
    return plain_count(least_repair(lambda r: log_tails(size, r, p)[1] <= limit, guess=ceiling_rule(size, p)))


def _over_paths(k: FloatArray, losses: PathLosses, failure_prob: ArrayLike) -> IntArray:
    """Return the fewest repair packets of each k, which are found together."""
    limit = failure_target(failure_prob)
    if k.size == 0:
        return np.zeros(k.shape, np.int64)
    most, least = int(np.max(k)), int(np.min(k))
    sizes = repair_of_sizes(losses, failure_prob=limit, max_k=most, least_k=least, needed_k=most)
    return np.asarray(sizes.r[k.astype(np.int64) - least])


@overload
def traffic_overhead(blocking_prob: float, *, long_short_ratio: float, k: float | None = ...) -> float: ...
@overload
def traffic_overhead(
    blocking_prob: ArrayLike, *, long_short_ratio: ArrayLike, k: ArrayLike | None = ...
) -> FloatArray: ...
@closed_form
def traffic_overhead(
    blocking_prob: ArrayLike, *, long_short_ratio: ArrayLike, k: ArrayLike | None = None
) -> FloatOrArray:
    r"""Return the share of repair packets in all packets, when only short flows are coded.

    Parameters
    ----------
    blocking_prob : array_like
        Probability p that a packet is blocked, in [0, 1).
    long_short_ratio : array_like
        Packets of long flows for each packet of short flows g, a ratio, at least 0.
    k : array_like, optional
        Source packets k, packets, whole, at least 1; with it r is rounded up as :func:`repair_packets` does.

    Returns
    -------
    float or ndarray
        Overhead eta, a ratio in [0, 1), broadcast over all arguments.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`\eta = \frac{r/k}{1 + g + r/k} = \frac{p}{1 + g(1-p)}` with r/k = p/(1-p). It falls with g, while
    the text to caps Fig. 10(a) says that it rises; it stays below the 3.5% printed there only for p <= 0.266 at g = 9.

    References
    ----------
    caps Eq. 7.

    Examples
    --------
    >>> round(traffic_overhead(0.25, long_short_ratio=9), 6)  # 1/31
    0.032258
    >>> round(traffic_overhead(0.25, long_short_ratio=9, k=1), 6)  # r = 1: 1/11
    0.090909
    """
    p, g = probability("blocking_prob", blocking_prob), non_negative("long_short_ratio", long_short_ratio)
    if k is None:
        return plain(p / (1 + g * (1 - p)))
    counts = whole("k", k, minimum=1)
    ratio = ceiling_rule(counts, p) / counts
    return plain(ratio / (1 + g + ratio))

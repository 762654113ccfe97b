r"""Repair packets for a probability of failure, and the sizes of unit that are worth a look.

==============================  ==========  ==============================  =======  =====================
Quantity                        Symbol      Name                            Unit     Equation
==============================  ==========  ==============================  =======  =====================
unit does not decode            P(L_n > r)  :func:`unit_failure_prob`       1        caps Eq. 2, unequal
least r of each k               r(k)        :func:`repair_of_sizes`         packets  inverts it
largest k of each r             k(r)        :func:`unit_corners`            packets  inverts it
==============================  ==========  ==============================  =======  =====================

P(L_n > r) falls with r and rises with k (:mod:`capsmodel.coding.paths.losses`), so the least r(k) never falls,
and one walk through the table finds it for all k. The share r/n of repair packets is least at the last k before r
rises: at a *corner*. All other sizes send more for the same promise.
"""

from dataclasses import dataclass
from math import floor, prod
from typing import Literal, get_args, overload

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    IntArray,
    ParameterError,
    choice,
    closed_form,
    one_number,
    plain,
    probability,
    require,
    whole,
)
from capsmodel.coding.paths.losses import MOST_REPAIR, PathLosses, as_losses
from capsmodel.coding.random_linear import without_full_rank

Code = Literal["rs", "rlnc"]
TOLERANCE = 1e-12
"""By how much of itself a probability may exceed the one that is asked for, as one typed in decimal may."""


@overload
def unit_failure_prob(k: float, *, r: float, losses: PathLosses | float, code: Code = ...) -> float: ...
@overload
def unit_failure_prob(k: ArrayLike, *, r: ArrayLike, losses: PathLosses | float, code: Code = ...) -> FloatOrArray: ...
@closed_form
def unit_failure_prob(k: ArrayLike, *, r: ArrayLike, losses: PathLosses | float, code: Code = "rs") -> FloatOrArray:
    r"""Return the probability that a unit does not decode, over unequal paths.

    Parameters
    ----------
    k : array_like
        Source packets k, packets, whole, at least 1.
    r : array_like
        Repair packets r, packets, whole, at least 0.
    losses : PathLosses or float
        What happens to the packets; a number is the loss of equal, independent ones, in [0, 1).
    code : {"rs", "rlnc"}
        Any k packets decode, as of Reed-Solomon codes; or all packets are dense random combinations over GF(256), which
        may lack rank.

    Returns
    -------
    float or ndarray
        Probability in [0, 1], broadcast over `k` and `r`; relative error below 1e-12, also at 1e-60.

    Raises
    ------
    ParameterError
        If an argument leaves its range or the units are too large for a table.

    Notes
    -----
    P(L_n > r), n = k + r, with a code that decodes from any k packets; for ``"rlnc"`` and
    :math:`\sum_{j\le r} P(L_n = j)(1 - Q(k, n - j))`, Q the probability of full rank
    (:func:`capsmodel.coding.random_linear.full_rank_prob`). With one loss for all packets these are
    :func:`capsmodel.coding.decoding.decode_failure_prob` and
    :func:`capsmodel.coding.random_linear.decode_failure_prob_rlnc`.

    References
    ----------
    caps Eq. 2 with unequal paths; the complement.

    Examples
    --------
    Four good paths and one that loses a tenth, in turn and at random:

    >>> paths = [0.001, 0.001, 0.001, 0.001, 0.1]
    >>> [round(unit_failure_prob(10, r=2, losses=PathLosses(paths, spread=way)), 6) for way in ("in-turn", "random")]
    [0.000565, 0.00172]
    """
    k, r = np.broadcast_arrays(whole("k", k, minimum=1), whole("r", r))
    if k.size == 0:
        return plain(np.zeros(k.shape))
    choice("code", code, get_args(Code))
    table = as_losses(losses).failure_table(int(np.max(k + r)), int(np.max(r)))
    n, repair = (k + r).astype(np.int64), r.astype(np.int64)
    fails = table[n, repair]
    extra, most = 0, int(np.max(repair))
    while code == "rlnc" and extra <= most:  # extra packets arrive beyond k: repair - extra are lost
        lost = np.maximum(repair - extra, 0)
        mass = np.where(lost > 0, table[n, lost - 1], 1.0) - table[n, lost]
        lacks = without_full_rank(k, extra)
        if np.all(lacks <= 2.0**-60 * fails):
            break
        fails, extra = fails + np.where(repair >= extra, mass * lacks, 0.0), extra + 1
    return plain(fails)


@dataclass(frozen=True)
class SizesTable:
    """The least r for k = 1, 2, ..., and how often those units fail.

    Attributes
    ----------
    r : ndarray of int64
        Least r of k = 1, 2, ..., packets; it ends before the first k for which no r is enough.
    mean, worst : ndarray
        P(more than r of n packets are lost), shape (N + 1, R + 1), for the mean and for the worst first path.
    """

    r: IntArray
    mean: FloatArray
    worst: FloatArray


def repair_of_sizes(losses: PathLosses, *, failure_prob: float, max_k: int) -> SizesTable:
    """Return the least r of k = 1..max_k with which a unit fails with at most `failure_prob`.

    The table grows until it is wide enough, or until packets that come after the deadline could not help.
    """
    useful = max_k + MOST_REPAIR
    if losses.deadline_s is not None and losses.packet_s is not None:
        useful = floor((losses.deadline_s - losses.codec_s) / losses.packet_s) + 1
    most = min(MOST_REPAIR, useful)
    width = min(most, 8 + round(2 * max_k * losses.mean_loss))
    while True:
        mean, worst = losses.mean_and_worst(max_k + width, width)
        r = _walk(worst if losses.first_path == "worst" else mean, failure_prob * (1 + TOLERANCE), max_k)
        if len(r) == max_k or width == most or _never(losses) > failure_prob:
            return SizesTable(r=r, mean=mean, worst=worst)
        width = min(most, 2 * width)


def _never(losses: PathLosses) -> float:
    """Return the probability that no packet of a unit arrives, however many are sent."""
    down = (path.down if path.loss < 1 else 1.0 for path in losses.paths)
    return float(losses.down_paths == losses.n_paths) or prod(down)


def _walk(table: FloatArray, limit: float, max_k: int) -> IntArray:
    """Return the least r of k = 1, 2, ... as far as the table goes; it never falls, so that each is looked at once."""
    r, found = 0, []
    for k in range(1, max_k + 1):
        while r < table.shape[1] and table[k + r, r] > limit:
            r += 1
        if r == table.shape[1]:
            break
        found.append(r)
    return np.array(found, np.int64)


def require_reached(sizes: SizesTable, k: int, *, losses: PathLosses, failure_prob: float) -> None:
    """Refuse a probability of failure that units of k packets do not reach with any number of repair packets."""
    if len(sizes.r) >= k:
        return
    width = sizes.mean.shape[1] - 1
    left = (sizes.worst if losses.first_path == "worst" else sizes.mean)[k + width, width]
    reason = "all paths may be down at once" if _never(losses) > failure_prob else "allow more failures"
    if losses.deadline_s is not None:
        reason = "what is sent later misses the deadline: lower k, or give more time"
    found = f"with {width} repair packets a unit of k = {k} still fails with {left:.3g}"
    raise ParameterError(f"failure_prob = {failure_prob:g} is out of reach: {found}; {reason}")


@dataclass(frozen=True)
class UnitCorners:
    """For each number of repair packets the largest unit that keeps a promise.

    Attributes
    ----------
    r, k : ndarray of int64
        Repair packets, and the most source packets that they protect, packets.
    share : ndarray
        Share r/n of repair packets in all packets.
    failure_prob, worst_failure_prob : ndarray
        Probability that a unit fails: mean over first paths, and for the worst one.
    limited : bool
        Whether the last k is the largest that was allowed, and more would have been protected.
    """

    r: IntArray
    k: IntArray
    share: FloatArray
    failure_prob: FloatArray
    worst_failure_prob: FloatArray
    limited: bool

    @property
    def best(self) -> int:
        """Index of the corner with the least share of repair packets; of equal ones the smallest unit."""
        return int(self.share.argmin())


@closed_form
def unit_corners(losses: PathLosses | float, *, failure_prob: float, max_k: int) -> UnitCorners:
    r"""Return for each number of repair packets the largest unit that fails with at most `failure_prob`.

    Parameters
    ----------
    losses : PathLosses or float
        What happens to the packets; a number is the loss of equal, independent ones, in [0, 1).
    failure_prob : float
        Largest probability that a unit fails, in (0, 1).
    max_k : int
        Largest k, packets, at least 1.

    Returns
    -------
    UnitCorners
        Arrays of one entry for each r for which there is a k.

    Raises
    ------
    ParameterError
        If an argument leaves its range, or not even a unit of one packet reaches `failure_prob`.

    Notes
    -----
    k(r) is the largest k with P(L_(k+r) > r) at most `failure_prob`. The least r/n is at one of these.

    References
    ----------
    Inverts caps Eq. 2 with unequal paths.

    Examples
    --------
    >>> corners = unit_corners(0.01, failure_prob=1e-6, max_k=64)
    >>> list(zip(corners.r.tolist(), corners.k.tolist()))
    [(2, 1), (3, 5), (4, 14), (5, 28), (6, 46), (7, 64)]
    >>> int(corners.k[corners.best]), round(float(corners.share[corners.best]), 4)
    (64, 0.0986)
    """
    given, limit, most = (
        as_losses(losses),
        failure_target(failure_prob),
        int(one_number(whole, "max_k", max_k, minimum=1)),
    )
    sizes = repair_of_sizes(given, failure_prob=limit, max_k=most)
    require_reached(sizes, 1, losses=given, failure_prob=limit)
    last = np.flatnonzero(np.diff(sizes.r, append=sizes.r[-1] + 1))
    k, r = last + 1, sizes.r[last]
    limited = len(sizes.r) == most
    return UnitCorners(
        r=r,
        k=k,
        share=r / (k + r),
        failure_prob=sizes.mean[k + r, r],
        worst_failure_prob=sizes.worst[k + r, r],
        limited=limited,
    )


def failure_target(failure_prob: ArrayLike) -> float:
    """Check one probability of failure that is asked for: in (0, 1)."""
    value = one_number(probability, "failure_prob", failure_prob)
    require(value > 0, f"failure_prob = {value:g}, but it must lie in (0, 1): no code never fails")
    return value

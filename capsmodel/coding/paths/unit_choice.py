r"""Repair packets for a probability of failure, and the sizes of unit that are worth a look.

==============================  ==========  ==============================  =======  =====================
Quantity                        Symbol      Name                            Unit     Equation
==============================  ==========  ==============================  =======  =====================
unit does not decode            P(L_n > r)  :func:`unit_failure_prob`       1        caps Eq. 2, unequal
the same, code as measured      –           :func:`measured_failure_prob`   1        beyond the papers
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
    table = with_code(as_losses(losses).failure_table(int(np.max(k + r)), int(np.max(r))), code)
    return plain(table[(k + r).astype(np.int64), r.astype(np.int64)])


@closed_form
def measured_failure_prob(k: float, *, r: float, losses: PathLosses | float, undecoded_prob: ArrayLike) -> float:
    r"""Return the probability that a unit does not decode, of a code that was measured.

    Parameters
    ----------
    k, r : float
        Source and repair packets, packets, whole, k at least 1 and r at least 0.
    losses : PathLosses or float
        What happens to the packets; a number is the loss of equal, independent ones, in [0, 1).
    undecoded_prob : array_like
        Probability D_e that k + e of the unit's packets do not decode, e = 0..r, each in [0, 1]; nothing is taken for
        granted beyond what was measured.

    Returns
    -------
    float
        Probability in [0, 1].

    Raises
    ------
    ParameterError
        If an argument leaves its range or `undecoded_prob` has not r + 1 entries.

    Notes
    -----
    :math:`P(L_n>r)+\sum_{j\le r}P(L_n=j)D_{r-j}`, n = k + r. It takes which packets are lost to be any of those of
    their number, equally likely: so of codes whose packets are not alike it is exact for packets that are lost alike. A
    measured share says nothing below some ten times the reciprocal of the number of tries.

    References
    ----------
    Beyond the papers. LDPC codes of RFC 5170 need some packets more than k.

    Examples
    --------
    A code that fails with a tenth of all sets of k packets, and with none of more:

    >>> round(measured_failure_prob(4, r=1, losses=0.1, undecoded_prob=[0.1, 0.0]), 6)
    0.114265
    >>> round(0.08146 + 0.1 * 0.32805, 6)  # two or more are lost, or one is
    0.114265
    """
    source, repair = int(one_number(whole, "k", k, minimum=1)), int(one_number(whole, "r", r))
    undecoded = probability("undecoded_prob", undecoded_prob, one=True)
    count = np.shape(undecoded)
    require(count == (repair + 1,), f"undecoded_prob has shape {count}, but e = 0..{repair} need ({repair + 1},)")
    fails = as_losses(losses).failure_table(source + repair, repair)[source + repair]
    lost = np.diff(fails[::-1], append=1.0)  # P(L_n = j), j = r..0
    return float(fails[repair] + np.sum(lost * undecoded))


def with_code(table: FloatArray, code: Code) -> FloatArray:
    """Return P(a unit of n packets, r of them for repair, does not decode) from P(more than r of n are lost)."""
    choice("code", code, get_args(Code))
    if code == "rs":
        return table
    n, r = np.indices(table.shape)
    k, fails = np.maximum(n - r, 1).astype(np.float64), table.copy()
    for extra in range(table.shape[1]):  # packets that arrive beyond k: r - extra are lost
        lacks = without_full_rank(k, extra)
        if np.all(lacks <= 2.0**-60 * fails):
            break
        lost = table[:, : table.shape[1] - extra]
        mass = np.concatenate([np.ones((len(table), 1)), lost[:, :-1]], axis=1) - lost
        fails[:, extra:] += mass * lacks[:, extra:]
    return fails


@dataclass(frozen=True)
class SizesTable:
    """The least r for k = least_k, least_k + 1, ..., and how often those units fail.

    Attributes
    ----------
    r : ndarray of int64
        Least r of each k, packets; it ends before the first k for which no r is enough.
    mean, worst : ndarray
        P(more than r of n packets are lost), shape (N + 1, R + 1), for the mean and for the worst first path.
    least_k : int
        The first k.
    """

    r: IntArray
    mean: FloatArray
    worst: FloatArray
    least_k: int = 1


def repair_of_sizes(
    losses: PathLosses, *, failure_prob: float, max_k: int, least_k: int = 1, code: Code = "rs"
) -> SizesTable:
    """Return the least r of k = least_k..max_k with which a unit fails with at most `failure_prob`.

    The table grows until it is wide enough, or until packets that come after the deadline could not help.
    """
    useful = max_k + MOST_REPAIR
    if losses.deadline_s is not None and losses.packet_s is not None:
        useful = floor((losses.deadline_s - losses.codec_s) / losses.packet_s) + 1
    most = min(MOST_REPAIR, useful)
    width = min(most, 8 + round(2 * max_k * losses.mean_loss))
    while True:
        tables = losses.mean_and_worst(max_k + width, width, least_packets=least_k)
        mean, worst = (with_code(table, code) for table in tables)
        limit = failure_prob * (1 + TOLERANCE)
        r = _walk(worst if losses.first_path == "worst" else mean, limit, range(least_k, max_k + 1))
        if len(r) == max_k + 1 - least_k or width == most or _never(losses) > failure_prob:
            return SizesTable(r=r, mean=mean, worst=worst, least_k=least_k)
        width = min(most, 2 * width)


def _never(losses: PathLosses) -> float:
    """Return the probability that no packet of a unit arrives, however many are sent."""
    down = (path.down if path.loss < 1 else 1.0 for path in losses.paths)
    return float(losses.down_paths == losses.n_paths) or prod(down)


def _walk(table: FloatArray, limit: float, sizes: range) -> IntArray:
    """Return the least r of each k as far as the table goes; it never falls, so that each is looked at once."""
    r, found = 0, []
    for k in sizes:
        while r < table.shape[1] and table[k + r, r] > limit:
            r += 1
        if r == table.shape[1]:
            break
        found.append(r)
    return np.array(found, np.int64)


def require_reached(sizes: SizesTable, k: int, *, losses: PathLosses, failure_prob: float) -> None:
    """Refuse a probability of failure that units of k packets do not reach with any number of repair packets."""
    if len(sizes.r) > k - sizes.least_k:
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
def unit_corners(losses: PathLosses | float, *, failure_prob: float, max_k: int, code: Code = "rs") -> UnitCorners:
    r"""Return for each number of repair packets the largest unit that fails with at most `failure_prob`.

    Parameters
    ----------
    losses : PathLosses or float
        What happens to the packets; a number is the loss of equal, independent ones, in [0, 1).
    failure_prob : float
        Largest probability that a unit fails, in (0, 1).
    max_k : int
        Largest k, packets, at least 1.
    code : {"rs", "rlnc"}
        As in :func:`unit_failure_prob`.

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
    sizes = repair_of_sizes(given, failure_prob=limit, max_k=most, code=code)
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

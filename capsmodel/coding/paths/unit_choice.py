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
and one walk through a table finds it for all k. Where all packets are lost alike and independently no table is made:
P is that of :func:`capsmodel.coding.decoding.decode_failure_prob`. The share r/n of repair packets is least at the last
k before r rises: at a *corner*. All other sizes send more for the same target.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import floor, prod
from typing import Literal, get_args, overload

import numpy as np
import numpy.typing as npt
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
from capsmodel.coding._unit_search import MOST_REPAIR as MOST_WHOLE
from capsmodel.coding._unit_search import TOO_MANY_REPAIR, ceiling_rule, log_tails
from capsmodel.coding.paths.delays import time_left_s
from capsmodel.coding.paths.losses import MOST_REPAIR, PathLosses, as_losses
from capsmodel.coding.random_linear import decode_failure_prob_rlnc, without_full_rank

Code = Literal["rs", "rlnc"]
_MOST_SIZES = 2**20
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
    choice("code", code, get_args(Code))
    k, r = np.broadcast_arrays(whole("k", k, minimum=1), whole("r", r))
    given = as_losses(losses)
    if k.size == 0 or given.equal_loss is not None:
        return plain(_equal_failure_prob(k, r, given.equal_loss or 0.0, code))
    of = partial(with_code, code=code)
    table = given.over_first_paths(int(np.max(k + r)), int(np.max(r)), of)
    return plain(np.minimum(table[(k + r).astype(np.int64), r.astype(np.int64)], 1.0))


def _equal_failure_prob(k: FloatArray, r: FloatArray, loss: float, code: Code) -> FloatArray:
    """Return how often units fail whose packets are lost alike and independently, without a table."""
    if code == "rlnc":
        return np.asarray(decode_failure_prob_rlnc(k, r=r, blocking_prob=loss))
    return np.exp(log_tails(k, r, np.full(k.shape, loss))[1])


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

    def fails(table: FloatArray) -> FloatArray:
        above = table[source + repair]
        lost = np.diff(above[::-1], append=1.0)  # P(L_n = j), j = r..0
        return np.asarray(above[repair] + np.sum(lost * undecoded))

    return float(as_losses(losses).over_first_paths(source + repair, repair, fails))


def with_code(table: FloatArray, code: Code) -> FloatArray:
    """Return P(a unit of n packets, r of them for repair, does not decode) from P(more than r of n are lost)."""
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
    least_k : int
        The first k.
    fails : function
        From sizes k, with their least r, to how often these units fail: for the mean and for the worst first path.
    """

    r: IntArray
    least_k: int
    fails: Callable[[IntArray], tuple[FloatArray, FloatArray]]


def least_repair(
    enough: Callable[[FloatArray], npt.NDArray[np.bool_]], *, guess: FloatArray, low: FloatArray | float = -1.0
) -> FloatArray:
    """Return the least whole r >= 0 that is `enough`, where every larger one is; doubled from `guess`, then halved.

    An r of `low` is known not to be enough.
    """
    # `low` is not enough (-1: nothing is known), `high` is; the interval between them shrinks to nothing.
    low, high = np.broadcast_to(low, guess.shape), guess
    require(high < MOST_WHOLE, TOO_MANY_REPAIR)
    short = ~enough(high)
    while np.any(short):
        low, high = np.where(short, high, low), np.where(short, 2 * high + 1, high)
        require(high < MOST_WHOLE, TOO_MANY_REPAIR)
        short = ~enough(high)
    while np.any(high - low > 1):
        middle = np.maximum(np.floor((low + high) / 2), 0)
        reached = enough(middle)
        low, high = np.where(reached | (high - low <= 1), low, middle), np.where(reached, middle, high)
    return high


def repair_of_sizes(
    losses: PathLosses,
    *,
    failure_prob: float,
    max_k: int,
    least_k: int = 1,
    needed_k: int | None = None,
    code: Code = "rs",
) -> SizesTable:
    """Return the least r of k = least_k..max_k with which a unit fails with at most `failure_prob`.

    Refused where `needed_k`, the least k when not given, has none.
    """
    choice("code", code, get_args(Code))
    sizes = range(least_k, max_k + 1)
    if losses.equal_loss is not None:
        return _equal_sizes(losses.equal_loss, failure_prob * (1 + TOLERANCE), sizes, code)
    return _sizes_by_table(losses, failure_prob, sizes, least_k if needed_k is None else needed_k, code)


def _equal_sizes(loss: float, limit: float, sizes: range, code: Code) -> SizesTable:
    """Return the least r of each size where packets are lost alike: between two of the same r it is the same."""
    require(len(sizes) <= _MOST_SIZES, f"{len(sizes)} sizes of unit were asked for, but {_MOST_SIZES} fit: lower k")

    def least(k: FloatArray, guess: FloatArray, low: FloatArray | float) -> FloatArray:
        return least_repair(lambda r: _equal_failure_prob(k, r, loss, code) <= limit, guess=guess, low=low)

    k = np.array([sizes[0], sizes[-1]], np.float64)
    r = least(k, ceiling_rule(k, np.asarray(loss)), -1.0)
    while np.any(apart := (np.diff(k) > 1) & (np.diff(r) > 0)):
        left = np.flatnonzero(apart)
        middle = np.floor((k[left] + k[left + 1]) / 2)
        between = least(middle, r[left + 1], r[left] - 1)
        k, r = np.insert(k, left + 1, middle), np.insert(r, left + 1, between)
    repair = r[np.searchsorted(k, sizes)].astype(np.int64)

    def fails(at: IntArray) -> tuple[FloatArray, FloatArray]:
        prob = _equal_failure_prob(at.astype(np.float64), repair[at - sizes[0]].astype(np.float64), loss, code)
        return prob, prob

    return SizesTable(repair, sizes[0], fails)


def _sizes_by_table(losses: PathLosses, failure_prob: float, sizes: range, needed_k: int, code: Code) -> SizesTable:
    """Return the least r of each size by a table.

    It grows until it is wide enough, or until packets that come after the deadline could not help.
    """
    useful = sizes[-1] + MOST_REPAIR
    if losses.deadline_s is not None and losses.packet_s is not None:
        useful = floor(time_left_s(losses.deadline_s, losses.codec_s) / losses.packet_s) + 1
    most = min(MOST_REPAIR, useful)
    width = min(most, 8 + round(2 * sizes[-1] * losses.mean_loss))
    of, never = partial(with_code, code=code), _never(losses) > failure_prob
    while True:
        mean, worst = losses.mean_and_worst(sizes[-1] + width, width, least_packets=sizes[0], of=of)
        decisive = worst if losses.first_path == "worst" else mean
        r = _walk(decisive, failure_prob * (1 + TOLERANCE), sizes)
        if len(r) == len(sizes) or width == most or never:
            break
        width = min(most, 2 * width)

    if len(r) <= needed_k - sizes[0]:
        reason = "all paths may be down at once" if never else "allow more failures"
        if losses.deadline_s is not None:
            delay_s = min(getattr(path.delay, "least_s", 0.0) for path in losses.paths)
            least_s = needed_k * (losses.packet_s or 0.0) + delay_s + losses.codec_s
            reason = f"what is sent later misses the deadline, and k packets take {least_s:.4g} s at least"
            reason += ": lower k, or give more time"
        left = decisive[needed_k + width, width]
        still = f"with {width} repair packets a unit of k = {needed_k} still fails with {left:.3g}"
        raise ParameterError(f"failure_prob = {failure_prob:g} is out of reach: {still}; {reason}")

    def fails(at: IntArray) -> tuple[FloatArray, FloatArray]:
        repair = r[at - sizes[0]]
        return mean[at + repair, repair], worst[at + repair, repair]

    return SizesTable(r, sizes[0], fails)


def _never(losses: PathLosses) -> float:
    """Return the probability that no packet of a unit arrives, however many are sent."""
    down = (path.down if path.loss < 1 else 1.0 for path in losses.paths)
    return float(losses.down_paths == losses.n_paths) or prod(down)


def _walk(table: FloatArray, limit: float, sizes: range) -> IntArray:
    """Return the least r of each k as far as the table goes; it never falls, so that each is looked at once."""
    r, corners = 0, []
    for k in sizes:
        while r < table.shape[1] and table[k + r, r] > limit:
            r += 1
        if r == table.shape[1]:
            break
        corners.append(r)
    return np.array(corners, np.int64)


@dataclass(frozen=True)
class UnitCorners:
    """For each number of repair packets the largest unit that keeps a target.

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
    last = np.flatnonzero(np.diff(sizes.r, append=sizes.r[-1] + 1))
    k, r = last + 1, sizes.r[last]
    mean, worst = sizes.fails(k)
    limited = len(sizes.r) == most
    return UnitCorners(r=r, k=k, share=r / (k + r), failure_prob=mean, worst_failure_prob=worst, limited=limited)


def failure_target(failure_prob: ArrayLike) -> float:
    """Check one probability of failure that is asked for: in (0, 1)."""
    value = one_number(probability, "failure_prob", failure_prob)
    require(value > 0, f"failure_prob = {value:g}, but it must lie in (0, 1): no code never fails")
    return value

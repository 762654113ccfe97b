r"""Delay of every coding-unit size at many parameter points: the tables behind :mod:`capsmodel.coding.optimal_unit`.

====================================  ============  ===================  =======  ==========
Quantity                              Symbol        Name                 Unit     Equation
====================================  ============  ===================  =======  ==========
best k, its r, k near the best        –             :func:`best_sizes`   packets  caps Eq. 4
r of a given k                        r(k)          :func:`best_r`       packets  caps Eq. 4
r and delay of every k at all points  r(k), d_w(k)  :func:`delay_table`  s        caps Eq. 4
====================================  ============  ===================  =======  ==========

**Recurrence in k and r.** The number of packets blocked before the k-th arrival has the mass
f(r) = C(k+r-1, r) q^k p^r, and the unit fails with probability U = P(more than r). Neighbours differ by one term,

.. math:: f_k(r+1) = f_k(r)\,p\,\frac{k+r}{r+1},\quad U_k(r+1) = U_k(r) - f_k(r+1),

.. math:: f_{k+1}(r) = f_k(r)\,q\,\frac{k+r}{k},\quad U_{k+1}(r) = U_k(r) + f_k(r)\,p\,\frac{k+r}{k},

so one pass over k serves all points at about ten operations each instead of an incomplete beta function. Every 64
steps of k it restarts from :func:`capsmodel.coding._binomial.log_tails`. It only ranks the sizes; what users see is
evaluated anew by :meth:`capsmodel.coding.unit_parameters.UnitParameters.delay_s`. Above p = 0.9, where r grows by more
than nine with each k, all k are evaluated directly.

**Best r for given k.** With e = w/k >= 1 units, s(r) = F(r)^e, F = 1 - U, the cost of redundancy c e r (c = MSS/C) and
the gain A = RTT_L - RTT_S - d_B of a window that decodes, the delay changes from r to r + 1 by c e - A D(r+1),
D(r) = s(r) - s(r-1). *D is log-concave*: with alpha = f(r)/F(r) and rho = f(r+1)/f(r),

.. math:: \frac{D(r+1)}{D(r)} = \frac{(1+\rho\alpha)^e - 1}{1-(1-\alpha)^e}.

It grows with rho, and with alpha, since the numerator is convex, the denominator concave in alpha (e >= 1) and both
start at 0. Both rho and alpha fall with r: f is log-concave, hence so is F. So D(r+1)/D(r) falls with r. Hence the
delay can only rise, fall and rise again along r: its minimum is at r = 0 or at the turn from falling to rising. Call r
*proven* when D(r+1) <= D(r) and A D(r+1) <= c e: then no larger r is better. If r is proven, so is every larger r, by
the same monotony; the turn, if there is one, is the least proven r, and it is found by steps or by halving.
"""

from dataclasses import replace
from types import EllipsisType

import numpy as np
import numpy.typing as npt

from capsmodel.checks import FloatArray, ParameterError
from capsmodel.coding._binomial import log_pmf, log_tails
from capsmodel.coding._unit_search_point import LEAST_COST_SHARE, best_size_at
from capsmodel.coding._unit_terms import RESTART, last_mass, next_k_factor, next_mass
from capsmodel.coding.redundancy import ceiling_rule, least_repair
from capsmodel.coding.unit_parameters import Index, UnitParameters

_RECURRENCE_MAX_PROB = 0.9
_MOST_SIZES = 2**17  # tried in half a second for a point by the recurrence
_MOST_DIRECT_SIZES = 2**12  # the same above _RECURRENCE_MAX_PROB
_FEW_POINTS = 16  # so many take less time one by one
_TABLE_CELLS = 2**19  # 8 MB for a chunk; large enough that the cost of a NumPy call does not matter


class _Recurrence:
    """U and f of the module text at one (k, r) for each point, moved by one packet at a time."""

    def __init__(self, prob: FloatArray) -> None:
        self.prob = prob
        self.k = 1.0
        self.restart(1.0, np.zeros_like(prob))

    def restart(self, k: float, r: FloatArray) -> None:
        at_k = np.full_like(r, k)
        self.k, self.r = k, r.copy()
        self.failure = np.exp(log_tails(at_k, r, self.prob)[1])
        self.mass = np.exp(log_pmf(r, at_k + r, self.prob)) * (k / (k + r))

    def next_k(self) -> None:
        if self.k % RESTART == 0:
            self.restart(self.k + 1, self.r)
            return
        common = next_k_factor(self.mass, self.k, self.r)
        self.failure += self.prob * common
        self.mass = (1 - self.prob) * common
        self.k += 1

    def next_mass(self, points: Index | EllipsisType) -> FloatArray:
        """Return f(r + 1)."""
        return next_mass(self.mass[points], self.prob[points], self.k, self.r[points])

    def last_mass(self, points: Index) -> FloatArray:
        """Return f(r - 1) where r > 0."""
        return last_mass(self.mass[points], self.prob[points], self.k, self.r[points])

    def raise_r(self, points: Index) -> None:
        self.mass[points] = self.next_mass(points)
        self.failure[points] -= self.mass[points]
        self.r[points] += 1

    def lower_r(self, points: Index) -> None:
        self.failure[points] += self.mass[points]
        self.mass[points] = self.last_mass(points)
        self.r[points] -= 1


def _increments(
    decode: FloatArray, mass: FloatArray, next_mass: FloatArray, units: FloatArray
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.bool_]]:
    """Return D(r), D(r + 1) and whether D falls; `decode` F(r), `mass` f(r), `next_mass` f(r + 1)."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        window = np.exp(units * np.log(decode))
        here = -np.expm1(units * np.log1p(-np.minimum(mass / decode, 1)))
        ahead = np.expm1(units * np.log1p(next_mass / decode))
        # Far below the turn D(r + 1) may be 0 * inf: nan, which compares as not proven.
        return window * here, window * ahead, ahead <= here


def _move_to_least_proven_r(recurrence: _Recurrence, units: FloatArray, gain_per_cost: FloatArray) -> None:
    """Move r to the least proven value; `gain_per_cost` is A / (c e).

    Up first, then down only where it did not go up, so that rounding cannot make it cycle.
    """
    decode = 1 - recurrence.failure
    here, ahead, falls = _increments(decode, recurrence.mass, recurrence.next_mass(...), units)
    proven = falls & (gain_per_cost * ahead <= 1)
    down = np.flatnonzero(proven & (recurrence.r > 0) & (gain_per_cost * here <= 1))
    up = np.flatnonzero(~proven)
    while up.size:
        recurrence.raise_r(up)
        decode = 1 - recurrence.failure[up]
        _, ahead, falls = _increments(decode, recurrence.mass[up], recurrence.next_mass(up), units[up])
        up = up[~(falls & (gain_per_cost[up] * ahead <= 1))]
    while down.size:
        below = 1 - recurrence.failure[down] - recurrence.mass[down]
        _, ahead, falls = _increments(below, recurrence.last_mass(down), recurrence.mass[down], units[down])
        down = down[falls & (gain_per_cost[down] * ahead <= 1)]
        recurrence.lower_r(down)
        down = down[recurrence.r[down] > 0]


def _gain_per_cost(parameters: UnitParameters, k: FloatArray | float) -> FloatArray:
    """Return A / (c e): what a window gains by decoding, over the cost of one more repair packet in each unit."""
    gain_s = parameters.rtt_long_s - parameters.rtt_short_s - (k - 1) * parameters.packet_s / 2
    return gain_s / (parameters.packet_s * parameters.units(k))


def _least_proven_r(parameters: UnitParameters, k: FloatArray) -> FloatArray:
    """Return the least proven r by doubling and halving, all k (a column) and points at once."""
    units = parameters.units(k)
    gain_per_cost, prob = _gain_per_cost(parameters, k), np.broadcast_to(parameters.blocking_prob, units.shape)

    def proven(r: FloatArray) -> npt.NDArray[np.bool_]:
        decode, mass = np.exp(log_tails(k, r, prob)[0]), np.exp(log_pmf(r, k + r, prob)) * (k / (k + r))
        _, ahead, falls = _increments(decode, mass, mass * prob * (k + r) / (r + 1), units)
        return falls & (gain_per_cost * ahead <= 1)

    return least_repair(proven, guess=ceiling_rule(k, prob))


def _better_of_r_and_none(
    parameters: UnitParameters, k: FloatArray | float, *, r: FloatArray, log_decode_prob: FloatArray
) -> FloatArray:
    """Return (delay, r) stacked, with r = 0 instead of `r` where that is no worse."""
    with_r, zero = parameters.delay_s(k, r=r, log_decode_prob=log_decode_prob), np.zeros_like(r)
    without = parameters.delay_s(k, r=zero, log_decode_prob=k * np.log1p(-parameters.blocking_prob) + zero)
    return np.array([np.minimum(without, with_r), np.where(without <= with_r, zero, r)])


def best_r(parameters: UnitParameters, k: FloatArray) -> FloatArray:
    """Return the repair packets of each k <= w: with their cost the r of least delay, else by the ceiling rule."""
    prob = parameters.blocking_prob
    if not parameters.repair_costs:
        return ceiling_rule(k, prob)
    r = _least_proven_r(parameters, k)
    best: FloatArray = _better_of_r_and_none(parameters, k, r=r, log_decode_prob=log_tails(k, r, prob)[0])[1]
    return best


def _table_directly(parameters: UnitParameters, n_k: int) -> FloatArray:
    """Tabulate (delay, r) for k = 1..n_k, each from the incomplete beta function."""
    k = np.arange(1.0, n_k + 1)[:, None]
    r = best_r(parameters, k)
    return np.stack([parameters.delay_s(k, r=r, log_decode_prob=log_tails(k, r, parameters.blocking_prob)[0]), r])


def _table_by_recurrence(parameters: UnitParameters, n_k: int) -> FloatArray:
    """Tabulate (delay, r) for k = 1..n_k in one pass over k."""
    prob = parameters.blocking_prob
    table = np.empty((2, n_k, prob.size))
    recurrence = _Recurrence(prob)
    jump = np.floor(prob / (1 - prob))  # by how much r grows at least, nearly always
    for k in range(1, n_k + 1):
        if k > 1:
            recurrence.next_k()
        if parameters.repair_costs:
            target = recurrence.r + jump if k > 1 else recurrence.r
        else:
            target = ceiling_rule(np.asarray(float(k)), prob)
        while (low := np.flatnonzero(recurrence.r < target)).size:
            recurrence.raise_r(low)
        if parameters.repair_costs:
            _move_to_least_proven_r(recurrence, parameters.units(k), _gain_per_cost(parameters, k))
        # A failure that rounds to 1 gives log 0, and so the delay RTT_L, which is right to rounding.
        with np.errstate(divide="ignore"):
            decode = {"r": recurrence.r, "log_decode_prob": np.log1p(-recurrence.failure)}
        if parameters.repair_costs:
            table[:, k - 1] = _better_of_r_and_none(parameters, k, **decode)
        else:
            table[0, k - 1] = parameters.delay_s(k, **decode)
            table[1, k - 1] = recurrence.r
    return table


def delay_table(parameters: UnitParameters) -> tuple[FloatArray, FloatArray]:
    """Return (delay, r), each of shape (largest max_k, points); the delay is inf beyond a point's own max_k."""
    n_k = int(np.max(parameters.max_k))
    near_one = np.flatnonzero(parameters.blocking_prob > _RECURRENCE_MAX_PROB)
    if near_one.size < parameters.blocking_prob.size:
        table = _table_by_recurrence(parameters, n_k)
    else:
        table = np.empty((2, n_k, near_one.size))
    if near_one.size:
        table[:, :, near_one] = _table_directly(parameters.take(near_one), n_k)
    table[0][np.arange(1, n_k + 1)[:, None] > parameters.max_k] = np.inf
    return table[0], table[1]


def _searched_sizes(parameters: UnitParameters) -> FloatArray:
    """Return the largest k of each point that needs a search: where k has nothing to gain, its best r is 0."""
    if not parameters.repair_costs or parameters.whole_units:
        return parameters.max_k
    nothing_to_gain = np.floor(2 * (parameters.rtt_long_s - parameters.rtt_short_s) / parameters.packet_s) + 2
    return np.asarray(np.minimum(parameters.max_k, nothing_to_gain))


def _require_few_sizes(sizes: FloatArray, prob: FloatArray) -> None:
    """Refuse searches that would take seconds for a single point."""
    most = np.where(prob > _RECURRENCE_MAX_PROB, _MOST_DIRECT_SIZES, _MOST_SIZES)
    if np.any(sizes > most):
        tried, fit = np.max(sizes[sizes > most]), np.min(most[sizes > most])
        raise ParameterError(f"a search would try {tried:g} sizes of unit, but {fit} fit: give max_k = {fit}")


def best_sizes(parameters: UnitParameters, *, near: float) -> FloatArray:
    """Return rows k, r, least and largest k with a delay of at most (1 + near) times the least; a column a point."""
    searched = replace(parameters, max_k=_searched_sizes(parameters))
    prob = parameters.blocking_prob
    _require_few_sizes(searched.max_k, prob)
    exact = parameters.packet_s >= LEAST_COST_SHARE * parameters.rtt_long_s
    if prob.size <= _FEW_POINTS and np.all(exact & (prob <= _RECURRENCE_MAX_PROB)):
        best = np.array([best_size_at(searched, i, near=near) for i in range(prob.size)]).reshape(-1, 4).T
    else:
        best = _best_together(searched.flat(), near)
    if np.any(searched.max_k < parameters.max_k):
        best[3] = _largest_near(parameters.flat(), searched.max_k.ravel(), best, near)
    return best


def _best_together(parameters: UnitParameters, near: float) -> FloatArray:
    """Return the rows of :func:`best_sizes` by tables of many points at once."""
    best = np.empty((4, parameters.blocking_prob.size))
    # In order of p, so that the points of a chunk need the same number of steps in r.
    order = np.argsort(parameters.blocking_prob)
    size = max(64, _TABLE_CELLS // int(np.max(parameters.max_k, initial=1)))
    for start in range(0, order.size, size):
        index = order[start : start + size]
        delays, r = delay_table(parameters.take(index))
        row = np.argmin(delays, axis=0)
        columns = np.arange(index.size)
        close = delays <= (1 + near) * delays[row, columns]
        last = len(delays) - np.argmax(close[::-1], axis=0)
        best[:, index] = row + 1, r[row, columns], np.argmax(close, axis=0) + 1, last
    return best


def _largest_near(parameters: UnitParameters, searched: FloatArray, best: FloatArray, near: float) -> FloatArray:
    """Return the largest k near the best, also of the sizes beyond `searched`, which need no repair packets.

    Without them (1-p)^w of the windows decode whatever k, and the delay grows in proportion to k - 1.
    """
    prob, k, r = parameters.blocking_prob, best[0], best[1]
    limit_s = (1 + near) * parameters.delay_s(k, r=r, log_decode_prob=log_tails(k, r, prob)[0])
    decoded = np.exp(parameters.window_packets * np.log1p(-prob))
    room_s = limit_s - parameters.rtt_long_s + decoded * (parameters.rtt_long_s - parameters.rtt_short_s)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        beyond = np.floor(2 * room_s / (decoded * parameters.packet_s)) + 1
    beyond = np.where(beyond < parameters.max_k, beyond, parameters.max_k)  # also where no window decodes: NaN
    return np.where(beyond > searched, beyond, best[3])

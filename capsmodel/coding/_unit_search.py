r"""Delay of every coding-unit size at many parameter points: the tables behind :mod:`capsmodel.coding.optimal_unit`.

====================================  ==============  ==========================  ====  ==========
Quantity                              Symbol          Name                        Unit  Equation
====================================  ==============  ==========================  ====  ==========
best k, its r, k near the best         --              :func:`best_sizes`          --    caps Eq. 4
r of a given k                         r(k)            :func:`best_r`              --    caps Eq. 4
r and delay of every k at all points  r(k), d_w(k)    :func:`delay_table`         s     caps Eq. 4
====================================  ==============  ==========================  ====  ==========

**Ladder.** The number of packets blocked before the k-th arrival has the mass f(r) = C(k+r-1, r) q^k p^r, and the unit
fails with probability U = P(more than r). Neighbours differ by one term,

.. math:: f_k(r+1) = f_k(r)\,p\,\frac{k+r}{r+1},\quad U_k(r+1) = U_k(r) - f_k(r+1),

.. math:: f_{k+1}(r) = f_k(r)\,q\,\frac{k+r}{k},\quad U_{k+1}(r) = U_k(r) + f_k(r)\,p\,\frac{k+r}{k},

so one pass over k serves all points at about ten operations each instead of an incomplete beta function. Every 64
steps of k it restarts from :func:`capsmodel.coding._binomial.log_tails`. The ladder only ranks; what users see is
evaluated anew by :func:`capsmodel.coding._unit_points.delay_s`. Above p = 0.9, where r moves by more than nine a
step, all k are evaluated directly.

**Best r for given k.** With e = w/k >= 1 units, s(r) = F(r)^e, F = 1 - U, the cost of redundancy c e r (c = MSS/C) and
the gain A = RTT_L - RTT_S - d_B, the delay changes from r to r + 1 by c e - A D(r+1), D(r) = s(r) - s(r-1). *D is
log-concave*: with alpha = f(r)/F(r) and rho = f(r+1)/f(r),

.. math:: \frac{D(r+1)}{D(r)} = \frac{(1+\rho\alpha)^e - 1}{1-(1-\alpha)^e}.

It grows with rho, and with alpha, since the numerator is convex, the denominator concave in alpha (e >= 1) and both
start at 0. Both rho and alpha fall with r: f is log-concave, hence so is F. So D(r+1)/D(r) falls with r. Hence the
delay can only rise, fall and rise again along r: its minimum is at r = 0 or at the turn from falling to rising. Call r
*settled* when D(r+1) <= D(r) and A D(r+1) <= c e. Settled r stay settled when r grows, by the same monotony; the turn,
if there is one, is the least settled r, and it is found by steps or by halving. Nothing beyond it can be better.
"""

from types import EllipsisType

import numpy as np
import numpy.typing as npt

from capsmodel.checks import FloatArray
from capsmodel.coding._binomial import log_pmf, log_tails
from capsmodel.coding._unit_points import Index, Points, Rule, delay_s
from capsmodel.coding.redundancy import ceiling_rule

_RESTART = 64
_LADDER_MAX_PROB = 0.9
_TABLE_CELLS = 2**19  # 8 MB for a chunk; large enough that the cost of a NumPy call does not matter


class _Ladder:
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
        if self.k % _RESTART == 0:
            self.restart(self.k + 1, self.r)
            return
        grown = self.mass * ((self.k + self.r) / self.k)
        self.failure += self.prob * grown
        self.mass = (1 - self.prob) * grown
        self.k += 1

    def next_mass(self, at: Index | EllipsisType) -> FloatArray:
        """Return f(r + 1)."""
        return self.mass[at] * self.prob[at] * (self.k + self.r[at]) / (self.r[at] + 1)

    def last_mass(self, at: Index) -> FloatArray:
        """Return f(r - 1) where r > 0."""
        return self.mass[at] * self.r[at] / (self.prob[at] * (self.k + self.r[at] - 1))

    def raise_r(self, at: Index) -> None:
        self.mass[at] = self.next_mass(at)
        self.failure[at] -= self.mass[at]
        self.r[at] += 1

    def lower_r(self, at: Index) -> None:
        self.failure[at] += self.mass[at]
        self.mass[at] = self.last_mass(at)
        self.r[at] -= 1


def _gains(
    decode: FloatArray, mass: FloatArray, next_mass: FloatArray, units: FloatArray
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.bool_]]:
    """Return D(r), D(r + 1) and whether D falls; `decode` F(r), `mass` f(r), `next_mass` f(r + 1)."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        window = np.exp(units * np.log(decode))
        here = -np.expm1(units * np.log1p(-np.minimum(mass / decode, 1)))
        ahead = np.expm1(units * np.log1p(next_mass / decode))
        # Far below the turn D(r + 1) may be 0 * inf: nan, which compares as not settled.
        return window * here, window * ahead, ahead <= here


def _settle(ladder: _Ladder, units: FloatArray, worth: FloatArray) -> None:
    """Move r to the least settled value; `worth` is A / (c e).

    Up first, then down only where it did not go up, so that rounding cannot make it cycle.
    """
    here, ahead, falls = _gains(1 - ladder.failure, ladder.mass, ladder.next_mass(...), units)
    good = falls & (worth * ahead <= 1)
    down = np.flatnonzero(good & (ladder.r > 0) & (worth * here <= 1))
    at = np.flatnonzero(~good)
    while at.size:
        ladder.raise_r(at)
        _, ahead, falls = _gains(1 - ladder.failure[at], ladder.mass[at], ladder.next_mass(at), units[at])
        at = at[~(falls & (worth[at] * ahead <= 1))]
    while down.size:
        below = 1 - ladder.failure[down] - ladder.mass[down]
        _, ahead, falls = _gains(below, ladder.last_mass(down), ladder.mass[down], units[down])
        down = down[falls & (worth[down] * ahead <= 1)]
        ladder.lower_r(down)
        down = down[ladder.r[down] > 0]


def _worth(at: Points, k: FloatArray | float, units: FloatArray) -> FloatArray:
    gain = at.rtt_long_s - at.rtt_short_s - (k - 1) * at.packet_s / 2
    return gain / (at.packet_s * units)


def _settled_directly(at: Points, rule: Rule, k: FloatArray) -> FloatArray:
    """Return the least settled r by doubling and halving, all k (a column) and points at once."""
    units = rule.units(at, k)
    worth, prob = _worth(at, k, units), np.broadcast_to(at.prob, units.shape)

    def settled(r: FloatArray) -> npt.NDArray[np.bool_]:
        decode, mass = np.exp(log_tails(k, r, prob)[0]), np.exp(log_pmf(r, k + r, prob)) * (k / (k + r))
        _, ahead, falls = _gains(decode, mass, mass * prob * (k + r) / (r + 1), units)
        return falls & (worth * ahead <= 1)

    low, high = np.full(units.shape, -1.0), ceiling_rule(k, prob)
    short = ~settled(high)
    while short.any():
        low, high = np.where(short, high, low), np.where(short, 2 * high + 1, high)
        short = ~settled(high)
    while np.any(high - low > 1):
        middle = np.maximum(np.floor((low + high) / 2), 0)
        good = settled(middle)
        low, high = np.where(good | (high - low <= 1), low, middle), np.where(good, middle, high)
    return high


def _or_none(at: Points, rule: Rule, k: FloatArray | float, r: FloatArray, log_decode: FloatArray) -> FloatArray:
    """Return (delay, r) stacked, with r = 0 instead of `r` where that is no worse."""
    with_r, zero = delay_s(at, rule, k, r, log_decode), np.zeros_like(r)
    without = delay_s(at, rule, k, zero, k * np.log1p(-at.prob) + zero)
    return np.array([np.minimum(without, with_r), np.where(without <= with_r, zero, r)])


def best_r(at: Points, rule: Rule, k: FloatArray) -> FloatArray:
    """Return the repair packets of each k <= w: with their cost the r of least delay, else by the ceiling rule."""
    if not rule.redundancy_cost:
        return ceiling_rule(k, at.prob)
    r = _settled_directly(at, rule, k)
    best: FloatArray = _or_none(at, rule, k, r, log_tails(k, r, at.prob)[0])[1]
    return best


def _direct_table(at: Points, rule: Rule, n_k: int) -> FloatArray:
    """Tabulate (delay, r) without the ladder."""
    k = np.arange(1.0, n_k + 1)[:, None]
    r = best_r(at, rule, k)
    return np.stack([delay_s(at, rule, k, r, log_tails(k, r, at.prob)[0]), r])


def _ladder_table(at: Points, rule: Rule, n_k: int) -> FloatArray:
    """Tabulate (delay, r) in one pass over k."""
    table = np.empty((2, n_k, at.prob.size))
    ladder = _Ladder(at.prob)
    jump = np.floor(at.prob / (1 - at.prob))  # by how much r grows at least, nearly always
    for k in range(1, n_k + 1):
        if k > 1:
            ladder.next_k()
        if rule.redundancy_cost:
            target = ladder.r + jump if k > 1 else ladder.r
        else:
            target = ceiling_rule(np.asarray(float(k)), at.prob)
        while (low := np.flatnonzero(ladder.r < target)).size:
            ladder.raise_r(low)
        if rule.redundancy_cost:
            units = rule.units(at, k)
            _settle(ladder, units, _worth(at, k, units))
            table[:, k - 1] = _or_none(at, rule, k, ladder.r, np.log1p(-ladder.failure))
        else:
            table[0, k - 1] = delay_s(at, rule, k, ladder.r, np.log1p(-ladder.failure))
            table[1, k - 1] = ladder.r
    return table


def delay_table(at: Points, rule: Rule) -> tuple[FloatArray, FloatArray]:
    """Return (delay, r), each of shape (largest max_k, points); the delay is inf beyond a point's own max_k."""
    n_k = int(np.max(at.max_k))
    steep = np.flatnonzero(at.prob > _LADDER_MAX_PROB)
    table = _ladder_table(at, rule, n_k) if steep.size < at.prob.size else np.empty((2, n_k, steep.size))
    if steep.size:
        table[:, :, steep] = _direct_table(at.take(steep), rule, n_k)
    table[0][np.arange(1, n_k + 1)[:, None] > at.max_k] = np.inf
    return table[0], table[1]


def best_sizes(at: Points, rule: Rule, *, near: float) -> FloatArray:
    """Return rows k, r, least and largest k with a delay of at most (1 + near) times the least; a column a point."""
    best = np.empty((4, at.prob.size))
    # In order of p, so that the points of a chunk need the same number of steps in r.
    order = np.argsort(at.prob)
    size = max(64, _TABLE_CELLS // int(np.max(at.max_k, initial=1)))
    for start in range(0, order.size, size):
        index = order[start : start + size]
        delays, r = delay_table(at.take(index), rule)
        row = np.argmin(delays, axis=0)
        columns = np.arange(index.size)
        close = delays <= (1 + near) * delays[row, columns]
        last = len(delays) - np.argmax(close[::-1], axis=0)
        best[:, index] = row + 1, r[row, columns], np.argmax(close, axis=0) + 1, last
    return best

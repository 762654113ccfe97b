r"""The best coding unit at one parameter point, in Python floats; arrays are :mod:`capsmodel.coding._unit_search`'s.

The recurrence in k and r and the rule of the best r are those of that module. A NumPy call on a single number costs
twenty times the arithmetic, and one point is what a loop or a sender asks for.

**Sizes that need no look.** Let h(k) be the least delay of units of k packets over r, with the cost of repair packets,
and S(k) = RTT_S + d_B(k) the delay of a window that decodes. A larger unit k' with the same r decodes less likely, and
of the b = e(k')/e(k) <= 1 times as many units each costs the same. As :math:`G^b \le 1 - b + bG` for the probability G
that the window of k decodes,

.. math:: h(k') \ge (1-b)\,S(k) + b\,h(k).

So all k' with b above (limit - S(k))/(h(k) - S(k)) exceed `limit`, here 1.01 times the least delay so far, and none of
them is within 1% of the best.
"""

from math import ceil, exp, expm1, floor, inf, log1p

import numpy as np

from capsmodel.coding._binomial_point import log_pmf_at, log_tails_at
from capsmodel.coding._unit_terms import RESTART, buffered_s, last_mass, next_k_factor, next_mass
from capsmodel.coding.redundancy import ceiling_rule
from capsmodel.coding.unit_parameters import UnitParameters

LEAST_COST_SHARE = 1e-9
"""Least time of a packet as a share of RTT_L at which differences of delays are far above rounding."""
_SLACK = 1 + 1e-9  # for the rounding of both sides of the bound

_State = tuple[float, float, float]  # r, f(r), U(r) of the recurrence
_Tried = tuple[float, int, float]  # delay, k, r


def best_size_at(parameters: UnitParameters, i: int, *, near: float) -> tuple[float, float, float, float]:
    """Return k, r, least and largest k with a delay of at most (1 + near) times the least, at point `i`."""
    point, n_k = _Point(parameters, i), int(parameters.max_k.item(i))
    if parameters.repair_costs:
        tried = _tried_with_cost(point, n_k, near)
    else:
        tried = _tried_by_rule(point, n_k, ceiling_rule(np.arange(1.0, n_k + 1), np.asarray(point.p)).tolist())
    least, k, r = min(tried)
    close = [size for delay, size, _ in tried if delay <= (1 + near) * least]
    return k, r, close[0], close[-1]


def _at_next_k(state: _State, k: int, p: float) -> _State:
    """Return r, f(r), U(r) of units of k packets from those of k - 1."""
    r, mass, failure = state
    if (k - 1) % RESTART == 0:
        return r, exp(log_pmf_at(r, k + r, p)) * (k / (k + r)), exp(log_tails_at(k, r, p)[1])
    common = next_k_factor(mass, k - 1, r)
    return r, (1 - p) * common, failure + p * common


def _raised(state: _State, k: int, p: float, count: float) -> _State:
    """Return r, f(r), U(r) with r raised by `count`."""
    r, mass, failure = state
    for _ in range(int(count)):
        mass = next_mass(mass, p, k, r)
        failure -= mass
        r += 1
    return r, mass, failure


def _decoded(failure: float, units: float) -> float:
    """Return the probability s that all units of a window decode, 0 where the failure has rounded to 1."""
    return exp(units * log1p(-failure)) if failure < 1 else 0.0


def _at_least_proven_r(state: _State, k: int, p: float, units: float, gain_per_cost: float) -> _State:
    """Move r to the least proven value: up first, then down only where it did not go up."""
    r, mass, failure = state
    above = next_mass(mass, p, k, r)
    last = _decoded(failure + mass, units) if r else 0.0
    here, ahead = _decoded(failure, units), _decoded(failure - above, units)
    proven = gain_per_cost * (ahead - here) <= 1 and ahead - here <= here - last
    if proven:
        return _lowered(state, k, p, units, gain_per_cost, (last, here))
    while not proven:
        r, mass, failure = r + 1, above, failure - above
        above = next_mass(mass, p, k, r)
        last, here, ahead = here, ahead, _decoded(failure - above, units)
        proven = gain_per_cost * (ahead - here) <= 1 and ahead - here <= here - last
    return r, mass, failure


def _lowered(
    state: _State, k: int, p: float, units: float, gain_per_cost: float, decoded: tuple[float, float]
) -> _State:
    """Lower a proven r to the least proven one; `decoded` holds s(r - 1) and s(r)."""
    r, mass, failure = state
    last, here = decoded
    while r > 0 and gain_per_cost * (here - last) <= 1:
        below = last_mass(mass, p, k, r)
        before = _decoded(failure + mass + below, units) if r > 1 else 0.0
        if here - last > last - before:
            break
        r, mass, failure = r - 1, below, failure + mass
        last, here = before, last
    return r, mass, failure


class _Point:
    """The numbers of one parameter point."""

    def __init__(self, parameters: UnitParameters, i: int) -> None:
        self.p, self.window = parameters.blocking_prob.item(i), parameters.window_packets.item(i)
        self.short_s, self.long_s = parameters.rtt_short_s.item(i), parameters.rtt_long_s.item(i)
        self.packet_s, self.whole_units = parameters.packet_s.item(i), parameters.whole_units

    def units(self, k: int) -> float:
        units = self.window / k
        return float(ceil(units)) if self.whole_units else units

    def delay_s(self, log_window: float, decoded_s: float) -> float:
        """Return the mean delay of a window without the cost of repair packets."""
        return exp(log_window) * decoded_s - expm1(log_window) * self.long_s


def _tried_with_cost(point: _Point, n_k: int, near: float) -> list[_Tried]:
    """Return delay, k and best r of each size that may be near the best; the others exceed the bound on sizes."""
    p, jump = point.p, floor(point.p / (1 - point.p))
    tried, least, skipped_above = list[_Tried](), inf, inf
    state: _State = (0.0, 1 - p, p)
    for k in range(1, n_k + 1):
        if k > 1:
            state = _raised(_at_next_k(state, k, p), k, p, jump)
        units = point.units(k)
        if units > skipped_above:
            continue
        decoded_s, cost_s = buffered_s(point.short_s, point.packet_s, k), units * point.packet_s
        state = _at_least_proven_r(state, k, p, units, (point.long_s - decoded_s) / cost_s)
        r, _, failure = state
        delay = point.delay_s(units * log1p(-failure), decoded_s) + r * cost_s if failure < 1 else inf
        without = point.delay_s(units * k * log1p(-p), decoded_s)
        if without <= delay:
            delay, r = without, 0.0
        tried.append((delay, k, r))
        if delay < least:
            least = delay
        excess = delay - decoded_s
        skipped_above = units * (_SLACK * (1 + near) * least - decoded_s) / excess if excess > 0 else inf
    return tried


def _tried_by_rule(point: _Point, n_k: int, repair: list[float]) -> list[_Tried]:
    """Return delay, k and r of all sizes with r by the ceiling rule."""
    p, tried = point.p, list[_Tried]()
    state: _State = (0.0, 1 - p, p)
    for k in range(1, n_k + 1):
        state = _raised(_at_next_k(state, k, p) if k > 1 else state, k, p, repair[k - 1] - state[0])
        r, _, failure = state
        log_window = point.units(k) * log1p(-failure) if failure < 1 else -inf
        tried.append((point.delay_s(log_window, buffered_s(point.short_s, point.packet_s, k)), k, r))
    return tried

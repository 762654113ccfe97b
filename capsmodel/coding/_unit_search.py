r"""Blocked packets of a coding unit, and the unit of least delay: scalar functions, compiled where there is much to do.

================================  ===============  ======================  =======  ==========
Quantity                          Symbol           Name                    Unit     Equation
================================  ===============  ======================  =======  ==========
log of C(n, j) p^j q^(n-j)        log p_B(j)       :func:`log_pmf`         1        caps Eq. 1
log P(X <= r), log P(X > r)       log F, log U     :func:`log_tails`       1        caps Eq. 2
repair packets by the paper       r                :func:`ceiling_rule`    packets  caps VI-B
r of least delay of a given k     r(k)             :func:`best_repair`     packets  caps Eq. 4
r and delay of every k            r(k), d_w(k)     :func:`delay_table`     s        caps Eq. 4
best k, its r, k near the best    –                :func:`best_sizes`      packets  caps Eq. 4
================================  ===============  ======================  =======  ==========

Here q = 1 - p, n = k + r, and X is the number of blocked packets among n.

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

Why not ``scipy.special``: `bdtr` and `bdtrc` take 1 - p in double precision and lose 1e-3 at k = 10^6, p = 0.9;
``betainc(k, r + 1, 1 - p)`` loses 1e-8 at p = 1e-9; ``betaincc(r + 1, k, p)`` comes near 1e-12 for k = 10^6 and
underflows in the tails, where its logarithm is still wanted. Measured against mpmath (70 digits) at 12 000 random
points with k up to 10^6, p from 1e-9 to 0.999 and r up to 100 standard deviations from its mean: relative error below
3e-13 for either tail down to 1e-300 (1e-14 above 1e-20), and below 1e-14 for the logarithm of the smaller one. A
logarithm closer to zero than 1e-308 is returned as zero.

**Recurrence in k and r.** The number of packets blocked before the k-th arrival has the mass
f(r) = C(k+r-1, r) q^k p^r, and the unit fails with probability U = P(more than r). Neighbours differ by one term,

.. math:: f_k(r+1) = f_k(r)\,p\,\frac{k+r}{r+1},\quad U_k(r+1) = U_k(r) - f_k(r+1),

.. math:: f_{k+1}(r) = f_k(r)\,q\,\frac{k+r}{k},\quad U_{k+1}(r) = U_k(r) + f_k(r)\,p\,\frac{k+r}{k},

so a pass over k costs some ten operations a size instead of a continued fraction. Every `RESTART` sizes it starts anew
from :func:`log_tails_at`. It only ranks the sizes; what users see is evaluated anew by
:meth:`capsmodel.coding.unit_parameters.UnitParameters.delay_s`. Above `STEPWISE_PROB`, where r grows by more than 99
with each k, each k is evaluated directly.

**Best r for given k.** With e = w/k >= 1 units, s(r) = F(r)^e, F = 1 - U, the cost of redundancy c e r (c = MSS/C) and
the gain A = RTT_L - RTT_S - d_B of a window that decodes, the delay changes from r to r + 1 by c e - A D(r+1),
D(r) = s(r) - s(r-1). *D is log-concave*: with alpha = f(r)/F(r) and rho = f(r+1)/f(r),

.. math:: \frac{D(r+1)}{D(r)} = \frac{(1+\rho\alpha)^e - 1}{1-(1-\alpha)^e}.

It grows with rho, and with alpha, since the numerator is convex, the denominator concave in alpha (e >= 1) and both
start at 0. Both rho and alpha fall with r: f is log-concave, hence so is F. So D(r+1)/D(r) falls with r. Hence the
delay can only rise, fall and rise again along r: its minimum is at r = 0 or at the turn from falling to rising. Call r
*proven* when D(r+1) <= D(r) and A D(r+1) <= c e: then no larger r is better. If r is proven, so is every larger r, by
the same monotony; the turn, if there is one, is the least proven r, and it is found by steps or by halving. D(r+1) and
D(r) are compared as shares of s(r), which underflows in windows of many packets while the shares do not.

**Sizes that need no look.** Let h(k) be the least delay of units of k packets over r, with the cost of repair packets,
and S(k) = RTT_S + d_B(k) the delay of a window that decodes. A larger unit k' with the same r decodes less likely, and
of the b = e(k')/e(k) <= 1 times as many units each costs the same. As :math:`G^b \le 1 - b + bG` for the probability G
that the window of k decodes,

.. math:: h(k') \ge (1-b)\,S(k) + b\,h(k).

So all k' with b above (limit - S(k))/(h(k) - S(k)) exceed `limit`, here 1.01 times the least delay so far, and none of
them is within 1% of the best.

**One text for one point and a million.** The functions listed in `SCALAR` take and return numbers. Python runs them as
they stand where that takes about as long as Numba takes to load; for more points the loops over points are compiled
with them, and kept on disk. The hooks of the simulator's CAPS call them too. All give the same bits.
"""

from dataclasses import replace
from math import ceil, exp, expm1, floor, inf, isnan, log, log1p, nan, pi
from typing import Any, NamedTuple, TypeVar

import numpy as np

from capsmodel.checks import FloatArray, ParameterError, require
from capsmodel.coding.unit_parameters import UnitParameters

Real = TypeVar("Real", float, FloatArray)

SERIES_TERMS = 18  # (1/9)**18 is below 2**-53
SPLITTER = 2.0**27 + 1  # Veltkamp's constant for 53-bit significands
CONVERGED = 5e-16
TINY = 1e-290  # below it a ratio to a count may overflow
MOST_STEPS = 2**14
"""Steps of the continued fraction after which it is given up: half a second for an array."""
RESTART = 64
"""Steps of k after which the recurrence starts anew, so that rounding does not add up."""
STEPWISE_PROB = 0.99
MOST_REPAIR = 2.0**53  # float64 holds every whole number below
UNIT_ROUNDOFF = 2.0**-53
SLACK = 1 + 1e-9  # for the rounding of both sides of the bound on sizes
_TOO_MANY_STEPS = (
    f"the sum over blocked packets takes more than {MOST_STEPS} steps, one a standard deviation: lower k and r"
)
TOO_MANY_REPAIR = "blocking_prob is so near 1 that r exceeds 2^53 packets: lower it"
_MOST_SIZES = 2**17  # tried in half a second for a point by steps
_MOST_DIRECT_SIZES = 2**12  # the same above STEPWISE_PROB
_RUN_BY_PYTHON = 2**15  # sizes and tails of a call: a few tenths of a second, half of what it takes to load Numba
_CHUNK = 2**19  # sizes and tails between two looks at whether Ctrl-C was pressed


class Point(NamedTuple):
    """What the delay of a window depends on at one point, in the units of :class:`UnitParameters`."""

    blocking_prob: float
    window_packets: float
    rtt_short_s: float
    rtt_long_s: float
    packet_s: float
    repair_costs: bool
    whole_units: bool


def remainder(m: float) -> float:
    """Return Stirling's remainder delta(m) for whole m >= 1, absolute error below 1e-15."""
    if m < 16:
        return SMALL_REMAINDERS[int(m)]
    s = 1 / (m * m)
    return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * 691 / 360360))))) / m


def _small_remainders() -> tuple[float, ...]:
    """Tabulate delta(m), m = 0..15, downwards: delta(m) = delta(m + 1) + (m + 1/2) log(1 + 1/m) - 1."""
    table = [remainder(16.0)]
    for m in range(15, 0, -1):
        table.append(table[-1] + ((m + 0.5) * log1p(1 / m) - 1))
    return (nan, *reversed(table[1:]))  # log 0 has no Stirling form; callers treat j = 0 apart


SMALL_REMAINDERS = _small_remainders()


def deviation(j: float, n: float, p: float) -> float:
    """Return j - n p with the product n p taken exactly as hi + lo (Dekker)."""
    high = n * p
    n_high = n * SPLITTER - (n * SPLITTER - n)
    p_high = p * SPLITTER - (p * SPLITTER - p)
    n_low, p_low = n - n_high, p - p_high
    low = ((n_high * p_high - high) + n_high * p_low + n_low * p_high) + n_low * p_low
    return (j - high) - low


def deviance(x: float, mean: float, d: float) -> float:
    """Return mean * phi(d / mean) for x = mean + d > 0."""
    v = d / (x + mean)
    if abs(v) > 1 / 3:
        return x * (log(x / mean) if mean > TINY else log(x) - log(mean)) - d
    series = 0.0
    for i in range(SERIES_TERMS, 0, -1):
        series = v * v * (1 / (2 * i + 1) + series)
    return d * v + 2 * x * v * series


def log_pmf_at(j: float, n: float, p: float) -> float:
    """Return log P(exactly j of n packets are blocked) for whole 0 <= j <= n and 0 <= p < 1."""
    if j == 0:
        return n * log1p(-p)
    if p == 0:
        return -inf
    if j == n:
        return n * log(p)
    rest, d = n - j, deviation(j, n, p)
    return (
        0.5 * log(n / (2 * pi * j * rest))
        + (remainder(n) - remainder(j) - remainder(rest))
        - (deviance(j, n * p, d) + deviance(rest, n * (1 - p), -d))
    )


def fraction(a: float, b: float, x: float, lam: float) -> float:
    """Return K by the modified Lentz method, or NaN if `MOST_STEPS` are too few."""
    value = c = a * lam / (a + 1)
    d, delta, m = 0.0, 0.0, 0
    while abs(delta - 1) > CONVERGED:
        m += 1
        if m > MOST_STEPS:
            return nan
        g = a + 2 * m - 1
        alpha = (a + m - 1) / g * ((a + b + m - 1) / g) * (m * (b - m)) * (x * x)
        beta = m + m * (b - m) * x / g + (a + m) * (lam + m * (2 - x)) / (g + 2)
        d = 1 / (beta + alpha * d)
        c = beta + alpha / c
        delta = c * d
        value *= delta
    return value


def log_tails_at(k: float, r: float, p: float) -> tuple[float, float]:
    """Return (log P(X <= r), log P(X > r)) for whole k >= 1, r >= 0 and 0 <= p < 1; NaN if the fraction is given up."""
    if p == 0:
        return 0.0, -inf
    d = deviation(r, k + r, p)
    lower = 3 * d < p - 2
    bound = fraction(k, r + 1, 1 - p, p - d) if lower else fraction(r + 1, k, p, d + (1 - p) + 1)
    far = log(p) + log(k / bound) + log_pmf_at(r, k + r, p)  # k p / K may underflow where its logarithm does not
    near = log1p(-exp(far)) + 0.0  # not -0.0
    return (far, near) if lower else (near, far)


def ceiling_rule(k: Real, p: Real) -> Real:
    """Return ceil(k p / (1 - p)), of numbers or arrays, with the tolerance of :func:`capsmodel.repair_packets`."""
    x = k * p / (1 - p)
    doubt = x * (4 + 2 / (1 - p)) * UNIT_ROUNDOFF
    return -((doubt * (doubt < 0.5) - x) // 1)  # the ceiling, of numbers as of arrays


def mass_and_failure(k: float, r: float, p: float) -> tuple[float, float]:
    """Return f(r) and U(r) of units of `k` packets, evaluated directly."""
    return exp(log_pmf_at(r, k + r, p)) * (k / (k + r)), exp(log_tails_at(k, r, p)[1])


def next_size(k: float, r: float, mass: float, failure: float, p: float) -> tuple[float, float]:
    """Return f(r) and U(r) of units of k > 1 packets from those of k - 1."""
    if (k - 1) % RESTART == 0:
        return mass_and_failure(k, r, p)
    common = mass * ((k - 1 + r) / (k - 1))
    return (1 - p) * common, failure + p * common


def next_mass(k: float, r: float, mass: float, p: float) -> float:
    """Return f(r + 1) from f(r)."""
    return mass * p * (k + r) / (r + 1)


def raised_repair(
    k: float, r: float, mass: float, failure: float, p: float, target: float
) -> tuple[float, float, float]:
    """Return r, f(r) and U(r) with r raised to `target`."""
    while r < target:
        mass = next_mass(k, r, mass, p)
        failure -= mass
        r += 1.0
    return r, mass, failure


def log_decoded(failure: float) -> float:
    """Return log F; a failure that has rounded to 1 gives -inf, and so the delay RTT_L, which is right to rounding."""
    return log1p(-failure) if failure < 1 else -inf


def mean_delay(log_window: float, decoded: float, late: float) -> float:
    """Return the delay of a window that takes `decoded` if all its units decode and `late` if not (caps Eq. 4)."""
    return exp(log_window) * decoded - expm1(log_window) * late


def units_of(point: Point, k: float) -> float:
    """Return the number of units of k source packets in a window."""
    units = point.window_packets / k
    return float(ceil(units)) if point.whole_units else units


def decoded_delay_s(point: Point, k: float) -> float:
    """Return S(k): the delay of a window whose units all decode, RTT_S and the wait for a unit to be complete."""
    return point.rtt_short_s + (k - 1) * point.packet_s / 2


def gain_per_cost(point: Point, units: float, decoded_s: float) -> float:
    """Return A / (c e): what a window gains by decoding, over the cost of one more repair packet in each unit."""
    return min((point.rtt_long_s - decoded_s) / (units * point.packet_s), 1e300)  # inf * 0 would be no number


def is_proven(decode: float, mass: float, above: float, units: float, gain: float) -> bool:
    """Return whether r is proven, from F(r), f(r), f(r + 1), e and A / (c e)."""
    if decode <= 0:
        return False
    growth = units * log1p(above / decode)
    if growth > 1:  # D(r + 1) is above s(r), and D(r) is not
        return False
    ahead, share = expm1(growth), mass / decode
    here = -expm1(units * log1p(-share)) if share < 1 else 1.0
    return ahead <= here and gain * exp(units * log(decode)) * ahead <= 1


def moved_to_least_proven(
    k: float, r: float, mass: float, failure: float, p: float, units: float, gain: float
) -> tuple[float, float, float]:
    """Return r, f(r) and U(r) at the least proven r.

    Up first, then down only where it did not go up, so that rounding cannot make it cycle.
    """
    rose, above = False, next_mass(k, r, mass, p)
    while not is_proven(1 - failure, mass, above, units, gain):
        r, mass, failure, rose = r + 1, above, failure - above, True
        above = next_mass(k, r, mass, p)
    while not rose and r > 0:
        below = mass * r / (p * (k + r - 1))
        if not is_proven(1 - (failure + mass), below, mass, units, gain):
            break
        r, mass, failure = r - 1, below, failure + mass
    return r, mass, failure


def is_proven_at(k: float, r: float, p: float, units: float, gain: float) -> bool:
    """Return whether r is proven, evaluated directly."""
    mass = mass_and_failure(k, r, p)[0]
    return is_proven(exp(log_tails_at(k, r, p)[0]), mass, next_mass(k, r, mass, p), units, gain)


def least_proven(k: float, p: float, units: float, gain: float) -> float:
    """Return the least proven r by doubling and halving; inf if it reaches `MOST_REPAIR`, NaN if a tail is given up."""
    low, high = -1.0, ceiling_rule(k, p)
    if isnan(log_tails_at(k, high, p)[0]):  # near the mean, where the fraction has the most steps
        return nan
    while high < MOST_REPAIR and not is_proven_at(k, high, p, units, gain):
        low, high = high, 2 * high + 1
    if high >= MOST_REPAIR:
        return inf
    while high - low > 1:
        middle = float(floor((low + high) / 2))
        if is_proven_at(k, middle, p, units, gain):
            high = middle
        else:
            low = middle
    return high


def with_or_without_repair(
    point: Point, k: float, units: float, decoded_s: float, r: float, log_decode: float
) -> tuple[float, float]:
    """Return the delay with `r` repair packets and r, or those of none where repair packets cost and do not pay."""
    delay_s = mean_delay(units * log_decode, decoded_s, point.rtt_long_s)
    if not point.repair_costs:
        return delay_s, r
    delay_s += r * units * point.packet_s
    without_s = mean_delay(units * k * log1p(-point.blocking_prob), decoded_s, point.rtt_long_s)
    return (without_s, 0.0) if without_s <= delay_s else (delay_s, r)


def best_repair_at(point: Point, k: float) -> tuple[float, float]:
    """Return the least delay of units of k packets and its r, evaluated directly."""
    p, units, decoded_s = point.blocking_prob, units_of(point, k), decoded_delay_s(point, k)
    r = least_proven(k, p, units, gain_per_cost(point, units, decoded_s)) if point.repair_costs else ceiling_rule(k, p)
    return with_or_without_repair(point, k, units, decoded_s, r, log_tails_at(k, r, p)[0])


def units_to_skip(units: float, decoded_s: float, delay_s: float, limit_s: float) -> float:
    """Return the number of units of a larger size above which its delay exceeds the limit."""
    excess_s = delay_s - decoded_s
    return units * (SLACK * limit_s - decoded_s) / excess_s if excess_s > 0 else inf


def delays_of_sizes(point: Point, n_k: int, near: float, delays: Any, repair: Any) -> None:
    """Fill in delay and best r of units of 1 to `n_k` packets; inf for some that are not `near` the best."""
    p = point.blocking_prob
    stepwise, least_rise = p <= STEPWISE_PROB, floor(p / (1 - p))  # by how much r grows at least, nearly always
    r, mass, failure, least_s, skipped_above = 0.0, 1 - p, p, inf, inf
    for i in range(n_k):
        k = i + 1.0
        units, decoded_s = units_of(point, k), decoded_delay_s(point, k)
        delays[i], repair[i] = inf, 0.0
        if stepwise:
            if i > 0:
                mass, failure = next_size(k, r, mass, failure, p)
            target = r + least_rise * (i > 0) if point.repair_costs else ceiling_rule(k, p)
            r, mass, failure = raised_repair(k, r, mass, failure, p, target)
        if units > skipped_above:
            continue
        if stepwise and point.repair_costs:
            gain = gain_per_cost(point, units, decoded_s)
            r, mass, failure = moved_to_least_proven(k, r, mass, failure, p, units, gain)
        if stepwise:
            delay_s, best_r = with_or_without_repair(point, k, units, decoded_s, r, log_decoded(failure))
        else:
            delay_s, best_r = best_repair_at(point, k)
        delays[i], repair[i] = delay_s, best_r
        if point.repair_costs:
            least_s = min(least_s, delay_s)
            skipped_above = units_to_skip(units, decoded_s, delay_s, (1 + near) * least_s)


def each_pmf(j: Any, n: Any, p: Any, result: Any) -> None:
    """Fill in log p_B of each point."""
    for i in range(len(p)):
        result[i] = log_pmf_at(j[i], n[i], p[i])


def each_tails(k: Any, r: Any, p: Any, success: Any, failure: Any) -> None:
    """Fill in log F and log U of each point."""
    for i in range(len(p)):
        success[i], failure[i] = log_tails_at(k[i], r[i], p[i])


def each_repair(
    p: Any, window: Any, short: Any, long: Any, packet: Any, k: Any, costs: bool, whole: bool, repair: Any
) -> None:
    """Fill in the best r of k[i] packets at each point."""
    for i in range(len(p)):
        point = Point(p[i], window[i], short[i], long[i], packet[i], costs, whole)
        repair[i] = best_repair_at(point, k[i])[1]


def each_table(
    p: Any, window: Any, short: Any, long: Any, packet: Any, n_k: Any, costs: bool, whole: bool, rows: Any, repair: Any
) -> None:
    """Fill in a row of delays and one of best r for each point."""
    for i in range(len(p)):
        point = Point(p[i], window[i], short[i], long[i], packet[i], costs, whole)
        delays_of_sizes(point, int(n_k[i]), inf, rows[i], repair[i])


def each_best(
    p: Any, window: Any, short: Any, long: Any, packet: Any, n_k: Any, costs: bool, whole: bool, near: float, best: Any
) -> None:
    """Fill in k, r, least and largest k within `near` of the least delay, a row for each point."""
    most = 1
    for i in range(len(n_k)):
        most = max(most, int(n_k[i]))
    delays, repair = np.empty(most), np.empty(most)
    for i in range(len(p)):
        point, sizes = Point(p[i], window[i], short[i], long[i], packet[i], costs, whole), int(n_k[i])
        delays_of_sizes(point, sizes, near, delays, repair)
        least = np.argmin(delays[:sizes])
        close = np.flatnonzero(delays[:sizes] <= (1 + near) * delays[least])
        best[i, 0], best[i, 1] = least + 1.0, repair[least]
        if len(close):  # not where a delay is no number
            best[i, 2], best[i, 3] = close[0] + 1.0, close[-1] + 1.0


SCALAR = (
    remainder, deviation, deviance, log_pmf_at, fraction, log_tails_at, ceiling_rule, mass_and_failure, next_size,
    next_mass, raised_repair, log_decoded, mean_delay, units_of, decoded_delay_s, gain_per_cost, is_proven,
    moved_to_least_proven, is_proven_at, least_proven, with_or_without_repair, best_repair_at, units_to_skip,
    delays_of_sizes,
)  # fmt: skip
"""All functions of numbers, which compile as they stand."""


def _run(
    loop: Any, inputs: list[FloatArray], settings: tuple[Any, ...], outputs: list[FloatArray], *, steps: float
) -> None:
    """Let `loop` fill in the outputs, all of as many entries as the inputs, where each point takes some steps."""
    count = len(inputs[0])
    if count * steps <= _RUN_BY_PYTHON:
        loop(*(values.tolist() for values in inputs), *settings, *outputs)
        return
    from capsmodel._compilation import run_compiled  # loads Numba, which takes as long as all else

    size = max(1, int(_CHUNK / steps))
    for start in range(0, count, size):
        chunk = [[values[start : start + size] for values in arrays] for arrays in (inputs, outputs)]
        run_compiled(loop, *chunk[0], *settings, *chunk[1], parts=SCALAR)


def _flat(*values: Any) -> tuple[list[FloatArray], tuple[int, ...]]:
    """Return values as lists of points of one length, and the shape that they have together."""
    shape = np.broadcast_shapes(*map(np.shape, values))
    # Copies: of an array that may be written to, and of one that may not, Numba would compile a loop each.
    return [np.array(np.broadcast_to(v, shape), dtype=np.float64).ravel() for v in values], shape


def log_pmf(j: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """Return log P(exactly j of n packets are blocked) for whole 0 <= j <= n and 0 <= p < 1."""
    points, shape = _flat(j, n, p)
    result = np.empty(points[0].size)
    _run(each_pmf, points, (), [result], steps=1)
    return result.reshape(shape)


def log_tails(k: FloatArray, r: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (log P(X <= r), log P(X > r)) for X blocked among k + r packets; k >= 1, r >= 0, 0 <= p < 1."""
    if np.ndim(k) == np.ndim(r) == np.ndim(p) == 0:
        success, failure = map(np.asarray, log_tails_at(float(k), float(r), float(p)))
    else:
        points, shape = _flat(k, r, p)
        success, failure = np.empty((2, points[0].size))
        _run(each_tails, points, (), [success, failure], steps=1)
        success, failure = success.reshape(shape), failure.reshape(shape)
    require(~np.isnan(failure), _TOO_MANY_STEPS)
    return success, failure


def _points(parameters: UnitParameters) -> tuple[list[FloatArray], tuple[bool, bool]]:
    """Return the parameters as lists of points, and the settings of all points."""
    quantities = (parameters.blocking_prob, parameters.window_packets, parameters.rtt_short_s, parameters.rtt_long_s)
    lists, _ = _flat(*quantities, parameters.packet_s)
    return lists, (parameters.repair_costs, parameters.whole_units)


def _require_found(repair: FloatArray) -> None:
    """Refuse searches that were given up."""
    require(~np.isnan(repair), _TOO_MANY_STEPS)
    require(repair < np.inf, TOO_MANY_REPAIR)


def best_repair(parameters: UnitParameters, k: FloatArray) -> FloatArray:
    """Return the repair packets of each k <= w: with their cost the r of least delay, else by the ceiling rule."""
    if not parameters.repair_costs:
        return ceiling_rule(k, parameters.blocking_prob)
    shape = np.broadcast_shapes(np.shape(k), parameters.blocking_prob.shape)
    lists, settings = _points(parameters.shaped(shape))
    repair = np.empty(lists[0].size)
    _run(each_repair, [*lists, _flat(np.broadcast_to(k, shape))[0][0]], settings, [repair], steps=30)
    _require_found(repair)
    return repair.reshape(shape)


def delay_table(parameters: UnitParameters) -> tuple[FloatArray, FloatArray]:
    """Return (delay, r), each of shape (largest max_k, points); the delay is inf beyond a point's own max_k."""
    lists, settings = _points(parameters)
    n_k = int(np.max(parameters.max_k))
    delays, repair = np.full((lists[0].size, n_k), np.inf), np.zeros((lists[0].size, n_k))
    _run(each_table, [*lists, parameters.max_k.flatten()], settings, [delays, repair], steps=_steps(parameters, n_k))
    _require_found(repair)
    return delays.T, repair.T


def _steps(parameters: UnitParameters, n_k: float) -> float:
    """Return about how many sizes and repair packets are passed at a point."""
    largest_prob = min(float(np.max(parameters.blocking_prob, initial=0)), STEPWISE_PROB)
    return max(1.0, n_k / (1 - largest_prob))


def _searched_sizes(parameters: UnitParameters) -> FloatArray:
    """Return the largest k of each point that needs a search: where k has nothing to gain, its best r is 0."""
    if not parameters.repair_costs or parameters.whole_units:
        return parameters.max_k
    nothing_to_gain = np.floor(2 * (parameters.rtt_long_s - parameters.rtt_short_s) / parameters.packet_s) + 2
    return np.asarray(np.minimum(parameters.max_k, nothing_to_gain))


def _require_few_sizes(sizes: FloatArray, prob: FloatArray) -> None:
    """Refuse searches that would take seconds for a single point."""
    most = np.where(prob > STEPWISE_PROB, _MOST_DIRECT_SIZES, _MOST_SIZES)
    if np.any(sizes > most):
        tried, fit = np.max(sizes[sizes > most]), np.min(most[sizes > most])
        raise ParameterError(f"a search would try {tried:g} sizes of unit, but {fit} fit: give max_k = {fit}")


def best_sizes(parameters: UnitParameters, *, near: float) -> FloatArray:
    """Return rows k, r, least and largest k with a delay of at most (1 + near) times the least; a column a point."""
    searched = replace(parameters, max_k=_searched_sizes(parameters))
    _require_few_sizes(searched.max_k, searched.blocking_prob)
    lists, settings = _points(searched)
    best, n_k = np.empty((lists[0].size, 4)), np.max(searched.max_k, initial=1)
    steps = _steps(searched, n_k)
    _run(each_best, [*lists, searched.max_k.flatten()], (*settings, near), [best], steps=steps)
    _require_found(best[:, 1])
    if np.any(searched.max_k < parameters.max_k):
        best[:, 3] = _largest_near(parameters.flat(), searched.max_k.ravel(), best.T, near)
    return best.T


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

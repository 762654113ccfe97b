r"""The two exact evaluations behind the M/G/1 waiting-time distribution.

====================  ==============  ============================  ====  ===========================
Quantity              Symbol          Name                          Unit  Equation
====================  ==============  ============================  ====  ===========================
inverse Laplace       :math:`f(t)`    :func:`euler_inversion`       of f  Euler summation
transform
compound Poisson pmf  :math:`c_j`     :func:`compound_poisson_pmf`  1     Panjer recursion
tail of the wait      :math:`P(W>t)`  :class:`LatticeWait`          1     renewal equation, see below
====================  ==============  ============================  ====  ===========================

**Service with a density.** Abate and Whitt's Euler algorithm sums the Bromwich integral on 33 nodes. It converges
where the inverted function is smooth; an atom at :math:`b` gives the wait a kink at every multiple of :math:`b`,
and there the algorithm loses all but three or four digits. So it is not used for such distributions.

**Service with atoms.** Let all atoms be multiples :math:`m_i h` of a step :math:`h`, :math:`F(t)=P(W\le t)` and
:math:`\lambda` the arrival rate. For :math:`t>0`, :math:`F'(t)=\lambda F(t)-\lambda\sum_i p_iF(t-m_ih)`. With the
generating function over :math:`k` of :math:`F(kh-u)`, :math:`0\le u\le h`, this solves to

.. math:: F(kh-u)=\sum_{j=0}^{k-1}c_j(u)\,F((k-j)h),

:math:`c_j(u)` the probability that :math:`jh` of work arrives in time :math:`u`. Continuity at :math:`u=h` then fixes
the values on the grid. With :math:`T_j=\sum_{i>j}c_i(h)`, :math:`\tau_j=\sum_{i>j}T_i` and
:math:`\bar F_k=1-F(kh)` it reads

.. math:: (1-T_0)\bar F_k=(1-\rho)[k=0]+\tau_k+\sum_{j=1}^{k}T_j\bar F_{k-j}.

Every term is positive, so nothing cancels: the tail is right to about 1e-13 *relative*, however small. (For one atom
this is the M/D/1 queue; the textbook series of Erlang and Crommelin alternates in sign and loses all digits beyond
:math:`t\approx20h`.) Far out the tail is a pure exponential to machine precision and is continued as such.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import FloatArray, IntArray, require
from capsmodel.queueing.service import ComplexArray

Tail = Callable[[FloatArray], FloatArray]

_BISECTIONS = 80

# Order of the Euler algorithm: discretisation error 10**(-2M/3) = 2e-11 of a function bounded by 1, and rounding
# error 10**(M/3 - 16) = 2e-11, so neither can be made smaller without the other growing.
_EULER_ORDER = 16

# Beyond 64 services of the longest kind the second pole of the transform is e**-130 of the first at high load, and
# at low load the tail itself is below 1e-100.
GRID_SERVICES = 64

# More than 32 arrivals in a step of at most one mean service time have probability below 1e-37.
_ARRIVALS_PER_STEP = 32

_LONGEST_ATOM_STEPS = 500

# Numbers in one work array (32 MB), whatever the number of waits asked for.
_MOST_NUMBERS = 1 << 22


def _euler_nodes(order: int) -> tuple[ComplexArray, FloatArray]:
    """Nodes and weights of the Euler algorithm (Abate and Whitt 2006, Eq. 5.1-5.3), factor 10**(M/3) included."""
    weights = np.ones(2 * order + 1)
    weights[0] = 0.5
    weights[-1] = 2.0**-order
    for k in range(1, order):
        weights[2 * order - k] = weights[2 * order - k + 1] + 2.0**-order * math.comb(order, k)
    terms = np.arange(2 * order + 1, dtype=np.float64)
    nodes = np.asarray(order * math.log(10) / 3 + 1j * math.pi * terms)
    return nodes, (-1.0) ** terms * weights * 10 ** (order / 3)


def euler_inversion(transform: Callable[[ComplexArray], ComplexArray], *, t: ArrayLike) -> FloatArray:
    r"""Invert a Laplace transform at times `t`.

    Parameters
    ----------
    transform : callable
        :math:`\hat f(s)`; gets a complex array of shape ``t.shape + (33,)`` and must broadcast over it.
    t : array_like
        Times, above 0.

    Returns
    -------
    ndarray
        :math:`f(t)`, of the shape of `t`.

    Notes
    -----
    :math:`f(t)\approx\frac{10^{M/3}}{t}\sum_{k=0}^{2M}(-1)^k\eta_k\operatorname{Re}\hat f(\beta_k/t)`,
    :math:`\beta_k=M\ln10/3+i\pi k`, :math:`M=16`. For a monotone function bounded by 1 and smooth on :math:`t>0`
    the absolute error stays below 1e-9.

    References
    ----------
    Abate and Whitt, A unified framework for numerically inverting Laplace transforms, INFORMS J. Computing 18 (2006).

    Examples
    --------
    >>> round(float(euler_inversion(lambda s: 1 / (1 + s), t=1.0)), 9) == round(math.exp(-1), 9)
    True
    """
    times = np.asarray(t, np.float64)[..., np.newaxis]
    nodes, weights = _euler_nodes(_EULER_ORDER)
    result: FloatArray = transform(nodes / times).real @ weights / times[..., 0]
    return result


def compound_poisson_pmf(rates: FloatArray, *, multiples: IntArray, probs: FloatArray, largest: int) -> FloatArray:
    r"""Return the probabilities that 0, 1, ..., `largest` units of work arrive.

    Parameters
    ----------
    rates : ndarray
        Expected number of batches, one-dimensional.
    multiples, probs : ndarray
        Units of work in a batch, and their probabilities.
    largest : int
        Last value of the support that is computed.

    Returns
    -------
    ndarray
        Shape ``(largest + 1, len(rates))``.

    Notes
    -----
    Panjer's recursion :math:`c_j=\frac aj\sum_i m_ip_ic_{j-m_i}`, :math:`c_0=e^{-a}`: positive terms only.

    Examples
    --------
    >>> pmf = compound_poisson_pmf(np.ones(1), multiples=np.ones(1, int), probs=np.ones(1), largest=2)
    >>> bool(abs(pmf[2, 0] - math.exp(-1) / 2) < 1e-16)
    True
    """
    pmf = np.zeros((largest + 1, rates.size))
    pmf[0] = np.exp(-rates)
    work = multiples * probs
    for j in range(1, largest + 1):
        near = multiples <= j
        pmf[j] = rates / j * (work[near] @ pmf[j - multiples[near]])
    return pmf


def _sums_above(values: FloatArray) -> FloatArray:
    """Return for each index the sum of all later rows, smallest terms first."""
    sums: FloatArray = np.cumsum(values[::-1], axis=0)[::-1]
    return np.concatenate([sums[1:], np.zeros_like(sums[:1])])


def common_step(times: FloatArray) -> tuple[float, IntArray]:
    """Return the longest step of which all `times` are multiples, and the multiples.

    Parameters
    ----------
    times : ndarray
        Times above 0.

    Returns
    -------
    tuple of float and ndarray of int
        Step, and whole multiples.

    Raises
    ------
    ParameterError
        If the longest time is more than 500 steps: round the times to a coarser grid first.

    Examples
    --------
    >>> common_step(np.array([0.3, 0.5]))
    (0.1, array([3, 5]))
    """
    shortest = float(times.min())
    ratios = [Fraction(float(time) / shortest).limit_denominator(_LONGEST_ATOM_STEPS) for time in times]
    divisor = math.lcm(*(ratio.denominator for ratio in ratios))
    units = [int(ratio * divisor) for ratio in ratios]
    common = math.gcd(*units)
    multiples = np.array(units) // common
    step = float(times.max() / multiples.max())
    require(
        multiples.max() <= _LONGEST_ATOM_STEPS and np.allclose(multiples * step, times, rtol=1e-12, atol=0),
        f"times = {times.tolist()}, but the longest must be at most {_LONGEST_ATOM_STEPS} steps of a common step: "
        "round them to a coarser grid",
    )
    return step, multiples


@dataclass(frozen=True, eq=False)
class LatticeWait:
    """Tail of the M/G/1 wait for service times with atoms on a grid, for several loads at once.

    Parameters
    ----------
    step : float
        Grid step h.
    multiples, probs : ndarray
        Service times in steps, and their probabilities.
    rates : ndarray
        Expected arrivals per step, one for each load.
    grid_tail : ndarray
        P(W > k h), shape ``(steps, loads)``; row 0 is the limit from below, which is 1.

    Examples
    --------
    >>> wait = LatticeWait.build(np.array([0.5]), times=np.array([1.0]), probs=np.array([1.0]))
    >>> wait.tail(np.array([0.0]), np.array([0])).round(12)
    array([0.5])
    """

    step: float
    multiples: IntArray
    probs: FloatArray
    rates: FloatArray
    grid_tail: FloatArray

    @classmethod
    def build(cls, loads: FloatArray, *, times: FloatArray, probs: FloatArray) -> "LatticeWait":
        """Solve the renewal equation on the grid for each of the one-dimensional `loads`."""
        step, multiples = common_step(times)
        rates = loads / (multiples @ probs)
        steps = GRID_SERVICES * int(multiples.max())
        spare = _ARRIVALS_PER_STEP * int(multiples.max())
        arrivals = compound_poisson_pmf(rates, multiples=multiples, probs=probs, largest=steps + spare)
        above = _sums_above(arrivals)
        tail = _sums_above(above)[: steps + 1]
        tail[0] += 1 - loads
        tail[0] /= arrivals[0]
        for k in range(1, steps + 1):
            tail[k] += np.einsum("jl,jl->l", above[1 : k + 1], tail[k - 1 :: -1] if k > 1 else tail[:1])
            tail[k] /= arrivals[0]
        return cls(step, multiples, probs, rates, tail)

    def _at_step(self, k: FloatArray, which: IntArray) -> FloatArray:
        """P(W > k h), continued as an exponential beyond the grid."""
        last = len(self.grid_tail) - 1
        longest = int(self.multiples.max())
        end = self.grid_tail[last, which]
        before = np.maximum(self.grid_tail[last - longest, which], np.finfo(float).tiny)
        beyond = np.maximum(k - last, 0)
        on_grid = self.grid_tail[np.clip(k, 0, last).astype(np.int64), which]
        return np.where(beyond > 0, end * (end / before) ** (beyond / longest), on_grid)

    def tail(self, wait: FloatArray, which: IntArray) -> FloatArray:
        """Return P(W > wait) for one-dimensional waits of at least 0, each at the load of index `which`."""
        spare = _ARRIVALS_PER_STEP * int(self.multiples.max())
        parts = -(-wait.size * (spare + 1) // _MOST_NUMBERS)
        pieces = zip(np.array_split(wait, parts), np.array_split(which, parts), strict=True)
        return np.concatenate([self._tail(piece, loads, spare) for piece, loads in pieces])

    def _tail(self, wait: FloatArray, which: IntArray, spare: int) -> FloatArray:
        scaled = wait / self.step
        k = np.floor(scaled) + 1
        rates = self.rates[which] * (k - scaled)
        pmf = compound_poisson_pmf(rates, multiples=self.multiples, probs=self.probs, largest=spare)
        j = np.arange(spare + 1)[:, np.newaxis]
        # Work of k steps or more keeps the wait above whatever it was before.
        tail: FloatArray = np.sum(np.where(j < k, self._at_step(k - j, which), 1.0) * pmf, axis=0)
        return tail


def invert_tail(tail: Tail, target: FloatArray, *, start: float) -> FloatArray:
    """Return w with tail(w) = target for a tail that falls to 0, by bisection down to rounding.

    Parameters
    ----------
    tail : callable
        Falling function of an array of the shape of `target`.
    target : ndarray
        Values above 0 and at most tail(0).
    start : float
        First guess of an upper end, above 0; doubled until it is one.

    Examples
    --------
    >>> invert_tail(lambda w: np.exp(-w), np.array([0.5]), start=1.0).round(12)
    array([0.69314718])
    """
    high = np.full(target.shape, start)
    while (short := tail(high) > target).any():
        high[short] *= 2
    low = np.zeros_like(high)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        above = tail(middle) > target
        low = np.where(above, middle, low)
        high = np.where(above, high, middle)
    return high

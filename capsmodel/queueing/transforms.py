r"""The tail of the M/G/1 wait for service times with atoms, and for those of which only a transform is known.

====================  ==============  ============================  ====  ===========================
Quantity              Symbol          Name                          Unit  Equation
====================  ==============  ============================  ====  ===========================
inverse Laplace       :math:`f(t)`    :func:`euler_inversion`       of f  Euler summation
transform
compound Poisson pmf  :math:`c_j`     :func:`compound_poisson_pmf`  1     Panjer recursion
tail of the wait      :math:`P(W>t)`  :class:`TransformWait`        1     inverse of its transform
tail of the wait      :math:`P(W>t)`  :class:`LatticeWait`          1     renewal equation, see below
====================  ==============  ============================  ====  ===========================

**Service given by its transform.** Abate and Whitt's Euler algorithm sums the Bromwich integral on 33 nodes. It
converges where the inverted function is smooth on the scale of :math:`t/10`; an atom at :math:`b` gives the wait a kink
at every multiple of :math:`b`, a narrow peak of the density nearly one, and there the algorithm loses all but three or
four digits. So three orders of it are compared, and service in exponential phases, be they many or of very different
lengths, has :mod:`capsmodel.queueing.phases`.

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
:math:`t\approx20h`.) Far out the tail is a pure exponential to machine precision and is continued as such, with the
decay rate that solves Lundberg's equation (:mod:`capsmodel.queueing._roots`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import FloatArray, IntArray, ParameterError, require
from capsmodel.queueing._roots import bracketed_root, log_exp_remainder
from capsmodel.queueing.service import ComplexArray, ContinuousService

# Order of the Euler algorithm: discretisation error 10**(-2M/3) = 2e-11 of a function bounded by 1, and rounding
# error 10**(M/3 - 16) = 2e-11, so neither can be made smaller without the other growing.
_EULER_ORDER, _OTHER_ORDERS = 16, (15, 17)
_EULER_ERROR = 1e-9

# Beyond 64 services of the longest kind the second pole of the transform is e**-130 of the first at high load, and
# at low load the tail itself is below 1e-100.
_GRID_SERVICES = 64

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


def euler_inversion(
    transform: Callable[[ComplexArray], ComplexArray], *, t: ArrayLike, order: int = _EULER_ORDER
) -> FloatArray:
    r"""Invert a Laplace transform at times `t`.

    Parameters
    ----------
    transform : callable
        :math:`\hat f(s)`; gets a complex array of shape ``t.shape + (2 * order + 1,)`` and must broadcast over it.
    t : array_like
        Times, above 0.
    order : int
        M below; more than 17 lose digits to rounding.

    Returns
    -------
    ndarray
        :math:`f(t)`, of the shape of `t`.

    Notes
    -----
    :math:`f(t)\approx\frac{10^{M/3}}{t}\sum_{k=0}^{2M}(-1)^k\eta_k\operatorname{Re}\hat f(\beta_k/t)`,
    :math:`\beta_k=M\ln10/3+i\pi k`, :math:`M=16`. For a monotone function bounded by 1 and smooth on the scale of
    :math:`t/10` the absolute error stays below 1e-9.

    References
    ----------
    Abate and Whitt, A unified framework for numerically inverting Laplace transforms, INFORMS J. Computing 18 (2006).

    Examples
    --------
    >>> round(float(euler_inversion(lambda s: 1 / (1 + s), t=1.0)), 9) == round(math.exp(-1), 9)
    True
    """
    times = np.asarray(t, np.float64)[..., np.newaxis]
    nodes, weights = _euler_nodes(order)
    result: FloatArray = transform(nodes / times).real @ weights / times[..., 0]
    return result


@dataclass(frozen=True, eq=False)
class TransformWait:
    """Tail of the M/G/1 wait for a service time of which the transform is known, for several loads at once.

    Parameters
    ----------
    loads : ndarray
        One-dimensional, above 0.
    service : ContinuousService
        Its transform.

    Examples
    --------
    >>> from capsmodel.queueing.service import Exponential
    >>> wait = TransformWait(np.array([0.5]), Exponential(1.0))
    >>> wait.tail(np.array([2.0]), np.array([0])).round(9)  # exp(-1)/2
    array([0.18393972])
    """

    loads: FloatArray
    service: ContinuousService

    def tail(self, wait: FloatArray, which: IntArray) -> FloatArray:
        """Return P(W > wait) for one-dimensional waits of at least 0, each at the load of index `which`.

        Raises
        ------
        ParameterError
            If orders of the inversion disagree: the tail is not smooth enough for it.
        """
        chosen = self.loads[which]
        some = wait > 0
        loads = chosen[some, np.newaxis]

        def transform(s: ComplexArray) -> ComplexArray:
            residual = self.service.residual_laplace(s)
            result: ComplexArray = loads * residual / (1 - loads + loads * s * residual)
            return result

        tail = euler_inversion(transform, t=wait[some])
        others = [euler_inversion(transform, t=wait[some], order=order) for order in _OTHER_ORDERS]
        error = np.abs(others - tail).max(axis=0)
        if (error > _EULER_ERROR).any():
            worst = np.argmax(error)
            raise ParameterError(
                f"service is a {type(self.service).__name__} whose density is not smooth on the scale of a tenth of "
                f"wait = {wait[some][worst]:g}, where the inversion of its transform is off by {error[worst]:.1g}: "
                "take Empirical, Erlang or Hyperexponential"
            )
        chosen[some] = np.clip(tail, 0, chosen[some])
        return chosen


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


def _decay(loads: FloatArray, rates: FloatArray, multiples: IntArray, probs: FloatArray) -> FloatArray:
    """Return for each load the rate at which the tail falls, for each step: the root of Lundberg's equation."""
    multiples, probs = multiples[probs > 0], probs[probs > 0]
    log_rates, log_idle = np.log(rates), np.log1p(-loads)

    def excess(log_decay: FloatArray) -> FloatArray:
        parts = log_exp_remainder(np.multiply.outer(np.exp(log_decay), multiples)) + np.log(probs)
        return np.asarray(np.logaddexp.reduce(parts, axis=-1) + log_rates - log_idle - log_decay)

    # At least x^2/2, the rest of the exponential is at most 0.72 x^2 up to x = 1.
    high = math.log(2) + log_idle - log_rates - math.log(probs @ multiples.astype(np.float64) ** 2)
    low = np.minimum(high - 0.4, -math.log(multiples.max()))
    return np.asarray(np.exp(bracketed_root(excess, low, np.minimum(high + 1e-12, 700.0), scale=1.0)))


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
    loads : ndarray
        The loads, one-dimensional, above 0.

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
    loads: FloatArray

    @classmethod
    def build(cls, loads: FloatArray, *, times: FloatArray, probs: FloatArray) -> "LatticeWait":
        """Solve the renewal equation on the grid for each of the one-dimensional `loads`, all above 0."""
        step, multiples = common_step(times)
        rates = loads / (multiples @ probs)
        steps = _GRID_SERVICES * int(multiples.max())
        spare = _ARRIVALS_PER_STEP * int(multiples.max())
        arrivals = compound_poisson_pmf(rates, multiples=multiples, probs=probs, largest=steps + spare)
        above = _sums_above(arrivals)
        tail = _sums_above(above)[: steps + 1]
        tail[0] += 1 - loads
        tail[0] /= arrivals[0]
        for k in range(1, steps + 1):
            tail[k] += np.einsum("jl,jl->l", above[1 : k + 1], tail[k - 1 :: -1] if k > 1 else tail[:1])
            tail[k] /= arrivals[0]
        return cls(step, multiples, probs, rates, tail, loads)

    @cached_property
    def decay(self) -> FloatArray:
        """Rate at which the tail falls far out, one for each load, in 1/time."""
        return _decay(self.loads, self.rates, self.multiples, self.probs) / self.step

    def _at_step(self, k: FloatArray, which: IntArray) -> FloatArray:
        """P(W > k h), continued as an exponential beyond the grid."""
        last = len(self.grid_tail) - 1
        on_grid = self.grid_tail[np.clip(k, 0, last).astype(np.int64), which]
        if (k <= last).all():
            return on_grid
        return on_grid * np.exp(-self.decay[which] * self.step * np.maximum(k - last, 0))

    def tail(self, wait: FloatArray, which: IntArray) -> FloatArray:
        """Return P(W > wait) for one-dimensional waits of at least 0, each at the load of index `which`."""
        spare = _ARRIVALS_PER_STEP * int(self.multiples.max())
        parts = -(-wait.size * (spare + 1) // _MOST_NUMBERS) or 1
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

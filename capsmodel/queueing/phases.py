r"""The tail of the M/G/1 wait for service in exponential phases: one after the other, or one of several kinds.

=====================  ====================  =============================  ====  =======================
Quantity               Symbol                Name                           Unit  Equation
=====================  ====================  =============================  ====  =======================
tail of the wait       :math:`P(W>t)`        :class:`ErlangWait`            1     renewal equation, below
tail of the wait       :math:`P(W>t)`        :class:`HyperexponentialWait`  1     sum of exponentials
=====================  ====================  =============================  ====  =======================

Both have positive terms only, so the tail is right to about 1e-12 *relative*, however small.

**Erlang service** of k phases with the mean m. An arrival finds N phases to be served before it, and N is a geometric
sum of residual services, each of 1 to k phases with equal probability. So :math:`Q_j=P(N>j)` satisfies

.. math:: Q_j=\rho\,\frac{(k-j)^+}k+\frac\rho k\sum_{u=1}^{\min(j,k)}Q_{j-u},

and :math:`P(W>t)=\sum_jQ_j\,e^{-s}s^j/j!` with :math:`s=kt/m`. Let z be the root of
:math:`1=\frac\rho k\sum_{u=1}^kz^u` and :math:`q_j=Q_jz^j`, which tends to a constant. Then

.. math:: P(W>t)=e^{-s(1-1/z)}\sum_jq_j\,e^{-s/z}\frac{(s/z)^j}{j!}:

the decay, times a mean of :math:`q_j` over a Poisson variable. The sums over k earlier values are those of the rest of
one block of k and of the beginning of the next, so that nothing is subtracted.

**Hyperexponential service** with the shares :math:`w_i=p_im_i/m` of the work and the rates :math:`\mu_i=1/m_i`. The
transform of the wait has its poles at the roots of

.. math:: 1-\rho=\rho\,\theta\sum_i\frac{w_i}{\mu_i-\theta},

one below the smallest rate and one between each two, and
:math:`P(W>t)=\sum_n\frac{1-\rho}{\rho\,\theta_n\sum_iw_i\mu_i/(\mu_i-\theta_n)^2}\,e^{-\theta_nt}`. Each root is found
as a part of the way between the two rates, so that its distance from both has all its digits.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from capsmodel.checks import FloatArray, IntArray, require
from capsmodel.queueing._roots import bracketed_root, exp_remainder, log_exp_remainder
from capsmodel.queueing.service import Erlang, Hyperexponential

__all__ = ["ErlangWait", "HyperexponentialWait"]

# Beyond 64 services, or 512 phases, the second root is e**-100 of the first, or the tail itself is below 1e-140.
_MOST_SERVICES, _FEWEST_PHASES = 64, 512
_SETTLED = 1e-14

# Phases of all loads together: 64 services of them are 256 MB.
_MOST_PHASES = 1 << 19

# Numbers in one work array (32 MB), whatever the number of waits asked for.
_MOST_NUMBERS = 1 << 22

_TINY = float(np.finfo(np.float64).tiny)
_FARTHEST = 700.0  # e**-700 is 1e-304


@dataclass(frozen=True, eq=False)
class ErlangWait:
    """Tail of the M/G/1 wait for Erlang service, for several loads at once.

    Parameters
    ----------
    phase : float
        Mean time of a phase.
    log_z : ndarray
        ln z, one for each load.
    tilted : ndarray
        q_j, shape ``(loads, phases looked at)``; constant beyond.

    Examples
    --------
    >>> wait = ErlangWait.build(np.array([0.5]), service=Erlang(1, 1.0))
    >>> wait.tail(np.array([2.0]), np.array([0])).round(12)  # exp(-1)/2
    array([0.18393972])
    """

    phase: float
    log_z: FloatArray
    tilted: FloatArray

    @classmethod
    def build(cls, loads: FloatArray, *, service: Erlang) -> "ErlangWait":
        """Solve the renewal equation for each of the one-dimensional `loads`, all above 0."""
        k = service.phases
        problem = f"{loads.size} loads of {k} phases each, but {_MOST_PHASES} phases fit: give fewer loads at once"
        require(loads.size * k <= _MOST_PHASES, f"{problem}, or take Deterministic({service.mean:g})")
        exponents = _exponents(loads, k)
        blocks = _tilted_blocks(loads[:, np.newaxis], exponents[:, np.newaxis], k)
        return cls(service.mean / k, exponents / k, np.concatenate(blocks, axis=1))

    @property
    def decay(self) -> FloatArray:
        """Rate at which the tail falls far out, one for each load, in 1/time."""
        return np.asarray(-np.expm1(-self.log_z) / self.phase)

    def tail(self, wait: FloatArray, which: IntArray) -> FloatArray:
        """Return P(W > wait) for one-dimensional waits of at least 0, each at the load of index `which`."""
        most = self.tilted.shape[1]
        # So far beyond the last phase looked at, all terms are that one.
        means = np.minimum(wait / self.phase * np.exp(-self.log_z[which]), most + _width(most))
        width = _width(means.max(initial=0.0))
        parts = -(-wait.size * (2 * width + 1) // _MOST_NUMBERS) or 1
        pieces = zip(np.array_split(means, parts), np.array_split(which, parts), strict=True)
        tails = np.concatenate([self._mean_over_poisson(piece, loads, width) for piece, loads in pieces])
        return np.asarray(np.exp(-self.decay[which] * wait) * tails)

    def _mean_over_poisson(self, means: FloatArray, which: IntArray, width: int) -> FloatArray:
        """Return the mean of q_J for Poisson variables J, from the terms within `width` of their means."""
        middle, means = np.floor(means)[:, np.newaxis], means[:, np.newaxis]
        down, up = np.arange(min(width, int(middle.max(initial=0.0)))), np.arange(width)
        below = np.cumprod(np.maximum(middle - down, 0) / np.maximum(means, _TINY), axis=1)
        above = np.cumprod(means / (middle + 1 + up), axis=1)
        weights = np.concatenate([below[:, ::-1], np.ones_like(means), above], axis=1)
        phases = (middle + np.arange(-down.size, up.size + 1)).clip(0, self.tilted.shape[1] - 1).astype(np.int64)
        values = self.tilted[which[:, np.newaxis], phases]
        return np.asarray((weights * values).sum(axis=1) / weights.sum(axis=1))


def _width(mean: float) -> int:
    """Return how far from its mean a Poisson variable never lies."""
    return int(9 * math.sqrt(mean)) + 30


def _exponents(loads: FloatArray, k: int) -> FloatArray:
    """Return k ln z for each load: Lundberg's equation in z, with the mean service as unit of time."""

    def excess(exponent: FloatArray) -> FloatArray:
        step = exponent / k
        decay = -k * np.expm1(-step)
        rest = np.logaddexp(log_exp_remainder(exponent), math.log(k) + np.log(exp_remainder(-step)))
        return np.asarray(rest + np.log(loads) - np.log1p(-loads) - np.log(decay))

    # By bounds of the rest of the exponential, and since it must not exceed k/load.
    odds = np.exp(np.minimum(np.log1p(-loads) - np.log(loads), _FARTHEST))
    high = np.minimum(2 * odds, np.logaddexp(0.0, math.log(k) - np.log(loads))) * (1 + 1e-12)
    return bracketed_root(excess, np.minimum(odds / 2, np.minimum(1.0, high / 2)), high)


def _tilted_blocks(load: FloatArray, exponent: FloatArray, k: int) -> list[FloatArray]:
    """Return q_j in blocks of k, until it is constant; loads and exponents are columns."""
    index = np.arange(k)
    growth = (1 + load / k) ** index
    tilt, per_block = np.exp(exponent * index / k), np.exp(exponent)

    def solved(known: FloatArray) -> FloatArray:
        """Add to each value ρ/k times the sum of those before it in the block."""
        sums = np.cumsum(known[:, :-1] / growth[:, 1:], axis=1) * growth[:, :-1]
        result: FloatArray = known.copy()
        result[:, 1:] += load / k * (1 + load / k) * sums
        return result

    values = solved(load * (1 - index / k))
    blocks = [values * tilt]
    for _ in range(1, max(_MOST_SERVICES, _FEWEST_PHASES // k)):
        if (np.ptp(blocks[-1], axis=1) <= _SETTLED * blocks[-1][:, -1]).all():
            break
        values = solved(load / k * per_block * np.cumsum(values[:, ::-1], axis=1)[:, ::-1])
        blocks.append(values * tilt)
    return blocks


@dataclass(frozen=True, eq=False)
class HyperexponentialWait:
    """Tail of the M/G/1 wait for hyperexponential service, for several loads at once.

    Parameters
    ----------
    rates : ndarray
        Rates of the exponentials in 1/time, shape ``(loads, kinds)``, the smallest first.
    shares : ndarray
        Their coefficients, of that shape.

    Examples
    --------
    >>> service = Hyperexponential((0.5, 0.5), (1.0, 1.0))
    >>> wait = HyperexponentialWait.build(np.array([0.5]), service=service)
    >>> wait.tail(np.array([2.0]), np.array([0])).round(12)  # exp(-1)/2
    array([0.18393972])
    """

    rates: FloatArray
    shares: FloatArray

    @classmethod
    def build(cls, loads: FloatArray, *, service: Hyperexponential) -> "HyperexponentialWait":
        """Find the poles for each of the one-dimensional `loads`, all above 0."""
        means, kinds = np.unique(np.asarray(service.means, np.float64), return_inverse=True)
        probs = np.bincount(kinds, weights=service.probs)
        means, probs = means[probs > 0][::-1], probs[probs > 0][::-1]
        work = probs * means / (probs @ means)
        return cls(*_exponentials(loads, 1 / means, work))

    @property
    def decay(self) -> FloatArray:
        """Rate at which the tail falls far out, one for each load, in 1/time."""
        return self.rates[:, 0]

    def tail(self, wait: FloatArray, which: IntArray) -> FloatArray:
        """Return P(W > wait) for one-dimensional waits of at least 0, each at the load of index `which`."""
        return np.asarray((self.shares[which] * np.exp(-self.rates[which] * wait[:, np.newaxis])).sum(axis=1))


def _exponentials(loads: FloatArray, poles: FloatArray, work: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return rates and coefficients of the tail: each rate between 0 and the first pole, or between two poles."""
    edges = np.concatenate([[0.0], poles])
    width = np.diff(edges)
    from_edge = poles - np.where(np.tri(len(poles), k=-1, dtype=bool), edges[:-1, np.newaxis], edges[1:, np.newaxis])
    is_below = np.tri(len(poles), k=-1, dtype=bool)  # the poles below each rate
    load = loads[:, np.newaxis]

    def distances(log_odds: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the rates, and the distances to all poles, by how far the rates are on the way."""
        upward, left = width * special.expit(log_odds), width * special.expit(-log_odds)
        away = np.where(is_below, -upward[..., np.newaxis], left[..., np.newaxis])
        return edges[:-1] + upward, from_edge + away

    def excess(log_odds: FloatArray) -> FloatArray:
        rate, away = distances(log_odds)
        return np.asarray((1 - load) - load * rate * (work / away).sum(axis=-1))

    shape = (loads.size, len(poles))
    with np.errstate(all="ignore"):  # at the poles
        at = bracketed_root(excess, np.full(shape, -_FARTHEST), np.full(shape, _FARTHEST), scale=1.0)
        rate, away = distances(at)
        slope = load * rate * (work / away * (poles / away)).sum(axis=-1)
        return rate, np.where(slope > 0, (1 - load) / slope, 0.0)

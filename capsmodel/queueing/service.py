r"""Service-time distributions for the M/G/1 queue: moments, Laplace transform, samples.

All times are in one unit of the caller's choice (seconds, or packet times as in RepFlow); waits come out in the same
unit. A distribution either has atoms (:class:`Deterministic`, :class:`Empirical`) or a density (the others); the two
kinds need different exact evaluations, see :mod:`capsmodel.queueing.mg1`.

=================  ================  ====================  ======  =================================
Quantity           Symbol            Name                  Unit    Equation
=================  ================  ====================  ======  =================================
mean               :math:`E[S]`      ``mean``              time
second moment      :math:`E[S^2]`    ``second_moment``     time²
third moment       :math:`E[S^3]`    ``third_moment``      time³
part of a moment                     ``partial_moment``    timeⁿ   :math:`E[S^n;S\le x]`
survival function  :math:`P(S>x)`    ``survival``          1
work above a size                    ``mean_above``        time    :math:`E[S;S>x]`
density            :math:`f(t)`      ``density``           1/time
Laplace transform  :math:`\beta(s)`  ``laplace``           1       :math:`E[e^{-sS}]`
residual-tail      :math:`E(s)`      ``residual_laplace``  time    :math:`(1-R(s))/s`,
transform                                                          :math:`R(s)=(1-\beta(s))/(sE[S])`
=================  ================  ====================  ======  =================================
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy import special

from capsmodel.checks import (
    SUM_TOLERANCE,
    FloatArray,
    Rng,
    generator,
    one_number,
    positive,
    probability,
    require,
    whole,
)

ComplexArray = npt.NDArray[np.complex128]


class Service(Protocol):
    """What the moment formulas and a simulation need from a service-time distribution."""

    @property
    def mean(self) -> float:
        """Mean service time."""

    @property
    def second_moment(self) -> float:
        """Second moment, in time²."""

    @property
    def third_moment(self) -> float:
        """Third moment, in time³."""

    def laplace(self, s: ComplexArray) -> ComplexArray:
        """Return the Laplace transform of the density, for complex `s` of positive real part."""

    def sample(self, count: int, *, rng: Rng = None) -> FloatArray:
        """Draw `count` independent service times."""


class ContinuousService(Service, Protocol):
    """A service time with a density; a class of your own needs this one method beyond :class:`Service`."""

    def residual_laplace(self, s: ComplexArray) -> ComplexArray:
        r"""Return :math:`(1-(1-\beta(s))/(sE[S]))/s`, the transform of the residual-life tail, also near s = 0."""


def _weights(name: str, probs: tuple[float, ...], count: int) -> None:
    """Check a probability vector that goes with `count` values."""
    probability(name, probs, one=True)
    require(len(probs) == count > 0, f"{name} has {len(probs)} entries for {count} values: give one for each")
    total = float(np.sum(probs))
    require(abs(total - 1) <= SUM_TOLERANCE, f"{name} sums to {total:.15g}, but probabilities sum to 1")


class _Atoms:
    """Moments, transform and samples that follow from the atoms alone."""

    @property
    def atoms(self) -> tuple[FloatArray, FloatArray]:
        """Service times and their probabilities."""
        raise NotImplementedError

    def _moment(self, order: int) -> float:
        times, probs = self.atoms
        return float(probs @ times**order)

    @property
    def mean(self) -> float:
        """Mean service time."""
        return self._moment(1)

    @property
    def second_moment(self) -> float:
        """Second moment, in time²."""
        return self._moment(2)

    @property
    def third_moment(self) -> float:
        """Third moment, in time³."""
        return self._moment(3)

    def partial_moment(self, order: int, upto: FloatArray) -> FloatArray:
        r"""Return :math:`\sum_{t_i\le x}p_it_i^n`, in time to the power of `order`."""
        times, probs = self.atoms
        ascending = np.argsort(times)
        sums = np.concatenate([[0.0], np.cumsum((probs * times**order)[ascending])])
        return np.asarray(sums[np.searchsorted(times[ascending], upto, side="right")])

    def survival(self, time: FloatArray) -> FloatArray:
        """Return P(S > t), by adding the atoms above."""
        return self._moment_above(0, time)

    def mean_above(self, time: FloatArray) -> FloatArray:
        """Return E[S; S > t], by adding the atoms above."""
        return self._moment_above(1, time)

    def _moment_above(self, order: int, time: FloatArray) -> FloatArray:
        times, probs = self.atoms
        falling = np.argsort(-times)
        sums = np.concatenate([[0.0], np.cumsum((probs * times**order)[falling])])
        return np.asarray(sums[np.searchsorted(-times[falling], -np.asarray(time), side="left")])

    def laplace(self, s: ComplexArray) -> ComplexArray:
        r"""Return :math:`\sum_i p_i e^{-s t_i}`."""
        times, probs = self.atoms
        return np.asarray(np.exp(-np.multiply.outer(np.asarray(s, np.complex128), times)) @ probs, np.complex128)

    def sample(self, count: int, *, rng: Rng = None) -> FloatArray:
        """Draw `count` independent service times."""
        times, probs = self.atoms
        return generator(rng).choice(times, size=count, p=probs / probs.sum())


@dataclass(frozen=True)
class Deterministic(_Atoms):
    """Every service takes `time`: RepFlow's bursts of fixed size.

    Parameters
    ----------
    time : float
        Service time, above 0, in any unit.

    Raises
    ------
    ParameterError
        If `time` is not finite and above 0.

    Examples
    --------
    >>> Deterministic(44).second_moment
    1936.0
    """

    time: float

    def __post_init__(self) -> None:
        one_number(positive, "time", self.time)

    @property
    def atoms(self) -> tuple[FloatArray, FloatArray]:
        """The one service time, with probability 1."""
        return np.array([float(self.time)]), np.ones(1)


@dataclass(frozen=True)
class Empirical(_Atoms):
    """A service time that takes finitely many values.

    Parameters
    ----------
    times : tuple of float
        Service times, each above 0, in any unit.
    probs : tuple of float
        Their probabilities; they sum to 1.

    Raises
    ------
    ParameterError
        If a time is not above 0 or the probabilities do not match.

    Examples
    --------
    >>> Empirical((1, 44), (0.75, 0.25)).mean
    11.75
    """

    times: tuple[float, ...]
    probs: tuple[float, ...]

    def __post_init__(self) -> None:
        positive("times", self.times)
        _weights("probs", self.probs, len(self.times))

    @property
    def atoms(self) -> tuple[FloatArray, FloatArray]:
        """The service times and their probabilities."""
        return np.asarray(self.times, np.float64), np.asarray(self.probs, np.float64)


@dataclass(frozen=True)
class Erlang:
    """Sum of `phases` independent exponential phases, with mean `mean` in all.

    Parameters
    ----------
    phases : int
        Number of phases, at least 1.
    mean : float
        Mean service time, above 0, in any unit.

    Raises
    ------
    ParameterError
        If `phases` is not a whole number of at least 1 or `mean` is not above 0.

    Examples
    --------
    >>> Erlang(4, 2.0).second_moment
    5.0
    """

    phases: int
    mean: float

    def __post_init__(self) -> None:
        one_number(whole, "phases", self.phases, minimum=1)
        one_number(positive, "mean", self.mean)

    @property
    def second_moment(self) -> float:
        """Second moment, in time²: mean² (k + 1)/k."""
        return self.mean**2 * (self.phases + 1) / self.phases

    @property
    def third_moment(self) -> float:
        """Third moment, in time³: mean³ (k + 1)(k + 2)/k²."""
        return self.mean**3 * (self.phases + 1) * (self.phases + 2) / self.phases**2

    def density(self, time: FloatArray) -> FloatArray:
        r"""Return :math:`\frac{k}{m}e^{-kt/m}\frac{(kt/m)^{k-1}}{(k-1)!}`, in 1/time."""
        phase = self.mean / self.phases
        in_phases = np.asarray(time, np.float64) / phase
        exponent = special.xlogy(self.phases - 1, in_phases) - in_phases - special.gammaln(self.phases)
        return np.asarray(np.exp(exponent) / phase, np.float64)

    def partial_moment(self, order: int, upto: FloatArray) -> FloatArray:
        r"""Return :math:`\int_0^xt^nf(t)\,dt`, in time to the power of `order`; incomplete gamma functions."""
        phase = self.mean / self.phases
        whole_moment = phase**order * special.poch(self.phases, order)
        return np.asarray(whole_moment * special.gammainc(self.phases + order, upto / phase), np.float64)

    def survival(self, time: FloatArray) -> FloatArray:
        """Return P(S > t), an incomplete gamma function."""
        return np.asarray(special.gammaincc(self.phases, time * (self.phases / self.mean)), np.float64)

    def mean_above(self, time: FloatArray) -> FloatArray:
        """Return E[S; S > t], an incomplete gamma function."""
        share = special.gammaincc(self.phases + 1, time * (self.phases / self.mean))
        return np.asarray(self.mean * share, np.float64)

    def laplace(self, s: ComplexArray) -> ComplexArray:
        r"""Return :math:`(1+sm/k)^{-k}`."""
        result: ComplexArray = (1 + s * self.mean / self.phases) ** -self.phases
        return result

    def residual_laplace(self, s: ComplexArray) -> ComplexArray:
        r"""Return :math:`\frac{m}{k^2}\sum_{i=1}^{k}(k-i+1)(1+sm/k)^{-i}`, positive terms only at real s.

        The residual life of an Erlang distribution is an equal mixture of those with 1 to k of its phases.
        """
        k = self.phases
        phase = 1 / (1 + s * self.mean / k)
        result: ComplexArray = np.polynomial.polynomial.polyval(phase, [0, *range(k, 0, -1)]) * self.mean / k**2
        return result

    def sample(self, count: int, *, rng: Rng = None) -> FloatArray:
        """Draw `count` independent service times."""
        return generator(rng).gamma(self.phases, self.mean / self.phases, count)


class Exponential(Erlang):
    """Memoryless service: the Erlang distribution of one phase.

    Parameters
    ----------
    mean : float
        Mean service time, above 0, in any unit.

    Examples
    --------
    >>> Exponential(2.0).third_moment
    48.0
    """

    def __init__(self, mean: float) -> None:
        super().__init__(1, mean)


@dataclass(frozen=True)
class Hyperexponential:
    """A mixture of exponential distributions: short and long jobs side by side.

    Parameters
    ----------
    probs : tuple of float
        Share of each kind; they sum to 1.
    means : tuple of float
        Mean service time of each kind, above 0, in any unit.

    Raises
    ------
    ParameterError
        If a mean is not above 0 or the probabilities do not match.

    Examples
    --------
    >>> Hyperexponential((0.9, 0.1), (1.0, 11.0)).mean
    2.0
    """

    probs: tuple[float, ...]
    means: tuple[float, ...]

    def __post_init__(self) -> None:
        positive("means", self.means)
        _weights("probs", self.probs, len(self.means))

    def _moment(self, order: int) -> float:
        return float(np.dot(self.probs, np.asarray(self.means, np.float64) ** order))

    @property
    def mean(self) -> float:
        """Mean service time."""
        return self._moment(1)

    @property
    def second_moment(self) -> float:
        """Second moment, in time²."""
        return 2 * self._moment(2)

    @property
    def third_moment(self) -> float:
        """Third moment, in time³."""
        return 6 * self._moment(3)

    def density(self, time: FloatArray) -> FloatArray:
        r"""Return :math:`\sum_ip_ie^{-t/m_i}/m_i`, in 1/time."""
        means = np.asarray(self.means, np.float64)
        return np.asarray(np.exp(-np.divide.outer(time, means)) @ (np.asarray(self.probs) / means), np.float64)

    def partial_moment(self, order: int, upto: FloatArray) -> FloatArray:
        r"""Return :math:`\int_0^xt^nf(t)\,dt`, in time to the power of `order`; incomplete gamma functions."""
        means = np.asarray(self.means, np.float64)
        shares = special.gammainc(1 + order, np.divide.outer(upto, means))
        return np.asarray(shares @ (np.asarray(self.probs) * means**order) * special.factorial(order), np.float64)

    def survival(self, time: FloatArray) -> FloatArray:
        r"""Return :math:`P(S>t)=\sum_ip_ie^{-t/m_i}`."""
        return np.asarray(np.exp(-np.divide.outer(time, np.asarray(self.means))) @ np.asarray(self.probs), np.float64)

    def mean_above(self, time: FloatArray) -> FloatArray:
        r"""Return :math:`E[S;S>t]=\sum_ip_i(t+m_i)e^{-t/m_i}`."""
        means, probs = np.asarray(self.means, np.float64), np.asarray(self.probs)
        above = np.add.outer(time, means) * np.exp(-np.divide.outer(time, means))
        return np.asarray(above @ probs, np.float64)

    def _kinds(self, s: ComplexArray) -> ComplexArray:
        result: ComplexArray = 1 / (1 + np.multiply.outer(np.asarray(s, np.complex128), np.asarray(self.means)))
        return result

    def laplace(self, s: ComplexArray) -> ComplexArray:
        r"""Return :math:`\sum_i p_i/(1+sm_i)`."""
        result: ComplexArray = self._kinds(s) @ np.asarray(self.probs)
        return result

    def residual_laplace(self, s: ComplexArray) -> ComplexArray:
        r"""Return :math:`\frac1m\sum_i p_im_i^2/(1+sm_i)`."""
        result: ComplexArray = self._kinds(s) @ (np.asarray(self.probs) * np.asarray(self.means) ** 2) / self.mean
        return result

    def sample(self, count: int, *, rng: Rng = None) -> FloatArray:
        """Draw `count` independent service times."""
        draw = generator(rng)
        kinds = draw.choice(len(self.means), size=count, p=self.probs)
        return draw.exponential(np.asarray(self.means, np.float64)[kinds])

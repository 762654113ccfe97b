r"""Mean response time of the M/G/1 queue that serves the job with the shortest remaining time first (SRPT).

Poisson arrivals, one server, service times known on arrival. A job with less left than the one in service takes its
place, and the other goes on later where it was stopped; equal ones are served in order of arrival. No discipline has a
smaller mean response time (Schrage 1968): pFabric approximates it at each link. A response time is the time from the
arrival of a job to the end of its service.

============================= ================= =================================== ===== ===================
Quantity                      Symbol            Name                                Unit  Equation
============================= ================= =================================== ===== ===================
mean response of jobs of x    :math:`E[T(x)]`   :func:`srpt_mean_response_of_size`  time  Schrage-Miller
mean response of all jobs     :math:`E[T]`      :func:`srpt_mean_response`          time  :math:`E[E[T(S)]]`
============================= ================= =================================== ===== ===================
"""

import math
from collections.abc import Callable
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import FloatArray, FloatOrArray, closed_form, plain, positive, probability, require
from capsmodel.queueing.service import Deterministic, Empirical

__all__ = ["srpt_mean_response", "srpt_mean_response_of_size"]

_ERROR = 1e-11  # of the integrals, relative
_MOST_ERROR = 1e-10  # what is promised
_PIECES = 600  # at most; a smooth density takes one for each decade of sizes, and some more
_SMALLEST = 1e-12  # lower limit of the integrals in mean service times; what is below adds in proportion
_NEGLIGIBLE = 1e-11  # share of the work above the upper limit
_LARGEST = 1e150  # limit of that limit, so that its square is a number
_DECADE = math.log(10)


_OF_A_DENSITY = ("mean", "density", "survival", "mean_above", "partial_moment")


class SizedService(Protocol):
    """What the SRPT queue needs of a service time with a density; a class of your own needs no more.

    Give `survival` and `mean_above` as they are, not as 1 and the mean minus something: far out, and at high load, they
    are much smaller than its rounding errors.
    """

    @property
    def mean(self) -> float:
        """Mean service time."""

    def density(self, time: FloatArray) -> FloatArray:
        """Return the density, in 1/time."""

    def survival(self, time: FloatArray) -> FloatArray:
        """Return P(S > t)."""

    def mean_above(self, time: FloatArray) -> FloatArray:
        """Return E[S; S > t], in time."""

    def partial_moment(self, order: int, upto: FloatArray) -> FloatArray:
        r"""Return :math:`E[S^2;S\le x]`, in time²; `order` is 2."""


SomeService = Deterministic | Empirical | SizedService


def _check_service(service: SomeService) -> None:
    is_one = not isinstance(service, type) and hasattr(service, "partial_moment")
    require(is_one, f"service is a {type(service).__name__}, but it must be a distribution, as in Exponential(2.0)")
    missing = [] if hasattr(service, "atoms") else [name for name in _OF_A_DENSITY if not hasattr(service, name)]
    require(not missing, f"service is a {type(service).__name__} without {', '.join(missing)}: see SizedService")


def _wait(size: FloatArray, rate: FloatArray, service: SomeService, idle: FloatArray, before: FloatArray) -> FloatArray:
    """Return the mean time until a job of that size is first served.

    `idle` and `before` are 1 minus the load of the jobs up to that size, and of those below it.
    """
    square = service.partial_moment(2, size) + size * (size * service.survival(size))
    return np.asarray(rate * square / (2 * idle * before))


def _response_to_atoms(size: FloatArray, load: FloatArray, service: Deterministic | Empirical) -> FloatArray:
    """Return E[T(x)]: between two atoms the time in service is linear in the size."""
    rate = load / service.mean
    steps = np.concatenate([[0.0], np.unique(service.atoms[0])])
    below = np.searchsorted(steps, size, side="left") - 1  # the largest atom below the size
    size, load, rate, below = (
        size[..., np.newaxis],
        load[..., np.newaxis],
        rate[..., np.newaxis],
        below[..., np.newaxis],
    )
    idle = (1 - load) + rate * service.mean_above(steps)  # between each atom and the next
    passed = np.where(np.arange(len(steps) - 1) < below, np.diff(steps) / idle[..., :-1], 0.0)
    before = np.take_along_axis(idle, below, axis=-1)
    served = passed.sum(axis=-1) + ((size - steps[below]) / before)[..., 0]
    wait = _wait(size, rate, service, (1 - load) + rate * service.mean_above(size), before)
    return np.asarray(wait[..., 0] + served)


def _integral(function: Callable[[Any], Any], low: float, high: float, service: SizedService) -> FloatArray:
    """Return the integral over the logarithm of a size, by decades that are refined where it varies."""
    from scipy import integrate  # loads SciPy's optimisers as well

    value, error = integrate.quad_vec(
        function,
        low,
        high,
        epsrel=_ERROR,
        epsabs=0.0,
        norm="max",
        limit=_PIECES,
        points=np.arange(low, high, _DECADE)[1:],
    )
    share = float(error / np.abs(value).max(initial=0)) if np.size(value) else 0.0
    text = f"the integrals over the sizes of a {type(service).__name__} are off by a share of {share:.1g}"
    require(share <= _MOST_ERROR, f"{text}: its density, survival or mean_above jumps too often, or has too few digits")
    return np.asarray(value)


def _response_to_density(size: FloatArray, load: FloatArray, service: SizedService) -> FloatArray:
    """Return E[T(x)]."""
    rate = load / service.mean

    def idle(upto: FloatArray) -> FloatArray:
        return np.asarray((1 - load) + rate * service.mean_above(upto))

    def served(logarithm: float) -> FloatArray:
        upto = size * math.exp(logarithm)
        return upto / idle(upto)

    least = math.log(_SMALLEST) - _DECADE
    rest = served(least)
    return _wait(size, rate, service, idle(size), idle(size)) + _integral(served, least, 0.0, service) + rest


@overload
def srpt_mean_response_of_size(size: float, *, load: float, service: SomeService) -> float: ...
@overload
def srpt_mean_response_of_size(size: ArrayLike, *, load: ArrayLike, service: SomeService) -> FloatArray: ...
@closed_form
def srpt_mean_response_of_size(size: ArrayLike, *, load: ArrayLike, service: SomeService) -> FloatOrArray:
    r"""Return the mean response time E[T(x)] of jobs of one size in an M/G/1 queue under SRPT.

    Parameters
    ----------
    size : array_like
        Service time x of the job, above 0, in the unit of time of `service`; it need not be one that occurs.
    load : array_like
        Load ρ, in [0, 1).
    service : Deterministic, Empirical, Exponential, Erlang, Hyperexponential or your own
        Distribution of the service time; a class of your own is a :class:`SizedService`. Its variance may be infinite.

    Returns
    -------
    float or ndarray
        Mean response time, in that unit, of the broadcast shape; a float for scalars.

    Raises
    ------
    ParameterError
        If an argument leaves its range, a class of your own lacks a method, or its functions are so rough that the
        integrals over them do not settle.

    Notes
    -----
    With :math:`\rho(x)=\lambda E[S;S\le x]`, :math:`\rho(x^-)=\lambda E[S;S<x]` and :math:`\lambda=\rho/E[S]`

    .. math:: E[T(x)]=\frac{\lambda\left(E[S^2;S\le x]+x^2P(S>x)\right)}{2(1-\rho(x))(1-\rho(x^-))}
              +\int_0^x\frac{dt}{1-\rho(t)}:

    the wait until the job is first served, and its service, which shorter jobs stop. The two loads in the denominator
    differ only where x is an atom: of equal jobs the earlier goes first. So one size gives the M/D/1 queue in order of
    arrival. At load 0 it is x. With atoms the integral is a sum; with a density its relative error is below 1e-10.

    References
    ----------
    Beyond the papers; Schrage and Miller, Operations Research 14 (1966).

    Examples
    --------
    >>> srpt_mean_response_of_size(1.0, load=0.5, service=Deterministic(1.0))  # 1 + ρ / (2 (1 - ρ))
    1.5
    """
    _check_service(service)
    sizes, rho = np.broadcast_arrays(positive("size", size), probability("load", load))
    if isinstance(service, Deterministic | Empirical):
        return plain(_response_to_atoms(sizes, rho, service))
    return plain(_response_to_density(sizes, rho, service))


@overload
def srpt_mean_response(load: float, *, service: SomeService) -> float: ...
@overload
def srpt_mean_response(load: ArrayLike, *, service: SomeService) -> FloatArray: ...
@closed_form
def srpt_mean_response(load: ArrayLike, *, service: SomeService) -> FloatOrArray:
    r"""Return the mean response time E[T] of all jobs in an M/G/1 queue under SRPT.

    Parameters
    ----------
    load : array_like
        Load ρ, in [0, 1).
    service : Deterministic, Empirical, Exponential, Erlang, Hyperexponential or your own
        Distribution of the service time, as in :func:`srpt_mean_response_of_size`.

    Returns
    -------
    float or ndarray
        Mean response time, in the unit of time of `service`, of the shape of `load`; a float for a scalar.

    Raises
    ------
    ParameterError
        As :func:`srpt_mean_response_of_size`, or if the service is so wide that sizes above 1e150 mean service times
        count, as with :math:`P(S>t)=(1+t)^{-1.05}`.

    Notes
    -----
    The mean of :func:`srpt_mean_response_of_size` over the service time. For a density its second term is
    :math:`\int_0^\infty\frac{P(S>t)}{1-\rho(t)}dt`; both integrals are taken over the logarithm of the size, with a
    relative error below 1e-9. With :math:`1-\rho(t)=1-\rho+\lambda E[S;S>t]` nothing cancels at high load, and what is
    above a size L adds at most :math:`\epsilon/(1-\rho)^2` of E[S], where ε is the share of the work in larger jobs.
    Finite also where the variance is not: with :math:`P(S>t)\sim t^{-a}` for every a above 1. Never longer than the
    response time in order of arrival, :func:`~capsmodel.mg1_mean_wait` plus E[S], and at load 0 equal to E[S].

    References
    ----------
    Beyond the papers; Schrage and Miller, Operations Research 14 (1966).

    Examples
    --------
    >>> from capsmodel import Exponential
    >>> round(srpt_mean_response(0.8, service=Exponential(1.0)), 4)  # in order of arrival 5
    2.3528
    """
    _check_service(service)
    rho = probability("load", load)
    if isinstance(service, Deterministic | Empirical):
        times, probs = service.atoms
        sizes, loads = np.broadcast_arrays(times, rho[..., np.newaxis])
        return plain(_response_to_atoms(sizes, loads, service) @ probs)
    return plain(_mean_response_to_density(rho, service))


def _mean_response_to_density(load: FloatArray, service: SizedService) -> FloatArray:
    rate = load / service.mean

    def at_size(logarithm: float) -> FloatArray:
        """Return what the jobs add whose size has this logarithm, and the service of that part of larger ones."""
        size = np.asarray(service.mean * math.exp(logarithm))
        idle = (1 - load) + rate * service.mean_above(size)
        wait = _wait(size, rate, service, idle, idle)
        return np.asarray(size * (service.density(size) * wait + service.survival(size) / idle))

    least, longest = math.log(_SMALLEST), _longest(float(np.min(1 - load, initial=1.0)), service)
    return _integral(at_size, least, longest, service) + at_size(least)


def _longest(idle: float, service: SizedService) -> float:
    """Return the logarithm of a size in mean service times above which there is no work to speak of."""
    longest = 1.0
    while float(service.mean_above(np.asarray(longest * service.mean))) > _NEGLIGIBLE * idle**2 * service.mean:
        longest *= 10
        problem = f"service is too wide: above {_LARGEST:g} times its mean there is more than"
        require(longest <= _LARGEST, f"{problem} {_NEGLIGIBLE * idle**2:.1g} of the work, which counts at this load")
    return math.log(longest)

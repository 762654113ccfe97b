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

from collections.abc import Callable
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import FloatArray, FloatOrArray, closed_form, plain, positive, probability, require
from capsmodel.queueing.service import Deterministic, Empirical

__all__ = ["srpt_mean_response", "srpt_mean_response_of_size"]

_ERROR = 1e-11  # of the integrals, relative
_MOST_ERROR = 1e-10  # what is promised
_PIECES = 150  # at most; near load 1 rounding errors vary from point to point, and more pieces do not help
_NEGLIGIBLE = 1e-15  # share of the jobs above the upper limit of the integrals
_SMALLEST = 1e-12  # lower limit of the integrals in mean service times; what is below adds in proportion


class SizedService(Protocol):
    """What the SRPT queue needs of a service time with a density; a class of your own needs no more."""

    @property
    def mean(self) -> float:
        """Mean service time."""

    def density(self, time: FloatArray) -> FloatArray:
        """Return the density, in 1/time."""

    def partial_moment(self, order: int, upto: FloatArray) -> FloatArray:
        r"""Return :math:`E[S^n;S\le x]` for orders 0, 1 and 2, in time to the power of `order`."""


SomeService = Deterministic | Empirical | SizedService


def _check_service(service: SomeService) -> None:
    known = not isinstance(service, type) and hasattr(service, "partial_moment")
    require(known, f"service is a {type(service).__name__}, but it must be a distribution, as in Exponential(2.0)")


def _wait(size: FloatArray, rate: FloatArray, service: SomeService, before: FloatArray) -> FloatArray:
    """Return the mean time until a job of that size is first served; `before` is E[S; S < x]."""
    square = service.partial_moment(2, size) + size**2 * (1 - service.partial_moment(0, size))
    result: FloatArray = rate * square / (2 * (1 - rate * service.partial_moment(1, size)) * (1 - rate * before))
    return result


def _response_to_atoms(size: FloatArray, rate: FloatArray, service: Deterministic | Empirical) -> FloatArray:
    """Return E[T(x)]: between two atoms the time in service is linear in the size."""
    steps = np.concatenate([[0.0], np.unique(service.atoms[0])])
    work = service.partial_moment(1, steps)
    below = np.searchsorted(steps, size, side="left") - 1  # the largest atom below the size
    size, rate, below = size[..., np.newaxis], rate[..., np.newaxis], below[..., np.newaxis]
    passed = np.where(np.arange(len(steps) - 1) < below, np.diff(steps) / (1 - rate * work[:-1]), 0.0)
    before = work[below]
    served = passed.sum(axis=-1) + ((size - steps[below]) / (1 - rate * before))[..., 0]
    return np.asarray(_wait(size, rate, service, before)[..., 0] + served)


def _integral(function: Callable[[Any], Any], *limits: float) -> FloatArray:
    """Return the integral between the first and the last of the limits, by pieces that are refined where it varies."""
    from scipy import integrate  # loads SciPy's optimisers as well

    value, error = integrate.quad_vec(
        function,
        limits[0],
        limits[-1],
        epsrel=_ERROR,
        epsabs=0.0,
        norm="max",
        limit=_PIECES,
        points=limits[1:-1] or None,
    )
    exact = error <= _MOST_ERROR * np.abs(value).max(initial=0)
    require(exact, "load is too close to 1 to be told from it: what is left of 1 - load is below the rounding errors")
    return np.asarray(value)


def _response_to_density(size: FloatArray, rate: FloatArray, service: SizedService) -> FloatArray:
    """Return E[T(x)]."""

    def slowness(share: FloatArray) -> FloatArray:
        return size / (1 - rate * service.partial_moment(1, size * share))

    work = service.partial_moment(1, size)
    return _wait(size, rate, service, work) + _integral(slowness, 0.0, 1.0)


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
        Distribution of the service time; a class of your own is a :class:`SizedService`.

    Returns
    -------
    float or ndarray
        Mean response time, in that unit, of the broadcast shape; a float for scalars.

    Raises
    ------
    ParameterError
        If an argument leaves its range, or a load is so close to 1 that rounding errors decide.

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
    rate = rho / service.mean
    if isinstance(service, Deterministic | Empirical):
        return plain(_response_to_atoms(sizes, rate, service))
    return plain(_response_to_density(sizes, rate, service))


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
        If an argument leaves its range, or a load is so close to 1 that rounding errors decide.

    Notes
    -----
    The mean of :func:`srpt_mean_response_of_size` over the service time. For a density its second term is
    :math:`\int_0^\infty\frac{P(S>t)}{1-\rho(t)}dt`; both integrals are taken over the logarithm of the size, with a
    relative error below 1e-9. Never longer than the response time in order of arrival, :func:`~capsmodel.mg1_mean_wait`
    plus E[S], and at load 0 equal to E[S].

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
    rate = rho / service.mean
    if isinstance(service, Deterministic | Empirical):
        times, probs = service.atoms
        sizes, rates = np.broadcast_arrays(times, rate[..., np.newaxis])
        return plain(_response_to_atoms(sizes, rates, service) @ probs)
    return plain(_mean_response_to_density(rate, service))


def _mean_response_to_density(rate: FloatArray, service: SizedService) -> FloatArray:
    def per_size(size: FloatArray) -> FloatArray:
        work = service.partial_moment(1, size)
        longer = 1 - service.partial_moment(0, size)
        return service.density(size) * _wait(size, rate, service, work) + longer / (1 - rate * work)

    least, longest = _SMALLEST * service.mean, service.mean
    while 1 - float(service.partial_moment(0, np.asarray(longest))) > _NEGLIGIBLE:
        longest *= 1.5
    limits = np.log([least, *(scale * service.mean for scale in (0.1, 1.0)), longest])

    def per_logarithm(logarithm: FloatArray) -> FloatArray:
        size = np.exp(logarithm)
        return size * per_size(size)

    return _integral(per_logarithm, *limits) + least * per_size(np.asarray(least))

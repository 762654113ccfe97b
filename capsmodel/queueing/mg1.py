r"""Waiting time in the M/G/1 queue: mean, second moment, exact distribution, tail approximation, priorities.

Poisson arrivals, one server, service times independent of everything else, first come first served within a class.
A wait is the time from arrival to the start of service; times are in any unit, the same in as out (RepFlow: packet
times).

=========================  ===================  =========================================  =====  ===================
Quantity                   Symbol               Name                                       Unit   Equation
=========================  ===================  =========================================  =====  ===================
mean wait                  :math:`E[W]`         :func:`mg1_mean_wait`                      time   repflow Eq. 4
second moment of the wait  :math:`E[W^2]`       :func:`mg1_second_moment_wait`             time²  Takács
tail of the wait           :math:`P(W>w)`       :func:`mg1_wait_prob`                      1      Pollaczek-Khinchine
quantile of the wait       :math:`W_q`          :func:`mg1_wait_quantile`                  time   inverse of the tail
tail, approximate          :math:`e^{-w/E[W]}`  :func:`effective_bandwidth_wait_prob`      1      repflow Eq. 9
quantile, approximate      :math:`\tilde W`     :func:`effective_bandwidth_wait_quantile`  time   repflow Eq. 10
mean wait of each class    :math:`E[W_p]`       :func:`priority_mean_waits`                time   Cobham
=========================  ===================  =========================================  =====  ===================
"""

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    closed_form,
    non_negative,
    plain,
    positive,
    probability,
    require,
)
from capsmodel.queueing._roots import bracketed_root
from capsmodel.queueing.phases import ErlangWait, HyperexponentialWait
from capsmodel.queueing.service import ContinuousService, Deterministic, Empirical, Erlang, Hyperexponential
from capsmodel.queueing.transforms import LatticeWait, TransformWait

AnyService = Deterministic | Empirical | ContinuousService

# Rounding of a moment that the caller computed must not break an inequality that holds with equality (M/D/1).
_MOMENT_TOLERANCE = 1e-12

_LEAST_TAIL = 1e-7  # of which the tail that is inverted from a transform is known to a hundredth
_TINY = float(np.finfo(np.float64).tiny)


def _mean_wait(load: FloatArray, mean: FloatArray, second: FloatArray) -> FloatArray:
    return load * second / (2 * (1 - load) * mean)


def _moments(mean_service: ArrayLike, second_moment_service: ArrayLike) -> tuple[FloatArray, FloatArray]:
    mean = positive("mean_service", mean_service)
    second = positive("second_moment_service", second_moment_service)
    require(
        second >= mean**2 * (1 - _MOMENT_TOLERANCE),
        "second_moment_service is below mean_service squared, but no distribution has a negative variance: "
        "give E[S^2], not the variance",
    )
    return mean, second


@overload
def mg1_mean_wait(load: float, *, mean_service: float, second_moment_service: float) -> float: ...
@overload
def mg1_mean_wait(load: ArrayLike, *, mean_service: ArrayLike, second_moment_service: ArrayLike) -> FloatArray: ...
@closed_form
def mg1_mean_wait(load: ArrayLike, *, mean_service: ArrayLike, second_moment_service: ArrayLike) -> FloatOrArray:
    r"""Return the mean wait E[W] in an M/G/1 queue, in the unit of `mean_service`.

    Parameters
    ----------
    load : array_like
        Load ρ, in [0, 1).
    mean_service : array_like
        Mean service time E[S], above 0, any unit of time.
    second_moment_service : array_like
        E[S²], at least E[S]², that unit squared.

    Returns
    -------
    float or ndarray
        Mean wait, of the broadcast shape; a float for scalars.

    Raises
    ------
    ParameterError
        If an argument leaves its range or E[S²] < E[S]².

    Notes
    -----
    Pollaczek-Khinchine: :math:`E[W]=\dfrac{\rho}{2(1-\rho)}\dfrac{E[S^2]}{E[S]}`. Zero at load 0. For RepFlow's bursts
    of M packets on a link of one packet per second the second factor is M.

    References
    ----------
    repflow Eq. 4.

    Examples
    --------
    >>> mg1_mean_wait(0.5, mean_service=44, second_moment_service=44**2)
    22.0
    """
    rho = probability("load", load)
    return plain(_mean_wait(rho, *_moments(mean_service, second_moment_service)))


@overload
def mg1_second_moment_wait(
    load: float, *, mean_service: float, second_moment_service: float, third_moment_service: float
) -> float: ...
@overload
def mg1_second_moment_wait(
    load: ArrayLike, *, mean_service: ArrayLike, second_moment_service: ArrayLike, third_moment_service: ArrayLike
) -> FloatArray: ...
@closed_form
def mg1_second_moment_wait(
    load: ArrayLike,
    *,
    mean_service: ArrayLike,
    second_moment_service: ArrayLike,
    third_moment_service: ArrayLike,
) -> FloatOrArray:
    r"""Return the second moment of the wait E[W²] in an M/G/1 queue, in the unit of `mean_service` squared.

    Parameters
    ----------
    load : array_like
        Load ρ, in [0, 1).
    mean_service, second_moment_service, third_moment_service : array_like
        E[S], E[S²] and E[S³], above 0, in any unit of time and its powers.

    Returns
    -------
    float or ndarray
        Second moment, of the broadcast shape; a float for scalars.

    Raises
    ------
    ParameterError
        If an argument leaves its range, or no distribution has these moments (E[S²] < E[S]² or E[S]E[S³] < E[S²]²).

    Notes
    -----
    :math:`E[W^2]=2E[W]^2+\dfrac{\rho}{3(1-\rho)}\dfrac{E[S^3]}{E[S]}` (Takács). First come first served only:
    the mean is the same for every order that ignores service times, the second moment is not.

    References
    ----------
    Beyond repflow Eq. 4 (the paper uses the mean alone).

    Examples
    --------
    M/M/1 at load 1/2 with unit service: E[W²] = 2ρ/(1-ρ)² = 4.

    >>> mg1_second_moment_wait(0.5, mean_service=1, second_moment_service=2, third_moment_service=6)
    4.0
    """
    rho = probability("load", load)
    mean, second = _moments(mean_service, second_moment_service)
    third = positive("third_moment_service", third_moment_service)
    require(
        mean * third >= second**2 * (1 - _MOMENT_TOLERANCE),
        "E[S] E[S^3] is below E[S^2]^2, but no distribution has such moments: give raw moments in one unit",
    )
    return plain(2 * _mean_wait(rho, mean, second) ** 2 + rho * third / (3 * (1 - rho) * mean))


def _check_service(service: AnyService) -> None:
    """Refuse what is no distribution, such as a number."""
    known = not isinstance(service, type) and (hasattr(service, "atoms") or hasattr(service, "residual_laplace"))
    require(known, f"service is a {type(service).__name__}, but it must be a distribution, as in Deterministic(44)")


def _exact_wait(
    service: AnyService, loads: FloatArray
) -> LatticeWait | ErlangWait | HyperexponentialWait | TransformWait:
    """Return the wait at each of the one-dimensional `loads`, all above 0."""
    match service:
        case Deterministic() | Empirical():
            times, probs = service.atoms
            return LatticeWait.build(loads, times=times, probs=probs)
        case Erlang():
            return ErlangWait.build(loads, service=service)
        case Hyperexponential():
            return HyperexponentialWait.build(loads, service=service)
    return TransformWait(loads, service)


@overload
def mg1_wait_prob(wait: float, *, load: float, service: AnyService) -> float: ...
@overload
def mg1_wait_prob(wait: ArrayLike, *, load: ArrayLike, service: AnyService) -> FloatArray: ...
@closed_form
def mg1_wait_prob(wait: ArrayLike, *, load: ArrayLike, service: AnyService) -> FloatOrArray:
    r"""Return the exact probability P(W > w) that an M/G/1 wait exceeds `wait`.

    Parameters
    ----------
    wait : array_like
        Wait w, at least 0, in the unit of time of `service`.
    load : array_like
        Load ρ, in [0, 1).
    service : Deterministic, Empirical, Exponential, Erlang, Hyperexponential or your own
        Distribution of the service time. A class of your own needs
        :meth:`capsmodel.queueing.service.ContinuousService.residual_laplace`, and a density that is smooth on the scale
        of a tenth of `wait`.

    Returns
    -------
    float or ndarray
        Probability, of the broadcast shape; a float for scalars.

    Raises
    ------
    ParameterError
        If an argument leaves its range, atoms share no step of at least 1/500 of the longest, loads times phases of
        Erlang service exceed 524288, or the density of a class of your own is not smooth enough.

    Notes
    -----
    The Pollaczek-Khinchine transform :math:`E[e^{-sW}]=\dfrac{1-\rho}{1-\rho R(s)}` with
    :math:`R(s)=\dfrac{1-\beta(s)}{sE[S]}` is evaluated in one of three ways (derivations in
    :mod:`capsmodel.queueing.transforms` and :mod:`capsmodel.queueing.phases`):

    - service with atoms (M/D/1 and mixtures): renewal equation on the grid of the atoms, positive terms only, relative
      error below 1e-12 (1e-10 where the tail is below 1e-200);
    - service in exponential phases (Exponential, Erlang, Hyperexponential): positive terms only, with the same error;
    - a class of your own: Euler inversion of the tail's transform, absolute error below 1e-9, checked by a second
      order.

    P(W > 0) = ρ; all probabilities are 0 at load 0.

    References
    ----------
    Beyond repflow Eq. 9, which approximates this probability.

    Examples
    --------
    >>> mg1_wait_prob(1.0, load=0.5, service=Deterministic(1.0))  # 1 - exp(1/2)/2
    0.17563936464993593
    """
    _check_service(service)
    waits, rho = np.broadcast_arrays(non_negative("wait", wait), probability("load", load))
    tail = np.zeros(waits.shape)
    busy = rho > 0
    if busy.any():
        loads, which = np.unique(rho[busy], return_inverse=True)
        tail[busy] = _exact_wait(service, loads).tail(waits[busy], which)
    return plain(tail)


@overload
def mg1_wait_quantile(q: float, *, load: float, service: AnyService) -> float: ...
@overload
def mg1_wait_quantile(q: ArrayLike, *, load: ArrayLike, service: AnyService) -> FloatArray: ...
@closed_form
def mg1_wait_quantile(q: ArrayLike, *, load: ArrayLike, service: AnyService) -> FloatOrArray:
    r"""Return the exact quantile of the M/G/1 wait: the smallest w with P(W <= w) >= q, in the unit of `service`.

    Parameters
    ----------
    q : array_like
        Probability, in [0, 1); 0.99 for the 99th percentile.
    load : array_like
        Load ρ, in [0, 1).
    service : Deterministic, Empirical, Exponential, Erlang, Hyperexponential or your own
        Distribution of the service time, as in :func:`mg1_wait_prob`.

    Returns
    -------
    float or ndarray
        Wait, of the broadcast shape; a float for scalars.

    Raises
    ------
    ParameterError
        As :func:`mg1_wait_prob`, and for a class of your own if q is above 1 - 1e-7, where 1 - q is no longer large
        beside the error of its tail.

    Notes
    -----
    The root of the logarithm of the exact tail, which falls strictly on w > 0, down to rounding. It lies below
    :math:`-\ln(1-q)/\theta` with the decay rate θ of the tail (Kingman's bound). An arrival finds an idle server with
    probability 1 - ρ, so the quantile is 0 for q <= 1 - ρ.

    References
    ----------
    Beyond repflow Eq. 10, which approximates this quantile.

    Examples
    --------
    M/M/1: ln(ρ/(1-q))/(1-ρ).

    >>> from capsmodel.queueing.service import Exponential
    >>> round(mg1_wait_quantile(0.99, load=0.5, service=Exponential(1.0)), 6)
    7.824046
    """
    _check_service(service)
    probs, rho = np.broadcast_arrays(probability("q", q), probability("load", load))
    wait = np.zeros(probs.shape)
    waits = probs > 1 - rho
    if waits.any():
        wait[waits] = _quantile(service, 1 - probs[waits], rho[waits])
    return plain(wait)


def _quantile(service: AnyService, target: FloatArray, rho: FloatArray) -> FloatArray:
    """Return where the tail is `target`, at loads above it; both one-dimensional."""
    loads, which = np.unique(rho, return_inverse=True)
    wait = _exact_wait(service, loads)
    if isinstance(wait, TransformWait):
        problem = f"a tail of {target.min():.2g} cannot be told from the transform of a {type(service).__name__}"
        require(target >= 0.999 * _LEAST_TAIL, f"{problem}: give q of at most 1 - {_LEAST_TAIL:g}")
        high = np.full(target.shape, service.mean)
    else:
        high = -np.log(target) / wait.decay[which]

    def excess(at: FloatArray) -> FloatArray:
        return np.log(np.maximum(wait.tail(at, which), _TINY)) - np.log(target)

    while (short := excess(high) > 0).any():
        high = np.where(short, 2 * high, high)
    return bracketed_root(excess, np.zeros(target.shape), high)


@overload
def effective_bandwidth_wait_prob(
    wait: float, *, load: float, mean_service: float, second_moment_service: float
) -> float: ...
@overload
def effective_bandwidth_wait_prob(
    wait: ArrayLike, *, load: ArrayLike, mean_service: ArrayLike, second_moment_service: ArrayLike
) -> FloatArray: ...
@closed_form
def effective_bandwidth_wait_prob(
    wait: ArrayLike, *, load: ArrayLike, mean_service: ArrayLike, second_moment_service: ArrayLike
) -> FloatOrArray:
    r"""Return RepFlow's approximation of P(W > w): exponential with the mean of Pollaczek and Khinchine.

    Parameters
    ----------
    wait : array_like
        Wait w, at least 0, in the unit of `mean_service`.
    load : array_like
        Load ρ, in [0, 1).
    mean_service, second_moment_service : array_like
        E[S] and E[S²] of the bursts, above 0.

    Returns
    -------
    float or ndarray
        Probability, of the broadcast shape; a float for scalars.

    Raises
    ------
    ParameterError
        As :func:`mg1_mean_wait`.

    Notes
    -----
    :math:`P(W>w)\approx e^{-w/E[W]}=\exp\left(-w\,\dfrac{2(1-\rho)}{\rho}\dfrac{E[S]}{E[S^2]}\right)`.
    The paper prints the flow size X for S; its last form and its own Eq. 4 need the burst size, as here. The
    approximation ignores that a share 1 - ρ does not wait at all, so at w = 0 it is 1 instead
    of ρ. At load 0 it is 0 for w > 0.

    References
    ----------
    repflow Eq. 9.

    Examples
    --------
    >>> round(effective_bandwidth_wait_prob(44, load=0.5, mean_service=44, second_moment_service=44**2), 6)
    0.135335
    """
    waits = non_negative("wait", wait)
    mean = np.asarray(mg1_mean_wait(load, mean_service=mean_service, second_moment_service=second_moment_service))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return plain(np.where(waits > 0, np.exp(-waits / mean), 1.0))


@overload
def effective_bandwidth_wait_quantile(
    q: float, *, load: float, mean_service: float, second_moment_service: float
) -> float: ...
@overload
def effective_bandwidth_wait_quantile(
    q: ArrayLike, *, load: ArrayLike, mean_service: ArrayLike, second_moment_service: ArrayLike
) -> FloatArray: ...
@closed_form
def effective_bandwidth_wait_quantile(
    q: ArrayLike, *, load: ArrayLike, mean_service: ArrayLike, second_moment_service: ArrayLike
) -> FloatOrArray:
    r"""Return the quantile of RepFlow's exponential approximation, in the unit of `mean_service`.

    Parameters
    ----------
    q : array_like
        Probability, in [0, 1).
    load : array_like
        Load ρ, in [0, 1).
    mean_service, second_moment_service : array_like
        E[S] and E[S²] of the bursts, above 0.

    Returns
    -------
    float or ndarray
        Wait, of the broadcast shape; a float for scalars.

    Raises
    ------
    ParameterError
        As :func:`mg1_mean_wait`.

    Notes
    -----
    :math:`\tilde W=-\ln(1-q)\,E[W]`; at q = 0.99, :math:`2\ln10\,E[W]`. For bursts of fixed size it is too short:
    the exact 99th percentile (:func:`mg1_wait_quantile`) is 2.49, 1.45, 1.12 and 1.06 times as long at load 0.2, 0.5,
    0.8 and 0.9.

    References
    ----------
    repflow Eq. 10.

    Examples
    --------
    >>> round(effective_bandwidth_wait_quantile(0.99, load=0.5, mean_service=44, second_moment_service=44**2), 4)
    101.3137
    """
    probs = probability("q", q)
    mean = mg1_mean_wait(load, mean_service=mean_service, second_moment_service=second_moment_service)
    return plain(-np.log1p(-probs) * mean)


@closed_form
def priority_mean_waits(loads: ArrayLike, *, mean_services: ArrayLike, second_moments_service: ArrayLike) -> FloatArray:
    r"""Return the mean wait of each class under non-preemptive priority, in the unit of `mean_services`.

    Parameters
    ----------
    loads : array_like
        Load ρ_p of each class; the last axis runs over classes, most urgent first; at least 0, sum below 1.
    mean_services, second_moments_service : array_like
        E[S] and E[S²] of each class, above 0; broadcast against `loads`.

    Returns
    -------
    ndarray
        Mean wait of each class, of the broadcast shape.

    Raises
    ------
    ParameterError
        If an argument leaves its range or the loads of a queue reach 1.

    Notes
    -----
    Cobham: :math:`E[W_p]=\dfrac{R}{(1-\sigma_{p-1})(1-\sigma_p)}`, :math:`\sigma_p=\sum_{i\le p}\rho_i`,
    :math:`R=\tfrac12\sum_i\rho_iE[S_i^2]/E[S_i]`: the remaining service in progress, the work ahead, and the work that
    overtakes. With one class it is Pollaczek-Khinchine. Weighted by ρ_p the waits keep the sum of the queue without
    priorities (Kleinrock's conservation law). It models the priority queues of ECMP_pq and RPS_pq, where a packet in
    transmission is finished.

    References
    ----------
    Beyond the papers; Cobham, Operations Research 2 (1954).

    Examples
    --------
    >>> priority_mean_waits([0.25, 0.5], mean_services=[1, 1], second_moments_service=[1, 1]).tolist()
    [0.5, 2.0]
    """
    rho, means, seconds = np.broadcast_arrays(
        np.atleast_1d(non_negative("loads", loads)), *_moments(mean_services, second_moments_service)
    )
    require(rho.shape[-1] > 0, "loads has no class: give the load of at least one")
    busy = np.cumsum(rho, axis=-1)
    require(busy[..., -1] < 1, f"loads add up to {float(busy[..., -1].max()):g}, but their sum must be below 1")
    residual = np.sum(rho * seconds / means, axis=-1, keepdims=True) / 2
    return np.asarray(residual / ((1 - busy + rho) * (1 - busy)))

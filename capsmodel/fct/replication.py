r"""Short flows sent several times, and what that does to the load.

Every short flow is sent n times over n queues with independent arrivals; the extra copies raise the load of all queues
by the same share. A short flow waits only if all its queues are busy.

=====================  ====================================  ===================================  ====  ================
Quantity               Symbol                                Name                                 Unit  Equation
=====================  ====================================  ===================================  ====  ================
short-flow byte share  :math:`\epsilon`                      :func:`short_byte_share`             1     repflow u (IV-B)
load of each queue     :math:`\rho_n=(1+(n-1)\epsilon)\rho`  :func:`replicated_load`              1     repflow u (IV-B)
load of virtual queue  :math:`\rho_n^n`                      :func:`effective_load`               1     repflow u (IV-B)
break-even load        :math:`(1+(n-1)\epsilon)^{-n/(n-1)}`  :func:`replication_break_even_load`  1     repflow u (IV-B)
wait of the best copy  :math:`E[\min_i W_i]`                 :func:`mean_shortest_wait`           time  beyond Eq. 6
=====================  ====================================  ===================================  ====  ================
"""

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    closed_form,
    one_number,
    plain,
    positive,
    probability,
    require,
    whole,
)
from capsmodel.queueing.service import Deterministic, Empirical
from capsmodel.queueing.transforms import LatticeWait
from capsmodel.workloads.catalogue import PacketSizes, packet_sizes

# RepFlow's threshold between short and long: 100 KB (of 1024 B) in packets of 1500 B.
SHORT_PACKETS = 68

_NODES = 8


@closed_form
def short_byte_share(sizes: PacketSizes, *, short_packets: float = SHORT_PACKETS) -> float:
    r"""Return ε, the share of all data in flows of at most `short_packets`.

    Parameters
    ----------
    sizes : PacketSizes
        Distribution of the flow sizes.
    short_packets : float
        Threshold S_L between short and long flows, in packets, above 0.

    Returns
    -------
    float
        Share in [0, 1].

    Raises
    ------
    ParameterError
        If the threshold is not above 0 or `sizes` are not in packets.

    Notes
    -----
    :math:`\epsilon=E[X;X\le S_L]/E[X]`. RepFlow sets 0.05 for web search; its Table III measures 0.033, and the
    public table of that workload gives 0.010.

    References
    ----------
    repflow u (IV-B) short-flow byte share.

    Examples
    --------
    >>> from capsmodel.workloads.catalogue import load_workload
    >>> round(short_byte_share(load_workload("websearch").in_packets(1500)), 4)
    0.0103
    """
    return packet_sizes(sizes).byte_share_below(one_number(positive, "short_packets", short_packets))


@overload
def replicated_load(load: float, *, short_byte_share: float, replicas: float = ...) -> float: ...
@overload
def replicated_load(load: ArrayLike, *, short_byte_share: ArrayLike, replicas: ArrayLike = ...) -> FloatArray: ...
@closed_form
def replicated_load(load: ArrayLike, *, short_byte_share: ArrayLike, replicas: ArrayLike = 2) -> FloatOrArray:
    r"""Return the load of each queue when every short flow is sent `replicas` times.

    Parameters
    ----------
    load : array_like
        Load ρ without replication, in [0, 1).
    short_byte_share : array_like
        Share ε of the data in short flows, in [0, 1].
    replicas : array_like
        Copies n of a short flow in all, at least 1; RepFlow sends 2.

    Returns
    -------
    float or ndarray
        :math:`(1+(n-1)\epsilon)\rho`, of the broadcast shape; 1 or more means that the queue is unstable.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    The extra copies are spread over all queues evenly.

    References
    ----------
    repflow u (IV-B) replicated load.

    Examples
    --------
    >>> round(replicated_load(0.5, short_byte_share=0.05), 6)
    0.525
    """
    rho, share = probability("load", load), probability("short_byte_share", short_byte_share, one=True)
    return plain((1 + (whole("replicas", replicas, minimum=1) - 1) * share) * rho)


@overload
def effective_load(load: float, *, short_byte_share: float, replicas: float = ...) -> float: ...
@overload
def effective_load(load: ArrayLike, *, short_byte_share: ArrayLike, replicas: ArrayLike = ...) -> FloatArray: ...
@closed_form
def effective_load(load: ArrayLike, *, short_byte_share: ArrayLike, replicas: ArrayLike = 2) -> FloatOrArray:
    r"""Return the load of the virtual queue that a replicated short flow sees.

    Parameters
    ----------
    load, short_byte_share, replicas : array_like
        As :func:`replicated_load`.

    Returns
    -------
    float or ndarray
        :math:`\rho_n^n`, the probability that all n queues are busy, of the broadcast shape.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    Assumes that the n queues are independent, and that a flow which finds them all busy waits as in
    one queue of that load. Both are RepFlow's; n = 2 is printed, other n follow the same argument. The second is no
    identity: the least of two independent waits has another distribution than the wait at load ρ².

    References
    ----------
    repflow u (IV-B) effective load.

    Examples
    --------
    >>> round(effective_load(0.5, short_byte_share=0.05), 6)
    0.275625
    """
    busy = replicated_load(load, short_byte_share=short_byte_share, replicas=replicas)
    return plain(np.asarray(busy) ** np.asarray(replicas))


@overload
def replication_break_even_load(short_byte_share: float, *, replicas: float = ...) -> float: ...
@overload
def replication_break_even_load(short_byte_share: ArrayLike, *, replicas: ArrayLike = ...) -> FloatArray: ...
@closed_form
def replication_break_even_load(short_byte_share: ArrayLike, *, replicas: ArrayLike = 2) -> FloatOrArray:
    r"""Return the load above which replication no longer helps short flows.

    Parameters
    ----------
    short_byte_share : array_like
        Share ε of the data in short flows, in [0, 1].
    replicas : array_like
        Copies n of a short flow in all, at least 2.

    Returns
    -------
    float or ndarray
        :math:`(1+(n-1)\epsilon)^{-n/(n-1)}`, of the broadcast shape.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    The root of :math:`\rho_n^n=\rho`. It is always below the load 1/(1+(n-1)ε) at which the queues become unstable.

    References
    ----------
    repflow u (IV-B) break-even load.

    Examples
    --------
    >>> replication_break_even_load([0.05, 0.1]).round(3).tolist()
    [0.907, 0.826]
    """
    share = probability("short_byte_share", short_byte_share, one=True)
    n = whole("replicas", replicas, minimum=2)
    return plain((1 + (n - 1) * share) ** (-n / (n - 1)))


@overload
def mean_shortest_wait(load: float, *, service: Deterministic | Empirical, replicas: int = ...) -> float: ...
@overload
def mean_shortest_wait(load: ArrayLike, *, service: Deterministic | Empirical, replicas: int = ...) -> FloatArray: ...
@closed_form
def mean_shortest_wait(load: ArrayLike, *, service: Deterministic | Empirical, replicas: int = 2) -> FloatOrArray:
    r"""Return the mean of the shortest of n independent M/G/1 waits, in the unit of `service`.

    Parameters
    ----------
    load : array_like
        Load of each of the queues, in [0, 1); with replication, :func:`replicated_load`.
    service : Deterministic or Empirical
        Distribution of the service time.
    replicas : int
        Queues n, at least 1.

    Returns
    -------
    float or ndarray
        Mean wait, of the shape of `load`.

    Raises
    ------
    ParameterError
        If an argument leaves its range, or atoms share no step of at least 1/500 of the longest.

    Notes
    -----
    :math:`\int_0^\infty P(W>w)^n\,dw` of the exact tail: Gauss-Legendre between the multiples of the atoms' step, where
    the tail is smooth, up to 64 of the longest services; beyond, the tail is exponential. Relative error below 1e-12.
    For fixed service M and two queues it is :math:`\dfrac{\rho^2(4-\rho)M}{12(1-\rho)}`, while RepFlow's virtual queue
    has the mean wait at load ρ², which is :math:`\dfrac{6}{6-(1-\rho)(2-\rho)}` times as long: 1.5 at low load, where
    both waits are residuals of one service, 1.40, 1.25, 1.14, 1.04 at load 0.1, 0.3, 0.5, 0.8, and 1 at load 1.

    References
    ----------
    Beyond repflow Eq. 6, which approximates this mean.

    Examples
    --------
    >>> one, two = (mean_shortest_wait(0.5, service=Deterministic(48), replicas=n) for n in (1, 2))
    >>> round(one, 9), round(two, 9)
    (24.0, 7.0)
    """
    has_atoms = isinstance(service, Deterministic | Empirical)
    require(has_atoms, f"service is a {type(service).__name__}, but it must be Deterministic or Empirical")
    rho, n = probability("load", load), int(one_number(whole, "replicas", replicas, minimum=1))
    loads = rho[rho > 0]
    times, probs = service.atoms
    one = LatticeWait.build(loads, times=times, probs=probs)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    steps = len(one.grid_tail) - 1
    waits = one.step * (np.arange(steps)[:, np.newaxis] + (nodes + 1) / 2)
    each, which = np.broadcast_arrays(waits[..., np.newaxis], np.arange(loads.size))
    tail = one.tail(each.ravel(), which.ravel()).reshape(each.shape)
    body = one.step / 2 * np.einsum("n,knl->l", weights, tail**n)
    means = np.zeros(rho.shape)
    means[rho > 0] = body + one.grid_tail[-1] ** n / (n * one.decay)
    return plain(means)

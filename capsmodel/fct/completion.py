r"""Flow completion time in a queue, with and without replication of short flows.

The completion time of a flow is divided by the time it takes with no contention, so it is a number of at least 1. A
link carries one packet per unit of time. A short flow of X packets sends windows of k, 2k, 4k, ... packets, a long
flow bursts of M packets; each meets an M/G/1 queue in which, as RepFlow argues, nearly all bursts have M packets. With
n replicas a short flow meets n independent queues of load :math:`\rho_n=(1+(n-1)\epsilon)\rho` and waits only when all
are busy; RepFlow takes it to see one queue of load :math:`\rho_n^n`.

========================  =====================  =====================  ====  ==================
Quantity                  Symbol                 Name                   Unit  Equation
========================  =====================  =====================  ====  ==================
FCT of short flows, mean  :math:`E[FCT]`         :func:`mean_fct`       1     repflow Eq. 1, 3-6
FCT of short flows, tail  :math:`\tilde{FCT}`    :func:`tail_fct`       1     repflow Eq. 9-12
========================  =====================  =====================  ====  ==================

Long flows are in :mod:`capsmodel.fct.long_flows`. The load with replication is in :mod:`capsmodel.fct.replication`, the
rounds of slow start in :mod:`capsmodel.fct.slow_start`.
"""

from typing import overload

from numpy.typing import ArrayLike

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    closed_form,
)
from capsmodel.fct._queue_time import TailModel, completion_time, queue_loads
from capsmodel.fct.replication import SHORT_PACKETS
from capsmodel.fct.slow_start import BURST_PACKETS, WINDOW_PACKETS, Rounding, short_averages
from capsmodel.workloads.catalogue import PacketSizes


@overload
def mean_fct(
    load: float,
    *,
    sizes: PacketSizes,
    window_packets: float = ...,
    burst_packets: float = ...,
    short_packets: float = ...,
    replicas: int = ...,
    short_byte_share: float | None = ...,
    rounding: Rounding = ...,
    smallest_packets: float = ...,
) -> float: ...
@overload
def mean_fct(
    load: ArrayLike,
    *,
    sizes: PacketSizes,
    window_packets: float = ...,
    burst_packets: float = ...,
    short_packets: float = ...,
    replicas: int = ...,
    short_byte_share: float | None = ...,
    rounding: Rounding = ...,
    smallest_packets: float = ...,
) -> FloatArray: ...
@closed_form
def mean_fct(
    load: ArrayLike,
    *,
    sizes: PacketSizes,
    window_packets: float = WINDOW_PACKETS,
    burst_packets: float = BURST_PACKETS,
    short_packets: float = SHORT_PACKETS,
    replicas: int = 1,
    short_byte_share: float | None = None,
    rounding: Rounding = "fractional",
    smallest_packets: float = 1.0,
) -> FloatOrArray:
    r"""Return the mean completion time of short flows, divided by that without contention.

    Parameters
    ----------
    load : array_like
        Load ρ without replication, in [0, 1).
    sizes : PacketSizes
        Distribution F of all flow sizes, in packets; ``load_workload("websearch").in_packets(1500)``.
    window_packets, burst_packets, short_packets : float
        Initial window k, burst size M of long flows, threshold S_L of short flows (they have at most S_L), in packets,
        above 0.
    replicas : int
        Copies n of each short flow in all; 1 is plain TCP, 2 is RepFlow.
    short_byte_share : float, optional
        Share ε of the data in short flows, in [0, 1]; by default that of `sizes`. RepFlow's figures use 0.05.
    rounding : {"fractional", "whole"}
        Rounds as printed, :math:`\log_2(x/k+1)`, or whole ones, at least one.
    smallest_packets : float
        A flow below this size, in packets, counts as that size: no flow is less than one packet. A value near 0
        gives the printed integral from 0.

    Returns
    -------
    float or ndarray
        Normalised completion time, at least 1, of the shape of `load`; infinite where the replicas overload the queues.

    Raises
    ------
    ParameterError
        If an argument leaves its range, `sizes` are not in packets or have no short flow.

    Notes
    -----
    :math:`E[FCT]=\dfrac{\rho'M}{2(1-\rho')}J+1`, :math:`J=E[\log_2(X/k+1)/X\mid X\le S_L]`, with :math:`\rho'=\rho` for
    one copy and :math:`\rho'=((1+(n-1)\epsilon)\rho)^n` for n. Each round meets an independent wait with the mean of
    Pollaczek-Khinchine; no losses, no timeouts. With ε = 0.05, two copies lower the mean of flows of at least one
    packet by at most 44.7%, whatever the distribution.

    *Bias.* The shorter of two independent waits is positive with probability ρ², as at load ρ², but on average
    shorter: the printed wait of two copies is 1.40, 1.25, 1.14 and 1.04 times the true one at load 0.1, 0.3, 0.5 and
    0.8 (:func:`capsmodel.fct.replication.mean_shortest_wait`). Short flows load the queue with bursts of X < M packets,
    which takes a share ε(1 - X/M) off the wait of one copy. Both copies hash to one of n paths with probability 1/n,
    and then wait as one. On a fat-tree both use the same host links and their waits correlate, so that bursts of M
    packets leave nearly nothing of the saving (lesson "Two copies" of the course).

    References
    ----------
    repflow Eq. 1, 3, 5, 6.

    Examples
    --------
    >>> ten = PacketSizes.fixed(10)
    >>> round(mean_fct(0.5, sizes=ten), 4), round(mean_fct(0.5, sizes=ten, replicas=2, short_byte_share=0.05), 4)
    (2.9238, 1.732)
    """
    _, seen = queue_loads(load, sizes, short_packets, replicas, short_byte_share)
    per_packet, _ = short_averages(sizes, window_packets, short_packets, rounding, smallest_packets)
    return completion_time(seen, burst_packets, per_packet)


@overload
def tail_fct(
    load: float,
    *,
    sizes: PacketSizes,
    window_packets: float = ...,
    burst_packets: float = ...,
    short_packets: float = ...,
    replicas: int = ...,
    short_byte_share: float | None = ...,
    rounding: Rounding = ...,
    smallest_packets: float = ...,
    quantile: float = ...,
    tail: TailModel = ...,
) -> float: ...
@overload
def tail_fct(
    load: ArrayLike,
    *,
    sizes: PacketSizes,
    window_packets: float = ...,
    burst_packets: float = ...,
    short_packets: float = ...,
    replicas: int = ...,
    short_byte_share: float | None = ...,
    rounding: Rounding = ...,
    smallest_packets: float = ...,
    quantile: float = ...,
    tail: TailModel = ...,
) -> FloatArray: ...
@closed_form
def tail_fct(
    load: ArrayLike,
    *,
    sizes: PacketSizes,
    window_packets: float = WINDOW_PACKETS,
    burst_packets: float = BURST_PACKETS,
    short_packets: float = SHORT_PACKETS,
    replicas: int = 1,
    short_byte_share: float | None = None,
    rounding: Rounding = "fractional",
    smallest_packets: float = 1.0,
    quantile: float = 0.99,
    tail: TailModel = "effective_bandwidth",
) -> FloatOrArray:
    r"""Return the tail completion time of short flows, divided by that without contention.

    Parameters
    ----------
    load, sizes, window_packets, burst_packets, short_packets, replicas, short_byte_share, rounding, smallest_packets
        As :func:`mean_fct`.
    quantile : float
        Probability of the wait that one round meets, in [0, 1).
    tail : {"effective_bandwidth", "exact"}
        That wait from RepFlow's exponential distribution, or from the exact M/D/1 distribution.

    Returns
    -------
    float or ndarray
        Normalised completion time, at least 1, of the shape of `load`; infinite where the replicas overload the queues.

    Raises
    ------
    ParameterError
        As :func:`mean_fct`.

    Notes
    -----
    One round meets the quantile :math:`\tilde W` of the wait, the others the mean:
    :math:`\tilde{FCT}=E[W](J-I)+\tilde WI+1`, :math:`I=E[1/X\mid X\le S_L]`; as
    :math:`\tilde W=2\ln10\,E[W]` at 0.99 this is :math:`E[W]N+1`. It bounds nothing: the 99th percentile of a sum of
    waits over a random size is another number. The printed N diverges at size 0 (its integrand is 3.6/x),
    hence `smallest_packets`. With fractional rounds a flow below k packets has less than one round in all, but one
    full tail wait; where that wait is so short that the sum is below 1, the result is 1.

    References
    ----------
    repflow Eq. 9-12.

    Examples
    --------
    >>> ten = PacketSizes.fixed(10)
    >>> round(tail_fct(0.5, sizes=ten), 3), round(tail_fct(0.5, sizes=ten, tail="exact"), 3)
    (10.855, 15.403)
    """
    _, seen = queue_loads(load, sizes, short_packets, replicas, short_byte_share)
    of_rounds, of_one = short_averages(sizes, window_packets, short_packets, rounding, smallest_packets)
    return completion_time(seen, burst_packets, of_rounds - of_one, of_one, quantile, tail)

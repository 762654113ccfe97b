r"""Completion time of long flows, normalised as in :mod:`capsmodel.fct.completion`.

========================= ===================== ====================== ===== ====================
Quantity                  Symbol                Name                   Unit  Equation
========================= ===================== ====================== ===== ====================
FCT of long flows, mean   :math:`E[FCT^L]`      :func:`mean_fct_long`  1     repflow Eq. 2, 7-8
FCT of long flows, tail   :math:`\tilde{FCT}^L` :func:`tail_fct_long`  1     repflow Eq. 13-14
========================= ===================== ====================== ===== ====================
"""

from typing import overload

from numpy.typing import ArrayLike

from capsmodel.checks import FloatArray, FloatOrArray, closed_form
from capsmodel.fct._queue_time import TailModel, completion_time, queue_loads
from capsmodel.fct.replication import SHORT_PACKETS
from capsmodel.fct.slow_start import BURST_PACKETS, Rounding, long_averages
from capsmodel.workloads.catalogue import PacketSizes


@overload
def mean_fct_long(
    load: float,
    *,
    sizes: PacketSizes,
    burst_packets: float = ...,
    short_packets: float = ...,
    replicas: int = ...,
    short_byte_share: float | None = ...,
    rounding: Rounding = ...,
) -> float: ...
@overload
def mean_fct_long(
    load: ArrayLike,
    *,
    sizes: PacketSizes,
    burst_packets: float = ...,
    short_packets: float = ...,
    replicas: int = ...,
    short_byte_share: float | None = ...,
    rounding: Rounding = ...,
) -> FloatArray: ...
@closed_form
def mean_fct_long(
    load: ArrayLike,
    *,
    sizes: PacketSizes,
    burst_packets: float = BURST_PACKETS,
    short_packets: float = SHORT_PACKETS,
    replicas: int = 1,
    short_byte_share: float | None = None,
    rounding: Rounding = "fractional",
) -> FloatOrArray:
    r"""Return the mean completion time of long flows, divided by that without contention.

    Parameters
    ----------
    load, sizes, burst_packets, short_packets, replicas, short_byte_share
        As :func:`~capsmodel.fct.completion.mean_fct`; long flows have more than `short_packets` and are never
        replicated.
    rounding : {"fractional", "whole"}
        X/M bursts as printed, or the whole number that is sent.

    Returns
    -------
    float or ndarray
        Normalised completion time, of the shape of `load`; infinite where the replicas overload the queues.

    Raises
    ------
    ParameterError
        As :func:`~capsmodel.fct.completion.mean_fct`, and if `sizes` have no long flow.

    Notes
    -----
    :math:`E[FCT^L]=\dfrac{\rho_n}{2(1-\rho_n)}+1`, :math:`\rho_n=(1+(n-1)\epsilon)\rho`, for every distribution when
    bursts are fractional.

    References
    ----------
    repflow Eq. 2, 7, 8.

    Examples
    --------
    >>> long = PacketSizes.fixed(1000)
    >>> mean_fct_long(0.5, sizes=long), round(mean_fct_long(0.5, sizes=long, replicas=2, short_byte_share=0.05), 4)
    (1.5, 1.5526)
    """
    each, _ = queue_loads(load, sizes, short_packets, replicas, short_byte_share)
    of_bursts, _ = long_averages(sizes, burst_packets, short_packets, rounding)
    return completion_time(each, burst_packets, of_bursts)


@overload
def tail_fct_long(
    load: float,
    *,
    sizes: PacketSizes,
    burst_packets: float = ...,
    short_packets: float = ...,
    replicas: int = ...,
    short_byte_share: float | None = ...,
    rounding: Rounding = ...,
    quantile: float = ...,
    tail: TailModel = ...,
) -> float: ...
@overload
def tail_fct_long(
    load: ArrayLike,
    *,
    sizes: PacketSizes,
    burst_packets: float = ...,
    short_packets: float = ...,
    replicas: int = ...,
    short_byte_share: float | None = ...,
    rounding: Rounding = ...,
    quantile: float = ...,
    tail: TailModel = ...,
) -> FloatArray: ...
@closed_form
def tail_fct_long(
    load: ArrayLike,
    *,
    sizes: PacketSizes,
    burst_packets: float = BURST_PACKETS,
    short_packets: float = SHORT_PACKETS,
    replicas: int = 1,
    short_byte_share: float | None = None,
    rounding: Rounding = "fractional",
    quantile: float = 0.99,
    tail: TailModel = "effective_bandwidth",
) -> FloatOrArray:
    r"""Return the tail completion time of long flows, divided by that without contention.

    Parameters
    ----------
    load, sizes, burst_packets, short_packets, replicas, short_byte_share, rounding
        As :func:`mean_fct_long`.
    quantile, tail
        As :func:`~capsmodel.fct.completion.tail_fct`.

    Returns
    -------
    float or ndarray
        Normalised completion time, of the shape of `load`; infinite where the replicas overload the queues.

    Raises
    ------
    ParameterError
        As :func:`mean_fct_long`.

    Notes
    -----
    One burst meets the quantile of the wait, the others the mean: :math:`E[FCT^L]+(\tilde W-E[W])P`,
    :math:`P=E[1/X\mid X>S_L]`, at the load of each queue.

    References
    ----------
    repflow Eq. 13-14.

    Examples
    --------
    >>> round(tail_fct_long(0.5, sizes=PacketSizes.fixed(1000)), 4)
    1.5793
    """
    each, _ = queue_loads(load, sizes, short_packets, replicas, short_byte_share)
    of_bursts, of_one = long_averages(sizes, burst_packets, short_packets, rounding)
    return completion_time(each, burst_packets, of_bursts - of_one, of_one, quantile, tail)
